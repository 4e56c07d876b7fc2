#!/usr/bin/python3
"""`pitot serve` from outside: what it answers, to whom, and what does not harm it.

    tests/e2e/serve.py PITOT WORKLOAD"""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import queue
import signal
import socket
import ssl
import subprocess
import threading

from harness import ENVIRONMENT, Skip, contains, end, equal, kill, main, run, start, wait_until
from serve_attacks import (HOST, MALFORMED, WELL_FORMED, accept, get, is_closed, partial, post,
                           refuse, strict_count, unread)
from serve_client import COMMON, Server, server

TOKEN = 'correct-horse-battery-staple'
BEARER = {'Authorization': 'Bearer ' + TOKEN}


def token_file(directory, text=TOKEN + '\n', mode=0o600):
    path = pathlib.Path(directory) / 'token'
    path.write_text(text)
    path.chmod(mode)
    return path


def metrics_come_in_the_format_that_is_asked_for(directory):
    """C257: /metrics comes as text, OpenMetrics or protobuf, without single processes"""
    with server(directory, '-p') as s:
        s.wait_for_samples()
        _, headers, text = s.ask('/metrics')
        equal(headers['Content-Type'], 'text/plain; version=0.0.4; charset=utf-8')
        contains(text, 'pitot_build_info{version="')
        contains(text, '\npitot_cpu_time_seconds_total ')
        contains(text, 'pitot_collector_cpu_seconds_total')
        assert 'pid="' not in text
        _, headers, text = s.ask('/metrics', headers={'Accept': 'application/openmetrics-text'})
        contains(headers['Content-Type'], 'application/openmetrics-text')
        assert text.endswith('# EOF\n')
        connection = s.connect()
        connection.request('GET', '/metrics', headers={
            'Accept': 'application/vnd.google.protobuf;'
                      'proto=io.prometheus.client.MetricFamily;encoding=delimited;q=1,*/*;q=0.1'})
        answer = connection.getresponse()
        contains(answer.getheader('Content-Type'), 'application/vnd.google.protobuf')
        contains(answer.read(), b'pitot_http_request_duration_seconds')
        connection.close()


def programs_with_libpitot_are_shown(directory):
    """C257: metrics of programs with libpitot are in /metrics, with their histograms"""
    region = directory / 'region'
    region.mkdir()
    environment = ENVIRONMENT | {'PITOT_REGION': str(region)}
    with server(directory, env=environment) as s:
        demo = start('demo', '--seconds', '60', '--threads', '1', env=environment)
        try:
            wait_until(lambda: '\nstep_duration_count ' in s.ask('/metrics')[2], 'its metrics')
            contains(s.ask('/metrics')[2], 'generation_tokens_total ')
        finally:
            demo.kill()
            demo.communicate()


def a_sample_is_rendered_once(directory):
    """all who ask between two samples get the same metrics"""
    with server(directory, '-t', '1h') as s:
        s.wait_for_samples()
        first = s.ask('/metrics')[2]
        s.ask('/nothing')
        equal(s.ask('/metrics')[2], first)


def schema_is_that_of_the_command(directory):
    """/api/schema is what pitot schema --json prints, without the tables of pitot gpu"""
    schema = json.loads(run('schema', '--json')[1])
    later = ('gpu_kernel', 'gpu_copy', 'gpu_call', 'gpu_range', 'gpu_gap')
    schema['tables'] = [table for table in schema['tables'] if table['name'] not in later]
    with server(directory) as s:
        equal(s.json('/api/schema'), schema)
        equal(s.json('/api/runs'), {'count': 0, 'runs': [],
                                    'note': 'no directory of runs (start the server with --runs)'})


