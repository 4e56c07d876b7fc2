#!/usr/bin/python3
"""Whom a recording is about: a command, processes, a container or the machine. What is said about
it is its own, and it is called by its name."""
import contextlib
import json
import os
import pathlib
import resource
import subprocess
import threading

from harness import (PITOT, Skip, contains, end, equal, integers, kill, main, need_root,
                     public, remove_cgroup, run, start, state_of, table, wait_for_samples,
                     wait_until, workload)

V1 = pathlib.Path('/sys/fs/cgroup')


@contextlib.contextmanager
def sleeping():
    process = subprocess.Popen(['sleep', '600'])
    wait_until(lambda: pathlib.Path(f'/proc/{process.pid}/comm').read_text() == 'sleep\n', 'exec')
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def explain(directory):
    code, out, err = run('explain', '--json', directory)
    equal(code, 0, err)
    return json.loads(out)


def record(directory, *arguments):
    code, out, err = run('-f', 'csv', '-t', 100, '-o', directory, *arguments)
    equal(code, 0, err)
    return err


def idle_on_a_busy_machine(directory):
    """C234 C327: an idle process on a busy machine is not CPU-bound"""
    with sleeping() as pid, workload('hogs', 2 * os.cpu_count()):
        summary = record(directory, '--pid', pid, '-d', '2500ms')
    found = explain(directory)
    equal(found['subject'], f'process {pid} (sleep)')
    equal([v['id'] for v in found['verdicts'] if 'cpu' in v['id']], [], 'verdicts about CPUs')
    assert found['figures']['own.cpu'] < 0.2, found['figures']
    assert 'machine.busy' not in found['figures'], found['figures']
    contains(summary, f'Process {pid}: CPU')
    text = run('explain', directory)[1]
    for said in (summary, text):
        assert 'ommand' not in said, said


def busy_among_others(directory):
    """C234 C327: a process that waits for a CPU knows it by itself, also in the cgroup of others"""
    with workload('hogs', 2 * os.cpu_count()) as pid, workload('hogs', 4 * os.cpu_count()):
        record(directory, '--pid', pid, '-d', '3500ms')
    found = explain(directory)
    assert found['figures']['own.run_delay'] > 0, found['figures']
    rows = table(directory, 'processes')
    assert max(integers(rows, 'pRunDelay')) > 0
    contains(run('report', '-q', directory, '-o', directory / 'page.html')[2], '')
    contains((directory / 'page.html').read_text(), f'process {pid} (e2e-workload)')


def machine_has_nothing_of_its_own(directory):
    """C002 C327: without a command there are no figures of one, and the machine is the subject"""
    summary = record(directory, '-d', '600ms')
    found = explain(directory)
    equal(found['subject'], 'the machine')
    equal([name for name in found['figures'] if name.startswith('own.')], [])
    assert 'ommand' not in summary, summary
    equal({row['cIsRecorded'] for row in table(directory, 'containers')} - {'0'}, set())


def tree_without_p(directory):
    """C100 C327: the tree of a --pid has its rows without -p; nobody else has"""
    with workload('sleepers', 3) as pid:
        record(directory, '--pid', pid, '-d', '500ms')
    rows = table(directory, 'processes')
    equal(len({row['pId'] for row in rows}), 4, 'processes')
    equal({row['pIsRecorded'] for row in rows}, {'1'})
    equal(set(integers(table(directory), 'pTreeNumProcesses')), {4})
    assert min(integers(table(directory), 'pNumProcesses')) > 4, 'the others are counted'
    assert rows[-1]['pPss'], 'the last sample has the PSS'


def chosen_collectors(directory):
    """C011 C327: who chooses the collectors gets no others"""
    with sleeping() as pid:
        record(directory, '--pid', pid, '--collect', 'cpu', '-d', '300ms')
    equal(list(directory.glob('*.processes.csv')), [])


