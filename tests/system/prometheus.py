#!/usr/bin/python3
"""The demo engine's metrics as a real Prometheus sees them, and as Pitot records them.

    tests/system/prometheus.py PITOT

Prints TAP. Skipped where there is no Prometheus."""
import csv
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from servers import free_port, get, query_value, wait_for

PITOT = sys.argv[1]
COUNTERS = {'vllm:generation_tokens_total': 'tokens_generation_total',
            'vllm:prompt_tokens_total': 'tokens_prompt_total',
            'vllm:time_to_first_token_seconds_count': 'latency_ttft_s_count'}


def last_recorded(directory):
    files = [f for f in directory.glob('*.csv') if f.name.count('.') == 1]
    with open(files[0], newline='', encoding='utf-8') as text:
        rows = [row for row in csv.DictReader(text) if row['tokens_generation_total']]
    return rows[-1]


def check(directory):
    port, own = free_port(), free_port()
    config = directory / 'prometheus.yml'
    config.write_text('scrape_configs: [{job_name: demo, scrape_interval: 500ms, scrape_timeout: '
                      f'400ms, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]\n')
    server = subprocess.Popen([PITOT, 'demo', '--serve', '--listen', str(port)],
                              stdout=subprocess.DEVNULL)
    prometheus = subprocess.Popen(
        ['prometheus', f'--config.file={config}', f'--storage.tsdb.path={directory / "data"}',
         f'--web.listen-address=127.0.0.1:{own}', '--log.level=error'])
    try:
        wait_for('the server', lambda: get(f'http://127.0.0.1:{port}/health') or True)
        recorder = subprocess.Popen(
            [PITOT, '-q', '-o', str(directory / 'run'), '-t', '250', '-f', 'csv',
             '--engine', f'http://127.0.0.1:{port}/metrics'])
        subprocess.run([PITOT, 'demo', '--load', f'http://127.0.0.1:{port}', '--requests', '12',
                        '--concurrency', '4'], check=True, stdout=subprocess.DEVNULL)
        truth = {}
        for line in get(f'http://127.0.0.1:{port}/metrics').splitlines():
            name = line.split('{')[0]
            if name in COUNTERS:
                truth[name] = float(line.rsplit(' ', 1)[1])
        assert truth['vllm:generation_tokens_total'] > 0, truth
        for name, value in truth.items():
            wait_for(f'{name} = {value} in Prometheus',
                     lambda n=name, v=value: query_value(own, n) == v)
        print('ok 1 - C117 C125 C257: a real Prometheus reads what the demo engine counted')
        time.sleep(1.5)  # two more scrapes of the recorder
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(30) == 0
        row = last_recorded(directory / 'run')
        for name, column in COUNTERS.items():
            assert float(row[column]) == truth[name], (column, row[column], truth[name])
        print('ok 2 - C121 C122 C123: Pitot recorded the same numbers')
    finally:
        for process in (server, prometheus):
            process.terminate()
            process.wait()


if not shutil.which('prometheus'):
    print('1..0 # SKIP no Prometheus')
    sys.exit(77)
print('1..2')
with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
    check(pathlib.Path(place))
