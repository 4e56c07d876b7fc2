"""What the tests share: a program under the recorder, and what the recorder has seen of it."""
import collections
import contextlib
import csv
import functools
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

PITOT = os.environ['PITOT_BINARY']

Recorded = collections.namedtuple('Recorded', 'spans metrics out')
Span = collections.namedtuple('Span', 'name start end thread pid argument request work text')


def needs(module):
    """Marks a test that uses another package. Debian's Python has it (tools/install-deps test);
    with other interpreters that do not have it, run.py leaves the test out."""
    def mark(test):
        @functools.wraps(test)
        def run(self):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f'no {module}')
            test(self)
        run.needs = module
        return run
    return mark


def python(code, *wrapper, options=('-X', 'dev'), **environment):
    """Runs a program by this interpreter; what it prints."""
    done = subprocess.run(
        [*wrapper, sys.executable, *options, '-c', textwrap.dedent(code)], capture_output=True,
        text=True, env={**os.environ, **environment}, timeout=120)
    if done.returncode or done.stderr:
        raise AssertionError(f'exit code {done.returncode}\n{done.stdout}\n{done.stderr}')
    return done.stdout


def scripted_gpus():
    """The environment of a program that sees eight GPUs, which play tests/nvml/h100x8.script."""
    build, here = pathlib.Path(PITOT).parent, pathlib.Path(__file__).resolve().parent
    return {'PITOT_NVML': str(build / 'tests/nvml/libscripted-nvml.so'),
            'SCRIPTED_NVML': str(here.parent / 'nvml/h100x8.script')}


def record(code):
    """Runs a program under the recorder: its spans in the order of their ends, its metrics."""
    with tempfile.TemporaryDirectory(prefix='pitot-test-') as directory:
        out = python(code, PITOT, '-q', '-f', 'csv', '-t', '50', '-o', directory, '--')
        spans = [_span(row) for row in _rows(directory, 'spans')]
        metrics = {(row['aName'], row['aLabels']): row for row in _rows(directory, 'app_metrics')}
        return Recorded(sorted(spans, key=lambda span: span.end), metrics, out)


def _rows(directory, table):
    rows = []
    for path in pathlib.Path(directory).glob(f'*.{table}.csv'):
        with open(path, newline='', encoding='utf-8') as file:
            rows += csv.DictReader(file)
    return rows


def _number(text):
    return int(text) if text else None


def _span(row):
    start = int(row['sStart'])
    return Span(row['sName'], start, start + int(row['sDuration']), int(row['sThread']),
                int(row['sPid']), _number(row['sArgument']), _number(row['sRequest']), row['sWork'],
                row['sText'])


def names(recorded):
    return [span.name for span in recorded.spans]


@contextlib.contextmanager
def recording():
    """Switched on for a while in this process, in memory."""
    import pitot
    pitot.start()
    try:
        yield
    finally:
        pitot.stop()


class TestCase(unittest.TestCase):
    maxDiff = None
