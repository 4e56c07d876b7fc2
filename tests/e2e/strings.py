#!/usr/bin/python3
"""Strings are stored and shown as they were: odd ones go in by every door and are looked for in
every format, by other readers than Pitot's own (Python's json and csv, the shell).

    tests/e2e/strings.py PITOT WORKLOAD STRINGS_WORKLOAD"""
import codecs
import contextlib
import csv
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request

from harness import end, equal, main, run, start, wait_until

STRINGS_WORKLOAD = sys.argv[3]
ODD = [
    b'plain',
    b'with blanks',
    b' blanks at both ends ',
    b'say "hello"',
    b"it's",
    b'C:\\temp\\new',
    b'ends with \\',
    b'\\"',
    b'\\u0041 \\n \\x41',
    b'null',
    b'true',
    b'-1.5e3',
    b'=1+1',
    b'a,b;c\td',
    b'\tstarts with a tab',
    b'carriage\rreturn',
    b'bell\x07 escape\x1b[31m delete\x7f',
    b'\x01\x02 control',
    b'</script><!-- &amp; <b>',
    b'{"json": ["text", 1]}',
    b'%s %n ${HOME} $(id) `id`',
    'Grüße, 日本語'.encode(),
    'smile 😀 and more 👩‍🚀'.encode(),
    'line\u2028separator \ufeff bom'.encode(),
    b'\xff\xfe not UTF-8',
    b'half \xc3( of one',
    b'\xed\xa0\xbd lone surrogate',
]
LINES = [b'two\nlines', b'\n']
EMPTY = b''
LONG = b'x"\\' * 21845 + b'.' # 64 KiB
codecs.register_error('each-byte', lambda error: ('\ufffd', error.start + 1))


def shown(text):
    """In files all text is UTF-8; each byte that is not is replaced."""
    return text.decode('utf-8', 'each-byte')


def passed(text):
    """As an argument of a command."""
    return os.fsdecode(text)


def file_of(directory, name, extension):
    journal, = directory.glob('*.pitot')
    return directory / f'{journal.stem}{"." + name if name else ""}.{extension}'


def undone(cell):
    """Of CSV and TSV: what keeps spreadsheets and terminals from obeying a text
    (docs/COMPATIBILITY.md)."""
    if not cell.startswith("'"):
        return cell
    return re.sub(r'\\(\\|x(..))', lambda m: chr(int(m[2], 16)) if m[2] else '\\', cell[1:])


