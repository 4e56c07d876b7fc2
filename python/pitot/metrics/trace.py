"""Traces of torch and of Pitot in one file, on the clock of Pitot.

Both are Chrome trace events. Times of torch count from when its profiler started, or from 1970,
by version; an event whose monotonic time is known says how much to add. Debian's torch numbers
threads by itself: the thread of that event becomes the real one, so that operators of torch stand
below the spans they belong to."""
import json
import os
import tempfile
from collections import namedtuple

import pitot

Anchor = namedtuple('Anchor', 'name us thread')


def write(path, profiler, anchor, since_ns):
    """The spans since then, and the events of torch's profiler (or None)."""
    events = _own_events(since_ns / 1000)
    if profiler is not None:
        events += _aligned(_torch_events(profiler), anchor)
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
    """Those of the step, and all that has no time: names of the process and threads."""
    return [event for event in _load(pitot.trace) if event.get('ts', since_us) >= since_us]


def _torch_events(profiler):
    return _load(profiler.export_chrome_trace)


def _aligned(events, anchor):
    mark = next((event for event in events if event.get('name') == anchor.name), None)
    if mark is None:
        return []
    middle = float(mark['ts']) + float(mark.get('dur', 0)) / 2
    return [_moved(event, anchor.us - middle, mark, anchor.thread) for event in events
            if event is not mark]


def _moved(event, by_us, mark, thread):
    moved = {'cat': 'torch', **event}
    if 'ts' in event:
        moved['ts'] = float(event['ts']) + by_us
    if event.get('pid') == mark['pid']:
        moved['pid'] = os.getpid()
        if event.get('tid') == mark['tid']:
            moved['tid'] = thread
    return moved
