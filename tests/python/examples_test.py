"""The examples of the documents run as they are written there."""
import contextlib
import io
import logging
import pathlib
import re
import tempfile
from dataclasses import dataclass
from typing import Optional

import pitot
from pitot.measure import PerformanceProfiler
from support import TestCase

HERE = pathlib.Path(__file__).resolve().parent


def examples():
    text = (HERE / 'examples' / 'document3.md').read_text(encoding='utf-8')
    return dict(re.findall(r'## (.*?)\n\n```python\n(.*?)```', text, re.DOTALL))


def run(name, **names):
    """What it prints; `names` has what it leaves to the reader, and gets what it makes."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(examples()[name], name, 'exec'), names)
    return out.getvalue(), names


class Model:
    fit = forward = __call__ = lambda self, *batch: 0

    def cuda(self):
        return self


class Document3Test(TestCase):
    def test_methods(self):
        """C278 C279 C281 C283 C312: the examples of the methods of document 3 run"""
        _, names = run('a training loop', PerformanceProfiler=PerformanceProfiler, model=Model(),
                       X_train=[], y_train=[])
        out, names = run('last metrics', profiler=names['profiler'])
        self.assertRegex(out, r'^Peak RAM: \d+\.\d+ MB\n$')
        _, names = run('current memory', **names)
        self.assertGreater(names['current_ram'], 1)
        out, names = run('timing breakdown', **names)
        self.assertRegex(out, r'^training_loop: \d\.\d{3}s\n$')
        _, names = run('as a dict', **names)
        self.assertEqual(names['metrics_dict']['operation'], 'training_loop')
        out, _ = run('as a line', **names)
        self.assertRegex(out, r'^Peak RAM: \d+\.\d MB, Wall Time: \d+\.\ds\n$')

    def test_basic(self):
        """C272 C295 C300: basic profiling as in document 3"""
        out, names = run('basic profiling', train_epoch=lambda: sum(range(1000)))
        self.assertRegex(out, r'^Training completed in \d+\.\ds\nPeak memory usage: \d+\.\d MB\n$')
        self.assertTrue(names['profiler'].track_gpu)

    def test_gpu(self):
        """C282 C288 C297: memory of the GPU as in document 3, also without one"""
        out, _ = run('GPU memory', PerformanceProfiler=PerformanceProfiler, LargeModel=Model,
                     dataloader=[Model(), Model()])
        self.assertRegex(out, r'^Peak GPU memory: (None|[\d.]+) MB\n$')

    def test_several(self):
        """C285: several operations as in document 3, with their parts of the whole"""
        out, _ = run('several operations', PerformanceProfiler=PerformanceProfiler,
                     load_dataset=lambda: [1], preprocess=lambda data: data,
                     train_model=lambda data: Model())
        lines = out.splitlines()
        self.assertEqual([line.split(':')[0] for line in lines],
                         ['Operation breakdown', '  data_loading', '  preprocessing', '  training'])
        parts = [float(re.search(r'\((.*)%\)', line)[1]) for line in lines[1:]]
        self.assertAlmostEqual(sum(parts), 100, delta=0.2)

    def test_leak(self):
        """C274 C293 C298 C299: a loop that keeps what it allocates is a leak, as in document 3"""
        kept, names = [], {}

        def allocate_data():
            """Each time the sampler has looked once more, so that it sees the memory grow."""
            profiler = names['profiler']
            seen = len(profiler.get_memory_samples())
            while len(kept) < 40 and len(profiler.get_memory_samples()) == seen:
                pass
            return bytearray(4 << 20 if len(kept) < 40 else 0)
        names.update(PerformanceProfiler=PerformanceProfiler, allocate_data=allocate_data,
                     process_data=kept.append)
        code = examples()['leak']
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, 'leak', 'exec'), names)
        self.assertRegex(out.getvalue(), r'^⚠️ Potential memory leak detected\n'
                                         r'Memory grew from \d+\.\d+MB to \d+\.\d+MB\n$')

    def test_errors(self):
        """C284 C286: results are kept when the operation fails, as in document 3"""
        def risky_operation():
            raise OSError('broken')
        out, names = run('errors', PerformanceProfiler=PerformanceProfiler,
                         risky_operation=risky_operation)
        self.assertRegex(out, r'^Operation failed: broken\nPartial timing: \d+\.\d\ds\n$')
        self.assertTrue(names['partial_metrics'].has_failed)

    def test_practices(self):
        """C275 C293: intervals and names as in document 3"""
        _, names = run('sampling intervals', PerformanceProfiler=PerformanceProfiler)
        _, names = run('descriptive names', profiler=names['profiler'], model=Model(),
                       input_batch=None)
        self.assertEqual(list(names['profiler'].get_timing_breakdown()),
                         ['resnet50_forward_pass', 'operation'])


class Document1Test(TestCase):
    def test_trainer(self):
        """C222 C223: the trainer of document 1, with all that it measures"""
        from pitot.metrics import GPUMonitor, MetricsCollector, MetricsConfig, ProfilerManager
        logged = []

        class EnergyTrainer:
            def __init__(self, config):
                self.metrics_config = config
                self.metrics = MetricsCollector(self.metrics_config)
                self.profiler = ProfilerManager(self.metrics_config)
                self.gpu_monitor = GPUMonitor(self.metrics_config)
                self.global_step = 0

            def train_step(self, teacher_input_embeddings):
                with self.profiler.profile_step("train_step"):
                    with self.metrics.time_component("total_step"):

                        with self.metrics.time_component("flow_processor"):
                            cube_output_surface = sum(teacher_input_embeddings)

                        with self.metrics.time_component("loss_computation"):
                            loss = cube_output_surface * 2

                interval = self.metrics_config.metrics_log_interval
                if self.metrics.enabled and self.global_step % interval == 0:
                    self._log_performance_metrics()
                self.global_step += 1
                return loss

            def _log_performance_metrics(self):
                logged.append(self.global_step)
                self.metrics.log_performance_metrics(self.global_step, self.gpu_monitor)

        off = EnergyTrainer(MetricsConfig())
        self.assertEqual([off.train_step([1, 2]) for _ in range(3)], [6, 6, 6])
        self.assertEqual((logged, len(off.metrics.timing_metrics)), ([], 0))
        on = EnergyTrainer(MetricsConfig(enable_metrics=True))
        big = range(300_000)
        with self.assertLogs('pitot.metrics', level=logging.DEBUG) as log:
            for _ in range(21):
                on.train_step(big)
        pitot.configure(enable_metrics=False)
        self.assertEqual(logged, [0, 10, 20])
        self.assertEqual([name for name, _, _ in on.metrics.timing_metrics][:2],
                         ['flow_processor', 'total_step'])
        self.assertRegex(log.output[-1], r'^DEBUG_PERFORMANCE:pitot.metrics:step 20, '
                                         r'flow_processor \d+\.\d ms, total_step \d+\.\d ms')

    def test_config(self):
        """C224 C225 C226: a config of the program makes that of the metrics, as in document 1"""
        from pitot.metrics import MetricsConfig

        @dataclass
        class EnergyConfig:
            debug_mode: bool = False
            enable_performance_monitoring: bool = False
            metrics_config: Optional[MetricsConfig] = None

            def __post_init__(self):
                if self.metrics_config is None:
                    self.metrics_config = MetricsConfig()
                    self.metrics_config.enable_metrics = self.enable_performance_monitoring

                    if self.debug_mode:
                        self.metrics_config.enable_gpu_monitoring = True
                        self.metrics_config.collect_component_profiling = True

        self.assertEqual(EnergyConfig().metrics_config, MetricsConfig())
        made = EnergyConfig(debug_mode=True, enable_performance_monitoring=True).metrics_config
        self.assertEqual(made, MetricsConfig(enable_metrics=True, enable_gpu_monitoring=True,
                                             collect_component_profiling=True))
        own = MetricsConfig(metrics_log_interval=3)
        self.assertIs(EnergyConfig(metrics_config=own).metrics_config, own)


class ProgramTest(TestCase):
    """The programs below examples/ are tested by serve_test.py and torch_system.py."""

    def test_trace_directory(self):
        """C179: traces go to the directory of the config, which is made"""
        from pitot.metrics import MetricsConfig, ProfilerManager
        with tempfile.TemporaryDirectory() as directory:
            config = MetricsConfig(enable_profiler=True, profiler_export_interval=1,
                                   profiler_trace_dir=f'{directory}/a/b')
            manager = ProfilerManager(config)
            with manager.profile_step('step'):
                pass
            self.assertTrue(pathlib.Path(directory, 'a/b/step_step_1.json').exists())
        pitot.stop()
