#!/usr/bin/python3
"""Cost of a CPU profile, compared with `perf record --call-graph dwarf` at the same rate: of the
profiler per sample, of the profiled program, and the time from its end to the finished flame graph,
for which perf needs `perf script`.

    bench/cpu_bench.py BUILD_DIRECTORY

The programs alternate; CPU times are counted by the kernel. perf script is ended after
PERF_SECONDS; without perf its side stays empty."""
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import bench

RATE, ROUNDS, WORK = 999, 5, 30000
SECONDS = 15 # no further round after that, on a busy machine
# of the program: until all its code is known, and long after that
COST_WARM, COST_WORK, COST_SECONDS = 40000, 120000, 30
GRAPH_SAMPLES, GRAPH_RATE, GRAPH_ROUNDS = 30000, 9999, 2
PERF_SECONDS = 8
HAS_PERF = bool(shutil.which('perf'))
# what austin 3.7 needs for a sample; that of Debian 12 cannot read its Python
AUSTIN = '< 70 us'
PYTHON_SHORT, PYTHON_LONG = 1.5, 4.5
PYTHON = '''
import sys, time

def burn(depth, end):
    if depth > 0:
        return burn(depth - 1, end)
    total = 0
    while time.thread_time() < end:
        total += sum(i * i for i in range(1000))

burn(10, float(sys.argv[1]))
'''


def number(name, text):
    """Of a line that begins with the name, or that has it anywhere before the number."""
    return float(re.search(rf'{name} ([0-9.]+)', text)[1])


def pitot_command(pitot, rate, output, *target):
    return (pitot, 'cpu', '--top', '0', '--no-python', '--rate', rate, '-o', output, '--',
            *target)


def perf_command(rate, output, *target):
    return ('perf', 'record', '-F', rate, '--call-graph', 'dwarf,32768', '-o', output, '--',
            *target)


def burnt(out):
    return number('cpu', out) / 1e9


def pitot_once(pitot, burner, directory, depth, work):
    """Microseconds that sampling took, samples."""
    _, _, words = bench.run(pitot_command(pitot, RATE, f'{directory}/p.pitotprof', burner, 'work',
                                          work, depth))
    return number('overhead:', words) * 1e3, number('samples:', words)


def perf_once(burner, directory, depth, work):
    """The same of perf record, which only writes the samples down."""
    used, out, words = bench.run(perf_command(RATE, f'{directory}/perf.data', burner, 'work', work,
                                              depth))
    samples = int(re.search(r'\((\d+) samples\)', words)[1])
    return (used - burnt(out)) * 1e6, samples


def warm(short, long):
    """Microseconds for a sample, of (cost, samples) of several short and long runs: the least of
    these less the least of those, so that the start does not count."""
    (short_cost, short_samples), (cost, samples) = min(short), min(long)
    return (cost - short_cost) / (samples - short_samples)


def rounds(*measures, seconds=SECONDS):
    """What each measure gave, in turn, until there are enough or it takes too long."""
    found = [[] for _ in measures]
    limit = time.monotonic() + seconds
    while len(found[0]) < ROUNDS and (not found[0] or time.monotonic() < limit):
        for measure, values in zip(measures, found):
            values.append(measure())
    return found


def print_costs(pitot, burner, directory):
    for depth, goal in (20, '<= 2 us'), (50, '<= 5 us'):
        works = (COST_WARM, COST_WORK)
        measures = [lambda work=work: pitot_once(pitot, burner, directory, depth, work)
                    for work in works]
        if HAS_PERF:
            measures += [lambda work=work: perf_once(burner, directory, depth, work)
                         for work in works]
        found = rounds(*measures, seconds=COST_SECONDS)
        ours, *perf = (warm(*found[i:i + 2]) for i in range(0, len(found), 2))
        bench.row(f'own CPU for each sample of {depth} frames at {RATE} Hz vs. `perf record '
                  '--call-graph dwarf`, which does not unwind', f'{ours:.1f} us',
                  f'{perf[0]:.1f} us' if perf else '', ours / perf[0] if perf else '', goal)


def python_once(pitot, directory, seconds):
    """As pitot_once, of a program in Python that works that long."""
    _, _, words = bench.run((pitot, 'cpu', '--top', '0', '--rate', RATE, '-o',
                             f'{directory}/p.pitotprof', '--', '/usr/bin/python3', '-c', PYTHON,
                             seconds))
    return number('overhead:', words) * 1e3, number('samples:', words)


def print_python(pitot, directory):
    ours = warm(*rounds(*(lambda seconds=seconds: python_once(pitot, directory, seconds)
                          for seconds in (PYTHON_SHORT, PYTHON_LONG))))
    bench.row(f'own CPU for each sample of Python at {RATE} Hz: frames and lock read from outside',
              f'{ours:.1f} us', goal=AUSTIN)


def print_slowdown(pitot, burner, directory, rate):
    """In turn, against the bare program: by the fastest runs, and by the middle ones."""
    work = (burner, 'work', WORK)
    commands = [work, pitot_command(pitot, rate, f'{directory}/p.pitotprof', *work)]
    if HAS_PERF:
        commands.append(perf_command(rate, f'{directory}/perf.data', *work))
    plain, *others = rounds(*(lambda command=command: burnt(bench.run(command)[1])
                              for command in commands))
    cells = []
    for seconds in others:
        fastest = (min(seconds) / min(plain) - 1) * 100
        middle = (statistics.median(seconds) / statistics.median(plain) - 1) * 100
        cells.append(f'{fastest:.2f} % (median {middle:.2f} %)')
    bench.row(f'CPU that the profiled program loses at {rate} Hz', *cells[:2], goal='<= perf')


def graph_round(pitot, burner, directory):
    """(seconds from the end of the program to that of Pitot, samples)"""
    milliseconds = GRAPH_SAMPLES * 1000 // GRAPH_RATE
    _, out, words = bench.run(pitot_command(pitot, GRAPH_RATE, f'{directory}/p.html', burner, 'ms',
                                            milliseconds))
    after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return (after_ns - number('end', out)) / 1e9, int(number('samples:', words))


def script_seconds(burner, directory):
    """Of perf script, for a tenth of the samples: a whole run has gigabytes of stacks."""
    data = f'{directory}/perf.data'
    bench.run(perf_command(RATE, data, burner, 'ms', GRAPH_SAMPLES * 100 // RATE))
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
    bench.row(f'from the end of the program to the flame graph of {samples} samples vs. `perf '
              f'script` of {GRAPH_SAMPLES // 10} alone', f'{seconds:.3f} s', reference,
              goal='<= 0.1 s')


def main():
    build = bench.build_directory()
    pitot, burner = build / 'pitot', build / 'bench/cpu_burner'
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        probe = subprocess.run([pitot, 'cpu', '-q', '-o', f'{directory}/p.folded', '--', 'true'],
                               capture_output=True, text=True, check=False)
        if probe.returncode:
            bench.not_measured('profile of CPU time', probe.stderr.strip())
            return
        print_costs(pitot, burner, directory)
        print_python(pitot, directory)
        for rate in 99, RATE:
            print_slowdown(pitot, burner, directory, rate)
        print_graph(pitot, burner, directory)


main()
