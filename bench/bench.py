"""What the benchmark scripts share, as bench.h is for the programs: where things are, what the
kernel counts, servers, and rows of the table that bench/run puts together.

Each script is called with the build directory and nothing else."""
import collections
import contextlib
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile


def build_directory():
    build = pathlib.Path(sys.argv[1]).resolve()
    os.environ['PITOT_MODULES'] = str(build / 'modules')
    return build


def row(what, own, reference='', ratio='', goal=''):
    """The texts of one; a number for the ratio has two digits after the point."""
    if isinstance(ratio, float):
        ratio = f'{ratio:.2f}'
    cells = (f' {cell} ' if cell else ' ' for cell in (what, own, reference, ratio, goal))
    print(f'|{"|".join(cells)}|', flush=True)


def not_measured(what, why):
    row(what, f'not measured: {why}')


def run(words, environment=None):
    """(CPU seconds of it and all it started, standard output, standard error)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*map(str, words)], env=environment, capture_output=True, text=True,
                          check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f'{words[0]} failed: {done.returncode}\n{done.stderr}')
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout,
            done.stderr)


def cpu_seconds(call):
    """Of this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


def cpu_us(pid):
    """Time on a CPU of all threads that live."""
    return sum(int((thread / 'schedstat').read_text().split()[0])
               for thread in pathlib.Path(f'/proc/{pid}/task').iterdir()) / 1000


def status_bytes(pid, name):
    """A line of /proc/PID/status: VmRSS, VmHWM."""
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith(f'{name}:'):
            return int(line.split()[1]) * 1024
    sys.exit(f'there is no {name} of process {pid}')


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def server(words, url, environment=None):
    """The process and its first answer; ended afterwards."""
    process = subprocess.Popen([*map(str, words)], env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        yield process, wait_for(url)
    finally:
        process.terminate()
        process.wait()


def wait_for(url):
    for _ in range(200):
        try:
            return get(url)
        except OSError:
            time.sleep(0.05)
    sys.exit(f'{url} does not answer')


@contextlib.contextmanager
def package(build):
    """The directory with the Python package of this interpreter, which can be imported."""
    tag = 'cp%d%d' % sys.version_info[:2]
    wheel, = (build / 'python').glob(f'pitot-*-{tag}-{tag}-*.whl')
    with tempfile.TemporaryDirectory(prefix='pitot-bench-') as directory:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory)
        sys.path.insert(0, directory)
        yield directory


class DocumentCollector:
    """As document 1 has it, and as one writes it."""

    def __init__(self, shortest=0):
        self.timing_metrics = collections.deque(maxlen=1000)
        self.shortest = shortest

    @contextlib.contextmanager
    def time_component(self, component_name):
        start_time = time.perf_counter()
        yield
        elapsed = time.perf_counter() - start_time
        if elapsed >= self.shortest:
            self.timing_metrics.append((component_name, elapsed, time.time()))
