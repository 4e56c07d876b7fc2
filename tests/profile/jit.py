#!/usr/bin/python3
"""Generated code in profiles. Arguments: pitot, the JIT."""
import pathlib
import subprocess

from profiles import again, near, need_perf, read_folded, share
from harness import Skip, WORKLOAD, equal, main, run

RATE = 1999
INTERPRETERS = pathlib.Path(__file__).resolve().parents[2] / 'python/interpreters'


def dump(directory):
    """C241: code that a JIT puts at one place, one after the other, has the names of its dump"""
    path = directory / 'profile.folded'
    code, _, err = run('cpu', '--rate', RATE, '-o', path, '--', WORKLOAD, directory)
    need_perf(code, err)
    equal(code, 3, err)
    stacks = read_folded(path)
    near(share(stacks, 'jit::first'), 1 / 4, 'jit::first')
    near(share(stacks, 'jit::second'), 3 / 4, 'jit::second')


def perf_python():
    """A CPython with trampolines: 3.12 or later."""
    listed = subprocess.run([INTERPRETERS], capture_output=True, text=True, check=True).stdout
    for python in [line.rpartition('|')[2] for line in listed.splitlines()]:
        if subprocess.run([python, '-X', 'perf', '-c', 'import sys; sys.exit('
                           'not getattr(sys, "is_stack_trampoline_active", bool)())'],
                          capture_output=True).returncode == 0:
            return python
    raise Skip('no CPython 3.12 or later')


def trampolines(directory):
    """C242: stacks go on through the trampolines of CPython, which have names of their own"""
    python, path = perf_python(), directory / 'profile.folded'
    program = directory / 'program.py'
    program.write_text('def burn(n):\n    return sum(i * i for i in range(n))\n'
                       'for _ in range(20):\n    burn(200000)\n')
    code, _, err = run('cpu', '--no-python', '--rate', RATE, '-o', path, '--', python, '-X', 'perf',
                       program)
    need_perf(code, err)
    equal(code, 0, err)
    stacks = read_folded(path)
    burning = [frames for frames, _ in stacks if f'py::burn:{program}' in frames]
    assert burning, stacks
    rooted = [frames for frames in burning if frames.index(f'py::<module>:{program}') <
              frames.index(f'py::burn:{program}') and '[caller unknown]' not in frames]
    assert len(rooted) >= 0.9 * len(burning), (len(rooted), len(burning))


main(again(dump), trampolines, jobs=1)
