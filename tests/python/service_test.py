"""Requests and health, and the service of examples/serve_http.py."""
import asyncio
import contextlib
import json
import math
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pitot
from support import TestCase, python

ROOT = pathlib.Path(__file__).resolve().parents[2]


class RequestMetricsTest(TestCase):
    def test_metrics(self):
        """C248 to C258: the five metrics of document 2, what a request does to them"""
        # C248 C249 C250 C251 C252 C254 C255 C256 C257 C258
        out = python('''
            import datetime, pitot
            metrics = pitot.RequestMetrics()
            metrics.record_request(0.5, 100)
            metrics.record_request(datetime.timedelta(seconds=2), tokens=50)
            metrics.record_request(0, 10)
            metrics.active_requests.set(3)
            print(metrics.requests_total.value, metrics.tokens_per_second.value)
            print(pitot.metrics_text())
        ''')
        self.assertTrue(out.startswith('3 25.0\n'), out[:20])
        for line in ('# HELP requests_total Total requests', 'requests_total 3',
                     '# HELP request_duration_seconds Request duration',
                     'request_duration_seconds_count 3', 'request_duration_seconds_sum 2.5',
                     '# HELP active_requests Active requests', 'active_requests 3',
                     '# HELP tokens_per_second Tokens per second', 'tokens_per_second 25',
                     '# HELP memory_usage_bytes Memory usage'):
            self.assertIn(line + '\n', out)
        self.assertRegex(out, r'\nmemory_usage_bytes \d+')

    def test_clash(self):
        """C253: a name that another kind of metric has is reported when the metrics are made"""
        out = python('''
            import pitot
            pitot.gauge("requests_total")
            try: pitot.RequestMetrics()
            except ValueError as error: print(error)
        ''')
        self.assertIn('used by another kind of metric', out)


class HealthTest(TestCase):
    def test_fields(self):
        """C259 to C265: the fields of document 2; printable, and JSON takes them"""
        # C259 C260 C261 C262 C263 C264 C265
        status = pitot.health()
        fields = ['status', 'latency_p50', 'latency_p95', 'memory_usage_mb', 'gpu_utilization',
                  'error_rate']
        self.assertEqual(list(status.to_dict())[:6], fields)
        self.assertEqual(json.loads(status.to_json()), status.to_dict())
        self.assertRegex(repr(status), r"^HealthStatus\(status='healthy', latency_p50=")
        self.assertIsInstance(status, pitot.HealthStatus)

    def test_probe(self):
        """C266 C267: a probe is timed; the service is ill if it raises or says False"""
        asked = []

        class Engine:
            async def generate(self, text):
                asked.append(text)
                await asyncio.sleep(0)
                if len(asked) == 2:
                    raise RuntimeError('broken')
                return 'fine'

        engine = Engine()
        found = [asyncio.run(pitot.health_check(engine)) for _ in range(2)]
        self.assertEqual([status.status for status in found], ['healthy', 'unhealthy'])
        self.assertEqual(asked, ['test', 'test'])
        self.assertGreater(found[0].probe_seconds, 0)
        self.assertEqual(pitot.health(lambda: engine.generate('a')).status, 'healthy')
        self.assertEqual(pitot.health(lambda: 1 / 0).status, 'unhealthy')
        self.assertEqual(asyncio.run(pitot.health_check(lambda: False)).status, 'unhealthy')

    def test_loop(self):
        """a probe that must be awaited inside a running loop is an error, not unhealthy"""
        async def check():
            return pitot.health(lambda: asyncio.sleep(0))
        self.assertRaisesRegex(RuntimeError, 'await pitot.health_check', asyncio.run, check())

    def test_cancellation(self):
        """a health check that is cancelled is cancelled, and not ill"""
        async def check():
            task = asyncio.ensure_future(pitot.health_check(lambda: asyncio.sleep(3600)))
            await asyncio.sleep(0)
            task.cancel()
            await task
        self.assertRaises(asyncio.CancelledError, asyncio.run, check())

    def test_readings(self):
        """C268 C269 C270 C271: latencies, memory, GPU and errors, one by one"""
        out = python('''
            import json, math, pitot
            print(math.isnan(pitot.get_latency_percentile(0.5)), pitot.get_error_rate())
            for i in range(100): pitot.record_request(0.1 if i < 90 else 1.0, ok=i % 4 > 0)
            print(json.dumps([pitot.get_latency_percentile(0.5), pitot.get_latency_percentile(0.95),
                  pitot.get_error_rate(), pitot.get_memory_usage_mb()]))
            print(pitot.get_gpu_utilization())
        ''', PITOT_NVML='/nonexistent/libnvml.so').splitlines()
        self.assertEqual((out[0], out[2]), ('True 0.0', 'nan'))
        p50, p95, errors, memory = json.loads(out[1])
        self.assertAlmostEqual(p50 / 0.1, 1, delta=0.02)
        self.assertAlmostEqual(p95 / 1.0, 1, delta=0.02)
        self.assertEqual(errors, 0.25)
        self.assertGreater(memory, 1)


@contextlib.contextmanager
def service():
    program = ROOT / 'examples' / 'serve_http.py'
    process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True,
                               env=os.environ)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def get(url, accept=None):
    request = urllib.request.Request(url, headers={'Accept': accept} if accept else {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers['Content-Type'], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers['Content-Type'], error.read().decode()


class ServeTest(TestCase):
    def test_service(self):
        """C238 C257 C265: examples/serve_http.py answers, and tells of itself"""
        with service() as url:
            self.assertEqual(get(f'{url}/generate?text=a+b+c')[::2], (200, 'c b a\n'))
            self.assertEqual(get(f'{url}/generate')[::2], (400, 'there is no text\n'))
            self.assertEqual(get(f'{url}/nowhere')[0], 404)
            status, kind, text = get(f'{url}/metrics')
            self.assertEqual(status, 200)
            self.assertTrue(kind.startswith('text/plain; version=0.0.4'), kind)
            self.assertIn('\nrequests_total 2\n', text)
            self.assertIn('\nrequest_errors_total 1\n', text)
            _, kind, text = get(f'{url}/metrics', 'application/openmetrics-text; version=1.0.0')
            self.assertTrue(kind.startswith('application/openmetrics-text'), kind)
            self.assertTrue(text.endswith('# EOF\n'))
            status, kind, text = get(f'{url}/health')
            health = json.loads(text)
            self.assertEqual((status, kind, health['status']), (200, 'application/json', 'healthy'))
            self.assertEqual(health['error_rate'], 0.5)
            self.assertFalse(math.isnan(health['latency_p50']))
