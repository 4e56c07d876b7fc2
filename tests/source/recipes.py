#!/usr/bin/python3
"""The recipes of CONTRIBUTING.md, applied to a copy of the tree: what they add is in every output.

    tests/source/recipes.py SOURCE BUILD

The diffs are taken from the page itself, so that it cannot go stale. The copy starts with the
objects of BUILD and compiles only what the recipes change. The output is TAP.
"""
import configparser
import contextlib
import csv
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
import urllib.parse

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
MESON = os.environ.get('MESON') or shutil.which('meson', path='/usr/bin') or 'meson'
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(('PITOT', 'XDG_', 'LC_'))}
ENVIRONMENT |= {'LC_ALL': 'C', 'TERM': 'dumb', 'HOME': '/nonexistent'}
RECIPES = ('A metric', 'A collector', 'An engine alias', 'A format', 'A verdict rule', 'A figure')
# Of a build not copied: Meson's own state, which has its place in it, and what is not needed.
LEFT_OUT = {'build.ninja', 'compile_commands.json', 'meson-info', 'meson-logs', 'meson-private',
            'meson-uninstalled', 'bench', 'demo', 'examples', 'python', 'tests'}
EXPOSITION = ('# TYPE vllm:requests_in_progress gauge\n'
              'vllm:requests_in_progress{model_name="m"} 7\n'
              '# TYPE vllm:generation_tokens counter\n'
              'vllm:generation_tokens_total{model_name="m"} 100\n')


def recipes(page):
    """{title: its diff} of the page's sections."""
    found = {}
    for section in re.split(r'^### ', page, flags=re.M)[1:]:
        title, _, text = section.partition('\n')
        diffs = re.findall(r'^```diff\n(.*?)^```$', text, re.M | re.S)
        if diffs:
            found[title] = ''.join(diffs)
    return found


def apply(diff, tree):
    """Each hunk's old lines stand exactly once in their file; a new file has none."""
    for part in re.split(r'^--- ', diff, flags=re.M)[1:]:
        names, *hunks = re.split(r'^@@\n', part, flags=re.M)
        path = tree / re.search(r'^\+\+\+ b/(.*)$', names, re.M)[1]
        text = '' if names.startswith('/dev/null') else path.read_text()
        for hunk in hunks:
            lines = hunk.splitlines(keepends=True)
            old = ''.join(line[1:] for line in lines if line[0] != '+')
            new = ''.join(line[1:] for line in lines if line[0] != '-')
            # the number of blanks before a backslash at the end of a line does not matter
            pattern = re.sub(r'(?:\\ )+(?=\\\\\\\n)', r'\\ +', re.escape(old))
            count = len(re.findall(pattern, text))
            if text and count != 1:
                raise AssertionError(f'{path.relative_to(tree)} has {count} of:\n{old}')
            text = re.sub(pattern, lambda _, new=new: new, text) if text else new
        path.write_text(text)


def copy_tree(tree):
    def ignored(directory, names):
        is_top = pathlib.Path(directory) == SOURCE
        return [n for n in names if n == '__pycache__' or is_top and
                (n.startswith(('build', '.git')) or n in ('dist', BUILD.name))]
    shutil.copytree(SOURCE, tree, symlinks=True, ignore=ignored)


