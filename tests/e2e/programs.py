#!/usr/bin/python3
"""Real programs do under Pitot what they do alone: exit code, output and files are equal, in every
mode. `make test` runs a few of them, `make torture` all. What is not installed is left out."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

from harness import ENVIRONMENT, PITOT, Skip, amount, equal, main, summary

LIBRARY = os.path.abspath(sys.argv[3])
MODES = {
    'plain': [PITOT, 'record', '-q', '-o', 'OUT', '--'],
    'timers': [PITOT, 'record', '-q', '-o', 'OUT', '--cpu=200', '--method', 'timer', '--'],
    'heap': [PITOT, 'record', '-q', '-o', 'OUT', '--heap', '--'],
    'libpitot': ['env', f'LD_PRELOAD={LIBRARY}', 'PITOT_REGION=OUT'],
}
if b'__asan_init' in pathlib.Path(PITOT).read_bytes(): # a sanitizer must come first in a program
    del MODES['libpitot']
ENV = ENVIRONMENT | {'HOME': '/tmp', 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC', 'GIT_CONFIG_NOSYSTEM': '1',
                     'GIT_CONFIG_GLOBAL': '/dev/null', 'PERL_HASH_SEED': '0', 'PYTHONHASHSEED': '0',
                     'PYTHONDONTWRITEBYTECODE': '1', 'GOCACHE': '/tmp/pitot-go-cache',
                     'GOTOOLCHAIN': 'local', 'NO_COLOR': '1',
                     **{f'GIT_{who}_{what}': text for who in ('AUTHOR', 'COMMITTER') for what, text
                        in (('NAME', 'a'), ('EMAIL', 'a@b'), ('DATE', '1700000000 +0000'))}}
C_FILE = 'int main(int argc, char **argv) { (void)argv; return argc + 4; }'

PROGRAMS = [line.replace('\\n', '\n')
            for line in pathlib.Path(__file__).with_suffix('.list').read_text().splitlines()
            if not line.startswith('#')]
SHORT = 12

FILES = {'text': ''.join(f'line {i} of the text, {i * i % 97} words\n' for i in range(400)),
         'numbers': ''.join(f'{i * 7919 % 1000}\n' for i in range(300)),
         'data.json': '{"a": [1, 2, 3], "b": {"c": null}}',
         'program.c': C_FILE,
         'program.cc': '#include <iostream>\n#include <vector>\n'
                       'int main() { std::vector<int> v(9, 3); try { throw 4; } '
                       'catch (int e) { std::cout << v.size() * e << std::endl; } }',
         'program.go': 'package main\nimport "fmt"\nfunc main() { c := make(chan int)\n'
                       'go func() { c <- 6 }()\nfmt.Println(<-c * 7) }',
         'program.rs': 'fn main() { let v: Vec<u64> = (1..50).collect(); '
                       'println!("{}", v.iter().sum::<u64>()); std::process::exit(2) }',
         'makefile': 'all: b\n\t@cat b\nb:\n\t@echo made > b\n',
         'change.diff': '--- text\n+++ text\n@@ -1,2 +1,2 @@\n-line 0 of the text, 0 words\n'
                        '+changed\n line 1 of the text, 1 words\n'}


def run(directory, words, command):
    """(exit code, stdout, stderr, the files it leaves)."""
    place = directory / 'place' # the same name each time: programs print it
    shutil.rmtree(place, ignore_errors=True)
    out = directory / 'out'
    shutil.rmtree(out, ignore_errors=True)
    place.mkdir()
    out.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
        os.utime(place / name, (1e9, 1e9))
    done = subprocess.run([word.replace('OUT', str(out)) for word in words] +
                          ['bash', '-c', command], cwd=place, env=ENV,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    left = {str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in place.rglob('*') if path.is_file() and '/.git/' not in str(path)
            and path.suffix not in ('.o',) and path.name not in ('program', 'rusty', 'cpp')}
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode # as a shell sees it
    return code, done.stdout, done.stderr, left


def check(number, command):
    def test(directory):
        alone = run(directory, [], command)
        if b'command not found' in alone[2]:
            raise Skip(alone[2].decode().strip())
        assert b'syntax error' not in alone[2].lower(), alone[2]
        for mode, words in MODES.items():
            equal(run(directory, words, command), alone, f'{mode}: {command}')
    words = ' '.join(command[:50].replace('#', '').split())
    test.__doc__ = f'C244: a program behaves as alone in all modes ({number}: {words})'
    return test


present = [command for command in PROGRAMS if shutil.which(command.split()[0])]
chosen = present[:amount(SHORT, len(present))]
summary(f'programs: {len(chosen)} of {len(PROGRAMS)} (those installed) x {len(MODES)} modes, '
        'exit code, output and files as alone')
main(*(check(number, command) for number, command in enumerate(chosen, 1)))