def rows_of_csv(path):
    csv.field_size_limit(1 << 20)
    with open(path, newline='', encoding='utf-8') as file:
        return [{name: undone(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def rows_of_tsv(path):
    letters = {'t': '\t', 'n': '\n', 'r': '\r', '\\': '\\'}

    def cell(text):
        return undone(re.sub(r'\\(.)', lambda match: letters[match[1]], text))
    header, *lines = path.read_bytes().decode().removesuffix('\n').split('\n')
    return [dict(zip(header.split('\t'), map(cell, line.split('\t')))) for line in lines]


def rows_of_jsonl(path):
    return [json.loads(line) for line in path.read_bytes().split(b'\n') if line]


def check_columns(directory, table, column, expected):
    """The values of a column, in each format that is read here."""
    for extension, read in (('csv', rows_of_csv), ('tsv', rows_of_tsv), ('jsonl', rows_of_jsonl)):
        found = [row[column] for row in read(file_of(directory, table, extension))
                 if row.get(column) is not None]
        missing = [text for text in expected if text not in found]
        equal(missing, [], f'{column} in {extension}')


def report_data(directory, page='page.html'):
    code, _, err = run('report', directory, '-o', directory / page, '-q')
    equal(code, 0, err)
    text = (directory / page).read_text(encoding='utf-8')
    return json.loads(re.search(r'<script id="report-data"[^>]*>(.*?)</script>', text, re.S)[1])


def static(directory):
    path, = directory.glob('static_*.json')
    return json.loads(path.read_bytes())


@contextlib.contextmanager
def recording(directory, *options):
    """A recording of a command that ends with the block."""
    recorder = start('-f', 'csv,tsv,jsonl', '-t', 50, '-o', directory, '-q', *options, '--', 'cat',
                     stdin=subprocess.PIPE)
    try:
        wait_until(lambda: list(directory.glob('*.ctl')), 'a recording')
        yield
        code, _, err = end(recorder)
        equal(code, 0, err)
    finally:
        recorder.kill()
        recorder.communicate()


def marks(directory):
    """marks are stored and shown as they were, in every format and in the report"""
    longest = b'm' * 1000
    with recording(directory):
        for text in (*ODD, longest):
            code, _, err = run('mark', '--run', directory, '--', passed(text))
            equal(code, 0, err)
        for text in (EMPTY, *LINES, LONG, longest + b'm'):
            code, _, err = run('mark', '--run', directory, '--', passed(text))
            equal((code, err.count('one line of 1 to 1000 bytes')), (1, 1), err)
    expected = [shown(text) for text in (*ODD, longest)]
    check_columns(directory, 'marks', 'mText', expected)
    found = [event['text'] for event in report_data(directory)['events'] if event['kind'] == 'mark']
    equal(found, expected, 'marks in the report')


def kept(directory):
    """the text of a mark that keeps a black box is shown as it was"""
    text = 'say "hello" to C:\\temp'
    with recording(directory, '--blackbox', '16M'):
        code, _, err = run('mark', '--keep', '--run', directory, '--', text)
        equal(code, 0, err)
    found = [run('explain', place)[1] for place in directory.iterdir() if place.is_dir()]
    assert any('mark: ' + text in words for words in found), found


def arguments_and_tags(directory):
    """arguments and tags are stored and shown as they were: static file, processes, report, /api"""
    texts = [*ODD, *LINES, EMPTY]
    tags = [word for number, text in enumerate(texts) for word in
            ('--tag', passed(b'odd %d "\\=' % number + text))]
    code, _, err = run('-p', '-f', 'csv,tsv,jsonl', '-t', 20, '-o', directory, '-q', *tags, '--',
                       'sh', '-c', 'sleep 0.3; exit 0', 'sh', *map(passed, (*texts, LONG)))
    equal(code, 0, err)
    about = static(directory)
    words = about['command']['argv']
    equal(words[4:], [shown(text) for text in (*texts, LONG)], 'argv')
    equal(about['tags'], {f'odd {number} "\\': shown(text) for number, text in enumerate(texts)})
    page = report_data(directory)
    equal(json.loads(page['static'])['command']['argv'], words, 'argv in the report')
    check_lines(directory, texts)
    first = ' '.join(words)[:len(served_command(directory))]
    equal(served_command(directory), first, 'the command in /api/runs')


def check_lines(directory, texts):
    """The line of the command in the table of processes is read back by a shell."""
    line, = {row['pCmdline'] for row in rows_of_csv(file_of(directory, 'processes', 'csv'))
             if row['pCmdline'].startswith("sh -c 'sleep 0.3; exit 0' sh")}
    check_columns(directory, 'processes', 'pCmdline', [line])
    whole = line.rpartition(' ')[0].encode() # the last word is cut
    words = subprocess.run(['bash', '-c', b'printf "%s\\0" ' + whole], stdout=subprocess.PIPE,
                           check=True).stdout.split(b'\0')
    told = [shown(word) for word in words[4:]]
    assert len(told) > 5, told
    for word, text in zip(told, texts):
        equal(word, shown(text), 'a word of the line')


def served_command(directory):
    server = start('serve', '--listen', '127.0.0.1:0', '--engine', 'off', '--state-dir',
                   directory / 'state', '--runs', directory)
    try:
        url = server.stdout.readline().strip()
        with urllib.request.urlopen(url + '/api/runs', timeout=60) as answer:
            listed, = json.load(answer)['runs']
        return listed['command']
    finally:
        server.send_signal(signal.SIGTERM)
        end(server)


def settings(directory):
    """diff shows arguments that differ as they were"""
    words = ('say "hello"', 'C:\\temp')
    for name, word in zip('ab', words):
        code, _, err = run('-t', 20, '-o', directory / name, '-q', '--', 'sh', '-c', 'sleep 0.1',
                           'sh', word)
        equal(code, 0, err)
    _, out, err = run('diff', directory / 'a', directory / 'b')
    for word in words:
        assert word in out, (word, out, err)
    _, out, err = run('diff', '--json', directory / 'a', directory / 'b')
    assert all(word in str(json.loads(out)) or repr(word)[1:-1] in str(json.loads(out))
               for word in words), out


@contextlib.contextmanager
def engine(exposition):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/plain; version=0.0.4')
            self.send_header('Content-Length', str(len(exposition)))
            self.end_headers()
            self.wfile.write(exposition)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()


def engine_labels(directory):
    """labels of engines are stored and shown as they were"""
    for number, text in enumerate((b'say "hello"', b'C:\\temp\\new', b'two\nlines, really=1',
                                   'Grüße 😀'.encode())):
        escaped = text.replace(b'\\', b'\\\\').replace(b'"', b'\\"').replace(b'\n', b'\\n')
        place = directory / str(number)
        with engine(b'vllm:num_requests_running{model_name="%s"} 2.0\n'
                    b'vllm:cache_config_info{block_size="16",note="%s"} 1.0\n'
                    % (escaped, escaped)) as url:
            code, _, err = run('-f', 'csv,tsv,jsonl,json', '-t', 100, '-o', place, '-q',
                               '--engine', url, '--', 'sleep', 1)
        equal(code, 0, err)
        check_columns(place, 'engines', 'eModel', [shown(text)])
        equal([e['model'] for e in static(place)['engines']], [shown(text)], 'static file')
        last = max(place.glob('*-*-*-*-*-*.json'), key=lambda path: path.name[-18:])
        equal(json.loads(last.read_bytes())['vllm']['config'],
              {'cache_config_info_block_size': 16, 'cache_config_info_note': shown(text)})


def names_of_the_library(directory):
    """names, texts and labels of libpitot are stored and shown as they were, in traces too"""
    texts = [*ODD, *LINES]
    (directory / 'texts').write_bytes(b'\0'.join(texts) + b'\0')
    code, _, err = run('-f', 'csv,tsv,jsonl,trace', '-t', 50, '-o', directory, '-q', '--',
                       STRINGS_WORKLOAD, directory / 'texts')
    equal(code, 0, err)
    expected = [shown(text) for text in texts]
    check_columns(directory, 'spans', 'sName', expected)
    check_columns(directory, 'spans', 'sText', expected)
    labels = ['value="' + re.sub(r'(["\\\\])', r'\\\1', text).replace('\n', '\\n') + '"'
              for text in expected]
    check_columns(directory, 'app_metrics', 'aLabels', labels)
    events = json.loads(file_of(directory, '', 'trace.json').read_bytes())['traceEvents']
    spans = {event['name']: event for event in events if event['ph'] == 'X'}
    equal(set(spans), set(expected), 'names in the trace')
    for text in expected:
        assert text in spans[text]['args'].values(), spans[text]
    names = {event['name'] for event in events if event['ph'] == 'C'}
    for label in labels:
        assert f'strings{{{label}}}' in names, (label, names)


main(marks, kept, arguments_and_tags, settings, engine_labels, names_of_the_library)
