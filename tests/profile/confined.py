#!/usr/bin/python3
"""The process that reads what it profiles is confined, and its end costs its profile and nothing
else: not the run, not the journal, not the exit code of the command.

Arguments: pitot, the burner, the program that forbids system calls.
"""
import contextlib
import os
import pathlib
import resource
import signal
import sys

import profiles
from harness import (PITOT, Skip, contains, end, equal, integers, kill, main, run, start, state_of,
                     table, wait_until)

FORBID = os.path.abspath(sys.argv[3])
PROGRAM = pathlib.Path(PITOT).read_bytes()
IS_SANITIZED = b'__asan_init' in PROGRAM or b'__tsan_init' in PROGRAM
PYTHON = '/usr/bin/python3'
BUSY = '''
import os, time
kept = []
while not os.path.exists('go'):
    kept = [bytes(20000) for i in range(200)]
raise SystemExit(7)
'''
COMMAND = ('--', PYTHON, '-c', BUSY)
KINDS = {
    'perf': ('cpu', '--rate', '500', '--method', 'perf', '-o', 'profile.folded'),
    'timer': ('cpu', '--rate', '500', '--method', 'timer', '-o', 'profile.folded'),
    'python': ('cpu', '--rate', '500', '--method', 'python', '-o', 'profile.folded'),
    'heap': ('heap', '--heap', '64k', '-o', 'profile.folded'),
    'record --cpu': ('record', '--cpu=500', '-o', 'run'),
    'record --heap': ('record', '--heap=64k', '-o', 'run'),
}


def helper_of(process):
    """The process id of the helper, once it is there."""
    def find():
        for path in pathlib.Path('/proc').glob('[0-9]*/stat'):
            try:
                words = path.read_text()
            except OSError:
                continue
            name, rest = words[words.index('(') + 1:words.rindex(')')], words[words.rindex(')'):]
            if name == '(profile)' and int(rest.split()[2]) == process.pid:
                return int(words.split()[0])
        return None
    return wait_until(find, 'a helper')


def status_of(pid):
    lines = pathlib.Path(f'/proc/{pid}/status').read_text().splitlines()
    return dict(line.split(':\t', 1) for line in lines if ':\t' in line)


@contextlib.contextmanager
def running(directory, kind, wrapper=()):
    """Pitot with a command that runs until it may go, and its helper."""
    with start(*KINDS[kind], *COMMAND, cwd=directory, wrapper=wrapper) as process:
        try:
            yield process, helper_of(process)
        finally:
            (directory / 'go').touch()


def let_go(directory, process):
    (directory / 'go').touch()
    return end(process)


def of_threads(pid, name):
    return [path.read_text() for path in pathlib.Path(f'/proc/{pid}/task').glob(f'*/{name}')]


def used_ns(pid):
    return sum(int(text.split()[0]) for text in of_threads(pid, 'schedstat'))


def is_at_work(pid):
    """It has waited and gone on many times, or never had to wait."""
    waits = sum(int(text.split('\nvoluntary_ctxt_switches:')[1].split()[0])
                for text in of_threads(pid, 'status'))
    return waits > 50 or used_ns(pid) > 100e6


def loses(kind, harm, reason):
    """What is left if the helper is harmed."""
    def test(directory):
        with running(directory, kind) as (process, helper):
            wait_until(lambda: is_at_work(helper), 'work of the helper')
            harm(helper)
            code, _, err = let_go(directory, process)
            equal(code, 7, err)
            # another thread may say that memory ran out before the helper ends
            said = [line for line in err.splitlines() if line.startswith('pitot: error: ')
                    and not line.startswith('pitot: error: out of memory (')]
            if harm is take_memory and not said:
                return # what it had was enough, without the names of some functions
            equal(len(said), 1, err)
            contains(said[0], f'profile: {reason}')
            assert not (directory / 'profile.folded').exists()
            if kind.startswith('record'):
                journal, = directory.glob('run/*.pitot')
                code, _, err = run('export', '-q', '-f', 'csv', '-o', directory / 'csv', journal)
                equal((code, err), (0, ''), 'export')
                assert list(directory.glob('run/*.parquet')), 'no files of the run'
    test.__doc__ = f'C323: a helper of {kind} that ends ({reason}) costs its profile alone'
    return test


def send(number):
    return lambda pid: os.kill(pid, number)


