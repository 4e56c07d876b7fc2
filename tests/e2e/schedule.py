#!/usr/bin/python3
"""Ticks: every one is taken, late or dropped, and all lie on one grid.

Nothing here depends on how fast the machine is: a busy one has more late ticks, and they are
counted."""
import collections
import concurrent.futures
import csv
import functools
import json
import signal
import time

from harness import check_ticks, end, equal, main, run, start, table


def read_run(directory):
    """Times of the samples on the grid, without the one that the end asks for, and late ticks."""
    times = [int(row['monotonic_ns']) for row in table(directory)]
    rows = [row for row in table(directory, 'collectors') if row['colName'] == 'pitot']
    own, whole = rows[-2:]
    equal(int(own['monotonic_ns']), times[-1], 'the last sample counts the ticks')
    assert int(whole['monotonic_ns']) > times[-1], 'the cost of all files comes after it'
    assert int(whole['colCpuTime']) >= int(own['colCpuTime']), (whole, own)
    equal(int(own['colCalls']), len(times) - 1, 'samples taken before the last')
    check_ticks(own)
    return times[:-1], int(own['colLateTicks']) + int(own['colDroppedTicks'])


def check_grid(times, late, interval_ns):
    """No tick comes twice and none is lost without being counted, but for the time that the first
    and the last sample may themselves have been waiting for a CPU."""
    ticks = len(times) + late - 1 # since the one at 0
    elapsed_ns = times[-1] - times[0]
    waited = abs(elapsed_ns - ticks * interval_ns)
    assert waited < interval_ns + 200_000_000, f'{ticks} ticks in {elapsed_ns / 1e6} ms'
    return ticks


def usual_phase(times):
    """The hundredth of the interval of 10 ms after which most samples come."""
    phases = collections.Counter(time % 10_000_000 // 100_000 for time in times)
    return phases.most_common(1)[0][0]


def check_phases(before, after):
    moved = (usual_phase(after) - usual_phase(before) + 50) % 100 - 50
    assert abs(moved) < 25, f'the grid moved by {moved} % of the interval'


def again(times):
    """A test that a busy machine can break at times, but a wrong schedule breaks each time."""
    def decorate(test):
        @functools.wraps(test)
        def repeated(directory):
            for number in range(times):
                try:
                    (directory / str(number)).mkdir()
                    return test(directory / str(number))
                except AssertionError:
                    if number == times - 1:
                        raise
        return repeated
    return decorate


@again(3)
def steady(directory):
    """C006: -t 10 -d 1s gives 100 ticks after the first, each taken or counted as late; no drift"""
    code, _, err = run('-f', 'csv', '-t', 10, '-d', '1s', '-o', directory, '-q')
    equal(code, 0, err)
    times, late = read_run(directory)
    ticks = check_grid(times, late, 10_000_000)
    assert ticks >= 90, f'{ticks} ticks'
    check_phases(times[:len(times) // 2], times[len(times) // 2:])


@again(3)
def stopped(directory):
    """C006: ticks while the recorder is stopped are skipped and counted, and the grid is kept"""
    recorder = start('-f', 'csv', '-t', 10, '-d', '1500ms', '-o', directory, '-q')
    time.sleep(0.6)
    recorder.send_signal(signal.SIGSTOP)
    time.sleep(0.3)
    recorder.send_signal(signal.SIGCONT)
    code, _, err = end(recorder)
    equal(code, 0, err)
    times, late = read_run(directory)
    assert late >= 28, f'{late} late ticks in 300 ms'
    check_grid(times, late, 10_000_000)
    gaps = [b - a for a, b in zip(times, times[1:])]
    longest = gaps.index(max(gaps))
    assert gaps[longest] > 290_000_000, 'there is the gap'
    check_phases(times[:longest + 1], times[longest + 2:])


def fast(directory):
    """C006: at 1 ms every tick is taken or counted"""
    code, _, err = run('-f', 'csv', '-t', 1, '-d', '1s', '-o', directory, '-q')
    equal(code, 0, err)
    times, late = read_run(directory)
    ticks = check_grid(times, late, 1_000_000)
    assert ticks >= 900, f'{ticks} ticks'


def slow(directory):
    """C004 C006: with an interval longer than the command there are two samples, first and last"""
    code, _, err = run('-f', 'csv', '-t', '1h', '-o', directory, '-q', '--', 'sleep', '0.2')
    equal(code, 0, err)
    times = [int(row['monotonic_ns']) for row in table(directory)]
    equal(len(times), 2)
    assert times[1] - times[0] >= 200_000_000, 'the last one comes after the command'


def schema():
    """File of each table that is not one of events: its key columns and its times of values."""
    code, out, err = run('schema', '--json')
    equal(code, 0, err)
    files = collections.defaultdict(lambda: ([], []))
    for table in json.loads(out)['tables']:
        if table['rows'] == 'things':
            keys, times = files['' if table['file'] == 'main' else table['file'] + '.']
            keys += [c['name'] for c in table['columns'] if c['kind'] == 'key']
            times += [c['name'] + 'T' for c in table['columns'] if c['timed']]
    return files


def check_times(rows, keys, times, what):
    """Rows with the same key have times of their own, and no value was read before its last one."""
    before = {}
    for row in rows:
        if row.get('colAction'):
            continue # events among the rows of collectors
        key = tuple(row.get(name) for name in keys)
        last = before.setdefault(key, {})
        for name in ('timestamp', 'monotonic_ns'):
            assert int(row[name]) > last.get(name, 0), f'{what}{key}: {name} twice: {row[name]}'
        for name in ('timestamp', 'monotonic_ns', *(t for t in times if row.get(t))):
            assert int(row[name]) >= last.get(name, 0), f'{what}{key}: {name} went back'
            last[name] = int(row[name])


def check_run(directory, files):
    journal, = directory.glob('*.pitot')
    count = 0
    for name, (keys, times) in files.items():
        for path in directory.glob(f'{journal.stem}.{name}csv'):
            with open(path, newline='') as file:
                check_times(csv.DictReader(file), keys, times, path.name)
                count += 1
        for path in directory.glob(f'{journal.stem}.{name}jsonl'):
            check_times(map(json.loads, path.open()), keys, times, path.name)
    assert count > 3, f'{count} tables'
    stamps = [path.stem.rpartition('-')[2] for path in directory.glob(f'{journal.stem}-*.json')]
    told = [json.loads(path.read_text())['timestamp']
            for path in directory.glob(f'{journal.stem}-*.json')]
    equal(sorted(map(str, told)), sorted(stamps), 'snapshots are named by their own time')


def own_times(directory):
    """C028 C029: every row has a time of its own in each format, the last one too (40 runs)"""
    files = schema()

    def record(number):
        place = directory / str(number)
        interval = (1, 5, 10, 50, 100, 1000)[number % 6]
        # as long as some intervals, so that the last sample is asked for right after a tick
        duration = interval * max(1, 100 // interval) if number % 2 else 100 + number * 5
        how = (['-d', f'{duration}ms'] if number % 4 < 2 else ['--', 'sleep', duration / 1000])
        code, _, err = run('-p', '-f', 'csv,jsonl,json', '-t', interval, '-o', place, '-q', *how)
        equal(code, 0, err)
        check_run(place, files)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(record, range(40)))


main(steady, stopped, fast, slow, own_times, jobs=2)
