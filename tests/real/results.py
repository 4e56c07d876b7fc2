#!/usr/bin/python3
"""The table "Tried with real programs" of docs/ENGINES.md, from the results of the tests.

    tests/real/results.py             does the page have the table of results.json?
    tests/real/results.py --update [BUILD]
                                      takes the results of BUILD/real into results.json, if given,
                                      and writes the table

results.json is committed: a list of rows, each with program, version, how, date and result. A row
is only ever written by a test that ran, or was skipped with a reason.
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / 'results.json'
PAGE = HERE.parent.parent / 'docs/ENGINES.md'
BEGIN, END = '<!-- Made by tests/real/results.py -->\n', '<!-- End of the results -->\n'
COLUMNS = ('program', 'version', 'how', 'date', 'result')


def table(results):
    lines = ['| program | version | how | date | result |', '|---|---|---|---|---|']
    lines += ['| ' + ' | '.join(row[c] for c in COLUMNS) + ' |' for row in results]
    return '\n' + '\n'.join(lines) + '\n\n'


def with_table(page, results):
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f'{PAGE}: the lines around the table are missing')
    return before + begin + table(results) + end + after


def update(build):
    """A program that could not be run does not replace the result of one that ran."""
    rows = {row['name']: row for row in json.loads(RESULTS.read_text())}
    for path in sorted(pathlib.Path(build, 'real').glob('*.json')):
        row = {'name': path.stem} | json.loads(path.read_text())
        old = rows.get(path.stem)
        if not (old and row['result'].startswith('not run') and
                not old['result'].startswith('not run')):
            rows[path.stem] = row
    RESULTS.write_text(json.dumps(list(rows.values()), indent=1) + '\n')


def main():
    words = sys.argv[1:]
    if words[1:]:
        update(words[1])
    made = with_table(PAGE.read_text(), json.loads(RESULTS.read_text()))
    if words:
        PAGE.write_text(made)
    elif made != PAGE.read_text():
        print(f'{PAGE.relative_to(HERE.parent.parent)}:1: differs from tests/real/results.json '
              '(run tests/real/results.py --update)')
        return 1
    return 0


sys.exit(main())
