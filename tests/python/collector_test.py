"""pitot.metrics: config, collector, GPU monitor and profiler, without torch."""
import dataclasses
import json
import logging
import pathlib
import tempfile
import time
from collections import deque

import pitot
from pitot.metrics import (DEBUG_PERFORMANCE, DEBUG_PROFILING, GPUMonitor, MetricsCollector,
                           MetricsConfig, ProfilerManager)
from pitot.metrics.budget import Budget
from support import TestCase, names, python, record, recording, scripted_gpus

DEFAULTS = {
    'enable_metrics': False, 'enable_profiler': False, 'enable_gpu_monitoring': False,
    'collect_timing': True, 'collect_throughput': True, 'collect_memory_basic': True,
    'collect_gpu_utilization': False, 'collect_memory_detailed': False,
    'collect_component_profiling': False, 'profiler_record_shapes': False,
    'profiler_profile_memory': False, 'profiler_with_stack': False,
    'profiler_export_interval': 1000, 'profiler_trace_dir': 'traces', 'metrics_log_interval': 10,
    'gpu_monitor_interval': 1.0, 'memory_cleanup_check_interval': 50, 'auto_disable_on_slow': True,
    'performance_threshold': 0.05,
}


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Collecting(TestCase):
    def collector(self, **settings):
        self.addCleanup(pitot.configure, enable_metrics=False)
        return MetricsCollector(MetricsConfig(**{'enable_metrics': True, **settings}))


class ConfigTest(TestCase):
    def test_defaults(self):
        """C166 to C185: the settings of document 1, their order and their defaults"""
        # C166 C167 C168 C169 C170 C171 C172 C173 C174 C175 C176 C177 C178 C179 C180 C181 C182 C183
        # C184 C185
        config = MetricsConfig()
        self.assertEqual(list(dataclasses.asdict(config).items()), list(DEFAULTS.items()))
        kinds = {field.name: field.type for field in dataclasses.fields(config)}
        self.assertEqual(kinds, {name: type(value) for name, value in DEFAULTS.items()})

    def test_library(self):
        """C185: libpitot knows every setting by the same name, with the same default"""
        known = python('import pitot, json; print(json.dumps(pitot.settings()))')
        known = json.loads(known)
        self.assertEqual({name: known.get(name) for name in DEFAULTS}, DEFAULTS)

    def test_levels(self):
        """C221: two levels that logging knows by name"""
        self.assertEqual(logging.getLevelName(DEBUG_PERFORMANCE), 'DEBUG_PERFORMANCE')
        self.assertEqual(logging.getLevelName(DEBUG_PROFILING), 'DEBUG_PROFILING')
        self.assertLess(DEBUG_PROFILING, DEBUG_PERFORMANCE)
        self.assertLess(DEBUG_PERFORMANCE, logging.INFO)

    def test_modules(self):
        """C220: a module for each of collector, profiler, GPU monitor and config"""
        from pitot.metrics import collector, config, gpu_monitor, profiler
        self.assertIs(collector.MetricsCollector, MetricsCollector)
        self.assertIs(config.MetricsConfig, MetricsConfig)
        self.assertIs(gpu_monitor.GPUMonitor, GPUMonitor)
        self.assertIs(profiler.ProfilerManager, ProfilerManager)


