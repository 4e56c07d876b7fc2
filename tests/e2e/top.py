#!/usr/bin/python3
"""`pitot top` as people use it: in tmux, by keys, and its text where there is no terminal.

The shell's terminal is compared before and after: its settings, its screen, its cursor.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from harness import (ENVIRONMENT, PITOT, Skip, contains, end_session, equal, kill, main, pids_with,
                     run, start, wait_for_samples, wait_until)

PROMPT = 'pitot-e2e$'
BUILD = pathlib.Path(PITOT).parent
NVML = BUILD / 'tests/nvml/libscripted-nvml.so'


class Terminal:
    """A shell in a tmux of its own."""

    def __init__(self, directory, columns, rows, environment):
        if not shutil.which('tmux'):
            raise Skip('tmux is not installed')
        # not in the test's directory: the path of a socket is short
        self.place = tempfile.mkdtemp(prefix='pitot-tmux-')
        variables = {key: value for key, value in ENVIRONMENT.items() if key != 'TERM'}
        variables |= {'LC_ALL': 'C.UTF-8', 'PS1': PROMPT + ' ', 'PITOT': PITOT} | environment
        words = [f'{key}={value}' for key, value in variables.items()]
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', columns, '-y', rows,
                  '-c', directory, 'env', '-i', 'TERM=screen-256color', *words,
                  'bash', '--norc', '--noprofile', '--noediting', '-i')
        self.wait_for(PROMPT)

    def tmux(self, *arguments):
        done = subprocess.run(['tmux', '-u', '-S', self.place + '/socket', *map(str, arguments)],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, f'tmux {arguments}: {done.stderr}'
        return done.stdout

    def text(self, *options):
        return self.tmux('capture-pane', '-p', *options)

    def press(self, *keys):
        self.tmux('send-keys', *keys)

    def type(self, text):
        self.tmux('send-keys', '-l', text)

    def line(self, text):
        self.type(text)
        self.press('Enter')

    def resize(self, columns, rows):
        self.tmux('resize-window', '-x', columns, '-y', rows)

    def wait_for(self, *parts):
        """Until all of them are on the screen, which is then returned."""
        def find():
            text = self.text()
            return text if all(re.search(part, text) for part in map(self.as_pattern, parts)) \
                else None
        try:
            return wait_until(find, parts)
        except AssertionError as reason:
            raise AssertionError(f'{reason}; the screen:\n{self.text()}') from None

    def press_until(self, key, part):
        """Again after a while: a key is lost if the settings of the terminal change just then."""
        for _ in range(4):
            self.press(key)
            with contextlib.suppress(AssertionError):
                wait_until(lambda: part in self.text(), part, seconds=5)
                return
        raise AssertionError(f'{key} in vain: no {part!r}; the screen:\n{self.text()}')

    def wait_for_shell(self):
        """Until nothing but a prompt is on the last line."""
        def is_back():
            lines = self.text().strip().splitlines()
            return lines and lines[-1].strip() == PROMPT
        wait_until(is_back, f'a prompt:\n{self.text()}')

    @staticmethod
    def as_pattern(part):
        return part.pattern if isinstance(part, re.Pattern) else re.escape(part)

    def state(self):
        """Its settings as stty tells, whether a program has the screen, whether a cursor shows."""
        tty = self.tmux('display-message', '-p', '#{pane_tty}').strip()
        settings = subprocess.run(['stty', '-g', '-F', tty], capture_output=True, text=True,
                                  check=True).stdout
        return settings, self.tmux('display-message', '-p', '#{alternate_on} #{cursor_flag}')

    def close(self):
        with contextlib.suppress(AssertionError, ValueError):
            shell = self.tmux('display-message', '-p', '#{pane_pid}').strip()
            self.tmux('kill-server')
            end_session(int(shell))
        shutil.rmtree(self.place, ignore_errors=True)


@contextlib.contextmanager
def terminal(directory, columns=80, rows=24, **environment):
    shell = Terminal(directory, columns, rows, environment)
    try:
        yield shell
    finally:
        shell.close()


@contextlib.contextmanager
def sleeper(*arguments):
    """A process to look at, with children by the same name if it is a shell."""
    process = subprocess.Popen(arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def code_of(shell):
    shell.line('echo "code $?."')
    # what was typed before the prompt stands behind it
    code = re.compile(r'(?m)^(?:pitot-e2e\$ )?code (\d+)\.')
    return int(code.search(shell.wait_for(code))[1])


def record(directory, *arguments):
    code, _, err = run('-q', '-p', '-f', 'csv', '-o', directory, *arguments)
    equal(code, 0, err)


def title_time(text):
    """Seconds into the run that the first line tells."""
    found = re.search(r'(\d+):(\d\d):(\d\d) of ', text.splitlines()[0])
    assert found, text
    return int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])


def small_screen(directory):
    """C240: at 80x24 meters, panels, processes and keys are there, and q gives the shell back"""
    with terminal(directory) as shell:
        before = shell.state()
        shell.line('"$PITOT" top -t 200')
        text = shell.wait_for('CPUs ', 'Mem ', 'Disk ', 'Net ', '[processes]', 'COMMAND', '? help',
                              re.compile(r'\d\.\d%'))
        lines = text.splitlines()
        assert len(lines) == 24 and max(map(len, lines)) <= 80, text
        contains(lines[23], '? help  q quit')
        equal(shell.state()[1], '1 0\n', 'the screen is its own, without a cursor')
        shell.press('q')
        shell.wait_for_shell()
        equal(shell.state(), before)
        equal(code_of(shell), 0)


def sizes(directory):
    """C240: it follows the size of the terminal, from 20x5 to 200x60"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" top -t 200')
        shell.wait_for('[processes]')
        for columns, rows in ((200, 60), (40, 10), (20, 5), (80, 24)):
            shell.resize(columns, rows)

            def fits():
                lines = shell.text().split('\n')[:-1]
                return len(lines) == rows and lines[-1].startswith('? help') \
                    and lines[0].startswith('pitot top')
            wait_until(fits, f'{columns}x{rows}:\n{shell.text()}')
        shell.press('q')
        shell.wait_for_shell()


