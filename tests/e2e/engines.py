#!/usr/bin/python3
"""Inference engines: found, scraped and recorded, from the demo server and from servers made here.

Moments are waited for, never assumed: a run under way is exported until it shows what is expected.
"""
import contextlib
import http.server
import json
import math
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

from harness import (ENVIRONMENT, PITOT, contains, end, equal, kill, main, pids_with, run, start,
                     table, wait_until)

REQUESTS = 12
EXPOSITION = '''# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{model_name="m"} 2.0
vllm:num_requests_waiting{model_name="m"} 1.0
vllm:kv_cache_usage_perc{model_name="m"} 0.25
vllm:request_success_total{finished_reason="stop",model_name="m"} 5.0
vllm:request_success_total{finished_reason="length",model_name="m"} 2.0
vllm:prompt_tokens_total{model_name="m"} 70.0
vllm:generation_tokens_total{model_name="m"} 140.0
my_own_series{color="red"} 7.5
'''
COUNTERS = { # recorded name: the series of the server that are summed
    'requests_finished_total': 'vllm:request_success_total',
    'tokens_prompt_total': 'vllm:prompt_tokens_total',
    'tokens_generation_total': 'vllm:generation_tokens_total',
    'latency_ttft_s_sum': 'vllm:time_to_first_token_seconds_sum',
    'latency_ttft_s_count': 'vllm:time_to_first_token_seconds_count',
    'latency_e2e_s_sum': 'vllm:e2e_request_latency_seconds_sum',
}


LATENCIES = {
    'ttft': 'vllm:time_to_first_token_seconds',
    'e2e': 'vllm:e2e_request_latency_seconds',
    'inter_token': 'vllm:inter_token_latency_seconds',
}


def rows_so_far(directory, name):
    """Of a run that is still being recorded; none if there is no such file yet."""
    made = directory / 'so-far'
    shutil.rmtree(made, ignore_errors=True)
    if run('export', '-q', directory, '-f', 'csv', '-o', made)[0] != 0:
        return []
    found = list(made.glob(f'*.{name}.csv' if name else '*-' + '?' * 12 + '.csv'))
    return table(made, name) if found else []


def wait_for_row(directory, name, is_wanted, what):
    wait_until(lambda: any(map(is_wanted, rows_so_far(directory, name))), what, seconds=60)


@contextlib.contextmanager
def recording(directory, *arguments, **options):
    """A recorder that is ended as by Ctrl+C, or killed if the block fails."""
    recorder = start('-f', 'csv', '-q', '-o', directory, *arguments, **options)
    try:
        yield recorder
        recorder.send_signal(signal.SIGINT)
        end(recorder)
    finally:
        recorder.kill()
        recorder.communicate()


def read_metrics(url):
    """The sums over the labels of each series."""
    with urllib.request.urlopen(url + '/metrics', timeout=30) as answer:
        text = answer.read().decode()
    sums = {}
    for name, value in re.findall(r'^([a-z0-9_:]+)(?:\{.*\})? (\S+)$', text, re.MULTILINE):
        sums[name] = sums.get(name, 0) + float(value)
    return sums


def read_buckets(url):
    """The cumulative count at each bound of the latencies: {latency: {bound: count}}."""
    with urllib.request.urlopen(url + '/metrics', timeout=30) as answer:
        text = answer.read().decode()
    buckets = {}
    for latency, series in LATENCIES.items():
        for bound, count in re.findall(rf'^{series}_bucket\{{.*le="([^"]+)".*\}} (\S+)$', text,
                                       re.MULTILINE):
            buckets.setdefault(latency, {})[float(bound)] = float(count)
    return buckets


def bucket_of(row):
    """The bounds of a row of histograms; an empty one is infinite."""
    return float(row['hAbove'] or -math.inf), float(row['hLe'] or math.inf)


def loads_libcurl(pid):
    return 'libcurl' in pathlib.Path(f'/proc/{pid}/maps').read_text()


