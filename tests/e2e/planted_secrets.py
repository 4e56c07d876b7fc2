#!/usr/bin/python3
"""No secret leaves: texts of 99 kinds go in by every door (command lines, variables, tags, notes,
spans, labels of programs and engines, URLs, options) and are looked for in all that comes out.

    tests/e2e/planted_secrets.py PITOT WORKLOAD STRINGS_WORKLOAD"""
import base64
import contextlib
import ctypes
import ctypes.util
import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import zlib

import secret_corpus
from harness import ENVIRONMENT, PITOT, contains, end, equal, main, run, start, wait_until
from serve_client import server

STRINGS_WORKLOAD = sys.argv[3]
PLANTED = secret_corpus.planted()
WINDOW = 12
KEPT = 4
PACKED = 1 << 22 # bytes of a packed part at most
ROUTES = ['/', '/metrics', '/health', '/api/schema', '/api/history?table=engine', '/api/history',
          '/api/history?table=process', '/api/alerts', '/api/runs', '/api/recording',
          '/api/profile',
          '/api/report', '/nothing']
PANELS = ['processes', 'engines', 'spans', 'marks', 'series']


def text_of(words):
    return ' '.join(words)


def windows(secret):
    """Parts that show that a piece of it was seen."""
    middle = len(secret) // 2 - WINDOW // 2
    places = {0, max(middle, 0), max(len(secret) - WINDOW, 0)}
    return {secret[at:at + WINDOW].encode() for at in places}


PARTS = {part: kind for kind, _, secret in PLANTED for part in windows(secret)}
ANY_PART = re.compile(b'|'.join(re.escape(part) for part in PARTS))


def library(name):
    path = ctypes.util.find_library(name)
    assert path, f'lib{name} is missing: Pitot itself needs it'
    return ctypes.CDLL(path)


def unpack_zstd(data):
    zstd = library('zstd')
    zstd.ZSTD_decompress.restype = zstd.ZSTD_getFrameContentSize.restype = ctypes.c_size_t
    zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    for match in re.finditer(re.escape(b'\x28\xb5\x2f\xfd'), data):
        rest = data[match.start():match.start() + PACKED]
        packed = zstd.ZSTD_findFrameCompressedSize(rest, ctypes.c_size_t(len(rest)))
        size = zstd.ZSTD_getFrameContentSize(rest, ctypes.c_size_t(len(rest)))
        if packed <= len(rest) and size < 1 << 28:
            room = ctypes.create_string_buffer(size + 1)
            count = zstd.ZSTD_decompress(room, ctypes.c_size_t(size), rest, ctypes.c_size_t(packed))
            if count <= size:
                yield room.raw[:count]


def unpack_snappy(data):
    snappy = library('snappy')
    size = ctypes.c_size_t()
    if snappy.snappy_uncompressed_length(data, ctypes.c_size_t(len(data)), ctypes.byref(size)):
        return
    if size.value < 1 << 28:
        room = ctypes.create_string_buffer(size.value + 1)
        if not snappy.snappy_uncompress(data, ctypes.c_size_t(len(data)), room, ctypes.byref(size)):
            yield room.raw[:size.value]


def unpack_zlib(data):
    for match in re.finditer(b'\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]', data):
        with contextlib.suppress(zlib.error):
            packed = data[match.start():match.start() + PACKED]
            yield zlib.decompressobj(47).decompress(packed, 1 << 24)


def unpack_base64(data):
    for match in re.finditer(rb'[A-Za-z0-9+/]{64,}={0,2}', data):
        with contextlib.suppress(ValueError):
            yield base64.b64decode(match[0][:len(match[0]) & ~3])


def leaks(data):
    """The kinds that are seen in bytes, in what is packed in them, and in what is packed there."""
    found = set()
    layer = [data]
    for _ in range(2):
        found |= {PARTS[match] for piece in layer for match in ANY_PART.findall(piece)}
        layer = [inner for piece in layer for unpack in (unpack_zlib, unpack_zstd, unpack_base64)
                 for inner in unpack(piece)]
    return found | {PARTS[match] for piece in layer for match in ANY_PART.findall(piece)}


