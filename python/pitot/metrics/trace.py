"""Combines traces of torch and of Pitot in one file, on the clock of Pitot.

Both are Chrome trace events. Times of torch count from when its profiler started, or from 1970,
by version; events that contain a known time of the monotonic clock say how much to add, to half of
their duration, which is some 10 us. Threads of torch are lines of their own below those of Pitot:
with an error of some microseconds blocks of both on one line would not nest."""
import json
import os
import tempfile
from collections import namedtuple

import pitot

Anchor = namedtuple('Anchor', 'name us')
_TORCH_THREADS = 2**30 # above all thread ids of the kernel


def write(path, profiler, anchors, since_ns):
    """Writes the spans since then, and the events of torch's profiler (or None)."""
    events = _own_events(since_ns / 1000)
    if profiler is not None:
        events += _aligned(_torch_events(profiler), anchors)
    temporary = f'{path}.tmp'
    with open(temporary, 'w', encoding='utf-8') as file:
        json.dump({'displayTimeUnit': 'ms', 'traceEvents': events}, file)
    os.replace(temporary, path)


def _load(write_file):
    with tempfile.TemporaryDirectory(prefix='pitot-') as directory:
        path = os.path.join(directory, 'trace.json')
        write_file(path)
        with open(path, encoding='utf-8') as file:
            loaded = json.load(file)
    return loaded['traceEvents'] if isinstance(loaded, dict) else loaded


def _own_events(since_us):
    """Events of the step, and all events without a time: names of the process and threads."""
    return [event for event in _load(pitot.trace) if event.get('ts', since_us) >= since_us]


def _torch_events(profiler):
    return _load(profiler.export_chrome_trace)


def _aligned(events, anchors):
    times = {anchor.name: anchor.us for anchor in anchors}
    marks = [event for event in events if event.get('name') in times and 'dur' in event]
    if not marks:
        return []
    best = min(marks, key=lambda mark: float(mark['dur']))
    by_us = times[best['name']] - float(best['ts']) - float(best['dur']) / 2
    threads = {}
    moved = [_moved(event, by_us, best['pid'], threads) for event in events
             if event.get('name') not in times and event.get('name') != 'thread_name']
    return moved + [_thread_name(threads[tid], number) for number, tid in enumerate(threads, 1)]


def _moved(event, by_us, pid, threads):
    moved = {'cat': 'torch', **event}
    if 'ts' in event:
        moved['ts'] = float(event['ts']) + by_us
    if event.get('pid') == pid and 'tid' in event:
        tid = threads.setdefault(event['tid'], _TORCH_THREADS + len(threads))
        moved.update(pid=os.getpid(), tid=tid)
    return moved


def _thread_name(tid, number):
    return {'ph': 'M', 'name': 'thread_name', 'pid': os.getpid(), 'tid': tid,
            'args': {'name': f'torch {number}'}}
