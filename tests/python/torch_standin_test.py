"""What pitot asks of a torch of another version, or with a GPU: by a stand-in."""
import json
import os
import pathlib
import sys
import tempfile
import types
from unittest import mock

import pitot
from pitot.measure import PerformanceProfiler
from pitot.metrics import GPUMonitor, MetricsCollector, MetricsConfig, trace
from support import TestCase, recording


class Cuda:
    """A GPU with 300 MB in use of 400 MB that torch holds, and 350 MB at most so far."""

    is_available = staticmethod(lambda: True)
    memory_allocated = staticmethod(lambda: 300 << 20)
    memory_reserved = staticmethod(lambda: 400 << 20)
    max_memory_allocated = staticmethod(lambda: 350 << 20)
    utilization = staticmethod(lambda: 64)
    synchronize = staticmethod(lambda: None)


class Counter:
    """As FlopCounterMode of torch 2.1 and later."""

    def __init__(self, display):
        self.calls = [display]

    def __enter__(self):
        self.calls.append('enter')

    def __exit__(self, *error):
        self.calls.append('exit')

    def get_total_flops(self):
        return 42 if self.calls == [False, 'enter', 'exit'] else None


def standin():
    torch = types.ModuleType('torch')
    torch.cuda = Cuda
    utils = types.ModuleType('torch.utils')
    flop_counter = types.ModuleType('torch.utils.flop_counter')
    flop_counter.FlopCounterMode = Counter
    return mock.patch.dict(sys.modules, {'torch': torch, 'torch.utils': utils,
                                         'torch.utils.flop_counter': flop_counter})


class Profiler:
    """As torch.profiler.profile with kineto: real threads, times since 1970, a dict."""

    def __init__(self, anchors_us, events):
        self._events = [*events, *({'ph': 'X', 'name': name, 'pid': 7, 'tid': 8, 'ts': ts,
                                    'dur': dur} for name, ts, dur in anchors_us)]

    def export_chrome_trace(self, path):
        pathlib.Path(path).write_text(json.dumps({'schemaVersion': 1, 'traceEvents': self._events}))


class StandinTest(TestCase):
    def test_flops(self):
        """C292: from torch 2.1 on FLOPs are those of FlopCounterMode"""
        with standin():
            profiler = PerformanceProfiler(estimate_flops=True)
            with profiler.profile('x'):
                pass
        self.assertEqual(profiler.get_metrics().compute.estimated_flops, 42)

    def test_broken(self):
        """C230: a torch that cannot count is not an error"""
        broken = {'torch': types.ModuleType('torch'), 'torch.utils': None}
        with mock.patch.dict(sys.modules, broken):
            profiler = PerformanceProfiler(estimate_flops=True)
            with profiler.profile('x'):
                pass
        self.assertTrue(profiler.has_results())

    def test_memory(self):
        """C171 C173 C198: memory of torch on a GPU, its peak and its fragmentation"""
        self.addCleanup(pitot.configure, enable_metrics=False)
        with standin():
            collector = MetricsCollector(MetricsConfig(enable_metrics=True,
                                                       collect_memory_detailed=True))
            collector.record_memory()
            details = collector.memory_details()
        self.assertEqual(collector.memory_metrics[0][1], 300.0)
        self.assertEqual((details['peak_gpu_mb'], details['fragmentation']), (350.0, 0.25))

    def test_utilization(self):
        """C202: without NVML torch is asked how busy the GPU is"""
        monitor = GPUMonitor(MetricsConfig())
        monitor.enabled = True
        with standin():
            self.assertEqual(monitor.gpu_utilization, 64.0)

    def test_trace(self):
        """C217: a trace of kineto is set to Pitot's clock by the shortest of its anchors"""
        anchors = [trace.Anchor('a', 1000.0), trace.Anchor('b', 2000.0)]
        profiler = Profiler(
            [('a', 5_000_000.0, 400.0), ('b', 5_001_095.0, 10.0)],
            [{'ph': 'X', 'name': 'aten::mm', 'pid': 7, 'tid': 8, 'ts': 5_001_200.0, 'dur': 5.0},
             {'ph': 'X', 'name': 'kernel', 'pid': 0, 'tid': 20, 'ts': 5_001_300.0, 'dur': 5.0},
             {'ph': 'M', 'name': 'process_name', 'pid': 0, 'args': {'name': 'GPU 0'}},
             {'ph': 'M', 'name': 'thread_name', 'pid': 7, 'tid': 8, 'args': {'name': 'thread'}}])
        with tempfile.TemporaryDirectory() as directory, recording():
            path = f'{directory}/trace.json'
            trace.write(path, profiler, anchors, 0)
            events = json.loads(pathlib.Path(path).read_text())['traceEvents']
            self.assertEqual(os.listdir(directory), ['trace.json'])
        own = {event['name']: event for event in events if event.get('cat') == 'torch'}
        self.assertEqual(set(own), {'aten::mm', 'kernel', 'process_name'})
        # The middle of b, 5,001,100, was at 2,000 us of the monotonic clock.
        self.assertEqual((own['aten::mm']['ts'], own['kernel']['ts']), (2100.0, 2200.0))
        self.assertEqual((own['aten::mm']['pid'], own['kernel']['pid']), (os.getpid(), 0))
        self.assertIn({'name': 'torch 1'}, [event.get('args') for event in events])
