"""Time and hits of each source line of selected functions.

    with pitot.lines(tokenize, Model.forward) as profile:
        serve()
    print(profile.report())
    profile.report().write_html("lines.html")

    @pitot.lines            # or permanently: tokenize.lines.report()
    def tokenize(text): ...

The time of a line is the time from reaching it to reaching the next, including everything it calls;
in recursive functions, time counts in each level. Each line of a selected function costs about
0.1 us. From Python 3.12 on other functions cost nothing and all threads are seen. Before 3.12, each
line of any function costs about 0.03 us in the profiling thread, the only one that is seen."""
from __future__ import annotations

import functools
import html
import inspect
import linecache
import sys
import threading
from collections import namedtuple

from pitot import _native

Line = namedtuple('Line', 'file function line hits seconds source')
_monitoring = getattr(sys, 'monitoring', None)
_RESUMABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class LineProfile:
    """Measures the lines of functions (or code objects) between start() and stop()."""

    def __init__(self, *functions):
        self.codes = tuple(dict.fromkeys(_code(function) for function in functions))
        self._clock = _native.line_clock(self.codes)
        self._watch = None

    def start(self, frame=None) -> None:
        """`frame` may be running selected code: it is measured from its next line on."""
        self._watch = self._watch or _start_watch(self._clock, self.codes, frame)

    def stop(self) -> None:
        if self._watch:
            self._watch.stop()
            self._watch = None
            self._clock.finish()

    def report(self) -> LineReport:
        return LineReport(self._clock, self.codes)

    def __enter__(self):
        self.start(sys._getframe(1))
        return self

    def __exit__(self, kind, error, trace):
        self.stop()

    def __str__(self):
        return str(self.report())


class LineReport:
    """rows() are in source order; str() is a table, html() a page."""

    def __init__(self, clock, codes):
        self._functions = [(code, clock.lines(code)) for code in codes]

    def rows(self) -> list[Line]:
        return [Line(code.co_filename, _name(code), line, hits, seconds,
                     linecache.getline(code.co_filename, line).rstrip('\n'))
                for code, lines in self._functions for line, hits, seconds in lines]

    def __str__(self):
        return '\n'.join(_table(*function) for function in self._functions)

    def html(self) -> str:
        return (_HTML_HEAD + ''.join(_html_table(*function) for function in self._functions)
                + '</body></html>\n')

    def write_html(self, path) -> None:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.html())


def lines(*functions) -> LineProfile:
    """A LineProfile for `with`; also a decorator of one function: function.lines is its profile."""
    if len(functions) != 1 or not callable(functions[0]):
        return LineProfile(*functions)
    return _Lines(functions[0])


class _Lines(LineProfile):
    """A profile when entered, the function when called."""

    def __init__(self, function):
        super().__init__(function)
        self._function, self._depth, self._lock = function, 0, threading.Lock()
        functools.update_wrapper(self, function)

    @property
    def lines(self):
        return self

    def __call__(self, *args, **kwargs):
        if self.codes[0].co_flags & _RESUMABLE:
            raise TypeError(f'{_name(self.codes[0])} is a generator or asynchronous: '
                            'use `with pitot.lines(function):` around its caller')
        self._change(1)
        try:
            return self._function(*args, **kwargs)
        finally:
            self._change(-1)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _change(self, by):
        with self._lock:
            self._depth += by
            if self._depth == 0:
                self.stop()
            elif by > 0 and self._depth == 1:
                self.start()


def _code(function):
    if inspect.iscode(function):
        return function
    function = inspect.unwrap(getattr(function, '__func__', function))
    code = getattr(function, '__code__', None)
    if code is None:
        raise TypeError(f'{function!r} has no lines: it is not a Python function')
    return code


def _name(code):
    return getattr(code, 'co_qualname', code.co_name)


def _start_watch(clock, codes, frame):
    if _monitoring:
        return _Monitoring(clock, codes)
    return _Trace(clock, codes, frame)