class Outputs:
    """All that came out, by name; what was found in it."""

    def __init__(self):
        self.seen, self.found = {}, []

    def add(self, name, data):
        data = data if isinstance(data, bytes) else data.encode()
        assert data, f'{name} is empty'
        self.seen[name] = self.seen.get(name, 0) + len(data)
        self.found += [f'{kind} in {name}' for kind in sorted(leaks(data))]

    def add_files(self, directory):
        """All files but most of the snapshots, which are alike."""
        kinds = {}
        for path in sorted(directory.rglob('*')):
            if path.is_file() and path.stat().st_size > 0:
                kind = re.sub(r'[0-9a-f]{8}-[0-9a-f-]{27}|\d+', '', path.name)
                kinds.setdefault(kind, [])[KEPT:] = [path]
        for kind, paths in kinds.items():
            for path in paths:
                self.add('file ' + kind, path.read_bytes())

    def check(self):
        assert not self.found, '\n'.join(self.found)


class World(http.server.BaseHTTPRequestHandler):
    """An engine whose labels have secrets, and a receiver of what is pushed."""
    received = None

    def do_GET(self):
        def label(text):
            return text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
        lines = ['# TYPE vllm:num_requests_running gauge',
                 'vllm:num_requests_running{model_name="%s"} 1' % label(text_of(PLANTED[0][1]))]
        for number, (_, words, _) in enumerate(PLANTED):
            lines.append('vllm:extra{number="%d",value="%s"} 1' % (number, label(text_of(words))))
        body = '\n'.join(lines).encode() + b'\n'
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError): # a recorder that ends does not wait
            self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        if self.headers.get('Content-Encoding') == 'gzip':
            body = gzip.decompress(body)
        if self.headers.get('Content-Encoding') == 'snappy':
            body = b''.join(unpack_snappy(body))
        kept = self.server.received.setdefault(self.path.split('?')[0], [])
        if body:
            kept[KEPT:] = [body] # the first and the last: they have the same series
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def world():
    httpd = http.server.ThreadingHTTPServer(('127.0.0.1', 0), World)
    httpd.received = {}
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    try:
        yield httpd
    finally:
        httpd.shutdown()
        httpd.server_close()


def command(directory):
    """A process per kind, with its words; a program with spans and labels; all words once more."""
    for number in range(0, len(PLANTED), 60):
        texts = [text_of(words).encode()[:60] for _, words, _ in PLANTED[number:number + 60]]
        (directory / f'texts{number}').mkdir()
        (directory / f'texts{number}' / 'planted').write_bytes(b'\0'.join(texts) + b'\0')
    script = '''
import subprocess, sys
planted, workload, *files = eval(sys.argv[1])
children = [subprocess.Popen(['sh', '-c', 'read x', *words], stdin=subprocess.PIPE)
            for words in planted]
for file in files:
    subprocess.run([workload, file], check=True)
sys.stdin.read()
for child in children:
    child.communicate()
'''
    (directory / 'planted').write_text(script)
    files = [str(path) for path in sorted(directory.glob('texts*/planted'))]
    words = [word for _, words, _ in PLANTED for word in words]
    return [[words for _, words, _ in PLANTED], STRINGS_WORKLOAD, *files], words


