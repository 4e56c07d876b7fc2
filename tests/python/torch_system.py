"""With a real torch: FLOPs, traces of both on one clock, layers, the example that trains."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pitot
import support
from examples_test import run
from pitot.measure import PerformanceProfiler
from pitot.metrics import MetricsCollector, MetricsConfig, ProfilerManager

try:
    import torch
    from torch import nn
except ImportError:
    torch = None

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TestCase(support.TestCase):
    def setUp(self):
        if torch is None:
            self.skipTest('no torch: apt-get install python3-torch')


def network():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


class FlopsTest(TestCase):
    def test_example(self):
        """C277 C292 C304 C305: the example of document 3 counts 26,017,792"""
        out, names = run('FLOPs', PerformanceProfiler=PerformanceProfiler)
        self.assertRegex(out, r'^Estimated FLOPs: 26,017,792\nFLOPS per second: [\d,]+\n$')
        self.assertEqual(names['compute_metrics'].flops_source, 'analytical')

    def test_practices(self):
        """C239 C294: the best practices of document 3, with a large batch"""
        _, names = run('GPU only when needed', PerformanceProfiler=PerformanceProfiler)
        self.assertEqual(names['profiler'].track_gpu, torch.cuda.is_available())
        model = nn.Conv2d(3, 4, 3)
        _, names = run('representative workloads', profiler=names['profiler'], torch=torch,
                       model=model)
        self.assertEqual(tuple(names['predictions'].shape), (128, 4, 222, 222))
        batch_mb = 128 * 3 * 224**2 * 4 / 2**20
        self.assertGreater(names['profiler'].get_metrics().memory.peak_ram_mb, batch_mb)

    def test_exception(self):
        """C286: with FLOPs, too, an exception goes on; nested profilers are not an error"""
        profiler = PerformanceProfiler(estimate_flops=True)
        with self.assertRaises(KeyError):
            with profiler.profile('fails'):
                network()(torch.randn(32, 784))
                raise KeyError('x')
        self.assertEqual(profiler.get_metrics().compute.estimated_flops, 26017792)
        with profiler.profile('outer'):
            with profiler.profile('inner'):
                network()(torch.randn(32, 784))
        self.assertTrue(profiler.get_metrics('inner').is_complete)


class TraceTest(TestCase):
    def traces(self, **settings):
        """What profile_step() gave, and the events of the last step."""
        self.addCleanup(pitot.configure, enable_metrics=False)
        with tempfile.TemporaryDirectory() as directory:
            config = MetricsConfig(enable_metrics=True, enable_profiler=True,
                                   profiler_export_interval=3, profiler_trace_dir=directory,
                                   **settings)
            metrics, manager = MetricsCollector(config), ProfilerManager(config)
            model, batch = network(), torch.randn(64, 784)
            for _ in range(3):
                with manager.profile_step('train_step') as handle:
                    with metrics.time_component('flow_processor'):
                        output = model(batch)
                    with metrics.time_component('loss_computation'):
                        output.sum().backward()
            trace = json.loads(pathlib.Path(directory, 'train_step_step_3.json').read_text())
        return handle, [event for event in trace['traceEvents'] if event.get('ph') == 'X']

    def test_clock(self):
        """C208 C210 C217 C219: operators of torch lie in the spans that they belong to"""
        handle, events = self.traces()
        self.assertIsInstance(handle, torch.profiler.profile)
        spans = {event['name']: event for event in events if event.get('cat') != 'torch'}
        self.assertEqual(set(spans), {'train_step', 'flow_processor', 'loss_computation'})
        operators = [event for event in events if event.get('cat') == 'torch']
        inside = {'aten::linear': 'flow_processor', 'AddmmBackward0': 'loss_computation'}
        for operator, span in inside.items():
            found = [event for event in operators if event['name'] == operator]
            self.assertEqual(len(found), 2, operator)
            for event in found:
                middle = event['ts'] + event['dur'] / 2
                start = spans[span]['ts']
                self.assertTrue(start <= middle <= start + spans[span]['dur'], (event, spans[span]))
        self.assertFalse([event for event in events if event['name'].startswith('pitot: clock')])
        self.assertEqual({event['pid'] for event in events}, {os.getpid()})

    def test_options(self):
        """C174 C211 C212 C213 C214: shapes, memory, stacks and components go to torch's profiler"""
        handle, events = self.traces(
            profiler_record_shapes=True, profiler_profile_memory=True, profiler_with_stack=True,
            collect_component_profiling=True)
        linear = next(event for event in handle.events() if event.name == 'aten::linear')
        self.assertEqual(linear.input_shapes[0], [64, 784])
        self.assertTrue(any(event.cpu_memory_usage > 0 for event in handle.events()))
        own = [event['name'] for event in events if event.get('cat') == 'torch']
        self.assertIn('flow_processor', own)
        self.assertEqual((handle.record_shapes, handle.profile_memory, handle.with_stack),
                         (True, True, True))
        wanted = {torch.profiler.ProfilerActivity.CPU}
        if torch.cuda.is_available():
            wanted.add(torch.profiler.ProfilerActivity.CUDA)
        self.assertEqual(set(handle.activities), wanted)


