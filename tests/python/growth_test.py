"""Objects of the documents' classes that come and go leave no memory behind."""
import gc

import pitot
from pitot import _native
from pitot.measure import PerformanceProfiler
from support import TestCase, python


def grown_mb(work):
    """What the third round of it adds: caches are full by then."""
    work()
    work()
    gc.collect()
    before = _native.current_memory()
    work()
    gc.collect()
    return _native.current_memory() - before


def lines():
    total = 0
    for i in range(10):
        total += i
    return total


class GrowthTest(TestCase):
    def test_operations(self):
        """operations and their metrics leave nothing behind"""
        profiler = PerformanceProfiler(detailed_memory=True)

        def work():
            for i in range(2000):
                with profiler.profile(f'operation {i % 50}') as operation:
                    operation.step()
                profiler.get_metrics().to_dict()
                profiler.get_timing_breakdown()
                profiler.get_memory_samples()
        self.assertLess(grown_mb(work), 2)

    def test_profilers(self):
        """profilers and monitors leave nothing behind"""
        def work():
            for _ in range(300):
                profiler = PerformanceProfiler(track_gpu=False)
                with profiler.profile('x'):
                    pass
                system = pitot.MonitoringSystem()
                system.record_metric('x', 1.0)
                system.check_alerts()
        self.assertLess(grown_mb(work), 2)

    def test_components(self):
        """components leave nothing behind"""
        grown = python('''
            from growth_test import grown_mb
            from pitot.metrics import MetricsCollector, MetricsConfig
            collector = MetricsCollector(MetricsConfig(enable_metrics=True,
                                                       auto_disable_on_slow=False))
            def work():
                for _ in range(200_000):
                    with collector.time_component("x"): pass
                    collector.time_component("never entered")
            print(grown_mb(work))
        ''')
        self.assertLess(float(grown), 2)

    def test_lines(self):
        """line profiles leave nothing behind, nor do those that are never stopped"""
        def work():
            for _ in range(500):
                with pitot.lines(lines) as profile:
                    lines()
                str(profile.report())
            _native.line_clock((lines.__code__,)).enter(lines.__code__)
        self.assertLess(grown_mb(work), 2)

    def test_health(self):
        """readings of health leave nothing behind"""
        def work():
            for _ in range(3000):
                pitot.health(lambda: None).to_json()
                pitot.overhead()
        self.assertLess(grown_mb(work), 2)
