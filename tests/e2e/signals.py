#!/usr/bin/python3
"""Signals to the recorder and what becomes of the command."""
import os
import signal
import subprocess
import time

from harness import (ENVIRONMENT, PITOT, WORKLOAD, Skip, contains, end, equal, is_alive, kill,
                     main, need_root, pids_with, start, table, wait_until)


def started(directory, *command, **options):
    """A recording of a command that says when it is ready."""
    recorder = start('-f', 'csv', '-t', 50, '-o', directory / 'out', '--', *command, **options)
    equal(recorder.stdout.readline(), 'ready\n')
    return recorder


def check_files(directory):
    rows = table(directory / 'out')
    assert len(rows) >= 2, 'the first and the last sample'
    assert not list((directory / 'out').glob('*.ctl')), 'the FIFO for marks is gone'


def polite(number):
    def test(directory):
        name = signal.Signals(number).name[3:]
        recorder = started(directory, 'sh', '-c',
                           f'trap "echo heard; exit 5" {name}; echo ready; '
                           'while :; do sleep 0.02; done')
        recorder.send_signal(number)
        code, out, err = end(recorder)
        equal((code, out), (5, 'heard\n'), err)
        check_files(directory)
    test.__doc__ = (f'C014 C016 C017: {signal.Signals(number).name} reaches the command, which '
                    'ends by itself; its exit code is handed on, the files are finished')
    return test


def default_action(directory):
    """C014 C017: a command without a handler dies of the signal and the exit code says 128 + 15"""
    recorder = started(directory, 'sh', '-c', 'echo ready; exec sleep 60')
    recorder.send_signal(signal.SIGTERM)
    code, _, err = end(recorder)
    equal(code, 128 + 15, err)
    check_files(directory)


def stubborn(signals):
    names = ' and '.join(s.name for s in signals)

    def test(directory):
        marker = f'pitot-e2e-{os.getpid()}-{names}'
        recorder = started(directory, WORKLOAD, 'stubborn', marker)
        try:
            before = time.monotonic()
            for number in signals:
                recorder.send_signal(number)
                time.sleep(0.1) # two equal signals at once would be one
            code, _, err = end(recorder)
            took = time.monotonic() - before
            equal(code, 128 + 9, err)
            wait_until(lambda: not pids_with(marker), 'the whole tree is gone')
            assert took > 1.9 or len(signals) > 1, f'there are 2 s of grace, not {took:.2f} s'
            check_files(directory)
        finally:
            for pid in pids_with(marker):
                kill(pid)
    test.__doc__ = (f'C016 C017 C018: {names} to a command that ignores it: the whole tree is '
                    'ended, the detached grandchild too, and the files are finished')
    return test


def without_cgroup(directory):
    """C017: where no cgroup can be made, a detached grandchild is found and ended all the same"""
    need_root()
    hide = ['unshare', '--mount', 'sh', '-c', 'umount -l /sys/fs/cgroup && exec "$@"', 'sh']
    if subprocess.run([*hide, 'true'], capture_output=True).returncode != 0:
        raise Skip('the cgroups cannot be hidden')
    marker = f'pitot-e2e-{os.getpid()}-no-cgroup'
    recorder = started(directory, WORKLOAD, 'stubborn', marker, wrapper=hide)
    try:
        for _ in range(2):
            recorder.send_signal(signal.SIGINT)
            time.sleep(0.1)
        code, _, err = end(recorder)
        equal(code, 128 + 9, err)
        wait_until(lambda: not pids_with(marker), 'the whole tree is gone')
        check_files(directory)
    finally:
        for pid in pids_with(marker):
            kill(pid)


def no_command(number):
    def test(directory):
        recorder = start('-f', 'csv', '-t', 50, '-o', directory / 'out')
        wait_until(lambda: list((directory / 'out').glob('static_*')), 'it records')
        recorder.send_signal(number)
        code, _, err = end(recorder)
        equal(code, 0, err)
        contains(err, 'interrupted')
        check_files(directory)
    test.__doc__ = (f'C002 C016 C018: {signal.Signals(number).name} ends a recording of the '
                    'machine, with exit code 0 and all files')
    return test


def watched_process(directory):
    """C002 C016: a signal to the recorder does not reach a process that is only watched"""
    target = subprocess.Popen(['sleep', '60'])
    try:
        recorder = start('-f', 'csv', '-t', 50, '--pid', target.pid, '-o', directory / 'out')
        wait_until(lambda: list((directory / 'out').glob('static_*')), 'it records')
        recorder.send_signal(signal.SIGTERM)
        code, _, err = end(recorder)
        equal(code, 0, err)
        assert is_alive(target.pid), 'the watched process lives on'
    finally:
        target.kill()
        target.wait()


def forwarded(directory):
    """C016: SIGUSR1, SIGUSR2 and SIGHUP sent to the recorder arrive at the command"""
    recorder = started(directory, 'sh', '-c', 'trap "echo one" USR1; trap "echo two" USR2; '
                       'trap "echo hup; exit 0" HUP; echo ready; while :; do sleep 0.02; done')
    for number, answer in ((signal.SIGUSR1, 'one'), (signal.SIGUSR2, 'two')):
        recorder.send_signal(number)
        equal(recorder.stdout.readline(), answer + '\n')
    recorder.send_signal(signal.SIGHUP)
    code, out, err = end(recorder)
    equal((code, out), (0, 'hup\n'), err)


def status_of(command, **options):
    return subprocess.run([*command, WORKLOAD, 'status'], capture_output=True, text=True,
                          env=ENVIRONMENT, check=True, **options).stdout


def inherited(directory):
    """C013: mask, ignored signals and limits of the command are those of the recorder's caller"""
    def odd_state():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH, signal.SIGRTMIN + 3])

    def plain_state():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL) # Python ignores it
    through = [PITOT, '-q', '-f', 'csv', '-p', '-o', directory, '--']
    for state in (odd_state, plain_state):
        outside = status_of([], preexec_fn=state)
        equal(status_of(through, preexec_fn=state), outside)
    contains(status_of([], preexec_fn=odd_state), 'signal 10 ignored')


def blocked_at_start(directory):
    """C016: signals that were blocked when the recorder started still end it"""
    recorder = start('-f', 'csv', '-t', 50, '-o', directory / 'out', preexec_fn=lambda:
                     signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT]))
    wait_until(lambda: list((directory / 'out').glob('static_*')), 'it records')
    recorder.send_signal(signal.SIGTERM)
    equal(end(recorder)[0], 0)


def orphans(directory):
    """C004: what the command leaves running is not waited for and not ended"""
    marker = f'pitot-e2e-{os.getpid()}-orphan'
    recorder = start('-q', '-f', 'csv', '-o', directory / 'out', '--', 'sh', '-c',
                     'setsid sh -c "sleep 60; :" "$0" >/dev/null 2>&1 & exit 3', marker)
    try:
        equal(end(recorder)[0], 3)
        orphan, = wait_until(lambda: pids_with(marker, 'sh'), 'the orphan')
        assert is_alive(orphan)
    finally:
        for pid in pids_with(marker):
            os.killpg(os.getpgid(pid), signal.SIGKILL)


main(polite(signal.SIGINT), polite(signal.SIGTERM), default_action,
     stubborn([signal.SIGINT]), stubborn([signal.SIGTERM]),
     stubborn([signal.SIGINT, signal.SIGINT]), without_cgroup, no_command(signal.SIGINT),
     no_command(signal.SIGTERM), watched_process, forwarded, inherited, blocked_at_start,
     orphans)
