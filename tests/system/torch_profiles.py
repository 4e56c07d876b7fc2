#!/usr/bin/python3
"""Profiles of programs that use torch: by `pitot cpu`, and by torch's own profiler, `pitot gpu`.

Arguments: pitot, a program that is not used.
"""
import pathlib
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'profile'))
from profiles import again, merged, need_perf, read_folded, rooted, share
from harness import Skip, equal, main, run, table

PYTHON = '/usr/bin/python3'
PROGRAM = HERE.parent / 'profile' / 'torch_workload.py'
MS = 1_000_000


def need_torch():
    if subprocess.run([PYTHON, '-c', 'import torch'], capture_output=True,
                      check=False).returncode:
        raise Skip('python3-torch is missing')


def cpu_profile(directory):
    """C241 C242: stacks of torch reach the root, through code that was made at run time, too"""
    need_torch()
    path = directory / 'profile.folded'
    code, _, err = run('cpu', '--rate', 1999, '-o', path, '--', PYTHON, PROGRAM)
    need_perf(code, err)
    equal(code, 0, err)
    stacks = read_folded(path)
    assert rooted(err) >= 98, err
    assert merged(err) >= 60, err
    inside = [stack for stack in stacks if any(name.startswith('[pid') for name in stack[0])]
    assert share(inside, 'infer') > 0.9, share(inside, 'infer')


def own_profiler(directory):
    """C246: --tool torch profiles an unchanged program with torch's own profiler, on the run's
    clock"""
    need_torch()
    program = directory / 'program.py'
    program.write_text(textwrap.dedent('''
        import sys, time, torch
        x = torch.ones(64, 64)
        start = time.monotonic_ns()
        for _ in range(7):
            with torch.profiler.record_function('step one'):
                x = torch.relu(x @ x)
        print(start, time.monotonic_ns(), sys.argv[1])
        sys.exit(5)
    '''))
    code, out, err = run('gpu', '--tool', 'torch', '-f', 'csv', '-t', 50, '-o', directory / 'out',
                         '--', PYTHON, program, 'word')
    equal(code, 5, err)
    start, end, word = out.split()
    equal(word, 'word')
    ranges = table(directory / 'out', 'gpu_ranges')
    steps = [row for row in ranges if row['grName'] == 'step one']
    equal(len(steps), 7)
    equal(len([row for row in ranges if row['grName'] == 'aten::relu']), 7)
    slack = 5 * MS  # the clocks are read one after the other
    for row in steps:
        first, last = int(row['grStart']), int(row['grStart']) + int(row['grDuration'])
        assert int(start) - slack <= first and last <= int(end) + slack, (start, row, end)
    equal(len(list((directory / 'out').glob('*.torch-*.json'))), 1)
    equal(list((directory / 'out').glob('*.hook')), [])


main(again(cpu_profile), own_profiler, jobs=1)
