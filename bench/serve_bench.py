#!/usr/bin/python3
"""What /metrics of `pitot serve` takes, beside that of the node exporter, and its memory.

    bench/serve_bench.py PITOT

Requests a second: wrk with 4 connections, the best of several rounds, taking turns. CPU of a fresh
scrape: time on a CPU of the whole process, collecting and writing included, for each of a row of
scrapes that each see a new sample; the same. Memory: after those, and at 1 Hz with a client that
asks for all that the dashboard does and reads the stream. Prints rows for the table of
bench/run."""
import contextlib
import json
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
BUILD = pathlib.Path(PITOT).resolve().parent
SCRIPT = pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'nvml' / 'h100x8.script'
ROUNDS, SECONDS, SCRAPES, PERIOD = 3, 2, 50, 0.1
EVENTS = 10


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
    rates, costs = dict.fromkeys(servers, 0), dict.fromkeys(servers, float('inf'))
    for _ in range(ROUNDS):
        for name, (process, url) in servers.items():
            costs[name] = min(costs[name], fresh_scrape_us(process.pid, url))
    for _ in range(ROUNDS):
        for name, (_, url) in servers.items():
            rates[name] = max(rates[name], requests_per_second(url))
    return rates, costs


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def open_dashboard(url):
    """What a browser asks for; returns when it has had some events of the stream."""
    for path in '/', '/dashboard.css', '/dashboard.js', '/api/alerts', '/api/runs':
        get(url + path)
    tables = [table['name'] for table in json.loads(get(url + '/api/schema'))['tables']]
    with urllib.request.urlopen(url + '/api/stream', timeout=10) as stream:
        for number in range(EVENTS):
            while not stream.readline().startswith(b'data'):
                pass
            if number == EVENTS // 2:
                for table in tables:
                    get(f'{url}/api/history?table={table}&from=-5m&limit=8')


def dashboard_mb(*options, **environment):
    """Resident memory at 1 Hz while the dashboard is open."""
    url = f'http://127.0.0.1:{free_port()}'
    with tempfile.TemporaryDirectory(dir='/var/tmp') as state, \
            running(PITOT, 'serve', '--listen', url.removeprefix('http://'), '--state-dir', state,
                    *options, stdout=subprocess.DEVNULL,
                    env=os.environ | environment) as server:
        wait_for(url + '/health/ready')
        open_dashboard(url)
        return resident_mb(server.pid)


def dashboard_mb_with_gpus():
    with running(PITOT, 'demo', '--serve', stdout=subprocess.PIPE, text=True) as engine:
        return dashboard_mb('--engine', engine.stdout.readline().strip(),
                            PITOT_NVML=f'{BUILD}/tests/nvml/libscripted-nvml.so',
                            SCRIPTED_NVML=str(SCRIPT))


def main():
    exporter = shutil.which('prometheus-node-exporter')
    if not exporter or not shutil.which('wrk'):
        print('| pitot serve | not measured: no wrk or prometheus-node-exporter | | | |')
        return
    ports = free_port(), free_port()
    urls = [f'http://127.0.0.1:{port}/metrics' for port in ports]
    with tempfile.TemporaryDirectory(dir='/var/tmp') as state, \
            running(PITOT, 'serve', '--listen', str(ports[0]), '-t', f'{PERIOD * 1000:.0f}ms',
                    '--engine', 'off', '--state-dir', state,
                    stdout=subprocess.DEVNULL) as ours, \
            running(exporter, f'--web.listen-address=127.0.0.1:{ports[1]}', '--log.level=error',
                    stderr=subprocess.DEVNULL) as theirs:
        series = [series_of(wait_for(url)) for url in urls]
        rates, costs = measure(dict(zip(('ours', 'theirs'), zip((ours, theirs), urls))))
        resident = resident_mb(ours.pid)
    print(f'| /metrics, requests/s (series: {series[0]}; node exporter {series[1]}) | '
          f'{rates["ours"]:.0f} | {rates["theirs"]:.0f} | {rates["ours"] / rates["theirs"]:.0f} x '
          '| 30 x |')
    print(f'| CPU of a fresh scrape, collecting included | {costs["ours"]:.0f} us | '
          f'{costs["theirs"]:.0f} us | 1/{costs["theirs"] / costs["ours"]:.0f} | 1/30 |')
    print(f'| pitot serve, resident memory | {resident:.1f} MB | | | 12 MB |')
    print(f'| the same with the dashboard open | {dashboard_mb("--engine", "off"):.1f} MB | | '
          '| 12 MB |')
    print('| the same with 8 scripted GPUs and the demo engine | '
          f'{dashboard_mb_with_gpus():.1f} MB | | | 12 MB |')


main()
