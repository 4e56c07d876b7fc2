#!/usr/bin/python3
"""Recorded values against an independent reading of the machine: work of a known amount, and the
kernel's own files read here."""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

from harness import (WORKLOAD, Skip, end, equal, growth, integers, is_alive, main, need_root, run,
                     start, table, wait_until)

MIB = 1024 * 1024
NAME = os.path.basename(WORKLOAD) # as the kernel shows it


def cpu_time(directory):
    """C040 C041 C100: a loop of 1 s of CPU time is seen by the machine, the tree and the process"""
    code, out, err = run('-f', 'csv', '-t', 50, '-p', '-o', directory, '--', WORKLOAD, 'burn', 1000)
    equal(code, 0, err)
    used_us = int(out)
    rows = table(directory)
    # The machine also does other things, and ticks of 10 ms are rounded down.
    nice = growth(rows, 'vCpuNice') if os.nice(0) > 0 else 0 # as with `nice make test`
    assert growth(rows, 'vCpuTime') + nice >= used_us / 10000 - 4, 'vCpuTime'
    assert growth(rows, 'vCpuTimeUserMode') + nice >= used_us / 10000 * 0.8 - 4, 'user mode'
    tree_us = growth(rows, 'pTreeCpuTime') / 1000
    assert used_us * 0.9 < tree_us < used_us * 1.1 + 50000, f'tree {tree_us}, used {used_us} us'
    mine = [r for r in table(directory, 'processes') if r['pName'] == NAME and
            r['pIsRecorded'] == '1']
    last = mine[-1] # up to an interval before its end
    own_cs = int(last['pCpuTimeUserMode']) + int(last['pCpuTimeKernelMode'])
    assert own_cs <= used_us / 10000 + 2, f'process {own_cs} cs, used {used_us} us'


def cpu_time_of_cgroup(directory):
    """C086 C097: the cgroup of the recorded command has the CPU time the command says it used"""
    need_root()
    code, out, err = run('-f', 'csv', '-t', 50, '-o', directory, '--', WORKLOAD, 'burn', 500)
    equal(code, 0, err)
    used_us = int(out)
    recorded = [row for row in table(directory, 'containers') if row['cIsRecorded'] == '1' and
                '/pitot-' in row['cId']]
    if not recorded:
        raise Skip('the command got no cgroup of its own')
    cgroup_us = integers(recorded, 'cCpuTime')[-1] / 1000
    assert used_us * 0.95 < cgroup_us < used_us * 1.1 + 50000, f'{cgroup_us}, used {used_us} us'


def peak_so_far(directory):
    """Of the workload, from an export of the run that is still being recorded."""
    made = directory / 'made'
    equal(run('export', '-q', directory, '-f', 'csv', '-o', made)[0], 0)
    rows = [row for row in table(made, 'processes') if row['pName'] == NAME]
    return max(integers(rows, 'pPeakResidentSetSize'), default=0)


def touch(directory):
    """Records 200 MiB being touched; returns by how much the used memory of the machine grew."""
    recorder = start('-f', 'csv', '-t', 50, '-p', '-o', directory, '--', WORKLOAD, 'touch', 200,
                     stdin=subprocess.PIPE)
    equal(recorder.stdout.readline(), 'ready\n')
    wait_until(lambda: peak_so_far(directory) >= 200 * MIB, 'the peak is seen')
    code, _, err = end(recorder) # closes stdin, which ends the workload
    equal(code, 0, err)
    rows = table(directory)
    tree = max(integers(rows, 'pTreeResidentSetSize'))
    assert 200 * MIB <= tree < 230 * MIB, f'tree {tree}'
    mine = [r for r in table(directory, 'processes') if r['pName'] == NAME]
    largest = max(integers(mine, 'pResidentSetSize'))
    assert 200 * MIB <= largest < 230 * MIB, f'process {largest}'
    used = integers(rows, 'vMemoryUsed')
    return max(used) - used[0]


