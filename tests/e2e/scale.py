#!/usr/bin/python3
"""Many processes, many cgroups, few descriptors, several recorders at once."""
import contextlib
import os
import pathlib
import resource

from harness import (PITOT, Skip, check_ticks, end, equal, integers, main, need_root, run, start,
                     table, wait_for_samples, workload)


def many_processes(directory):
    """C008 C100 C104: 2,000 processes are all recorded, each sample with all of them"""
    with workload('sleepers', 2000) as parent:
        recorder = start('-f', 'csv', '-t', 200, '-p', '--max-overhead', 0, '--pid', parent, '-d',
                         '800ms', '-o', directory)
        code, _, err = end(recorder)
    equal(code, 0, err)
    samples = {}
    for row in table(directory, 'processes'):
        if row['pParentId'] == str(parent):
            samples.setdefault(row['monotonic_ns'], set()).add(row['pId'])
    assert len(samples) >= 2
    equal({len(pids) for pids in samples.values()}, {2000}, 'children in each sample')
    assert min(integers(table(directory), 'pTreeNumProcesses')) == 2001, 'parent and children'


def many_threads(directory):
    """C100: the tree of a --pid is recorded without -p; 2,000 threads are all counted"""
    with workload('threads', 2000) as pid:
        code, _, err = run('-f', 'csv', '-t', 200, '--max-overhead', 0, '--pid', pid, '-d', '1s',
                           '-o', directory)
    equal(code, 0, err)
    rows = table(directory, 'processes')
    equal({row['pId'] for row in rows}, {str(pid)}, 'processes with rows')
    equal({row['pNumThreads'] for row in rows}, {'2001'}, 'threads')
    assert all(row['pRunDelay'] for row in rows), 'the delay of all threads is known'
    for row in table(directory, 'collectors'):
        if row['colName'] == 'pitot':
            check_ticks(row)


def few_descriptors(directory):
    """C008 C100: with 64 open files allowed 200 processes are still recorded, without a gap"""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with workload('sleepers', 200) as parent:
        code, _, err = run('-f', 'csv', '-t', 100, '-p', '-d', '500ms', '--pid', parent,
                           '-o', directory, preexec_fn=limit)
    equal(code, 0, err)
    rows = [row for row in table(directory, 'processes') if row['pParentId'] == str(parent)]
    samples = {row['monotonic_ns'] for row in rows}
    equal(len(rows), 200 * len(samples), 'rows of the children')
    assert all(row['pResidentSetSize'] for row in rows), 'no cell is missing'


def hardly_any_descriptors(directory):
    """C012: with too few descriptors for a recording the message says so, or it is recorded"""
    for count in range(4, 24, 3):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        code, _, err = run('-f', 'csv', '-t', 50, '-p', '-o', directory / str(count), '--', 'true',
                           preexec_fn=limit)
        assert code in (0, 125), f'{count} descriptors: {code} {err}'
        assert code == 0 or 'pitot: error: ' in err, err


@contextlib.contextmanager
def many_cgroups(count):
    need_root()
    root = pathlib.Path('/sys/fs/cgroup')
    root = root / 'unified' if (root / 'unified').exists() else root
    top = root / f'pitot-e2e-many-{os.getpid()}'
    made = []
    try:
        top.mkdir()
        made.append(top)
        for number in range(count):
            # Looks like containers, so that each is a row.
            place = top / f'docker-{os.getpid():032x}{number:032x}.scope'
            place.mkdir()
            made.append(place)
        yield
    except OSError as reason:
        raise Skip(f'no {count} cgroups: {reason}') from reason
    finally:
        for place in reversed(made):
            place.rmdir()


def thousand_cgroups(directory):
    """C097: a machine with 1,000 cgroups that look like containers is recorded, each with a row"""
    with many_cgroups(1000):
        code, _, err = run('-f', 'csv', '-t', 200, '--max-overhead', 0, '-d', '800ms',
                           '-o', directory)
    equal(code, 0, err)
    ids = {row['cId'] for row in table(directory, 'containers')}
    ours = {f'{os.getpid():032x}{number:032x}' for number in range(1000)}
    equal(len(ids & ours), 1000, 'containers')


def together(directory):
    """C005 C019: two recorders in one directory do not see each other; each has its own files"""
    first = start('-f', 'csv', '-t', 20, '-o', directory, '--', 'sleep', '0.5')
    second = start('-f', 'csv', '-t', 20, '-o', directory, '--', 'sh', '-c', 'sleep 0.5; exit 3')
    equal((end(first)[0], end(second)[0]), (0, 3))
    journals = list(directory.glob('*.pitot'))
    equal(len(journals), 2)
    for journal in journals:
        made = directory / journal.stem
        equal(run('export', '-q', journal, '-f', 'csv', '-o', made)[0], 0)
        equal((made / f'{journal.stem}.csv').read_bytes(),
              (directory / f'{journal.stem}.csv').read_bytes(), 'exported again')
        assert len(table(made)) >= 2


def nested(directory):
    """C014: a recorder inside a recorder works, and marks go to the inner one"""
    inner = (PITOT, '-q', '-f', 'csv', '-t', 50, '-o', directory / 'inner', '--',
             PITOT, 'mark', 'inside')
    code, _, err = run('-q', '-f', 'csv', '-t', 50, '-o', directory / 'outer', '--', *inner)
    equal(code, 0, err)
    equal([row['mText'] for row in table(directory / 'inner', 'marks')], ['inside'])
    equal(list((directory / 'outer').glob('*.marks.csv')), [])


def export_while_recording(directory):
    """C018: exporting again and again while samples are written never sees a torn one"""
    recorder = start('-q', '-f', 'csv', '-t', 1, '-p', '-o', directory, '--', 'sleep', '1.5')
    wait_for_samples(directory)
    counts = []
    while recorder.poll() is None:
        code, _, err = run('export', '-q', directory, '-f', 'csv', '-o', directory / 'made')
        equal(code, 0, err)
        rows = table(directory / 'made')
        assert 'damaged' not in err, err
        counts.append(len(rows))
    assert counts == sorted(counts), 'samples never become fewer'
    equal(end(recorder)[0], 0)


main(many_processes, many_threads, few_descriptors, hardly_any_descriptors, thousand_cgroups,
     together, nested, export_while_recording, jobs=2)