def record(directory, outputs, httpd, name='run', formats='csv,tsv,jsonl,json,parquet,trace'):
    """One recording with everything planted; its directory."""
    place = directory / name
    (directory / ('in-' + name)).mkdir()
    given, words = command(directory / ('in-' + name))
    (directory / ('in-' + name) / 'given').mkdir()
    port = httpd.server_address[1]
    url = dict((kind, secret) for kind, _, secret in PLANTED)
    login = 'joe:' + url['url password']
    options = ['-f', formats, '-t', '200', '-p', '-o', place, '--report', '-vv', '--engine-raw',
               '--state-dir', directory / 'state',
               '--engine', f'http://{login}@127.0.0.1:{port}/metrics?api_key={url["query key"]}',
               '--remote-write', f'http://{login}@127.0.0.1:{port}/write', '--push-processes',
               '--otlp', f'http://127.0.0.1:{port}/otlp?token={url["query key"]}']
    for number, (_, planted, _) in enumerate(PLANTED):
        options += ['--tag', f'tag{number}={text_of(planted)}']
        if number < 16:
            options += ['--push-label', f'label{number}={text_of(planted)}']
    environment = ENVIRONMENT | {f'HF_{number}': text_of(planted)
                                 for number, (_, planted, _) in enumerate(PLANTED)}
    environment |= {'HF_TOKEN': url['--token X'], 'VLLM_API_KEY': url['--api-key=X'],
                    'OTEL_RESOURCE_ATTRIBUTES': ','.join(
                        f'a{number}={text_of(planted)}'
                        for number, (_, planted, _) in enumerate(PLANTED)
                        if ',' not in text_of(planted))}
    source = (directory / ('in-' + name) / 'planted').read_text()
    recorder = start(*options, '--', sys.executable, '-c', source, repr(given), *words,
                     stdin=subprocess.PIPE, env=environment)
    log = []
    reader = threading.Thread(target=lambda: log.append(recorder.stderr.read()))
    reader.start()
    control = wait_until(lambda: list(place.glob('*.ctl')), 'a recording', 60)[0]
    def spans():
        return sum(path.stat().st_size for path in place.glob('*.pitot')) > 60000
    wait_until(spans, 'samples', 60)
    for _, planted, _ in PLANTED:
        with open(control, 'wb', buffering=0) as fifo:
            fifo.write(text_of(planted).encode() + b'\n')
        time.sleep(0.005) # the recorder reads a few of them at a time
    journal, = place.glob('*.pitot')
    grown = journal.stat().st_size
    wait_until(lambda: journal.stat().st_size > grown + 2000, 'the samples after the notes', 60)
    recorder.stdin.close()
    reader.join()
    out = recorder.stdout.read()
    equal(recorder.wait(), 0, log[0])
    outputs.add('messages at -vv and summary', log[0] + out)
    outputs.add_files(place)
    return place


