#!/usr/bin/python3
"""What a profile of CPU time costs, beside `perf record --call-graph dwarf` at the same rate: the
profiler itself for each sample, the program that is profiled, and the time from its end to the
finished flame graph, for which perf needs `perf script`.

    bench/cpu_bench.py PITOT BURNER

Prints rows of the table that bench/run puts together. The programs take turns and the smallest
counts; CPU times are those the kernel counts. perf script is ended after PERF_SECONDS; where there
is no perf its side stays empty."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

RATE, ROUNDS, WORK, LITTLE = 999, 5, 30000, 3000
COST_SECONDS = 15 # no further round after that, on a busy machine
GRAPH_SAMPLES, GRAPH_RATE, GRAPH_ROUNDS = 30000, 9999, 2
PERF_SECONDS = 8
HAS_PERF = bool(shutil.which('perf'))


def run(*command):
    """(CPU seconds of it and all it started, stdout, stderr)"""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = os.times()
    if done.returncode:
        sys.exit(f'{command[0]}: {done.stderr}')
    return (after.children_user + after.children_system - before.children_user -
            before.children_system, done.stdout, done.stderr)


def number(name, text):
    """Of a line that begins with the name, or that has it anywhere before the number."""
    return float(re.search(rf'{name} ([0-9.]+)', text)[1])


def pitot_command(pitot, rate, output, *target):
    return (pitot, 'cpu', '--top', '0', '--no-python', '--rate', str(rate), '-o', output, '--',
            *target)


def perf_command(rate, output, *target):
    return ('perf', 'record', '-F', str(rate), '--call-graph', 'dwarf,32768', '-o', output, '--',
            *target)


def burnt(out):
    return number('cpu', out) / 1e9


def pitot_once(pitot, burner, directory, work):
    """CPU seconds of the program, microseconds that sampling took, samples."""
    _, out, words = run(*pitot_command(pitot, RATE, f'{directory}/p.pitotprof', burner, 'work',
                                       str(work)))
    return burnt(out), number('own cost:', words) * 1e3, number('samples:', words)


def perf_once(burner, directory, work):
    """The same of perf record, which only writes the samples down."""
    used, out, words = run(*perf_command(RATE, f'{directory}/perf.data', burner, 'work', str(work)))
    samples = int(re.search(r'\((\d+) samples\)', words)[1])
    return burnt(out), (used - burnt(out)) * 1e6, samples


def warm(once, *arguments):
    """(CPU seconds of the program, microseconds for a sample): a long run less a short one, so that
    the start does not count."""
    _, short_cost, short_samples = once(*arguments, LITTLE)
    seconds, cost, samples = once(*arguments, WORK)
    return seconds, (cost - short_cost) / (samples - short_samples)


def print_costs(pitot, burner, directory):
    plain, ours, perf = [], [], []
    limit = time.monotonic() + COST_SECONDS
    while len(plain) < ROUNDS and (not plain or time.monotonic() < limit):
        plain.append(burnt(run(burner, 'work', str(WORK))[1]))
        ours.append(warm(pitot_once, pitot, burner, directory))
        if HAS_PERF:
            perf.append(warm(perf_once, burner, directory))
    slower, cost = (min(column) for column in zip(*ours))
    slower = (slower / min(plain) - 1) * 100
    words = ['', '', '']
    if HAS_PERF:
        perf_slower, perf_cost = (min(column) for column in zip(*perf))
        words = [f'{perf_cost:.1f} us', f'{cost / perf_cost:.2f}',
                 f'{(perf_slower / min(plain) - 1) * 100:.2f} %']
    print(f'| own CPU for each sample of 20 frames at {RATE} Hz, beside `perf record --call-graph '
          f'dwarf`, which does not unwind | {cost:.1f} us | {words[0]} | {words[1]} | <= 2 us |')
    print(f'| CPU that the profiled program loses at {RATE} Hz | {slower:.2f} % | {words[2]} | | '
          f'<= perf |')


def graph_round(pitot, burner, directory):
    """(seconds from the end of the program to that of Pitot, samples)"""
    milliseconds = str(GRAPH_SAMPLES * 1000 // GRAPH_RATE)
    _, out, words = run(*pitot_command(pitot, GRAPH_RATE, f'{directory}/p.html', burner, 'ms',
                                       milliseconds))
    after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return (after_ns - number('end', out)) / 1e9, int(number('samples:', words))


def script_seconds(burner, directory):
    """Of perf script, for a tenth of the samples: a whole run has gigabytes of stacks."""
    data = f'{directory}/perf.data'
    run(*perf_command(RATE, data, burner, 'ms', str(GRAPH_SAMPLES * 100 // RATE)))
    before = time.monotonic()
    try:
        subprocess.run(['perf', 'script', '-i', data], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=PERF_SECONDS, check=True)
    except subprocess.TimeoutExpired:
        return f'more than {PERF_SECONDS} s'
    return f'{time.monotonic() - before:.2f} s'


def print_graph(pitot, burner, directory):
    seconds, samples = min(graph_round(pitot, burner, directory) for _ in range(GRAPH_ROUNDS))
    reference = script_seconds(burner, directory) if HAS_PERF else ''
    print(f'| from the end of the program to the flame graph of {samples} samples, beside `perf '
          f'script` of {GRAPH_SAMPLES // 10} alone | {seconds:.3f} s | {reference} | | <= 0.1 s |')


def main():
    pitot, burner = map(os.path.abspath, sys.argv[1:3])
    os.environ['PITOT_MODULES'] = os.path.join(os.path.dirname(pitot), 'modules')
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        probe = subprocess.run([pitot, 'cpu', '-q', '-o', f'{directory}/p.folded', '--', 'true'],
                               capture_output=True, text=True, check=False)
        if probe.returncode:
            print(f'| profile of CPU time | not measured: {probe.stderr.strip()} | | | |')
            return
        print_costs(pitot, burner, directory)
        print_graph(pitot, burner, directory)


main()
