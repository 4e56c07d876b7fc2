#!/usr/bin/python3
"""pitot heap from outside: known amounts from known functions, and programs it cannot record."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

from harness import (ENVIRONMENT, PITOT, Skip, contains, end, equal, main, run, start, wait_until)

IS_SANITIZED = b'__asan_init' in pathlib.Path(PITOT).read_bytes()

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
    return read_folded(file), err


def read_folded(file):
    stacks = {}
    for line in file.read_text().splitlines():
        stack, _, value = line.rpartition(' ')
        key = tuple(stack.split(';'))
        stacks[key] = stacks.get(key, 0) + int(value)
    return stacks


def bytes_of(stacks, function):
    """Of all stacks whose leaf is this function."""
    return sum(value for stack, value in stacks.items() if stack[-1] == function)


def bytes_below(stacks, function):
    """Of all stacks that this function is in."""
    return sum(value for stack, value in stacks.items() if function in stack)


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
        contains(err, '100.0 % of the stacks reach the root')
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
    equal([bytes_of(stacks, name) for name in ('paged', 'whole_pages')], [3000, 2000])
    equal(bytes_below(stacks, 'copied'), 1500, 'strdup comes through malloc')
    heap(directory, WORKLOAD, 'family', options=['--heap', '1k'])


def cpp(directory):
    """C244: C++'s new and new[] count, as calls of malloc"""
    stacks = every(directory, 'new', metric='live')
    found = {stack[-1]: value for stack, value in stacks.items() if 'tell_new' in stack}
    if not any('operator new' in name for name in found):
        raise Skip('no libstdc++')
    equal(bytes_below(stacks, 'operator new(unsigned long)'), 150_000, found)


def arenas(directory):
    """C244: with --mmap what a program maps for itself counts, until it unmaps it"""
    for options, expected in (([], 0), (['--mmap'], 16 << 20)):
        stacks, _ = heap(directory, WORKLOAD, 'arenas', options=['--heap', 'all', *options],
                         metric='live')
        equal(bytes_of(stacks, 'map_arena'), expected, options)


def figures(file):
    code, out, err = run('heap', 'show', '--json', file)
    equal(code, 0, err)
    return json.loads(out)


def flood(directory):
    """C244: samples that come faster than they are read are thinned, and the sums still hold"""
    file = directory / 'flood.pitotprof'
    code, _, err = run('heap', '--heap', '1k', '--stack', 64, '-o', file, '--', WORKLOAD, 'flood',
                       env=ENVIRONMENT | {'PITOT_HEAP_SEED': '7'})
    equal(code, 7, err)
    found = figures(file)
    allocated, exact = found['allocated'], 40 * 80_080_000
    if found['lost']['samples']:
        contains(err, 'sums are too low')
        return
    assert found['lost']['thinned'] == 0 or 'at a lower rate' in err, err
    assert abs(allocated['bytes'] - exact) < 5 * allocated['error'] + 300_000, allocated
    assert found['live']['bytes'] < exact / 1000, found['live']