def sort_and_filter(directory):
    """C240: processes are sorted by any column, filtered by text, shown as a tree and in detail"""
    with sleeper('sh', '-c', 'sleep 987650 & sleep 987651 & wait') as process, \
            terminal(directory, 100, 24) as shell:
        wait_until(lambda: pids_with('987651', 'sleep'), 'children')
        pids = [process.pid, *pids_with('987650', 'sleep'), *pids_with('987651', 'sleep')]
        try:
            shell.line('"$PITOT" top -t 200')
            shell.wait_for('COMMAND')
            shell.type('/98765')
            text = shell.wait_for('Filter: 98765_')
            shell.press('Enter')
            text = shell.wait_for('filter: 98765', *map(str, pids))
            listed = [line for line in text.splitlines() if 'sleep 98765' in line]
            equal(len(listed), 3, text)
            shell.type('N')

            def first_pids():
                lines = shell.text().splitlines()
                at = next(i for i, line in enumerate(lines) if 'COMMAND' in line)
                return [int(line.split()[0]) for line in lines[at + 1:at + 4]]
            wait_until(lambda: first_pids() == sorted(pids), 'sorted by id')
            shell.type('r')
            wait_until(lambda: first_pids() == sorted(pids, reverse=True), 'and reversed')
            shell.type('rt')
            shell.wait_for('├─sleep 987650', '└─sleep 987651')
            shell.press('Home', 'Enter')
            shell.wait_for(re.compile(r'Process id +\d+  pId: Process id'), 'Command line')
            shell.press('Escape')
            shell.wait_for('COMMAND')
            shell.press('Escape')
            shell.wait_for('? help')
            shell.type('?')
            shell.wait_for('Keys of pitot top', 'processes as a tree')
            shell.type('q')
            shell.wait_for_shell()
        finally:
            for pid in pids[1:]:
                kill(pid)


def panels(directory):
    """C240: Tab goes through the panels of every table that has rows"""
    with terminal(directory, 120, 30) as shell:
        shell.line('"$PITOT" top -t 200 --engine off')
        shell.wait_for('[processes]', 'cpus', 'collectors')
        seen = ['processes']
        while seen.count('processes') < 2:
            shell.press('Tab')
            seen.append(wait_until(lambda: active(shell) != seen[-1] and active(shell),
                                   f'a panel after {seen}:\n{shell.text()}'))
        assert {'cpu', 'mem', 'cpus', 'collectors'} <= set(seen), seen
        assert 'engines' not in seen, seen
        shell.press('q')
        shell.wait_for_shell()


