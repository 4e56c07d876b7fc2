#!/usr/bin/python3
"""A disk that fills up, and places that cannot be written."""
import contextlib
import os
import re
import subprocess

from harness import (Skip, contains, end, equal, main, need_root, run, start, table,
                     wait_for_samples, wait_until)


@contextlib.contextmanager
def small_disk(place, size):
    need_root()
    place.mkdir()
    mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'pitot-e2e', place],
                             capture_output=True, text=True)
    if mounted.returncode != 0:
        raise Skip(f'no tmpfs can be mounted: {mounted.stderr.strip()}')
    try:
        yield place
    finally:
        subprocess.run(['umount', '-l', place], check=True)


def fill(path):
    """Takes all the room there is."""
    with open(path, 'wb', buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1024))


def said_since(process_error, part):
    return lambda: part in process_error.read_text()


def record_over_a_full_disk(directory, command):
    """Records while the disk is full for a while: (exit code, stderr, disk's run copied away)."""
    stop, errors, filler = directory / 'stop', directory / 'stderr', directory / 'disk' / 'filler'
    with small_disk(directory / 'disk', '400k') as disk, open(errors, 'w') as stderr:
        recorder = start('-f', 'csv', '-t', 20, '-o', disk, '--', 'sh', '-c', command, 'sh', stop,
                         stderr=stderr)
        try:
            wait_for_samples(disk)
            fill(filler)
            wait_until(said_since(errors, 'samples are lost'), 'the full disk is noticed')
            filler.unlink()
            wait_until(said_since(errors, 'works again'), 'the room is noticed')
            journal, = disk.glob('*.pitot')
            wait_for_samples(disk)
        finally:
            stop.touch()
            code, _, _ = end(recorder)
        made = directory / 'made'
        exported, _, err = run('export', journal, '-f', 'csv', '-o', made)
        equal(exported, 0, err)
        return code, errors.read_text(), made


def full_disk(directory):
    """C018: a disk that fills up and gets room again costs only the samples in between; exit 125"""
    code, err, made = record_over_a_full_disk(
        directory, 'while [ ! -e "$1" ]; do sleep 0.05; done')
    equal(code, 125, err)
    contains(err, 'No space left on device')
    rows = table(made)
    times = [int(row['monotonic_ns']) for row in rows]
    assert all(a < b for a, b in zip(times, times[1:]))
    costs = [row for row in table(made, 'collectors') if row['colName'] == 'pitot']
    taken = int(costs[-1]['colCalls']) + 1 # the last sample tells of those before it
    lost = re.search(r'^(\d+) samples could not be written', err, re.MULTILINE)
    equal(len(rows) + int(lost[1]), taken, 'written and lost samples')


def full_disk_and_exit_code(directory):
    """C014: the command's own exit code is kept when samples were lost on a full disk"""
    code, err, _ = record_over_a_full_disk(
        directory, 'while [ ! -e "$1" ]; do sleep 0.05; done; exit 7')
    equal(code, 7, err)


def no_room_at_all(directory):
    """C012: a disk without any room at the start is said to be full and nothing is left on it"""
    with small_disk(directory / 'disk', '64k') as disk:
        fill(disk / 'filler')
        ran = directory / 'ran'
        code, _, err = run('-f', 'csv', '-o', disk / 'out', '--', 'touch', ran)
        contains(err, 'No space left on device')
        equal(code, 125, err)
        assert not ran.exists(), 'the command must not run'
        equal([p for p in disk.rglob('*') if p.is_file() and p.name != 'filler' and
               p.stat().st_size > 0], [], 'files')


def no_room_for_export(directory):
    """C018: when the disk is full during an export, the journal is kept and that is reported"""
    with small_disk(directory / 'disk', '200k') as disk:
        code, _, err = run('-f', 'csv', '-t', 5, '-o', disk, '--', 'sleep', '0.6')
        equal(code, 125, err)
        contains(err, 'to write the files: pitot export')
        journal, = disk.glob('*.pitot')
        equal(run('export', journal, '-f', 'csv', '-o', directory / 'made')[0], 0)
        assert len(table(directory / 'made')) > 10


def read_only(directory):
    """C012: a file system mounted read-only is refused before the command runs"""
    with small_disk(directory / 'disk', '64k') as disk:
        subprocess.run(['mount', '-o', 'remount,ro', disk], check=True)
        code, _, err = run('-f', 'csv', '-o', disk / 'out', '--', 'touch', directory / 'ran')
        equal(code, 125, err)
        contains(err, 'Read-only file system')
        assert not (directory / 'ran').exists(), 'the command must not run'


def read_only_directory(directory):
    """C012: an existing directory on a read-only file system is refused too"""
    with small_disk(directory / 'disk', '64k') as disk:
        subprocess.run(['mount', '-o', 'remount,ro', disk], check=True)
        code, _, err = run('-f', 'csv', '-o', disk, '--', 'touch', directory / 'ran')
        equal(code, 125, err)
        contains(err, 'Read-only file system')
        assert not (directory / 'ran').exists(), 'the command must not run'


def closed_stderr(directory):
    """C013: with stderr closed or broken the run goes on and is whole"""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, 'w') as broken:
        equal(run('-f', 'csv', '-t', 20, '-o', directory / 'a', '--', 'sleep', '0.1',
                  stderr=broken)[0], 0)
    assert len(table(directory / 'a')) >= 2
    with open('/dev/full', 'w') as full:
        equal(run('-f', 'csv', '-t', 20, '-o', directory / 'b', '--', 'sleep', '0.1',
                  stderr=full)[0], 0)
    assert len(table(directory / 'b')) >= 2


main(full_disk, full_disk_and_exit_code, no_room_at_all, no_room_for_export, read_only,
     read_only_directory, closed_stderr)