def check_doors(place):
    """The texts did come in by every door, or nothing was tested."""
    def rows(table):
        path, = place.glob(f'*.{table}.jsonl')
        return path.read_text()
    contains(rows('processes'), 'read x')
    notes = sum('***' in line for line in rows('marks').splitlines())
    equal(notes >= len(PLANTED) - 2, True, f'{notes} notes')
    equal(rows('spans').count('***') >= len(PLANTED) // 2, True, 'spans')
    equal(rows('engine_series').count('***') >= len(PLANTED) // 2, True, 'labels of the engine')
    static, = place.glob('static_*.json')
    equal(static.read_text().count('***') >= 3 * len(PLANTED) - 20, True, 'static information')


def read_back(directory, outputs, place, second):
    """Every command that shows runs."""
    def shown(name, *arguments):
        code, out, err = run(*arguments)
        assert code in (0, 1, 3), f'{name}: {code} {err}'
        outputs.add(name, out + err)
    shown('explain', 'explain', place)
    shown('explain as JSON', 'explain', '--json', place)
    shown('energy', 'energy', place)
    for how in ((), ('--json',), ('--markdown',)):
        shown('diff ' + ' '.join(how), 'diff', *how, place, second)
    shown('doctor', 'doctor')
    shown('export', 'export', place, '-o', directory / 'exported', '-f', 'csv')
    outputs.add_files(directory / 'exported')
    shown('merge', 'merge', place, second, '-o', directory / 'merged.html')
    outputs.add('merged page', (directory / 'merged.html').read_bytes())
    for panel in PANELS:
        code, out, err = run('top', '-n', '1', '--panel', panel, place)
        outputs.add('top', out + err)
    for panel in ('processes', 'engines'):
        outputs.add('top, live', ''.join(run('top', '-n', '2', '-t', '100', '--panel', panel)[1:]))


def profiles(directory, outputs):
    """Command lines in profiles."""
    for extension in ('html', 'json', 'pb.gz', 'folded'):
        path = directory / f'profile.{extension}'
        words = [word for _, words, _ in PLANTED for word in words]
        code, out, err = run('cpu', '--method', 'timer', '-o', path, '--', sys.executable, '-c',
                             'sum(i * i for i in range(3000000))', *words)
        if code or not path.exists():
            continue
        outputs.add('profile ' + extension, path.read_bytes() + (out + err).encode())


def errors(outputs, every_way):
    """Words of the user that are wrong, in messages: a quarter of the kinds in one way each, or all
    kinds in every way."""
    ways = [['report', '%s'], ['explain', '%s'], ['export', '%s'], ['mark', '-o', '%s', 'x'],
            ['--engine', 'http://host:99999/%s'], ['-t', '%s'], ['--remote-write', 'ftp:%s'],
            ['--tag', '%s', '--bad'], ['serve', '--alert-webhook', 'ftp:%s'],
            ['serve', '--listen', '%s'], ['diff', '--gate', '%s', 'a', 'b'], ['%s']]
    for number, (_, words, _) in enumerate(PLANTED if every_way else PLANTED[::4]):
        for way in ways if every_way else ways[number % len(ways):][:1]:
            code, out, err = run(*(word.replace('%s', text_of(words)) for word in way))
            assert code != 0, way
            outputs.add('errors of ' + way[0].replace('%s', 'a command'), out + err)


def serving(directory, outputs, httpd, place):
    port = httpd.server_address[1]
    rules = directory / 'rules'
    rules.write_text('busy: mem.used > 0 for 0s\n')
    children = [subprocess.Popen(['sh', '-c', 'read x', *words], stdin=subprocess.PIPE)
                for _, words, _ in PLANTED]
    secret = dict((kind, secret) for kind, _, secret in PLANTED)
    try:
        with server(directory, '-p', '-vv', '--runs', place, '--push-processes', '--engine-raw',
                    '--engine', f'http://joe:{secret["url password"]}@127.0.0.1:{port}/metrics',
                    '--alert-webhook', f'http://127.0.0.1:{port}/{secret["another webhook"]}',
                    '--allow-private-webhook', '--remote-write', f'http://127.0.0.1:{port}/write',
                    common=('-t', '200')) as s:
            s.wait_for_samples()
            time.sleep(1)
            runs = s.json('/api/runs')
            routes = list(ROUTES)
            if runs.get('runs'):
                routes += [f'/api/report?run={found["name"]}' for found in runs['runs'][:1]
                           if 'name' in found]
            for route in routes:
                status, headers, body = s.ask(route)
                outputs.add('route ' + route.split('?')[0], json.dumps(headers) + body)
            accept = {'Accept': 'application/openmetrics-text'}
            outputs.add('OpenMetrics', s.ask('/metrics', headers=accept)[2])
            connection = s.connect()
            connection.request('GET', '/api/stream')
            outputs.add('stream', connection.getresponse().read1(65536))
            connection.close()
            _, out, err = s.stop()
            outputs.add('messages of serve', out + err)
        outputs.add_files(directory / 'state')
    finally:
        for child in children:
            child.communicate()


def collect(directory, every_way=False):
    outputs = Outputs()
    with world() as httpd:
        place = record(directory, outputs, httpd)
        check_doors(place)
        second = record(directory, outputs, httpd, 'second', 'parquet')
        read_back(directory, outputs, place, second)
        serving(directory, outputs, httpd, place)
        for path, bodies in httpd.received.items():
            for body in bodies:
                outputs.add('pushed to ' + path, body)
    profiles(directory, outputs)
    errors(outputs, every_way)
    for name in ('pushed to /write', 'pushed to /otlp'):
        assert name in outputs.seen, sorted(outputs.seen)
    return outputs


def test_nothing_leaves(directory):
    """C325: no secret of any kind is in a file, a page, an answer, a message, or what is pushed."""
    collect(directory).check()


def test_nothing_useful_is_lost(directory):
    """Hashes, ids, names of models and paths stay as they are."""
    script = 'import sys; sys.stdin.read()'
    recorder = start('-f', 'jsonl', '-t', '50', '-o', directory / 'run', '-q',
                     *(word for number, text in enumerate(secret_corpus.PLAIN)
                       for word in ('--tag', f'tag{number}={text}')),
                     '--', sys.executable, '-c', script, *secret_corpus.PLAIN,
                     stdin=subprocess.PIPE)
    control = wait_until(lambda: list((directory / 'run').glob('*.ctl')), 'a recording')[0]
    for text in secret_corpus.PLAIN:
        with open(control, 'wb', buffering=0) as fifo:
            fifo.write(text.encode() + b'\n')
        time.sleep(0.005)
    equal(end(recorder)[0], 0)
    marks, = (directory / 'run').glob('*.marks.jsonl')
    notes = [json.loads(line)['mText'] for line in marks.read_text().splitlines()]
    equal(notes, secret_corpus.PLAIN)
    static, = (directory / 'run').glob('static_*.json')
    static = json.loads(static.read_text())
    equal(list(static['tags'].values()), secret_corpus.PLAIN)
    equal(static['command']['argv'][3:], secret_corpus.PLAIN)


if __name__ == '__main__':
    main(test_nothing_leaves, test_nothing_useful_is_lost)