class CollectorTest(Collecting):
    def test_storage(self):
        """C187 C188 C189 C190 C191: bounded deques, None where a part is off; a lock if needed"""
        collector = MetricsCollector(MetricsConfig())
        self.assertEqual([kept.maxlen for kept in (collector.timing_metrics,
                         collector.throughput_metrics, collector.memory_metrics)],
                         [1000, 1000, 500])
        self.assertIsInstance(collector.timing_metrics, deque)
        self.assertIsNone(collector._lock)
        bare = MetricsCollector(MetricsConfig(
            collect_timing=False, collect_throughput=False, collect_memory_basic=False,
            enable_gpu_monitoring=True))
        self.assertEqual((bare.timing_metrics, bare.throughput_metrics, bare.memory_metrics),
                         (None, None, None))
        self.assertIsNotNone(bare._lock)

    def test_off(self):
        """C186 C193 C227: with the master switch or timing off nothing is recorded or started"""
        off = MetricsCollector(MetricsConfig())
        self.assertFalse(off.enabled)
        with off.time_component('x'):
            busy(0.002)
        off.record_throughput(samples=3, seconds=1)
        off.record_memory()
        self.assertEqual(off.step(), 0)
        self.assertEqual([*off.timing_metrics, *off.throughput_metrics, *off.memory_metrics], [])
        self.assertFalse(pitot.is_on())
        self.assertTrue(self.collector().enabled)
        untimed = self.collector(collect_timing=False)
        with untimed.time_component('x'):
            pass
        self.assertIsNone(untimed.timing_metrics)

    def test_timing(self):
        """C192 C194 C195 C196: (name, seconds, time) of blocks above 1 ms, which nest"""
        collector = self.collector()
        before = time.time()
        with collector.time_component('outer') as given:
            with collector.time_component('short'):
                pass
            with collector.time_component('inner'):
                busy(0.002)
        self.assertIsNone(given)
        self.assertTrue(all(entry[1] >= 0.001 for entry in collector.timing_metrics))
        # A busy machine may hold up the short one.
        (inner, seconds, at), outer = (entry for entry in collector.timing_metrics
                                       if entry[0] != 'short')
        self.assertEqual((inner, outer[0]), ('inner', 'outer'))
        self.assertTrue(0.002 <= seconds <= outer[1])
        self.assertTrue(before <= at <= outer[2] <= time.time())

    def test_exception(self):
        """C192 C230: a block that raises is recorded, and the exception goes on"""
        collector = self.collector()
        raised = ValueError()
        with self.assertRaises(ValueError) as caught:
            with collector.time_component('raises'):
                busy(0.002)
                raise raised
        self.assertIs(caught.exception, raised)
        self.assertEqual(collector.timing_metrics[0][0], 'raises')

    def test_bounded(self):
        """C190: the newest 1000 timings are kept"""
        collector = self.collector()
        for i in range(1500):
            collector.timing_metrics.append((str(i), 1.0, 0.0))
        self.assertEqual(collector.timing_metrics[0][0], '500')

    def test_histogram(self):
        """C194: however short, a block is in the histogram of its component"""
        collector = self.collector()
        for _ in range(5):
            with collector.time_component('histogram test'):
                pass
        self.assertIn('component_seconds_count{component="histogram test"} 5\n',
                      pitot.metrics_text())

    def test_throughput(self):
        """C197: samples, flows and tokens per second"""
        collector = self.collector()
        collector.record_throughput(samples=64, flows=3, seconds=0.5)
        collector.record_throughput(tokens=10, seconds=2)
        for samples, seconds in ((1, 0), (None, 1), ('x', 1), (1, -1)):
            collector.record_throughput(samples=samples, seconds=seconds)
        self.assertEqual([record[:2] for record in collector.throughput_metrics],
                         [('samples', 128.0), ('flows', 6.0), ('tokens', 5.0)])
        self.assertIn('\nsamples_per_second 128\n', pitot.metrics_text())

    def test_memory(self):
        """C173 C198: memory of the process at each step; peak in detail if asked for"""
        collector = self.collector(collect_memory_detailed=True)
        first = collector.step()
        self.assertEqual(collector.step(), first + 1)
        ram, gpu, at = collector.memory_metrics[-1]
        self.assertGreater(ram, 1)
        self.assertIsNone(gpu)
        self.assertLessEqual(at, time.time())
        details = collector.memory_details()
        self.assertGreaterEqual(details['peak_ram_mb'], ram * 0.9)
        self.assertEqual(self.collector().memory_details(), {})

    def test_log(self):
        """C180 C199: a line at DEBUG_PERFORMANCE every N steps"""
        collector = self.collector(metrics_log_interval=3)
        with self.assertLogs('pitot.metrics', level=DEBUG_PERFORMANCE) as log:
            done = [collector.step('logged') for _ in range(9)]
        lines = [record for record in log.records if 'logged' in record.getMessage()]
        self.assertEqual(len(lines), sum(step % 3 == 0 for step in done))
        self.assertEqual({record.levelno for record in lines}, {DEBUG_PERFORMANCE})

    def test_leak_log(self):
        """C182: memory that grows from step to step is reported"""
        out = python('''
            import logging, sys
            logging.basicConfig(level=1, stream=sys.stdout, format="%(message)s")
            from pitot.metrics import MetricsCollector, MetricsConfig
            collector = MetricsCollector(MetricsConfig(enable_metrics=True))
            kept = []
            for _ in range(200):
                kept.append(bytearray(1 << 20))
                collector.step()
        ''')
        self.assertRegex(out, '(?i)memory .*(grow|leak)')

    def test_summary(self):
        """C199: averages by component, and which component takes most"""
        collector = self.collector()
        for name, seconds in (('total', 0.4), ('forward', 0.3), ('loss', 0.1), ('total', 0.6)):
            collector.timing_metrics.append((name, seconds, 0.0))
        timing = collector.summary()['timing']
        self.assertEqual((timing['total']['average'], timing['total']['count']), (0.5, 2))
        self.assertEqual(collector.bottleneck(), ('forward', 0.3))
        self.assertIsNone(self.collector().bottleneck())

    def test_spans(self):
        """C192: components are spans of a recorded run"""
        recorded = record('''
            from pitot.metrics import MetricsCollector, MetricsConfig
            collector = MetricsCollector(MetricsConfig(enable_metrics=True))
            with collector.time_component("outer"):
                with collector.time_component("inner"): pass
        ''')
        self.assertEqual(names(recorded), ['inner', 'outer'])

    def test_governor(self):
        """C183 C184 C229: when the governor has switched spans off, components do nothing"""
        collector = self.collector()
        self.assertTrue(pitot.overhead()['spans_on'])
        # What the governor does, at once.
        pitot.configure(collect_timing=False, collect_throughput=False)
        self.addCleanup(pitot.configure, collect_timing=True, collect_throughput=True)
        with collector.time_component('off'):
            busy(0.002)
        self.assertEqual(len(collector.timing_metrics), 0)
        self.assertEqual(pitot.settings()['performance_threshold'], 0.05)

    def test_budget(self):
        """C183 C184: blocks that take too much in three windows one after the other exceed it"""
        clock = {'wall': 0.0, 'cpu': 0.0}
        budget = Budget(1e-4, 0.05, lambda: clock['wall'], lambda: clock['cpu'])

        def window(blocks, seconds):
            budget.left -= blocks
            clock.update(wall=clock['wall'] + seconds, cpu=clock['cpu'] + seconds)
            return budget.is_exceeded()
        self.assertEqual([window(n, 1) for n in (600, 600, 300, 600, 600)], [False] * 5)
        self.assertFalse(window(600, 0.5)) # not yet a second
        self.assertAlmostEqual(budget.fraction, 0.06)
        self.assertTrue(window(600, 0.5))
        self.assertAlmostEqual(budget.fraction, 0.12)

    def test_exceeded(self):
        """C229: a collector whose budget is exceeded switches itself off, and says so"""
        collector = self.collector()
        collector._budget = budget = Budget(1e-4, 0.05)
        budget.is_exceeded, budget.fraction = lambda: True, 0.2
        with self.assertLogs('pitot.metrics', level='WARNING') as log:
            while collector.enabled:
                with collector.time_component('x'):
                    pass
        self.assertIn('turned off: components take 20 % of the CPU time, more than 5 % (',
                      log.output[0])

    def test_calibration(self):
        """C229: the collector knows what a block costs, and leaves no trace of finding out"""
        out = python('''
            import pitot
            import pitot.metrics.collector
            from pitot.metrics import MetricsCollector, MetricsConfig
            pitot.metrics.collector._MIN_SECONDS = 0 # as if every block had been interrupted
            collector = MetricsCollector(MetricsConfig(enable_metrics=True))
            print(collector._budget.cost > 0, len(collector.timing_metrics))
            print(pitot.overhead()["spans"], "component_seconds" in pitot.metrics_text())
            off = MetricsCollector(MetricsConfig(enable_metrics=True, auto_disable_on_slow=False))
            print(off._budget)
        ''')
        self.assertEqual(out, 'True 0\n0 False\nNone\n')

    def test_failure(self):
        """C230 C232: settings that libpitot refuses are reported, and the program continues"""
        with self.assertLogs('pitot.metrics', level='WARNING') as log:
            collector = self.collector(performance_threshold=-1.0)
        self.assertIn('performance_threshold', log.output[0])
        with collector.time_component('x'):
            busy(0.002)
        self.assertEqual(len(collector.timing_metrics), 1)

    def test_bad_name(self):
        """a name that is not a text is reported where it is given"""
        self.assertRaises(TypeError, self.collector().time_component, 5)


