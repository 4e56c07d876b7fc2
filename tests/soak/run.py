#!/usr/bin/python3
"""Lets everything run for long and looks whether it stays as it is.

    tests/soak/run.py BUILD          (`make soak`)

There are four long-lived parts: a recorder around a program that uses all of libpitot, a server
with a client of its dashboard, and a receiver to which both push. Two phases follow each other:

- accelerated: SOAK_TICKS samples [86400: as many as a day has at the default interval of 1 s] at
  SOAK_INTERVAL milliseconds [20]. Only the interval is short; clocks are real. So a day's worth of
  samples, spans, pushes and updates of the page goes through, but what happens by the hour or
  by date (ages of files, wear of caches) does not.
- real time: SOAK_SECONDS [7200] at the default interval.

Resident memory, descriptors, threads and disk of each part are read 200 times a phase. It is flat
if the last third is not above the second quarter (the first is for warming up) by more than the
allowance; ticks are flat if the schedule has not moved. Prints a table and exits with 1 if
something is not flat."""
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

BUILD = pathlib.Path(sys.argv[1]).resolve()
sys.argv = ['', str(BUILD / 'pitot'), str(BUILD / 'tests/e2e/library-rounds')]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))
from harness import WORKLOAD, end, kill, run, start, table, wait_until  # noqa: E402

TICKS = int(os.environ.get('SOAK_TICKS', 86400))
INTERVAL_MS = int(os.environ.get('SOAK_INTERVAL', 20))
SECONDS = int(os.environ.get('SOAK_SECONDS', 7200))
LOOKS = 200
# What may come and go: pages of the heap and of files, one client more or less.
ALLOWANCE = {'RSS MiB': (1.0, 0.05), 'descriptors': (3, 0), 'threads': (1, 0),
             'disk MiB': (2, 0.05)}


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    count = 0

    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        Receiver.count += 1
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def watch_dashboard(base, over, count):
    """A client: the page once, the stream all the time, metrics and history now and then."""
    while not over.is_set():
        with contextlib.suppress(OSError):
            for path in ('/', '/metrics', '/health', '/api/schema', '/api/history?table=cpu'):
                with contextlib.suppress(urllib.error.HTTPError):
                    urllib.request.urlopen(base + path, timeout=30).read()
            with urllib.request.urlopen(base + '/api/stream', timeout=30) as stream:
                for _ in range(2000):
                    if over.is_set() or not stream.readline():
                        break
                    count[0] += 1


def size_of(place):
    total = 0
    for path in place.rglob('*'):
        with contextlib.suppress(OSError):
            total += path.stat().st_blocks * 512 if path.is_file() else 0
    return total / 1048576


def look(pid):
    status = dict(line.split(':\t', 1) for line in
                  pathlib.Path(f'/proc/{pid}/status').read_text().splitlines() if ':\t' in line)
    return {'RSS MiB': int(status['VmRSS'].split()[0]) / 1024, 'threads': int(status['Threads']),
            'descriptors': len(os.listdir(f'/proc/{pid}/fd'))}


