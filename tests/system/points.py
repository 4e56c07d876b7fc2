"""Points of a recorded run, and the same points as a receiver has them.

The first argument of the program that imports this is Pitot."""
import csv
import json
import math
import os
import socket
import subprocess
import sys
import urllib.parse

from servers import get

PITOT = os.path.abspath(sys.argv[1])
FACTORS = {'': 1, 'count': 1, 'bytes': 1, 'ratio': 1, 's': 1, 'degC': 1, 'W': 1, 'J': 1,
           'MB': 1048576, 'cs': 1 / 100, 'ms': 1 / 1000, 'us': 1e-6, 'ns': 1e-9, '%': 1 / 100,
           'MHz': 1e6, 'uJ': 1e-6, 'mJ': 1e-3}
SCHEMA = json.loads(subprocess.run([PITOT, 'schema', '--json'], check=True, text=True,
                                   capture_output=True).stdout)
SCHEMA = SCHEMA['tables'] if 'tables' in SCHEMA else SCHEMA


def rows_of(run, table):
    suffix = '' if table['file'] in ('', 'main') else table['file']
    pattern = f'*.{suffix}.csv' if suffix else '*-' + '?' * 12 + '.csv'
    for path in run.glob(pattern):
        with open(path, newline='', encoding='utf-8') as text:
            yield from csv.DictReader(text)


def recorded(run, name_of=lambda table, column: column.get('prometheus')):
    """{(name, labels): {time in ms: value}} of all columns that are metrics with a time."""
    found = {}
    last_ns = max(int(row['monotonic_ns']) for row in rows_of(run, {'file': 'main'}))
    for table in SCHEMA:
        if table['rows'] != 'things':
            continue
        keys = [c for c in table['columns'] if c['kind'] == 'key']
        for row in rows_of(run, table):
            if int(row['monotonic_ns']) > last_ns: # the cost of all files: after the last push
                continue
            labels = frozenset((k['short'], row[k['name']]) for k in keys if row[k['name']])
            for column in table['columns']:
                name, when = column['name'], column['name'] + 'T'
                if column.get('prometheus') and row.get(name) and row.get(when):
                    value = float(row[name]) * FACTORS[column['unit']]
                    series = found.setdefault((name_of(table, column), labels), {})
                    series.setdefault(int(row[when]), value)
    return found


def is_same(a, b):
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


def at_times_of(series, pushed):
    """The journal cuts times to microseconds: some then fall into the millisecond before."""
    return {when if when in pushed or when + 1 not in pushed else when + 1: value
            for when, value in series.items()}


def compare(expected, got, outer):
    """Every recorded point is there with its time and value, and nothing else of these series."""
    points = 0
    assert len(expected) > 100, len(expected)
    for (name, labels), series in expected.items():
        pushed = got.get((name, labels | outer))
        assert pushed is not None, f'{name} {sorted(labels)} was not pushed'
        series = at_times_of(series, pushed)
        assert pushed.keys() == series.keys(), (
            name, labels, sorted(series.keys() ^ pushed.keys())[:9])
        for when, value in series.items():
            assert is_same(pushed[when], value), (name, labels, when, value, pushed[when])
        points += len(series)
    return points


def from_prometheus(url):
    """All float series of ours, and the native histograms by name."""
    query = urllib.parse.urlencode({'query': '{job="pitot"}[1h]'})
    result = json.loads(get(f'{url}/api/v1/query?{query}'))['data']['result']
    floats, histograms = {}, {}
    for series in result:
        labels = dict(series['metric'])
        key = (labels.pop('__name__'), frozenset(labels.items()))
        if 'values' in series:
            floats[key] = {round(float(t) * 1000): float(v) for t, v in series['values']}
        if 'histograms' in series:
            histograms[key[0]] = series['histograms']
    return floats, histograms


def outer_labels(**more):
    return frozenset({'job': 'pitot', 'instance': socket.gethostname(), **more}.items())


def otel_names():
    """What `pitot docs otel` says: {(table, column): (name, kind, unit, attributes)}, {key: name}.
    """
    names, keys = {}, {}
    page = subprocess.run([PITOT, 'docs', 'otel'], check=True, text=True, capture_output=True)
    for line in page.stdout.splitlines():
        cells = [cell.strip().strip('`') for cell in line.split('|')[1:-1]]
        if len(cells) == 5 and '.' in cells[0]:
            attributes = dict(pair.split('=') for pair in cells[4].split(',') if pair)
            names[tuple(cells[0].split('.'))] = (cells[1], cells[2], cells[3], attributes)
        elif len(cells) == 2 and '.' in cells[0]:
            keys[tuple(cells[0].split('.'))] = cells[1]
    return names, keys


def recorded_for_otlp(run):
    """The same as recorded(), under the names and attributes of `pitot docs otel`."""
    names, keys = otel_names()
    expected = {}
    for ((table, column), labels), series in recorded(
            run, lambda table, column: (table['name'], column['short'])).items():
        name, *_, attributes = names.get((table, column), (f'pitot.{table}.{column}', {}))
        given = {keys.get((table, k), k): v for k, v in labels} | attributes
        expected[name, frozenset(given.items())] = series
    return expected
