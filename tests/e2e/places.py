#!/usr/bin/python3
"""Output goes where it should and nowhere else: links, FIFOs and directories of attackers at every
output path, modes of files, and escapes that no terminal gets.

    tests/e2e/places.py PITOT WORKLOAD"""
import os
import pathlib
import re
import stat
import subprocess

from harness import PITOT, contains, end, equal, main, need_root, public, run, start, wait_until

NOBODY = 65534
FORMATS = 'csv,tsv,jsonl,json,parquet,trace'
ESCAPES = ['\x1b[31mred', '\x1b]0;title\x07', '\x1b]52;c;Y29weQ==\x07', 'bell\x07', '\x9b31m',
           'back\x08\x08', 'over\rwritten', '\x1bPq#0\x1b\\', '\x1bc', 'nul-like \x01\x02',
           'delete\x7f', '\x85next', '\x0e\x0f']


def record(directory, *options, command=('true',)):
    code, _, err = run('-o', directory, '-q', *options, '--', *command)
    equal(code, 0, err)
    journal, = directory.glob('*.pitot')
    return journal


def outputs(directory, run_directory):
    """(name, arguments, the file they write) of every command that writes a file by name."""
    journal, = run_directory.glob('*.pitot')
    for extension in ('csv', 'tsv', 'jsonl', 'parquet', 'trace.json'):
        name = extension.split('.')[0]
        yield (f'export {name}', ['export', run_directory, '-o', directory, '-f', name],
               directory / f'{journal.stem}.{extension}')
    page = directory / 'page.html'
    yield 'report', ['report', run_directory, '-o', page], page
    yield ('merge', ['merge', run_directory, run_directory, '-o', directory / 'merged.html'],
           directory / 'merged.html')


def test_links_are_not_followed(directory):
    """A symbolic link at an output path is refused, and what it names stays as it was."""
    victim = directory / 'victim'
    victim.write_text('precious')
    record(directory / 'run')
    tried = 0
    for name, arguments, path in outputs(directory / 'out', directory / 'run'):
        path.parent.mkdir(exist_ok=True)
        for target in (victim, directory / 'missing'):
            path.unlink(missing_ok=True)
            path.symlink_to(target)
            code, _, err = run(*arguments)
            if name == 'merge' and code == 2: # two runs of one machine and time
                continue
            equal(code != 0, True, f'{name}: {err}')
            tried += 1
            equal(path.is_symlink(), True, name)
            equal(victim.read_text(), 'precious', name)
            equal((directory / 'missing').exists(), False, name)
        path.unlink()
    equal(tried >= 10, True, f'{tried} tried')


def test_only_own_files_are_replaced(directory):
    """A file of the user, a second name of a file, a directory and a FIFO of another stay; a
    previous output of Pitot is replaced."""
    record(directory / 'run')
    page = directory / 'page.html'
    def report():
        return run('report', directory / 'run', '-o', page)
    page.write_text('my notes')
    code, _, err = report()
    equal(code, 1)
    contains(err, 'was not made by Pitot')
    equal(page.read_text(), 'my notes')
    page.unlink()
    equal(report()[0], 0)
    first = page.stat().st_ino
    equal(report()[0], 0)
    equal(page.stat().st_ino != first, True, 'the page was replaced')
    os.link(page, directory / 'second')
    equal(report()[0], 1, 'a file with two names')
    page.unlink()
    page.mkdir()
    equal(report()[0], 1, 'a directory')
    page.rmdir()
    page.touch()
    equal(report()[0], 0, 'an empty file')
    os.chmod(directory, 0o1777)
    if os.geteuid() == 0:
        page.unlink()
        os.mkfifo(page)
        os.chown(page, NOBODY, NOBODY)
        equal(report()[0], 1, 'a FIFO of another user')
        page.unlink()
        page.write_text('pitot')
        os.chown(page, NOBODY, NOBODY)
        equal(report()[0], 1, 'a file of another user')
    equal([path.name for path in directory.glob('*.tmp')], [], 'nothing is left')


def test_exports_of_a_run_are_replaced(directory):
    """The same export twice works, and its name is never seen half-written."""
    journal = record(directory / 'run', '-f', FORMATS)
    for _ in range(2):
        code, _, err = run('export', directory / 'run', '-f', FORMATS)
        equal(code, 0, err)
    csv = journal.with_suffix('.csv')
    equal(csv.stat().st_size > 0, True)
    equal(list((directory / 'run').glob('*.tmp')), [])


def test_pipes_and_devices_still_work(directory):
    """/dev/stdout, /dev/null and a FIFO of one's own are written directly."""
    record(directory / 'run')
    code, out, err = run('report', directory / 'run', '-o', '/dev/stdout')
    equal(code, 0, err)
    contains(out, '<html')
    equal(run('report', directory / 'run', '-o', '/dev/null')[0], 0)
    fifo = directory / 'fifo.html'
    os.mkfifo(fifo)
    copy = directory / 'copy'
    reader = subprocess.Popen(['sh', '-c', 'cat "$1" > "$2"', 'sh', fifo, copy])
    equal(run('report', directory / 'run', '-o', fifo)[0], 0)
    equal(reader.wait(), 0)
    contains(copy.read_text(), '<html')


