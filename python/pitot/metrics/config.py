"""All settings of metrics and profiling in one place."""
from dataclasses import asdict, dataclass


@dataclass
class MetricsConfig:
    # Master switches.
    enable_metrics: bool = False         # False: nothing is measured, regardless of the rest
    enable_profiler: bool = False        # ProfilerManager; heavy
    enable_gpu_monitoring: bool = False  # a thread polls the GPU

    # Low overhead.
    collect_timing: bool = True          # MetricsCollector.time_component()
    collect_throughput: bool = True      # samples and flows per second
    collect_memory_basic: bool = True    # memory of the process, and of torch on the GPU

    # Higher overhead.
    collect_gpu_utilization: bool = False      # GPU utilization at each logged step
    collect_memory_detailed: bool = False      # peak and fragmentation
    collect_component_profiling: bool = False  # components are also blocks of torch's profiler

    # Profiler.
    profiler_record_shapes: bool = False   # makes traces larger
    profiler_profile_memory: bool = False  # very heavy
    profiler_with_stack: bool = False      # heavy
    profiler_export_interval: int = 1000   # steps
    profiler_trace_dir: str = 'traces'

    # Intervals.
    metrics_log_interval: int = 10           # steps
    gpu_monitor_interval: float = 1.0        # seconds
    memory_cleanup_check_interval: int = 50  # steps; tests for a leak

    # Automatic controls.
    auto_disable_on_slow: bool = True     # turn off the most expensive parts if overhead is high
    performance_threshold: float = 0.05   # maximum overhead as a share of the program's CPU time

    def native(self):
        """The settings for libpitot; only ProfilerManager exports traces."""
        return {**asdict(self), 'enable_profiler': False}