@contextlib.contextmanager
def fixed_engine(certificate=None, exposition=lambda: EXPOSITION):
    """A server that always says the same, with a certificate over TLS; its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = exposition().encode()
            self.send_response(200)
            self.send_header('Content-Type', 'text/plain; version=0.0.4')
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f'http{"s" if certificate else ""}://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()


@contextlib.contextmanager
def listening_socket():
    with socket.create_server(('127.0.0.1', 0)) as server:
        yield server.getsockname()[1]


def is_up(row):
    return row['eState'] == 'up'


def check_first_token(rows, load):
    """The median of all requests lies between the lowest and the highest median of an interval,
    each known to the width of its bucket. The client's clock starts before the server's."""
    measured = float(re.search(r'first token +p50 +([0-9.]+) ms', load)[1]) / 1000
    medians = [(float(row['latency_ttft_s_p50']), float(row['latency_ttft_s_p50_width']))
               for row in rows if row['latency_ttft_s_p50']]
    assert medians, 'there is a median'
    low = min(median - width for median, width in medians)
    high = max(median + 2 * width for median, width in medians)
    assert low <= measured <= high, f'{measured} s, recorded {low} to {high} s'


def found(directory):
    """C117 C118 C119 C120 C121 C122 C123 C124 C125: the engine of a recorded command is found, no
    other one, and its counters are recorded to the last one"""
    began_ms = int(time.time() * 1000)
    with fixed_engine(), recording(directory, '-t', 200, '--', PITOT, 'demo',
                                   '--serve') as recorder:
        url = recorder.stdout.readline().strip()
        contains(url, 'http://127.0.0.1:')
        wait_for_row(directory, 'engines', is_up, 'the engine is found')
        assert loads_libcurl(recorder.pid), 'the HTTP library is loaded now'
        load = subprocess.run([PITOT, 'demo', '--load', url, '--requests', str(REQUESTS),
                               '--concurrency', '8'], env=ENVIRONMENT, text=True, check=True,
                              capture_output=True).stdout
        said, buckets = read_metrics(url), read_buckets(url)
        wait_for_row(directory, 'engines', lambda row: float(
            row['requests_finished_total'] or 0) == REQUESTS, 'the last request is recorded')
        wait_for_row(directory, 'engines', lambda row: row['system_requests_running'] == '0' and
                     float(row['requests_finished_total'] or 0) == REQUESTS, 'it is idle')
    rows = [row for row in table(directory, 'engines') if row['requests_finished_total']]
    equal({row['eUrl'] for row in rows}, {url + '/metrics'})
    equal({row['eEngine'] for row in rows}, {'vllm'})
    whole = [row for row in table(directory) if row['requests_finished_total']]
    for column, series in COUNTERS.items():
        equal(float(rows[-1][column]), said[series], column)
        equal(float(whole[-1][column]), said[series], f'{column} of the main file')
    equal(said['vllm:request_success_total'], REQUESTS, 'what the server says')
    assert max(float(row['system_requests_running']) for row in rows) > 0, 'requests ran'
    assert all(0 <= float(row['cache_kv_usage_percent']) <= 1 for row in rows), 'a ratio'
    check_first_token(rows, load)
    check_buckets(table(directory, 'engine_histograms'), url, buckets, began_ms)


def check_buckets(rows, url, expected, began_ms):
    """The recorded growth adds up to what a server says that had counted nothing at first."""
    equal({row['eUrl'] for row in rows}, {url + '/metrics'})
    equal(expected.keys(), LATENCIES.keys())
    for latency, buckets in expected.items():
        assert buckets[math.inf] > 0, latency
        for bound, count in buckets.items():
            equal(sum(int(row['hCount']) for row in rows
                      if row['hName'] == latency and bucket_of(row)[1] <= bound), count,
                  f'{latency} up to {bound}')
    for row in rows:
        above, le = bucket_of(row)
        assert above < le and int(row['hCount']) > 0 and 0 < float(row['hSeconds']), row
        # a scrape may end while the sample is taken, so it can be later than the sample's own time
        assert began_ms <= int(row['hCountT']) <= time.time() * 1000 + 1, 'the time of the scrape'


LOADING_ENGINE = '''
import http.server, itertools, sys
count = itertools.count()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        number = next(count)
        is_ready = number >= 3
        body = open(sys.argv[1], "rb").read() if is_ready else b"{}"
        self.send_response(200 if is_ready else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler).serve_forever()
'''


def loading(directory):
    """C122 C125: an engine that answers 503 while it loads is found as soon as it is ready"""
    page = directory / 'page'
    page.write_text(EXPOSITION + histogram_text(140, {0.1: 2, '+Inf': 3}).split('\n', 1)[1])
    with recording(directory, '-t', 1000, '--', '/usr/bin/python3', '-c', LOADING_ENGINE, page):
        wait_for_row(directory, 'engines', lambda row: row['tokens_generation_total'] == '140',
                     'its counters')
    for rows in (table(directory, 'engines'), table(directory)):
        first = next(row for row in rows if row['tokens_generation_total'])
        equal((first['tokens_generation_total'], first['requests_finished_total']), ('140', '7'))
        equal(first['system_requests_running'], '2')


@contextlib.contextmanager
def llama_server(reads):
    """A server whose only request generates a token per read of its slots; counts its reads."""
    def page(path):
        reads[path] = reads.get(path, 0) + 1
        if path == '/metrics':
            return 'llamacpp:tokens_predicted_total 100\nllamacpp:requests_processing 1\n' \
                   'llamacpp:requests_deferred 0\nllamacpp:prompt_tokens_total 9\n'
        slot = {'n_ctx': 100, 'is_processing': True, 'id_task': 3, 'n_prompt_tokens': 50,
                'next_token': [{'n_decoded': reads[path]}]}
        return {'/slots': json.dumps([{'id': 0} | slot, {'id': 1, 'n_ctx': 100,
                                                         'is_processing': False}]),
                '/props': '{"total_slots": 2, "build_info": "b7"}',
                '/v1/models': '{"data": [{"id": "tiny"}]}'}[path]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = page(self.path).encode()
            self.send_response(200)
            self.send_header('Content-Length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()


def slots(directory):
    """C117 C119 C122 C126: tokens of running requests come from the slots of llama.cpp, and its
    metrics, whose averages every read restarts, are read rarely"""
    reads = {}
    with llama_server(reads) as url:
        with recording(directory, '-t', 500, '--engine', url):
            # more than once only if an answer came too late
            wait_until(lambda: reads.get('/slots', 0) >= 12 and all(
                reads[page] * 3 < reads['/slots'] for page in ('/metrics', '/props', '/v1/models')),
                       'many reads of the slots, few of the others', seconds=120)
    rows = [row for row in table(directory, 'engines') if row['tokens_generation_total']]
    tokens = [float(row['tokens_generation_total']) for row in rows]
    assert tokens == sorted(tokens) and tokens[-1] > tokens[0] > 100, tokens
    equal({(row['eModel'], row['system_requests_running'], row['system_requests_waiting'],
            row['system_requests_capacity'], row['cache_kv_usage_percent']) for row in rows},
          {('tiny', '1', '0', '2', '0.25')})
    contains(rows[-1]['eNote'], 'restarts the averages')
    contains(rows[-1]['eConfig'], 'version=b7')
    assert any(not row['tokens_prompt_total'] for row in rows), 'not read again: unknown'


def unreachable(directory):
    """C126: an engine that cannot be reached is reported early and again in the summary; one that
    ends with its command is not"""
    with listening_socket() as port:
        pass
    url = f'http://127.0.0.1:{port}/metrics'
    recorder = start('-f', 'csv', '-o', directory / 'dead', '--engine', port, '--', 'sleep', 100)
    try:
        line = recorder.stderr.readline()
        while 'cannot read the engine' not in line:
            assert line, 'the warning came'
            line = recorder.stderr.readline()
        contains(line, url)
    finally:
        recorder.send_signal(signal.SIGINT)
        _, out, err = end(recorder)
    contains(out + err, f'{url} never answered: ')
    code, out, err = run('-f', 'csv', '-o', directory / 'alive', '--', PITOT, 'demo', '--serve',
                         '--self-load', '--requests', REQUESTS, '--concurrency', 4)
    equal(code, 0, err)
    assert 'engine at' not in err and 'never answered' not in out + err, out + err


def self_load(directory):
    """C120 C121 C122: a server that loads itself is recorded up to its end"""
    code, out, err = run('-f', 'csv', '-t', 100, '-o', directory, '-q', '--', PITOT, 'demo',
                         '--serve', '--self-load', '--requests', REQUESTS, '--concurrency', 4)
    equal(code, 0, err)
    rows = [row for row in table(directory) if row['requests_finished_total']]
    assert rows, 'the engine was found'
    printed = {'requests_finished_total': r'requests +(\d+) finished',
               'tokens_prompt_total': r'prompt +(\d+) tokens',
               'tokens_generation_total': r'generated +(\d+) tokens'}
    for column, pattern in printed.items():
        values = [float(row[column]) for row in rows]
        assert values == sorted(values), f'{column} only grows'
        assert 0 < values[-1] <= int(re.search(pattern, out)[1]), f'{column}: {values[-1]}'


def detached(directory):
    """C125: an engine whose parents have ended still belongs to the recorded command"""
    with listening_socket() as port:
        address = f'127.0.0.1:{port}'
    script = '(setsid "$0" demo --serve --listen "$1" >/dev/null 2>&1 &); exec sleep 100'
    try:
        with recording(directory, '-t', 200, '--', 'sh', '-c', script, PITOT, address):
            wait_for_row(directory, 'engines', is_up, 'the engine is found')
        equal({row['eUrl'] for row in table(directory, 'engines')}, {f'http://{address}/metrics'})
    finally:
        for pid in pids_with(address):
            kill(pid)


def off(directory):
    """C126: --engine off records no engine and loads no HTTP library"""
    with recording(directory, '-t', 100, '--engine', 'off', '--', PITOT, 'demo',
                   '--serve') as recorder:
        url = recorder.stdout.readline().strip()
        read_metrics(url)
        count = len(rows_so_far(directory, ''))
        wait_until(lambda: len(rows_so_far(directory, '')) > count + 15, 'samples', seconds=60)
        assert not loads_libcurl(recorder.pid), 'libcurl is loaded'
    assert not any(row.get('requests_finished_total') for row in table(directory))
    assert not list(directory.glob('*.engines.csv')) or not table(directory, 'engines')


def dead(directory):
    """C126: an engine that is not there fails, is gone, and samples are written all the same"""
    with listening_socket() as port:
        pass
    with recording(directory, '-t', 100, '--engine', f'127.0.0.1:{port}'):
        wait_for_row(directory, 'engines', lambda row: row['eState'] == 'gone', 'it is gone')
    rows = table(directory, 'engines')
    states = list(dict.fromkeys(row['eState'] for row in rows if row['eState']))
    equal(states, ['failing', 'gone'])
    equal({row['eUrl'] for row in rows}, {f'http://127.0.0.1:{port}/metrics'})
    assert rows[-1]['eProblem'], 'the reason is reported'
    assert not any(row['requests_finished_total'] for row in rows + table(directory))
    assert all(row['monotonic_ns'] and row['vCpuTime'] for row in table(directory)), 'samples'


def check_fixed(directory, url):
    rows = [row for row in table(directory, 'engines') if is_up(row)]
    equal({row['eUrl'] for row in rows}, {url + '/metrics'})
    equal({float(row['requests_finished_total']) for row in rows}, {7.0})
    equal({row['eModel'] for row in rows}, {'m'})


def variable(name, with_path):
    def test(directory):
        with fixed_engine() as url:
            environment = ENVIRONMENT | {name: url + ('/metrics' if with_path else '')}
            with recording(directory, '-t', 100, env=environment):
                wait_for_row(directory, 'engines', is_up, 'the engine is up')
            check_fixed(directory, url)
    test.__doc__ = f'C128: {name} is the address of the engine'
    return test


def option_wins(directory):
    """C128: --engine goes before VLLM_METRICS_URL"""
    with fixed_engine() as url:
        environment = ENVIRONMENT | {'VLLM_METRICS_URL': 'http://127.0.0.1:1/metrics'}
        with recording(directory, '-t', 100, '--engine', url, env=environment):
            wait_for_row(directory, 'engines', is_up, 'the engine is up')
        check_fixed(directory, url)


def two_with_raw(directory):
    """C117 C119 C120 C127: two engines are taken as one in the main file, --engine-raw keeps the
    series that have no column"""
    with fixed_engine() as one, fixed_engine() as two:
        with recording(directory, '-t', 100, '--engine', one, '--engine', two, '--engine-raw'):
            wait_for_row(directory, '', lambda row: float(
                row['requests_finished_total'] or 0) == 14, 'both are up')
            wait_for_row(directory, 'engine_series', lambda row: row['eUrl'] == two + '/metrics',
                         'series of the second')
    last = [row for row in table(directory) if row['requests_finished_total']][-1]
    equal(float(last['system_requests_running']), 4.0)
    equal(float(last['cache_kv_usage_percent']), 0.25)
    equal(float(last['tokens_generation_total']), 280.0)
    series = table(directory, 'engine_series')
    equal({row['eUrl'] for row in series}, {one + '/metrics', two + '/metrics'})
    own = [row for row in series if row['sName'] == 'my_own_series']
    equal({(row['sLabels'], float(row['sValue'])) for row in own}, {('color="red"', 7.5)})


def histogram_text(step, counts):
    """Cumulative counts at bounds, as an engine says them; `step` is a counter to wait for."""
    lines = [f'vllm:generation_tokens_total {step}.0']
    lines += [f'vllm:time_to_first_token_seconds_bucket{{le="{bound}"}} {count}.0'
              for bound, count in counts.items()]
    return '\n'.join(lines) + '\n'


def quantile(buckets, q):
    """As Prometheus does it, from {(above, le): count}."""
    rank, below = q * sum(buckets.values()), 0
    for (above, le), count in sorted(buckets.items(), key=lambda item: item[0][1]):
        if below + count >= rank:
            return above if le == math.inf else above + (le - above) * (rank - below) / count
        below += count
    return math.nan


def sum_buckets(rows):
    sums = {}
    for row in rows:
        sums[bucket_of(row)] = sums.get(bucket_of(row), 0) + int(row['hCount'])
    return sums


def histograms(directory):
    """C316: histograms of two engines are recorded as their growth from scrape to scrape; a restart
    starts again; quantiles of any part of the run follow from the rows"""
    one = [{'0.1': 5, '0.5': 5, '1.0': 5, '+Inf': 5}, {'0.1': 7, '0.5': 9, '1.0': 9, '+Inf': 10},
           {'0.1': 7, '0.5': 9, '1.0': 9, '+Inf': 10}, # nothing happened
           {'0.1': 1, '0.5': 1, '1.0': 1, '+Inf': 1},  # a restart
           {'0.1': 1, '0.5': 3, '1.0': 4, '+Inf': 4}]
    two = [{}, {'0.2': 0, '0.8': 4, '+Inf': 4}, # created with the first observation
           {'0.2': 1, '0.8': 5, '+Inf': 9}, {'0.2': 1, '0.8': 6, '+Inf': 10},
           {'0.2': 1, '0.8': 6, '+Inf': 10}]
    said = [(0, one[0]), (100, two[0])]
    with fixed_engine(exposition=lambda: histogram_text(*said[0])) as first, \
            fixed_engine(exposition=lambda: histogram_text(*said[1])) as second, \
            recording(directory, '-t', 100, '--engine', first, '--engine', second):
        for step, counts in enumerate(zip(one, two)):
            said[:] = [(step, counts[0]), (100 + step, counts[1])]
            for tokens, _ in said:
                wait_for_row(directory, 'engines', lambda row: float(
                    row['tokens_generation_total'] or -1) == tokens, f'step {tokens}')
    rows = table(directory, 'engine_histograms')
    equal({row['hName'] for row in rows}, {'ttft'})
    mine = [row for row in rows if row['eUrl'] == first + '/metrics']
    theirs = [row for row in rows if row['eUrl'] == second + '/metrics']
    equal(len(rows), len(mine) + len(theirs))
    infinity = math.inf
    equal([(*bucket_of(row), int(row['hCount'])) for row in mine],
          [(0, .1, 2), (.1, .5, 2), (1, infinity, 1), (.1, .5, 2), (.5, 1, 1)])
    equal([(*bucket_of(row), int(row['hCount'])) for row in theirs],
          [(.2, .8, 4), (0, .2, 1), (.8, infinity, 4), (.2, .8, 1)])
    equal([row['hLe'] for row in mine], ['0.1', '0.5', '', '0.5', '1'])
    times = sorted({int(row['hCountT']) for row in mine})
    equal(len(times), 2, 'two intervals with something new')
    before = [row for row in mine if int(row['hCountT']) == times[0]]
    assert math.isclose(quantile(sum_buckets(mine), .5), .3), 'rank 4 of 2, 4, 1, 1'
    assert math.isclose(quantile(sum_buckets(before), .5), .2), 'rank 2.5 of 2, 2, 1'
    made = directory / 'others'
    equal(run('export', '-q', directory, '-f', 'jsonl,parquet,tsv', '-o', made)[0], 0)
    lines = next(made.glob('*.engine_histograms.jsonl')).read_text().splitlines()
    equal([json.loads(line).get('hLe') for line in lines],
          [float(row['hLe']) if row['hLe'] else None for row in rows])
    assert next(made.glob('*.engine_histograms.parquet')).stat().st_size > 0


def hanging(directory):
    """C006 C126 C128: an engine that hangs holds up no sample"""
    timeout_ns = 500_000_000 # of a scrape
    with listening_socket() as port, recording(directory, '-t', 10, '--engine',
                                               f'127.0.0.1:{port}'):
        wait_for_row(directory, 'engines', lambda row: row['eState'] == 'gone', 'it is gone')
    times = [int(row['monotonic_ns']) for row in table(directory)]
    costs = table(directory, 'collectors')
    own = [row for row in costs if row['colName'] == 'pitot'][-1]
    equal(int(own['colCalls']), len(times) - 1, 'samples taken before the last')
    ticks = len(times) - 2 + int(own['colLateTicks']) + int(own['colDroppedTicks'])
    waited = abs(times[-2] - times[0] - ticks * 10_000_000)
    assert waited < 200_000_000, f'{ticks} ticks in {times[-2] - times[0]} ns'
    engines = [row for row in costs if row['colName'] == 'engines' and row['colTime']]
    # It hung five times; whoever waited for that would have spent five timeouts.
    assert int(engines[-1]['colTime']) < 5 * timeout_ns / 2, engines[-1]['colTime']
    problems = {row['eProblem'] for row in table(directory, 'engines') if row['eProblem']}
    equal(problems, {'no complete answer within 500 ms'})


def make_certificate(path):
    """Signed by itself, for 127.0.0.1 alone; with its key in one file."""
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650', '-subj', '/CN=test',
                    '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', path,
                    '-out', f'{path}.certificate'], check=True, capture_output=True)
    with open(path, 'a') as file:
        file.write(pathlib.Path(f'{path}.certificate').read_text())


def trusted(directory):
    """C125: an engine behind TLS is scraped if its certificate is trusted"""
    make_certificate(directory / 'own.pem')
    with fixed_engine(directory / 'own.pem') as url, recording(
            directory, '-t', 100, '--engine', url, env=ENVIRONMENT | {
                'SSL_CERT_FILE': str(directory / 'own.pem.certificate')}):
        wait_for_row(directory, 'engines', is_up, 'the engine is up')
    check_fixed(directory, url)


def check_untrusted(directory, url, trusted_file, reason):
    environment = ENVIRONMENT | {'SSL_CERT_FILE': str(trusted_file)}
    with recording(directory, '-t', 100, '--engine', url, env=environment):
        wait_for_row(directory, 'engines', lambda row: reason in row['eProblem'], reason)
    rows = table(directory, 'engines')
    assert not any(map(is_up, rows)), 'it is never up'
    assert not any(row['requests_finished_total'] for row in rows + table(directory)), 'no values'


def untrusted(directory):
    """C125 C126: an engine whose certificate is unknown or of another host has no values"""
    own, other = directory / 'own.pem', directory / 'other.pem'
    make_certificate(own)
    make_certificate(other)
    with fixed_engine(own) as url:
        by_name = url.replace('127.0.0.1', 'localhost')
        check_untrusted(directory / 'other', url, f'{other}.certificate',
                        'certificate problem')
        check_untrusted(directory / 'name', by_name, f'{own}.certificate',
                        'matches target host') # libcurl 7: "host name", 8: "hostname"
        check_untrusted(directory / 'missing', url, directory / 'missing.pem', 'SSL_CERT_FILE')


def records_the_end(directory):
    """One run; whether its last row has what the engine said from just before the end on."""
    said = [EXPOSITION]
    with fixed_engine(exposition=lambda: said[0]) as url:
        with recording(directory, '-t', 500, '--engine', url):
            wait_for_row(directory, 'engines', is_up, 'the engine is up')
            said[0] = EXPOSITION.replace('140.0', '999.0')
    return float(table(directory, 'engines')[-1]['tokens_generation_total']) == 999


def last_counters(directory):
    """C122: an engine that outlives the run is asked once more at its end"""
    runs = (directory / str(i) for i in range(5)) # a busy machine may be too slow once
    assert any(map(records_the_end, runs)), 'no run has the last counters'


main(found, loading, slots, unreachable, self_load, detached, off, dead,
     variable('VLLM_METRICS_URL', True), variable('PITOT_ENGINE', False), option_wins, two_with_raw,
     histograms, hanging, trusted, untrusted, last_counters, jobs=2)
