"""What the end-to-end tests share: running Pitot, reading its files with Python's own csv, and TAP.

A test is a function that takes a new empty directory (pathlib.Path); its docstring is the sentence
it proves. It fails by an exception and is left out by raising Skip. Tests run side by side, so
none of them changes the state of this process.

E2E_TESTS=3,7 in the environment runs the third and the seventh test only; E2E_TESTS=list prints how
many there are. TORTURE=1 runs the long form of the tests that have one (`make torture`).
"""
import concurrent.futures
import contextlib
import csv
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

PITOT, WORKLOAD = map(os.path.abspath, sys.argv[1:3])
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(('PITOT', 'XDG_', 'LC_'))}
ENVIRONMENT |= {'LC_ALL': 'C', 'TERM': 'dumb', 'HOME': '/nonexistent'}


IS_TORTURE = bool(os.environ.get('TORTURE'))
_summaries = []


def amount(short, long):
    """How many, here and in `make torture`."""
    return long if IS_TORTURE else short


def summary(text):
    """A figure of the long form, for docs/RELIABILITY.md."""
    _summaries.append(text)


class Skip(Exception):
    """The machine does not allow this test."""


def start(*arguments, wrapper=(), program=PITOT, **options):
    """Pitot as a process, started by the words of `wrapper` if there are any."""
    options = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE,
               'env': ENVIRONMENT, 'text': True} | options
    return subprocess.Popen([*wrapper, program, *map(str, arguments)], **options)


def end(process, timeout=180):
    """Waits; (exit code, stdout, stderr)."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


def run(*arguments, **options):
    return end(start(*arguments, **options))


def table(directory, name=''):
    """Rows of the only run of a directory: '' is the main file, 'processes' ... the others."""
    pattern = f'*.{name}.csv' if name else '*-' + '?' * 12 + '.csv'
    files = list(pathlib.Path(directory).glob(pattern))
    assert len(files) == 1, f'{pattern} in {directory}: {files}'
    with open(files[0], newline='') as file:
        return list(csv.DictReader(file))


def integers(rows, column):
    return [int(row[column]) for row in rows if row[column]]


def growth(rows, column):
    values = integers(rows, column)
    assert values, f'{column} is empty'
    return values[-1] - values[0]


def wait_until(condition, what, seconds=20):
    """The event itself is waited for; the limit is only for what never comes."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f'waited {seconds} s in vain: {what}')


def wait_for_samples(directory):
    """Until something is written to the journal of the run after what is there now."""
    def size():
        return sum(journal.stat().st_size for journal in directory.glob('*.pitot'))
    before = wait_until(size, 'a journal')
    wait_until(lambda: size() > before + 1000, 'samples')


@contextlib.contextmanager
def workload(*words):
    """A mode of the workload that says when it is ready and ends with its input; its process id."""
    process = subprocess.Popen([WORKLOAD, *map(str, words)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout.readline() != 'ready\n':
            raise Skip(f'{" ".join(map(str, words))} is not allowed here')
        yield process.pid
    finally:
        process.communicate()


def check_ticks(row):
    """Every tick that was due is a sample, late or dropped; this row is of the next sample."""
    taken, late, dropped = (int(row[name]) for name in ('colCalls', 'colLateTicks',
                                                        'colDroppedTicks'))
    equal(taken + 1 + late + dropped, int(row['colTicks']), 'ticks taken, late and dropped')


def pids_with(marker, program=None):
    """Processes, zombies apart, that have the marker as an argument (and that program as first)."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / 'cmdline').read_bytes().split(b'\0')
                if marker.encode() in words and program in (None, words[0].decode()):
                    found.append(int(entry.name))
    return found


def cgroup_of(pid):
    """Directory of a process in the v2 hierarchy, or None."""
    for line in pathlib.Path(f'/proc/{pid}/cgroup').read_text().splitlines():
        for mount in ('/sys/fs/cgroup/unified', '/sys/fs/cgroup'):
            place = pathlib.Path(mount + line.removeprefix('0::'))
            if line.startswith('0::') and (place / 'cgroup.procs').exists():
                return place
    return None


def remove_cgroup(place):
    """An empty cgroup, as soon as the kernel has let go of its last process."""
    def is_gone():
        with contextlib.suppress(OSError):
            place.rmdir()
        return not place.exists()
    wait_until(is_gone, f'{place} can be removed')


def state_of(pid):
    """Its letter in /proc, or '' when there is no such process."""
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return ''


def is_alive(pid):
    return state_of(pid) not in ('', 'Z', 'X')


def kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def session(leader):
    """The living processes of a session, without its leader."""
    found = []
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != leader:
            with contextlib.suppress(OSError):
                if os.getsid(int(name)) == leader and is_alive(int(name)):
                    found.append(int(name))
    return found


def end_session(leader):
    """Kills what a test has left behind in the session of a terminal that is gone."""
    for pid in session(leader):
        kill(pid)


@contextlib.contextmanager
def swept_cgroups():
    """Removes the empty cgroups that recorders leave when they are killed inside the block."""
    parent = cgroup_of('self')

    def found():
        names = os.listdir(parent) if parent else []
        return {parent / name for name in names
                if name.startswith('pitot-')}
    before = found()
    yield
    time.sleep(0.2) # a process leaves its cgroup a moment after its end
    for place in found() - before:
        with contextlib.suppress(OSError): # it belongs to another recorder
            place.rmdir()


def equal(actual, expected, what=''):
    assert actual == expected, f'{what}: {actual!r}, expected {expected!r}'


def contains(text, part):
    assert part in text, f'{part!r} is not in {text!r}'


def need_root():
    if os.geteuid() != 0:
        raise Skip('needs root')


def public(directory, path):
    """A copy in the directory of the test that every user may read and run: the tree may be in a
    home that only its owner can enter."""
    os.chmod(directory, 0o777)
    copy = directory / 'public' / os.path.basename(path)
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, copy)
        subprocess.run(['chmod', '-R', 'a+rX', copy.parent], check=True)
    return str(copy)


def judge(test):
    with tempfile.TemporaryDirectory(prefix='pitot-e2e-', ignore_cleanup_errors=True) as directory:
        try:
            test(pathlib.Path(directory))
            return 'ok', ''
        except Skip as reason:
            return 'skip', str(reason)
        except Exception:
            return 'not ok', traceback.format_exc()


def chosen(tests):
    """Those that the environment names; all by default."""
    names = os.environ.get('E2E_TESTS')
    if names == 'list':
        print(len(tests))
        sys.exit(0)
    return [tests[int(name) - 1] for name in names.split(',')] if names else tests


def main(*tests, jobs=4):
    tests = chosen(tests)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number, (test, (result, words)) in enumerate(zip(tests, pool.map(judge, tests)), 1):
            title = ' '.join(test.__doc__.split())
            if result == 'skip':
                print(f'ok {number} - {title} # SKIP {words}', flush=True)
                continue
            print(f'{result} {number} - {title}', flush=True)
            for line in words.splitlines():
                print(f'#   {line}', flush=True)
            failed += result == 'not ok'
    print(f'1..{len(tests)}', flush=True)
    for text in _summaries:
        print(f'# summary: {text}', flush=True)
    sys.exit(1 if failed else 0)
