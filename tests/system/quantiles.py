#!/usr/bin/python3
"""Quantiles of a recorded engine, next to histogram_quantile() of a real Prometheus.

    tests/system/quantiles.py PITOT PRINT_QUANTILES

Both scrape the same server. Prints TAP. Skipped where there is no Prometheus."""
import csv
import http.server
import math
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from servers import free_port, query_value, wait_for

PITOT, PRINT_QUANTILES = sys.argv[1:]
QUANTILES = ['0.001', '0.01', '0.1', '0.25', '0.5', '0.9', '0.95', '0.99', '0.999', '1']
LATENCIES = {
    'ttft': ('vllm:time_to_first_token_seconds', [.001, .005, .01, .02, .04, .06, .08, .1, .25]),
    'e2e': ('vllm:e2e_request_latency_seconds', [.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30]),
    'queue': ('vllm:request_queue_time_seconds', [1 / 3, 2 / 3, 1, 1e3]),
    'inference': ('vllm:request_inference_time_seconds', [-1, 0, 1]), # the first one is negative
    'prefill': ('vllm:request_prefill_time_seconds', [0, .5]),
    'decode': ('vllm:request_decode_time_seconds', [7]),
    'inter_token': ('vllm:inter_token_latency_seconds', [.01, .025, .05, .075, .1, .15, .2]),
}


def make_counts():
    """Observations per bucket: some buckets have none, the last one has few."""
    chance = random.Random(7)
    return {name: [chance.choice([0, 1, chance.randrange(1000)]) for _ in bounds] +
            [chance.randrange(1, 5)] for name, (_, bounds) in LATENCIES.items()}


def exposition(counts):
    lines = ['vllm:num_requests_running 1',
             f'vllm:generation_tokens_total {sum(map(sum, counts.values()))}']
    for name, (series, bounds) in LATENCIES.items():
        total = 0
        lines.append(f'# TYPE {series} histogram')
        for bound, count in zip([*bounds, math.inf], counts[name]):
            total += count
            text = '+Inf' if bound == math.inf else repr(float(bound))
            lines.append(f'{series}_bucket{{le="{text}"}} {total}')
        lines += [f'{series}_sum 1', f'{series}_count {total}']
    return '\n'.join(lines) + '\n'


def serve(texts):
    """A server that answers with the last of the texts."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = texts[-1].encode()
            self.send_response(200)
            self.send_header('Content-Type', 'text/plain; version=0.0.4')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def recorded_tokens(directory):
    """All values so far, of a run that is still being recorded."""
    made = directory / 'so-far'
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([PITOT, 'export', '-q', directory / 'run', '-f', 'csv', '-o', made], check=False,
                   stderr=subprocess.DEVNULL)
    rows = [row for path in made.glob('*.engines.csv') for row in csv.DictReader(path.open())]
    return {float(row['tokens_generation_total']) for row in rows if row['tokens_generation_total']}


def record(directory, target, texts, final):
    """From a server that has counted nothing to one that has counted everything, in two steps."""
    steps = [{name: [count * part // 3 for count in counts] for name, counts in final.items()}
             for part in (0, 1, 3)]
    texts.append(exposition(steps[0]))
    recorder = subprocess.Popen([PITOT, '-q', '-t', '200', '-o', directory / 'run', '--engine',
                                 f'http://{target}/metrics'])
    try:
        for step in steps:
            texts.append(exposition(step))
            tokens = sum(map(sum, step.values()))
            wait_for('the step', lambda: tokens in recorded_tokens(directory))
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(timeout=60) == 0, recorder.returncode
    finally:
        recorder.kill()
        recorder.wait()
    return next((directory / 'run').glob('*.pitot'))


def ours(journal):
    printed = subprocess.run([PRINT_QUANTILES, journal, *QUANTILES], check=True, text=True,
                             capture_output=True).stdout
    return {(name, q): float(value) for name, q, value, _ in map(str.split, printed.splitlines())}


def theirs(port):
    return {(name, q): query_value(port, f'histogram_quantile({q}, {series}_bucket)')
            for name, (series, _) in LATENCIES.items() for q in QUANTILES}


def check(directory):
    final, texts = make_counts(), []
    texts.append(exposition({name: [0] * len(counts) for name, counts in final.items()}))
    server = serve(texts)
    target, port = f'127.0.0.1:{server.server_port}', free_port()
    journal = record(directory, target, texts, final)
    config = directory / 'prometheus.yml'
    config.write_text('scrape_configs: [{job_name: engine, scrape_interval: 500ms, scrape_timeout: '
                      f'400ms, static_configs: [{{targets: ["{target}"]}}]}}]\n')
    prometheus = subprocess.Popen(
        ['prometheus', f'--config.file={config}', f'--storage.tsdb.path={directory / "data"}',
         f'--web.listen-address=127.0.0.1:{port}', '--log.level=error'])
    try:
        wait_for('a scrape', lambda: query_value(port, LATENCIES['decode'][0] + '_count'))
        expected, found = theirs(port), ours(journal)
    finally:
        prometheus.kill()
        prometheus.wait()
        server.shutdown()
    assert found.keys() == expected.keys(), found.keys() ^ expected.keys()
    for key, value in expected.items():
        assert math.isclose(found[key], value, rel_tol=1e-15), (key, found[key], value)
    print(f'ok 1 - C316: {len(expected)} quantiles of a run are those of Prometheus')


if not shutil.which('prometheus'):
    print('1..0 # SKIP no Prometheus')
    sys.exit(77)
print('1..1')
with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
    check(pathlib.Path(place))
