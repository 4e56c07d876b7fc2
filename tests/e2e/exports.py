#!/usr/bin/python3
"""What a program exports of itself with libpitot, as parsers of others see it."""
import gzip
import json
import math
import subprocess

from harness import ENVIRONMENT, WORKLOAD, Skip, equal, main, run, table

REQUESTS = 100
TEXT = 'a "b" c\\d\ne'


def export(directory):
    """Runs the program; what it wrote to standard output."""
    done = subprocess.run([WORKLOAD, directory], capture_output=True, env=ENVIRONMENT, check=False)
    equal(done.returncode, 0, done.stderr)
    return done.stdout


def parse(directory, name):
    try:
        from prometheus_client import parser
        from prometheus_client.openmetrics import parser as openmetrics_parser
    except ImportError:
        raise Skip('python3-prometheus-client is not installed') from None
    read = {'metrics.txt': parser, 'metrics.om': openmetrics_parser}[name]
    text = (directory / name).read_text(encoding='utf-8')
    return {family.name: family for family in read.text_string_to_metric_families(text)}


def check_families(families):
    equal(list(families), ['requests', 'active_requests', 'request_duration_seconds',
                           'memory_usage_bytes'])
    equal([family.type for family in families.values()],
          ['counter', 'gauge', 'histogram', 'gauge'])
    equal(families['requests'].documentation, 'Total requests')
    equal([(s.name, s.labels, s.value) for s in families['requests'].samples],
          [('requests_total', {'code': '200'}, 900),
           ('requests_total', {'code': '500', 'text': TEXT}, 100)])
    equal(families['active_requests'].samples[0].value, 2.5)
    equal(families['memory_usage_bytes'].samples[0].value, 1e9)
    samples = families['request_duration_seconds'].samples
    buckets = {float(s.labels['le']): s.value for s in samples if s.name.endswith('_bucket')}
    equal(list(buckets), [.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, math.inf])
    for bound, count in buckets.items():
        expected = min(bound, 1) * 1000
        assert expected - 1e-6 <= count <= expected * 1.0222, (bound, count)
    equal(buckets[math.inf], 1000)
    others = {s.name: s.value for s in samples if 'le' not in s.labels}
    equal(others['request_duration_seconds_count'], 1000)
    assert abs(others['request_duration_seconds_sum'] - 500.5) < 1e-9


def text(directory):
    """C248 C249 C250 C252 C257: Prometheus text is what its own Python parser expects"""
    export(directory)
    check_families(parse(directory, 'metrics.txt'))


def openmetrics(directory):
    """C257: OpenMetrics passes the strict parser of its reference implementation"""
    export(directory)
    families = parse(directory, 'metrics.om')
    check_families(families)
    equal(families['request_duration_seconds'].unit, 'seconds')
    equal(families['memory_usage_bytes'].unit, 'bytes')


def values_as_json(directory):
    """C257: JSON has the same values, and quantiles within 1.1 %"""
    export(directory)
    metrics = json.loads((directory / 'metrics.json').read_text())['metrics']
    series = {metric['name']: metric['series'] for metric in metrics}
    equal([(s['labels'], s['value']) for s in series['requests_total']],
          [({'code': '200'}, 900), ({'code': '500', 'text': TEXT}, 100)])
    histogram = series['request_duration_seconds'][0]
    equal(histogram['count'], 1000)
    for name, value in {'p50': .5, 'p90': .9, 'p95': .95, 'p99': .99, 'p99.9': .999}.items():
        assert abs(histogram[name] / value - 1) < 0.011, (name, histogram[name])


def check_nesting(spans):
    """Of one thread: each span lies in another or beside it. Times are whole nanoseconds."""
    open_ends = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + 1, (start, end, open_ends)
        open_ends.append(end)


def nanoseconds(number):
    return round(number * 1000)


def check_flows(events):
    """Each arrow begins and ends with a span of the same request; half of the requests move."""
    spans = {(event['tid'], event['ts']): event['args'].get('request')
             for event in events if event['ph'] == 'X'}
    flows = {}
    for event in events:
        if event['ph'] in 'stf':
            flows.setdefault(event['id'], []).append(event)
    equal(len(flows), REQUESTS // 2)
    for flow in flows.values():
        flow.sort(key=lambda event: event['ts'])
        equal([event['ph'] for event in flow], ['s', 'f'])
        equal(flow[1]['bp'], 'e')
        requests = {spans[event['tid'], event['ts']] for event in flow}
        equal(len(requests), 1)
        assert flow[0]['tid'] != flow[1]['tid']


def check_trace(trace):
    events = trace['traceEvents']
    names = {event['tid']: event['args']['name'] for event in events
             if event['ph'] == 'M' and event['name'] == 'thread_name'}
    equal(sorted(names.values()), ['export-workload', 'worker', 'worker'])
    assert any(event['ph'] == 'M' and event['name'] == 'process_name' and
               event['args']['name'] == 'export-workload' for event in events)
    spans = [event for event in events if event['ph'] == 'X']
    equal(len(spans), REQUESTS + 2 * REQUESTS // 2)
    for thread in names:
        check_nesting([(nanoseconds(span['ts']), nanoseconds(span['ts']) + nanoseconds(span['dur']))
                       for span in spans if span['tid'] == thread])
    decodes = [span['args'] for span in spans if span['name'] == 'decode']
    equal({args['tokens'] for args in decodes}, {10})
    equal({span['args']['argument'] for span in spans if span['name'] == 'step "1"'},
          {args['request'] for args in decodes})
    check_flows(events)
    counters = {event['name']: event['args']['value'] for event in events if event['ph'] == 'C'}
    equal(counters['active_requests'], 2.5)
    assert 'resident memory (MB)' not in counters  # nobody asked for it


def traces(directory):
    """C216 C217: in all three ways a trace is JSON, its spans nest, its requests have arrows"""
    printed = export(directory)
    check_trace(json.loads((directory / 'trace.json').read_text(encoding='utf-8')))
    check_trace(json.loads(gzip.decompress((directory / 'trace.json.gz').read_bytes())))
    check_trace(json.loads(printed))


def recorded(directory):
    """C217: a recorded run as a trace has the spans and metrics of its tables"""
    code, _, err = run('-q', '-f', 'csv,trace', '-t', 50, '-o', directory, '--', WORKLOAD,
                       directory, stdout=subprocess.DEVNULL)
    equal(code, 0, err)
    files = list(directory.glob('*-*.trace.json'))
    equal(len(files), 1)
    events = json.loads(files[0].read_text(encoding='utf-8'))['traceEvents']
    rows = table(directory, 'spans')
    events_by_end = sorted(
        (event['name'], event['tid'], nanoseconds(event['ts']) + nanoseconds(event['dur']),
         nanoseconds(event['ts'])) for event in events if event['ph'] == 'X')
    rows_by_end = sorted(
        (row['sName'], int(row['sThread']), int(row['sStart']) + int(row['sDuration']),
         int(row['sStart'])) for row in rows)
    equal(events_by_end, rows_by_end)
    equal({event['args']['tokens'] for event in events if event['name'] == 'decode'}, {10})
    equal(sum(event['ph'] == 's' for event in events), REQUESTS // 2)
    values = [float(row['aValue']) for row in table(directory, 'app_metrics') if row['aValue']]
    equal([event['args']['value'] for event in events if event['ph'] == 'C'], values)


main(text, openmetrics, values_as_json, traces, recorded)
