#!/usr/bin/python3
"""Records workloads whose bottleneck is known, and compares what `pitot explain` says.

    tests/verdicts/run.py PITOT [CASE ...]

Prints a line a case and a confusion matrix. A case is a function with a label: the verdicts that
are right. Cases marked as held out were never used to choose thresholds and are counted apart. A
machine that is busy with other work disturbs: then `cpu-steal` is right as well, and the case is
counted as disturbed. The exit code is 1 if fewer than 90 % are right or a confident verdict is
wrong. Needs root for cgroups, stress-ng and fio; a case that cannot be made is left out.
"""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
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


# CPU

@case('cpu-bound')
def all_cores(directory):
    loops = ' & '.join([f'({LOOP})'] * CPUS)
    record(directory, ['timeout', '6', 'sh', '-c', f'{loops} & wait'])


@case('cpu-bound', held_out=True)
def all_cores_stress(directory):
    need('stress-ng')
    record(directory, ['stress-ng', '--matrix', str(CPUS), '-t', '6'], '-p')


@case('single-thread-bound')
def one_loop(directory):
    record(directory, ['timeout', '6', 'sh', '-c', LOOP], '-p')


@case('single-thread-bound', 'inconclusive')
def one_loop_without_processes(directory):
    record(directory, ['timeout', '6', 'sh', '-c', LOOP])


@case('single-thread-bound', held_out=True)
def one_loop_python(directory):
    record(directory, python('import time\nend=time.time()+6\n'
                             'while time.time()<end: sum(range(10000))'), '-p')


@case('single-thread-bound', 'gil-bound')
def threads_under_a_lock(directory):
    record(directory, python('''
import threading, time
end = time.time() + 6
def work():
    while time.time() < end:
        sum(range(10000))
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
'''), '-p')


@case('cpu-throttled')
def quota_of_a_fifth(directory):
    with cgroup('cpu', cpu__cfs_quota_us=20000, cpu__max='20000 100000') as wrapper:
        record(directory, ['timeout', '6', 'sh', '-c', LOOP], wrapper=wrapper)


@case('cpu-throttled', held_out=True)
def quota_with_many_threads(directory):
    need('stress-ng')
    with cgroup('cpu', cpu__cfs_quota_us=60000, cpu__max='60000 100000') as wrapper:
        record(directory, ['stress-ng', '--cpu', '4', '-t', '6'], '-p', wrapper=wrapper)


@case('nothing')
def quota_not_reached(directory):
    with cgroup('cpu', cpu__cfs_quota_us=90000, cpu__max='90000 100000') as wrapper:
        record(directory, ['sleep', '5'], wrapper=wrapper)


@case('cpu-steal')
def neighbours(directory):
    with background(*[['sh', '-c', LOOP]] * (3 * CPUS)):
        record(directory, ['timeout', '6', 'sh', '-c', LOOP])


@case('nothing')
def asleep(directory):
    record(directory, ['sleep', '5'])


@case('nothing', held_out=True)
def a_little_work(directory):
    need('stress-ng')
    record(directory, ['stress-ng', '--cpu', '1', '--cpu-load', '15', '-t', '6'], '-p')


@case('nothing', 'inconclusive')
def two_half_loads(directory):
    need('stress-ng')
    record(directory, ['stress-ng', '--cpu', '2', '--cpu-load', '50', '-t', '6'])


# Memory

@case('oom-killed')
def hog_beyond_its_limit(directory):
    with memory_cgroup(96 << 20) as wrapper:
        record(directory, python('''
import time
kept = []
for _ in range(100):
    kept.append(bytearray(2 << 20))
    time.sleep(0.08)
'''), wrapper=wrapper)


@case('oom-killed', held_out=True)
def worker_killed(directory):
    with memory_cgroup(96 << 20) as wrapper:
        record(directory, ['sh', '-c', f'sleep 2; {sys.executable} -c "b=b\'x\'*(1<<28)"; sleep 2'],
               wrapper=wrapper)


@case('memory-limit', 'memory-pressure')
def work_at_the_limit(directory):
    """Reads a file over and over that does not fit into what the limit leaves."""
    big = directory / 'big'
    with open(big, 'wb') as file:
        for _ in range(192):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED) # else it is in our cgroup
    with memory_cgroup(96 << 20) as wrapper:
        record(directory, python('''
import sys, time, mmap
kept = b'x' * (80 << 20)
end = time.time() + 7
while time.time() < end:
    with open(sys.argv[1], 'rb') as file:
        while file.read(1 << 20) and time.time() < end:
            pass
''', big), wrapper=wrapper)


@case('nothing')
def memory_taken_once(directory):
    record(directory, python('import time\nb=b"x"*(300<<20)\ntime.sleep(6)'), '-p')


@case('memory-leak')
def leak(directory):
    record(directory, python('''
import time
kept = []
for _ in range(480):
    kept.append(bytearray(b'x' * (1 << 18)))
    time.sleep(0.1)
'''), '-p')


# Disk

@case('disk-bound')
def synchronous_writes(directory):
    record(directory, ['timeout', '6', 'dd', 'if=/dev/zero', f'of={directory}/out', 'bs=64k',
                       'count=1000000', 'oflag=direct,dsync'])


