#!/usr/bin/python3
"""Too few descriptors, threads or bytes: optional parts are left out, the command keeps its code"""
import errno
import os
import pathlib
import resource
import sys

from harness import (ENVIRONMENT, PITOT, Skip, amount, contains, end, equal, main, need_root,
                     public, run, start, summary)

FAIL_MALLOC, FAIL_IO = map(os.path.abspath, sys.argv[3:5])
COMMAND = ('--', 'sh', '-c', ': > ran; exit 7')
OWN_FAILURE = 125
PROGRAM = pathlib.Path(PITOT).read_bytes()
IS_SANITIZED = b'__asan_init' in PROGRAM or b'__tsan_init' in PROGRAM


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


def check(directory, result, what):
    """The command's code if it ran; else Pitot's own, with a message. True: it ran."""
    code, _, err = result
    has_run = (directory / 'ran').exists()
    equal(code, 7 if has_run else OWN_FAILURE, f'{what}: {err}')
    assert has_run or 'pitot: error: ' in err, f'{what}: {err}'
    return has_run


def check_journals(directory):
    for journal in directory.glob('out/*.pitot'):
        code, _, err = run('export', '-f', 'csv', '-o', directory / 'csv', journal)
        equal(code, 0, f'{journal}: {err}')


def attempt(directory, name, arguments=(), wrapper=(), **options):
    """One recording in a directory of its own."""
    place = directory / name
    place.mkdir()
    place.chmod(0o777)
    result = end(start('-o', place / 'out', *arguments, *COMMAND, wrapper=wrapper, cwd=place,
                       **options))
    has_run = check(place, result, name)
    if has_run:
        check_journals(place)
    return has_run, result[2]


def few_descriptors(directory):
    """C014: without descriptors for optional parts the run is recorded without them, and says so"""
    for count in range(8, 40, 2):
        has_run, err = attempt(directory, f'{count}',
                               preexec_fn=limited(resource.RLIMIT_NOFILE, count))
        if count == 16:
            assert has_run, err
            contains(err, 'gpu: cannot poll GPUs: Too many open files; recording without it')
    assert has_run, err


def few_threads(directory):
    """C014: without threads for optional parts the run is recorded without them, and says so"""
    if IS_SANITIZED:
        raise Skip('LeakSanitizer needs a thread')
    need_root()  # the limit is not for root; the kernel counts down late, so each has its user
    modules = os.environ.get('PITOT_MODULES') or os.path.join(os.path.dirname(PITOT), 'modules')
    program = {'program': public(directory, PITOT),
               'env': ENVIRONMENT | {'PITOT_MODULES': public(directory, modules)}}
    directory.chmod(0o711)
    left_out = 0
    for count in range(1, 40):
        has_run, err = attempt(
            directory, f'{count}', ('--cpu', '--heap'),
            wrapper=('setpriv', f'--reuid={61000 + count}', f'--regid={61000 + count}',
                     '--clear-groups', 'prlimit', f'--nproc={count}'), **program)
        left_out += has_run and 'cannot start a thread' in err
        if has_run and 'cannot start' not in err:
            break
    assert left_out > 0 and has_run, err


def little_address_space(directory):
    """C014: the command keeps its code however little address space Pitot has"""
    if IS_SANITIZED:
        raise Skip('a sanitizer needs terabytes of address space')
    for megabytes in [8, 12, 16, 20, 24, 32, 40, 50, 60, 80, 100, 150, 400]:
        has_run, err = attempt(directory, f'{megabytes}', preexec_fn=limited(
            resource.RLIMIT_AS, megabytes << 20))
    assert has_run, err


def allocations(directory):
    """C014: no allocation that fails ends Pitot by a signal, loses the command's code or its run"""
    if IS_SANITIZED:
        raise Skip('a sanitizer has its own malloc')
    counts = sorted({round(1.25 ** i) for i in range(48)})
    kept, lost = 0, 0
    for arguments in (), ('--cpu', '--heap'):
        for count in counts:
            environment = ENVIRONMENT | {'LD_PRELOAD': FAIL_MALLOC, 'FAIL_MALLOC_IN': 'pitot',
                                         'FAIL_MALLOC_AT': str(count)}
            name = f'{count}{"-profiles" if arguments else ""}'
            has_run, err = attempt(directory, name, arguments, env=environment)
            kept += has_run
            lost += 'out of memory' in err
    assert kept > 5 and lost > 20, (kept, lost)


def faults(directory):
    """C018: no call on a file that fails ends Pitot by a signal, or loses the command's code"""
    if IS_SANITIZED:
        raise Skip('a sanitizer reads files, too')
    errors = (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EDQUOT, 0)
    calls = amount([round(1.7 ** i) for i in range(4, 15)], range(1, 401))
    ran = 0
    for number, at in enumerate(calls):
        for error in amount([errors[number % len(errors)]], errors):
            environment = ENVIRONMENT | {'LD_PRELOAD': FAIL_IO, 'FAIL_IO_IN': 'pitot',
                                         'FAIL_IO_AT': str(3 * at), 'FAIL_IO_WITH': str(error)}
            ran += attempt(directory, f'{at}-{error}', ('-t', '10', '-f', 'csv'),
                           env=environment)[0]
    assert ran > len(calls) // 2, ran
    summary(f'calls on files that fail: {len(calls) * amount(1, len(errors)):,}, no signal, '
            f'command ran in {ran:,} of them and kept its code')


main(few_descriptors, few_threads, little_address_space, allocations, faults)
