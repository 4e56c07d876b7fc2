"""What the tests with real programs share: TAP, one result per program, Pitot and its files.

A test is a function that takes the program and a new directory; its docstring is the sentence it
proves. It may return figures, which are printed. The result of a program is a row of
BUILD/real/NAME.json, from which tests/real/results.py makes the table of docs/ENGINES.md.
"""
import contextlib
import csv
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'system'))

import programs
from servers import free_port, get, wait_for

PITOT = os.path.abspath(sys.argv[1])
ENVIRONMENT = {k: v for k, v in os.environ.items()
               if not k.startswith(('PITOT', 'XDG_', 'OTEL_', 'SLURM_'))}
ENVIRONMENT |= {'LC_ALL': 'C', 'TERM': 'dumb'}


class Skip(Exception):
    """This machine, or this version of the program, does not have what the test needs."""


def equal(actual, expected, what):
    assert actual == expected, f'{what}: {actual!r}, expected {expected!r}'


def pitot(*words, check=True, **options):
    """Runs Pitot to its end; (stdout, stderr)."""
    done = subprocess.run([PITOT, *map(str, words)], env=ENVIRONMENT, text=True, timeout=300,
                          capture_output=True, **options)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@contextlib.contextmanager
def process(*words, log=None, how=signal.SIGTERM, **options):
    """A process that is ended with the block: asked to, and killed if it does not."""
    output = open(log, 'w') if log else subprocess.DEVNULL
    child = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL,
                             **{'stdout': output, 'stderr': output, 'env': ENVIRONMENT} | options)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.send_signal(how)
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        if log:
            output.close()


def rows(directory, name=''):
    """Of the only run in a directory, as CSV: '' is the main file."""
    pattern = f'*.{name}.csv' if name else '*-' + '?' * 12 + '.csv'
    files = list(pathlib.Path(directory).glob(pattern))
    if not files:
        return []
    with open(files[0], newline='') as file:
        return list(csv.DictReader(file))


def last_value(table, column):
    """The last value of a column that is known, or None; None also if there is no such column."""
    values = [row[column] for row in table if row.get(column)]
    return float(values[-1]) if values else None


def metrics(text):
    """{name: sum over its labels} of a page in the text format of Prometheus."""
    sums = {}
    for name, value in re.findall(r'^([a-zA-Z0-9_:]+)(?:\{.*\})? (\S+)$', text, re.MULTILINE):
        sums[name] = sums.get(name, 0) + float(value)
    return sums


def write_result(name, row):
    place = pathlib.Path(PITOT).parent / 'real'
    place.mkdir(exist_ok=True)
    (place / f'{name}.json').write_text(json.dumps(row, indent=1) + '\n')


def judge(test, program):
    """(words of TAP, whether it failed, its directive, lines below it)"""
    with tempfile.TemporaryDirectory(prefix='pitot-real-', dir='/var/tmp',
                                     ignore_cleanup_errors=True) as directory:
        try:
            figures = test(program, pathlib.Path(directory))
            return 'ok', '', [figures] if figures else []
        except Skip as why:
            return 'ok', f' # SKIP {why}', []
        except Exception:
            return 'not ok', '', traceback.format_exc().splitlines()


def main(name, *tests):
    """Runs the tests with a program of programs.ALL; PITOT_REAL_TESTS=2,3 runs only these."""
    chosen = os.environ.get('PITOT_REAL_TESTS')
    if chosen:
        tests = [tests[int(number) - 1] for number in chosen.split(',')]
    try:
        program = programs.ALL[name]()
    except programs.Missing as why:
        print(f'1..0 # SKIP {name}: {why}')
        write_result(name, {'program': name, 'version': '', 'how': '', 'date': today(),
                            'result': f'not run: {why}'})
        sys.exit(77)
    print(f'1..{len(tests)}', flush=True)
    counts = {'ok': 0, 'not ok': 0, 'skipped': 0}
    for number, test in enumerate(tests, 1):
        verdict, directive, lines = judge(test, program)
        counts['skipped' if directive else verdict] += 1
        print(f'{verdict} {number} - {" ".join(test.__doc__.split())}{directive}', flush=True)
        for line in lines:
            print(f'# {line}', flush=True)
    if not chosen:
        words = [f'{counts["ok"]} of {len(tests)} tests passed']
        words += [f'{counts["skipped"]} skipped'] if counts['skipped'] else []
        write_result(name, {'program': program.name, 'version': program.version,
                            'how': program.how, 'date': today(), 'result': ', '.join(words)})
    sys.exit(1 if counts['not ok'] else 0)


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()
