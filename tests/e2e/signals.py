#!/usr/bin/python3
"""Signals to the recorder and what becomes of the command."""
import os
import signal
import subprocess
import time

from harness import (ENVIRONMENT, PITOT, WORKLOAD, Skip, contains, end, equal, is_alive, kill,
                     main, need_root, pids_with, run, start, table, wait_for_samples, wait_until)


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


def insist(recorder, number):
    """Sends a signal until the recorder has ended; how many were sent."""
    count = 0
    while recorder.poll() is None:
        recorder.send_signal(number)
        count += 1
        time.sleep(0.15) # at once they would be one request
        assert count < 1000, 'it does not end'
    return count


def check_killed(directory, name, stop, *options, **others):
    """A command that ignores SIGINT and SIGTERM, with a detached grandchild; `stop` ends it."""
    marker = f'pitot-e2e-{os.getpid()}-{name}'
    recorder = start('-f', 'csv', '-t', 50, '-o', directory / 'out', *options, '--', WORKLOAD,
                     'stubborn', marker, **others)
    try:
        equal(recorder.stdout.readline(), 'ready\n')
        stop(recorder)
        code, _, err = end(recorder)
        equal(code, 128 + 9, err)
        wait_until(lambda: not pids_with(marker), 'the whole tree is gone')
        check_files(directory)
    finally:
        for pid in pids_with(marker):
            kill(pid)
    return err


def stubborn(number):
    def test(directory):
        sent = []
        err = check_killed(directory, number.name, lambda r: sent.append(insist(r, number)))
        assert sent[0] >= 3, sent
        contains(err, 'one more signal kills it')
    test.__doc__ = (f'C016 C017 C018: the third {number.name} ends a command that ignores it: the '
                    'whole tree, with the detached grandchild; the files are finished')
    return test


def all_the_time_it_needs(number):
    def test(directory):
        os.mkfifo(directory / 'go')
        (directory / 'save.sh').write_text(
            'trap "echo escalated" TERM INT HUP\n'
            f'trap "echo saving; read go < {directory}/go; echo saved; exit 7" {number.name[3:]}\n'
            'echo ready; while :; do sleep 0.02; done')
        recorder = started(directory, 'sh', directory / 'save.sh')
        recorder.send_signal(number)
        equal(recorder.stdout.readline(), 'saving\n')
        wait_for_samples(directory / 'out') # the recording goes on
        (directory / 'go').write_text('\n')
        code, out, err = end(recorder)
        equal((code, out), (7, 'saved\n'), err)
        check_files(directory)
    test.__doc__ = (f'C017 C321: after {number.name} the command takes the time it needs, gets no '
                    'other signal, and is recorded to its end')
    return test


def to_the_group(number):
    def test(directory):
        def in_background(): # as a job of a shell
            os.setpgid(0, 0)
        recorder = started(directory, 'sh', '-c', f'n=0; trap "n=\\$((n + 1)); echo got" '
                           f'{number.name[3:]}; trap "echo \\$n; exit 0" USR1; echo ready; '
                           'while :; do sleep 0.02; done', preexec_fn=in_background)
        os.killpg(recorder.pid, number)
        equal(recorder.stdout.readline(), 'got\n')
        recorder.send_signal(signal.SIGUSR1) # forwarded after what came before it
        code, out, err = end(recorder)
        equal((code, out), (0, '1\n'), err)
    test.__doc__ = f'C321: {number.name} to the whole process group reaches the command once'
    return test


def timeout_program(directory):
    """C321: timeout(1), which signals its child and its group, is one request to stop"""
    recorder = start('-f', 'csv', '-t', 50, '-o', directory / 'out', '--', 'sh', '-c',
                     'n=0; trap "n=\\$((n + 1)); echo got" TERM; '
                     'while [ $n = 0 ]; do sleep 0.02; done; sleep 0.3; exit 6',
                     wrapper=['timeout', '--preserve-status', '2'])
    code, out, err = end(recorder)
    equal(code, 6, err)
    contains(out, 'got\n')


def ended_by_duration(directory):
    """C017 C321: -d ends the command by SIGTERM, and its exit code is kept"""
    code, out, err = run('-f', 'csv', '-t', 50, '-d', '2s', '-o', directory / 'out', '--', 'sh',
                         '-c', 'trap "echo told; exit 4" TERM; while :; do sleep 0.02; done')
    equal((code, out), (4, 'told\n'), err)
    contains(err, 'the duration has passed; the command exited with 4')
    check_files(directory)


def killed_by_duration(directory):
    """C017 C321: a command that ignores the SIGTERM of -d is killed after --grace"""
    err = check_killed(directory, 'duration', lambda recorder: None, '-d', '2s', '--grace',
                       '200ms')
    contains(err, 'did not end within 0.2 s of SIGTERM')


def ended_by_duration_of_profiles(directory):
    """C241 C321: -d and --grace of `pitot cpu` end the command, too"""
    for grace, expected in (('60s', 4), ('100ms', 137)):
        code, _, err = run('cpu', '-d', '2s', '--grace', grace, '-o', directory / 'p.folded',
                           '--', 'sh', '-c', f'trap "[ {expected} = 137 ] || exit 4" TERM; '
                           'while :; do sleep 0.02; done')
        equal(code, expected, err)


def nohup(directory):
    """C321: with nohup, a hangup does not end the recording, with and without a command"""
    for command in ([], ['--', 'sh', '-c', 'trap "exit 3" TERM; while :; do sleep 0.02; done']):
        out = directory / str(len(command))
        recorder = start('-f', 'csv', '-t', 50, '-o', out, *command, preexec_fn=lambda:
                         signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_until(lambda: list(out.glob('static_*')), 'it records')
        for _ in range(3):
            recorder.send_signal(signal.SIGHUP)
            wait_for_samples(out)
        recorder.send_signal(signal.SIGTERM)
        equal(end(recorder)[0], 3 if command else 0)


def without_cgroup(directory):
    """C017: where no cgroup can be made, a detached grandchild is found and ended all the same"""
    need_root()
    hide = ['unshare', '--mount', 'sh', '-c', 'umount -l /sys/fs/cgroup && exec "$@"', 'sh']
    if subprocess.run([*hide, 'true'], capture_output=True).returncode != 0:
        raise Skip('the cgroups cannot be hidden')
    check_killed(directory, 'no-cgroup', lambda recorder: insist(recorder, signal.SIGINT),
                 wrapper=hide)


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
        # more than one while the shell forks
        wait_until(lambda: any(map(is_alive, pids_with(marker, 'sh'))), 'the orphan')
    finally:
        for pid in pids_with(marker):
            os.killpg(os.getpgid(pid), signal.SIGKILL)


main(polite(signal.SIGINT), polite(signal.SIGTERM), default_action,
     stubborn(signal.SIGINT), stubborn(signal.SIGTERM), without_cgroup,
     all_the_time_it_needs(signal.SIGINT), all_the_time_it_needs(signal.SIGTERM),
     all_the_time_it_needs(signal.SIGHUP), to_the_group(signal.SIGINT),
     to_the_group(signal.SIGTERM), to_the_group(signal.SIGHUP), timeout_program,
     ended_by_duration, killed_by_duration, ended_by_duration_of_profiles, nohup,
     no_command(signal.SIGINT), no_command(signal.SIGTERM), watched_process, forwarded, inherited,
     blocked_at_start, orphans)