def set_up(tree):
    """A build of the copy that has the objects of BUILD, and their options."""
    given = configparser.ConfigParser(interpolation=None)
    given.read(BUILD / 'meson-private/cmd_line.txt')
    options = [f'-D{key}={value}' for key, value in given['options'].items()]
    build = tree / os.path.relpath(BUILD, SOURCE)
    subprocess.run([MESON, 'setup', build, *options], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    kept = [path for path in BUILD.iterdir() if path.name not in LEFT_OUT]
    subprocess.run(['cp', '-a', '--remove-destination', *kept, build], check=True)
    log = (BUILD / '.ninja_log').read_text().splitlines(keepends=True)
    (build / '.ninja_log').write_text(''.join(l for l in log if '\tbuild.ninja\t' not in l))
    # commands that make pages name the tree; no recipe changes a page
    rules = (build / 'build.ninja').read_text()
    rules = re.sub(r'^ COMMAND = .*$', lambda line: line[0].replace(str(tree), str(SOURCE)), rules,
                   flags=re.M)
    (build / 'build.ninja').write_text(rules)
    return build


def compile_copy(build):
    targets = ['pitot', 'tests/unit/rules_test', 'tests/unit/verdict_test']
    done = subprocess.run(['ninja', '-C', build, *targets], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(done.stdout[-4000:])


class Engine(http.server.BaseHTTPRequestHandler):
    """An engine that calls its running requests by the name of the recipe."""

    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.end_headers()
        self.wfile.write(EXPOSITION.encode())

    def log_message(self, *_):
        pass


class Machine:
    """A mock machine whose CPUs are busy: its counters grow while it is used."""

    def __init__(self, place):
        subprocess.run([SOURCE / 'scripts/generate_testdata.sh', place, 'v2'], check=True,
                       stdout=subprocess.DEVNULL)
        self.place = place if (place / 'proc').exists() else place / 'v2'
        entropy = self.place / 'proc/sys/kernel/random/entropy_avail'
        entropy.parent.mkdir(parents=True, exist_ok=True)
        entropy.write_text('256\n')
        load = self.place / 'proc/loadavg'
        load.write_text('9.00 9.00 9.00 400/900 12345\n')
        self.stat = self.place / 'proc/stat'
        self.rest = self.stat.read_text().split('\n', 1)[1]
        self.ended = threading.Event()
        self.engine = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Engine)
        self.threads = [threading.Thread(target=self.grow),
                        threading.Thread(target=self.engine.serve_forever)]

    def grow(self):
        """Lines of the same length, written in place: a reader sees one or the other."""
        ticks = 1000000
        while not self.ended.wait(0.02):
            ticks += 100
            with open(self.stat, 'r+') as file:
                file.write(f'cpu  {ticks} 0 1000000 9000000 0 0 0 0 0 0\n' + self.rest)

    def options(self):
        return ['--path.procfs', self.place / 'proc', '--path.sysfs', self.place / 'sys',
                '--path.rootfs', self.place, '-t', '50',
                '--engine', f'http://127.0.0.1:{self.engine.server_port}']

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.engine.shutdown()
        for thread in self.threads:
            thread.join()
        self.engine.server_close()


class Copy:
    """The program of the copy, and a run that it recorded."""

    def __init__(self, build, directory):
        self.build = build
        self.run_directory = directory / 'run'
        with Machine(directory / 'machine') as machine:
            self.summary = self.pitot('record', *machine.options(), '-d', '4s', '-o',
                                      self.run_directory, '-f', 'csv,jsonl,json,parquet,md')
            self.metrics = self.ask(machine, directory / 'state', '/metrics')
        self.schema = self.pitot('schema')
        self.schema_json = json.loads(self.pitot('schema', '--json'))
        self.metrics_page = self.pitot('docs', 'metrics')
        self.report = self.read_report(directory / 'page.html')

    def pitot(self, *arguments):
        done = subprocess.run([self.build / 'pitot', *arguments], env=ENVIRONMENT, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(f'pitot {arguments} ended with {done.returncode}: {done.stderr}')
        return done.stdout + done.stderr

    def read_report(self, page):
        """The data of the report; None: the page was left out of the build, for want of npm."""
        done = subprocess.run([self.build / 'pitot', 'report', self.run_directory, '-o', page],
                              env=ENVIRONMENT, capture_output=True, text=True, check=False)
        if 'no report page' in done.stderr:
            return None
        need(done.returncode == 0, done.stderr)
        return json.loads(re.search(
            r'<script id="report-data" type="application/json">(.*?)</script>',
            page.read_text(encoding='utf-8'), re.S)[1])

    def ask(self, machine, state, path):
        """The answer of `pitot serve`, once it has samples of the engine."""
        process = subprocess.Popen([self.build / 'pitot', 'serve', '--listen', '127.0.0.1:0',
                                    '--state-dir', state, *machine.options()], env=ENVIRONMENT,
                                   text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        try:
            port = urllib.parse.urlparse(process.stdout.readline().strip()).port
            for _ in range(3000):
                with contextlib.closing(http.client.HTTPConnection('127.0.0.1', port)) as link:
                    link.request('GET', path)
                    answer = link.getresponse().read().decode()
                if 'pitot_engine_' in answer:
                    return answer
                threading.Event().wait(0.02)
            raise AssertionError('no sample of the engine: ' + answer[:2000])
        finally:
            process.terminate()
            process.communicate()

    def main_file(self, extension):
        return next(path for path in self.run_directory.glob('*.' + extension)
                    if path.name.count('.') == 1 and not path.name.startswith('static_'))

    def rows(self):
        with open(self.main_file('csv'), newline='') as file:
            return list(csv.DictReader(file))


def need(condition, what):
    if not condition:
        raise AssertionError(what)


def check_column(copy, table, column, value, series):
    """A column of the main file, with its value, in everything that is made of columns."""
    tables = {t['name']: [c['name'] for c in t['columns']] for t in copy.schema_json['tables']}
    need(column in copy.schema, 'schema')
    need(column in tables.get(table, []), f'schema --json: {tables.get(table)}')
    need(f'`{column}`' in copy.metrics_page, 'docs metrics')
    rows = copy.rows()
    need(rows and all(row[column] in ('', str(value)) for row in rows), 'CSV')
    need(any(row[column] for row in rows), 'CSV has no value')
    line = json.loads(copy.main_file('jsonl').read_text().splitlines()[-2])
    need(line[column] == value, f'JSON Lines: {line[column]}')
    snapshot = next(copy.run_directory.glob('*-*-*-*-*-*.json')).read_text()
    need(f'"{column}"' in snapshot, 'JSON snapshot')
    need(column.encode() in copy.main_file('parquet').read_bytes(), 'Parquet')
    need(re.search(rf'^{series}(\{{.*\}})? {value}$', copy.metrics, re.M),
         '/metrics: ' + '\n'.join(re.findall(rf'^.*{table}_.*$', copy.metrics, re.M)[:40]))
    if copy.report:
        charted = {t['name']: [c['name'] for c in t['columns']] for t in copy.report['tables']}
        need(column in charted.get(table, []), f'report: {charted.get(table)}')
    top = copy.pitot('top', '-n', '1', '--panel', table, copy.run_directory)
    need(column in top, 'top: ' + top)


def need_figure(copy, label, unit):
    if copy.report:
        units = {figure['label']: figure['unit'] for figure in copy.report['figures']}
        need(units.get(label) == unit, f'report: {units}')


def a_metric(copy):
    """C320: the recipe of a metric: schema, docs, files, /metrics, report and top have it."""
    check_column(copy, 'mem', 'vMemoryKernelStack', 16000 * 1024, 'pitot_mem_stacks_bytes')


def a_collector(copy):
    """C320: the recipe of a collector: its table is everywhere, and help lists it."""
    check_column(copy, 'entropy', 'vEntropyAvailable', 256, 'pitot_entropy_available')
    need('entropy' in copy.pitot('record', '--help'), 'record --help')


def an_alias(copy):
    """C320: the recipe of an engine alias: its value is in the field, and so in every output."""
    rows = copy.rows()
    need('7' in [row['system_requests_running'] for row in rows], 'CSV')
    need(re.search(r'^pitot_engine_\w*requests_running(\{.*\})? 7$', copy.metrics, re.M),
         '/metrics')
    need_figure(copy, 'Requests running', '')
    need('Requests running' in copy.summary, 'summary')


def a_format(copy):
    """C320: the recipe of a format: record and export write it, and help lists it."""
    text = copy.main_file('md').read_text().splitlines()
    rows = copy.rows()
    need(text[0] == '| ' + ' | '.join(rows[0]) + ' |', text[0][:200])
    need(len(text) == len(rows) + 2, f'{len(text)} lines for {len(rows)} rows')
    need([cell.strip() for cell in text[2].split('|')[1:-1]] == list(rows[0].values()), text[2])
    elsewhere = copy.run_directory.parent / 'exported'
    copy.pitot('export', copy.run_directory, '-f', 'md', '-o', elsewhere)
    need(next(elsewhere.glob('*.md'), None), 'export')
    need('md' in copy.pitot('export', '--help'), 'export --help')


def a_rule(copy):
    """C320: the recipe of a verdict rule: explain, its page and the report; its tests pass."""
    explained = copy.pitot('explain', copy.run_directory)
    need(re.search(r'^Run queue too long: .* \[run-queue-long\]$', explained, re.M), explained)
    ids = [v['id'] for v in
           json.loads(copy.pitot('explain', '--json', copy.run_directory))['verdicts']]
    need('run-queue-long' in ids, f'explain --json: {ids}')
    need('### run-queue-long' in copy.pitot('docs', 'explain'), 'docs explain')
    need(not copy.report or 'run-queue-long' in json.dumps(copy.report), 'report')
    for name in ('rules', 'verdict'):
        done = subprocess.run([copy.build / f'tests/unit/{name}_test'], capture_output=True,
                              text=True, check=False, env=ENVIRONMENT)
        need(done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:])


def a_figure(copy):
    """C320: the recipe of a figure: the summary and the report have it."""
    need(re.search(r'^Page cache +[0-9.]+ [MG]iB +', copy.summary, re.M), copy.summary)
    need_figure(copy, 'Page cache', 'bytes')


def judge(number, sentence, function):
    try:
        function()
        print(f'ok {number} - {sentence}', flush=True)
        return True
    except Exception:
        print(f'not ok {number} - {sentence}')
        for line in traceback.format_exc().splitlines():
            print('#   ' + line)
        sys.stdout.flush()
        return False


def main():
    if not BUILD.is_relative_to(SOURCE):
        print('1..0 # SKIP the build directory is not inside the source')
        return 0
    checks = [a_metric, a_collector, an_alias, a_format, a_rule, a_figure]
    print(f'1..{1 + len(checks)}')
    with tempfile.TemporaryDirectory(prefix='pitot-recipes-') as place:
        directory, copies = pathlib.Path(place).resolve(), []

        def make_copy():
            found = recipes((SOURCE / 'CONTRIBUTING.md').read_text())
            need(tuple(found) == RECIPES, f'recipes: {list(found)}')
            tree = directory / 'tree'
            copy_tree(tree)
            for diff in found.values():
                apply(diff, tree)
            build = set_up(tree)
            compile_copy(build)
            copies.append(Copy(build, directory))

        done = [judge(1, 'C320: all recipes of CONTRIBUTING.md apply, build and record', make_copy)]
        for number, check in enumerate(checks, 2):
            done.append(judge(number, check.__doc__.strip(),
                              lambda check=check: check(*(copies or [None]))))
    return 0 if all(done) else 1


if __name__ == '__main__':
    sys.exit(main())