def drift_ms(directory, interval_ms):
    """How far the schedule has moved: ticks can be late, but the earliest of many are on time."""
    made = directory / 'made'
    code, _, err = run('export', directory, '-f', 'csv', '-o', made, '-q')
    assert code == 0, err
    times = [int(row['monotonic_ns']) for row in table(made)]
    assert len(times) > 40, f'{len(times)} samples'
    # Most ticks are on time: the most frequent hundredth of the interval, first and last.
    ns = interval_ms * 1000000
    def phase_of(part):
        return statistics.mode(time % ns * 100 // ns for time in part)
    quarter = len(times) // 4
    moved = (phase_of(times[-quarter:]) - phase_of(times[:quarter]) + 50) % 100 - 50
    return moved * interval_ms / 100, len(times)


def phase(name, interval_ms, seconds, directory, receiver):
    """Rows of the table: (part, what, before, after, allowed)."""
    over, updates = threading.Event(), [0]
    port = free_port()
    push = ['--remote-write', f'http://127.0.0.1:{receiver}/write']
    run_place, state = directory / 'run', directory / 'state'
    recorder = start('record', '-q', '-t', interval_ms, '--blackbox', '8M', '-o', run_place,
                     '--state-dir', directory / 'queue', *push, '--', WORKLOAD, 1 << 30,
                     10 * interval_ms, cwd=directory, stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
    server = start('serve', '-q', '-t', interval_ms, '--listen', f'127.0.0.1:{port}', '--history',
                   '8M', '--state-dir', state, *push, cwd=directory, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    looks = {part: [] for part in ('recorder', 'server', 'program')}
    client = threading.Thread(target=watch_dashboard, daemon=True,
                              args=(f'http://127.0.0.1:{port}', over, updates))
    try:
        program = wait_until(lambda: [int(pid) for pid in os.listdir('/proc') if pid.isdigit() and
                                      is_program(pid, recorder.pid)], 'the program runs')[0]
        client.start()
        for _ in range(LOOKS):
            time.sleep(seconds / LOOKS)
            for part, pid in (('recorder', recorder.pid), ('server', server.pid),
                              ('program', program)):
                looks[part].append(look(pid))
            looks['recorder'][-1]['disk MiB'] = size_of(run_place) + size_of(directory / 'queue')
            looks['server'][-1]['disk MiB'] = size_of(state)
    finally:
        over.set()
        kill_tree = [program] if 'program' in locals() else []
        for pid in kill_tree:
            kill(pid)
        recorder.send_signal(signal.SIGINT)
        end(recorder)
        server.send_signal(signal.SIGTERM)
        end(server)
        client.join(30)
    rows = []
    for part, seen in looks.items():
        for what in ('RSS MiB', 'descriptors', 'threads', 'disk MiB'):
            values = [one[what] for one in seen if what in one]
            if not values:
                continue
            before = statistics.median(values[LOOKS // 4:LOOKS // 2])
            after = statistics.median(values[-LOOKS // 3:])
            fixed, share = ALLOWANCE[what]
            if what == 'disk MiB': # a ring grows up to its size
                before = max(before, 8 if part == 'recorder' else 9)
            rows.append((name, part, what, before, after, max(fixed, share * before)))
    moved, count = drift_ms(run_place, interval_ms)
    rows.append((name, 'recorder', 'tick drift ms', 0, abs(moved), interval_ms / 4))
    return rows, f'{name}: {seconds} s at {interval_ms} ms, {updates[0]} lines of the stream, ' \
                 f'{Receiver.count} pushes received, {count} samples in the ring at the end'


def is_program(pid, parent):
    with contextlib.suppress(OSError):
        words = pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
        stat = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
        return words[0].decode() == WORKLOAD and int(stat[1]) == parent
    return False


def main():
    receiver = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    lines, is_flat = [], True
    lines += ['| phase | part | what | second quarter | last third | flat |',
              '|---|---|---|---|---|---|']
    notes = []
    for name, interval_ms, seconds in (('accelerated', INTERVAL_MS, TICKS * INTERVAL_MS // 1000),
                                       ('real time', 1000, SECONDS)):
        if seconds == 0:
            continue
        with tempfile.TemporaryDirectory(prefix='pitot-soak-', ignore_cleanup_errors=True) as place:
            rows, note = phase(name, interval_ms, seconds, pathlib.Path(place),
                               receiver.server_address[1])
        notes.append(note)
        for _, part, what, before, after, allowed in rows:
            flat = after <= before + allowed
            is_flat &= flat
            lines.append(f'| {name} | {part} | {what} | {before:.1f} | {after:.1f} | '
                         f'{"yes" if flat else "NO"} |')
    lines += ['', *(f'- {note}' for note in notes)]
    print('\n'.join(lines))
    store = BUILD / 'torture/results.json'
    store.parent.mkdir(exist_ok=True)
    results = json.loads(store.read_text()) if store.exists() else {}
    results['soak'] = {'date': time.strftime('%Y-%m-%d'), 'figures': lines}
    store.write_text(json.dumps(results, indent=1))
    return 0 if is_flat else 1


sys.exit(main())
