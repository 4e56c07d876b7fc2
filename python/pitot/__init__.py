"""Measures a program from inside, at very low cost. See docs/PYTHON.md.

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
        f"the native part of pitot cannot be loaded ({error}); install the wheel for this "
        "Python, or build it: `make python PYTHON=<this python>`") from error

from pitot import torch
from pitot._native import (Counter, Gauge, Histogram, Span, Timer, __version__, dropped, is_on,
                           overhead, record_request, regressions, request_begin, request_end,
                           settings, span, start, stop, trace)
from pitot.decorate import profile
from pitot.exposition import metrics_response, metrics_text
from pitot.instruments import counter, gauge, histogram
from pitot.measure import PerformanceMetrics, PerformanceProfiler
from pitot.monitoring import MonitoringSystem
from pitot.service import (HealthStatus, RequestMetrics, get_error_rate, get_gpu_utilization,
                           get_latency_percentile, get_memory_usage_mb, health, health_check)

__all__ = ['Counter', 'Gauge', 'HealthStatus', 'Histogram', 'MonitoringSystem',
           'PerformanceMetrics', 'PerformanceProfiler', 'RequestMetrics', 'Span', 'Timer',
           'configure', 'counter', 'dropped', 'gauge', 'get_error_rate', 'get_gpu_utilization',
           'get_latency_percentile', 'get_memory_usage_mb', 'health', 'health_check', 'histogram',
           'is_on', 'lines', 'load_ipython_extension', 'metrics_response', 'metrics_text',
           'overhead', 'profile', 'read', 'record_request', 'regressions', 'request_begin',
           'request_end', 'settings', 'span', 'start', 'stop', 'torch', 'trace']


def configure(**changes):
    """Changes settings by name for all threads; all changes apply, or none. See settings()."""
    _native.configure({name: str(value) for name, value in changes.items()})


# No __getattr__ for lazily imported names: it would slow down every lookup in the module.
def read(run, pandas=None):
    """Reads the tables of a recorded run; see pitot.tables."""
    from pitot import tables
    return tables.read(run, pandas)


def lines(*functions):
    """Profiles time and hits of each line of these functions, in a `with` or as a decorator of one
    function; see pitot.line_profile."""
    from pitot import line_profile
    return line_profile.lines(*functions)


def load_ipython_extension(shell):
    """Called by `%load_ext pitot` in a notebook; %%pitot then shows time and memory of a cell."""
    from pitot import ipython
    ipython.load(shell)