def pages_have_a_policy(directory):
    """the page speaks to its own server only, and its parts are there"""
    with server(directory) as s:
        for path, kind in (('/', 'text/html'), ('/dashboard.js', 'text/javascript'),
                           ('/dashboard.css', 'text/css')):
            status, headers, body = s.ask(path)
            equal(status, 200, path)
            contains(headers['Content-Type'], kind)
            contains(headers['Content-Security-Policy'], "default-src 'none'")
            assert body
        for path in ('/', '/metrics', '/health', '/api/schema', '/api/alerts', '/nothing'):
            _, headers, _ = s.ask(path)
            equal(headers['X-Content-Type-Options'], 'nosniff', path)
            equal(headers['Referrer-Policy'], 'no-referrer', path)
            equal(headers['Cross-Origin-Resource-Policy'], 'same-origin', path)
            contains(headers['Content-Security-Policy'], "default-src 'none'")
            contains(headers['Content-Security-Policy'], "frame-ancestors 'none'")
            equal(headers['Cache-Control'], 'no-cache' if path == '/' else 'no-store', path)
        assert 'Access-Control-Allow-Origin' not in s.ask('/metrics')[1]


def health_has_its_fields(directory):
    """C259 C260 C261 C262 C263 C264 C265: health has its six fields; live and ready answer too"""
    with server(directory) as s:
        s.wait_for_samples()
        health = s.json('/health')
        equal(list(health), ['status', 'latency_p50', 'latency_p95', 'memory_usage_mb',
                             'gpu_utilization', 'error_rate'])
        equal(health['status'], 'healthy')
        assert health['memory_usage_mb'] > 1
        for path in ('/health/live', '/-/healthy', '/-/ready'):
            equal(s.ask(path)[0], 200, path)


def a_probe_decides_on_health(directory):
    """C266 C267: a test generation is sent to the engine; when it fails the status is 503"""
    engine = start('demo', '--serve', '--threads', '1')
    url = engine.stdout.readline().strip()
    try:
        with server(directory, '--probe', url, '--probe-interval', '1s') as s:
            def probed():
                status, _, body = s.ask('/health')
                health = json.loads(body)
                return status == 200 and health.get('probe_seconds') and health
            health = wait_until(probed, 'a probe')
            assert 0 < health['latency_p50'] <= health['latency_p95'], health
            equal(health['error_rate'], 0)
            engine.kill()
            engine.communicate()

            def failed():
                status, _, body = s.ask('/health')
                return status == 503 and json.loads(body)
            health = wait_until(failed, 'a failed probe')
            equal(health['status'], 'unhealthy')
            contains(health['reason'], 'the test generation failed')
            assert health['error_rate'] > 0
            equal(s.ask('/health/live')[0], 200)
    finally:
        kill(engine.pid)


def history_survives_restart_and_kill(directory):
    """history goes on after a restart, and after kill -9"""
    def samples(s):
        answer = s.json('/api/history?table=mem&columns=vMemoryUsed&from=-1h&step=1')
        things = answer['things']
        mean = things[0]['columns']['vMemoryUsed']['mean'] if things else []
        return sum(value is not None for value in mean)
    s = Server(directory)
    wait_until(lambda: samples(s) >= 2, 'history')
    oldest = min(s.state.glob('history-*.pitot'))
    equal((oldest.stat().st_mode & 0o777, s.state.stat().st_mode & 0o777), (0o600, 0o700))
    equal(s.stop()[0], 0)
    s = Server(directory)
    wait_until(lambda: samples(s) >= 3, 'history again')
    s.stop(signal.SIGKILL)
    s = Server(directory)
    wait_until(lambda: samples(s) >= 3, 'history after a kill')
    equal(len(list(s.state.glob('history-*.pitot'))), 3)
    equal(min(s.state.glob('history-*.pitot')), oldest)
    equal(s.stop()[0], 0)
    code, _, err = run('export', oldest, '-f', 'csv', '-o', directory / 'csv')
    equal(code, 0, err)


def history_says_what_is_wrong(directory):
    """a wrong question about history is answered with 400 and words"""
    with server(directory) as s:
        for query, words in (('', 'table or figure: exactly one is required'),
                             ('?table=cpu&figure=cpu.busy', 'exactly one is required'),
                             ('?figure=cpu.busy,x', "figure: 'x' is not a figure"),
                             ('?figure=', 'is not a figure'), ('?table=x', 'unknown table'),
                             ('?table=cpu&from=x', 'from:'), ('?table=cpu&columns=x', 'columns:'),
                             ('?table=cpu&limit=99999', 'limit:'), ('?table=cpu&step=0', 'step:'),
                             ('?table=..%2f..%2fetc%2fpasswd', 'unknown table')):
            status, _, body = s.ask('/api/history' + query)
            equal(status, 400, query)
            contains(json.loads(body)['error'], words)
    with server(directory, '--history', '0') as s:
        equal(s.ask('/api/history?table=cpu')[0], 404)


