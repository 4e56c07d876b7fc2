#!/usr/bin/python3
"""What peers pay for about the same host values, where they are installed.

    bench/peers_bench.py

psutil: eight calls (cpu times, load, memory, swap, disks, network, switches, frequency left out),
back to back. node exporter: CPU time of the server per scrape with the collectors of the same
files. Prints rows for the table of bench/run; CPU time, minimum of several rounds."""
import os
import shutil
import subprocess
import time
import urllib.request

ROUNDS, CALLS, SCRAPES = 7, 50, 20


def psutil_row():
    try:
        import psutil
    except ImportError:
        return None
    best = None
    for _ in range(ROUNDS):
        before = time.process_time()
        for _ in range(CALLS):
            psutil.cpu_times(percpu=True)
            psutil.cpu_stats()
            psutil.getloadavg()
            psutil.virtual_memory()
            psutil.swap_memory()
            psutil.disk_io_counters(perdisk=True)
            psutil.net_io_counters(pernic=True)
            psutil.cpu_times()
        each = (time.process_time() - before) / CALLS * 1e6
        best = each if best is None else min(best, each)
    return f'| psutil, eight calls for the same values | | {best:.0f} us | | |'


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def node_exporter_row():
    program = shutil.which('prometheus-node-exporter')
    if not program:
        return None
    collectors = ('stat', 'cpu', 'loadavg', 'meminfo', 'vmstat', 'diskstats', 'netdev')
    server = subprocess.Popen(
        [program, '--web.listen-address=127.0.0.1:19101', '--collector.disable-defaults',
         '--web.disable-exporter-metrics', *(f'--collector.{name}' for name in collectors)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = 'http://127.0.0.1:19101/metrics'
        for _ in range(50):
            try:
                urllib.request.urlopen(url, timeout=1).read()
                break
            except OSError:
                time.sleep(0.1)
        best = None
        for _ in range(ROUNDS):
            before = cpu_seconds(server.pid)
            for _ in range(SCRAPES * 5):
                urllib.request.urlopen(url, timeout=5).read()
            each = (cpu_seconds(server.pid) - before) / (SCRAPES * 5) * 1e6
            best = each if best is None else min(best, each)
        return f'| node exporter, the same files, per scrape | | {best:.0f} us | | |'
    finally:
        server.terminate()
        server.wait()


for row in (psutil_row(), node_exporter_row()):
    if row:
        print(row)
