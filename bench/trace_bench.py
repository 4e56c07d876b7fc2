#!/usr/bin/python3
"""What the demo engine's own spans and counters cost it: the same requests, tokens and seed with
and without a region to record into.

    bench/trace_bench.py BUILD_DIRECTORY

The first row is CPU time that the kernel counts, in pairs by turns: the median of their ratios, so
that a disturbed pair does not count. The second is instructions, by valgrind where it is
installed: they are the same each time."""
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

import bench

PAIRS = 15
REQUESTS = 1
SECONDS_MAX = 25  # of all pairs: what is left out is said


def command(pitot):
    return [pitot, 'demo', '-q', '--threads', '1', '--seconds', '60', '--concurrency', '1',
            '--requests', REQUESTS]


def environment(region):
    without = {k: v for k, v in os.environ.items() if not k.startswith('PITOT')}
    return without | {'PITOT_REGION': region} if region else without


def run(words, region):
    return bench.run(words, environment(region))


def run_traced(words):
    with tempfile.TemporaryDirectory(dir='/dev/shm') as region:
        done = run(words, region)
        if not os.listdir(region):
            sys.exit('pitot demo has recorded nothing')
        return done


def tokens(out):
    return re.findall(r'(\d+) tokens(?!/)', out)


def pair(words, is_traced_first):
    """CPU seconds of the traced and of the plain run, whichever came first."""
    if is_traced_first:
        traced, plain = run_traced(words), run(words, None)
    else:
        plain, traced = run(words, None), run_traced(words)
    if tokens(traced[1]) != tokens(plain[1]):
        sys.exit(f'not the same work: {tokens(traced[1])} and {tokens(plain[1])} tokens')
    return traced[0], plain[0]


def measure_time(pitot):
    words = command(pitot)
    pairs = []
    end = time.monotonic() + SECONDS_MAX
    while len(pairs) < PAIRS and (time.monotonic() < end or len(pairs) < 5):
        pairs.append(pair(words, len(pairs) % 2 == 0))
    ratio = statistics.median(traced / plain for traced, plain in pairs)
    traced, plain = (min(column) * 1e3 for column in zip(*pairs))
    bench.row(f'demo engine that measures itself, CPU time, median of {len(pairs)} pairs',
              f'{traced:.1f} ms', f'{plain:.1f} ms', f'{ratio:.3f}', '< 1.01')


def instructions(words, runner):
    _, _, err = runner(['valgrind', '--tool=cachegrind', '--cache-sim=no', '--trace-children=yes',
                        '--cachegrind-out-file=/dev/null', *words]) # pitot demo runs pitot-demo
    return int(re.search(r'I\s+refs:\s+([\d,]+)', err)[1].replace(',', ''))


def measure_instructions(pitot):
    if not shutil.which('valgrind'):
        bench.not_measured('demo engine, instructions', 'no valgrind')
        return
    words = command(pitot)
    traced = instructions(words, run_traced)
    plain = instructions(words, lambda w: run(w, None))
    bench.row('demo engine that measures itself, instructions', f'{traced / 1e6:.2f} M',
              f'{plain / 1e6:.2f} M', f'{traced / plain:.5f}', '< 1.01')


def main():
    pitot = bench.build_directory() / 'pitot'
    measure_time(pitot)
    measure_instructions(pitot)


main()
