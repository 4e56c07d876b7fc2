#!/usr/bin/python3
"""A program that uses all of the Python package again and again, whatever goes wrong.

    package_rounds.py ROUNDS
    package_rounds.py --shortage       under fail_malloc.c: reads lines HOW NUMBER, and runs a round
                                       with each in a process of its own, from the import on; prints
                                       HOW NUMBER COUNTED STATUS

An allocation that fails is an exception of Python; anything else ends the program with 3."""
import ctypes
import os
import sys
# What the package imports, so that only its own part is done again for each number.
import abc, collections, contextlib, csv, dataclasses, functools, inspect, json  # noqa: F401
import logging, math, pathlib, re, statistics, tempfile, threading, typing, warnings  # noqa: F401

FORBIDDEN = SystemError


def attempt(call, *arguments, **keywords):
    try:
        return call(*arguments, **keywords)
    except FORBIDDEN:
        raise
    except Exception:
        return None


def use(directory, round_number):
    import pitot

    @pitot.profile
    def decorated(n):
        return n

    def spans():
        for i in range(30):
            with pitot.span('outer', request=i) as outer:
                with pitot.span(f'inner {i % 5}', tokens=i):
                    decorated(i)
                outer.arg = 'text'

    def metrics():
        for i in range(12):
            pitot.counter(f'counted_{i}_total', 'Counted', part=str(i % 3)).inc(i)
            pitot.gauge(f'level_{i}').set(i)
            times = pitot.histogram(f'seconds_{i % 6}', buckets=(0.1, 1))
            times.observe(i / 10)
            with times.time():
                pass

    def texts():
        for kind in 'prometheus', 'openmetrics', 'protobuf', 'json':
            attempt(pitot.metrics_text, kind)
        pitot.metrics_response('application/openmetrics-text')

    def requests():
        pitot.request_begin()
        pitot.record_request(0.01, 5)
        pitot.request_end()
        pitot.get_latency_percentile(0.9)
        pitot.health()
        pitot.regressions()
        pitot.overhead()
        pitot.settings()
        pitot.dropped()

    def monitoring():
        system = pitot.MonitoringSystem()
        system.add_rule('value', above=0.5)
        system.record_metric('value', 1)
        for call in (system.get_gpu_metrics, system.get_system_metrics, system.check_alerts,
                     system.generate_report):
            attempt(call)
        profiler = pitot.PerformanceProfiler(detailed_memory=True, track_carbon=True)
        with profiler.profile('round') as operation:
            operation.step()
        for call in (profiler.get_metrics, profiler.get_timing_breakdown,
                     profiler.get_memory_samples, profiler.get_current_memory):
            attempt(call)

    def lines():
        def counted():
            return sum(range(5))
        with pitot.lines(counted):
            counted()

    attempt(pitot.start)
    attempt(pitot.configure, enable_metrics='true')
    for call in (spans, metrics, texts, requests, monitoring, lines):
        attempt(call)
    attempt(pitot.trace, os.path.join(directory, 'trace.json.gz'))
    thread = threading.Thread(target=attempt, args=(spans,))
    if attempt(thread.start) is None and thread.ident:
        thread.join()
    if round_number % 4 == 1:
        child = os.fork()
        if child == 0:
            attempt(spans)
            attempt(texts)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(4)


def use_or_fail(directory, round_number):
    """The exit code."""
    try:
        use(directory, round_number)
    except FORBIDDEN as error:
        sys.stderr.write(f'{error!r}\n')
        return 3
    except Exception: # the import may fail
        pass
    return 0


def run_shortages(directory):
    fail_malloc = ctypes.CDLL(None).fail_malloc
    for line in sys.stdin:
        how, number = line.split()
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            fail_malloc(ctypes.c_long(int(number)), how.encode(), b'package/pitot/')
            code = use_or_fail(directory, 0)
            os.write(write_end, b'%d\n' % fail_malloc(ctypes.c_long(-1), b'once', b''))
            os._exit(code)
        os.close(write_end)
        counted = int(os.read(read_end, 64) or -1) # nothing: it ended before
        os.close(read_end)
        print(how, number, counted, os.waitpid(child, 0)[1], flush=True)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory(prefix='pitot-rounds-') as place:
        if sys.argv[1] == '--shortage':
            run_shortages(place)
        else:
            for number in range(int(sys.argv[1])):
                code = use_or_fail(place, number)
                if code:
                    sys.exit(code)
