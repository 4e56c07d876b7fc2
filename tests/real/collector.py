#!/usr/bin/python3
"""Samples pushed to a real OpenTelemetry Collector, against the recorded run.

    tests/real/collector.py PITOT

Prints TAP."""
import json
import socket

from frame import PITOT, equal, free_port, main, pitot, process, wait_for
from points import compare, is_same, otel_names, recorded_for_otlp, rows_of

CONFIG = '''receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{file: {{path: {path}}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{metrics: {{receivers: [otlp], exporters: [file]}}}}
'''
KINDS = {('sum', True): 'counter', ('sum', False): 'up-down counter', ('gauge', None): 'gauge',
         ('histogram', None): 'histogram'}
NO_VALUE = 1 # flag of a point: the series has ended


def collect(program, directory, *words):
    """Records with pushing to a collector; the metrics that it has written."""
    port, path = free_port(), directory / 'received.json'
    (directory / 'collector.yaml').write_text(CONFIG.format(port=port, path=path))
    url = f'http://127.0.0.1:{port}'

    def is_listening():
        with socket.create_connection(('127.0.0.1', port), 1):
            return True
    with process(program.path, '--config', f'file:{directory}/collector.yaml',
                 log=directory / 'collector.log') as child:
        wait_for('the collector', is_listening)
        assert child.poll() is None, (directory / 'collector.log').read_text()
        said = pitot('record', '-o', directory / 'run', '--state-dir', directory / 'state', '-f',
                     'csv', '-t', 100, '--otlp', url, *words)[1]
        assert 'otlp' not in said.lower() or 'cannot' not in said, said
    metrics = []
    for line in path.read_text().splitlines():
        for resource in json.loads(line)['resourceMetrics']:
            for scope in resource['scopeMetrics']:
                metrics += scope['metrics']
    return metrics


def value_of(attribute):
    [value] = attribute['value'].values()
    return str(value)


def points_of(metrics):
    """{(name, attributes): {time in ms: value}}, and {name: (kind, unit)}"""
    floats, kinds = {}, {}
    for metric in metrics:
        [shape] = [s for s in ('gauge', 'sum', 'histogram', 'exponentialHistogram') if s in metric]
        monotonic = metric['sum'].get('isMonotonic', False) if shape == 'sum' else None
        kinds[metric['name']] = KINDS.get((shape, monotonic), shape), metric.get('unit', '')
        for point in metric[shape]['dataPoints']:
            key = metric['name'], frozenset((a['key'], value_of(a))
                                            for a in point.get('attributes', []))
            series = floats.setdefault(key, {})
            if not point.get('flags', 0) & NO_VALUE:
                series[int(point['timeUnixNano']) // 1000000] = number_of(point, shape)
    return floats, kinds


def number_of(point, shape):
    if shape in ('histogram', 'exponentialHistogram'):
        return float(point.get('count', 0)), point.get('sum', 0.0)
    return float(point['asInt'] if 'asInt' in point else point.get('asDouble', 0))


def machine(program, directory):
    """a real Collector has every recorded point, with the documented name, kind and unit"""
    floats, kinds = points_of(collect(program, directory, '-d', '3', '--engine', 'off'))
    points = compare(recorded_for_otlp(directory / 'run'), floats, frozenset())
    for name, kind, unit, _ in otel_names()[0].values():
        if name in kinds and 'histogram' not in kind:
            equal(kinds[name], (kind, unit), name)
    return f'{points} points of {len(floats)} series'


def engine(program, directory):
    """latencies and tokens of an engine arrive with the counts of the journal"""
    floats, kinds = points_of(collect(program, directory, '--', PITOT, 'demo', '--serve',
                                      '--self-load', '--seconds', '5'))
    last = [row for row in rows_of(directory / 'run', {'file': 'engines'})
            if row['latency_ttft_s_count']][-1]
    [series] = [s for (name, _), s in floats.items() if name == 'gen_ai.server.time_to_first_token']
    count, total = series[max(series)]
    equal(count, float(last['latency_ttft_s_count']), 'number of first tokens')
    assert is_same(total, float(last['latency_ttft_s_sum'])), (total, last)
    equal(kinds['gen_ai.server.time_to_first_token'], ('histogram', 's'), 'kind and unit')
    [tokens] = [s for (name, _), s in floats.items()
                if name == 'pitot.engines.tokens_generation_total']
    equal(tokens[max(tokens)], float(last['tokens_generation_total']), 'tokens')
    return f'{count:.0f} requests, {tokens[max(tokens)]:.0f} tokens'


main('otelcol', machine, engine)