@case('disk-bound', held_out=True)
def random_reads(directory):
    need('fio')
    record(directory, ['fio', '--name=reads', f'--directory={directory}', '--size=256m',
                       '--rw=randread', '--bs=4k', '--direct=1', '--ioengine=psync',
                       '--numjobs=4', '--time_based', '--runtime=6'], '-p')


# Engine

def demo(directory, *options, seconds=8):
    record(directory, [PITOT, 'demo', '--serve', '--self-load', '--seconds', str(seconds),
                       *options])


@case('queue-bound', 'cpu-bound', 'batch-too-small')
def more_requests_than_it_can(directory):
    demo(directory, '--concurrency', '64')


@case('client-limited', held_out=True)
def a_server_that_nobody_asks(directory):
    record(directory, ['timeout', '6', PITOT, 'demo', '--serve'])


# GPU: a library with the functions of NVML that plays a script

def gpu(directory, use, command=('sleep', '6'), **lines):
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
    } | {key.replace('_', '/'): value for key, value in lines.items()}
    script = directory / 'script'
    script.write_text('devices 1\nstep_ms 100\n' + ''.join(
        f'nvml{name} * {answer}\n' for name, answer in answers.items()))
    record(directory, command,
           environment={'PITOT_NVML': str(library), 'SCRIPTED_NVML': str(script)})


@case('gpu-compute-bound')
def gpu_that_calculates(directory):
    gpu(directory, '99:30', DeviceGetPowerUsage=660000, GpmMetric_2=95000, GpmMetric_5=70000,
        GpmMetric_10=30000)


@case('gpu-bandwidth-bound', held_out=True)
def gpu_that_waits_for_memory(directory):
    gpu(directory, '97:85', GpmMetric_2=90000, GpmMetric_5=15000, GpmMetric_10=85000)


@case('pcie-bound')
def gpu_behind_a_full_link(directory):
    gpu(directory, '30:10', DeviceGetPcieThroughput_1=27000000)


@case('gpu-starved', held_out=True)
def gpu_behind_a_slow_host(directory):
    gpu(directory, '10:5', command=('timeout', '6', 'sh', '-c', LOOP))


@case('nothing')
def gpu_without_work(directory):
    gpu(directory, '0:0')


# Pitot

@case('observer-overhead')
def a_thousand_processes(directory):
    with background(*[['sleep', '60']] * 800):
        record(directory, ['timeout', '6', 'sh', '-c', 'while :; do sleep 0.2; done'], '-p',
               '--max-overhead', '0', interval='10')


def busy_ticks():
    with open('/proc/stat', encoding='ascii') as file:
        numbers = [int(n) for n in file.readline().split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def judge(labels, function):
    """(what was said, how disturbed, confidence, all ids)"""
    with tempfile.TemporaryDirectory(prefix='pitot-verdict-', dir='/var/tmp') as name:
        directory = pathlib.Path(name)
        busy, total = busy_ticks()
        own = os.times()
        function(directory)
        after = os.times()
        used = after.children_user + after.children_system - own.children_user - own.children_system
        busy, total = busy_ticks()[0] - busy, busy_ticks()[1] - total
        others = max(0, busy / 100 - used) / (total / 100)
        text = subprocess.run([PITOT, 'explain', '--json', str(directory / 'run')], check=True,
                              capture_output=True, text=True).stdout
        found = json.loads(text)
        if os.environ.get('VERDICTS_VERBOSE'):
            print(json.dumps(found['verdicts'], indent=1))
    ids = [v['id'] for v in found['verdicts']]
    said = ids[0] if found['status'] == 'bound' else found['status']
    confidence = found['verdicts'][0]['confidence'] if found['verdicts'] else 0
    return said, others, confidence, ids


def main():
    chosen = set(sys.argv[2:])
    matrix, right, wrong = collections.Counter(), collections.Counter(), []
    counted = collections.Counter()
    for name, labels, held_out, function in CASES:
        if chosen and name not in chosen:
            continue
        try:
            said, others, confidence, ids = judge(labels, function)
        except Skip as reason:
            print(f'{name:28} left out: {reason}')
            continue
        is_disturbed = others > DISTURBED and 'cpu-steal' not in labels
        accepted = labels | ({'cpu-steal'} if is_disturbed else set())
        group = 'disturbed' if is_disturbed else 'held out' if held_out else 'known'
        counted[group] += 1
        right[group] += said in accepted
        matrix[sorted(labels)[0], said] += 1
        if said not in accepted and said not in ('inconclusive', 'nothing'):
            wrong.append(name)
        print(f'{name:28} {"right" if said in accepted else "WRONG":6} {said} {confidence:.2f} '
              f'of {ids}, expected {"/".join(sorted(labels))}, others {others:.0%}', flush=True)
    print_matrix(matrix)
    total, all_right = sum(counted.values()), sum(right.values())
    for group, count in counted.items():
        print(f'{group}: {right[group]} of {count} right')
    print(f'all: {all_right} of {total} right; confident and wrong: {", ".join(wrong) or "none"}')
    sys.exit(1 if wrong or all_right < 0.9 * total else 0)


def print_matrix(matrix):
    print('\nexpected                 said')
    for (label, said), count in sorted(matrix.items()):
        print(f'{label:24} {said:24} {count}')
    print()


main()
