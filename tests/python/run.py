#!/usr/bin/python3
"""Runs the tests of the Python package, with the package as it is in a wheel; prints TAP.

    tests/python/run.py PYTHON WHEEL PITOT [TEST...]

The tests are unittest in *_test.py beside this file; their docstrings are the sentences they prove.
They find the package by PYTHONPATH, the wheel by PITOT_WHEEL, the recorder by PITOT_BINARY."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


class Tap(unittest.TestResult):
    """A line for each test, and the whole story of those that failed."""

    count = 0

    def _line(self, verdict, test, story='', after=''):
        self.count += 1
        sentence = test.shortDescription() or test.id()
        print(f'{verdict} {self.count} - {sentence}{after}', flush=True)
        for line in story.splitlines():
            print('# ' + line, flush=True)

    def addSuccess(self, test):
        self._line('ok', test)

    def addError(self, test, err):
        super().addError(test, err)
        self._line('not ok', test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line('not ok', test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            print(f'# {subtest}: {err[1]}', flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line('ok', test, after=f' # SKIP {reason}')


def tests_of(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests_of(part)
        else:
            yield part


def has_packages(test):
    """Only Debian's interpreter gets packages; with others their tests run if they are there."""
    module = getattr(getattr(test, getattr(test, '_testMethodName', ''), None), 'needs', None)
    if sys.prefix == '/usr' or module is None or importlib.util.find_spec(module):
        return True
    print(f'# left out without {module}: {test.shortDescription()}', flush=True)
    return False


def run_inside(names):
    loader = unittest.TestLoader()
    found = (loader.loadTestsFromNames(names) if names
             else loader.discover(str(HERE), pattern='*_test.py'))
    suite = unittest.TestSuite(filter(has_packages, tests_of(found)))
    print(f'1..{suite.countTestCases()}', flush=True)
    result = Tap()
    suite.run(result)
    return 0 if result.wasSuccessful() and result.count else 1


def run_outside(python, wheel, pitot, names):
    with tempfile.TemporaryDirectory(prefix='pitot-test-') as directory:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory)
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(('PITOT', 'PYTHON'))}
        environment.update(PYTHONPATH=f'{directory}:{HERE}', PITOT_BINARY=os.path.abspath(pitot),
                           PITOT_WHEEL=os.path.abspath(wheel), LC_ALL='C.UTF-8',
                           PYTHONDONTWRITEBYTECODE='1')
        return subprocess.run([python, '-X', 'dev', '-W', 'error::ResourceWarning', __file__,
                               '--inside', *names], env=environment).returncode


if __name__ == '__main__':
    if sys.argv[1] == '--inside':
        sys.exit(run_inside(sys.argv[2:]))
    sys.exit(run_outside(*sys.argv[1:4], sys.argv[4:]))
