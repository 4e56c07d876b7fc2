#!/usr/bin/python3
"""The ways of pitot cpu where perf is forbidden: timers inside the command, frames of Python alone.

Arguments: pitot, the burner, its plugin, the program that forbids system calls, the one with its
own ways with signals, and that linked statically. Shares are statistical; the bounds are wide, the
samples many.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from profiles import (again, as_nobody, busy_machine, check_gil, cpu_ticks, hottest, interpreters,
                      merged, near, order, public, read_folded, rooted, share)
from harness import Skip, WORKLOAD, contains, end, equal, main, need_root, run, start, wait_until

PLUGIN, FORBID, SIGNALS, STATIC = map(os.path.abspath, sys.argv[3:7])
PROGRAM = pathlib.Path(__file__).with_name('workload.py')
PYTHON = '/usr/bin/python3'
RATE = 1999


def forbidding(*calls):
    return [FORBID, *calls, '--']


def profile(directory, *command, method='timer', options=(), code=3, **how):
    """The stacks of a command, what it said, what Pitot said."""
    path = directory / 'profile.folded'
    got, out, err = run('cpu', '--rate', RATE, '--method', method, *options, '-o', path, '--',
                        *command, **how)
    equal(got, code, err)
    return read_folded(path), out, err


def shares(directory):
    """C241: by timers functions have the shares of CPU time that the program measured itself"""
    stacks, out, err = profile(directory, WORKLOAD, 'shares')
    said = {words[1]: int(words[2]) for words in map(str.split, out.splitlines())}
    for name, cpu_ns in said.items():
        near(share(stacks, name), cpu_ns / sum(said.values()), name)
    order(hottest(stacks), 'main', 'three_quarters', 'burn')
    contains(err, 'cpu: timer: ')
    assert rooted(err) >= 98, err


def all_time(directory):
    """C241: timers miss no CPU time: the samples stand for what the program used"""
    stacks, out, err = profile(directory, WORKLOAD, 'shares')
    used_ns = sum(int(line.split()[2]) for line in out.splitlines())
    sampled_ns = sum(weight for _, weight in stacks) * 1e9 / RATE
    near(sampled_ns / used_ns, 1, 'sampled', 0.03)


def stacks_of_timers(directory):
    """C242: stacks that a signal handler copied are unwound as those of perf"""
    stacks, _, err = profile(directory, WORKLOAD, 'recursion')
    equal(hottest(stacks).count('recurse'), 40)
    assert rooted(err) >= 98, err
    stacks, _, err = profile(directory, WORKLOAD, 'signal')
    order(hottest(stacks), 'main', 'interrupted', 'handler', 'burn')
    assert rooted(err) >= 98, err
    stacks, _, err = profile(directory, WORKLOAD, 'realigned')
    order(hottest(stacks), 'main', 'realigned', 'burn')
    assert rooted(err) >= 98, err


def loaded_later(directory):
    """C242: timers see code that was loaded while the program ran"""
    stacks, _, err = profile(directory, WORKLOAD, 'dlopen', PLUGIN)
    order(hottest(stacks), 'main', 'plugin_run', 'called_back', 'burn')
    assert rooted(err) >= 98, err


def threads(directory):
    """C242: every thread has a timer, and its stack begins where it began"""
    stacks, _, err = profile(directory, WORKLOAD, 'threads')
    near(share(stacks, 'busy_thread'), 1, 'busy_thread')
    assert not any('libpitot-cpu' in name for frames, _ in stacks for name in frames), stacks
    assert rooted(err) >= 98, err


def children(directory):
    """C242: a child has timers of its own after fork"""
    stacks, _, _ = profile(directory, WORKLOAD, 'fork')
    near(share(stacks, 'in_child'), 2 / 3, 'in_child', 0.02)
    near(share(stacks, 'in_parent'), 1 / 3, 'in_parent', 0.02)


def busy(directory):
    """C241: time that no tick of the kernel saw is counted where the thread was last seen"""
    with busy_machine(WORKLOAD):
        stacks, _, err = profile(directory, WORKLOAD, 'fork')
    near(share(stacks, 'in_child'), 2 / 3, 'in_child', 0.02)
    near(sum(weight for _, weight in stacks) / RATE / 0.3, 1, 'sampled', 0.03)
    assert 'not sampled' not in str(stacks), stacks


def borrowed_memory(directory):
    """C241: a child of vfork that ends does not end the sampling of its parent"""
    stacks, _, _ = profile(directory, WORKLOAD, 'vfork')
    near(sum(weight for frames, weight in stacks if 'in_parent' in frames) / RATE / 0.2, 1,
         'sampled', 0.03)


def programs(directory):
    """C242: the programs that a shell runs are sampled, too"""
    stacks, _, _ = profile(directory, 'sh', '-c', '"$0" shares; "$0" fork; exit 7', WORKLOAD,
                           code=7)
    near(share(stacks, 'do_shares'), 4 / 7, 'do_shares', 0.03)
    near(share(stacks, 'do_fork'), 3 / 7, 'do_fork', 0.03)


def unnoticed(directory):
    """C241: a program does not notice timers: system calls, errno, signals, exec, cancellation"""
    for what in (['restarts'], ['errno'], ['cancels'], ['waits'], ['alarms'], ['execs', '100']):
        _, _, err = profile(directory, SIGNALS, *what)
        assert 'without a timer' not in err, f'{what}: {err}'


def churning(directory):
    """C241: threads that end leave no timer behind"""
    _, _, err = profile(directory, SIGNALS, 'churns', wrapper=['prlimit', '--sigpending=100'])
    assert 'without a timer' not in err, err


def blocked(directory):
    """C241: a thread that blocks all signals is sampled all the same"""
    stacks, _, _ = profile(directory, SIGNALS, 'blocks')
    near(share(stacks, 'blocked_thread'), 1, 'blocked_thread')


def taken(directory):
    """C241: a program that wants the signal of the timers gets it, and Pitot says so"""
    stacks, _, err = profile(directory, SIGNALS, 'takes')
    contains(err, 'replaced the handler')
    assert stacks, err


def killed(directory):
    """C241: a program that is killed leaves its samples"""
    path = directory / 'profile.folded'
    pitot = start('cpu', '--rate', RATE, '--method', 'timer', '-o', path, '--', 'sh', '-c',
                  'echo $$; exec "$0" until-told', WORKLOAD, stdin=subprocess.PIPE)
    pid = int(pitot.stdout.readline())
    contains(pitot.stdout.readline(), 'begun')
    wait_until(lambda: cpu_ticks(pid) > 30, 'work')
    os.kill(pid, 9)
    code, _, err = end(pitot)
    equal(code, 137, err)
    stacks = read_folded(path)
    near(share(stacks, 'busy_thread'), 1, 'busy_thread', 0.15)


def duration(directory):
    """C241 C321: after -d the command is ended by SIGTERM, and its samples are kept"""
    path = directory / 'profile.folded'
    pitot = start('cpu', '--rate', RATE, '--method', 'timer', '-d', '2', '-o', path, '--',
                  WORKLOAD, 'until-told', stdin=subprocess.PIPE)
    pitot.wait(180) # its input stays open
    code, _, err = end(pitot)
    equal(code, 143, err)
    assert share(read_folded(path), 'busy_thread') > 0.8


def chosen_timer(directory):
    """C241: where perf is forbidden timers are taken, and Pitot says so and why"""
    stacks, _, err = profile(directory, WORKLOAD, 'shares', method='auto',
                             wrapper=forbidding('perf_event_open'))
    near(share(stacks, 'three_quarters'), 3 / 4, 'three_quarters')
    contains(err, 'perf_event_paranoid')
    contains(err, 'using timers')


def chosen_user(directory):
    """C241: an ordinary user gets perf events in user code, or timers"""
    how, program = as_nobody(directory), public(directory, WORKLOAD)
    stacks, _, err = profile(directory, program, 'shares', method='auto', **how)
    near(share(stacks, 'three_quarters'), 3 / 4, 'three_quarters')
    assert 'user only' in err or 'user and kernel' in err, err
    how = as_nobody(directory, public(directory, FORBID), 'perf_event_open', '--')
    stacks, _, err = profile(directory, program, 'shares', method='auto', **how)
    near(share(stacks, 'three_quarters'), 3 / 4, 'three_quarters')
    contains(err, 'cpu: timer: ')


def unreadable(directory):
    """C241: a module or library that the user may not read is not called missing"""
    how = as_nobody(directory)
    modules = pathlib.Path(how['env']['PITOT_MODULES'])
    words = ('cpu', '--method', 'timer', '-o', directory / 'x.folded', '--', 'true')
    for name, where in (('libpitot-cpu.so', modules / 'libpitot-cpu.so'),
                        ('elf.so', modules / 'elf.so'), ('elf.so', modules)):
        mode = where.stat().st_mode
        where.chmod(0o600)
        code, _, err = run(*words, **how)
        found = run('doctor', **how)[1]
        where.chmod(mode)
        equal(code, 125, err)
        contains(err, 'cannot read ')
        contains(err, f'{name}: Permission denied')
        assert name != 'elf.so' or 'give this user the right to read the file' in found, found


def unpreloadable(directory):
    """C241: static and setuid programs have no timers: that is said, and they do not run"""
    wrapper = forbidding('perf_event_open')
    code, out, err = run('cpu', '-o', directory / 'x.folded', '--', STATIC, 'errno',
                         wrapper=wrapper)
    equal((code, out), (125, ''), err)
    contains(err, 'statically linked')
    assert not (directory / 'x.folded').exists()
    need_root()
    program = directory / 'setuid'
    shutil.copy(WORKLOAD, program)
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    code, out, err = run('cpu', '--method', 'timer', '--', program, 'shares')
    equal((code, out), (125, ''), err)
    contains(err, 'setuid')


def all_static(directory):
    """C241: a shell that only runs a static program does not give a profile of it"""
    path = directory / 'x.folded'
    code, _, err = run('cpu', '--method', 'timer', '-o', path, '--', 'sh', '-c',
                       '"$0" errno; exit 0', STATIC)
    equal(code, 0, err)
    contains(err, "0 % of the command's CPU time was sampled")
    assert not path.exists()


def python_by_timer(directory):
    """C241: timers and the frames of Python are merged as with perf"""
    stacks, _, err = profile(directory, PYTHON, PROGRAM, 'shares', code=0)
    inside = [stack for stack in stacks if 'burn' in stack[0]]
    near(share(inside, 'three_quarters'), 3 / 4, 'three_quarters')
    within = [stack for stack in inside if 'three_quarters' in stack[0]]
    order(hottest(within), '<module> (workload.py)', 'main', 'three_quarters', 'burn')
    assert merged(err) >= 60, err


def python_unreadable(directory):
    """C241: where Python's memory must not be read timers show its interpreter, and say so"""
    stacks, _, err = profile(directory, PYTHON, PROGRAM, 'shares', code=0,
                             wrapper=forbidding('process_vm_readv'))
    assert share(stacks, '_PyEval_EvalFrameDefault') > 0.8
    contains(err, 'process_vm_readv')


