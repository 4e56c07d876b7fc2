"""What the tests of profiles share, beside the harness of the end-to-end tests."""
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'e2e'))
from harness import ENVIRONMENT, PITOT, Skip, need_root, public

ENVIRONMENT['PITOT_MODULES'] = os.environ.get('PITOT_MODULES', '')
NOBODY = ['setpriv', '--reuid', '65534', '--clear-groups', '--bounding-set=-all', '--inh-caps=-all']


def again(test):
    """A busy machine makes timers late, and shares wrong: what fails is tried once more."""
    @functools.wraps(test)
    def twice(directory):
        try:
            test(directory)
        except AssertionError as reason:
            print(f'# {test.__name__} is tried again: {str(reason)[:200]!r}', flush=True)
            other = directory / 'again'
            other.mkdir()
            test(other)
    return twice


@contextlib.contextmanager
def busy_machine(program):
    """Others want the CPUs meanwhile."""
    others = [subprocess.Popen([program, 'until-told'], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL) for _ in range(6)]
    try:
        yield
    finally:
        for other in others:
            other.stdin.close()
        for other in others:
            other.wait(20)


def as_nobody(directory, *wrapper):
    """Options of run() for Pitot as a user without rights; `wrapper` are words before it."""
    need_root()
    if not shutil.which('setpriv'):
        raise Skip('setpriv is missing')
    modules = ENVIRONMENT['PITOT_MODULES'] or os.path.join(os.path.dirname(PITOT), 'modules')
    return {'wrapper': [*NOBODY, *wrapper], 'program': public(directory, PITOT),
            'env': ENVIRONMENT | {'PITOT_MODULES': public(directory, modules)}}


def need_perf(code, words):
    if code == 125 and 'perf_event' in words:
        raise Skip(words.strip())


def read_folded(path):
    """(frames, weight) of each line."""
    lines = pathlib.Path(path).read_text().splitlines()
    return [(line.rpartition(' ')[0].split(';'), int(line.rpartition(' ')[2])) for line in lines]


def share(stacks, function):
    """Of all weight: what has the function in its stack."""
    total = sum(weight for _, weight in stacks)
    assert total > 0, 'the profile is empty'
    return sum(weight for frames, weight in stacks if function in frames) / total


def near(actual, expected, what, margin=0.1):
    assert abs(actual - expected) <= margin, f'{what}: {actual:.3f}, expected {expected:.3f}'


def cpu_ticks(pid):
    words = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return int(words[11]) + int(words[12])


def rooted(err):
    found = re.search(r'([0-9.]+) % of \d+ stacks reach the root', err)
    assert found, err
    return float(found[1])


def hottest(stacks):
    return max(stacks, key=lambda stack: stack[1])[0]


def order(frames, *names):
    """The names stand in the stack one below the other, neighbours or not."""
    places = [len(frames) - 1 - frames[::-1].index(name) for name in names]
    assert places == sorted(places), f'{names} in {frames}'


def merged(err):
    found = re.search(r'python: ([0-9.]+) % of \d+ samples are', err)
    assert found, err
    return float(found[1])


def interpreters():
    """One of each version that is here, on the path or by pyenv."""
    found = {}
    for minor in range(9, 15):
        installed = pathlib.Path.home().glob(f'.pyenv/versions/3.{minor}.*/bin/python3.{minor}')
        for path in [shutil.which(f'python3.{minor}'), *sorted(installed)]:
            works = path and subprocess.run([path, '-c', 'import hashlib'], capture_output=True,
                                            check=False).returncode == 0
            if works and minor not in found:
                found[minor] = path
    return found


def gil(err):
    """Percent of the samples inside Python: the GIL held, and wanted by others."""
    found = re.search(r'GIL: held in ([0-9.]+) % of \d+ samples inside Python, '
                      r'wanted by other threads in ([0-9.]+) %', err)
    assert found, err
    return float(found[1]), float(found[2])


def check_gil(words, profiled):
    """`profiled` is what Pitot said of that part of workload.py."""
    said = {what: gil(profiled(what)) for what in ('shares', 'contended', 'released')}
    words = f'{words}: {said}'
    assert said['shares'][0] > 70 and said['shares'][1] < 10, words
    assert said['contended'][0] > 50 and said['contended'][1] > 40, words
    assert said['released'][0] < 50 and said['released'][1] < 25, words
