#!/usr/bin/python3
"""pitot symbolize: a stripped program is profiled, its debug file is given later. Arguments as for
cpu.py. The same samples are read before and after, so that what is compared is exact."""
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import threading

from profiles import need_perf, read_folded
from harness import ENVIRONMENT, Skip, WORKLOAD, contains, equal, main, run

RATE = 999


def tool(*words):
    try:
        return subprocess.run([str(word) for word in words], check=True, capture_output=True,
                              text=True).stdout
    except FileNotFoundError:
        raise Skip(f'no {words[0]}') from None


def stripped(directory):
    """A copy of the program without symbols, and the file with them."""
    program, debug = directory / 'program', directory / 'symbols' / 'any-name'
    debug.parent.mkdir()
    shutil.copy(WORKLOAD, program)
    tool('objcopy', '--only-keep-debug', program, debug)
    tool('strip', '--strip-all', program)
    return program, debug


def profiled(directory, program, what):
    path = directory / 'profile.pitotprof'
    code, _, err = run('cpu', '--rate', RATE, '-o', path, '--', program, what)
    need_perf(code, err)
    equal(code, 3, err)
    return path


def folded(profile):
    path = profile.with_suffix('.folded')
    code, _, err = run('cpu', 'show', '-q', profile, '-o', path)
    equal(code, 0, err)
    return read_folded(path)


def total(stacks):
    return sum(weight for _, weight in stacks)


def names(stacks):
    return {frame for frames, _ in stacks for frame in frames}


def build_id(program):
    return re.search(r'Build ID: ([0-9a-f]+)', tool('readelf', '-n', program))[1]


def debug_file_later(directory):
    """C241: names, inlined functions and lines are added once the debug file is there"""
    program, debug = stripped(directory)
    profile = profiled(directory, program, 'inlines')
    before = folded(profile)
    assert not names(before) & {'inlines', 'was_inlined', 'main'}, names(before)
    code, _, err = run('symbolize', profile, '--debug-dir', debug.parent)
    equal(code, 0, err)
    contains(err, 'addresses without debug information')
    after = folded(profile)
    equal(total(after), total(before))
    assert {'inlines', 'was_inlined', 'main'} <= names(after), names(after)
    hottest = max(after, key=lambda stack: stack[1])[0]
    assert hottest.index('main') < hottest.index('inlines') < hottest.index('was_inlined'), hottest
    code, out, err = run('cpu', 'show', profile, '--lines', 'burner.c:was_inlined')
    equal(code, 0, err)
    source = (pathlib.Path(__file__).with_name('burner.c')).read_text().splitlines()
    first = next(i for i, line in enumerate(source, 1) if 'void was_inlined' in line)
    lines = [int(line.split()[4]) for line in out.splitlines()[2:]]
    assert lines and all(first <= line <= first + 6 for line in lines), out


def nothing_to_add(directory):
    """C241: without a debug file all stays as it was, and what is missing is named by build id"""
    program, _ = stripped(directory)
    profile = profiled(directory, program, 'shares')
    before = folded(profile)
    identity = build_id(program)
    program.unlink()
    code, _, err = run('symbolize', profile)
    equal(code, 0, err)
    contains(err, f'no debug file for {program} (build id {identity})')
    equal(folded(profile), before)
    assert any(name.startswith('program+0x') for name in names(before)), names(before)


def other_build(directory):
    """C241: a debug file of another build is not taken, whatever its name"""
    program, debug = stripped(directory)
    profile = profiled(directory, program, 'shares')
    before = folded(profile)
    other = bytearray(debug.read_bytes())
    place = other.find(bytes.fromhex(build_id(debug)))
    other[place] ^= 1
    debug.write_bytes(other)
    identity = build_id(program)
    layout = debug.parent / '.build-id' / identity[:2]
    layout.mkdir(parents=True)
    shutil.copy(debug, layout / f'{identity[2:]}.debug')
    (debug.parent / 'text').write_text('no ELF file\n')
    code, _, err = run('symbolize', profile, '--debug-dir', debug.parent)
    equal(code, 0, err)
    equal(folded(profile), before)


def again(directory):
    """C241: symbols that are already there are not added twice"""
    program, debug = stripped(directory)
    profile = profiled(directory, program, 'inlines')
    for _ in range(2):
        code, _, err = run('symbolize', profile, '--debug-dir', debug.parent)
        equal(code, 0, err)
        stacks = folded(profile)
        assert all(frames.count('was_inlined') <= 1 for frames, _ in stacks), stacks
        last = stacks
    equal(folded(profile), last)


def of_a_run(directory):
    """C241: the profile of a run is found by the run, and -o writes another format instead"""
    program, debug = stripped(directory)
    code, _, err = run('record', f'--cpu={RATE}', '-f', 'csv', '-t', 100, '-o', directory / 'out',
                       '--', program, 'shares')
    equal(code, 3, err)
    if 'no CPU profile' in err:
        raise Skip(err.strip())
    saved = next((directory / 'out').glob('*.pitotprof'))
    before = saved.read_bytes()
    target = directory / 'named.folded'
    code, _, err = run('symbolize', directory / 'out', '--debug-dir', debug.parent, '-o', target)
    equal(code, 0, err)
    assert 'three_quarters' in names(read_folded(target))
    equal(saved.read_bytes(), before)
    code, _, err = run('symbolize', directory / 'out', '--debug-dir', debug.parent)
    equal(code, 0, err)
    assert 'three_quarters' in names(folded(saved))


def from_a_server(directory):
    """C241: debug files come from the servers of DEBUGINFOD_URLS, and nobody is asked without it"""
    program, debug = stripped(directory)
    profile = profiled(directory, program, 'shares')
    place = directory / 'served' / 'buildid' / build_id(program)
    place.mkdir(parents=True)
    debug.rename(place / 'debuginfo')
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=directory / 'served')

        def log_message(self, *arguments):
            asked.append(self.path)

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        code, _, err = run('symbolize', profile)
        equal((code, asked), (0, []), err)
        urls = f'http://127.0.0.1:9/ http://127.0.0.1:{server.server_port}/'
        code, _, err = run('symbolize', profile, env=ENVIRONMENT | {'DEBUGINFOD_URLS': urls})
        equal(code, 0, err)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert f'/buildid/{build_id(program)}/debuginfo' in asked, asked
    assert 'three_quarters' in names(folded(profile)), err


def wrong_words(directory):
    """C241: failures are reported, with exit codes 1 and 2"""
    text = directory / 'damaged.pitotprof'
    text.write_text('no profile')
    for words, expected, said in (
            ([], 2, 'give one profile'),
            ([text], 1, 'damaged.pitotprof'),
            ([directory / 'nothing.pitotprof'], 1, 'cannot read'),
            ([directory], 1, 'there is no run'),
            ([text, '--debug-dir', directory / 'nowhere'], 2, 'nowhere'),
            ([text, '-o', directory / 'x.unknown'], 2, 'x.unknown')):
        code, _, err = run('symbolize', *words)
        equal(code, expected, err)
        contains(err, said)


if os.environ.get('DEBUGINFOD_URLS'):
    ENVIRONMENT.pop('DEBUGINFOD_URLS')
main(debug_file_later, nothing_to_add, other_build, again, of_a_run, from_a_server, wrong_words,
     jobs=2)