def one_history_has_one_writer(directory):
    """a second server with the same state directory says so and ends"""
    with server(directory) as s:
        code, _, err = run('serve', '--listen', '0', '--state-dir', s.state)
        equal(code, 1)
        contains(err, 'another program is writing the history')


def events(answer):
    """Server-sent events as (name, data)."""
    name = None
    for line in answer:
        line = line.decode().rstrip('\n')
        if line.startswith('event: '):
            name = line[7:]
        elif line.startswith('data: '):
            yield name, json.loads(line[6:])


def a_stream_begins_whole_and_goes_on_with_changes(directory):
    """a stream begins with all rows and goes on with what changed"""
    with server(directory) as s:
        schema = {table['name']: table for table in s.json('/api/schema')['tables']}
        connection = s.connect()
        connection.request('GET', '/api/stream')
        answer = connection.getresponse()
        equal(answer.getheader('Content-Type'), 'text/event-stream')
        seen = events(answer)
        name, first = next(seen)
        equal((name, first['is_whole']), ('sample', True))
        drawn = [c for c in schema['cpu']['columns'] if 'base_unit' in c]
        equal(len(first['tables']['cpu']['rows'][0][3]), len(drawn))
        time = first['time']
        for _ in range(5):
            name, sample = next(seen)
            equal((name, sample['is_whole']), ('sample', False))
            assert sample['time'] > time
            time = sample['time']
            for table in sample['tables'].values():
                for number, *pairs in table['changes']:
                    assert len(pairs) % 2 == 0 and isinstance(number, int)
        connection.close()
        wait_until(lambda: 'pitot_stream_readers 0' in s.ask('/metrics')[2], 'the reader is gone')


def figures_of_stream_and_history_are_the_same(directory):
    """C315: the stream and the history have the same figures for the same sample"""
    with server(directory) as s:
        catalogue = s.json('/api/schema')['figures']
        names = [one['name'] for one in catalogue if one['importance'] == 'headline']
        connection = s.connect()
        connection.request('GET', '/api/stream')
        seen, figures = events(connection.getresponse()), {}
        values = {}
        for _, (_, sample) in zip(range(8), seen):
            figures |= sample['figures']
            values[sample['time']] = dict(figures)
        connection.close()
        answer = s.json(f'/api/history?figure={",".join(names)}&from={min(values)}'
                        f'&to={max(values) + 1}&step=1')
        compared = set()
        for time, live in values.items():
            for name in names:
                step = (time - answer['from']) // answer['step']
                mean = answer['figures'][name]['mean'][step]
                if mean is None or live[name] is None:  # not read again, or not known
                    continue
                # a journal has times in microseconds, and samples are 100 ms apart
                assert abs(mean - live[name]) <= 5e-5 * abs(live[name]), (name, mean, live[name])
                compared.add(name)
        assert compared >= {'cpu.busy', 'mem.used', 'disk.read', 'net.sent', 'cpu.load'}, compared


def raw(port, request, most=65536):
    with socket.create_connection(('127.0.0.1', port), timeout=20) as s:
        with contextlib.suppress(OSError):
            s.sendall(request)
        answer = b''
        with contextlib.suppress(OSError):
            while len(answer) < most and (piece := s.recv(4096)):
                answer += piece
                if b'\r\n\r\n' in answer:
                    break
        return answer


