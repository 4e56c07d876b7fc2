#!/usr/bin/python3
"""Programs in a sandbox behave under both preloaded libraries as they do alone."""
import os
import subprocess
import sys

import profiles
from harness import Skip, contains, equal, main, run

SANDBOXED = os.path.abspath(sys.argv[2])
TIMER = ('--method', 'timer', '--rate', '500')
SECCOMP = 'entered a seccomp sandbox'


def check(directory, sandbox):
    """Exit code and output are equal in all modes; the messages of Pitot."""
    alone = subprocess.run([SANDBOXED, sandbox], capture_output=True, text=True)
    if alone.returncode == 99:
        raise Skip('this machine does not allow it')
    equal(alone.returncode, 7, alone)
    said = {}
    for mode, words in {
            'heap': ('heap', '-o', directory / 'heap.folded'),
            'heap all': ('heap', '--heap', 'all', '-o', directory / 'all.folded'),
            'cpu': ('cpu', *TIMER, '-o', directory / 'cpu.folded'),
            'both': ('record', '-o', directory / 'run', '--cpu=500', '--method', 'timer',
                     '--heap'),
    }.items():
        code, out, said[mode] = run(*words, '--', SANDBOXED, sandbox)
        equal((code, out), (alone.returncode, alone.stdout), f'{sandbox}, {mode}: {said[mode]}')
    for name in 'heap', 'all', 'cpu':
        contains((directory / f'{name}.folded').read_text(), 'main')
    return said


def seccomp(sandbox):
    def test(directory):
        for mode, err in check(directory, sandbox).items():
            assert SECCOMP in err, f'{mode}: {err}'
    test.__doc__ = f'C244 C322: a program that enters a sandbox ({sandbox}) is recorded up to there'
    return test


def quiet(sandbox):
    def test(directory):
        for mode, err in check(directory, sandbox).items():
            assert SECCOMP not in err, f'{mode}: {err}'
    test.__doc__ = f'C244 C322: a program under both libraries behaves as alone ({sandbox})'
    return test


main(seccomp('strict'), seccomp('filter'), seccomp('filter-syscall'),
     seccomp('threads'), seccomp('child'), seccomp('exec'),
     quiet('none'), quiet('descriptors'), quiet('chroot'), quiet('user'))
