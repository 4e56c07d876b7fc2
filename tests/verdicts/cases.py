"""Workloads whose bottleneck is known. A case is a function; its labels are the right verdicts.

Cases that are held out were written before the rules they are for, or were never looked at while
thresholds were chosen."""
import contextlib
import os
import subprocess
import sys

from workload import (CPUS, LOOP, PITOT, Skip, background, case, cgroup, compiled, demo, engine,
                      gpu, memory_cgroup, need, python, record)

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


PYTHON_THREADS = '''
import sys, threading, time
end = time.time() + 7
def work():
    while time.time() < end:
        sum(i * i for i in range(2000))
threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
[t.start() for t in threads]
[t.join() for t in threads]
'''


@case('gil-bound')
def two_python_threads(directory):
    record(directory, python(PYTHON_THREADS, 2), '-p')


@case('gil-bound', held_out=True)
def a_pool_of_python_threads(directory):
    record(directory, python('''
import concurrent.futures, json, time
text = json.dumps({str(i): list(range(20)) for i in range(100)})
def handle(_):
    return len(json.dumps(json.loads(text)))
with concurrent.futures.ThreadPoolExecutor(6) as pool:
    end = time.time() + 7
    while time.time() < end:
        list(pool.map(handle, range(64)))
'''), '-p', '--cpu')


@case('single-thread-bound', held_out=True)
def python_with_idle_threads(directory):
    """Threads that sleep do not want the lock."""
    record(directory, python('''
import threading, time
end = time.time() + 7
for _ in range(4):
    threading.Thread(target=time.sleep, args=(6,), daemon=True).start()
while time.time() < end:
    sum(range(10000))
'''), '-p')


MUTEX = '''
#include <pthread.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long shared;
static time_t end;
static void *work(void *unused) {
    (void)unused;
    while (time(NULL) < end) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < INSIDE; i++)
            shared++;
        pthread_mutex_unlock(&lock);
        for (volatile int i = 0; i < OUTSIDE; i++) { }
    }
    return NULL;
}
int main(void) {
    pthread_t threads[8];
    end = time(NULL) + 7;
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}
'''


@case('lock-contention')
def eight_threads_and_one_mutex(directory):
    program = compiled(directory, MUTEX.replace('INSIDE', '200').replace('OUTSIDE', '50'))
    record(directory, [program], '-p', '--cpu')


@case('lock-contention', held_out=True)
def mutexes_of_stress_ng(directory):
    need('stress-ng')
    record(directory, ['stress-ng', '--mutex', '1', '--mutex-procs', '8', '-t', '7'], '-p', '--cpu')


@case('cpu-bound', 'single-thread-bound', 'inconclusive', 'nothing', held_out=True)
def pipes_are_no_locks(directory):
    """As many switches as a contended lock, and no lock."""
    need('stress-ng')
    record(directory, ['stress-ng', '--pipe', '1', '-t', '7'], '-p', '--cpu')


@case('cpu-bound')
def mutex_that_is_rarely_held(directory):
    program = compiled(directory, MUTEX.replace('INSIDE', '2').replace('OUTSIDE', '200000'))
    record(directory, [program], '-p', '--cpu')


@case('cpu-bound', 'single-thread-bound', held_out=True)
def training_with_torch(directory):
    code = subprocess.run(['/usr/bin/python3', '-c', 'import torch'], capture_output=True,
                          check=False).returncode
    if code != 0:
        raise Skip('no python3-torch')
    record(directory, ['/usr/bin/python3', '-c', '''
import time, torch
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 512))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
end = time.time() + 8
while time.time() < end:
    optimizer.zero_grad()
    model(torch.randn(512, 512)).square().mean().backward()
    optimizer.step()
'''], '-p')


@case('cpu-throttled', held_out=True)
def quota_of_a_python_server(directory):
    with cgroup('cpu', cpu__cfs_quota_us=30000, cpu__max='30000 100000') as wrapper:
        record(directory, python(PYTHON_THREADS, 1), '-p', wrapper=wrapper)


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


