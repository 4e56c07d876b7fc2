#!/usr/bin/python3
"""pitot cpu on programs whose answer is known: what they say of themselves must be in the profile.

Arguments: pitot, the burner, its plugin, and the thrower if there is a C++ compiler. Shares are
statistical; the bounds are wide, the samples many.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from profiles import (again, as_nobody, busy_machine, check_gil, cpu_ticks, hottest, interpreters,
                      merged, near, need_perf, order, read_folded, rooted, share)
from harness import Skip, WORKLOAD, contains, end, equal, main, run, start, wait_until

PLUGIN = os.path.abspath(sys.argv[3])
THROWER = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
PROGRAM = pathlib.Path(__file__).with_name('workload.py')
RATE = 1999


def profile(directory, *command, options=(), code=3):
    """The stacks of a command, what it said, what Pitot said."""
    path = directory / 'profile.folded'
    got, out, err = run('cpu', '--rate', RATE, *options, '-o', path, '--', *command)
    need_perf(got, err)
    equal(got, code, err)
    return read_folded(path), out, err


def shares(directory):
    """C241: functions have the shares of CPU time that the program measured itself"""
    stacks, out, err = profile(directory, WORKLOAD, 'shares')
    said = {words[1]: int(words[2]) for words in map(str.split, out.splitlines())}
    for name, cpu_ns in said.items():
        near(share(stacks, name), cpu_ns / sum(said.values()), name)
    order(hottest(stacks), 'main', 'three_quarters', 'burn')
    assert rooted(err) >= 98, err


def recursion(directory):
    """C242: a recursion of forty calls is forty frames"""
    stacks, _, err = profile(directory, WORKLOAD, 'recursion')
    equal(hottest(stacks).count('recurse'), 40)
    assert rooted(err) >= 98, err


def large_stacks(directory):
    """C242: stacks of 28 KiB at 999 Hz come through, whole"""
    stacks, _, err = profile(directory, WORKLOAD, 'large-stack', options=['--rate', 999])
    equal(hottest(stacks).count('large_frame'), 26)
    assert rooted(err) >= 98, err
    samples, lost = map(int, re.search(r'samples: (\d+), lost (\d+)', err).groups())
    assert lost <= samples / 10, err


def tail_call(directory):
    """C242: a function that jumped away is not in the stack of the one it jumped to"""
    stacks, _, err = profile(directory, WORKLOAD, 'tail-call')
    near(share(stacks, 'last_called'), 1, 'last_called')
    near(share(stacks, 'jumps_away'), 0, 'jumps_away')
    assert rooted(err) >= 98, err


def signal_frame(directory):
    """C242: the stack of a signal handler goes on to what it interrupted"""
    stacks, _, err = profile(directory, WORKLOAD, 'signal')
    order(hottest(stacks), 'main', 'interrupted', 'handler', 'burn')
    assert rooted(err) >= 98, err


def loaded_later(directory):
    """C242: code that was loaded while it ran is unwound and named"""
    stacks, _, err = profile(directory, WORKLOAD, 'dlopen', PLUGIN)
    order(hottest(stacks), 'main', 'plugin_run', 'called_back', 'burn')
    assert rooted(err) >= 98, err


def threads(directory):
    """C242: all threads are sampled, by the CPU time they use"""
    stacks, _, err = profile(directory, WORKLOAD, 'threads')
    near(share(stacks, 'busy_thread'), 1, 'busy_thread')
    assert rooted(err) >= 98, err


def late(err):
    """The share of CPU time that had no samples; Pitot tells from 5 % on."""
    found = re.search(r'without samples: ([0-9.]+) %', err)
    return float(found[1]) / 100 if found else 0.05


def children(directory):
    """C242: what the command starts is sampled too"""
    stacks, _, err = profile(directory, WORKLOAD, 'fork')
    near(share(stacks, 'in_child'), 2 / 3, 'in_child', 0.07 + late(err))
    near(share(stacks, 'in_parent'), 1 / 3, 'in_parent', 0.07 + late(err))
    assert rooted(err) >= 98, err


def busy(directory):
    """C241: where others take the CPUs, samples are in the profile or said to be missing"""
    with busy_machine(WORKLOAD):
        stacks, _, err = profile(directory, WORKLOAD, 'fork')
    lost = int(re.search(r'lost (\d+)', err)[1])
    used = 0.3 # seconds, by the program's own clock
    found = (sum(weight for _, weight in stacks) + lost) / RATE
    assert found >= 0.95 * used * (1 - late(err)), (found, err)
    assert rooted(err) >= 98, err


def realigned(directory):
    """C242: functions that realign their stack do not end the unwinding"""
    stacks, _, err = profile(directory, WORKLOAD, 'realigned')
    order(hottest(stacks), 'main', 'realigned', 'burn')
    equal(hottest(stacks).count('realigned'), 2)
    assert rooted(err) >= 98, err


def inlined(directory):
    """C241: inlined functions have frames of their own where there is debug information"""
    stacks, _, _ = profile(directory, WORKLOAD, 'inlines')
    near(share(stacks, 'was_inlined'), 1, 'was_inlined', 0.15)
    order(hottest(stacks), 'inlines', 'was_inlined')


def stripped(directory):
    """C242: a stripped program is unwound to its root; its functions are called by their start"""
    if not shutil.which('strip'):
        raise Skip('no strip here')
    bare = directory / 'bare'
    subprocess.run(['strip', '-o', bare, WORKLOAD], check=True)
    stacks, _, err = profile(directory, bare, 'recursion')
    assert rooted(err) >= 98, err
    names = [name for name in hottest(stacks) if name.startswith('bare+0x')]
    assert max(map(names.count, names)) >= 40, names


def exceptions(directory):
    """C241: C++ names are readable, and a caught exception leaves a whole stack"""
    if not THROWER:
        raise Skip('no C++ compiler here')
    stacks, _, err = profile(directory, THROWER, code=0)
    assert any('Catcher::run(int)' in name for name in hottest(stacks)), hottest(stacks)
    assert rooted(err) >= 98, err


def waiting(directory):
    """C241: --off-cpu has the time a thread waited, and where"""
    stacks, out, err = profile(directory, WORKLOAD, 'waits', options=['--off-cpu'])
    waited_ns = int(out.split()[2])
    found_ns = sum(weight for frames, weight in stacks if 'waits' in frames)
    near(found_ns / waited_ns, 1, 'waits', 0.2)
    contains(err, 'idle')


def attached(directory):
    """C241: a process that already runs is profiled with all its threads, and goes on"""
    path = directory / 'profile.folded'
    target = subprocess.Popen([WORKLOAD, 'until-told'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        contains(target.stdout.readline(), 'begun')
        code, _, err = run('cpu', '--rate', RATE, '--pid', target.pid, '-d', '0.5', '-o', path)
        need_perf(code, err)
        equal(code, 0, err)
        equal(target.poll(), None, 'the target goes on')
        stacks = read_folded(path)
        near(share(stacks, 'busy_thread'), 1, 'busy_thread')
        assert rooted(err) >= 98, err
    finally:
        target.stdin.close()
        equal(target.wait(20), 5, 'its exit code')


def attached_tree(directory):
    """C241: children that already run are profiled with the process that started them"""
    path = directory / 'profile.folded'
    target = subprocess.Popen(['sh', '-c', '"$0" until-told; exit 6', WORKLOAD],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        contains(target.stdout.readline(), 'begun')
        code, _, err = run('cpu', '--rate', RATE, '--pid', target.pid, '-d', '0.5', '-o', path)
        need_perf(code, err)
        equal(code, 0, err)
        near(share(read_folded(path), 'busy_thread'), 1, 'busy_thread')
        assert rooted(err) >= 98, err
    finally:
        target.stdin.close()
        equal(target.wait(20), 6, 'its exit code')


def interrupted(directory):
    """C241: Ctrl+C ends a profile of a process, and the profile is written"""
    path = directory / 'profile.folded'
    target = subprocess.Popen([WORKLOAD, 'until-told'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        contains(target.stdout.readline(), 'begun')
        pitot = start('cpu', '--rate', RATE, '--pid', target.pid, '-o', path)
        before = cpu_ticks(target.pid)
        wait_until(lambda: cpu_ticks(target.pid) > before + 30 or pitot.poll() is not None, 'work')
        pitot.send_signal(2)
        code, _, err = end(pitot)
        need_perf(code, err)
        equal(code, 0, err)
        assert share(read_folded(path), 'busy_thread') > 0.9
    finally:
        target.stdin.close()
        target.wait(20)


def python_shares(directory):
    """C241: functions of Python have the shares of CPU time that the program measured itself"""
    stacks, _, err = profile(directory, '/usr/bin/python3', PROGRAM, 'shares', code=0)
    inside = [stack for stack in stacks if 'burn' in stack[0]]
    near(share(inside, 'three_quarters'), 3 / 4, 'three_quarters')
    near(share(inside, 'one_quarter'), 1 / 4, 'one_quarter')
    order(hottest(stacks), '<module> (workload.py)', 'main', 'three_quarters', 'burn')
    assert merged(err) >= 60, err
    assert rooted(err) >= 98, err


def python_leaves(directory):
    """C241: C code that calls back stands between the functions of Python"""
    stacks, _, err = profile(directory, '/usr/bin/python3', PROGRAM, 'leaves', code=0)
    inside = [stack for stack in stacks if 'burn' in stack[0]]
    near(share(inside, 'generator'), 3 / 8, 'generator')
    near(share(inside, 'called_by_c'), 3 / 8, 'called_by_c')
    near(share(inside, 'main.<locals>.<lambda>'), 2 / 8, 'the key of sorted()')
    assert merged(err) >= 60, err


def python_threads(directory):
    """C241: threads of Python have frames of their own"""
    stacks, _, err = profile(directory, '/usr/bin/python3', PROGRAM, 'threads', code=0)
    assert share(stacks, 'Worker.run') > 0.7, share(stacks, 'Worker.run')
    assert merged(err) >= 60, err


def python_gil(directory):
    """C241: one thread holds the GIL alone, four want it from each other, hashing gives it up"""
    for minor, python in interpreters().items():
        check_gil(f'3.{minor}', lambda what: profile(directory, python, PROGRAM, what, code=0)[2])


def python_gil_wait(directory):
    """C241: the time that threads wait for the GIL is named so"""
    for minor, python in interpreters().items():
        stacks, _, err = profile(directory, python, PROGRAM, 'contended', code=0,
                                 options=['--off-cpu'])
        # not start_thread: libc has no name for it where libc6-dbg is missing
        workers = [stack for stack in stacks if 'burn' in stack[0]]
        assert share(workers, '[GIL wait]') > 0.5, f'3.{minor}: {share(workers, "[GIL wait]")}'
        contains(err, ' gil ')


def native_only(directory):
    """C241: --no-python leaves the interpreter's own frames"""
    stacks, _, err = profile(directory, '/usr/bin/python3', PROGRAM, 'shares', code=0,
                             options=['--no-python'])
    assert share(stacks, '_PyEval_EvalFrameDefault') > 0.8
    assert share(stacks, 'three_quarters') == 0
    assert 'python:' not in err, err