def test_planted_directories_are_refused(directory):
    """A link of another user in a directory like /tmp leads nowhere; a link of one's own does."""
    need_root()
    shared, target = directory / 'shared', directory / 'target'
    shared.mkdir()
    os.chmod(shared, 0o1777)
    target.mkdir()
    trap = shared / 'runs'
    trap.symlink_to(target)
    equal(run('-o', trap, '-q', '--', 'true')[0], 0, 'a link of its own')
    made = len(list(target.iterdir()))
    os.chown(trap, NOBODY, NOBODY, follow_symlinks=False)
    for place in (trap, trap / 'deeper'):
        code, _, err = run('-o', place, '-q', '--', 'true')
        equal(code, 125, err)
        contains(err, 'link')
    record(directory / 'run')
    code, _, err = run('report', directory / 'run', '-o', trap / 'page.html')
    equal(code, 1, err)
    equal(len(list(target.iterdir())), made, 'nothing came through')


def modes(directory):
    return {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir() if path.is_file()}


def test_files_of_root_and_of_processes_are_private(directory):
    """Files of a run are 0600 for root and with -p, whatever the umask; else the umask decides."""
    def recorded(name, umask, *options, **how):
        place = directory / name
        shell = f'umask {umask}; exec "$@"'
        code, _, err = run('-o', place, '-q', '-f', FORMATS, '--report', *options, '--', 'true',
                           wrapper=('sh', '-c', shell, 'sh'), **how)
        equal(code, 0, err)
        return modes(place)
    for umask in ('000', '022', '027', '077'):
        if os.geteuid() == 0:
            equal(recorded(f'root{umask}', umask), {0o600}, umask)
    user = {'user': NOBODY, 'group': NOBODY, 'extra_groups': []} if os.geteuid() == 0 else {}
    os.chmod(directory, 0o777)
    program = {'program': public(directory, PITOT)} if os.geteuid() == 0 else {}
    for umask, mode in (('000', 0o666), ('022', 0o644), ('027', 0o640), ('077', 0o600)):
        equal(recorded(f'user{umask}', umask, **user, **program), {mode}, umask)
        equal(recorded(f'private{umask}', umask, '-p', **user, **program), {0o600}, umask)
    # what is made of a private run is private
    code, _, err = run('export', directory / 'private022', '-f', 'csv', '-o', directory / 'made',
                       wrapper=('sh', '-c', 'umask 022; exec "$@"', 'sh'), **user, **program)
    equal(code, 0, err)
    equal(modes(directory / 'made'), {0o600})


def test_no_escape_reaches_a_terminal(directory):
    """Control characters in command lines, names, notes and tags are shown, not sent."""
    place = directory / 'run'
    script = 'import sys; open("/proc/self/comm", "w").write("a\\x1b[31mb"); sys.stdin.read()'
    options = [word for number, text in enumerate(ESCAPES)
               for word in ('--tag', f'tag{number}={text}')]
    recorder = start('-o', place, '-p', '-t', '50', '-f', 'csv,tsv', '-vv', *options, '--',
                     'python3', '-c', script, *ESCAPES, stdin=subprocess.PIPE)
    control = wait_until(lambda: list(place.glob('*.ctl')), 'a recording')[0]
    for text in ESCAPES:
        with open(control, 'wb', buffering=0) as fifo:
            fifo.write(text.encode() + b'\n')
    journal, = place.glob('*.pitot')
    grown = journal.stat().st_size
    wait_until(lambda: journal.stat().st_size > grown + 500, 'samples after the notes')
    code, out, err = end(recorder)
    equal(code, 0, err)
    shown = [out + err]
    for arguments in (['explain', place], ['explain', '--json', place], ['energy', place],
                      ['diff', place, place], ['diff', '--json', place, place], ['doctor'],
                      ['top', '-n', '1', place], ['top', '-n', '1', '--panel', 'marks', place],
                      ['top', '-n', '1', '--panel', 'processes'],
                      *(['report', text] for text in ESCAPES),
                      *(['--engine', f'http://{text}:99999'] for text in ESCAPES)):
        shown.append(''.join(run(*arguments)[1:]))
    for path in place.glob('*.[ct]sv'):
        shown.append(path.read_text())
    found = [re.search(r'.{0,30}[\x00-\x08\x0b-\x1f\x7f-\x9f]', text) for text in shown]
    equal([match[0] for match in found if match], [], 'control characters')


if __name__ == '__main__':
    main(test_links_are_not_followed, test_only_own_files_are_replaced,
         test_exports_of_a_run_are_replaced, test_pipes_and_devices_still_work,
         test_planted_directories_are_refused, test_files_of_root_and_of_processes_are_private,
         test_no_escape_reaches_a_terminal)