def memory(directory):
    """C055 C101: 200 MiB touched show in the machine, in the tree and in the process"""
    # Others may free as much at the same time, but hardly twenty times in a row.
    grown = []
    while len(grown) < 20 and not any(g > 100 * MIB for g in grown):
        grown.append(touch(directory / str(len(grown))))
    assert any(g > 100 * MIB for g in grown), grown


def meminfo():
    text = pathlib.Path('/proc/meminfo').read_text()
    return {m[1]: int(m[2]) * 1024 for m in re.finditer(r'^(\w+):\s+(\d+) kB', text, re.MULTILINE)}


def memory_sizes(directory):
    """C053 C054 C059 C130: sizes of memory and swap are those of the kernel's file"""
    equal(run('-q', '-f', 'csv', '-o', directory, '--', 'true')[0], 0)
    kernel, row = meminfo(), table(directory)[-1]
    equal(int(row['vMemoryTotal']), kernel['MemTotal'])
    equal(int(row['vSwapTotal']), kernel['SwapTotal'])
    assert abs(int(row['vMemoryFree']) - kernel['MemAvailable']) < 1024 * MIB
    static = json.loads(next(directory.glob('static_*')).read_text())
    equal(static['host']['vMemoryTotalBytes'], kernel['MemTotal'])
    equal(static['host']['vNumProcessors'], os.cpu_count())
    equal(static['host']['hostname'], socket.gethostname())
    equal(static['host']['kernel'], os.uname().release)
    equal(static['pitot']['interval_ms'] if 'interval_ms' in static['pitot'] else 1000, 1000)


def whole_disks():
    """Bytes written of all whole disks by now, from sysfs, which Pitot does not read for it."""
    total = 0
    for disk in pathlib.Path('/sys/block').iterdir():
        if not re.match(r'(loop|ram|dm-|md|zram|sr|fd)', disk.name):
            total += int((disk / 'stat').read_text().split()[6]) * 512
    return total


def disk_writes(directory):
    """C066 C068: 16 MiB written past the page cache are written bytes of the disks"""
    place = pathlib.Path(os.environ.get('PITOT_E2E_DISK', '/var/tmp'))
    file = place / f'pitot-e2e-{os.getpid()}'
    before = whole_disks()
    try:
        code, _, err = run('-f', 'csv', '-t', 50, '-p', '-o', directory, '--',
                           WORKLOAD, 'write', 16, file)
    finally:
        file.unlink(missing_ok=True)
    equal(code, 0, err)
    after = whole_disks()
    if after - before < 16 * MIB:
        raise Skip(f'{place} is not on a disk')
    rows = table(directory)
    assert growth(rows, 'vDiskSuccessfulWrites') > 0, 'a write was counted'
    grown = growth(rows, 'vDiskWriteBytes')
    assert 16 * MIB <= grown <= after - before, f'{grown}, disks {after - before}'


def disk_counters(directory):
    """C065 C066 C067 C073: counters of the disks lie between two readings of sysfs around them"""
    def reading():
        return {d.name: [int(n) for n in (d / 'stat').read_text().split()]
                for d in pathlib.Path('/sys/block').iterdir()}
    before = reading()
    equal(run('-q', '-f', 'csv', '-o', directory, '--', 'true')[0], 0)
    after = reading()
    rows = table(directory, 'disks') if list(directory.glob('*.disks.csv')) else []
    if not rows:
        raise Skip('this machine has no disks')
    for row in rows:
        name = row['dName']
        for column, field, unit in (('dSuccessfulReads', 0, 1), ('dReadBytes', 2, 512),
                                    ('dSuccessfulWrites', 4, 1), ('dWriteBytes', 6, 512)):
            low, high = before[name][field] * unit, after[name][field] * unit
            assert low <= int(row[column]) <= high, f'{name} {column}'