class GPUMonitorTest(TestCase):
    def test_disabled(self):
        """C200 C203: disabled it is 0.0 and nothing is initialised"""
        monitor = GPUMonitor(MetricsConfig())
        self.assertEqual((monitor.gpu_utilization, monitor.nvml_available), (0.0, False))
        self.assertFalse(hasattr(monitor, '_last_poll'))

    def test_cache(self):
        """C204 C205: within the interval the value is the previous one"""
        config = MetricsConfig(enable_gpu_monitoring=True, gpu_monitor_interval=3600.0)
        monitor = GPUMonitor(config)
        answers = iter((40.0, 60.0))
        monitor._poll_gpu_utilization = lambda: next(answers)
        self.assertEqual([monitor.gpu_utilization for _ in range(3)], [40.0] * 3)
        self.assertEqual(monitor._cached_utilization, 40.0)
        monitor._last_poll -= 3600
        self.assertEqual(monitor.gpu_utilization, 60.0)

    def test_missing(self):
        """C201 C202 C232: without NVML that is logged, and the load is not known"""
        out = python('''
            import logging, sys
            logging.basicConfig(level=1, stream=sys.stdout, format="%(levelname)s %(message)s")
            from pitot.metrics import GPUMonitor, MetricsConfig
            monitor = GPUMonitor(MetricsConfig(enable_gpu_monitoring=True))
            print(monitor.nvml_available, monitor.gpu_utilization)
        ''', PITOT_NVML='/nonexistent/libnvml.so')
        self.assertEqual(out, 'DEBUG_PERFORMANCE GPU monitoring: NVML not found, using torch '
                              'instead\nFalse nan\n')

    def test_gpu(self):
        """C201 C206 C233: with a GPU, a thread of libpitot asks it and the load is known"""
        out = python('''
            import os
            from pitot.metrics import GPUMonitor, MetricsConfig
            before = len(os.listdir("/proc/self/task"))
            GPUMonitor(MetricsConfig())
            print(len(os.listdir("/proc/self/task")) - before)
            monitor = GPUMonitor(MetricsConfig(enable_gpu_monitoring=True))
            print(monitor.nvml_available, monitor.gpu_utilization)
            print(len(os.listdir("/proc/self/task")) > before)
        ''', **scripted_gpus())
        self.assertEqual(out, '0\nTrue 85.0\nTrue\n')


    def test_hanging_driver(self):
        """C207: a driver that hangs does not hold up the program"""
        with tempfile.NamedTemporaryFile('w', suffix='.script') as script:
            script.write('devices 1\nnvmlDeviceGetUtilizationRates * 85:40 ~\n')
            script.flush()
            out = python('''
                from pitot.metrics import GPUMonitor, MetricsConfig
                monitor = GPUMonitor(MetricsConfig(enable_gpu_monitoring=True,
                                                   gpu_monitor_interval=0.01))
                print(len([monitor.gpu_utilization for _ in range(100000)]))
            ''', **{**scripted_gpus(), 'SCRIPTED_NVML': script.name})
        self.assertEqual(out, '100000\n')


