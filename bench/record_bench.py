#!/usr/bin/python3
"""Cost of `pitot record` as a whole: CPU at 1 kHz and 1 Hz, with eight scripted GPUs and the demo
engine at 10 Hz, memory, time to the first sample.

    bench/record_bench.py BUILD_DIRECTORY

CPU and memory are those the kernel counts for the process, not what Pitot says of itself."""
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import bench

ROUNDS = 5


def record(pitot, *options):
    """Runs a recording; returns (CPU seconds, milliseconds to the first sample)."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        before = time.monotonic_ns()
        used, _, _ = bench.run([pitot, '-q', '-o', directory, '-f', 'csv', *options])
        main_file, = (f for f in pathlib.Path(directory).glob('*.csv') if f.name.count('.') == 1)
        with open(main_file, encoding='utf-8', newline='') as text:
            first = next(csv.DictReader(text))
        return used, (int(first['monotonic_ns']) - before) / 1e6


def memory(pitot):
    """Peak memory of a recording, looked at shortly before it ends: ru_maxrss would be that of this
    program, from before the exec."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        process = subprocess.Popen([pitot, '-q', '-o', directory, '-t', '100', '-d', '3'])
        time.sleep(2.5)
        peak = bench.status_bytes(process.pid, 'VmHWM')
        process.wait()
        return peak


def peak(pitot, *arguments):
    """Peak memory of a command that ends, by wait4."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        result = pathlib.Path(directory) / 'result'
        subprocess.run([pitot.parent / 'tests/e2e/measured', result, pitot, *arguments, '-o',
                        pathlib.Path(directory) / 'made'], check=True, capture_output=True)
        return int(result.read_text().split()[2])


def long_run(pitot, samples):
    """Rows about memory that must not depend on the length of a run."""
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        journal = pathlib.Path(directory) / 'long.pitot'
        subprocess.run([pitot.parent / 'tests/make_run', journal, str(samples)], check=True)
        for command, most in (('export', 16), ('report', 64)):
            bench.row(f'`{command}` of {samples} samples of every table, peak memory',
                      f'{peak(pitot, command, journal) / 1e6:.1f} MB', goal=f'<= {most} MB')


def start_up(pitot):
    """Wall time of a command that does nothing, in turns: (least, median) of both, in ms."""
    times = [], []
    with tempfile.TemporaryDirectory(dir='/var/tmp') as directory:
        commands = [pitot, '-q', '-o', directory, '--', 'true'], ['perf', 'stat', 'true']
        for _ in range(40):
            for words, into in zip(commands, times):
                before = time.monotonic()
                subprocess.run(words, check=True, capture_output=True)
                into.append((time.monotonic() - before) * 1e3)
    return [(min(t), statistics.median(t)) for t in times]


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
    script = pathlib.Path(__file__).parent.parent / 'tests/nvml/h100x8.script'
    os.environ |= {'PITOT_NVML': str(pitot.parent / 'tests/nvml/libscripted-nvml.so'),
                   'SCRIPTED_NVML': str(script)}
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
    return min(float(bench.run([pitot.parent / 'bench/host_bench', mode])[1])
               for _ in range(ROUNDS))


def main():
    pitot = bench.build_directory() / 'pitot'
    host = ('--collect', 'cpu,mem,disk,net', '--max-overhead', '0')
    share, bare, wake = (own_share(pitot, '1', 2.5, *host), bare_share(pitot, 'bare'),
                         bare_share(pitot, 'bare-wake'))
    bench.row(f'`record`, host tables at 1 kHz vs. the bare reads of the same files at 1 kHz '
              f'(waking up alone: {wake:.1f} %)', f'{share:.2f} % of one core', f'{bare:.2f} %',
              share / bare, '< 5 % of one core')
    share = own_share(pitot, '1000', 8)
    bench.row('`record`, all default tables at 1 Hz', f'{share:.3f} % of one core', goal='< 1 %')
    share = share_with_gpus_and_engine(pitot, '100', 8)
    bench.row('`record`, all default tables, 8 scripted GPUs and the demo engine at 10 Hz',
              f'{share:.2f} % of one core', goal='< 1 %')
    bench.row('`record`, peak memory', f'{memory(pitot) / 1e6:.1f} MB', goal='< 6 MB')
    first = min(record(pitot, '-d', '0.1')[1] for _ in range(ROUNDS))
    bench.row('start to first sample', f'{first:.1f} ms', goal='< 20 ms')
    long_run(pitot, 6000)
    long_run(pitot, 216000)
    if shutil.which('perf'):
        (least, median), (perf_least, perf_median) = start_up(pitot)
        bench.row('`pitot -- true` vs. `perf stat true`, least and median',
                  f'{least:.1f} and {median:.1f} ms', f'{perf_least:.1f} and {perf_median:.1f} ms',
                  least / perf_least, '< 1')
    else:
        bench.not_measured('`pitot -- true` vs. `perf stat true`', 'no perf')


if __name__ == '__main__':
    main()