def named_page(directory):
    """C241: where no file is asked for it is a flame graph, and Pitot says where"""
    code, _, err = run('cpu', '--rate', RATE, '--', WORKLOAD, 'shares', cwd=directory)
    need_perf(code, err)
    equal(code, 3, err)
    pages = [path.name for path in directory.iterdir()]
    assert len(pages) == 1 and re.fullmatch(r'pitot-cpu-\d{8}-\d{6}-\d+\.html', pages[0]), pages
    equal(err.splitlines()[-1], f'profile: {pages[0]}')
    contains((directory / pages[0]).read_text(), 'three_quarters')


def exit_codes(directory):
    """C241: the command's exit code is Pitot's; what cannot be run is said"""
    code, _, err = run('cpu', '-q', '--', 'sh', '-c', 'exit 42', cwd=directory)
    need_perf(code, err)
    equal(code, 42)
    equal(run('cpu', '-q', '--', 'sh', '-c', 'kill -9 $$', cwd=directory)[0], 137)
    equal(run('cpu', '--', '/nonexistent/program')[0], 127)
    equal(run('cpu', '--', str(directory))[0], 126)
    code, _, err = run('cpu', '--pid', 0x7ffffff0)
    equal(code, 125)
    contains(err, 'no such process')


def forbidden(directory):
    """C241: without any way to sample the error names the knob, and the exit code is 125"""
    proc, sys_ = directory / 'proc', '/sys'
    (proc / 'sys/kernel').mkdir(parents=True)
    (proc / 'sys/kernel/perf_event_paranoid').write_text('3\n')
    if pathlib.Path('/proc/sys/kernel/perf_event_paranoid').read_text().strip() in ('-1', '0', '1'):
        raise Skip('context switches are allowed to everybody here')
    code, _, err = run('cpu', '--off-cpu', '--path.procfs', proc, '--path.sysfs', sys_, '-o',
                       '/dev/null/x.folded', '--', 'true', **as_nobody(directory))
    equal(code, 125, err)
    if 'no perf events' in err:
        raise Skip(err.strip())
    contains(err, 'perf_event_paranoid=3')
    contains(err, 'CAP_PERFMON')


TESTS = (
    shares, recursion, large_stacks, tail_call, signal_frame, loaded_later, threads, children, busy,
    realigned, inlined, stripped, exceptions, waiting, attached, attached_tree, interrupted,
    python_shares, python_leaves, python_threads, python_gil, python_gil_wait, native_only,
    named_page, exit_codes, forbidden,
)
main(*map(again, TESTS), jobs=2)
