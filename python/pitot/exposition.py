"""All metrics of the process as text, in exchange formats."""
from pitot import _native

FORMATS = ('prometheus', 'openmetrics', 'protobuf', 'json') # in the order of enum in export.h


def metrics_text(format='prometheus'):
    """Returns all metrics: a str, or bytes for "protobuf"."""
    if format not in FORMATS:
        raise ValueError(f'format {format!r} is not one of: {", ".join(FORMATS)}')
    data, _ = _native.render(FORMATS.index(format))
    return data if format == 'protobuf' else data.decode()


def metrics_response(accept=None):
    """For /metrics: (body, Content-Type) in the format requested by the Accept header."""
    return _native.render(_native.negotiate(accept))