class ProfilerManagerTest(TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def test_disabled(self):
        """C208 C209: disabled it does nothing and counts nothing"""
        manager = ProfilerManager(MetricsConfig())
        with manager.profile_step(step_name='train_step') as handle:
            pass
        self.assertEqual((handle, manager.step_count), (None, 0))

    def test_export(self):
        """C208 C215 C216 C217 C218: every N steps a trace with the spans of that step"""
        out = python(f'''
            import logging, sys
            sys.modules["torch"] = None # as if there were none
            logging.basicConfig(level=1, stream=sys.stdout, format="%(levelname)s %(message)s")
            from pitot.metrics import MetricsCollector, MetricsConfig, ProfilerManager
            config = MetricsConfig(enable_metrics=True, enable_profiler=True,
                                   profiler_export_interval=2,
                                   profiler_trace_dir={self.directory.name!r} + "/t")
            metrics, manager = MetricsCollector(config), ProfilerManager(config)
            for i in range(5):
                with manager.profile_step("train_step"):
                    with metrics.time_component(f"part {{i}}"): pass
            print(manager.step_count)
        ''')
        place = f'{self.directory.name}/t'
        log = 'DEBUG_PROFILING Exported profiler trace: '
        self.assertEqual(out, f'{log}{place}/train_step_step_2.json\n'
                              f'{log}{place}/train_step_step_4.json\n5\n')
        self.assertEqual(sorted(path.name for path in pathlib.Path(place).iterdir()),
                         ['train_step_step_2.json', 'train_step_step_4.json'])
        trace = json.loads(pathlib.Path(place, 'train_step_step_4.json').read_text())
        events = {event['name']: event for event in trace['traceEvents'] if event['ph'] == 'X'}
        self.assertEqual(set(events), {'train_step', 'part 3'})
        self.assertLessEqual(events['train_step']['ts'], events['part 3']['ts'])

    def test_exception(self):
        """C215 C230: a step that raises is a step; a trace that cannot be written is reported"""
        config = MetricsConfig(enable_profiler=True, profiler_export_interval=1,
                               profiler_trace_dir='/proc/nowhere')
        with recording(), self.assertLogs('pitot.metrics', level='WARNING') as log:
            manager = ProfilerManager(config)
            with self.assertRaises(ZeroDivisionError):
                with manager.profile_step():
                    1 / 0
        self.assertEqual(manager.step_count, 1)
        self.assertIn('/proc/nowhere/train_step_step_1.json', log.output[0])

    def test_native(self):
        """C231: nothing but the standard library and libpitot is needed"""
        out = python('''
            import sys
            sys.modules["torch"] = sys.modules["numpy"] = sys.modules["pynvml"] = None
            import pitot.metrics, pitot.measure, pitot.monitoring, pitot.line_profile
            print(pitot.metrics.MetricsConfig().enable_metrics)
        ''')
        self.assertEqual(out, 'False\n')