@case('memory-leak', held_out=True)
def leak_of_a_c_program(directory):
    program = compiled(directory, '''
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 900; i++) {
        char *kept = malloc(100000);
        char *given_back = malloc(300000);
        memset(kept, i, 100000);
        memset(given_back, i, 300000);
        free(given_back);
        usleep(50000);
    }
}
''')
    record(directory, [program], '-p')


@case('nothing', 'inconclusive', held_out=True)
def cache_that_becomes_full(directory):
    """Grows for a while, as every program does, and then no more."""
    record(directory, python('''
import time
kept = []
for i in range(400):
    if i < 60:
        kept.append(bytearray(b'x' * (1 << 20)))
    time.sleep(0.05)
'''), '-p')


@contextlib.contextmanager
def swap(directory, size):
    """The machine has swap for a while."""
    file = directory / 'swap'
    with open(file, 'wb') as out:
        os.posix_fallocate(out.fileno(), 0, size)
    os.chmod(file, 0o600)
    subprocess.run(['mkswap', '-q', str(file)], check=True, capture_output=True)
    if subprocess.run(['swapon', str(file)], check=False, capture_output=True).returncode != 0:
        raise Skip('swap cannot be switched on')
    try:
        yield
    finally:
        subprocess.run(['swapoff', str(file)], check=False, capture_output=True)


@case('swapping', 'memory-limit')
def more_than_fits(directory):
    """It swaps because of its limit: both are true."""
    with swap(directory, 512 << 20), cgroup('memory', memory__limit_in_bytes=128 << 20,
                                            memory__max=128 << 20) as wrapper:
        record(directory, python('''
import random, time
pages = bytearray(224 << 20)
end = time.time() + 8
while time.time() < end:
    for _ in range(1000):
        pages[random.randrange(0, len(pages), 4096)] += 1 if pages[0] < 200 else 0
'''), '-p', wrapper=wrapper)


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


@case('disk-bound', held_out=True)
def cold_start(directory):
    """Weights that are not in the page cache."""
    weights = directory / 'weights'
    with open(weights, 'wb') as file:
        for _ in range(1024):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    record(directory, python('''
import os, sys, time
end = time.time() + 7
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
at = 0
while time.time() < end:
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.pread(fd, 65536, at)
    at = (at + 7919 * 4096) % size
''', weights), '-p')


# Network