class LayersTest(TestCase):
    def test_layers(self):
        """calls and time of each layer; outer ones have the time of inner ones"""
        model = network()
        with pitot.torch.watch(model) as layers:
            for _ in range(3):
                model(torch.randn(8, 784))
        model(torch.randn(8, 784))
        rows = {layer.name: layer for layer in layers}
        self.assertEqual(list(rows), ['Sequential', '0', '1', '2'])
        self.assertEqual({layer.calls for layer in layers}, {3})
        inner = sum(rows[name].seconds for name in '012')
        self.assertAlmostEqual(rows['Sequential'].seconds,
                               rows['Sequential'].self_seconds + inner, places=6)
        if not torch.cuda.is_available():
            self.assertEqual({layer.memory_mb for layer in layers}, {None})
        self.assertRegex(str(layers), r'\n +3 +\d\.\d{6} +\d\.\d{6} +.*  0 \(Linear\)\n')

    def test_exception(self):
        """a layer that raises disturbs nothing"""
        model = network()
        with pitot.torch.watch(model) as layers:
            with self.assertRaises(RuntimeError):
                model(torch.randn(8, 3))
            model(torch.randn(8, 784))
        self.assertEqual({layer.calls for layer in layers}, {1})


class TrainTest(TestCase):
    def train(self, *options):
        with tempfile.TemporaryDirectory() as directory:
            done = subprocess.run(
                [sys.executable, str(ROOT / 'examples' / 'train_torch.py'), '--trace-dir',
                 f'{directory}/traces', *options], capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout, done.stderr, sorted(
                path.name for path in pathlib.Path(directory).rglob('*.json'))

    def test_off(self):
        """C222 C224 C227 C238: the example trains, and measures nothing unless asked to"""
        out, log, traces = self.train('--steps', '30')
        first, last = map(float, re.search(r'loss ([\d.]+) to ([\d.]+) in 30', out).groups())
        self.assertLess(last, first)
        self.assertEqual((log, traces), ('', []))

    def test_on(self):
        """C215 C216 C223 C226 C238: with all that can be measured it logs and exports"""
        _, log, traces = self.train('--steps', '50', '--batch', '2048', '--monitor', '--profile',
                                    '--debug')
        steps = re.findall(r'DEBUG_PERFORMANCE step (\d+), flow_processor [\d.]+ ms, '
                           r'loss_computation [\d.]+ ms, total_step [\d.]+ ms, [\d.]+ samples/s',
                           log)
        self.assertEqual(steps, ['10', '20', '30', '40', '50'])
        self.assertEqual(traces, ['train_step_step_50.json'])
        self.assertRegex(log, r'DEBUG_PROFILING Exported profiler trace: .*/train_step_step_50.js')