def wrong_pids(directory):
    """C011 C327: a thread, a zombie and a missing process are refused, each with its reason"""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    code, _, err = run('--pid', thread.native_id, '-o', directory)
    stop.set()
    thread.join()
    equal(code, 125)
    contains(err, f'it is a thread of process {os.getpid()} (use --pid {os.getpid()})')
    zombie = subprocess.Popen(['true'])
    wait_until(lambda: state_of(zombie.pid) == 'Z', 'a zombie')
    code, _, err = run('--pid', zombie.pid, '-o', directory)
    equal(code, 125)
    contains(err, 'it has ended (a zombie until its parent')
    for words in (('top', '-n', 1), ('cpu', '-d', '1s')):
        code, _, err = run(*words, '--pid', zombie.pid, cwd=directory)
        assert code != 0, words
        contains(err, 'it has ended')
    zombie.wait()
    code, _, err = run('--pid', zombie.pid, '-o', directory)
    equal(code, 125)
    contains(err, 'no such process')
    equal(list(directory.glob('*.pitot')), [], 'nothing is left')


def ends_while_watched(directory):
    """C004 C327: the recording ends with the process, which has ended, not the command"""
    with sleeping() as pid:
        recorder = start('-f', 'csv', '-t', 50, '-o', directory, '--pid', pid)
        wait_for_samples(directory)
        kill(pid)
        code, _, err = end(recorder)
    equal(code, 0, err)
    contains(err, 'the watched process ended')


def of_another_user(directory):
    """C327: of a process of another user it is said what cannot be read, and why"""
    need_root()
    program = public(directory, PITOT)
    with sleeping() as pid:
        code, _, err = run('--pid', pid, '-f', 'csv', '-d', '300ms', '-o', directory / 'run',
                           program=program, user=65534, group=65534, extra_groups=[])
    equal(code, 0, err)
    contains(err, f'process {pid} belongs to another user: its disk I/O and its PSS cannot be read '
                  '(run as root or grant CAP_SYS_PTRACE)')
    rows = table(directory / 'run', 'processes')
    equal({row['pId'] for row in rows}, {str(pid)})
    equal({row['pReadBytes'] for row in rows}, {''}, 'what cannot be read is empty')


def of_another_namespace(directory):
    """C327: a process in another pid namespace is recorded by the id that it has here"""
    need_root()
    outer = subprocess.Popen(['unshare', '--pid', '--fork', '--kill-child', 'sleep', '600'])
    try:
        def child():
            path = pathlib.Path(f'/proc/{outer.pid}/task/{outer.pid}/children')
            if not path.exists() and outer.poll() is None:
                raise Skip('the kernel does not list children')
            return outer.poll() is not None or path.read_text().split()
        pids = wait_until(child, 'a child')
        if outer.poll() is not None:
            raise Skip('no pid namespaces here')
        record(directory, '--pid', pids[0], '-d', '400ms')
    finally:
        outer.kill()
        outer.wait()
    rows = table(directory, 'processes')
    equal({row['pId'] for row in rows}, {pids[0]})
    equal({row['pNsPid'] for row in rows}, {'1'})


@contextlib.contextmanager
def group(name):
    need_root()
    root = V1 / 'unified' if (V1 / 'unified').exists() else V1
    place = root / name
    try:
        place.mkdir()
    except OSError as reason:
        raise Skip(f'no cgroups here: {reason}') from reason
    try:
        yield place
    finally:
        remove_cgroup(place)


def container(directory):
    """C097 C327: a container is called by the name that was given, and its group is its own"""
    name = f'pitot-e2e-box-{os.getpid()}'
    with group(name) as place, sleeping() as pid:
        (place / 'cgroup.procs').write_text(str(pid))
        summary = record(directory, '--container', '/' + name, '-d', '500ms')
        (place.parent / 'cgroup.procs').write_text(str(pid))
    equal(explain(directory)['subject'], f'container /{name}')
    assert 'ommand' not in summary, summary
    recorded = [row for row in table(directory, 'containers') if row['cIsRecorded'] == '1']
    equal({(row['cPath'], row['cIsShared']) for row in recorded}, {('/' + name, '0')})
    equal({row['pId'] for row in table(directory, 'processes')}, {str(pid)})


def shared_group(directory):
    """C097 C327: the usage of a cgroup with others in it is not that of the process"""
    name = f'pitot-e2e-shared-{os.getpid()}'
    with group(name) as place, sleeping() as pid, workload('hogs', 1) as hogs:
        busy = pathlib.Path(f'/proc/{hogs}/task/{hogs}/children')
        others = busy.read_text().split() if busy.exists() else []
        for member in (pid, hogs, *others):
            (place / 'cgroup.procs').write_text(str(member))
        record(directory / 'shared', '--pid', pid, '-d', '1s')
        for member in (hogs, *others):
            (place.parent / 'cgroup.procs').write_text(str(member))
        record(directory / 'own', '--pid', pid, '-d', '1s')
        (place.parent / 'cgroup.procs').write_text(str(pid))
    for what, is_shared in (('shared', '1'), ('own', '0')):
        recorded = [row for row in table(directory / what, 'containers')
                    if row['cIsRecorded'] == '1']
        equal({(row['cPath'], row['cIsShared']) for row in recorded}, {('/' + name, is_shared)},
              what)
        assert explain(directory / what)['figures']['own.cpu'] < 0.2, what