def take_memory(pid):
    if IS_SANITIZED:
        raise Skip('a sanitizer has its own malloc')
    resource.prlimit(pid, resource.RLIMIT_DATA, (1 << 20, 1 << 20))


def sealed(kind):
    def test(directory):
        with running(directory, kind) as (process, helper):
            if not IS_SANITIZED:
                wait_until(lambda: status_of(helper)['Seccomp'] == '2', 'a filter')
                equal(status_of(helper)['NoNewPrivs'], '1')
                limit = resource.prlimit(helper, resource.RLIMIT_DATA)
                assert 0 < limit[0] <= 4 << 30, limit
            for path in pathlib.Path(f'/proc/{helper}/fd').iterdir():
                target = os.readlink(path)
                flags = pathlib.Path(f'/proc/{helper}/fdinfo/{path.name}').read_text().split()[3]
                is_writable = int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
                is_file = target.startswith('/') and not target.startswith('/memfd:')
                assert not (is_writable and is_file), f'{target} is open for writing'
                assert target != os.readlink(f'/proc/{process.pid}/fd/2'), f'{path.name}: {target}'
            wait_until(lambda: is_at_work(helper), 'work of the helper')
            code, _, err = let_go(directory, process)
            equal(code, 7, err)
            assert 'sandbox' not in err, err
            if not kind.startswith('record'):
                assert (directory / 'profile.folded').stat().st_size > 0, err
    test.__doc__ = f'C323: the helper of {kind} is sealed and has nothing to write to'
    return test


def without_seccomp(directory):
    """C323: where seccomp is not permitted, profiles are made without it, which is said"""
    with running(directory, 'timer', wrapper=(FORBID, 'seccomp', '--')) as (process, helper):
        wait_until(lambda: is_at_work(helper), 'work of the helper')
        code, _, err = let_go(directory, process)
        equal(code, 7, err)
        if not IS_SANITIZED:
            contains(err, 'profiling without a sandbox (seccomp): Operation not permitted')
        assert (directory / 'profile.folded').stat().st_size > 0, err


def ends_with_pitot(directory):
    """C323: no helper outlives Pitot, however that ends"""
    for kind in 'perf', 'record --heap':
        place = directory / kind.split()[0]
        place.mkdir()
        with running(place, kind) as (process, helper):
            process.kill()
            process.wait()
            wait_until(lambda: state_of(helper) in (None, 'Z', 'X'), 'the end of the helper')
            (place / 'go').touch()
            process.communicate()  # the command has ended, too


def keeps_saved(directory):
    """C323: a heap profile that was saved before its helper ended stays, as an incomplete one"""
    with running(directory, 'record --heap') as (process, helper):
        path, = wait_until(lambda: list(directory.glob('run/*.heap.pitotprof')), 'a saved profile')
        kill(helper)
        code, _, err = let_go(directory, process)
        equal(code, 7, err)
        contains(err, 'incomplete heap profile: its process was killed (SIGKILL)')
        contains(err, f'Heap profile: {path.relative_to(directory)} (its process was killed')
        code, _, err = run('export', '--profile', 'heap', '-o', directory / 'heap.folded',
                           path.parent)
        equal(code, 0, err)


def own_cost(directory):
    """C323: CPU time of the helper is part of what Pitot says about itself"""
    with running(directory, 'record --cpu') as (process, helper):
        wait_until(lambda: used_ns(helper) > 100e6, 'CPU time of the helper', 60)
        used = used_ns(helper)
        code, _, err = let_go(directory, process)
        equal(code, 7, err)
        code, out, err = run('export', '-f', 'csv', '-o', directory / 'csv', directory / 'run')
        equal(code, 0, err)
        rows = [row for row in table(directory / 'csv', 'collectors') if row['colName'] == 'pitot']
        assert max(integers(rows, 'colCpuTime')) >= used, (rows, used)


main(*[sealed(kind) for kind in KINDS],
     *[loses(kind, send(signal.SIGKILL), 'its process was killed (SIGKILL)')
       for kind in KINDS if kind != 'record --heap'],
     loses('perf', send(signal.SIGSEGV), 'its process crashed (SIG' if not IS_SANITIZED
           else 'its process'),
     loses('record --cpu', send(signal.SIGSYS),
           'its process made a forbidden system call (SIGSYS)'),
     *[loses(kind, take_memory, 'its process ran out of memory')
       for kind in ('perf', 'record --cpu')],
     without_seccomp, ends_with_pitot, keeps_saved, own_cost)
