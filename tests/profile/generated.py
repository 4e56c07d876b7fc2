#!/usr/bin/python3
"""Stacks through code that a program made while it ran. Arguments: pitot, the program."""
import re

from profiles import again, hottest, need_perf, read_folded, rooted, share
from harness import WORKLOAD, equal, main, run

RATE = 1999


def stacks_of(directory, method, kind):
    path = directory / 'profile.folded'
    code, _, err = run('cpu', '--rate', RATE, '--method', method, '-o', path, '--', WORKLOAD, kind)
    need_perf(code, err)
    equal(code, 3, err)
    assert rooted(err) >= 98, f'{kind}: {err}'
    return read_folded(path)


def check(directory, method):
    for kind in ('leaf', 'saves', 'pointer', 'hidden', 'calls'):
        stacks = stacks_of(directory, method, kind)
        names = [re.sub(r'\[pid \d+\]\+.*', '[generated]', name) for name in hottest(stacks)]
        wanted = ['main', 'calls_generated', '[generated]'] + ['called_back'] * (kind == 'calls')
        equal(names[names.index('main'):][:len(wanted)], wanted, f'{kind} by {method}')
        assert share(stacks, 'leaves_traces') < 0.05, f'{kind} by {method}: {stacks}'


def by_perf(directory):
    """C242: stacks go on from generated code to who called it, and to nobody else"""
    check(directory, 'perf')


def by_timer(directory):
    """C242: so do those of timers"""
    check(directory, 'timer')


main(again(by_perf), again(by_timer), jobs=1)
