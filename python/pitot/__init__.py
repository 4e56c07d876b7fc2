"""Measures a program from inside, for next to nothing. See docs/PYTHON.md.

    import pitot

    tokens = pitot.counter("tokens", "Tokens generated", model="a")

    with pitot.span("decode", tokens=n):
        ...
        tokens.inc(n)

Off until pitot.start(), or until the program runs under `pitot -- python3 program.py`.
"""
try:
    from pitot._native import (Counter, Gauge, Histogram, Span, Timer, __version__, dropped, is_on,
                               span, start, stop)
except ImportError as error:
    raise ImportError(
        f"the native part of pitot cannot be loaded ({error}); install the wheel that was made for "
        "this Python, or build one: `make python PYTHON=<this python>`") from error

from pitot.decorate import profile
from pitot.instruments import counter, gauge, histogram

__all__ = ['Counter', 'Gauge', 'Histogram', 'Span', 'Timer', 'counter', 'dropped', 'gauge',
           'histogram', 'is_on', 'profile', 'read', 'span', 'start', 'stop']

# What is dearer to import than to use comes with its first use.
_LATER = {'read': 'pitot.tables'}


def __getattr__(name):
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'pitot' has no attribute {name!r}")
    import importlib
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})