def active(shell):
    """The panel whose tab is marked."""
    found = re.search(r'\[([a-zA-Z][\w ]*)\]', shell.text())
    return found and found[1]


def replay(directory):
    """C240: a recorded run plays, pauses, seeks, changes speed, and tells where it is"""
    record(directory / 'run', '-t', '100', '--', 'sh', '-c', 'sleep 1.98765; sleep 0.3')
    record(directory / 'long', '-t', '50', '-d', '14s')
    with terminal(directory, 120, 24) as shell:
        shell.line('"$PITOT" top long')
        shell.wait_for(' of 0:00:14  x1')
        shell.press('Space')
        paused = title_time(shell.wait_for('paused'))
        shell.press('e')
        equal(title_time(shell.wait_for('0:00:14 of')), 14)
        shell.wait_for('end')
        shell.press('Left')
        shell.wait_for(re.compile(r'0:00:0[34] of'))
        shell.press('Right')
        shell.wait_for('0:00:14 of')
        shell.press('b')
        assert title_time(shell.wait_for('0:00:00 of')) <= paused
        shell.type('++++')
        shell.wait_for('x16', 'paused')
        shell.press('Space')
        shell.wait_for('0:00:14 of', 'end')
        shell.press('q')
        shell.wait_for_shell()
        shell.line('clear; "$PITOT" top run --filter 1.98765')
        shell.wait_for(' of 0:00:0')
        shell.type(' bot')
        shell.wait_for('paused', '0:00:00 of')
        while '└─sleep 1.98765' not in shell.text():
            shell.type('.')
        text = shell.wait_for('└─sleep 1.98765', 'Tree ')
        assert 'top.py' not in text, text # only what was recorded
        shell.press('q')
        shell.wait_for_shell()


def follow(directory):
    """C240: a run that is still being recorded is followed"""
    recorder = start('-q', '-t', '100', '-o', directory / 'run')
    try:
        wait_for_samples(directory / 'run')
        with terminal(directory, 120, 24) as shell:
            shell.line('"$PITOT" top run')
            shell.wait_for(' of 0:00:0')
            shell.press('e')
            before = re.search(r'of (\S+)', shell.text())[1]
            wait_until(lambda: re.search(r'of (\S+)', shell.text())[1] != before, 'more of the run')
            shell.press('q')
            shell.wait_for_shell()
    finally:
        recorder.send_signal(signal.SIGINT)
        recorder.communicate()


def ended_by(number, code):
    """A test that a signal leaves the terminal as it was."""
    def test(directory):
        with terminal(directory) as shell:
            shell.line('ulimit -c 0; "$PITOT" top -t 200 --filter marker-%d' % number)
            shell.wait_for('[processes]')
            pid, = wait_until(lambda: pids_with(f'marker-{number}', PITOT), 'its process')
            shell.tmux('resize-window', '-x', 81, '-y', 24)
            settings = shell.state()
            equal(settings[1], '1 0\n')
            os.kill(pid, number)
            shell.wait_for_shell()
            wait_until(lambda: shell.state()[1] == '0 1\n', 'the shell has its screen and cursor')
            after = shell.state()
            assert after[0] != settings[0]
            equal(code_of(shell), code)
            shell.line('stty -a')
            shell.wait_for(re.compile(r'[^-]icanon'), re.compile(r'[^-]echo '))
    name = signal.Signals(number).name
    test.__doc__ = f'C240: {name} ends it and leaves the terminal as it was'
    return test


def interrupted(directory):
    """C240: Ctrl+C ends it and leaves the terminal as it was"""
    with terminal(directory) as shell:
        before = shell.state()
        shell.line('"$PITOT" top -t 200')
        shell.wait_for('[processes]')
        shell.press('C-c')
        shell.wait_for_shell()
        equal(shell.state(), before)
        equal(code_of(shell), 0)


def stopped(directory):
    """C240: Ctrl+Z gives the terminal back, fg takes it again"""
    with terminal(directory) as shell:
        before = shell.state()
        shell.line('"$PITOT" top -t 200')
        shell.wait_for('[processes]')
        for _ in range(2):
            shell.press_until('C-z', 'Stopped')
            equal(shell.state(), before)
            shell.line('clear; fg')
            shell.wait_for('[processes]', '? help')
            equal(shell.state()[1], '1 0\n')
        shell.press('q')
        shell.wait_for_shell()
        wait_until(lambda: shell.state() == before, 'as before')


