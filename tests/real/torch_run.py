#!/usr/bin/python3
"""A short training and inference with a real torch, recorded.

    tests/real/torch_run.py PITOT

Prints TAP. tests/system has the profiles of torch."""
import pathlib
import re
import resource
import subprocess

from frame import equal, main, pitot, rows

WORK = pathlib.Path(__file__).resolve().parent / 'torch_work.py'
STEPS = 300
CENTISECONDS = 100


def children_seconds():
    """CPU time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def record(program, directory, what):
    """Records the workload; what it printed and an upper bound of its CPU time."""
    before = children_seconds()
    out, _ = pitot('-o', directory / 'run', '-t', 100, '-f', 'csv', '-p', '--', program.path, WORK,
                   what, STEPS)
    return out, children_seconds() - before


def recorded_seconds(directory):
    """CPU time of the workload at its last sample."""
    found = [row for row in rows(directory / 'run', 'processes')
             if WORK.name in row['pCmdline'] and row['pIsRecorded'] == '1']
    assert found, 'the process is not in the files'
    return sum(float(found[-1][c]) for c in (
        'pCpuTimeUserMode', 'pCpuTimeKernelMode')) / CENTISECONDS


def trained(program, directory):
    """a recorded training run of torch converges; its CPU time is at most that of the kernel"""
    out, limit = record(program, directory, 'train')
    first, last = map(float, re.search(r'loss ([\d.]+) to ([\d.]+)', out).groups())
    assert last < first, out
    seconds = recorded_seconds(directory)
    assert 0 < seconds <= limit + 0.02, (seconds, limit) # the kernel counts in steps of 10 ms
    return f'{out.strip()}, {seconds:.2f} s of CPU time recorded, {limit:.2f} s with Pitot'


def inferred(program, directory):
    """a recorded inference run of torch prints the numbers that it prints alone"""
    alone = subprocess.run([program.path, WORK, 'infer', str(STEPS)], text=True, check=True,
                           capture_output=True).stdout
    out, _ = record(program, directory, 'infer')
    equal(out, alone, 'what it printed')
    return out.strip()


main('torch', trained, inferred)