def send_loopback(size):
    with socket.create_server(('127.0.0.1', 0)) as server, \
            socket.create_connection(server.getsockname()) as out:
        peer, _ = server.accept()
        with peer:
            for _ in range(size // 65536):
                out.sendall(bytes(65536))
                left = 65536
                while left:
                    left -= len(peer.recv(left))


def loopback(directory):
    """C075 C083: traffic on the loopback interface is not network traffic of the machine"""
    recorder = start('-f', 'csv', '-t', 50, '-o', directory, '--', 'sh', '-c', 'echo ready; read x',
                     stdin=subprocess.PIPE)
    equal(recorder.stdout.readline(), 'ready\n')
    send_loopback(64 * MIB)
    code, _, err = end(recorder)
    assert code in (0, 1), err # `read` fails at the end of input
    rows = table(directory)
    for column in ('vNetworkBytesRecvd', 'vNetworkBytesSent'):
        assert not integers(rows, column) or growth(rows, column) < 64 * MIB, column


SEND = '''
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    s.sendto(bytes(1000), ('10.213.77.2', 9))
'''


@contextlib.contextmanager
def two_namespaces():
    """Names of two network namespaces joined by a veth pair."""
    need_root()
    names = [f'pitot-e2e-{os.getpid()}-{side}' for side in 'ab']

    def ip(*words):
        done = subprocess.run(['ip', *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Skip(f'ip {" ".join(words)}: {done.stderr.strip()}')
    try:
        for name in names:
            ip('netns', 'add', name)
        ip('-n', names[0], 'link', 'add', 'va', 'type', 'veth', 'peer', 'name', 'vb',
           'netns', names[1])
        for name, device, address in ((names[0], 'va', '10.213.77.1/24'),
                                      (names[1], 'vb', '10.213.77.2/24')):
            ip('-n', name, 'address', 'add', address, 'dev', device)
            ip('-n', name, 'link', 'set', device, 'up')
        yield names
    except FileNotFoundError as missing:
        raise Skip(str(missing)) from missing
    finally:
        for name in names:
            subprocess.run(['ip', 'netns', 'del', name], capture_output=True)


def network(directory):
    """C075 C076 C077 C078: 2,000 datagrams over a veth pair are counted, headers and no more"""
    count, payload, headers = 2000, 1000, 14 + 20 + 8
    with two_namespaces() as (inside, _):
        time.sleep(0.2) # the first neighbour discovery of the new link
        code, _, err = run('-f', 'csv', '-t', 50, '-o', directory, '--', sys.executable, '-c', SEND,
                           count, wrapper=['ip', 'netns', 'exec', inside])
    equal(code, 0, err)
    rows = table(directory)
    sent, packets = growth(rows, 'vNetworkBytesSent'), growth(rows, 'vNetworkPacketsSent')
    other = packets - count # ARP, IPv6 neighbour and multicast reports
    assert 0 <= other <= 60, f'{packets} packets'
    low = count * (payload + headers)
    assert low <= sent <= low + other * 200, f'{sent} bytes, {low} expected, {other} other packets'
    equal({row['iName'] for row in table(directory, 'interfaces') if row['iIsCounted'] == '1'},
          {'va'})


@contextlib.contextmanager
def limited_cgroup():
    """A cgroup with 2 % of a CPU and 64 MiB: (directories, name), v1 or v2, whatever there is.

    So little that it is exceeded on a busy machine, too, where a process gets no fifth of a CPU."""
    need_root()
    name = f'pitot-e2e-limit-{os.getpid()}'
    root = pathlib.Path('/sys/fs/cgroup')
    if (root / 'cgroup.controllers').exists():
        files = {root / name: {'cpu.max': '2000 100000', 'memory.max': str(64 * MIB)}}
    else:
        files = {root / 'cpu' / name: {'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '2000'},
                 root / 'cpuacct' / name: {},
                 root / 'memory' / name: {'memory.limit_in_bytes': str(64 * MIB)}}
    made = []
    try:
        for place, values in files.items():
            place.mkdir(exist_ok=True)
            made.append(place)
            for file, text in values.items():
                (place / file).write_text(text)
        yield made, name
    except OSError as reason:
        raise Skip(f'no cgroup with limits: {reason}') from reason
    finally:
        for place in made:
            with contextlib.suppress(OSError):
                wait_until(lambda: not (place / 'cgroup.procs').read_text(), 'it is empty')
                place.rmdir()


def throttling(places):
    """(periods, throttled periods, throttled ns) as the kernel has them now."""
    for place in places:
        with contextlib.suppress(OSError):
            pairs = dict(line.split() for line in (place / 'cpu.stat').read_text().splitlines())
            if 'nr_throttled' in pairs:
                nanoseconds = (int(pairs['throttled_time']) if 'throttled_time' in pairs else
                               int(pairs['throttled_usec']) * 1000)
                return int(pairs['nr_periods']), int(pairs['nr_throttled']), nanoseconds
    raise Skip('the kernel does not count throttling')


def cgroup_limits(directory):
    """C086 C097 C098: throttling and limits of a cgroup are those in the kernel's own files"""
    with limited_cgroup() as (places, name):
        enter = 'for place in "$@"; do echo $$ >"$place/cgroup.procs"; done; "$0" burn 30; read x'
        member = subprocess.Popen(['sh', '-c', enter, WORKLOAD, *map(str, places)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            during, after = directory / 'during', directory / 'after'
            watch = ('-q', '-f', 'csv', '-t', 50, '--container', f'/{name}')
            recorder = start(*watch, '-o', during)
            member.stdout.readline() # it has burnt its share
            recorder.terminate()
            equal(end(recorder)[0], 0)
            low = throttling(places)
            equal(run(*watch, '-d', '200ms', '-o', after)[0], 0)
            high = throttling(places)
        finally:
            member.communicate()
    rows = [row for row in table(during, 'containers') if row['cPath'] == f'/{name}']
    last = [row for row in table(after, 'containers') if row['cPath'] == f'/{name}'][-1]
    # A recorder that starts late on a busy machine may see no growth, but never less than before.
    assert growth(rows, 'cCpuThrottledPeriods') >= 0 and growth(rows, 'cCpuThrottledTime') >= 0
    assert int(last['cCpuThrottledPeriods']) > 0 and int(last['cCpuThrottledTime']) > 0
    columns = ('cCpuPeriods', 'cCpuThrottledPeriods', 'cCpuThrottledTime')
    for column, least, most in zip(columns, low, high):
        assert least <= int(last[column]) <= most, f'{column}: {last[column]}, {least} to {most}'
    equal((float(last['cCpuLimit']), int(last['cMemoryLimit'])), (0.02, 64 * MIB), 'limits')
    equal(last['cIsRecorded'], '1')


def processes_seen(directory):
    """C100 C102 C104: name, parent, threads, state and start of a process are those in /proc"""
    target = subprocess.Popen(['sleep', '60'])
    try:
        equal(run('-q', '-f', 'csv', '-p', '-d', '200ms', '-t', 50, '-o', directory,
                  '--pid', target.pid)[0], 0)
        row = [r for r in table(directory, 'processes') if r['pId'] == str(target.pid)][-1]
        assert is_alive(target.pid)
    finally:
        target.kill()
        target.wait()
    equal((row['pName'], row['pCmdline'], row['pNumThreads'], row['pParentId'], row['pIsRecorded']),
          ('sleep', 'sleep 60', '1', str(os.getpid()), '1'))
    assert abs(int(row['pStartTime']) / 1000 - time.time()) < 60, row['pStartTime']


main(cpu_time, cpu_time_of_cgroup, memory, memory_sizes, disk_writes, disk_counters, loopback,
     network, cgroup_limits, processes_seen)
