#!/usr/bin/python3
"""One number per figure and time, wherever it is printed: at the end of a run, by the commands that
read it later, and by a server while it runs. The pages are compared in tests/system."""
import json
import math
import pathlib
import re

from harness import PITOT, end, equal, main, run, start, wait_until
from serve_client import server

SCALE = {'': 1, '%': 0.01, 'cores': 1, 'B': 1, 'KiB': 2 ** 10, 'MiB': 2 ** 20, 'GiB': 2 ** 30,
         'TiB': 2 ** 40, 's': 1, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9, 'W': 1, 'kW': 1e3, 'C': 1}


def schema():
    code, out, err = run('schema', '--json')
    equal(code, 0, err)
    return [f for f in json.loads(out)['figures'] if f['importance'] == 'headline']


def printed(text):
    """(number, half of the last digit) of "5.0 MiB/s"."""
    found = re.fullmatch(r'(-?[\d.]+) ?([^\d/]*?) ?(/s)?', text)
    assert found, f'not a number: {text!r}'
    digits = found[1].partition('.')[2]
    scale = SCALE[found[2].strip()]
    return float(found[1]) * scale, 0.5 * 10 ** -len(digits) * scale


def summary_lines(text):
    """{title: (mean, peak)} of the text at the end of a run."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if re.fullmatch(r' +whole run +peak', line)) + 1
    found = {}
    for line in lines[first:]:
        cells = re.split(r' {2,}| (?=[\d.]+ (?:cores|KiB|MiB|GiB))', line.rstrip())
        if len(cells) >= 3:
            found[cells[0]] = cells[1:3]
    return found


def figures_of(run_path):
    code, out, err = run('explain', '--json', run_path)
    equal(code, 0, err)
    return json.loads(out)['figures']


def after_the_run(directory):
    """C315: summary, explain and diff print one number for each headline figure of a run"""
    code, _, text = run('-t', 100, '-f', 'csv', '-o', directory, '--', PITOT, 'demo', '--serve',
                        '--self-load', '--seconds', 4)
    equal(code, 0, text)
    summary, explained = summary_lines(text), figures_of(directory)
    code, out, err = run('diff', '--json', directory, directory)
    equal(code, 0, err)
    compared = {figure['name']: figure for figure in json.loads(out)['figures']}
    code, out, err = run('diff', directory, directory)
    equal(code, 0, err)
    known = [figure for figure in schema() if figure['name'] in explained]
    assert len(known) >= 12, known
    for figure in known:
        value, title = explained[figure['name']], figure['title']
        assert title in summary, f'{title} is not in the summary:\n{text}'
        number, half = printed(summary[title][0])
        room = half * 1.001 + 1e-9 * abs(value)
        assert abs(number - value) <= room, (title, summary[title], value)
        for side in 'ab':
            assert math.isclose(compared[figure['name']][side], value, rel_tol=1e-9), (title, side)
        line = next(line for line in out.splitlines() if line.strip().startswith(title + ' '))
        equal(line.count(summary[title][0]), 2, line)


def while_it_runs(directory):
    """C315: the history of a server has the numbers that its journal gives later"""
    names = [figure['name'] for figure in schema()]
    engine = start('demo', '--serve', '--self-load', '--seconds', 60)
    url = engine.stdout.readline().strip()
    try:
        with server(directory, '--engine', url, '-t', '200', common=()) as s:
            def has_latencies():
                found = s.json('/api/history?figure=engine.ttft_p99&from=-1m')['figures']
                return sum(v is not None for v in found['engine.ttft_p99']['mean']) >= 3
            wait_until(has_latencies, 'latencies of the engine', seconds=60)
            s.stop()
        journals = list(pathlib.Path(s.state).glob('history-*.pitot'))
        equal(len(journals), 1)
        later = figures_of(journals[0])
        code, out, err = run('export', '-q', '-f', 'csv', '-o', directory / 'csv', journals[0])
        equal(code, 0, err)
        rows = next((directory / 'csv').glob('history-*[0-9].csv')).read_text().splitlines()
        first, last = (int(rows[i].split(',')[0]) for i in (1, -1))
        with server(directory, '--engine', 'off', common=()) as s: # the same history
            s.wait_for_samples()
            asked = s.json(f'/api/history?figure={",".join(names)}&step=1h'
                           f'&from={first - 1000}&to={last + 1}')
    finally:
        engine.kill()
        end(engine)
    seen = 0
    for name in names:
        means = [m for m in asked['figures'][name]['mean'] if m is not None]
        if len(means) > 1: # the hour has just changed: then there are two parts of the time
            continue
        equal(bool(means), name in later, name)
        seen += len(means)
        if means:
            assert math.isclose(means[0], later[name], rel_tol=1e-5), (name, means[0], later[name])
    assert seen >= 10 or asked['count'] > 1, seen


main(after_the_run, while_it_runs)
