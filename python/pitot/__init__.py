"""Measures a program from inside, for next to nothing. See docs/PYTHON.md.

    import pitot

    tokens = pitot.counter("tokens", "Tokens generated", model="a")

    with pitot.span("decode", tokens=n):
        ...
        tokens.inc(n)

Off until pitot.start(), or until the program runs under `pitot -- python3 program.py`.
"""
try:
    from pitot import _native
except ImportError as error:
    raise ImportError(
        f"the native part of pitot cannot be loaded ({error}); install the wheel that was made for "
        "this Python, or build it: `make python PYTHON=<this python>`") from error

from pitot._native import (Counter, Gauge, Histogram, Span, Timer, __version__, dropped, health,
                           is_on, record_request, request_begin, request_end, settings, span, start,
                           stop, trace)
from pitot.decorate import profile
from pitot.exposition import metrics_response, metrics_text
from pitot.instruments import counter, gauge, histogram

__all__ = ['Counter', 'Gauge', 'Histogram', 'Span', 'Timer', 'configure', 'counter', 'dropped',
           'gauge', 'health', 'histogram', 'is_on', 'metrics_response', 'metrics_text',
           'profile', 'read', 'record_request', 'request_begin', 'request_end',
           'settings', 'span', 'start', 'stop', 'trace']


def configure(**changes):
    """Changes settings by name, for all threads, all of them or none; see settings()."""
    _native.configure({name: str(value) for name, value in changes.items()})


# No __getattr__ for names that come later: with one, Python finds no name of a module fast.
def read(run, pandas=None):
    """The tables of a recorded run; see pitot.tables."""
    from pitot import tables
    return tables.read(run, pandas)
