"""What cases are made of: recording, cgroups, neighbours, engines and GPUs that play a script."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

PITOT = os.path.abspath(sys.argv[1])
CPUS = len(os.sched_getaffinity(0))
DISTURBED = 0.25 # of all CPUs, taken by others
LOOP = 'while :; do :; done'
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith('PITOT')}
CASES = []


class Skip(Exception):
    """This machine cannot make the case."""


def case(*labels, held_out=False):
    def add(function):
        CASES.append((function.__name__.replace('_', '-'), set(labels), held_out, function))
        return function
    return add


def need(program):
    if not shutil.which(program):
        raise Skip(f'{program} is not installed')


def record(directory, command, *options, wrapper=(), interval='200', environment=()):
    """Records; the command may end in any way."""
    words = [*wrapper, PITOT, '-q', '-f', 'csv', '-t', interval, '-o', str(directory / 'run'),
             *options, '--', *command]
    subprocess.run(words, env=ENVIRONMENT | dict(environment), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=120)


def python(text, *arguments):
    return ['timeout', '-s', 'KILL', '60', sys.executable, '-c', text, *map(str, arguments)]


@contextlib.contextmanager
def cgroup(controller, **settings):
    """A group of cgroup v1 or v2 with these files; yields the words that start a program in it."""
    root = pathlib.Path('/sys/fs/cgroup')
    place = (root / controller if (root / controller).exists() else root) / f'verdict-{os.getpid()}'
    try:
        place.mkdir()
    except OSError as reason:
        raise Skip(f'no cgroup: {reason}') from reason
    try:
        for name, value in settings.items():
            file = place / name.replace('__', '.', 1)
            if file.exists():
                file.write_text(str(value))
        yield ['sh', '-c', f'echo $$ >{place}/cgroup.procs && exec "$@"', 'sh']
    except OSError as reason:
        raise Skip(f'no limit can be set: {reason}') from reason
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                place.rmdir()
            if not place.exists():
                break
            time.sleep(0.05)


def memory_cgroup(limit):
    return cgroup('memory', memory__limit_in_bytes=limit, memory__max=limit,
                  memory__swap_max=0)


@contextlib.contextmanager
def background(*commands):
    running = [subprocess.Popen(c, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for c in commands]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def compiled(directory, text):
    """A C program of that text, with threads and names."""
    need('cc')
    (directory / 'program.c').write_text(text)
    subprocess.run(['cc', '-O2', '-g', '-pthread', '-o', directory / 'program',
                    directory / 'program.c'], check=True)
    return str(directory / 'program')


def demo(directory, *options, seconds=8):
    record(directory, [PITOT, 'demo', '--serve', '--self-load', '--seconds', str(seconds),
                       *options])


def engine(directory, *engines, command=()):
    """Engines that play a script, a dictionary of scripted_engine.py each, and commands."""
    program = pathlib.Path(__file__).parent / 'scripted_engine.py'
    lines = [' '.join([sys.executable, str(program), '8', *(f'{k}={v}' for k, v in e.items())])
             for e in engines]
    record(directory, ['sh', '-c', ' & '.join([*lines, *command]) + ' & wait'])


def gpu(directory, use, command=('sleep', '6'), step_ms=100, **lines):
    """A library with the functions of NVML that plays a script."""
    library = pathlib.Path(PITOT).parent / 'tests/nvml/libscripted-nvml.so'
    if not library.exists():
        raise Skip('no scripted NVML; configure with -Dtests=enabled')
    answers = {
        'SystemGetDriverVersion': '550.54.15', 'DeviceGetName': 'NVIDIA_H100',
        'DeviceGetUUID': 'GPU-1', 'DeviceGetPciInfo': '0:0x3b:0',
        'DeviceGetUtilizationRates': use, 'DeviceGetTemperature/0': 55,
        'DeviceGetMemoryInfo_v2': '85899345920:536870912:64424509440:20937965568',
        'DeviceGetPowerUsage': 300000, 'DeviceGetEnforcedPowerLimit': 700000,
        'DeviceGetClockInfo/1': 1980, 'DeviceGetCurrPcieLinkGeneration': 4,
        'DeviceGetCurrPcieLinkWidth': 16, 'DeviceGetPcieThroughput/0': 1000,
        'DeviceGetPcieThroughput/1': 1000, 'GpmQueryDeviceSupport': 1, 'GpmSampleAlloc': 1,
        'GpmSampleGet': 1, 'GpmMetricsGet': 1,
    } | {re.sub(r'_(\d+)$', r'/\1', key): value for key, value in lines.items()}
    script = directory / 'script'
    script.write_text(f'devices 1\nstep_ms {step_ms}\n' + ''.join(
        f'nvml{name} * {answer}\n' for name, answer in answers.items()))
    record(directory, command,
           environment={'PITOT_NVML': str(library), 'SCRIPTED_NVML': str(script)})
