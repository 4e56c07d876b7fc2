#!/usr/bin/python3
"""Ticks: every one is taken, late or dropped, and all lie on one grid.

Nothing here depends on how fast the machine is: a busy one has more late ticks, and they are
counted."""
import collections
import functools
import signal
import time

from harness import end, equal, main, run, start, table


def read_run(directory):
    """Times of the samples on the grid, without the one that the end asks for, and late ticks."""
    times = [int(row['monotonic_ns']) for row in table(directory)]
    own = [row for row in table(directory, 'collectors') if row['colName'] == 'pitot'][-1]
    equal(int(own['monotonic_ns']), times[-1], 'the last sample tells the cost')
    equal(int(own['colCalls']), len(times) - 1, 'samples taken before the last')
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


main(steady, stopped, fast, slow, jobs=2)