@contextlib.contextmanager
def slow_link(directory, megabits):
    """A network namespace behind a link that says its speed and has it; (words that start a program
    in it, address of this side)."""
    name = f'verdict{os.getpid()}'
    (directory / 'speed').write_text(f'{megabits}\n')
    def ip(*words):
        subprocess.run(['ip', *words], check=True, capture_output=True)
    try:
        ip('netns', 'add', name)
        ip('link', 'add', 'vrd0', 'type', 'veth', 'peer', 'name', 'vrd1', 'netns', name)
        ip('addr', 'add', '10.213.7.1/30', 'dev', 'vrd0')
        ip('link', 'set', 'vrd0', 'up')
        ip('-n', name, 'addr', 'add', '10.213.7.2/30', 'dev', 'vrd1')
        ip('-n', name, 'link', 'set', 'vrd1', 'up')
        ip('-n', name, 'link', 'set', 'lo', 'up')
        subprocess.run(['ip', 'netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', 'vrd1', 'root',
                        'tbf', 'rate', f'{megabits}mbit', 'burst', '64kb', 'latency', '50ms'],
                       check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        subprocess.run(['ip', 'netns', 'del', name], check=False, capture_output=True)
        raise Skip(f'no network namespace: {reason}') from reason
    try:
        yield ['ip', 'netns', 'exec', name, 'sh', '-c',
               f'mount --bind {directory}/speed /sys/class/net/vrd1/speed; exec "$@"', 'sh']
    finally:
        # at once; with the namespace it would go later, in the next case's way
        subprocess.run(['ip', 'link', 'del', 'vrd0'], check=False, capture_output=True)
        subprocess.run(['ip', 'netns', 'del', name], check=False, capture_output=True)


def sends(seconds, pause):
    return python('''
import socket, sys, time
end = time.time() + float(sys.argv[1])
s = socket.create_connection(('10.213.7.1', 9213))
while time.time() < end:
    s.sendall(b'x' * 65536)
    time.sleep(float(sys.argv[2]))
''', seconds, pause)


SINK = '''
import socket
server = socket.create_server(('10.213.7.1', 9213))
connection, _ = server.accept()
while connection.recv(1 << 20):
    pass
'''


@case('network-bound')
def full_link(directory):
    with slow_link(directory, 100) as wrapper, background([sys.executable, '-c', SINK]):
        record(directory, ['sh', '-c', 'sleep 1; exec "$@"', 'sh', *sends(7, 0)], '-p',
               wrapper=wrapper)


@case('nothing', held_out=True)
def link_with_room(directory):
    with slow_link(directory, 100) as wrapper, background([sys.executable, '-c', SINK]):
        record(directory, ['sh', '-c', 'sleep 1; exec "$@"', 'sh', *sends(7, 0.05)], '-p',
               wrapper=wrapper)


# Engine

@case('queue-bound', 'cpu-bound', 'batch-too-small')
def more_requests_than_it_can(directory):
    demo(directory, '--concurrency', '64')


@case('client-limited', held_out=True)
def a_server_that_nobody_asks(directory):
    record(directory, ['timeout', '6', PITOT, 'demo', '--serve'])


CALM = {'running': 6, 'waiting': 0, 'kv': 0.4, 'tokens': 200, 'finished': 2, 'ttft': '0.1:2',
        'e2e': '3:2', 'queue': '0.002:2', 'prefill': '0.1:2', 'decode': '2.9:2',
        'token': '0.03:200'}


@case('kv-cache-full')
def cache_of_the_engine_is_full(directory):
    engine(directory, CALM | {'running': 20, 'waiting': 12, 'kv': 0.99, 'preemptions': 2})


@case('queue-bound', held_out=True)
def arrivals_exceed_capacity(directory):
    engine(directory, CALM | {'running': 64, 'waiting': 80, 'kv': 0.7, 'queue': '4:2', 'e2e': '7:2',
                              'ttft': '4.1:2'})


@case('prefill-interference')
def long_prompts_between_tokens(directory):
    engine(directory, CALM | {'prefill': '1.5:2', 'decode': '1.5:2', 'prompt_tokens': 8000,
                              'token': '0.03:180+0.6:20'})


@case('batch-too-small', held_out=True)
def few_at_a_time(directory):
    engine(directory, CALM | {'running': 4, 'waiting': 12, 'kv': 0.1})


@case('straggler')
def one_worker_of_four_is_slow(directory):
    slow = CALM | {'tokens': 90, 'token': '0.066:90'}
    engine(directory, CALM, CALM, slow, CALM)


@case('nothing', 'inconclusive', held_out=True)
def workers_of_one_pace(directory):
    engine(directory, CALM, CALM | {'tokens': 190, 'token': '0.031:190'}, CALM)


# GPU, of which NVML plays a script

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


@case('gpu-throttled')
def gpu_that_is_too_hot(directory):
    gpu(directory, '98:40', DeviceGetTemperature_0=89, DeviceGetPowerUsage=690000,
        DeviceGetViolationStatus_1=' '.join(str(i * 60000000) for i in range(64)))


@case('gpu-memory-leak', held_out=True)
def gpu_memory_that_grows(directory):
    total, reserved = 85899345920, 536870912
    used = [20937965568 + i * 100000000 for i in range(62)]
    gpu(directory, '60:30', command=('sleep', '45'), step_ms=700,
        DeviceGetMemoryInfo_v2=' '.join(f'{total}:{reserved}:{total - reserved - u}:{u}'
                                        for u in used),
        DeviceGetComputeRunningProcesses_v3=' '.join(f'{os.getpid()}:{u - (300 << 20)}'
                                                     for u in used))


@case('nothing', 'inconclusive', held_out=True)
def gpu_with_steady_work(directory):
    gpu(directory, '55:25', DeviceGetPowerUsage=350000, GpmMetric_2=50000, GpmMetric_5=20000,
        GpmMetric_10=30000)


# Pitot

@case('observer-overhead')
def a_thousand_processes(directory):
    with background(*[['sleep', '60']] * 800):
        record(directory, ['timeout', '6', 'sh', '-c', 'while :; do sleep 0.2; done'], '-p',
               '--max-overhead', '0', interval='10')
