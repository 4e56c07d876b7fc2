#!/usr/bin/python3
"""What Pitot itself costs: what it says of it, and bounds of its memory."""
import json
import os
import re
import subprocess
import sys

from harness import ENVIRONMENT, PITOT, equal, main, run, table

MAKE_RUN, MEASURED = map(os.path.abspath, sys.argv[3:5])
CLOSE_S = 0.010
SCALE = {'ns': 1e-9, 'us': 1e-6, 'ms': 1e-3, 's': 1, 'min': 60}
# The command's own use is known to it alone: it says it at its end.
BUSY = ('import resource, sys\n'
        'kept = [str(i) for i in range(20000)]\n'
        'used = resource.getrusage(resource.RUSAGE_SELF)\n'
        'open(sys.argv[1], "w").write(str(used.ru_utime + used.ru_stime))\n')


def measured(*arguments, stderr):
    """Runs Pitot: (exit code, CPU seconds and peak bytes by wait4)."""
    result = stderr.with_suffix('.wait4')
    with open(stderr, 'w') as file:
        subprocess.run([MEASURED, result, PITOT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=file, env=ENVIRONMENT, check=True)
    code, cpu_us, peak = map(int, result.read_text().split())
    return code, cpu_us / 1e6, peak


def seconds_of(text):
    number, unit = re.search(r'Pitot used ([\d.]+) (\w+) of CPU time', text).groups()
    return float(number) * SCALE[unit]


def check_cost(directory, *options):
    used, errors = directory / 'used', directory / 'stderr'
    code, cpu_s, peak = measured('-o', directory / 'run', '-f', 'parquet,csv', '-t', 20, *options,
                                 '--', sys.executable, '-c', BUSY, used, stderr=errors)
    text = errors.read_text()
    equal(code, 0, text)
    # what the command used until it said so, and a little for its end
    most = cpu_s - float(used.read_text())
    said = {'summary': seconds_of(text)}
    row = [row for row in table(directory / 'run', 'collectors') if row['colName'] == 'pitot'][-1]
    said['collectors'] = int(row['colCpuTime']) / 1e9
    # that of wait4 is the largest of Pitot and the command; the kernel counts pages in batches
    assert int(row['colPeakRss']) <= peak + (1 << 20), (row['colPeakRss'], peak)
    journal, = (directory / 'run').glob('*.pitot')
    for page in (directory / 'run').glob('*.html'):
        cost = json.loads(re.search(r'"cost":(\{[^}]*\})', page.read_text())[1])
        said['report'] = cost['cpu_s']
    code, _, err = run('export', journal, '-f', 'csv', '-o', directory / 'again')
    equal(code, 0, err)
    again = [row for row in table(directory / 'again', 'collectors') if row['colName'] == 'pitot']
    said['journal'] = int(again[-1]['colCpuTime']) / 1e9
    equal(len(table(directory / 'again')), len(table(directory / 'run')), 'rows of the main file')
    # ending the command and starting it (exec, dynamic linking, exit) is in `most`, too
    slack = CLOSE_S + COMMAND_S
    for where, value in said.items():
        assert most - slack <= value <= most + 0.001, f'{where}: {value} of {most} s'
    return said


def command_ends():
    """CPU seconds of the command that it cannot see itself: its exec before, its exit after."""
    most = 0
    for _ in range(5):
        process = subprocess.Popen([sys.executable, '-c', BUSY, '/dev/stdout'],
                                   stdout=subprocess.PIPE, env=ENVIRONMENT)
        said = float(process.stdout.read())
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        process.stdout.close()
        most = max(most, usage.ru_utime + usage.ru_stime - said)
    return most


COMMAND_S = 2 * command_ends()


def own_cost(directory):
    """C326: summary, collectors and journal give the CPU time of the whole run, as wait4 does"""
    check_cost(directory)


def own_cost_with_report(directory):
    """C326: the same with a report, which is part of it"""
    assert 'report' in check_cost(directory, '--report')


def own_cost_with_cpu_profile(directory):
    """C326: the same with a CPU profile"""
    check_cost(directory, '--cpu', '--report')


def own_cost_with_heap_profile(directory):
    """C326: the same with a heap profile"""
    check_cost(directory, '--heap')


def peak_of(*arguments, stderr):
    code, _, peak = measured(*arguments, stderr=stderr)
    equal(code, 0, stderr.read_text())
    return peak


def bounded(directory, most, *arguments):
    """Peak memory of a command for a run and for one of ten times its length."""
    peaks = []
    for count in 3000, 30000:
        journal = directory / f'{count}.pitot'
        subprocess.run([MAKE_RUN, journal, str(count)], check=True)
        peaks.append(peak_of(*arguments, directory / f'made-{count}', journal,
                             stderr=directory / 'stderr'))
        journal.unlink()
    assert max(peaks) <= most, peaks
    assert peaks[1] < peaks[0] * 1.5, peaks


def export_is_bounded(directory):
    """C326: exporting takes at most 16 MB, however long the run"""
    bounded(directory, 16 << 20, 'export', '-q', '-f', 'parquet,csv,jsonl', '-o')


def report_is_bounded(directory):
    """C326: a report takes at most 64 MB, however long the run"""
    bounded(directory, 64 << 20, 'report', '-q', '-o')


main(own_cost, own_cost_with_report, own_cost_with_cpu_profile, own_cost_with_heap_profile,
     export_is_bounded, report_is_bounded, jobs=2)
