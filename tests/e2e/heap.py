#!/usr/bin/python3
"""pitot heap from outside: known amounts from known functions, and programs it cannot record."""
import os
import pathlib
import sys

from harness import ENVIRONMENT, Skip, contains, equal, main, run

STATIC, OWN_MALLOC, PLUGIN = map(os.path.abspath, sys.argv[3:6])
WORKLOAD = os.path.abspath(sys.argv[2])
MODULES = pathlib.Path(os.path.abspath(sys.argv[1])).parent / 'modules'


def heap(directory, *words, options=(), code=7, metric='allocated', environment=None):
    """Runs `pitot heap`; bytes by stack, a tuple of functions from the root, and its stderr."""
    file = directory / 'heap.folded'
    result, out, err = run('heap', '-o', file, '--metric', metric, *options, '--', *words,
                           env=ENVIRONMENT | (environment or {}))
    equal(result, code, err)
    if code == 7:
        equal(out, 'done\n', 'the output of the program')
    stacks = {}
    for line in file.read_text().splitlines():
        stack, _, value = line.rpartition(' ')
        key = tuple(stack.split(';'))
        stacks[key] = stacks.get(key, 0) + int(value)
    return stacks, err


def bytes_of(stacks, function):
    """Of all stacks whose leaf is this function."""
    return sum(value for stack, value in stacks.items() if stack[-1] == function)


def every(directory, story, *words, metric='allocated'):
    return heap(directory, WORKLOAD, story, *words, options=['--heap', 'all'], metric=metric)[0]


def exact_totals(directory):
    """C244: with --heap all every byte is counted: allocated, not freed, temporary"""
    known = {'allocated': (100_000, 10 << 20, 1_500_000), 'live': (100_000, 10 << 20, 0),
             'temporary': (0, 0, 1_500_000)}
    for metric, expected in known.items():
        stacks = every(directory, 'exact', metric=metric)
        found = tuple(bytes_of(stacks, name) for name in ('keep_small', 'keep_large', 'pass_by'))
        equal(found, expected, metric)


def whole_stacks(directory):
    """C244: stacks reach from the start of the program to the function that allocates"""
    for options in (['--heap', 'all'], ['--heap', '64k']):
        stacks, err = heap(directory, WORKLOAD, 'exact', options=options)
        contains(err, '100.0 % of their stacks reach the root')
        stack = next(stack for stack in stacks if stack[-1] == 'keep_large')
        equal(stack[1], '_start')
        assert 'main' in stack, stack


def peak(directory):
    """C244: the peak is what was live together when that was most"""
    stacks = every(directory, 'exact', metric='peak')
    equal(bytes_of(stacks, 'keep_large'), 10 << 20)
    stacks = every(directory, 'sampled', metric='peak')
    total = sum(stacks.values())
    assert 6_000_000 < total < 6_120_000, total # 512 blocks of 16 + 16 k, k from 488 on


def threads(directory):
    """C244: what threads allocate at the same time is counted once each"""
    equal(bytes_of(every(directory, 'threads'), 'in_thread'), 16 * 1000 * 200)
    equal(bytes_of(every(directory, 'threads', metric='live'), 'in_thread'), 16 * 500 * 200)


def forks(directory):
    """C244: a child has a file of its own, and its frees leave its parent's sums alone"""
    stacks = every(directory, 'fork')
    equal((bytes_of(stacks, 'in_parent'), bytes_of(stacks, 'in_child')), (100_000, 100_000))
    equal(bytes_of(every(directory, 'fork', metric='live'), 'in_parent'), 50_000)


def execs(directory):
    """C244: a program that another has become is recorded as well"""
    equal(bytes_of(every(directory, 'exec'), 'keep_small'), 100_000)


