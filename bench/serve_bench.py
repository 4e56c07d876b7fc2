#!/usr/bin/python3
"""What /metrics of `pitot serve` takes, beside that of the node exporter.

    bench/serve_bench.py BUILD_DIRECTORY

Requests a second: wrk with 4 connections, the best of several rounds, taking turns. CPU of a fresh
scrape: time on a CPU of the whole process, collecting and writing included, for each of a row of
scrapes that each see a new sample."""
import re
import shutil
import tempfile
import time

import bench

ROUNDS, SECONDS, SCRAPES, PERIOD = 3, 2, 50, 0.1


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
    """By name: the most requests a second, the least CPU time of a scrape."""
    costs = {name: min(fresh_scrape_us(process.pid, url) for _ in range(ROUNDS))
             for name, (process, url) in servers.items()}
    rates = dict.fromkeys(servers, 0)
    for _ in range(ROUNDS):
        for name, (_, url) in servers.items():
            rates[name] = max(rates[name], requests_per_second(url))
    return rates, costs


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
        resident = bench.status_bytes(ours[0].pid, 'VmRSS') / 1048576
    bench.row(f'/metrics, requests/s (series: {series[0]}; node exporter {series[1]})',
              f'{rates["ours"]:.0f}', f'{rates["theirs"]:.0f}',
              f'{rates["ours"] / rates["theirs"]:.0f} x', '30 x')
    bench.row('CPU of a fresh scrape, collecting included', f'{costs["ours"]:.0f} us',
              f'{costs["theirs"]:.0f} us', f'1/{costs["theirs"] / costs["ours"]:.0f}', '1/30')
    bench.row('pitot serve, resident memory', f'{resident:.1f} MB', goal='12 MB')


main()
