#!/usr/bin/python3
"""Samples pushed to real servers and to a receiver that fails, held against the recorded run.

    tests/system/push.py PITOT EXPORT_WORKLOAD PUSH_DAY

Prints TAP. Servers that are not installed are left out."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

from points import (SCHEMA, at_times_of, compare, from_prometheus, is_same, otel_names,
                    outer_labels, recorded, recorded_for_otlp, rows_of)
from servers import free_port, get, wait_for

PITOT, WORKLOAD, PUSH_DAY = map(os.path.abspath, sys.argv[1:4])
HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {k: v for k, v in os.environ.items()
               if not k.startswith(('PITOT', 'XDG_', 'OTEL_', 'SLURM_'))}
TAKE = {'take': True}
FAILURES = [{'status': 500}, {'status': 503}, TAKE, {'cut': True}, {'take': True, 'cut': True},
            TAKE, {'status': 429, 'headers': {'Retry-After': '1'}}, {'status': 502}, TAKE]


# 59 things of two values each, of which one is renamed 144 times, and one that is there half of the
# time; the end of a series is a point too.
POINTS_OF_DAY = 86401 * 59 * 2 + 43201 * 2 + 144 * 2 + 432 * 2


class Skip(Exception):
    """The machine does not have what this needs."""


def post(url, value):
    request = urllib.request.Request(url, json.dumps(value).encode(), method='POST')
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def server(words, health, log):
    """A server that answers at `health`, until the end of the block."""
    if not shutil.which(words[0]):
        raise Skip(f'no {words[0]}')
    with open(log, 'w', encoding='utf-8') as output:
        process = subprocess.Popen(words, stdout=output, stderr=output)
    try:
        wait_for(words[0], lambda: get(health) or True)
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def prometheus(directory):
    port = free_port()
    (directory / 'prometheus.yml').write_text('global: {}\n')
    url = f'http://127.0.0.1:{port}'
    with server(['prometheus', f'--config.file={directory / "prometheus.yml"}',
                 f'--storage.tsdb.path={directory / "data"}', '--web.enable-remote-write-receiver',
                 '--enable-feature=native-histograms', f'--web.listen-address=127.0.0.1:{port}'],
                f'{url}/-/ready', directory / 'prometheus.log'):
        yield url


@contextlib.contextmanager
def victoria_metrics(directory):
    port = free_port()
    url = f'http://127.0.0.1:{port}'
    with server(['victoria-metrics', f'-storageDataPath={directory / "data"}',
                 f'-httpListenAddr=127.0.0.1:{port}'], f'{url}/health',
                directory / 'victoria.log'):
        yield url


@contextlib.contextmanager
def receiver(directory, port=None):
    port = port or free_port()
    url = f'http://127.0.0.1:{port}'
    with server(['node', str(HERE / 'push_receiver.mjs'), str(port)], f'{url}/seen',
                directory / 'receiver.log'):
        yield url


def pitot(directory, *words, environment=None, check=True):
    """Records; returns what it said."""
    run = subprocess.run(
        [PITOT, 'record', '-o', str(directory / 'run'), '--state-dir', str(directory / 'state'),
         '-f', 'csv', '--engine', 'off', *words],
        env=ENVIRONMENT | (environment or {}), text=True, capture_output=True, timeout=300)
    assert not check or run.returncode == 0, run.stderr
    return run.stderr


def from_victoria(url):
    query = urllib.parse.urlencode({'match[]': '{job="pitot"}'})
    floats = {}
    for line in get(f'{url}/api/v1/export?{query}').splitlines():
        series = json.loads(line)
        labels = dict(series['metric'])
        key = (labels.pop('__name__'), frozenset(labels.items()))
        points = floats.setdefault(key, {})
        points.update((t, v) for t, v in zip(series['timestamps'], series['values'])
                      if v is not None)
    return floats


def from_receiver(url):
    """Values of remote-write, without the marks of series that ended."""
    floats = {}
    for name, series in json.loads(get(f'{url}/points'))['remote-write'].items():
        labels = dict(json.loads(name))
        floats[labels.pop('__name__'), frozenset(labels.items())] = {
            int(t): v for t, v in series.items() if v != 'stale' and not isinstance(v, dict)}
    return floats


def seen(url):
    answer = json.loads(get(f'{url}/seen'))
    assert not answer['errors'], answer['errors']
    return answer


def workload_words():
    return ['--', 'timeout', '3', WORKLOAD, '--serve', str(free_port())]


def test_prometheus(directory):
    """a real Prometheus has every point that was recorded, and the native histograms"""
    with prometheus(directory) as url:
        pitot(directory, '-t', '100', '--remote-write', url, '--push-native', '--push-label',
              'cluster=a "b"', *workload_words(), check=False)
        floats, histograms = from_prometheus(url)
        points = compare(recorded(directory / 'run'), floats, outer_labels(cluster='a "b"'))
        when, last = histograms['request_duration_seconds'][-1]
        assert last['count'] == '1000' and is_same(float(last['sum']), 500.5), last
        query = urllib.parse.urlencode(
            {'query': 'histogram_quantile(0.5, request_duration_seconds)', 'time': when})
        answer = json.loads(get(f'{url}/api/v1/query?{query}'))['data']['result']
        assert 0.489 < float(answer[0]['value'][1]) < 0.511, answer
        ended = json.loads(get(f'{url}/api/v1/query?' + urllib.parse.urlencode(
            {'query': 'count({job="pitot"})'})))['data']['result']
        assert ended == [], ended
    return f'{points} points'


def test_victoria(directory):
    """VictoriaMetrics has every point that was recorded, and the classic buckets"""
    with victoria_metrics(directory) as url:
        pitot(directory, '-t', '100', '--remote-write', url, *workload_words(), check=False)
        wait_for('the data', lambda: from_victoria(url))
        expected = recorded(directory / 'run')
        points = wait_for('all points', lambda: compare_or_none(expected, url))
        buckets = {dict(labels)['le']: max(series.values())
                   for (name, labels), series in from_victoria(url).items()
                   if name == 'request_duration_seconds_bucket'}
        assert buckets['+Inf'] == 1000 and 500 <= buckets['0.5'] <= 512, buckets
    return f'{points} points'


def compare_or_none(expected, url):
    """VictoriaMetrics shows what it took after a second or two."""
    try:
        return compare(expected, from_victoria(url), outer_labels())
    except AssertionError:
        return None


def test_versions(directory):
    """a receiver of 2.0 gets 2.0, one that answers 415 gets the same as 1.0"""
    with receiver(directory) as url:
        pitot(directory, '-t', '100', '-d', '1', '--remote-write', url)
        points = compare(recorded(directory / 'run'), from_receiver(url), outer_labels())
        answer = seen(url)
        assert set(answer['versions']) == {'2.0.0'}, answer['versions']
        assert answer['metadata']['pitot_mem_used_bytes']['type'] == 2
        assert answer['metadata']['pitot_cpu_user_seconds_total']['type'] == 1
        assert answer['headers']['user-agent'].startswith('pitot/')
        help_text = answer['metadata']['pitot_mem_used_bytes']['help']

        shutil.rmtree(directory / 'run')
        post(f'{url}/mode', {'speaksV2': False})
        post(f'{url}/forget', {})
        pitot(directory, '-t', '100', '-d', '1', '--remote-write', url)
        points += compare(recorded(directory / 'run'), from_receiver(url), outer_labels())
        answer = seen(url)
        assert answer['versions']['0.1.0'] >= 2, answer['versions']
        assert answer['metadata']['pitot_mem_used_bytes'] == {
            'type': 2, 'help': help_text, 'unit': 'bytes'}, answer['metadata']
    return f'{points} points'


def run_and_send_rest(directory, url, *words):
    """Records, then once more for a moment, so that what waits is sent. What the first run has
    recorded and said, and what was pushed up to its end."""
    said = pitot(directory, *words, '--remote-write', url)
    expected = recorded(directory / 'run')
    end = max(max(series) for series in expected.values()) + 1
    shutil.rmtree(directory / 'run')
    pitot(directory, '-t', '50', '-d', '0.2', '--remote-write', url)
    got = {key: {t: v for t, v in series.items() if t <= end}
           for key, series in from_receiver(url).items()}
    assert not list((directory / 'state').rglob('*.queue'))
    return expected, got, said


def test_failing(directory):
    """a receiver that fails in every way loses nothing, and repeats are the same points"""
    with receiver(directory) as url:
        post(f'{url}/script', FAILURES)
        expected, got, said = run_and_send_rest(directory, url, '-t', '20', '-d', '16')
        points = compare(expected, got, outer_labels())
        answer = seen(url)
        assert answer['requests'] >= answer['taken'] + 5, answer['requests']
        assert answer['repeated'] > 0 and answer['conflicting'] == 0, answer
        assert 'works again' in said, said
    return f'{points} points, {answer["repeated"]} sent again'


def test_hanging(directory):
    """a receiver that never answers holds nothing up, and the next run sends what waits"""
    with receiver(directory) as url:
        post(f'{url}/script', [{'hang': True}])
        expected, got, said = run_and_send_rest(directory, url, '-t', '50', '-d', '2')
        assert 'the next run sends them' in said, said
        points = compare(expected, got, outer_labels())
    return f'{points} points'


def test_down(directory):
    """a receiver that is down during a run gets all of it in the next one, after SIGKILL too"""
    port = free_port()
    url = f'http://127.0.0.1:{port}'
    process = subprocess.Popen(
        [PITOT, 'record', '-q', '-o', str(directory / 'run'), '-t', '20', '--engine', 'off',
         '--state-dir', str(directory / 'state'), '--remote-write', url], env=ENVIRONMENT)
    queued = wait_for('a queue of several requests', lambda: [
        f for f in (directory / 'state').rglob('*.queue') if f.stat().st_size > 60000])
    size = queued[0].stat().st_size
    process.kill()
    process.wait()
    subprocess.run([PITOT, 'export', str(directory / 'run'), '-q', '-f', 'csv'], check=True)
    expected = recorded(directory / 'run')
    shutil.rmtree(directory / 'run')
    with receiver(directory, port):
        pitot(directory, '-t', '100', '-d', '0.5', '--remote-write', url)
        got = from_receiver(url)
        seen(url)
    points = lost = 0
    for key, series in expected.items():
        pushed = got[key[0], key[1] | outer_labels()]
        for when, value in at_times_of(series, pushed).items():
            points += when in pushed
            lost += when not in pushed
            assert when not in pushed or is_same(pushed[when], value), key
    # What was not in a request yet, of at most five seconds, is all that may be missing.
    newest = max(max(series) for series in expected.values())
    for key, series in expected.items():
        pushed = got[key[0], key[1] | outer_labels()]
        assert all(t in pushed for t in at_times_of(series, pushed) if t < newest - 5500), key
    return f'{points} points of {size} bytes on disk; {lost} were not queued yet'


def test_refused(directory):
    """what a receiver refuses for good is dropped and counted, the rest is not held up"""
    with receiver(directory) as url:
        post(f'{url}/script', [{'take': True}, {'status': 400}])
        said = pitot(directory, '-t', '20', '-d', '12', '--remote-write', url)
        assert 'refused' in said and 'as scripted' in said, said
        answer = seen(url)
        table = next(t for t in SCHEMA if t['name'] == 'push')
        last = list(rows_of(directory / 'run', table))[-1]
        assert int(last['pushRejected']) == answer['refused_points'] > 0, (last, answer)
        expected, got = recorded(directory / 'run'), from_receiver(url)
        missing = 0
        for (name, labels), series in expected.items():
            pushed = got[name, labels | outer_labels()]
            missing += len(at_times_of(series, pushed).keys() - pushed.keys())
        assert 0 < missing <= answer['refused_points'], (missing, answer['refused_points'])
    return f'{answer["refused_points"]} points refused'


def from_otlp(url):
    floats = {}
    for name, series in json.loads(get(f'{url}/points'))['otlp'].items():
        metric, attributes = json.loads(name)
        key = metric, frozenset((k, str(v)) for k, v in attributes)
        floats[key] = {int(t) // 1000000: v for t, v in series.items() if v != 'stale'}
    return floats


def test_otlp(directory):
    """a receiver of OTLP has every point under the names that the documentation lists"""
    environment = {'OTEL_SERVICE_NAME': 'tried', 'OTEL_EXPORTER_OTLP_HEADERS': 'x-key=a%20b',
                   'OTEL_RESOURCE_ATTRIBUTES': 'deployment.environment.name=test',
                   'SLURM_PROCID': '7'}
    with receiver(directory) as url:
        post(f'{url}/script', [{'status': 503}, {'cut': True}, {'status': 429}])
        pitot(directory, '-t', '100', *workload_words(), check=False,
              environment=environment | {'OTEL_EXPORTER_OTLP_ENDPOINT': url})
        got, answer = from_otlp(url), seen(url)
        raw = json.loads(get(f'{url}/points'))['otlp']
    points = compare(recorded_for_otlp(directory / 'run'), got, frozenset())
    assert answer['schema_url'].endswith('/1.44.0') and answer['scope']['name'] == 'pitot'
    assert answer['resource']['service.name'] == 'tried', answer['resource']
    assert answer['resource']['host.name'] == socket.gethostname()
    assert answer['resource']['deployment.environment.name'] == 'test'
    assert answer['resource']['rank'] == '7'
    assert answer['headers']['x-key'] == 'a b', answer['headers']
    assert answer['headers']['content-encoding'] == 'gzip'
    kinds = answer['kinds']
    assert kinds['system.cpu.time']['kind'] == 'sum monotonic cumulative', kinds['system.cpu.time']
    assert kinds['system.memory.usage'] | {'help': ''} == {
        'kind': 'sum cumulative', 'unit': 'By', 'help': ''}
    assert kinds['pitot.cpu.load']['kind'] == 'gauge'
    [histogram] = [s for n, s in raw.items() if json.loads(n)[0] == 'request_duration_seconds']
    last = [v for v in histogram.values() if v != 'stale'][-1]
    assert last['count'] == 1000 and last['scale'] == 5 and is_same(last['sum'], 500.5), last
    assert sum(last['buckets'].values()) + last['zero'] == 1000
    middle = 0
    for index, count in sorted((int(i), c) for i, c in last['buckets'].items()):
        middle += count
        if middle >= 500:
            assert 2 ** (index / 32) <= 0.5 <= 2 ** ((index + 1) / 32) * 1.0001, index
            break
    return f'{points} points of {len(got)} series'


def test_engine(directory):
    """latencies of an engine are histograms of OTLP; processes have the names they have there"""
    with receiver(directory) as url:
        subprocess.run(
            [PITOT, 'record', '-q', '-o', str(directory / 'run'), '-t', '250', '-f', 'csv', '-p',
             '--push-processes', '--state-dir', str(directory / 'state'), '--otlp', url, '--',
             PITOT, 'demo', '--serve', '--self-load', '--seconds', '5'],
            env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, timeout=120)
        raw, answer = json.loads(get(f'{url}/points'))['otlp'], seen(url)
    table = next(t for t in SCHEMA if t['name'] == 'engines')
    last = [row for row in rows_of(directory / 'run', table) if row['latency_ttft_s_count']][-1]
    [series] = [s for n, s in raw.items()
                if json.loads(n)[0] == 'gen_ai.server.time_to_first_token']
    value = [v for v in series.values() if v != 'stale'][-1]
    assert value['count'] == float(last['latency_ttft_s_count']) > 0, (value, last)
    assert is_same(value['sum'], float(last['latency_ttft_s_sum'])), (value, last)
    kinds = answer['kinds']
    assert kinds['gen_ai.server.time_to_first_token']['kind'] == 'histogram cumulative', kinds
    assert kinds['process.memory.usage']['unit'] == 'By', kinds
    pids = {dict(json.loads(n)[1])['process.pid'] for n in raw
            if json.loads(n)[0] == 'process.memory.usage'}
    assert len(pids) > 5 and all(isinstance(pid, int) for pid in pids), pids
    return f'{value["count"]} requests, {len(pids)} processes'


def test_partial(directory):
    """points that a receiver of OTLP accepted only in part are reported and counted"""
    with receiver(directory) as url:
        post(f'{url}/script', [{'take': True, 'rejected': 7}])
        said = pitot(directory, '-t', '20', '-d', '6', '--otlp', url)
        table = next(t for t in SCHEMA if t['name'] == 'push')
        assert list(rows_of(directory / 'run', table))[-1]['pushRejected'] == '7'
        assert 'except for 7 points: too many' in said, said
        post(f'{url}/script', [{'status': 500}])  # by its rules this status is not retried
        shutil.rmtree(directory / 'run')
        said = pitot(directory, '-t', '100', '-d', '0.5', '--otlp', url)
        assert 'HTTP status 500' in said, said


def test_names(directory):
    """every name is one of the semantic conventions, as their package lists them"""
    names, keys = otel_names()
    script = directory / 'names.mjs'
    script.write_text('import * as m from "@opentelemetry/semantic-conventions/incubating";\n'
                      'console.log(JSON.stringify(Object.entries(m)'
                      '.filter(([k, v]) => typeof v === "string")));\n')
    link = HERE / 'node_modules'
    (directory / 'node_modules').symlink_to(link)
    listed = json.loads(subprocess.run(['node', str(script)], check=True, text=True,
                                       capture_output=True).stdout)
    metrics = {v for k, v in listed if k.startswith('METRIC_')}
    attributes = {v for k, v in listed if k.startswith('ATTR_')}
    unknown = {name for name, *_ in names.values()} - metrics
    assert not unknown, unknown
    unknown = ({a for *_, given in names.values() for a in given} | set(keys.values())) - attributes
    assert not unknown, unknown
    return f'{len(names)} columns'


def test_token(directory):
    """the token of a file is sent, and one that changes is sent as it is then"""
    token = directory / 'token'
    token.write_text('first\n')
    token.chmod(0o600)
    with receiver(directory) as url:
        process = subprocess.Popen(
            [PITOT, 'record', '-q', '-o', str(directory / 'run'), '-t', '20', '--engine', 'off',
             '--state-dir', str(directory / 'state'), '--push-token-file', str(token),
             '--remote-write', url], env=ENVIRONMENT)
        try:
            wait_for('a request', lambda: seen(url)['taken'] > 0)
            assert seen(url)['headers']['authorization'] == 'Bearer first'
            token.write_text('second\n')
            wait_for('the new token',
                     lambda: seen(url)['headers']['authorization'] == 'Bearer second')
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def test_serve(directory):
    """pitot serve sends its samples too, and the end of all series when it stops"""
    with receiver(directory) as url:
        process = subprocess.Popen(
            [PITOT, 'serve', '-q', '--listen', '127.0.0.1:0', '-t', '100', '--engine', 'off',
             '--state-dir', str(directory / 'state'), '--remote-write', url],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        try:
            wait_for('two requests', lambda: seen(url)['taken'] >= 2)
        finally:
            process.terminate()
            code = process.wait(60)
        assert code == 0, code
        raw = json.loads(get(f'{url}/points'))['remote-write']
        seen(url)
    ends = [series[max(series, key=int)] for series in raw.values()]
    assert len(ends) > 100 and set(ends) == {'stale'}, [e for e in ends if e != 'stale']
    assert not list((directory / 'state').rglob('*.queue'))
    return f'{sum(map(len, raw.values()))} points of {len(raw)} series'


def test_day(directory):
    """a day of samples goes through with no growth of memory or disk"""
    with receiver(directory) as url:
        post(f'{url}/mode', {'keepsNewest': True})
        day = subprocess.run([PUSH_DAY, f'{url}/api/v1/write', str(directory / 'state'), '86401'],
                             env=ENVIRONMENT | {'PITOT_MODULES': str(
                                 pathlib.Path(PITOT).parent / 'modules')},
                             text=True, capture_output=True, timeout=1200)
        assert day.returncode == 0, day.stdout + day.stderr
        answer = seen(url)
        assert answer['repeated'] == 0 and answer['points'] == POINTS_OF_DAY, answer['points']
    result = json.loads(day.stdout)
    assert result['accepted_points'] == POINTS_OF_DAY, result
    assert result['dropped_points'] == 0, result
    assert result['last_rss'] <= result['early_rss'] * 1.1, result
    assert result['most_disk'] < 16 << 20 and result['last_disk'] == 0, result
    return day.stdout.strip()


TESTS = [test_prometheus, test_victoria, test_versions, test_failing, test_hanging, test_down,
         test_refused, test_otlp, test_engine, test_partial, test_names, test_token,
         test_serve, test_day]


def main():
    chosen = [t for t in TESTS if len(sys.argv) < 5 or t.__name__ in sys.argv[4:]]
    if not (HERE / 'node_modules/snappyjs').exists() and subprocess.run(
            ['npm', 'install', '--no-save', '--silent'], cwd=HERE, stdout=sys.stderr).returncode:
        print('1..0 # SKIP the packages of tests/system/package.json cannot be fetched')
        return 77
    print(f'1..{len(chosen)}')
    failed = False
    for number, test in enumerate(chosen, 1):
        with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
            try:
                figures = test(pathlib.Path(place))
                print(f'ok {number} - {test.__doc__}', flush=True)
                if figures:
                    print(f'# {figures}', flush=True)
            except Skip as why:
                print(f'ok {number} - {test.__doc__} # SKIP {why}', flush=True)
            except Exception:
                failed = True
                print(f'not ok {number} - {test.__doc__}', flush=True)
                print(''.join('# ' + line for line in traceback.format_exc().splitlines(True)),
                      flush=True)
    return failed


sys.exit(main())
