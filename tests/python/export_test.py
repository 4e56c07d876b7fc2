"""Metrics as text and spans as traces, as parsers of others see them; requests and health."""
import gzip
import json
import math
import pathlib
import tempfile

import pitot
from support import TestCase, needs, python, recording


def trace_events(name='trace.json'):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, name)
        pitot.trace(path)
        data = path.read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith('.gz') else data)
    return trace['traceEvents'] if isinstance(trace, dict) else trace


class ExportTest(TestCase):
    def test_texts(self):
        """metrics come as Prometheus text, OpenMetrics, protobuf and JSON"""
        with recording():
            pitot.counter('export_test_total', 'Counted', model='a').inc(3)
            text = pitot.metrics_text()
            self.assertIn('export_test_total{model="a"} 3\n', text)
            self.assertIn('# TYPE export_test_total counter\n', text)
            self.assertTrue(pitot.metrics_text('openmetrics').endswith('# EOF\n'))
            self.assertIn(b'export_test_total', pitot.metrics_text('protobuf'))
            self.assertIn('export_test', json.dumps(json.loads(pitot.metrics_text('json'))))
            self.assertRaisesRegex(ValueError, 'prometheus, openmetrics', pitot.metrics_text, 'xml')

    @needs('prometheus_client')
    def test_parser(self):
        """the parser of prometheus_client finds the same values"""
        from prometheus_client.parser import text_string_to_metric_families
        with recording():
            pitot.counter('parsed_total', 'A "quoted" help', path='a\\b"c\nd').inc(7)
            pitot.gauge('parsed_gauge').set(-2.5)
            sizes = pitot.histogram('parsed_sizes')
            for value in (0.01, 0.2, 3):
                sizes.observe(value)
            families = list(text_string_to_metric_families(pitot.metrics_text()))
        samples = {(s.name, tuple(s.labels.items())): s.value for f in families for s in f.samples}
        self.assertEqual(samples['parsed_total', (('path', 'a\\b"c\nd'),)], 7)
        self.assertEqual(samples['parsed_gauge', ()], -2.5)
        self.assertEqual(samples['parsed_sizes_count', ()], 3)
        self.assertEqual(samples['parsed_sizes_bucket', (('le', '+Inf'),)], 3)

    def test_buckets(self):
        """buckets of Prometheus text can be chosen, if they rise"""
        with recording():
            sizes = pitot.histogram('bucket_sizes', buckets=(10, 20.5))
            for value in (5, 15, 25):
                sizes.observe(value)
            counts = [line.rpartition(' ')[2] for line in pitot.metrics_text().splitlines()
                      if line.startswith('bucket_sizes_bucket')]
            self.assertEqual(counts, ['1', '2', '3'])
            for bad in ((2, 1), ('x',), [1] * 10000):
                self.assertRaises(ValueError, sizes.set_buckets, bad)
            self.assertRaises(TypeError, sizes.set_buckets, 5)

    def test_negotiation(self):
        """an Accept header chooses the format, and the type says which it was"""
        body, kind = pitot.metrics_response()
        self.assertTrue(kind.startswith('text/plain'))
        self.assertIsInstance(body, bytes)
        _, kind = pitot.metrics_response('application/openmetrics-text;version=1.0.0')
        self.assertTrue(kind.startswith('application/openmetrics-text'))

    def test_trace(self):
        """a trace has the spans that were recorded, compressed if the name says so"""
        with recording():
            with pitot.span('trace outer', request=77):
                with pitot.span('trace inner', tokens=5):
                    pass
            for name in ('trace.json', 'trace.json.gz'):
                events = {e['name']: e for e in trace_events(name) if e.get('ph') == 'X'}
                outer, inner = events['trace outer'], events['trace inner']
                self.assertLessEqual(outer['ts'], inner['ts'])
                self.assertLessEqual(inner['ts'] + inner['dur'], outer['ts'] + outer['dur'])
        with self.assertRaises(FileNotFoundError) as caught:
            pitot.trace('/nonexistent/trace.json')
        self.assertEqual(caught.exception.filename, '/nonexistent/trace.json')

    def test_requests(self):
        """requests give latencies, errors and health; a probe may say or raise that it is ill"""
        out = python('''
            import pitot
            print(pitot.health().to_json())
            pitot.start()
            for _ in range(9): pitot.record_request(0.25, 100)
            pitot.record_request(2.0, tokens=10, ok=False)
            pitot.request_begin(); pitot.request_begin(); pitot.request_end()
            print(pitot.health(lambda: None).to_json())
            print([pitot.health(probe).status for probe in
                   (None, lambda: True, lambda: False, lambda: 1 / 0, lambda: [][1])])
            try:
                pitot.health(lambda: exit(3))
            except SystemExit as error:
                print("raised", error.code)
            for bad in (None, "x", -1, float("nan")): pitot.record_request(bad, bad)
            text = pitot.metrics_text()
            print(*[line for line in text.splitlines() if line.startswith("active_requests ")])
        ''').splitlines()
        before, after = json.loads(out[0]), json.loads(out[1])
        self.assertEqual((before['status'], before['latency_p50'], before['error_rate']),
                         ('healthy', None, 0))
        self.assertAlmostEqual(after['latency_p50'] / 0.25, 1, delta=0.02)
        self.assertAlmostEqual(after['latency_p95'] / 2, 1, delta=0.02)
        self.assertEqual(after['error_rate'], 0.1)
        self.assertGreater(after['memory_usage_mb'], 1)
        self.assertFalse(math.isnan(after['probe_seconds']))
        self.assertEqual(out[2], "['healthy', 'healthy', 'unhealthy', 'unhealthy', 'unhealthy']")
        self.assertEqual(out[3:], ['raised 3', 'active_requests 1'])

    def test_settings(self):
        """settings change together or not at all, and have the defaults of the documents"""
        out = python('''
            import pitot
            s = pitot.settings()
            print(s["enable_metrics"], s["metrics_log_interval"], s["profiler_trace_dir"])
            pitot.configure(enable_metrics=True, min_duration=0.25, profiler_trace_dir="d/e")
            s = pitot.settings()
            print(pitot.is_on(), s["min_duration"], s["profiler_trace_dir"])
            for bad in ({"what": 1}, {"min_duration": "x"},
                        {"debug_mode": True, "history_spans": -1}):
                try: pitot.configure(**bad)
                except ValueError as error: print(error)
            assert pitot.settings() == s
            pitot.configure(enable_metrics=False)
            print(pitot.is_on())
        ''').splitlines()
        self.assertEqual(out[:3], ['False 10 traces', 'True 0.25 d/e',
                                   'what: unknown setting'])
        self.assertIn('min_duration', out[3])
        self.assertIn('history_spans', out[4])
        self.assertEqual(out[5], 'False')

    def test_start(self):
        """start() takes a directory, and says what is wrong with it"""
        out = python('''
            import os, pathlib, tempfile, pitot
            try: pitot.start("/nonexistent/place")
            except FileNotFoundError as error: print(error.filename, pitot.is_on())
            with tempfile.TemporaryDirectory() as directory:
                pitot.start(pathlib.Path(directory))
                with pitot.span("x"): pass
                print(len(os.listdir(directory)), pitot.is_on())
            pitot.stop()
            print(pitot.is_on())
        ''')
        self.assertEqual(out, '/nonexistent/place False\n1 True\nFalse\n')
