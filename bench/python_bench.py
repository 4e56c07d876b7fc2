#!/usr/bin/python3
"""Cost of the Python package, compared with common alternatives.

    bench/python_bench.py BUILD_DIRECTORY

Statements alternate; the minimum of many short rounds counts, minus that of an empty loop. Rounds
of spans fit the ring of a thread, and its reader gets time between them: no span is dropped."""
import os
import re
import sys
import time
import timeit

import bench

ROUNDS, CALLS, PAUSE_S = 200, 2000, 0.01


def measure(statements, names):
    """Nanoseconds for each statement, by turns."""
    timers = [timeit.Timer(text, globals=names) for text in ('pass', *statements)]
    best = [float('inf')] * len(timers)
    for _ in range(ROUNDS):
        for i, timer in enumerate(timers):
            best[i] = min(best[i], timer.timeit(CALLS))
        time.sleep(PAUSE_S)
    return [(each - best[0]) / CALLS * 1e9 for each in best[1:]]


def row(what, own, reference, goal):
    bench.row(what, f'{own:.0f} ns', f'{reference:.0f} ns', f'{reference / own:.1f}', goal)


def plain_row(what, own, goal=''):
    bench.row(what, f'{own:.0f} ns', goal=goal)


def span_rows(pitot):
    names = {'pitot': pitot, 'collector': bench.DocumentCollector()}
    own = ('with pitot.span("decode"): pass', 'with pitot.span("decode", tokens=5): pass')
    document = 'with collector.time_component("decode"): pass'
    off, off_tokens = measure(own, names)
    pitot.start()
    pitot.configure(auto_disable_on_slow=False)
    plain, tokens, reference = measure((*own, document), names)
    row('Python: span vs. @contextmanager, perf_counter and deque', plain, reference, '>= 6')
    row('Python: span with tokens= vs. the same', tokens, reference, '>= 6')
    plain_row('Python: span while off', off, '< 60 ns')
    plain_row('Python: span with tokens= while off', off_tokens)
    if pitot.dropped():
        print(f'python_bench: {pitot.dropped()} spans were dropped', file=sys.stderr)


def decorator_row(pitot):
    names = {'plain': lambda: None}
    names['profiled'] = pitot.profile(names['plain'])
    profiled, plain = measure(('profiled()', 'plain()'), names)
    plain_row('Python: @pitot.profile, beyond the call itself', profiled - plain)


def metric_rows(pitot):
    try:
        import prometheus_client
    except ImportError:
        bench.not_measured('Python: counter, histogram', 'no prometheus_client')
        return
    names = {'counter': pitot.counter('bench_total'),
             'histogram': pitot.histogram('bench_seconds'),
             'their_counter': prometheus_client.Counter('bench_total', 'Counted'),
             'their_histogram': prometheus_client.Histogram('bench_seconds', 'Observed')}
    own_inc, their_inc, own_observe, their_observe = measure(
        ('counter.inc()', 'their_counter.inc()', 'histogram.observe(0.25)',
         'their_histogram.observe(0.25)'), names)
    row('Python: counter.inc() vs. prometheus_client', own_inc, their_inc, '>= 6')
    row('Python: histogram.observe() vs. prometheus_client', own_observe, their_observe,
        '>= 10')


def import_row(directory):
    """The time of `import pitot`, that of the files already in the cache of the kernel."""
    best = float('inf')
    for _ in range(10):
        _, _, told = bench.run([sys.executable, '-X', 'importtime', '-c', 'import pitot'],
                               os.environ | {'PYTHONPATH': directory})
        best = min(best, int(re.search(r'\| +(\d+) \| pitot$', told, re.MULTILINE)[1]))
    bench.row('Python: import pitot', f'{best / 1000:.1f} ms', goal='< 30 ms')


def main():
    with bench.package(bench.build_directory()) as directory:
        import pitot
        span_rows(pitot)
        decorator_row(pitot)
        metric_rows(pitot)
        import_row(directory)


main()
