"""Metrics and profiling of a training loop, off by default.

    from pitot.metrics import GPUMonitor, MetricsCollector, MetricsConfig, ProfilerManager

    config = MetricsConfig(enable_metrics=True)
    metrics, profiler = MetricsCollector(config), ProfilerManager(config)
    with profiler.profile_step("train_step"):
        with metrics.time_component("total_step"):
            ...

Nothing here raises because of metrics: problems are logged and the values left out."""
from pitot.metrics.collector import MetricsCollector
from pitot.metrics.config import MetricsConfig
from pitot.metrics.gpu_monitor import GPUMonitor
from pitot.metrics.log import DEBUG_PERFORMANCE, DEBUG_PROFILING
from pitot.metrics.profiler import ProfilerManager

__all__ = ['DEBUG_PERFORMANCE', 'DEBUG_PROFILING', 'GPUMonitor', 'MetricsCollector',
           'MetricsConfig', 'ProfilerManager']
