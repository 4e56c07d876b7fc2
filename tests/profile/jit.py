#!/usr/bin/python3
"""Generated code in profiles. Arguments: pitot, the JIT."""
from profiles import near, need_perf, read_folded, share
from harness import WORKLOAD, equal, main, run

RATE = 1999


def dump(directory):
    """C241: code that a JIT puts at one place, one after the other, has the names of its dump"""
    path = directory / 'profile.folded'
    code, _, err = run('cpu', '--rate', RATE, '-o', path, '--', WORKLOAD, directory)
    need_perf(code, err)
    equal(code, 3, err)
    stacks = read_folded(path)
    near(share(stacks, 'jit::first'), 1 / 4, 'jit::first')
    near(share(stacks, 'jit::second'), 3 / 4, 'jit::second')


main(dump)
