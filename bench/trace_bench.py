#!/usr/bin/python3
"""What the demo engine's own spans and counters cost it: the same requests with and without a
region to record into, by turns, in CPU time that the kernel counts (wait4).

    bench/trace_bench.py PITOT

Prints a row of the table that bench/run puts together. The smallest of many short runs counts."""
import os
import subprocess
import sys
import tempfile

ROUNDS = 20
REQUESTS = 4


def cpu_seconds(pitot, region):
    environment = {k: v for k, v in os.environ.items() if k != 'PITOT_REGION'}
    if region:
        environment['PITOT_REGION'] = region
    process = subprocess.Popen([pitot, 'demo', '-q', '--threads', '1', '--seconds', '60',
                                '--requests', str(REQUESTS)], env=environment,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f'pitot demo failed: {status}')
    return usage.ru_utime + usage.ru_stime


def traced_seconds(pitot):
    with tempfile.TemporaryDirectory(dir='/dev/shm') as region:
        seconds = cpu_seconds(pitot, region)
        if not os.listdir(region):
            sys.exit('pitot demo has recorded nothing')
        return seconds


def main():
    pitot = os.path.abspath(sys.argv[1])
    rounds = [(traced_seconds(pitot), cpu_seconds(pitot, None)) for _ in range(ROUNDS)]
    traced, plain = (min(column) * 1e3 for column in zip(*rounds))
    print(f'| demo engine that measures itself, {REQUESTS} requests | {traced:.1f} ms | '
          f'{plain:.1f} ms | {traced / plain:.3f} | < 1.01 |')


main()
