#!/usr/bin/python3
"""SIGKILL of the recorder at random moments. PITOT_E2E_SEED repeats a run."""
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import time

from harness import (Skip, amount, cgroup_of, end, equal, kill, main, need_root, pids_with,
                     remove_cgroup, run, start, state_of, summary, swept_cgroups, table, wait_until)

SEED = int(os.environ.get('PITOT_E2E_SEED', time.time_ns() % 1000000))
GROUPS, KILLS_EACH = 5, amount(10, 200)
COLLECTORS = [('--collect', 'cpu,mem'), ('-p', )]
print(f'# seed {SEED}', flush=True)


def export(directory):
    """The files of what the killed recorder left."""
    made = directory / 'made'
    code, _, err = run('export', directory, '-f', 'csv', '-o', made, '-q')
    equal(code, 0, err)
    return made


def read_journal(directory):
    """Main table and costs of it."""
    made = export(directory)
    costs = [row for row in table(made, 'collectors') if row['colName'] == 'pitot']
    return table(made), costs


def check_rows(rows, costs):
    times = [int(row['monotonic_ns']) for row in rows]
    assert all(a < b for a, b in zip(times, times[1:])), 'sample times increase'
    for row in rows:
        assert int(row['vCpuTime']) >= int(rows[0]['vCpuTime']), 'a counter fell'
        equal(row['vMemoryTotal'], rows[0]['vMemoryTotal'], 'a constant')
    for cost in costs: # Pitot counts the samples it takes: all must be in the file
        before = sum(time < int(cost['monotonic_ns']) for time in times)
        equal(before, int(cost['colCalls']), 'samples in the file before a cost was recorded')


def pending_ticks(pid):
    """Ticks of the recorder's timer that it has not taken notice of."""
    for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        ticks = re.search(r'^ticks: (\d+)$', info.read_text(), re.MULTILINE)
        if ticks:
            return int(ticks[1])
    raise AssertionError('the recorder has no timer')


def kill_now(recorder):
    """Kills; (time, ticks that were not taken yet). It is stopped first, to read them in peace."""
    recorder.send_signal(signal.SIGSTOP)
    wait_until(lambda: state_of(recorder.pid) == 'T', 'it is stopped')
    pending = pending_ticks(recorder.pid)
    now_ns = time.monotonic_ns()
    recorder.kill()
    recorder.wait()
    return now_ns, pending


def one_kill(directory, marker, interval_ms, seconds, collectors):
    """How many samples are missing that were taken or in the making when the recorder died."""
    recorder = start('-f', 'csv', '-t', interval_ms, '-o', directory, *collectors, '--',
                     'sh', '-c', 'read x', marker, stdin=subprocess.PIPE)
    child, = wait_until(lambda: pids_with(marker, 'sh'), 'the command runs')
    group = cgroup_of(child)
    is_own_group = group and group.name.startswith('pitot-')
    try:
        time.sleep(seconds) # the moment is what is random here
        killed_ns, pending = kill_now(recorder)
        assert state_of(child) in 'SR', 'the command lives on'
        rows, costs = read_journal(directory)
        check_rows(rows, costs)
        return (killed_ns - int(rows[-1]['monotonic_ns'])) // (interval_ms * 1000000) - pending
    finally:
        kill(recorder.pid)
        members = (group / 'cgroup.procs').read_text().split() if is_own_group else [child]
        for pid in members:
            kill(int(pid))
        end(recorder) # its pipes are closed now
        if is_own_group:
            remove_cgroup(group)


def group(number):
    def test(directory):
        chance = random.Random(SEED + number)
        missing = []
        for i in range(KILLS_EACH):
            interval_ms = chance.choice((10, 20, 50))
            seconds = chance.uniform(0.0, 1.0)
            marker = f'pitot-e2e-{os.getpid()}-{number}-{i}'
            count = one_kill(directory / str(i), marker, interval_ms, seconds, COLLECTORS[i % 2])
            if i % 2 == 0: # reading all processes may take longer than many intervals
                missing.append(count)
        # One was in the making. More may wait for the writer, which on a busy machine may wait for
        # a CPU or the disk, but never more than the queue holds; if it is so each time, samples
        # are being held back.
        assert sorted(missing)[1] <= 1 and max(missing) <= 65, f'missing {missing}'
        summary(f'recorder killed: {KILLS_EACH} times, every run readable, '
                f'median of samples missing {sorted(missing)[len(missing) // 2]}')
    test.__doc__ = (f'C018: killed at {KILLS_EACH} random moments ({number} of {GROUPS}) every run '
                    'can be read, at most the last sample is missing, the command lives on')
    return test