def one_row_of_the_command(directory):
    """C095 C097 C328: a command has exactly one recorded row, with memory and I/O where v1 has
    them; its cgroups are removed"""
    need_root()
    record(directory, '--', 'sleep', '0.6')
    recorded = [row for row in table(directory, 'containers') if row['cIsRecorded'] == '1']
    samples = [row['monotonic_ns'] for row in recorded]
    equal(len(samples), len(set(samples)), 'recorded rows per sample')
    if not recorded or 'pitot-' not in recorded[0]['cPath']:
        raise Skip('no cgroups can be created here')
    equal({row['cIsShared'] for row in recorded}, {'0'})
    assert recorded[-1]['cCpuTime']
    if (V1 / 'memory' / 'cgroup.procs').exists():
        assert int(recorded[-1]['cMemoryMaxUsed']) > 0
    name = pathlib.Path(recorded[0]['cPath']).name
    equal([place for place in V1.rglob(name)], [], 'left behind')


def command_keeps_its_priority(directory):
    """C003 C327: priority, scheduler, autogroup and limits of the command are those it has alone"""
    words = ('sh', '-c', 'nice; ulimit -a; ulimit -Ha; cut -d" " -f18,19,41 /proc/self/stat; '
             'grep -v sched /proc/self/sched | grep -E "^(policy|prio)"; true')
    alone = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    code, out, err = run('-q', '-t', 20, '-o', directory, '--', *words)
    equal((code, out), (0, alone), err)
    niced = subprocess.run(('nice', '-n', '7', *words), capture_output=True, text=True).stdout
    code, out, err = run('-q', '-t', 20, '-o', directory, '--', *words, wrapper=('nice', '-n', '7'))
    equal((code, out), (0, niced), err)


def priority_is_said(directory):
    """C240: where the priority may not be raised, -v says so"""
    need_root()
    program = public(directory, PITOT)
    code, _, err = run('-v', '-f', 'csv', '-d', '300ms', '-o', directory / 'run', program=program,
                       user=65534, group=65534, extra_groups=[],
                       preexec_fn=lambda: resource.setrlimit(13, (0, 0))) # RLIMIT_NICE
    equal(code, 0, err)
    contains(err, 'cannot raise the priority of the sampler: ')
    assert 'priority of the sampler' not in run('-v', '-f', 'csv', '-d', '100ms', '-o',
                                                directory / 'root')[2]


def compared(directory):
    """C327: runs of different processes are compared as processes"""
    for name in ('a', 'b'):
        with sleeping() as pid:
            record(directory / name, '--pid', pid, '-d', '600ms')
    code, out, err = run('diff', directory / 'a', directory / 'b')
    assert code in (0, 1, 3), err
    contains(out, 'The process: CPU')
    assert 'Command' not in out, out


def pss_of_the_program(directory):
    """C101: the PSS is that of the program, not of what ran before exec"""
    record(directory, '-p', '--', 'sleep', '0.8')
    rows = [row for row in table(directory, 'processes') if row['pIsRecorded'] == '1']
    for row in rows:
        if row['pPss'] and row['pName'] == 'sleep':
            resident = int(row['pResidentSetSize'])
            assert int(row['pPss']) <= resident or resident == 0, row
    assert [row for row in rows if row['pName'] == 'sleep' and row['pPss']], 'read after exec'
    assert not [row for row in rows if row['pState'] == 'Z' and row['pPss']], 'not of a zombie'


main(idle_on_a_busy_machine, busy_among_others, machine_has_nothing_of_its_own, tree_without_p,
     chosen_collectors, wrong_pids, ends_while_watched, of_another_user, of_another_namespace,
     container, shared_group, one_row_of_the_command, command_keeps_its_priority, priority_is_said,
     compared, pss_of_the_program, jobs=2)
