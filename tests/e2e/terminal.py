#!/usr/bin/python3
"""The recorder on a terminal: a pseudoterminal with a shell that does job control."""
import os
import signal

from harness import (ENVIRONMENT, contains, equal, is_alive, main, run, session, table,
                     wait_for_samples, wait_until)
from shell import NO_LEAKS, PROMPT, exit_code, terminal


def status_line(directory):
    """C002: without a command a status line shows; Ctrl+C ends, wipes it and prints the summary"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" -f csv -t 50 -o out')
        shell.wait_for(b'samples  cpu ')
        shell.wait_for(b'\r\x1b[K') # drawn again over the old one
        shell.type(b'\x03')
        after = shell.wait_for(PROMPT)
        contains(after, b'interrupted')
        contains(after, b'Files: out/')
        equal(exit_code(shell), 0)
    assert len(table(directory / 'out')) >= 2


def child_owns_the_terminal(directory):
    """C013: with a command there is no status line and not one escape code among its output"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" -q -f csv -t 20 -o out -- '
                   'sh -c "test -t 0 && test -t 1 && test -t 2 && echo a terminal; sleep 0.7"')
        text = shell.wait_for(PROMPT)
        contains(text, b'a terminal')
        assert b'\x1b[K' not in text, text


def interrupted_command(directory):
    """C014 C017: Ctrl+C reaches the command once, from the terminal, and its exit code is kept"""
    with terminal(directory) as shell:
        (directory / 'count.sh').write_text(
            'n=0; trap "n=\\$((n + 1))" INT; trap "" TERM; echo ready\n'
            'while [ $n = 0 ]; do sleep 0.02; done; sleep 0.2; echo got $n.; exit 9')
        shell.line('"$PITOT" -q -f csv -t 50 -o out -- sh count.sh')
        shell.wait_for(b'ready\r')
        shell.type(b'\x03')
        contains(shell.wait_for(b'.'), b'got 1.')
        shell.wait_for(PROMPT)
        equal(exit_code(shell), 9)
    assert len(table(directory / 'out')) >= 2


def stopped_and_continued(directory):
    """C002: Ctrl+Z and fg do not break a recording; the ticks in between are skipped"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" -f csv -t 50 -o out')
        shell.wait_for(b'samples  cpu ')
        shell.type(b'\x1a')
        shell.wait_for(b'Stopped')
        shell.wait_for(PROMPT)
        shell.line('fg')
        shell.wait_for(b'samples  cpu ')
        shell.type(b'\x03')
        shell.wait_for(b'Files: out/')
        shell.wait_for(PROMPT)
        equal(exit_code(shell), 0)
    times = [int(row['monotonic_ns']) for row in table(directory / 'out')]
    assert all(a < b for a, b in zip(times, times[1:]))


def stopped_command(directory):
    """C013: Ctrl+Z stops recorder and command together; after fg the command reads its terminal"""
    with terminal(directory) as shell:
        (directory / 'read.sh').write_text('echo ready; read word; echo read $word.; exit 6')
        shell.line('"$PITOT" -q -f csv -t 50 -o out -- sh read.sh')
        shell.wait_for(b'ready\r')
        shell.type(b'\x1a')
        shell.wait_for(b'Stopped')
        shell.wait_for(PROMPT)
        shell.line('fg')
        shell.wait_for(b'read.sh') # what bash prints once it no longer reads the terminal itself
        shell.line('hello')
        contains(shell.wait_for(b'.'), b'read hello.')
        shell.wait_for(PROMPT)
        equal(exit_code(shell), 6)


def background(directory):
    """C002: in the background a recording does not stop for the terminal, and kill ends it"""
    with terminal(directory) as shell:
        shell.line('"$PITOT" -q -f csv -t 50 -o out &')
        shell.wait_for(PROMPT)
        wait_until(lambda: list((directory / 'out').glob('static_*')), 'it records')
        shell.line('kill %1; wait %1; echo "ended $?."')
        contains(shell.wait_for(b'.\r'), b'ended 0.')
    assert len(table(directory / 'out')) >= 2


def no_terminal(directory):
    """C013: when stderr is not a terminal no escape code is written, whatever TERM says"""
    code, out, err = run('-f', 'csv', '-t', 50, '-d', '700ms', '-o', directory,
                         env=ENVIRONMENT | {'TERM': 'xterm'})
    equal((code, out), (0, ''), err)
    assert '\x1b' not in err and '\r' not in err, err


def dumb_terminal(directory):
    """C002: on a terminal that calls itself dumb there is no status line"""
    with terminal(directory) as shell:
        shell.line('TERM=dumb "$PITOT" -f csv -t 50 -d 700ms -o out')
        text = shell.wait_for(PROMPT) # it has ended
        contains(text, b'Files: ')
        assert b'\x1b[K' not in text, text


def hung_up(directory):
    """C018: a recording ends with its terminal, and its files are finished"""
    with terminal(directory) as shell:
        shell.line(NO_LEAKS + '"$PITOT" -f csv -t 50 -o out')
        shell.wait_for(b'samples  cpu ')
        shell.hang_up()
        wait_until(lambda: not session(shell.pid), 'the recorder has ended', 60)
    assert len(table(directory / 'out')) >= 2


def hung_up_and_kept(directory):
    """C018: a recording that ignores the hangup goes on without its terminal, and ends when told"""
    with terminal(directory) as shell:
        shell.line(NO_LEAKS + 'trap "" HUP; "$PITOT" -f csv -t 50 -o out')
        shell.wait_for(b'samples  cpu ')
        [recorder] = session(shell.pid)
        shell.hang_up()
        wait_for_samples(directory / 'out')
        assert is_alive(recorder)
        os.kill(recorder, signal.SIGTERM)
        wait_until(lambda: not is_alive(recorder), 'the recorder has ended', 60)
    assert len(table(directory / 'out')) >= 2


def hung_up_and_stubborn(directory):
    """C321: after the loss of the terminal a command that goes on is ended, with --grace between"""
    with terminal(directory) as shell:
        shell.line(NO_LEAKS + '"$PITOT" -q --grace 100ms -f csv -t 50 -o out -- sh -c \''
                   'trap : HUP; trap "echo TERM >> log" TERM; '
                   'echo ready; while :; do sleep 0.02; done\'')
        shell.wait_for(b'ready\r\n')
        shell.hang_up()
        wait_until(lambda: not session(shell.pid), 'all have ended', 60)
    equal((directory / 'log').read_text(), 'TERM\n')
    assert len(table(directory / 'out')) >= 2


main(status_line, child_owns_the_terminal, interrupted_command, stopped_and_continued,
     stopped_command, background, no_terminal, dumb_terminal, hung_up, hung_up_and_kept,
     hung_up_and_stubborn)
