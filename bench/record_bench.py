#!/usr/bin/python3
"""Cost of `pitot record` as a whole: CPU at 1 kHz and 1 Hz, with eight scripted GPUs and the demo
engine at 10 Hz, memory, time to the first sample.

    bench/record_bench.py PITOT

Prints rows of the table that bench/run puts together. CPU and memory are those the kernel counts
for the process (wait4), not what Pitot says of itself."""
import csv
import glob
import os
import subprocess
import sys
import tempfile
import time

ROUNDS = 5


def peak_rss(pid):
    """VmHWM: ru_maxrss would be that of this program, from before the exec."""
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as status:
        for line in status:
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) * 1024
    return None


def record(pitot, *options):
    """Runs a recording; returns (CPU seconds, milliseconds to the first sample)."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        before = time.monotonic_ns()
        process = subprocess.Popen([pitot, '-q', '-o', directory, '-f', 'csv', *options])
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f'pitot failed: {status}')
        main_file = [f for f in glob.glob(f'{directory}/*.csv')
                     if os.path.basename(f).count('.') == 1][0]
        with open(main_file, encoding='utf-8', newline='') as text:
            first = next(csv.DictReader(text))
        return usage.ru_utime + usage.ru_stime, (int(first['monotonic_ns']) - before) / 1e6


def memory(pitot):
    """Peak memory of a recording, looked at shortly before it ends."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        process = subprocess.Popen([pitot, '-q', '-o', directory, '-t', '100', '-d', '3'])
        time.sleep(2.5)
        peak = peak_rss(process.pid)
        process.wait()
        return peak


def own_share(pitot, interval, seconds, *options):
    """Percent of one CPU while recording: a long run less a short one, so that start, export and
    end do not count."""
    short = 0.5
    cpu_short = min(record(pitot, '-t', interval, '-d', str(short), *options)[0]
                    for _ in range(ROUNDS))
    cpu_long = min(record(pitot, '-t', interval, '-d', str(seconds), *options)[0]
                   for _ in range(ROUNDS))
    return (cpu_long - cpu_short) / (seconds - short) * 100


def share_with_gpus_and_engine(pitot, interval, seconds):
    """Percent of one CPU; the GPUs are those of the scripted NVML, the engine has no requests."""
    build = os.path.dirname(pitot)
    script = os.path.join(os.path.dirname(__file__), '..', 'tests', 'nvml', 'h100x8.script')
    os.environ |= {'PITOT_NVML': f'{build}/tests/nvml/libscripted-nvml.so', 'SCRIPTED_NVML': script}
    engine = subprocess.Popen([pitot, 'demo', '--serve'], stdout=subprocess.PIPE, text=True)
    try:
        url = engine.stdout.readline().strip()
        return own_share(pitot, interval, seconds, '--engine', url)
    finally:
        engine.terminate()
        engine.wait()
        del os.environ['PITOT_NVML']


def bare_share(pitot, mode):
    """Percent of one CPU for the bare reads of the same files at 1 kHz, or for waking up alone."""
    program = os.path.join(os.path.dirname(pitot), 'bench', 'host_bench')
    return min(float(subprocess.check_output([program, mode])) for _ in range(ROUNDS))


def main():
    pitot = os.path.abspath(sys.argv[1])
    host = ('--collect', 'cpu,mem,disk,net', '--max-overhead', '0')
    share, bare, wake = (own_share(pitot, '1', 2.5, *host), bare_share(pitot, 'bare'),
                         bare_share(pitot, 'bare-wake'))
    print(f'| `record`, host tables at 1 kHz, beside the bare reads of the same files at 1 kHz '
          f'(waking up alone: {wake:.1f} %) | {share:.2f} % of one core | {bare:.2f} % | '
          f'{share / bare:.2f} | < 5 % of one core |')
    share = own_share(pitot, '1000', 8)
    print(f'| `record`, all default tables at 1 Hz | {share:.3f} % of one core | | | < 1 % |')
    share = share_with_gpus_and_engine(pitot, '100', 8)
    print(f'| `record`, all default tables, 8 scripted GPUs and the demo engine at 10 Hz | '
          f'{share:.2f} % of one core | | | < 1 % |')
    print(f'| `record`, peak memory | {memory(pitot) / 1e6:.1f} MB | | | < 6 MB |')
    first = min(record(pitot, '-d', '0.1')[1] for _ in range(ROUNDS))
    print(f'| start to first sample | {first:.1f} ms | | | < 20 ms |')


main()