def kill_after(seconds, *arguments):
    recorder = start(*arguments)
    time.sleep(seconds)
    recorder.kill()
    end(recorder)


def early(directory):
    """C018: killed before the first sample is written, nothing is left that cannot be read"""
    with swept_cgroups():
        for i in range(10):
            kill_after(0.001 * i, '-f', 'csv', '-o', directory / str(i), '--', 'true')
    for journal in directory.glob('*/*.pitot'):
        code, _, err = run('export', journal, '-f', 'csv', '-o', directory / 'made', '-q')
        assert code == 0 or 'has no data yet' in err, err


def behind_the_barrier(directory):
    """C015: a recorder killed before it lets the command go takes the command with it"""
    with swept_cgroups():
        for i in range(20):
            marker = directory / f'ran-{i}'
            kill_after(0.0005 * i, '-f', 'csv', '-o', directory / str(i), '--', 'touch', marker)
            wait_until(lambda: not pids_with(str(marker)), 'the command is gone')


def ring_bytes(ring):
    """What a ring takes on disk now; its files may go while they are counted."""
    total = 0
    for segment in ring.glob('*.pitot'):
        with contextlib.suppress(FileNotFoundError):
            total += segment.stat().st_size
    return total


def killed_ring(directory):
    """C018: a ring stays within its bound, and what a killed recorder leaves of it can be read"""
    bound = 4 << 20
    recorder = start('-q', '--blackbox', '4M', '-t', 1, '-p', '--max-overhead', 0, '-o', directory)
    try:
        ring, = wait_until(lambda: list(directory.glob('*.ring')), 'the ring is there')
        most = 0
        while not list(ring.glob('*.pitot')) or (ring / '00000001.pitot').exists():
            most = max(most, ring_bytes(ring))
            time.sleep(0.01)
        for _ in range(50):
            most = max(most, ring_bytes(ring))
            time.sleep(0.01)
    finally:
        recorder.kill()
        end(recorder)
    assert most <= bound + bound // 16, f'{most} bytes'
    segments = len(list(ring.glob('*.pitot')))
    rows = table(export(directory))
    # A segment has a whole sample at least; with the processes of other tests hardly more.
    assert len(rows) >= segments - 1 > 4, f'{len(rows)} rows in {segments} segments'
    times = [int(row['monotonic_ns']) for row in rows]
    assert all(a < b for a, b in zip(times, times[1:])), 'sample times increase'


def left_by_a_killed_recorder(directory):
    """C018: cgroup, FIFO and unfinished files of a killed recorder are removed by the next one;
    those of a running one are not"""
    need_root()
    parent = cgroup_of('self')
    command = ['--', 'sh', '-c', 'echo $$; read x']

    def left():
        return {place.name for place in [*parent.glob('pitot-*'), *out.glob('*.ctl'),
                                         *out.glob('*.tmp')]}

    def recorder():
        process = start('-q', '-f', 'csv', '-o', out, *command, stdin=subprocess.PIPE)
        pid = int(process.stdout.readline())
        uuid, = {path.stem for path in out.glob('*.ctl')} - known
        known.add(uuid)
        return process, pid, uuid
    out, known = directory / 'out', set()
    killed, killed_pid, killed_uuid = recorder()
    alive, _, alive_uuid = recorder()
    place = cgroup_of(killed_pid)
    if place.name != f'pitot-{killed_uuid}':
        end(killed)
        end(alive)
        raise Skip('no cgroups can be made')
    kill(killed.pid)
    kill(killed_pid)
    killed.communicate()

    def is_empty(): # or removed by the recorder of another test
        with contextlib.suppress(OSError):
            return 'populated 0' in (place / 'cgroup.events').read_text()
        return True
    wait_until(is_empty, 'it is empty')
    unfinished = out / f'{killed_uuid}.csv.tmp'
    unfinished.write_text('x')
    for path in (unfinished, out / f'{killed_uuid}.ctl', out / f'{alive_uuid}.ctl'):
        os.utime(path, (time.time() - 120, ) * 2)
    assert {unfinished.name, f'{killed_uuid}.ctl'} <= left()
    equal(run('-q', '-f', 'csv', '-o', out, '--', 'true')[0], 0)
    found = left()
    assert not [name for name in found if killed_uuid in name], found
    assert {f'pitot-{alive_uuid}', f'{alive_uuid}.ctl'} <= found, found
    equal(end(alive)[0], 1) # the end of its input
    assert not [name for name in left() if alive_uuid in name], left()


main(*(group(number) for number in range(1, GROUPS + 1)), early, behind_the_barrier,
     killed_ring, left_by_a_killed_recorder, jobs=GROUPS)
