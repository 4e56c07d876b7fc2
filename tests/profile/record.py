#!/usr/bin/python3
"""pitot record --cpu: a profile that belongs to a run. Arguments as for cpu.py."""
import contextlib
import json
import pathlib
import signal
import subprocess

from profiles import as_nobody, cpu_ticks, near, read_folded, share
from harness import Skip, WORKLOAD, contains, end, equal, main, run, start, table, wait_until

RATE = 999


def need_profile(words):
    if 'no CPU profile: ' in words:
        raise Skip(words.strip())


def exported(directory, ending):
    path = directory / f'profile{ending}'
    code, _, err = run('export', directory / 'out', '--profile', 'cpu', '-o', path)
    equal(code, 0, err)
    return path


def child_of(parent):
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(')')[2].split()[1]) == parent:
                return int(stat.parent.name)
    raise AssertionError(f'{parent} has no child')


def saved(directory):
    return list((directory / 'out').glob('*.cpu.pitotprof'))


def command(directory):
    """C241: record --cpu leaves a profile beside the journal, from which any format is made"""
    code, _, err = run('-f', 'csv', '-t', 50, f'--cpu={RATE}', '-o', directory / 'out', '--',
                       WORKLOAD, 'shares')
    equal(code, 3, err)
    need_profile(err)
    equal(len(saved(directory)), 1)
    contains(err, f'CPU profile: {saved(directory)[0]} (')
    stacks = read_folded(exported(directory, '.folded'))
    near(share(stacks, 'three_quarters'), 3 / 4, 'three_quarters')
    for ending in ('.html', '.svg', '.speedscope.json', '.pb.gz', '.trace.json', '.pitotprof'):
        assert exported(directory, ending).stat().st_size > 0, ending


def one_clock(directory):
    """C241: the samples of the profile lie between the first and the last row of the run"""
    code, _, err = run('-f', 'csv', '-t', 50, f'--cpu={RATE}', '-o', directory / 'out', '--',
                       WORKLOAD, 'shares')
    equal(code, 3, err)
    need_profile(err)
    profile = json.loads(exported(directory, '.firefox.json').read_text())
    times = [profile['meta']['startTime'] + time
             for thread in profile['threads'] for time in thread['samples']['time']]
    rows = [int(row['timestamp']) for row in table(directory / 'out')]
    assert len(times) > 100, len(times)
    # both clocks are read one after the other: a few milliseconds on a busy machine
    first, last = rows[0] - 20, rows[-1] + 20
    assert first <= min(times) and max(times) <= last, (first, min(times), max(times), last)


def process(directory):
    """C241: record --cpu --pid has the process and its children, and a signal saves the profile"""
    target = subprocess.Popen(['sh', '-c', '"$0" until-told; exit 6', WORKLOAD],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        contains(target.stdout.readline(), 'begun')
        child = child_of(target.pid)
        recorder = start('-t', 50, f'--cpu={RATE}', '--pid', target.pid, '-o', directory / 'out')
        wait_until(lambda: list((directory / 'out').glob('*.pitot')), 'a journal')
        before = cpu_ticks(child)
        wait_until(lambda: cpu_ticks(child) > before + 30, 'work')
        recorder.send_signal(signal.SIGTERM)
        code, _, err = end(recorder)
        equal(code, 0, err)
        need_profile(err)
        near(share(read_folded(exported(directory, '.folded')), 'busy_thread'), 1, 'busy_thread')
    finally:
        target.stdin.close()
        equal(target.wait(20), 6, 'its exit code')


def interrupted(directory):
    """C241: a signal that ends the command ends the profile with it, and it is saved"""
    recorder = start('-t', 50, f'--cpu={RATE}', '-o', directory / 'out', '--', WORKLOAD,
                     'until-told', stdin=subprocess.PIPE)
    contains(recorder.stdout.readline(), 'begun')
    recorder.send_signal(signal.SIGTERM)
    recorder.wait(60) # before its stdin is closed, which would end the command too
    code, _, err = end(recorder)
    equal(code, 128 + signal.SIGTERM, err)
    need_profile(err)
    equal(len(saved(directory)), 1, err)


def not_found(directory):
    """C241: a command that cannot be run leaves no profile and no directory"""
    code, _, err = run('--cpu', '-o', directory / 'out', '--', '/nonexistent/program')
    equal(code, 127, err)
    assert not (directory / 'out').exists()


def forbidden(directory):
    """C241: where perf is forbidden the run is recorded without, and the knob is named"""
    # the init process is another user's
    code, _, err = run('-d', '0.3', '-t', 50, '--cpu', '--pid', 1, '-o', directory / 'out',
                       **as_nobody(directory))
    equal(code, 0, err)
    contains(err, 'no CPU profile: ')
    contains(err, 'perf_event_paranoid')
    contains(err, 'CPU profile: none (')
    equal(saved(directory), [])
    equal(len(list((directory / 'out').glob('*.pitot'))), 1)


main(command, one_clock, process, interrupted, not_found, forbidden, jobs=2)
