#!/bin/sh
# marks, tags and arguments with quotes, backslashes and control bytes are the same everywhere.
cat >check.py <<'END'
import csv, glob, json, os, re, subprocess
pitot = os.environ['PITOT']
mark, tag, argument = 'm"a\\r\tk\x02\u00e9, end', 't"a\\g\x03\u00e9', 'q"u\\o\t\x01\u00e9,e'
bad = b'\xff' # not UTF-8: becomes U+FFFD


def run(*words, **options):
    return subprocess.run([pitot, *words], check=True, stdout=subprocess.PIPE, **options).stdout


run('-q', '-t', '50', '-f', 'csv,tsv,jsonl,parquet', '-o', 'out', '--report', '--no-collect',
    'containers', '--tag', b'note=' + tag.encode() + bad, '--', 'sh', '-c',
    '"$PITOT" mark "$1"', argument.encode() + bad, mark.encode() + bad)
name = glob.glob('out/*.pitot')[0][:-6]
expected = {'mark': mark + '\ufffd', 'tag': tag + '\ufffd', 'argument': argument + '\ufffd'}


def check(what, where, found):
    print(where, what, 'same' if found == expected[what] else repr(found))


def text(path):
    return open(path, encoding='utf-8', newline='').read()


def undone(cell):
    """Of CSV and TSV, as docs/COMPATIBILITY.md says."""
    letters = re.compile(r'\\(\\|x(..))')
    return letters.sub(lambda m: chr(int(m[2], 16)) if m[2] else '\\', cell[1:]) if cell[0] == "'" else cell


static = json.loads(text(glob.glob('out/static_*.json')[0]))
check('argument', 'static', static['command']['argv'][3])
check('tag', 'static', static['tags']['note'])
check('mark', 'CSV', undone(next(csv.DictReader(open(name + '.marks.csv', newline='')))['mText']))
escapes = {'t': '\t', 'n': '\n', 'r': '\r', '\\': '\\'}
cell = text(name + '.marks.tsv').splitlines()[1].split('\t')[2]
check('mark', 'TSV', undone(re.sub(r'\\(.)', lambda m: escapes[m[1]], cell)))
check('mark', 'JSONL', json.loads(text(name + '.marks.jsonl').splitlines()[0])['mText'])
parquet = open(name + '.marks.parquet', 'rb').read()
check('mark', 'Parquet', expected['mark'] if expected['mark'].encode() in parquet else None)
page = text(name + '.html')
strings = re.findall(r'"(?:[^"\\\n]|\\.)*"', page)
check('mark', 'report', next(json.loads(s) for s in strings if s.startswith('"m\\"a')))
inner = next(json.loads(s) for s in strings if '\\"tags\\": {' in s) # JSON in a string
check('tag', 'report', json.loads(inner)['tags']['note'])
run('-q', '-f', 'csv', '-o', 'other', '--', 'sh', '-c', 'true')
config = json.loads(run('diff', '--json', 'out', 'other'))['config']
check('argument', 'diff', next(c['a'] for c in config if c['key'] == 'command.argv.3'))
run('merge', '-q', '-o', 'merged', name + '.pitot', glob.glob('other/*.pitot')[0])
run('export', '-q', '-f', 'csv', '-o', 'merged', glob.glob('merged/*.pitot')[0])
marks = next(csv.DictReader(open(glob.glob('merged/*.marks.csv')[0], newline='')))
check('mark', 'merged run', undone(marks['mText']))
END
/usr/bin/python3 check.py