class _Trace:
    """Uses the trace function of this thread; a previous one, of a debugger or an outer profile, is
    restored at the end."""

    def __init__(self, clock, codes, frame):
        self._clock, self._codes, self._before = clock, set(codes), sys.gettrace()
        self._frame = None
        self._is_native = clock.start_trace()
        if not self._is_native:
            self._start_python(frame)

    def _start_python(self, frame):
        sys.settrace(self._event)
        if frame is not None and frame.f_code in self._codes:
            self._frame, frame.f_trace = frame, self._event

    def _event(self, frame, event, arg):
        code = frame.f_code
        if code not in self._codes:
            return None
        if event == 'line':
            self._clock.reach(code, frame.f_lineno)
        elif event == 'call':
            self._clock.enter(code)
        elif event == 'return':
            self._clock.leave(code)
        return self._event

    def stop(self):
        if self._is_native:
            self._clock.stop_trace()
        if self._frame is not None:
            self._frame.f_trace = None
        if isinstance(self._before, _native.LineClock):
            self._before.start_trace()
        else:
            sys.settrace(self._before)


class _Monitoring:
    """Uses sys.monitoring: other code runs at full speed."""

    def __init__(self, clock, codes):
        events = _monitoring.events
        self._tool, self._codes = self._take_tool(), codes
        callbacks = {events.PY_START: clock.enter, events.PY_RESUME: clock.enter,
                     events.LINE: clock.reach, events.PY_RETURN: clock.leave,
                     events.PY_YIELD: clock.leave}
        everywhere = {events.PY_THROW: clock.enter, events.PY_UNWIND: clock.leave}
        self._callbacks = {**callbacks, **everywhere}
        for event, call in self._callbacks.items():
            _monitoring.register_callback(self._tool, event, call)
        for code in codes:
            _monitoring.set_local_events(self._tool, code, sum(callbacks))
        _monitoring.set_events(self._tool, sum(everywhere))

    @staticmethod
    def _take_tool():
        for tool in (_monitoring.PROFILER_ID, 3, 4):
            try:
                _monitoring.use_tool_id(tool, 'pitot')
                return tool
            except ValueError:
                continue
        raise RuntimeError('all tool ids of sys.monitoring are in use')

    def stop(self):
        _monitoring.set_events(self._tool, 0)
        for code in self._codes:
            _monitoring.set_local_events(self._tool, code, 0)
        for event in self._callbacks:
            _monitoring.register_callback(self._tool, event, None)
        _monitoring.free_tool_id(self._tool)


def _source(code, measured):
    """(number, source, hits, seconds) of all lines from the first to the last."""
    known = {line: (hits, seconds) for line, hits, seconds in measured}
    try:
        source, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        source, first = [], code.co_firstlineno
    last = max([first + len(source) - 1, *known])
    if code.co_name == '<module>':
        first, last = min(known, default=1), max(known, default=0)
    for number in range(first, last + 1):
        text = linecache.getline(code.co_filename, number).rstrip('\n')
        hits, seconds = known.get(number, (None, None))
        yield number, text, hits, seconds


def _table(code, measured):
    total = sum(seconds for _, _, seconds in measured)
    head = f'{_name(code)}  {code.co_filename}:{code.co_firstlineno}  {total:.6f} s'
    rows = [head, f'{"line":>6} {"hits":>9} {"seconds":>11} {"%":>5}  source']
    for number, text, hits, seconds in _source(code, measured):
        if hits is None:
            rows.append(f'{number:>6} {"":>9} {"":>11} {"":>5}  {text}'.rstrip())
        else:
            rows.append(f'{number:>6} {hits:>9} {seconds:>11.6f} {_percent(seconds, total):>5.1f}  '
                        f'{text}')
    return '\n'.join(rows) + '\n'


def _percent(seconds, total):
    return 100 * seconds / total if total > 0 else 0


_HTML_HEAD = '''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Lines</title><style>
body { font: 14px system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
td, th { padding: 0 .8em; text-align: right; font: 13px/1.5 ui-monospace, monospace; }
td:last-child, th:last-child { text-align: left; white-space: pre; }
</style></head><body>
'''


def _html_table(code, measured):
    total = sum(seconds for _, _, seconds in measured)
    rows = ''.join(_html_row(*line, total) for line in _source(code, measured))
    return (f'<h2>{html.escape(_name(code))}</h2><p>{html.escape(code.co_filename)}:'
            f'{code.co_firstlineno}, {total:.6f} s</p><table><tr><th>line<th>hits<th>seconds<th>%'
            f'<th>source</tr>{rows}</table>\n')


def _html_row(number, text, hits, seconds, total):
    if hits is None:
        return f'<tr><td>{number}<td><td><td><td>{html.escape(text)}</tr>'
    percent = _percent(seconds, total)
    return (f'<tr style="background:rgba(230,100,0,{percent / 130:.2f})"><td>{number}<td>{hits}'
            f'<td>{seconds:.6f}<td>{percent:.1f}<td>{html.escape(text)}</tr>')
