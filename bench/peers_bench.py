#!/usr/bin/python3
"""What peers pay for about the same host values, where they are installed.

    bench/peers_bench.py BUILD_DIRECTORY

psutil: eight calls (cpu times, load, memory, swap, disks, network, switches, frequency left out),
back to back. node exporter: CPU time of the server per scrape with the collectors of the same
files. CPU time, minimum of several rounds."""
import shutil

import bench

ROUNDS, CALLS, SCRAPES = 7, 50, 100
COLLECTORS = ('stat', 'cpu', 'loadavg', 'meminfo', 'vmstat', 'diskstats', 'netdev')


def print_psutil():
    try:
        import psutil
    except ImportError:
        bench.not_measured('psutil', 'not installed')
        return

    def calls():
        for _ in range(CALLS):
            psutil.cpu_times(percpu=True)
            psutil.cpu_stats()
            psutil.getloadavg()
            psutil.virtual_memory()
            psutil.swap_memory()
            psutil.disk_io_counters(perdisk=True)
            psutil.net_io_counters(pernic=True)
            psutil.cpu_times()
    best = min(bench.cpu_seconds(calls) for _ in range(ROUNDS)) / CALLS * 1e6
    bench.row('psutil, eight calls for the same values', '', f'{best:.0f} us')


def scrape_us(pid, url):
    before = bench.cpu_us(pid)
    for _ in range(SCRAPES):
        bench.get(url)
    return (bench.cpu_us(pid) - before) / SCRAPES


def print_node_exporter():
    program = shutil.which('prometheus-node-exporter')
    if not program:
        bench.not_measured('node exporter', 'not installed')
        return
    address = f'127.0.0.1:{bench.free_port()}'
    url = f'http://{address}/metrics'
    with bench.server([program, f'--web.listen-address={address}', '--collector.disable-defaults',
                       '--web.disable-exporter-metrics',
                       *(f'--collector.{name}' for name in COLLECTORS)], url) as (process, _):
        best = min(scrape_us(process.pid, url) for _ in range(ROUNDS))
    bench.row('node exporter, the same files, per scrape', '', f'{best:.0f} us')


print_psutil()
print_node_exporter()