def bad_requests_are_refused(directory):
    """malformed, ambiguous, oversized and foreign requests are refused; nothing after is read"""
    with server(directory) as s:
        s.wait_for_samples()
        for name, request, status in MALFORMED:
            # a route's own refusal leaves the connection open
            closing = request.replace(HOST, HOST + b'Connection: close\r\n', 1)
            refuse(s.port, name, closing if b'GET /api' in request else request, status)
        for request in WELL_FORMED:
            equal(strict_count(request), 1)
            for cut in (0, 1, 20, len(request) // 2, len(request) - 1, len(request) + 30):
                accept(s.port, request, cut)


def demo_has_the_same_rules(directory):
    """the demo server refuses the same requests"""
    engine = start('demo', '--serve', '--threads', '1')
    try:
        port = int(engine.stdout.readline().strip().rpartition(':')[2])
        for name, request, status in MALFORMED:
            if b'/api/' not in request and b'/metrics' not in request and status != 404:
                request = request.replace(b'/health/live', b'/health')
                refuse(port, name, request, None if status == 405 else status)
    finally:
        kill(engine.pid)
        end(engine)


def closed_are_the_oldest(connections, closed, kept):
    """The oldest connections are closed, and the newest are not."""
    wait_until(lambda: all(map(is_closed, connections[:closed])), 'the oldest are closed')
    assert not any(map(is_closed, connections[-kept:])), 'new ones are closed, too'


def slow_clients_keep_nobody_waiting(directory):
    """who does not send the rest of a request, or read its answer, gives way to new clients"""
    slow_body = post(b'Content-Length: 4000\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in
                                                          BEARER.items()).encode())
    kinds = (lambda port: partial(port, b''), lambda port: partial(port, get()[:-7]),
             lambda port: partial(port, slow_body), lambda port: unread(port, b'/dashboard.js', 40))
    with server(directory, '--token-file', token_file(directory)) as s:
        for connect in kinds:
            crowd = []
            try:
                for i in range(400):
                    crowd.append(connect(s.port))
                    if i % 50 == 49:
                        equal(s.ask('/health/live')[0], 200)
                closed_are_the_oldest(crowd, 200, 150)
            finally:
                for c in crowd:
                    c.close()


def old_streams_make_room(directory):
    """of 200 streams the newest 32 stay, in their order"""
    with server(directory, '-t', '1h') as s:
        streams = [unread(s.port, b'/api/stream') for _ in range(200)]
        try:
            closed_are_the_oldest(streams, 168, 32)
        finally:
            for c in streams:
                c.close()


def other_addresses_need_a_token(directory):
    """an address that others reach needs a token, TLS or not, and the token opens it"""
    code, _, err = run('serve', '--listen', '0.0.0.0:0', '--state-dir', directory / 's', *COMMON)
    equal(code, 1)
    contains(err, 'is reachable from other machines: this requires --token-file')
    certificate, key = make_certificate(directory)
    code, _, err = run('serve', '--listen', '0.0.0.0:0', '--state-dir', directory / 's', *COMMON,
                       '--tls-cert', certificate, '--tls-key', key)
    equal(code, 1)
    contains(err, 'requires --token-file')
    with server(directory, '--token-file', token_file(directory), listen='0.0.0.0:0') as s:
        for path in ('/metrics', '/health', '/api/schema', '/api/history?table=cpu', '/api/stream',
                     '/api/alerts', '/api/runs', '/api/report', '/api/recording', '/api/profile',
                     '/api/profile/latest'):
            status, headers, _ = s.ask(path)
            equal((status, headers.get('WWW-Authenticate')), (401, 'Bearer'), path)
        for wrong in ('Bearer', 'Bearer ', 'Bearer x', 'Basic ' + TOKEN, TOKEN,
                      'Bearer ' + TOKEN[:-1], 'Bearer ' + TOKEN + 'x', 'Bearer ' + 'x' * 5000):
            equal(s.ask('/api/schema', headers={'Authorization': wrong})[0], 401, wrong[:40])
        for path in ('/', '/health/live'):
            equal(s.ask(path)[0], 200, path)
        equal(s.ask('/api/schema', headers=BEARER)[0], 200)
        equal(s.ask('/api/schema', headers=BEARER | {'Host': 'node7.example'})[0], 200)


def a_token_file_is_its_owners(directory):
    """a token file that others can read, or that holds no token, is refused"""
    for text, mode, words in ((TOKEN, 0o644, 'other users can read'),
                              ('short\n', 0o600, 'does not hold a token')):
        code, _, err = run('serve', '--listen', '0', '--state-dir', directory / 's', *COMMON,
                           '--token-file', token_file(directory, text, mode))
        equal(code, 1)
        contains(err, words)


def make_certificate(directory):
    """Of localhost, signed by itself."""
    certificate, key = directory / 'cert.pem', directory / 'key.pem'
    try:
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                        '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1',
                        '-keyout', key, '-out', certificate], check=True, capture_output=True)
    except FileNotFoundError as missing:
        raise Skip('no openssl') from missing
    key.chmod(0o600)
    return certificate, key


