"""PerformanceProfiler and PerformanceMetrics."""
import dataclasses
import json
import math
import os
import pickle
import threading

import pitot
from pitot.measure import PerformanceMetrics, PerformanceProfiler
from support import TestCase, names, python, record, scripted_gpus

SECTIONS = {
    'memory': 'initial_ram_mb peak_ram_mb final_ram_mb peak_gpu_mb memory_leak_detected',
    'timing': 'wall_time_s cpu_time_s user_time_s system_time_s',
    'compute': 'estimated_flops flops_per_second gpu_utilization_percent cpu_utilization_percent',
    'system': 'cpu_percent memory_percent disk_io_percent network_io_mb',
}


def changed(metrics, **sections):
    """A copy with other figures in its sections."""
    made = {name: dataclasses.replace(getattr(metrics, name), **figures)
            for name, figures in sections.items()}
    return dataclasses.replace(metrics, **made)


class MeasureTest(TestCase):
    def test_defaults(self):
        """C272 C273 C274 C275 C276 C277: the parameters and defaults of document 3"""
        profiler = PerformanceProfiler()
        self.assertEqual((profiler.track_gpu, profiler.track_carbon, profiler.detailed_memory,
                          profiler.memory_interval, profiler.enable_line_profiling,
                          profiler.estimate_flops), (True, False, False, 0.5, False, False))
        self.assertIs(pitot.PerformanceProfiler, PerformanceProfiler)
        for bad in (0, -1, 1e9, math.nan):
            self.assertRaisesRegex(ValueError, 'memory_interval', PerformanceProfiler,
                                   memory_interval=bad)

    def test_fields(self):
        """C295 to C311: all figures of document 3 are there"""
        # C295 C296 C297 C298 C299 C300 C301 C302 C303 C304 C305 C306 C307 C308 C309 C310 C311
        profiler = PerformanceProfiler()
        with profiler.profile('all'):
            pass
        metrics = profiler.get_metrics()
        for section, fields in SECTIONS.items():
            for field in fields.split():
                self.assertTrue(hasattr(getattr(metrics, section), field), f'{section}.{field}')
        self.assertGreaterEqual(metrics.memory.peak_ram_mb, metrics.memory.final_ram_mb)
        self.assertAlmostEqual(metrics.timing.cpu_time_s, metrics.timing.user_time_s
                               + metrics.timing.system_time_s, places=6)
        self.assertIsNone(metrics.compute.estimated_flops)
        self.assertIsNone(metrics.memory.memory_leak_detected)

    def test_memory(self):
        """C281 C287 C295 C299: memory that comes and goes is the peak, and not the end"""
        profiler = PerformanceProfiler(detailed_memory=True, memory_interval=0.01)
        with profiler.profile('peak') as operation:
            block = bytearray(64 << 20)
            inside = profiler.get_current_memory()
            while len(profiler.get_memory_samples()) < 3:
                pass
            del block
            operation.step()
        memory = profiler.get_metrics().memory
        self.assertGreater(inside - memory.initial_ram_mb, 60)
        self.assertGreater(memory.peak_ram_mb - memory.final_ram_mb, 60)
        self.assertEqual(memory.steps, 1)
        seconds = [at for at, _ in profiler.get_memory_samples()]
        self.assertEqual(seconds, sorted(seconds))

    def test_leak_by_steps(self):
        """C274 C298: growth from step to step is a leak, none is none"""
        profiler = PerformanceProfiler(detailed_memory=True)
        kept = []
        for name, size in (('leaks', 2 << 20), ('holds', 0)):
            with profiler.profile(name) as operation:
                for _ in range(60):
                    kept.append(bytearray(size))
                    operation.step()
        self.assertIs(profiler.get_metrics('leaks').memory.memory_leak_detected, True)
        self.assertAlmostEqual(profiler.get_metrics('leaks').memory.growth_mb_per_step, 2,
                               delta=0.3)
        self.assertIs(profiler.get_metrics('holds').memory.memory_leak_detected, False)

    def test_names(self):
        """C279 C280 C283 C285: metrics of the last operation, and of that with a name"""
        profiler = PerformanceProfiler()
        self.assertRaisesRegex(LookupError, 'nothing has been profiled', profiler.get_metrics)
        self.assertFalse(profiler.has_results())
        for name in ('load', 'train', 'load', 'größe'):
            with profiler.profile(name):
                pass
        self.assertEqual(profiler.get_metrics().operation, 'größe')
        self.assertEqual(profiler.get_metrics('load').operation, 'load')
        self.assertEqual(list(profiler.get_timing_breakdown()), ['load', 'train', 'größe'])
        self.assertTrue(profiler.has_results())
        self.assertRaisesRegex(LookupError, "'what'.*'load', 'train'", profiler.get_metrics, 'what')
        self.assertRaisesRegex(TypeError, 'str, not 5', profiler.profile, 5)

    def test_keywords(self):
        """C278 C280: operations are named by the parameter of document 3"""
        profiler = PerformanceProfiler()
        for name in ('load', 'train'):
            with profiler.profile(operation_name=name):
                pass
        self.assertEqual(profiler.get_metrics(operation_name='load').operation, 'load')

    def test_exception(self):
        """C284 C286: an exception goes on as it is, and the operation is recorded as failed"""
        profiler = PerformanceProfiler()
        raised = KeyError('x')
        with self.assertRaises(KeyError) as caught:
            with profiler.profile('fails'):
                raise raised
        self.assertIs(caught.exception, raised)
        self.assertTrue(profiler.has_results())
        metrics = profiler.get_metrics()
        self.assertEqual((metrics.has_failed, metrics.is_complete), (True, True))

    def test_running(self):
        """C279: an operation that still runs has its figures so far; blocks nest and overlap"""
        profiler = PerformanceProfiler()
        with profiler.profile('outer'):
            with profiler.profile('inner'):
                self.assertFalse(profiler.get_metrics().is_complete)
            self.assertTrue(profiler.get_metrics('inner').is_complete)
        threads = [threading.Thread(target=self._one, args=(profiler, f'thread {i}'))
                   for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(profiler.get_timing_breakdown()), 10)

    @staticmethod
    def _one(profiler, name):
        for _ in range(50):
            with profiler.profile(name) as operation:
                operation.step()

    def test_summary(self):
        """C313: one line, in GB from 1024 MB on, and without a GPU nothing of it"""
        profiler = PerformanceProfiler(track_gpu=False)
        with profiler.profile('x'):
            pass
        metrics = profiler.get_metrics()
        known = changed(metrics, memory={'peak_ram_mb': 2457.6}, timing={'wall_time_s': 45.2},
                        compute={'gpu_utilization_percent': 78.0})
        self.assertEqual(known.summary(), 'Peak RAM: 2.4 GB, Wall Time: 45.2s, GPU Util: 78%')
        for mb, text in ((1023.9, '1023.9 MB'), (1023.96, '1.0 GB'), (1024.0, '1.0 GB'),
                         (0.04, '0.0 MB'), (None, 'unknown')):
            some = changed(metrics, memory={'peak_ram_mb': mb}, timing={'wall_time_s': 0.04})
            self.assertEqual(some.summary(), f'Peak RAM: {text}, Wall Time: 0.0s')

    def test_to_dict(self):
        """C312: a dict of dicts that JSON takes; metrics are dataclasses, and are pickled"""
        profiler = PerformanceProfiler(track_carbon=True)
        with profiler.profile('x'):
            pass
        metrics = profiler.get_metrics()
        known = json.loads(json.dumps(metrics.to_dict()))
        self.assertEqual(known['timing']['wall_time_s'], metrics.timing.wall_time_s)
        self.assertEqual(dataclasses.asdict(metrics), metrics.to_dict())
        self.assertIsInstance(metrics, pitot.PerformanceMetrics)
        self.assertEqual(pickle.loads(pickle.dumps(metrics)), metrics)
        self.assertIs(PerformanceMetrics, pitot.PerformanceMetrics)

    def test_carbon(self):
        """C273 C290: energy and carbon with their errors if asked for, else not known"""
        for asked in (True, False):
            profiler = PerformanceProfiler(track_carbon=asked)
            with profiler.profile('x'):
                sum(range(200_000))
            energy = profiler.get_metrics().energy
            if asked and energy.source is not None:
                self.assertGreater(energy.energy_joules, 0)
                self.assertGreater(energy.carbon_grams, 0)
                self.assertIn(energy.source, ('measured', 'modelled'))
            else:
                self.assertIsNone(energy.energy_joules)

    def test_flops(self):
        """C277 C292 C304 C305: FLOPs that the program knows are those of the operation"""
        profiler = PerformanceProfiler()
        with profiler.profile('matmul') as operation:
            operation.add_flops(2 * 32 * 784 * 512)
            operation.add_flops(2 * 32 * 512 * 10)
        compute = profiler.get_metrics().compute
        self.assertEqual(f'{compute.estimated_flops:,}', '26,017,792')
        self.assertEqual(compute.flops_source, 'analytical')
        self.assertGreater(compute.flops_per_second, 0)

    def test_gpu(self):
        """C282 C288 C289 C294 C297 C306: memory and load of a GPU, and nothing if not tracked"""
        out = python('''
            from pitot.measure import PerformanceProfiler
            for track in (False, True):
                profiler = PerformanceProfiler(track_gpu=track, memory_interval=0.01)
                with profiler.profile("x"):
                    fraction = profiler.get_current_gpu_memory() if track else None
                    now = profiler.get_metrics
                    while track and now().compute.gpu_utilization_percent is None: pass
                metrics = profiler.get_metrics()
                compute = metrics.compute
                print(fraction, metrics.memory.peak_gpu_mb, compute.gpu_utilization_percent)
            print(metrics.summary().partition("s, ")[2])
        ''', **scripted_gpus())
        self.assertEqual(out.splitlines(),
                         ['None None None', '0.24375 19968.0 85.0', 'GPU Util: 85%'])

    def test_no_gpu(self):
        """C282: without a GPU its memory is neither above nor below a limit"""
        fraction = PerformanceProfiler().get_current_gpu_memory()
        if not math.isnan(fraction):
            self.skipTest('there is a GPU')
        self.assertFalse(fraction > 0.9 or fraction <= 0.9)

    def test_span(self):
        """an operation is a span under the recorder"""
        recorded = record('''
            from pitot.measure import PerformanceProfiler
            with PerformanceProfiler().profile("an operation"): pass
        ''')
        self.assertEqual(names(recorded), ['an operation'])

    def test_fork(self):
        """an operation that is open at a fork stays that of the parent"""
        profiler = PerformanceProfiler()
        with profiler.profile('parent'):
            child = os.fork()
            if child == 0:
                with profiler.profile('child'):
                    pass
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(list(profiler.get_timing_breakdown()), ['parent'])
