#!/usr/bin/python3
"""What /metrics of `pitot serve` takes, beside that of the node exporter.

    bench/serve_bench.py PITOT

Requests a second: wrk with 4 connections, the best of several rounds, taking turns. CPU of a fresh
scrape: time on a CPU of the whole process, collecting and writing included, for each of a row of
scrapes that each see a new sample. Prints rows for the table of bench/run."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PITOT = sys.argv[1]
ROUNDS, SECONDS, SCRAPES, PERIOD = 3, 2, 50, 0.1


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def wait_for(url):
    for _ in range(200):
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f'{url} does not answer')


def cpu_us(pid):
    """Time on a CPU of all threads that live."""
    total = 0
    for thread in pathlib.Path(f'/proc/{pid}/task').iterdir():
        total += int((thread / 'schedstat').read_text().split()[0])
    return total / 1000


def fresh_scrape_us(pid, url):
    before, due = cpu_us(pid), time.monotonic()
    for _ in range(SCRAPES):
        due += PERIOD
        time.sleep(max(0, due - time.monotonic()))
        get(url)
    return (cpu_us(pid) - before) / SCRAPES


def requests_per_second(url):
    done = subprocess.run(['wrk', '-t1', '-c4', f'-d{SECONDS}s', url], check=True, text=True,
                          capture_output=True)
    return float(re.search(r'Requests/sec:\s*([\d.]+)', done.stdout)[1])


def resident_mb(pid):
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    return int(re.search(r'VmRSS:\s*(\d+)', status)[1]) / 1024


def series_of(text):
    return sum(bool(line) and not line.startswith('#') for line in text.splitlines())


def measure(servers):
    rates, costs = dict.fromkeys(servers, 0), {}
    for name, (process, url) in servers.items():
        costs[name] = min(fresh_scrape_us(process.pid, url) for _ in range(ROUNDS))
    for _ in range(ROUNDS):
        for name, (_, url) in servers.items():
            rates[name] = max(rates[name], requests_per_second(url))
    return rates, costs


def main():
    exporter = shutil.which('prometheus-node-exporter')
    if not exporter or not shutil.which('wrk'):
        print('| pitot serve | not measured: no wrk or prometheus-node-exporter | | | |')
        return
    ports = free_port(), free_port()
    with tempfile.TemporaryDirectory(dir='/var/tmp') as state:
        urls = [f'http://127.0.0.1:{port}/metrics' for port in ports]
        processes = [
            subprocess.Popen([PITOT, 'serve', '--listen', str(ports[0]), '-t',
                              f'{PERIOD * 1000:.0f}ms', '--engine', 'off', '--state-dir', state],
                             stdout=subprocess.DEVNULL),
            subprocess.Popen([exporter, f'--web.listen-address=127.0.0.1:{ports[1]}',
                              '--log.level=error'], stderr=subprocess.DEVNULL)]
        try:
            series = [series_of(wait_for(url)) for url in urls]
            rates, costs = measure(dict(zip(('ours', 'theirs'), zip(processes, urls))))
            resident = resident_mb(processes[0].pid)
        finally:
            for process in processes:
                process.terminate()
                process.wait()
    print(f'| /metrics, requests/s (series: {series[0]}; node exporter {series[1]}) | '
          f'{rates["ours"]:.0f} | {rates["theirs"]:.0f} | {rates["ours"] / rates["theirs"]:.0f} x '
          '| 30 x |')
    print(f'| CPU of a fresh scrape, collecting included | {costs["ours"]:.0f} us | '
          f'{costs["theirs"]:.0f} us | 1/{costs["theirs"] / costs["ours"]:.0f} | 1/30 |')
    print(f'| pitot serve, resident memory | {resident:.1f} MB | | | 12 MB |')


main()
