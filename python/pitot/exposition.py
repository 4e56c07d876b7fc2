"""All metrics of the process as text, in the formats that others read."""
from pitot import _native

FORMATS = ('prometheus', 'openmetrics', 'protobuf', 'json') # in the order of enum in export.h


def metrics_text(format='prometheus'):
    """The metrics for a scraper: a str, or bytes of "protobuf"."""
    if format not in FORMATS:
        raise ValueError(f'format is one of {", ".join(FORMATS)}, not {format!r}')
    data, _ = _native.render(FORMATS.index(format))
    return data if format == 'protobuf' else data.decode()


def metrics_response(accept=None):
    """For /metrics: (body, Content-Type) in the format that the Accept header asks for."""
    return _native.render(_native.negotiate(accept))