def python_alone(directory):
    """C241: Python's frames alone, read from outside, have the shares that the program measured"""
    stacks, _, err = profile(directory, PYTHON, PROGRAM, 'shares', method='python', code=0)
    inside = [stack for stack in stacks if 'burn' in stack[0]]
    near(share(inside, 'three_quarters'), 3 / 4, 'three_quarters')
    near(share(inside, 'one_quarter'), 1 / 4, 'one_quarter')
    within = [stack for stack in inside if 'three_quarters' in stack[0]]
    order(hottest(within), '<module> (workload.py)', 'main', 'three_quarters', 'burn')
    contains(err, 'cpu: python: ')
    assert merged(err) >= 60, err
    assert 'reach the root' not in err, err


def python_alone_leaves(directory):
    """C241: of C code that calls back, Python alone shows the functions around it"""
    stacks, _, err = profile(directory, PYTHON, PROGRAM, 'leaves', method='python', code=0)
    inside = [stack for stack in stacks if 'burn' in stack[0]]
    near(share(inside, 'generator'), 3 / 8, 'generator')
    near(share(inside, 'called_by_c'), 3 / 8, 'called_by_c')
    near(share(inside, 'main.<locals>.<lambda>'), 2 / 8, 'the key of sorted()')


def python_alone_threads(directory):
    """C241: threads that wait for the lock of Python are not sampled as if they ran"""
    stacks, _, err = profile(directory, PYTHON, PROGRAM, 'threads', method='python', code=0)
    assert share(stacks, 'Worker.run') > 0.7, share(stacks, 'Worker.run')
    sampled_s = sum(weight for frames, weight in stacks if 'burn' in frames) / RATE
    near(sampled_s / 0.6, 1, 'CPU time of both', 0.15)


