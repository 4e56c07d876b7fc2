"""Counters, gauges and histograms, with labels as keywords or as a dict."""
from pitot import _native


def counter(name, help="", labels=None, *, unit="", **more):
    """An amount that only grows: counter("tokens", "Tokens generated", model="a").inc(n)."""
    return _native.counter(name, unit, help, label_text(labels, more))


def gauge(name, help="", labels=None, *, unit="", **more):
    """A value that goes up and down: .set(x), .inc(n), .dec(n)."""
    return _native.gauge(name, unit, help, label_text(labels, more))


def histogram(name, help="", labels=None, *, unit="", buckets=None, **more):
    """A distribution: .observe(x), .time(), .quantile(q). Buckets are for Prometheus text only."""
    made = _native.histogram(name, unit, help, label_text(labels, more))
    if buckets is not None:
        made.set_buckets(buckets)
    return made


def label_text(labels, more):
    """Labels as in Prometheus text, in the order of their names: model="a",stage="decode"."""
    merged = {**(labels or {}), **more}
    return ','.join(f'{_label(name)}="{_value(name, merged[name])}"'
                    for name in sorted(merged, key=_label))


def _label(name):
    if not isinstance(name, str):
        raise TypeError(f'the name of a label must be a str, not {name!r}')
    return name


def _value(name, value):
    if not isinstance(value, (str, int, float)):
        raise TypeError(f'label {name} must be a str or a number, not {value!r}')
    return str(value).replace('\\', r'\\').replace('"', r'\"').replace('\n', r'\n')