def timeline(directory):
    """C244: live bytes over time are in the file, as JSON and as text"""
    file = directory / 'leaks.pitotprof'
    for _ in range(6): # on a busy machine, time passes after the end: nothing is live then
        code, _, err = run('heap', '--heap', 'all', '--leaks', '-o', file, '--', WORKLOAD, 'leaks')
        equal(code, 7, err)
        found = figures(file)
        live, step = found['timeline']['live_bytes'], found['timeline']['step_seconds']
        if live[-1] and found['leaks']:
            break
    assert len(live) >= 16 and 0.5 < len(live) * step < 60, (len(live), step)
    quarters = [live[i * len(live) // 4] for i in (1, 2, 3)] + [live[-1]]
    equal(quarters, sorted(quarters), 'it grows')
    equal([leak['stack'][0] for leak in found['leaks']], ['leak_slowly'])
    leak = found['leaks'][0]
    equal(leak['bytes'], 300 * 50_000)
    assert 0.5 < leak['bytes_per_second'] * len(live) * step / leak['bytes'] < 2, leak
    code, out, _ = run('heap', 'show', '--leaks', file)
    equal(code, 0)
    contains(out, 'leak_slowly')
    contains(out, ' s each)')


def only_run(directory, kind):
    files = list((directory / 'out').glob(f'*.{kind}.pitotprof'))
    equal(len(files), 1, kind)
    return files[0]


def exported(directory, metric, ending='.folded'):
    path = directory / f'exported{ending}'
    code, _, err = run('export', directory / 'out', '--profile', 'heap', '--metric', metric, '-o',
                       path)
    equal(code, 0, err)
    return (read_folded(path) if ending == '.folded' else path), err


def recorded(directory):
    """C244: record --heap leaves a profile beside the journal; any column of it can come first"""
    code, out, err = run('-f', 'csv', '-t', 50, '--heap=all', '-o', directory / 'out', '--',
                         WORKLOAD, 'exact')
    equal((code, out), (7, 'done\n'), err)
    contains(err, f'Heap profile: {only_run(directory, "heap")} (')
    for metric, expected in {'allocated': 1_500_000, 'live': 0, 'temporary': 1_500_000}.items():
        stacks, _ = exported(directory, metric)
        equal(bytes_of(stacks, 'pass_by'), expected, metric)
    for ending in ('.html', '.svg', '.speedscope.json', '.pb.gz', '.trace.json', '.firefox.json',
                   '.pitotprof'):
        path, _ = exported(directory, 'peak', ending)
        assert path.stat().st_size > 0, ending
    equal(figures(directory / 'exported.pitotprof')['metric'], 'peak')


def recorded_with_cpu(directory):
    """C244: one run has both profiles, and a program that SIGKILL ends leaves them"""
    code, _, err = run('-f', 'csv', '-t', 50, '--heap=all', '--cpu=99', '-o', directory / 'out',
                       '--', WORKLOAD, 'killed')
    equal(code, 137, err)
    if 'no CPU profile: ' not in err:
        only_run(directory, 'cpu')
    equal(bytes_of(exported(directory, 'live')[0], 'keep_large'), 10 << 20)


def recorder_killed(directory):
    """C244: a recorder that is killed leaves the profile as it was seconds before, with names"""
    recorder = start('-q', '-f', 'csv', '-t', 50, '--heap=all', '-o', directory / 'out', '--',
                     WORKLOAD, 'hold', stdin=subprocess.PIPE)
    equal(recorder.stdout.readline(), 'held\n')
    wait_until(lambda: list((directory / 'out').glob('*.heap.pitotprof')), 'a saved profile')
    recorder.send_signal(signal.SIGKILL)
    recorder.stdin.close()
    recorder.wait()
    recorder.stdout.close()
    recorder.stderr.close()
    stacks, err = exported(directory, 'live')
    contains(err, 'is incomplete')
    equal((bytes_of(stacks, 'keep_small'), bytes_of(stacks, 'keep_large')), (100_000, 10 << 20))


def recorded_nothing(directory):
    """C244: a program that cannot be recorded costs the run its heap profile, and nothing else"""
    code, _, err = run('-f', 'csv', '-t', 50, '--heap', '-o', directory / 'out', '--', STATIC)
    equal(code, 7, err)
    contains(err, 'Heap profile: none (nothing was recorded: no program loaded')
    equal(list((directory / 'out').glob('*.heap.*')), [])
    code, _, err = run('export', directory / 'out', '--profile', 'heap', '-o',
                       directory / 'x.folded')
    equal(code, 1)
    contains(err, 'the run has no heap profile')
    equal(run('--heap=seldom', '--', 'true')[0], 125)
    equal(run('--heap', '-d', '0.1', '-o', directory / 'no')[0], 125, 'a machine has no heap')
    equal(run('--heap-python', '--', 'true')[0], 125)


PYTHON = '''
import os, sys, threading
kept = []

def make_bytes():
    for i in range(20):
        kept.append(bytearray(1 << 20))

def make_floats():
    kept.append([i * 0.5 for i in range(100000)])

def make_in_thread():
    kept.append(bytearray(5 << 20))

def make_in_child():
    kept.append(bytearray(3 << 20))

def make_array(numpy):
    kept.append(numpy.ones(1 << 20))

make_bytes()
make_floats()
thread = threading.Thread(target=make_in_thread)
thread.start()
thread.join()
pid = os.fork()
if pid == 0:
    make_in_child()
    os._exit(0)
os.waitpid(pid, 0)
try:
    import numpy
    make_array(numpy)
except ImportError:
    pass
print('done')
sys.stdout.flush()
os._exit(7)
'''


def interpreters():
    listing = pathlib.Path(__file__).resolve().parents[2] / 'python' / 'interpreters'
    lines = subprocess.run([listing], capture_output=True, text=True).stdout.splitlines()
    return [line.split('|')[-1] for line in lines if not line.split('|')[0].endswith('t')]


def near(found, expected, what, share=0.02):
    assert abs(found - expected) <= share * expected, f'{what}: {found}, expected {expected}'


def python_program(directory, program, options):
    script = directory / 'script.py'
    script.write_text(PYTHON)
    stacks, err = heap(directory, program, script, options=[*options, '-o',
                                                            directory / 'x.pitotprof'])
    # a reader that a sanitizer slows down can come too late for the maps of a short-lived child
    least = 90 if IS_SANITIZED else 100
    assert float(re.search(r'python: ([0-9.]+) % of ', err)[1]) >= least, err
    near(bytes_below(stacks, 'make_bytes'), 20 << 20, f'{program} {options}')
    near(bytes_below(stacks, 'make_in_thread'), 5 << 20, f'{program} {options}: thread')
    near(bytes_below(stacks, 'make_in_child'), 3 << 20, f'{program} {options}: child')
    if any('make_array' in stack for stack in stacks):
        near(bytes_below(stacks, 'make_array'), 8 << 20, f'{program} {options}: numpy', 0.1)
    return stacks


def line_share(directory, function, line):
    """Percent of all that the table of lines gives to a line."""
    code, out, err = run('heap', 'show', directory / 'x.pitotprof', '--metric', 'allocated',
                         '--lines', f'script.py:{function}')
    equal(code, 0, err)
    rows = [row.split() for row in out.splitlines()[2:]]
    shares = {int(row[2]): float(row[0]) for row in rows
              if row[1:2] == ['%'] and float(row[0]) > 0}
    equal(set(shares), {line}, out)
    return shares[line]


def python_lines(directory):
    """C244: allocations of Python are those of its lines: every one, and samples"""
    programs = interpreters()
    if not programs:
        raise Skip('no CPython')
    for program in programs:
        stacks = python_program(directory, program, ['--heap', 'all', '--python'])
        floats = bytes_below(stacks, 'make_floats')
        assert 100_000 * 24 + 800_000 <= floats < 20_000_000, (program, floats)
        whole = sum(stacks.values())
        near(line_share(directory, 'make_bytes', 7), 100 * (20 << 20) / whole, program)
        near(line_share(directory, 'make_in_thread', 13), 100 * (5 << 20) / whole, program, 0.05)
        python_program(directory, program, ['--heap', '64k'])


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
        for _ in range(6): # a program that a busy machine stops for a while does not leak meanwhile
            _, err = heap(directory, WORKLOAD, 'leaks', options=[*options, '--leaks', '--top', '9'])
            table = err[err.index('rise throughout'):]
            assert 'warm_up' not in table and 'come_and_go' not in table, table
            if 'leak_slowly' in table:
                break
        contains(table, 'leak_slowly')
        contains(table, '/s +- ')


def cannot_record(directory):
    """C244: a static program and one with its own malloc are said to be so, no profile"""
    for program, words in ((STATIC, 'static'), (OWN_MALLOC, 'its own malloc')):
        file = directory / 'none.folded'
        code, _, err = run('heap', '-o', file, '--', program)
        equal(code, 0 if program == OWN_MALLOC else 7)
        contains(err, words)
        assert not file.exists()


def too_little(directory):
    """C244: a program that allocates too little for a sample does not give an empty profile"""
    file = directory / 'none.folded'
    code, _, err = run('heap', '-o', file, '--', '/bin/true')
    equal(code, 0)
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
    main(exact_totals, whole_stacks, peak, threads, forks, execs, family, cpp, arenas, flood,
         timeline, recorded, recorded_with_cpu, recorder_killed, recorded_nothing, python_lines,
         loaded_later, killed, leaks, cannot_record, too_little, codes, other_preloads, jobs=2)
