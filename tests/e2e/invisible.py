#!/usr/bin/python3
"""Programs behave under Pitot as they do alone: each runs with and without it, and exit code,
output, terminal and what is left behind are compared. Nothing here depends on time: a program
says when it is ready and waits for a word to end."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import termios

from harness import (ENVIRONMENT, PITOT, equal, is_alive, main, session, state_of,
                     wait_until)
from shell import NO_LEAKS, PROMPT, terminal

PROGRAM = os.path.abspath(sys.argv[3])
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP,
          signal.SIGSYS, signal.SIGABRT} # not forwarded: they say that Pitot itself failed
FORWARDED = sorted(set(signal.valid_signals()) - FAULTS - {signal.SIGKILL, signal.SIGSTOP})
STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
FEW = [number for number in FORWARDED if number < 32] + [signal.SIGRTMIN, signal.SIGRTMAX]


def words(directory, pitot):
    """What stands before the command."""
    return [PITOT, '-q', '-f', 'csv', '-t', '100', '-o', str(directory / 'out'), '--'] \
        if pitot else []


def left_behind(mark):
    """Processes that a run has left running."""
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / 'environ').read_bytes() and is_alive(entry.name):
                    found.append(int(entry.name))
    return found


class Run:
    """A program, alone or under Pitot; its output is kept as it is read."""

    def __init__(self, directory, pitot, command, **options):
        self.directory, self.text = directory, ''
        self.mark = f'INVISIBLE={directory}.'
        options = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE,
                   'cwd': directory, 'text': True,
                   'env': ENVIRONMENT | {'INVISIBLE': f'{directory}.'}} | options
        self.process = subprocess.Popen([*words(directory, pitot), *map(str, command)], **options)

    def line(self):
        line = self.process.stdout.readline()
        self.text += line
        return line

    def expect(self, start):
        """Reads up to a line that begins like this; the rest of that line."""
        while line := self.line():
            if line.startswith(start):
                return line.removeprefix(start).strip()
        raise AssertionError(f'no {start!r} in {self.text!r}')

    def send(self, number):
        self.process.send_signal(number)

    def say(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def end(self):
        """(exit code as a shell sees it, stdout, stderr)."""
        try:
            out, err = self.process.communicate(timeout=180)
        finally:
            self.process.kill()
        code = self.process.returncode
        wait_until(lambda: not left_behind(self.mark), 'nothing is left running')
        return code if code >= 0 else 128 - code, self.text + (out or ''), err


def compare(directory, results):
    """`results` takes a new directory and whether Pitot runs the program."""
    found = []
    for pitot in (False, True):
        place = directory / ('pitot' if pitot else 'alone')
        place.mkdir()
        found.append(results(place, pitot))
    alone, recorded = found
    equal(recorded, alone, 'under Pitot')


def program(title, *command, drive=None, check=None, **options):
    """A test: runs the command, lets `drive` act on it, compares the results."""
    def test(directory):
        def results(place, pitot):
            run = Run(place, pitot, command, **options)
            more = drive(run) if drive else None
            result = run.end()
            if check:
                check(result)
            return result, more
        compare(directory, results)
    test.__doc__ = 'C321: ' + title
    return test


def ways(title, runs):
    """A test of several small programs."""
    def test(directory):
        def results(place, pitot):
            found = []
            for i, (command, drive) in enumerate(runs):
                (place / str(i)).mkdir()
                run = Run(place / str(i), pitot, command, preexec_fn=os.setpgrp)
                if drive:
                    drive(run)
                found.append((command, run.end()))
            return found
        compare(directory, results)
    test.__doc__ = 'C321: ' + title
    return test


def on_terminal(title, drive):
    """A test on a terminal: `drive` types to a shell, in which ./run starts a program; whatever
    appears, the exit code and the state of the terminal are compared."""
    def test(directory):
        def results(place, pitot):
            quoted = ' '.join(f'"{word}"' for word in words(place, pitot))
            (place / 'run').write_text(f'#!/bin/sh\nexec {quoted} "$@"\n')
            (place / 'run').chmod(0o755)
            (place / 'program').symlink_to(PROGRAM)
            with terminal(place) as shell:
                shell.line('stty -echo') # an echo may come before or after an answer
                shell.wait_for(PROMPT)
                from_here = shell.seen
                drive(shell)
                shell.line_unseen('echo "code $?."')
                shell.wait_for(b'.')
                shell.wait_for(PROMPT)
                mode = termios.tcgetattr(shell.fd)
                text = re.sub(rb'\[1\] \d+', b'[1] PID', shell.text[from_here:shell.seen])
                # lines of a program that was interrupted anywhere
                text = re.sub(rb'  File "<stdin>".*\r\n', b'', text)
                # where no key of the terminal ended it, Pitot exits with 128 + n
                text = text.replace(b'Exit 143  ', b'Terminated')
            return text, mode
        compare(directory, results)
    test.__doc__ = 'C321: ' + title
    return test


# --- signals

def send_each(run):
    run.expect('ready')
    for number in FORWARDED:
        run.send(number)
        run.expect(f'signal {number}\n')
    run.say('q\n')


def send_each_ignored(run):
    run.expect('ready')
    for number in FORWARDED:
        run.send(number)
    run.say('q\n')


def send_default(number):
    def drive(run):
        pid = int(run.expect('ready'))
        run.text = '' # the number of a process
        run.send(number)
        if number in STOPS:
            wait_until(lambda: state_of(pid) == 'T', 'it has stopped')
            run.send(signal.SIGCONT)
            wait_until(lambda: state_of(pid) == 'S', 'it has been continued')
        if number in STOPS or number in HARMLESS:
            run.send(signal.SIGTERM)
    return drive


def queue_value(run):
    run.expect('ready')
    sigqueue = ctypes.CDLL(None, use_errno=True).sigqueue
    sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    equal(sigqueue(run.process.pid, signal.SIGRTMIN + 2, 1234), 0)
    equal(run.expect('value'), '1234')
    run.say('q\n')


def send_to_group(run):
    run.expect('ready')
    for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
        os.killpg(run.process.pid, number)
        run.expect(f'signal {number}\n')
    run.send(signal.SIGUSR2) # after what else may come
    run.expect(f'signal {signal.SIGUSR2}\n')
    run.say('q\n')


SAVER = '''
import sys, time
try:
    print('ready', flush=True)
    while True:
        time.sleep(0.05)
except KeyboardInterrupt:
    print('saving', flush=True)
    sys.stdin.readline()
    print('saved', flush=True)
    sys.exit(7)
'''


def interrupt_saver(run):
    run.expect('ready')
    run.send(signal.SIGINT)
    run.expect('saving')
    run.say('go\n')


def stop_and_continue(run):
    pid = int(run.expect('ready'))
    run.text = ''
    wait_until(lambda: state_of(pid) == 'T', 'it has stopped')
    os.kill(pid, signal.SIGCONT)


def interrupt(run):
    run.expect('ready')
    run.send(signal.SIGINT)


def blocked_and_ignored():
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGRTMIN + 4])


def in_a_corner():
    os.umask(0o027)
    os.nice(3)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


# --- lives

def outlive(run):
    """What is left ends when the FIFO closes, and leaves a file."""
    os.mkfifo(run.directory / 'daemon-may-end')
    run.say('go\n')
    run.process.wait(180)
    with open(run.directory / 'daemon-may-end', 'w'):
        pass
    wait_until(lambda: (run.directory / 'daemon-was-here').exists(), 'it lives on')


ORPHAN = ('read go; (exec </dev/null >/dev/null 2>&1; read x < daemon-may-end; '
          'echo here > daemon-was-here) & exit 4')


def closed_pipe(directory):
    def results(place, pitot):
        read, write = os.pipe()
        os.close(read)
        run = Run(place, pitot, [PROGRAM, 'closed-pipe'], stdout=write, preexec_fn=lambda:
                  signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        os.close(write)
        return run.end()
    compare(directory, results)


closed_pipe.__doc__ = 'C321: a write to a closed pipe ends the program by SIGPIPE'


def descriptors(directory):
    def results(place, pitot):
        read, write = os.pipe()
        with open(place / 'file', 'w') as file:
            run = Run(place, pitot, [PROGRAM, 'descriptors'], pass_fds=(read, write, file.fileno()))
            code, out, err = run.end()
            numbers = {str(read): 'read', str(write): 'write', str(file.fileno()): 'file'}
        os.close(read)
        os.close(write)
        lines = [line.split(' ', 1) for line in out.replace(str(place), '.').splitlines()]
        return code, sorted((numbers.get(fd, fd), rest) for fd, rest in lines), err
    compare(directory, results)


descriptors.__doc__ = 'C321: the program has the descriptors of its caller and no others'


def rest_of_input(directory):
    def results(place, pitot):
        (place / 'input').write_text('first\nsecond\n')
        before = ' '.join(f'"{word}"' for word in words(place, pitot))
        with open(place / 'input') as file:
            return Run(place, False, ['sh', '-c', f'{before} sh -c "read x; echo \\$x; exit 2"; '
                                      'echo $?; cat'], stdin=file).end()
    compare(directory, results)


rest_of_input.__doc__ = 'C321: input that the program does not read stays for the next one'


def environment(directory):
    def results(place, pitot):
        code, out, err = Run(place, pitot, ['env'], env={'A': '1', 'PATH': os.environ['PATH'],
                                                         'EMPTY': '', 'LC_ALL': 'C'}).end()
        lines = [line for line in out.splitlines() if not line.startswith('PITOT_')]
        return code, lines, err
    compare(directory, results)


environment.__doc__ = 'C321: the environment is that of the caller, in its order, and PITOT_*'


# --- on a terminal

def press_interrupt(shell):
    (pathlib.Path(shell.directory) / 'saver.py').write_text(SAVER)
    shell.line_unseen('./run python3 saver.py')
    shell.wait_for(b'ready\r\n')
    shell.type(b'\x03')
    shell.wait_for(b'saving')
    shell.type(b'go\n')
    shell.wait_for(b'saved')
    shell.wait_for(PROMPT)


def press(key, way):
    def drive(shell):
        shell.line_unseen(f'./run ./program {way} | sed "s/ready.*/ready/"'
                          if way == 'waits' else f'./run ./program {way}')
        shell.wait_for(b'ready\r\n')
        shell.type(key)
        if way == 'handles':
            shell.wait_for(b'signal')
            shell.type(b'q\n')
        shell.wait_for(PROMPT)
    return drive


def stop_job(shell):
    shell.line_unseen('./run ./program reads')
    shell.wait_for(b'ready\r\n')
    shell.type(b'\x1a')
    shell.wait_for(b'Stopped')
    shell.wait_for(PROMPT)
    shell.line_unseen('echo "stopped $?"; jobs')
    shell.wait_for(PROMPT)
    shell.line_unseen('fg')
    shell.wait_for(b'program reads')
    shell.type(b'x\n')
    shell.wait_for(b'read 120')
    shell.wait_for(PROMPT)


def ignore_stop(shell):
    shell.line_unseen('./run ./program ignores')
    shell.wait_for(b'ready\r\n')
    shell.type(b'\x1a\x1a')
    shell.type(b'q\n')
    shell.wait_for(PROMPT)


def read_in_background(shell):
    # it starts after the prompt, so that what they print comes in a known order
    shell.line_unseen('(until [ -e go ]; do sleep 0.02; done; exec ./run ./program reads) &')
    shell.wait_for(PROMPT)
    (pathlib.Path(shell.directory) / 'go').touch()
    shell.wait_for(b'ready\r\n')
    shell.line_unseen('until jobs | grep -q Stopped; do sleep 0.05; done; echo it waits')
    shell.wait_for(b'it waits')
    shell.wait_for(PROMPT)
    shell.line_unseen('fg')
    shell.wait_for(b'program reads')
    shell.type(b'x\n')
    shell.wait_for(b'read 120')
    shell.wait_for(PROMPT)


def in_background(shell):
    shell.line_unseen('./run ./program waits > numbers & until grep -qs ready numbers; do :; done')
    shell.wait_for(PROMPT)
    shell.line_unseen('kill %1; wait %1')
    shell.wait_for(PROMPT)


def raw_mode(way):
    def drive(shell):
        shell.line_unseen(f'./run ./program {way}')
        shell.wait_for(b'ready\r\n')
        shell.type(b'k')
        shell.wait_for(b'key 107')
        shell.wait_for(PROMPT)
    return drive


def resize(shell):
    shell.line_unseen('./run ./program size')
    shell.wait_for(b'ready\r\n')
    fcntl.ioctl(shell.fd, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 132, 0, 0))
    shell.wait_for(b'columns 132')
    shell.type(b'q\n')
    shell.wait_for(PROMPT)


def interpreter(shell):
    shell.line_unseen('./run env PYTHON_BASIC_REPL=1 python3 -qi')
    shell.wait_for(b'>>> ')
    shell.type(b'import time; print("ready"); [time.sleep(0.05) for i in iter(int, 1)]\n')
    shell.wait_for(b'ready\r\n')
    shell.type(b'\x03')
    shell.wait_for(b'KeyboardInterrupt')
    shell.wait_for(b'>>> ')
    shell.type(b'6 * 7\n')
    shell.wait_for(b'42')
    shell.wait_for(b'>>> ')
    shell.type(b'raise SystemExit(3)\n')
    shell.wait_for(PROMPT)


def script(shell):
    (pathlib.Path(shell.directory) / 'loop').write_text(
        'for i in 1 2 3; do ./run sh -c "echo ready; exec sleep 600"; done; echo not reached\n')
    shell.line_unseen('bash loop')
    shell.wait_for(b'ready\r\n')
    shell.type(b'\x03')
    shell.wait_for(PROMPT)


def end_of_input(shell):
    shell.line_unseen('./run cat')
    shell.type(b'text\n')
    shell.wait_for(b'text')
    shell.type(b'\x04')
    shell.wait_for(PROMPT)


def nested_shell(shell):
    shell.line_unseen('./run bash --norc --noprofile --noediting -ic "sleep 600 & kill %1; '
                      'wait %1; echo inner \\$?"')
    shell.wait_for(b'inner 143')
    shell.wait_for(PROMPT)


def hung_up(directory):
    """The shell tells its jobs, then the kernel does when the shell ends; both may become one.
    SIGUSR2 comes after what Pitot could have forwarded."""
    for pitot in (False, True):
        place = directory / ('pitot' if pitot else 'alone')
        place.mkdir()
        with terminal(place) as shell:
            shell.line(NO_LEAKS + ' '.join([*words(place, pitot), PROGRAM, 'hung-up']))
            shell.wait_for(b'ready\r\n')
            job = os.tcgetpgrp(shell.fd)
            shell.hang_up()
            wait_until(lambda: not is_alive(shell.pid), 'the shell has ended', 60)
            os.kill(job, signal.SIGUSR2)
            wait_until(lambda: not session(shell.pid), 'all have ended', 60)
        senders = (place / 'log').read_text().split()
        assert 'another' not in senders and 'shell' in senders, f'{place.name}: {senders}'


hung_up.__doc__ = 'C321: only the shell and the kernel report the loss of the terminal'


CODES = (0, 1, 2, 3, 42, 63, 64, 100, 124, 125, 126, 127, 128, 129, 130, 137, 143, 200, 254, 255)
DEADLY = ('HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'PIPE',
          'ALRM', 'TERM', 'XCPU', 'SYS')

main(
    program('each signal that a program handles reaches it once', PROGRAM, 'handles',
            drive=send_each),
    ways('each signal has its default action', [([PROGRAM, 'waits'], send_default(number))
                                                for number in FEW]),
    program('signals that a program ignores do nothing', PROGRAM, 'ignores',
            drive=send_each_ignored),
    program('a queued signal keeps its value', PROGRAM, 'handles', drive=queue_value),
    program('signals to the process group arrive once', PROGRAM, 'handles', drive=send_to_group,
            preexec_fn=os.setpgrp),
    program('signal mask, ignored signals, limits and attributes are inherited', PROGRAM, 'state',
            preexec_fn=blocked_and_ignored),
    program('umask, priority and affinity are inherited', PROGRAM, 'state', preexec_fn=in_a_corner),
    program('a program that saves on KeyboardInterrupt takes its time', 'python3', '-c', SAVER,
            drive=interrupt_saver, check=lambda result: equal(result[0], 7)),
    program('a program that stops itself continues when told', PROGRAM, 'stops-itself',
            drive=stop_and_continue),
    program('a shell script with traps', 'sh', '-c', 'trap "echo bye" EXIT; trap "exit 12" INT; '
            'echo ready; while :; do sleep 0.02; done', drive=interrupt),
    program('nohup inside', 'nohup', 'sh', '-c', 'kill -HUP $$; echo still here; exit 5',
            stdin=subprocess.DEVNULL),
    ways('exit codes', [(['sh', '-c', f'exit {code}'], None) for code in CODES]),
    ways('programs that signals end', [(['sh', '-c', f'ulimit -c 0; kill -{name} $$'], None)
                                       for name in DEADLY]),
    program('timers', PROGRAM, 'sets-timers'),
    program('alarm', PROGRAM, 'dies-of-alarm'),
    program('200 children', PROGRAM, 'has-children'),
    program('vfork', PROGRAM, 'uses-vfork'),
    program('a chain of exec', 'sh', '-c', 'n=${1:-0}; [ $n = 20 ] && exit 20; '
            'exec sh -c "$0" "$0" $((n + 1))',
            'n=${1:-0}; [ $n = 20 ] && exit 20; exec sh -c "$0" "$0" $((n + 1))'),
    program('a subreaper', PROGRAM, 'adopts'),
    program('a child that dies with its parent', PROGRAM, 'dies-with-parent'),
    program('process groups and sessions', PROGRAM, 'groups'),
    program('kill 0', 'sh', '-c', 'trap "echo heard; exit 9" TERM; kill 0; sleep 600',
            preexec_fn=os.setpgrp),
    program('an orphan outlives the program', 'sh', '-c', ORPHAN, drive=outlive),
    program('a daemon outlives the program', 'sh', '-c', 'read go; "$0" daemon', PROGRAM,
            drive=outlive),
    closed_pipe, descriptors, rest_of_input, environment,
    program('standard streams that are closed', 'sh', '-c', 'exec "$0" descriptors 2>&-', PROGRAM),
    program('a program that closes all descriptors', PROGRAM, 'closes-everything'),
    program('end of input', 'cat', drive=lambda run: run.say('some text\n')),
    program('much output', 'sh', '-c', 'seq 200000; seq 1000 >&2'),
    program('working directory', 'sh', '-c', 'cd .. && cd - >/dev/null && basename "$PWD" | wc -c; '
            'test "$PWD" = "$(pwd -P)"'),
    program('Python with threads and a child', 'python3', '-c',
            'import threading, subprocess\n'
            't = [threading.Thread(target=subprocess.run, args=(["true"],)) for _ in range(8)]\n'
            '[x.start() for x in t]; [x.join() for x in t]; print(subprocess.call(["false"]))'),
    on_terminal('Ctrl+C and a program that saves', press_interrupt),
    on_terminal('Ctrl+C ends a program', press(b'\x03', 'waits')),
    on_terminal('Ctrl+C and a program that handles it', press(b'\x03', 'handles')),
    on_terminal('Ctrl+\\ and a program that handles it', press(b'\x1c', 'handles')),
    on_terminal('Ctrl+Z and fg', stop_job),
    on_terminal('Ctrl+Z and a program that handles it', press(b'\x1a', 'handles')),
    on_terminal('Ctrl+Z and a program that ignores it', ignore_stop),
    on_terminal('a job in the background reads the terminal', read_in_background),
    on_terminal('a job in the background is ended', in_background),
    on_terminal('raw mode and the alternate screen', raw_mode('raw')),
    on_terminal('a terminal that is left in raw mode', raw_mode('left-raw')),
    on_terminal('a new window size arrives once', resize),
    on_terminal('an interpreter uses Ctrl+C for itself', interpreter),
    on_terminal('Ctrl+C ends a script with its command', script),
    on_terminal('Ctrl+D', end_of_input),
    on_terminal('a shell with jobs of its own', nested_shell),
    hung_up,
)