def family(directory):
    """C244: realloc, calloc and the aligned ones count, and behave as they should"""
    stacks = every(directory, 'family', metric='live')
    found = [bytes_of(stacks, name) for name in ('grow', 'zeroed', 'aligned', 'aligned_old',
                                                 'aligned_new', 'tell_family')]
    equal(found, [100_000, 3000, 5000, 6400, 1280, 7000])
    heap(directory, WORKLOAD, 'family', options=['--heap', '1k'])


def loaded_later(directory):
    """C244: code of a library that was loaded after the start has its names"""
    for options in (['--heap', 'all'], ['--heap', '1k']):
        stacks, _ = heap(directory, WORKLOAD, 'plugin', PLUGIN, options=options)
        assert bytes_of(stacks, 'plugin_allocate') >= 50_000, stacks


def killed(directory):
    """C244: a program that SIGKILL ends leaves all it had recorded"""
    stacks, _ = heap(directory, WORKLOAD, 'killed', options=['--heap', 'all'], code=137,
                     metric='live')
    equal(bytes_of(stacks, 'keep_large'), 10 << 20)
    stacks, _ = heap(directory, WORKLOAD, 'killed', code=137, metric='live')
    assert bytes_of(stacks, 'keep_large') >= 5 << 20, stacks


def leaks(directory):
    """C244: a leak is listed with its slope; a warm-up and what comes and goes are not"""
    for options in (['--heap', 'all'], ['--heap', '16k']):
        _, err = heap(directory, WORKLOAD, 'leaks', options=[*options, '--leaks', '--top', '9'])
        table = err[err.index('rise throughout'):]
        contains(table, 'leak_slowly')
        contains(table, '/s +- ')
        assert 'warm_up' not in table and 'come_and_go' not in table, table


def cannot_record(directory):
    """C244: a static program and one with its own malloc are said to be so: 125, no profile"""
    for program, words in ((STATIC, 'static'), (OWN_MALLOC, 'its own malloc')):
        file = directory / 'none.folded'
        code, _, err = run('heap', '-o', file, '--', program)
        equal(code, 125 if program == OWN_MALLOC else 7)
        contains(err, words)
        assert not file.exists()


def too_little(directory):
    """C244: a program that allocates too little for a sample is no empty profile"""
    file = directory / 'none.folded'
    code, _, err = run('heap', '-o', file, '--', '/bin/true')
    equal(code, 125)
    contains(err, '--heap all')
    assert not file.exists()


def codes(directory):
    """C244: exit codes of commands that cannot be run, and of wrong options"""
    equal(run('heap', '--', '/nonexistent')[0], 127)
    equal(run('heap', '--', '/etc/passwd')[0], 126)
    equal(run('heap')[0], 125)
    equal(run('heap', '--heap', 'seldom', '--', 'true')[0], 125)
    equal(run('heap', '--metric', 'weight', '--', 'true')[0], 125)
    equal(run('heap', '-o', directory / 'x.txt', '--', 'true')[0], 125)


def other_preloads(directory):
    """C244: what the user preloads stays, and nothing is left behind in /dev/shm"""
    def ours():
        return {name for name in os.listdir('/dev/shm') if name.startswith('pitot-')}
    before = ours()
    library = MODULES / 'libpitot-heap.so'
    if not library.exists():
        raise Skip('no library')
    code, out, err = run('heap', '--heap', 'all', '-o', directory / 'x.folded', '--', '/bin/sh',
                         '-c', 'echo $LD_PRELOAD', env=ENVIRONMENT | {
                             'LD_PRELOAD': PLUGIN,
                             'ASAN_OPTIONS': 'verify_asan_link_order=0'}) # it comes before
    equal((code, out), (0, f'{library}:{PLUGIN}\n'), err)
    assert len(ours() - before) <= 8 # of tests beside this one


if __name__ == '__main__':
    main(exact_totals, whole_stacks, peak, threads, forks, execs, family, loaded_later, killed,
         leaks, cannot_record, too_little, codes, other_preloads, jobs=2)
