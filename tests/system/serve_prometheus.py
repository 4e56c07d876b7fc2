#!/usr/bin/python3
"""`pitot serve` as a real Prometheus scrapes it: as text, OpenMetrics and protobuf.

    tests/system/serve_prometheus.py PITOT

Prints TAP. Skipped where there is no Prometheus."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from servers import free_port, get, query, wait_for

PITOT = sys.argv[1]
TEXT, OPENMETRICS = 'text/plain;version=0.0.4', 'application/openmetrics-text;version=1.0.0'


def start_prometheus(directory, name, targets, *options):
    port = free_port()
    config = directory / f'{name}.yml'
    config.write_text(
        'scrape_configs: [{job_name: pitot, scrape_interval: 500ms, scrape_timeout: 400ms, '
        f'static_configs: [{{targets: {json.dumps(targets)}}}]}}]\n')
    return port, subprocess.Popen(
        ['prometheus', f'--config.file={config}', f'--storage.tsdb.path={directory / name}',
         f'--web.listen-address=127.0.0.1:{port}', '--log.level=error', *options])


def check_lint(url):
    """promtool has nothing to say of either text."""
    done = subprocess.run(['promtool', 'check', 'metrics'], input=get(url, TEXT), text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, '', ''), done
    assert get(url, OPENMETRICS).endswith('# EOF\n')


def names_of(text):
    return {line.split('{')[0].split(' ')[0] for line in text.splitlines()
            if line and not line.startswith('#')}


def check_scrape(port, target, is_native):
    """Every series arrives; the histogram is native where protobuf was spoken."""
    wait_for('a scrape', lambda: [s for s in query(port, 'up') if s['value'][1] == '1'])
    wanted = {name for name in names_of(get(f'http://{target}/metrics', TEXT))
              if not name.startswith('pitot_http_request_duration_seconds')}
    wait_for('all series', lambda: wanted <= {
        s['metric'].get('__name__') for s in query(port, '{job="pitot"}')})
    expression = ('histogram_count(pitot_http_request_duration_seconds)' if is_native
                  else 'pitot_http_request_duration_seconds_count')
    wait_for('requests that were counted',
             lambda: [s for s in query(port, expression) if float(s['value'][1]) > 0])


def check(directory):
    target = f'127.0.0.1:{free_port()}'
    url = f'http://{target}/metrics'
    engine_port = free_port()
    engine = subprocess.Popen([PITOT, 'demo', '--serve', '--listen', str(engine_port)],
                              stdout=subprocess.DEVNULL)
    server = subprocess.Popen([PITOT, 'serve', '--listen', target, '-t', '250', '--state-dir',
                               str(directory / 'state'), '--engine',
                               f'http://127.0.0.1:{engine_port}/metrics'],
                              stdout=subprocess.DEVNULL)
    processes = [engine, server]
    try:
        wait_for('the engine in the metrics', lambda: 'pitot_engine_' in get(url))
        check_lint(url)
        print('ok 1 - C257: promtool has nothing to say of /metrics')
        plain, process = start_prometheus(directory, 'plain', [target])
        processes.append(process)
        check_scrape(plain, target, False)
        print('ok 2 - a real Prometheus reads OpenMetrics, every series of it')
        native, process = start_prometheus(directory, 'native', [target],
                                           '--enable-feature=native-histograms')
        processes.append(process)
        check_scrape(native, target, True)
        print('ok 3 - a real Prometheus reads protobuf, with a native histogram')
    finally:
        for process in processes:
            process.terminate()
            process.wait()


if not shutil.which('prometheus') or not shutil.which('promtool'):
    print('1..0 # SKIP no Prometheus')
    sys.exit(77)
print('1..3')
with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
    check(pathlib.Path(place))
