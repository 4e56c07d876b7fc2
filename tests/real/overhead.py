#!/usr/bin/python3
"""Tokens per second of a real llama-server with and without Pitot, in alternating pairs.

    tests/real/overhead.py PITOT [PAIRS] [OPTION...]

Prints the mean difference of the pairs with its 95 % confidence interval, in percent of the rate
without Pitot. Options, for example --cpu, are those of the recorder. The order within a pair
alternates, so that a drift of the machine affects both sides alike.
"""
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import client
import model
import programs

PITOT = os.path.abspath(sys.argv[1])
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
OPTIONS = sys.argv[3:]
REQUESTS, PARALLEL, WORDS, TOKENS = 8, 2, 32, 48
# Two-sided 95 % quantiles of Student's distribution for up to 30 degrees of freedom.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14,
           2.13, 2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05,
           2.05, 2.04]


def rate(url):
    answers = client.load(url, REQUESTS, PARALLEL, WORDS, TOKENS, cache_prompt=False)
    return client.totals(answers)['tokens_per_second']


def recorded_rate(url, pid, directory):
    """The same while Pitot records the server; from its first sample on."""
    run = pathlib.Path(tempfile.mkdtemp(dir=directory))
    recorder = subprocess.Popen([PITOT, '-q', '-o', run, '--pid', str(pid), '--engine', url,
                                 *OPTIONS], stdin=subprocess.DEVNULL)
    try:
        while not any(p.stat().st_size > 4096 for p in run.glob('*.pitot')):
            if recorder.poll() is not None:
                sys.exit('the recorder has ended early')
            time.sleep(0.05)
        return rate(url)
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.wait(60)


def wait_for_server(url):
    for _ in range(1200):
        try:
            urllib.request.urlopen(url + '/health', timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit('llama-server does not answer')


def measure(url, pid, directory):
    """Differences in percent, one per pair."""
    rate(url)
    differences = []
    for pair in range(PAIRS):
        if pair % 2:
            without, recorded = rate(url), recorded_rate(url, pid, directory)
        else:
            recorded, without = recorded_rate(url, pid, directory), rate(url)
        differences.append((recorded / without - 1) * 100)
    return differences


def main():
    program = programs.llama_server()
    with tempfile.TemporaryDirectory(prefix='pitot-real-', dir='/var/tmp') as place:
        path = model.write(pathlib.Path(place) / 'model.gguf', width=512, layers=8)
        port = 20000 + os.getpid() % 20000
        url = f'http://127.0.0.1:{port}'
        with open(pathlib.Path(place) / 'log', 'w') as log:
            server = subprocess.Popen(
                [program.path, '-m', path, '--host', '127.0.0.1', '--port', str(port), '--metrics',
                 '--threads', '1', '-np', str(PARALLEL), '--no-warmup'], stdout=log, stderr=log)
        try:
            wait_for_server(url)
            differences = measure(url, server.pid, place)
        finally:
            server.terminate()
            server.wait(60)
    mean = statistics.mean(differences)
    half = (STUDENT[min(len(differences) - 1, len(STUDENT)) - 1] *
            statistics.stdev(differences) / math.sqrt(len(differences)))
    print(f'llama-server {program.version}, {len(differences)} pairs, options '
          f'{" ".join(OPTIONS) or "none"}, load {os.getloadavg()[0]:.1f}: tokens/s {mean:+.2f} % '
          f'[{mean - half:+.2f}, {mean + half:+.2f}]')


main()
