#!/usr/bin/python3
"""A current Prometheus: it scrapes `pitot serve` and takes pushed samples.

    tests/real/scrape.py PITOT

Prints TAP. tests/system does the same with the Prometheus of Debian, which is older."""
import contextlib
import json
import subprocess

from frame import PITOT, equal, free_port, get, main, metrics, pitot, process, wait_for
from points import compare, from_prometheus, outer_labels, recorded
from servers import query

TEXT, OPENMETRICS = 'text/plain;version=0.0.4', 'application/openmetrics-text;version=1.0.0'


@contextlib.contextmanager
def prometheus(program, directory, targets=()):
    """A server that scrapes the targets and takes remote write; its port."""
    port = free_port()
    (directory / 'prometheus.yml').write_text(
        'scrape_configs: [{job_name: scraped, scrape_interval: 500ms, scrape_timeout: 400ms, '
        f'static_configs: [{{targets: {json.dumps(list(targets))}}}]}}]\n')
    with process(program.path / 'prometheus', f'--config.file={directory}/prometheus.yml',
                 f'--storage.tsdb.path={directory}/data', '--web.enable-remote-write-receiver',
                 f'--web.listen-address=127.0.0.1:{port}', log=directory / 'prometheus.log'):
        wait_for('Prometheus', lambda: get(f'http://127.0.0.1:{port}/-/ready') or True)
        yield port


@contextlib.contextmanager
def served_engine(directory):
    """`pitot serve` beside the demo engine under load; its address."""
    engine_port, listen = free_port(), f'127.0.0.1:{free_port()}'
    with process(PITOT, 'demo', '--serve', '--listen', engine_port, '--self-load',
                 '--seconds', 300), \
         process(PITOT, 'serve', '--listen', listen, '-t', 250, '--state-dir', directory / 'state',
                 '--engine', f'http://127.0.0.1:{engine_port}/metrics'):
        wait_for('the engine in the metrics',
                 lambda: 'pitot_engines_tokens_generation_total' in get(f'http://{listen}/metrics'))
        yield listen


def lint(program, directory):
    """promtool accepts the page of pitot serve without a word, as text and OpenMetrics"""
    with served_engine(directory) as listen:
        text = get(f'http://{listen}/metrics', TEXT)
        assert get(f'http://{listen}/metrics', OPENMETRICS).endswith('# EOF\n')
    done = subprocess.run([program.path / 'promtool', 'check', 'metrics'], input=text, text=True,
                          capture_output=True, check=False)
    equal((done.returncode, done.stdout, done.stderr), (0, '', ''), 'promtool check metrics')
    return f'{len(metrics(text))} names'


def scraped(program, directory):
    """Prometheus 3 has every series of the page, and no value that the page never had"""
    with served_engine(directory) as listen, prometheus(program, directory, [listen]) as port:
        wait_for('a scrape', lambda: [s for s in query(port, 'up') if s['value'][1] == '1'])
        before = metrics(get(f'http://{listen}/metrics', TEXT))
        wanted = {name for name in before
                  if not name.startswith('pitot_http_request_duration_seconds')}

        def stored():
            return {s['metric']['__name__'] for s in query(port, '{job="scraped"}')}
        wait_for('all series', lambda: wanted <= stored())
        name = 'pitot_engines_tokens_generation_total'

        def value():
            found = query(port, f'sum({name})')
            return found and float(found[0]['value'][1])
        wait_for('a later count of tokens', lambda: value() >= before[name])
        now = value()
        after = metrics(get(f'http://{listen}/metrics', TEXT))
        assert before[name] <= now <= after[name], (before[name], now, after[name])
    return f'{len(wanted)} names'


def pushed(program, directory):
    """the remote-write receiver of Prometheus 3 has every recorded point with its time and value"""
    with prometheus(program, directory) as port:
        url = f'http://127.0.0.1:{port}'
        pitot('record', '-o', directory / 'run', '--state-dir', directory / 'state', '-f', 'csv',
              '-t', 100, '--remote-write', url, '--', PITOT, 'demo', '--serve', '--self-load',
              '--seconds', 5)
        floats, _ = from_prometheus(url)
        points = compare(recorded(directory / 'run'), floats, outer_labels())
        ended = query(port, 'count({job="pitot"})')
        equal(ended, [], 'series that go on after the end of the run')
    return f'{points} points of {len(floats)} series'


main('prometheus', lint, scraped, pushed)
