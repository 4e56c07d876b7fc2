#!/usr/bin/python3
"""Cost of /metrics of `pitot serve`, compared with the node exporter, and memory of the server.

    bench/serve_bench.py BUILD_DIRECTORY

Requests per second: wrk with 4 connections, the best of several alternating rounds. CPU of a fresh
scrape: CPU time of the whole process per scrape, collecting and writing included, where each scrape
sees a new sample; also the best of several rounds. Memory: after those, and at 1 Hz with a client
that requests everything the dashboard does and reads the stream."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import time
import urllib.request

import bench

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / 'tests' / 'nvml' / 'h100x8.script'
ROUNDS, SECONDS, SCRAPES, PERIOD = 3, 2, 50, 0.1
EVENTS = 10


def fresh_scrape_us(pid, url):
    before, due = bench.cpu_us(pid), time.monotonic()
    for _ in range(SCRAPES):
        due += PERIOD
        time.sleep(max(0, due - time.monotonic()))
        bench.get(url)
    return (bench.cpu_us(pid) - before) / SCRAPES


def requests_per_second(url):
    _, out, _ = bench.run(['wrk', '-t1', '-c4', f'-d{SECONDS}s', url])
    return float(re.search(r'Requests/sec:\s*([\d.]+)', out)[1])


def series_of(text):
    return sum(bool(line) and not line.startswith('#') for line in text.splitlines())


def measure(servers):
    """By name: the most requests per second, the lowest CPU time per scrape."""
    rates, costs = dict.fromkeys(servers, 0), dict.fromkeys(servers, float('inf'))
    for _ in range(ROUNDS):
        for name, (process, url) in servers.items():
            costs[name] = min(costs[name], fresh_scrape_us(process.pid, url))
    for _ in range(ROUNDS):
        for name, (_, url) in servers.items():
            rates[name] = max(rates[name], requests_per_second(url))
    return rates, costs


def open_dashboard(url):
    """What a browser asks for; returns when it has had some events of the stream."""
    for path in '/', '/dashboard.css', '/dashboard.js', '/api/alerts', '/api/runs':
        bench.get(url + path)
    tables = [table['name'] for table in json.loads(bench.get(url + '/api/schema'))['tables']]
    with urllib.request.urlopen(url + '/api/stream', timeout=10) as stream:
        for number in range(EVENTS):
            while not stream.readline().startswith(b'data'):
                pass
            if number == EVENTS // 2:
                for table in tables:
                    bench.get(f'{url}/api/history?table={table}&from=-5m&limit=8')


def resident_mb(pid):
    return bench.status_bytes(pid, 'VmRSS') / 1048576


def dashboard_mb(pitot, *options, environment=None):
    """Resident memory at 1 Hz while the dashboard is open."""
    address = f'127.0.0.1:{bench.free_port()}'
    url = f'http://{address}'
    with (tempfile.TemporaryDirectory(dir='/var/tmp') as state,
          bench.server([pitot, 'serve', '--listen', address, '--state-dir', state, *options],
                       url + '/health/ready', environment) as (server, _)):
        open_dashboard(url)
        return resident_mb(server.pid)


def dashboard_mb_with_gpus(pitot):
    address = f'127.0.0.1:{bench.free_port()}'
    scripted = os.environ | {'PITOT_NVML': str(pitot.parent / 'tests/nvml/libscripted-nvml.so'),
                             'SCRIPTED_NVML': str(SCRIPT)}
    with bench.server([pitot, 'demo', '--serve', '--listen', address], f'http://{address}/metrics'):
        return dashboard_mb(pitot, '--engine', f'http://{address}', environment=scripted)


def main():
    pitot = bench.build_directory() / 'pitot'
    exporter = shutil.which('prometheus-node-exporter')
    if not exporter or not shutil.which('wrk'):
        bench.not_measured('pitot serve', 'no wrk or prometheus-node-exporter')
        return
    own, others = (f'127.0.0.1:{bench.free_port()}' for _ in range(2))
    urls = [f'http://{address}/metrics' for address in (own, others)]
    with (tempfile.TemporaryDirectory(dir='/var/tmp') as state,
          bench.server([pitot, 'serve', '--listen', own, '-t', f'{PERIOD * 1000:.0f}ms', '--engine',
                        'off', '--state-dir', state], urls[0]) as ours,
          bench.server([exporter, f'--web.listen-address={others}', '--log.level=error'],
                       urls[1]) as theirs):
        series = [series_of(text) for _, text in (ours, theirs)]
        rates, costs = measure({'ours': (ours[0], urls[0]), 'theirs': (theirs[0], urls[1])})
        resident = resident_mb(ours[0].pid)
    bench.row(f'/metrics, requests/s (series: {series[0]}; node exporter {series[1]})',
              f'{rates["ours"]:.0f}', f'{rates["theirs"]:.0f}',
              f'{rates["ours"] / rates["theirs"]:.0f} x', '30 x')
    bench.row('CPU of a fresh scrape, collecting included', f'{costs["ours"]:.0f} us',
              f'{costs["theirs"]:.0f} us', f'1/{costs["theirs"] / costs["ours"]:.0f}', '1/30')
    bench.row('pitot serve, resident memory', f'{resident:.1f} MB', goal='12 MB')
    bench.row('the same with the dashboard open',
              f'{dashboard_mb(pitot, "--engine", "off"):.1f} MB', goal='12 MB')
    bench.row('the same with 8 scripted GPUs and the demo engine',
              f'{dashboard_mb_with_gpus(pitot):.1f} MB', goal='12 MB')


main()
