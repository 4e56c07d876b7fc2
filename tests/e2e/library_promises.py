#!/usr/bin/python3
"""What libpitot promises to any program: nothing but memory on the hot path, whatever it is linked
or loaded by."""
import os
import subprocess
import sys

from harness import ENVIRONMENT, equal, main, run, table

RECORD = ('-q', '-f', 'csv', '-t', 50)
HOT, STATIC, HOST, PLUGIN = map(os.path.abspath, sys.argv[3:7])


def check_hot(directory, program):
    code, out, err = run(*RECORD, '-o', directory, '--', program)
    equal((code, out), (0, 'ok\n'), err)
    equal(len(table(directory, 'spans')), 2000)
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    equal(float(metrics['work']['aValue']), 1000)
    equal(float(metrics['level']['aValue']), 1000)
    equal(int(metrics['size']['aCount']), 1000)


def hot(directory):
    """C230: recording makes no system call, allocates nothing and leaves errno alone"""
    check_hot(directory, HOT)


def static(directory):
    """the same in a static executable"""
    check_hot(directory, STATIC)


def alone(directory):
    """without a recorder and a directory a program measures itself"""
    for program in (HOT, STATIC):
        done = subprocess.run([program, 'start'], env=ENVIRONMENT, cwd=directory, text=True,
                              capture_output=True, timeout=60)
        equal((done.returncode, done.stdout), (0, '1000\n'), done.stderr)
    equal(list(directory.iterdir()), [])


def plugin(directory):
    """a plugin that comes and goes is measured by a host that knows nothing of it"""
    code, _, err = run(*RECORD, '-o', directory, '--', HOST, PLUGIN, 50)
    equal(code, 0, err)
    equal(len(table(directory, 'spans')), 100)
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    equal(float(metrics['plugin_calls']['aValue']), 100)


def unwritable(directory):
    """C230: where no file can be made the program runs as if it were not measured"""
    for place in ('/nonexistent', '/proc', '/dev/null'):
        done = subprocess.run([HOST, PLUGIN, '10'], env=ENVIRONMENT | {'PITOT_REGION': place},
                              capture_output=True, text=True, timeout=60)
        equal((done.returncode, done.stdout, done.stderr), (0, '', ''))


main(hot, static, alone, plugin, unwritable)