def tls_is_spoken(directory):
    """with a certificate TLS 1.2 and 1.3 are spoken, and nothing else"""
    certificate, key = make_certificate(directory)
    with server(directory, '--tls-cert', certificate, '--tls-key', key) as s:
        assert s.url.startswith('https://127.0.0.1:'), s.url
        trust = ssl.create_default_context(cafile=certificate)
        wait_until(lambda: tls_get(s.port, trust, '/health/ready')[0] == 200, 'a sample')
        status, version, body = tls_get(s.port, trust, '/metrics')
        equal((status, version), (200, 'TLSv1.3'))
        contains(body, 'pitot_build_info')
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        equal(tls_get(s.port, trust, '/health/live')[1], 'TLSv1.2')
        assert b'200' not in raw(s.port, b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
        with socket.create_connection(('127.0.0.1', s.port), timeout=20) as plain:
            with ssl.create_default_context(cafile=certificate).wrap_socket(
                    plain, server_hostname='localhost') as c:
                c.sendall(b'GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
                got = b''
                while got.count(b'event: sample') < 3:
                    got += c.recv(65536)
    key.write_text('no key')
    code, _, err = run('serve', '--listen', '0', '--state-dir', directory / 's', *COMMON,
                       '--tls-cert', certificate, '--tls-key', key)
    equal(code, 1)
    contains(err, 'cannot start')


def tls_get(port, trust, path):
    connection = http.client.HTTPSConnection('localhost', port, context=trust, timeout=20)
    connection.connect()
    version = connection.sock.version()
    connection.request('GET', path)
    answer = connection.getresponse()
    result = answer.status, version, answer.read().decode()
    connection.close()
    return result


def a_unix_socket_is_served(directory):
    """a UNIX socket is served, for its owner only, and is gone at the end"""
    path = directory / 'serve.sock'
    with server(directory, listen=f'unix:{path}') as s:
        equal(s.url, f'unix:{path}')
        equal(path.stat().st_mode & 0o777, 0o600)
        with socket.socket(socket.AF_UNIX) as c:
            c.connect(str(path))
            c.sendall(b'GET /health/live HTTP/1.1\r\nHost: whoever\r\nConnection: close\r\n\r\n')
            contains(c.recv(4096), b'200 OK')
    assert not path.exists()


def activated(directory, address, *options):
    """Starts as systemd does: the socket is descriptor 3."""
    listening = socket.socket()
    listening.bind(address)
    listening.listen()

    def hand_over():
        os.dup2(listening.fileno(), 3)
        os.set_inheritable(3, True) # it may have been 3 before
    wrapper = ('sh', '-c', 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh')
    try:
        return Server(directory, *options, listen=None, wrapper=wrapper, close_fds=False,
                      preexec_fn=hand_over), listening
    except BaseException:
        listening.close()
        raise


def a_socket_of_systemd_is_used(directory):
    """a socket that is handed over is used, under the same rules"""
    s, listening = activated(directory, ('127.0.0.1', 0))
    equal(s.port, listening.getsockname()[1])
    equal(s.ask('/health/live')[0], 200)
    equal(s.ask('/metrics', headers={'Host': 'evil.example'})[0], 403)
    equal(s.stop()[0], 0)
    listening.close()
    try:
        activated(directory, ('0.0.0.0', 0))
        raise AssertionError('it listens')
    except AssertionError as error:
        contains(str(error), 'requires --token-file')


class Hook(http.server.BaseHTTPRequestHandler):
    """A receiver of alerts that fails the first time."""

    def do_POST(self):
        self.server.attempts += 1
        body = self.rfile.read(int(self.headers['Content-Length']))
        is_taken = self.server.attempts > 1
        self.send_response(200 if is_taken else 503)
        self.end_headers()
        if is_taken:
            self.server.taken.put(json.loads(body))

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def receiver():
    hook = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hook)
    hook.attempts, hook.taken = 0, queue.Queue()
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    try:
        yield hook, f'http://127.0.0.1:{hook.server_port}/alerts'
    finally:
        hook.shutdown()
        hook.server_close()


RULE = '[much-memory]\nmetric = mem.vMemoryUsed\nabove = %s\n'


def alerts_are_shown_exported_and_delivered(directory):
    """an alert is in the API, the metrics and the stream, at the command and, after a retry, at the
    webhook"""
    rules = directory / 'rules'
    rules.write_text(RULE % '1e18')
    told = directory / 'told'
    with receiver() as (hook, url), \
            server(directory, '--alerts', rules, '--alert-webhook', url,
                   '--allow-private-webhook', '--alert-command',
                   f'echo "$PITOT_ALERT_RULE $PITOT_ALERT_STATE" >>{told}') as s:
        s.wait_for_samples()
        contains(s.ask('/metrics')[2], 'pitot_alert{rule="much-memory",entity=""} 0')
        connection = s.connect()
        connection.request('GET', '/api/stream')
        seen = events(connection.getresponse())
        next(seen)
        rules.write_text(RULE % '1')
        s.process.send_signal(signal.SIGHUP)
        name, alert = next(event for event in seen if event[0] == 'alert')
        equal((alert['rule'], alert['state'], alert['metric']),
              ('much-memory', 'on', 'mem.vMemoryUsed'))
        connection.close()
        posted = hook.taken.get(timeout=60)
        equal(posted, alert)
        equal(hook.attempts, 2)
        wait_until(lambda: told.exists() and told.read_text() == 'much-memory on\n', 'the command')
        answer = s.json('/api/alerts')
        equal(answer['rules'][0]['above'], 1)
        state, = answer['states']
        assert state['is_on'] and state['since'] <= alert['time'] + 1000, state
        equal(answer['changes'][0], alert)
        wait_until(lambda: 'pitot_alert{rule="much-memory",entity=""} 1' in s.ask('/metrics')[2],
                   'the metric')
        rules.write_text('nonsense')
        s.process.send_signal(signal.SIGHUP)
        wait_until(lambda: s.json('/api/alerts')['rules'], 'the old rules')
        _, _, err = s.stop()
        contains(err, 'SIGHUP: read the alert rules; options and certificates need a restart')
        contains(err, 'keeping the old rules\npitot: warning: SIGHUP: read nothing;')


def private_webhooks_must_be_allowed(directory):
    """a webhook of this machine is not called unless that is allowed"""
    rules = directory / 'rules'
    rules.write_text(RULE % '1')
    told = directory / 'told'
    with receiver() as (hook, url), open(told, 'w', encoding='utf-8') as log, \
            server(directory, '--alerts', rules, '--alert-webhook', url, stderr=log):
        wait_until(lambda: 'the address is private (to allow it: --allow-private-webhook)'
                   in told.read_text(encoding='utf-8'), 'the refusal')
        equal(hook.attempts, 0)


def sighup_reads_the_token_again(directory):
    """SIGHUP rereads the token"""
    path = token_file(directory)
    with server(directory, '--token-file', path, listen='0.0.0.0:0') as s:
        equal(s.ask('/api/schema', headers=BEARER)[0], 200)
        path.write_text('another-token-of-length\n')
        s.process.send_signal(signal.SIGHUP)
        wait_until(lambda: s.ask('/api/schema', headers=BEARER)[0] == 401, 'the new token')
        equal(s.ask('/api/schema', headers={
            'Authorization': 'Bearer another-token-of-length'})[0], 200)
        path.write_text('short')
        s.process.send_signal(signal.SIGHUP)
        _, _, err = s.stop()
        contains(err, 'SIGHUP: read the token;')
        contains(err, 'keeping the old token\npitot: warning: SIGHUP: read nothing;')


def wrong_tokens_are_limited(directory):
    """after ten wrong tokens an address is refused for a minute, with the right one, too"""
    wrong = {'Authorization': 'Bearer ' + TOKEN[:-1] + 'x'}
    with server(directory, '--token-file', token_file(directory), listen='0.0.0.0:0') as s:
        for _ in range(10):
            equal(s.ask('/api/schema', headers=wrong)[0], 401)
            equal(s.ask('/api/schema')[0], 401)
        status, headers, _ = s.ask('/api/schema', headers=BEARER)
        equal((status, headers['Retry-After']), (429, '60'))
        equal(s.ask('/health/live', headers=BEARER)[0], 200)
        _, _, err = s.stop()
        equal(err.count('10 wrong tokens from 127.0.0.1; refusing its requests'), 1)
        assert TOKEN[:-1] not in err, err


def actions_leave_a_line(directory):
    """each request that would start or stop something is logged: what, from where, the result"""
    gone = subprocess.Popen(['true'])
    gone.wait()
    with server(directory, '--quiet', '--token-file', token_file(directory), '--runs',
                directory / 'runs') as s:
        equal(s.ask('/api/recording/stop', 'POST')[0], 401)
        equal(s.ask('/api/recording/stop?token=hunter2', 'POST', BEARER)[0], 409)
        for path in (f'/api/profile/start?pid={gone.pid}', f'/api/recording/start?pid={gone.pid}'):
            status, _, body = s.ask(path, 'POST', BEARER)
            equal((status, json.loads(body)), (404, {'error': 'pid: no such process'}))
        equal(s.ask('/api/profile/start?pid=x', 'POST', BEARER)[0], 400)
        equal(s.ask('/api/profile')[0], 200)
        equal(s.ask('/api/recording/stop', 'POST', BEARER | {'Origin': 'http://evil.example'})[0],
              403)
        _, _, err = s.stop()
        lines = [line for line in err.splitlines() if 'audit' in line]
        equal(lines, [
            'pitot: audit: POST /api/recording/stop from 127.0.0.1: 401',
            'pitot: audit: POST /api/recording/stop from 127.0.0.1: 409',
            f'pitot: audit: POST /api/profile/start pid={gone.pid} seconds=10 hz=99 '
            'from 127.0.0.1: 404',
            f'pitot: audit: POST /api/recording/start pid={gone.pid} seconds=0 '
            'from 127.0.0.1: 404',
            'pitot: audit: POST /api/profile/start from 127.0.0.1: 400',
            'pitot: audit: POST /api/recording/stop from 127.0.0.1: 403'])
        assert TOKEN not in err and 'hunter2' not in err, err


def links_in_runs_are_not_followed(directory):
    """a link in --runs, and a file that is not a run, give nothing away"""
    runs, ids = directory / 'runs', [f'{i}0000000-0000-0000-0000-000000000000' for i in range(4)]
    runs.mkdir()
    code, _, err = run('record', '-o', directory / 'elsewhere', '--engine', 'off', '--', 'true')
    equal(code, 0, err)
    journal, = (directory / 'elsewhere').glob('*.pitot')
    about, = (directory / 'elsewhere').glob('static_*.json')
    (runs / f'{ids[0]}.pitot').symlink_to(journal)
    (runs / f'{ids[1]}.pitot').write_bytes(journal.read_bytes())
    (runs / f'static_{ids[1]}.json').symlink_to(about)
    (runs / f'{ids[2]}.pitot').mkdir()
    (runs / f'{ids[3]}.pitot').write_text('not a journal')
    with server(directory, '--runs', runs) as s:
        listed = s.json('/api/runs')['runs']
        equal(sorted(one['id'] for one in listed), [ids[1], ids[3]])
        equal([one for one in listed if one['host'] or one['command']], [])
        for i, expected in enumerate((404, 404, 404, 500)):
            status, _, body = s.ask(f'/api/report?run={ids[i]}')
            if status == 501:
                raise Skip('no report page')
            equal(status, expected, body)
            assert str(directory) not in body, body


def recordings_start_and_stop_with_the_token(directory):
    """a recording is started and stopped with the token only, and its report is served"""
    runs = directory / 'runs'
    with server(directory, '--runs', runs, '--token-file', token_file(directory)) as s:
        equal(s.ask('/api/recording/start', 'POST')[0], 401)
        equal(s.ask('/api/recording/start', 'GET', BEARER)[0], 405)
        equal(s.ask('/api/recording/start?seconds=x', 'POST', BEARER)[0], 400)
        equal(s.ask('/api/recording/stop', 'POST', BEARER)[0], 409)
        equal(s.json('/api/runs'), {'count': 0, 'runs': []})
        assert s.json('/api/recording/start', method='POST', headers=BEARER)['is_running']
        equal(s.ask('/api/recording/start', 'POST', BEARER)[0], 409)
        wait_until(lambda: s.json('/api/runs')['count'] == 1, 'a run')
        wait_until(lambda: 'start' in s.json('/api/runs')['runs'][0], 'its description')
        equal(s.ask('/api/recording/stop', 'POST', BEARER)[0], 202)
        wait_until(lambda: not s.json('/api/recording')['is_running'], 'the end of it')
        equal(s.json('/api/recording')['exit_code'], 0)
        run_id = s.json('/api/runs')['runs'][0]['id']
        status, headers, body = s.ask('/api/report?run=' + run_id)
        if status == 501:
            raise Skip('no report page')
        equal(status, 200, body[:200])
        contains(headers['Content-Security-Policy'], 'sandbox')
        contains(body, 'report-data')
        equal(s.ask('/api/report?run=00000000-0000-0000-0000-000000000000')[0], 404)
        equal(sorted(p.name for p in s.state.iterdir() if 'report' in p.name), [])


def profiles_are_taken_with_the_token(directory):
    """a CPU profile of a process is taken with the token, and shown"""
    with server(directory, '--token-file', token_file(directory)) as s:
        equal(s.ask('/api/profile/latest')[0], 404)
        equal(s.ask('/api/profile/start?pid=1', 'POST')[0], 401)
        equal(s.ask('/api/profile/start', 'POST', BEARER)[0], 400)
        busy = subprocess.Popen(['sh', '-c', 'while :; do :; done'])
        try:
            s.json(f'/api/profile/start?pid={busy.pid}&seconds=1&hz=99', method='POST',
                   headers=BEARER)
            wait_until(lambda: not s.json('/api/profile')['is_running'], 'the end of it', 60)
        finally:
            busy.kill()
            busy.wait()
        if s.json('/api/profile')['exit_code'] == 125:
            raise Skip('no perf events here')
        status, headers, body = s.ask('/api/profile/latest')
        equal(status, 200)
        contains(headers['Content-Security-Policy'], 'sandbox')
        contains(body, '<html')
        contains(s.ask('/api/profile/latest?format=folded')[2], 'sh')
        json.loads(s.ask('/api/profile/latest?format=speedscope')[2])


def wrong_options_are_told(directory):
    """wrong options are reported, with exit code 2"""
    for options, words in ((('--listen', 'x'), "cannot listen on 'x'"),
                           (('--tls-cert', 'x'), 'give both or neither'),
                           (('--history', '5k'), 'at least 1M'),
                           (('--history', 'x'), 'is not a size'),
                           (('-t', '1ms'), 'must be at least 10 ms'),
                           (('x',), "unexpected argument 'x'")):
        code, _, err = run('serve', '--state-dir', directory, *options)
        equal(code, 2, words)
        contains(err, words)
    for options, words in ((('--probe', 'x'), 'is not a server URL'),
                           (('--alert-webhook', 'x'), 'is not an http'),
                           (('--alerts', '/nonexistent'), 'cannot read /nonexistent')):
        code, _, err = run('serve', '--listen', '0', '--state-dir', directory / 's', *options)
        equal(code, 1, words)
        contains(err, words)


main(metrics_come_in_the_format_that_is_asked_for, programs_with_libpitot_are_shown,
     a_sample_is_rendered_once,
     schema_is_that_of_the_command, pages_have_a_policy, health_has_its_fields,
     a_probe_decides_on_health, history_survives_restart_and_kill, history_says_what_is_wrong,
     one_history_has_one_writer, a_stream_begins_whole_and_goes_on_with_changes,
     figures_of_stream_and_history_are_the_same, bad_requests_are_refused,
     demo_has_the_same_rules, slow_clients_keep_nobody_waiting, old_streams_make_room,
     other_addresses_need_a_token, a_token_file_is_its_owners, tls_is_spoken,
     a_unix_socket_is_served, a_socket_of_systemd_is_used,
     alerts_are_shown_exported_and_delivered, private_webhooks_must_be_allowed,
     sighup_reads_the_token_again, wrong_tokens_are_limited, actions_leave_a_line,
     links_in_runs_are_not_followed, recordings_start_and_stop_with_the_token,
     profiles_are_taken_with_the_token, wrong_options_are_told, jobs=2)