def hung_up(directory):
    """C240: when the terminal is gone it ends"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" top -t 200 --filter marker-gone')
        shell.wait_for('[processes]')
        wait_until(lambda: pids_with('marker-gone', PITOT), 'its process')
    wait_until(lambda: not pids_with('marker-gone', PITOT), 'its end')


def no_flicker(directory):
    """C240: while it runs nothing is wiped: only what changed is written"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" top -t 100')
        shell.wait_for('[processes]', 'COMMAND')
        shell.tmux('pipe-pane', f'cat > {directory}/output')
        output = directory / 'output'
        wait_until(lambda: output.exists() and output.stat().st_size > 3000, 'some output')
        shell.tmux('pipe-pane')
        written = output.read_bytes()
        assert b'\x1b[2J' not in written and b'\x1b[J' not in written, written
        shell.press('q')
        shell.wait_for_shell()


def colours(directory):
    """C240: colours are used, but not with NO_COLOR; without UTF-8 all is ASCII"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" top -t 100')
        shell.wait_for('▁', 'COMMAND')
        assert re.search(r'\x1b\[[0-9;]*36m', shell.text('-e'))
        shell.press('q')
        shell.wait_for_shell()
    with terminal(directory, NO_COLOR='1', LC_ALL='C') as shell:
        shell.line('"$PITOT" top -t 100')
        shell.wait_for('_', 'COMMAND', re.compile(r'Disk .*_'))
        assert shell.text().isascii(), shell.text()
        assert not re.search(r'\x1b\[(?:[0-9]+;)*3[1-6]m', shell.text('-e')), shell.text('-e')
        shell.press('q')
        shell.wait_for_shell()


def gpus(directory):
    """C233: GPUs have meters and a panel, and processes the part of the GPU that is theirs"""
    if not NVML.exists():
        raise Skip('there is no scripted NVML')
    with sleeper('sleep', '987653') as process:
        script = directory / 'script'
        script.write_text(f'''devices 2
nvmlDeviceGetName * NVIDIA_H100
nvmlDeviceGetUUID * GPU-1
nvmlDeviceGetPciInfo * 0:0x3b:0
nvmlDeviceGetUtilizationRates * 85:40
nvmlDeviceGetMemoryInfo_v2 * 85899345920:536870912:64424509440:20937965568
nvmlDeviceGetTemperature/0 * 61
nvmlDeviceGetPowerUsage * 512345
nvmlDeviceGetComputeRunningProcesses_v3 * {process.pid}:1073741824:0
''')
        with terminal(directory, 100, 24, PITOT_NVML=NVML, SCRIPTED_NVML=script) as shell:
            shell.line('"$PITOT" top -t 200 --filter 987653')
            text = shell.wait_for('GPU0', 'GPU1', '85.0%]', '512W', '61C', 'GPU MEM',
                                  re.compile(r'2\.0G +- sleep 987653'))
            assert 'no GPU' not in text, text
            shell.press('Escape')
            shell.press('Tab')
            shell.wait_for(re.compile(r'\[[a-z][\w ]*\]'))
            while '[gpus]' not in shell.text():
                shell.press('Tab')
                shell.wait_for(re.compile(r'\[[\w ]+\]'))
            shell.wait_for('NVIDIA H100')
            shell.press('q')
            shell.wait_for_shell()


def plain_text(directory):
    """C240: where there is no terminal, screens are text: no escape codes, every process"""
    code, out, err = run('top', '-n', 2, '-t', 100, '--engine', 'off', # of other tests
                         env=ENVIRONMENT | {'TERM': 'xterm'})
    equal((code, err), (0, ''))
    equal(out.count('pitot top  '), 2)
    assert out.isascii() and out.isprintable() is False and '\x1b' not in out
    shown = set(map(int, re.findall(r'^ *(\d+) +\d+ [A-Z] ', out, re.MULTILINE)))
    assert {1, os.getpid()} <= shown, out


def plain_end(directory):
    """C240: a reader that has enough ends it without a word"""
    done = subprocess.run('"$PITOT" top -t 50 --engine off | head -n 1; exit ${PIPESTATUS[0]}',
                          shell=True, executable='/bin/bash', capture_output=True, text=True,
                          timeout=60, env=ENVIRONMENT | {'PITOT': PITOT}, check=False)
    equal((done.returncode, done.stderr), (0, ''))
    contains(done.stdout, 'pitot top  ')


def plain_options(directory):
    """C240: panel, order, filter, tree and process can be chosen for text too"""
    with sleeper('sh', '-c', 'sleep 987654 & wait') as process:
        child, = wait_until(lambda: pids_with('987654', 'sleep'), 'its child')
        try:
            _, out, _ = run('top', '-n', 1, '-t', 100, '--pid', process.pid, '--tree')
            rows = out.split('COMMAND\n')[1].splitlines()
            equal([int(row.split()[0]) for row in rows], [process.pid, child])
            contains(rows[1], '`-sleep 987654')
            _, out, _ = run('top', '-n', 1, '-t', 100, '--filter', 'SLEEP 987654', '--sort', 'pid')
            rows = out.split('COMMAND\n')[1].splitlines()
            equal([int(row.split()[0]) for row in rows][:2], sorted([process.pid, child]))
        finally:
            kill(child)
    _, out, _ = run('top', '-n', 1, '-t', 100, '--panel', 'mem')
    contains(out, 'vMemoryTotal')
    contains(out, 'RAM available to the kernel')


def alerts(directory):
    """C240: alerts by the rules of a file are shown in the last line, and again at the end"""
    (directory / 'rules').write_text('[crowded]\nmetric = process_totals.pNumProcesses\n'
                                     'above = 1\n')
    with terminal(directory) as shell:
        shell.line('"$PITOT" top -t 200 --alerts rules')
        shell.wait_for('crowded: on')
        shell.press('q')
        shell.wait_for_shell()
        contains(shell.text(), 'pitot: warning: ') # what was logged meanwhile


def plain_run(directory):
    """C240: a run as text, from where --at says, no more often than -t"""
    record(directory, '-t', '100', '-d', '3s')
    code, out, err = run('top', directory, '-t', '1s')
    equal((code, err), (0, ''))
    equal(len(re.findall(r'^pitot top', out, re.MULTILINE)), 3)
    _, out, _ = run('top', directory, '-n', 1, '--at', 2)
    assert title_time(out) in (1, 2), out


def wrong_words(directory):
    """C240: what cannot be shown is refused with words"""
    for arguments, code, words in (
            (['--pid', '999999999'], 1, 'no such process'),
            (['--pid', 'x'], 2, "'x' is not a process id"),
            (['--panel', 'nope'], 2, "unknown table 'nope'"),
            (['--sort', 'nope'], 2, "unknown column 'nope'"),
            (['-t', '1'], 2, 'must be at least 10 ms'),
            (['--at', '5'], 2, '--at: works with a recorded run only'),
            (['/nonexistent'], 1, '/nonexistent'),
            (['a', 'b'], 2, 'give at most one run'),
            (['a', '--pid', '1'], 2, 'cannot be used with a recorded run')):
        done = run('top', '-n', 1, *arguments, cwd=directory)
        equal(done[0], code, f'{arguments}: {done}')
        contains(done[2], words)


def without_module(directory):
    """C231: without ncurses text still works, and the message says what is missing"""
    code, out, _ = run('top', '-n', 1, '-t', 50, env=ENVIRONMENT | {'PITOT_MODULES': '/nowhere'})
    equal(code, 0)
    contains(out, 'COMMAND')
    with terminal(directory, 100, 24, PITOT_MODULES='/nowhere') as shell:
        shell.line('"$PITOT" top')
        shell.wait_for('terminal.so is not installed; it needs the package libncursesw6')
        equal(code_of(shell), 1)


main(small_screen, sizes, sort_and_filter, panels, replay, follow, interrupted, stopped, hung_up,
     ended_by(signal.SIGTERM, 0), ended_by(signal.SIGHUP, 0), ended_by(signal.SIGSEGV, 139),
     ended_by(signal.SIGABRT, 134), no_flicker, colours, gpus, alerts, plain_text, plain_end,
     plain_options, plain_run, wrong_words, without_module, jobs=3)