def python_gil(directory):
    """C241: timers and Python alone tell who holds the GIL, and whether others want it"""
    for method, pythons in ('timer', interpreters().values()), ('python', [PYTHON]):
        for python in pythons:
            check_gil(f'{method}, {python}', lambda what: profile(
                directory, python, PROGRAM, what, method=method, code=0)[2])


def attached(directory):
    """C241: without perf a Python that runs already is read from outside; another program is not"""
    path = directory / 'profile.folded'
    code_text = 'import sys\nprint(1, flush=True)\ndef spin():\n while True: sum(range(99))\nspin()'
    target = subprocess.Popen([PYTHON, '-c', code_text], stdout=subprocess.PIPE, text=True)
    wrapper = forbidding('perf_event_open')
    try:
        target.stdout.readline()
        code, _, err = run('cpu', '--pid', target.pid, '-d', '0.5', '-o', path, wrapper=wrapper)
        equal(code, 0, err)
        equal(target.poll(), None, 'the target goes on')
        near(share(read_folded(path), 'spin'), 1, 'spin')
    finally:
        target.kill()
        target.wait()
    target = subprocess.Popen([WORKLOAD, 'until-told'], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        target.stdout.readline()
        code, _, err = run('cpu', '--pid', target.pid, '-d', '0.5', wrapper=wrapper, cwd=directory)
        equal(code, 125, err)
        contains(err, 'is not CPython')
    finally:
        target.stdin.close()
        target.wait(20)


def no_way(directory):
    """C241: with no way left each is named with what it lacks, exit code 125, nothing runs"""
    code, out, err = run('cpu', '-o', directory / 'x.folded', '--', WORKLOAD, 'shares',
                         wrapper=forbidding('perf_event_open', 'timer_create', 'process_vm_readv'))
    equal((code, out), (125, ''), err)
    for words in ('cannot sample CPU time', 'perf: ', 'perf_event_paranoid', 'CAP_PERFMON',
                  'timer: timer_create', 'python: process_vm_readv', 'CAP_SYS_PTRACE'):
        contains(err, words)
    assert not (directory / 'x.folded').exists()


def not_python(directory):
    """C241: Python alone of a program that is none is said to be so, without an empty profile"""
    code, _, err = run('cpu', '--method', 'python', '-o', directory / 'x.folded', '--', 'sh', '-c',
                       '"$0" shares >/dev/null; exit 0', WORKLOAD)
    equal(code, 0, err)
    contains(err, 'CPython')
    assert not (directory / 'x.folded').exists()


def exit_codes(directory):
    """C241: each way keeps the exit code of the command, also that of a signal"""
    for method in ('timer', 'python'):
        options = ('cpu', '-q', '--method', method, '--', PYTHON, '-c')
        for program, code in (('raise SystemExit(42)', 42),
                              ('import os; os.kill(os.getpid(), 9)', 137)):
            equal(run(*options, program, cwd=directory)[0], code, f'{method} {program}')
        equal(run('cpu', '--method', method, '--', '/nonexistent/program', cwd=directory)[0], 127)


def doctor(directory):
    """C241: pitot doctor says which way would be taken, and why not a better one"""
    def row(*calls):
        _, out, _ = run('doctor', '--json', wrapper=forbidding(*calls))
        return next(check for check in json.loads(out)['checks'] if check['id'] == 'cpu_profile')
    timers = row('perf_event_open')
    contains(timers['found'], 'timers inside commands')
    contains(timers['found'], 'Python frames only')
    contains(timers['remedy'], 'perf_event_paranoid')
    python = row('perf_event_open', 'timer_create')
    equal(python['found'], 'Python frames only')
    contains(python['remedy'], 'timer_create')
    equal(row('perf_event_open', 'timer_create', 'process_vm_readv')['state'], 'missing')


def recorded(directory):
    """C241: record --cpu takes the same ways"""
    for method, wrapper in (('auto', forbidding('perf_event_open')), ('python', ())):
        out = directory / method
        code, _, err = run('-f', 'csv', '-t', 50, '--cpu=999', '--method', method, '-o', out, '--',
                           PYTHON, PROGRAM, 'shares', wrapper=wrapper)
        equal(code, 0, err)
        code, _, err = run('export', out, '--profile', 'cpu', '-o', directory / 'x.folded')
        equal(code, 0, err)
        inside = [stack for stack in read_folded(directory / 'x.folded') if 'burn' in stack[0]]
        near(share(inside, 'three_quarters'), 3 / 4, f'three_quarters by {method}')


def recorded_without(directory):
    """C241: a run is recorded without a profile where there is no way, and that is said"""
    code, _, err = run('-t', 50, '--cpu', '-o', directory / 'out', '--', WORKLOAD, 'shares',
                       wrapper=forbidding('perf_event_open', 'timer_create', 'process_vm_readv'))
    equal(code, 3, err)
    contains(err, 'no CPU profile: ')
    contains(err, 'timer_create')
    equal(list((directory / 'out').glob('*.pitotprof')), [])


# Timers count all CPU time, however late they come: these are right at once on a busy machine, too.
EXACT = (all_time, children, busy, borrowed_memory, programs)
TESTS = (
    shares, stacks_of_timers, loaded_later, threads, unnoticed, churning, blocked, taken, killed,
    duration, chosen_timer, chosen_user, unreadable, unpreloadable, all_static, python_by_timer,
    python_unreadable, python_alone, python_alone_leaves, python_alone_threads, python_gil,
    attached, no_way, not_python, exit_codes, doctor, recorded, recorded_without,
)
main(*EXACT, *map(again, TESTS), jobs=1)
