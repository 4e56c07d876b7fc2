"""Resource usage of operations: time, memory, work, energy.

    from pitot.measure import PerformanceProfiler

    profiler = PerformanceProfiler(detailed_memory=True)
    with profiler.profile("training") as operation:
        for batch in batches:
            train(batch)
            operation.step()            # optional: detect memory growth per step
    print(profiler.get_metrics().summary())

Figures of the process include all its threads, without its children. Unknown values are None."""
from __future__ import annotations

import sys

from pitot import _native
from pitot.figures import Figures
from pitot.torch import FlopCounter

__all__ = ['ComputeMetrics', 'EnergyMetrics', 'MemoryMetrics', 'Operation', 'PerformanceMetrics',
           'PerformanceProfiler', 'SystemMetrics', 'TimingMetrics']


class MemoryMetrics(Figures):
    """Of the process, in MB of 2^20 bytes."""
    initial_ram_mb: float
    peak_ram_mb: float
    final_ram_mb: float
    peak_gpu_mb: float | None           # None without a GPU
    memory_leak_detected: bool | None   # None without detailed_memory, or with too few samples
    growth_mb_per_step: float | None    # None without steps
    growth_mb_per_second: float | None  # None with steps
    growth_error_mb: float | None       # standard error of the known one
    is_peak_exact: bool                 # from the kernel; otherwise the highest sample
    steps: int


class TimingMetrics(Figures):
    """Seconds."""
    wall_time_s: float
    cpu_time_s: float                   # of all threads: user and system
    user_time_s: float
    system_time_s: float


class ComputeMetrics(Figures):
    """Work, and how busy the process was."""
    estimated_flops: int | None         # a multiply-add is 2; None: off, or unknown
    flops_per_second: float | None
    flops_source: str | None            # "counted" by the CPU, or "analytical"; None
    gpu_utilization_percent: float | None
    cpu_utilization_percent: float | None # 100 is one busy CPU


class SystemMetrics(Figures):
    """Of the machine during the operation."""
    cpu_percent: float | None           # all CPUs are 100
    memory_percent: float | None
    disk_io_percent: float | None       # busy time of the busiest disk
    network_io_mb: float | None         # both directions, without loopback
    disk_read_mb: float | None          # of the process
    disk_write_mb: float | None


class EnergyMetrics(Figures):
    """With track_carbon. The range is -error_low_percent to +error_high_percent."""
    energy_joules: float | None
    error_low_percent: float | None
    error_high_percent: float | None
    carbon_grams: float | None
    carbon_error_low_percent: float | None
    carbon_error_high_percent: float | None
    source: str | None                  # "measured" or "modelled"; None


class PerformanceMetrics(Figures):
    """Resource usage of one operation."""
    operation: str
    is_complete: bool                   # it has ended; otherwise these are its figures so far
    has_failed: bool
    memory: MemoryMetrics
    timing: TimingMetrics
    compute: ComputeMetrics
    system: SystemMetrics
    energy: EnergyMetrics

    def summary(self) -> str:
        """One line: "Peak RAM: 2.4 GB, Wall Time: 45.2s, GPU Util: 78%"."""
        parts = [f'Peak RAM: {_megabytes(self.memory.peak_ram_mb)}',
                 f'Wall Time: {self.timing.wall_time_s:.1f}s']
        if self.compute.gpu_utilization_percent is not None:
            parts.append(f'GPU Util: {self.compute.gpu_utilization_percent:.0f}%')
        return ', '.join(parts)


_SECTIONS = {'memory': MemoryMetrics, 'timing': TimingMetrics, 'compute': ComputeMetrics,
             'system': SystemMetrics, 'energy': EnergyMetrics}


def _megabytes(amount):
    if amount is None:
        return 'unknown'
    return f'{amount:.1f} MB' if round(amount, 1) < 1024 else f'{amount / 1024:.1f} GB'


class Operation:
    """A measured block; created by PerformanceProfiler.profile()."""

    def __init__(self, profiler, name):
        self._profiler, self.name = profiler, name
        self._native = self._flops = self._lines = None

    def __enter__(self) -> Operation:
        profiler = self._profiler
        if profiler.enable_line_profiling:
            self._lines = profiler._begin_lines(sys._getframe(1))
        if profiler.estimate_flops:
            self._flops = _begin_flops()
        self._native = profiler._native.begin(self.name)
        return self

    def __exit__(self, kind, error, trace) -> None:
        if self._flops:
            self.add_flops(_end_flops(self._flops))
        self._native.end(kind is None)
        if self._lines:
            self._profiler._end_lines(self.name, self._lines)

    def step(self) -> None:
        """Marks the end of one iteration: the leak test uses the memory after each."""
        self._native.step()

    def add_flops(self, flops: float) -> None:
        """Adds floating-point operations; a multiply-add is 2."""
        self._native.add_flops(flops)


class PerformanceProfiler:
    """Measures named operations; see the fields of PerformanceMetrics.

    track_gpu: memory and utilization of the GPU, if there is one
    track_carbon: energy and carbon
    detailed_memory: keeps samples of memory and looks for leaks
    memory_interval: seconds between samples, 0.01 to 3600
    enable_line_profiling: time and hits of each line of the function that contains the block, and
        of those given to profile_lines_of(); slow, see pitot.line_profile
    estimate_flops: from torch if the program has imported it, otherwise from CPU counters if
        available; with torch the block is slower
    """

    def __init__(self, track_gpu: bool = True, track_carbon: bool = False,
                 detailed_memory: bool = False, memory_interval: float = 0.5,
                 enable_line_profiling: bool = False, estimate_flops: bool = False):
        if not 0.01 <= memory_interval <= 3600:
            raise ValueError(f'memory_interval must be 0.01 to 3600 s, not {memory_interval!r}')
        self.track_gpu, self.track_carbon = track_gpu, track_carbon
        self.detailed_memory, self.memory_interval = detailed_memory, memory_interval
        self.enable_line_profiling, self.estimate_flops = enable_line_profiling, estimate_flops
        self._native = _native.profiler(track_gpu, track_carbon, detailed_memory, estimate_flops,
                                        memory_interval)
        self._functions, self._line_reports = [], {}

    def profile(self, operation_name: str) -> Operation:
        """A context manager. If the block raises, it is recorded and the exception propagates."""
        if not isinstance(operation_name, str):
            raise TypeError(f'the name of an operation must be a str, not {operation_name!r}')
        return Operation(self, operation_name)

    def get_metrics(self, operation_name: str | None = None) -> PerformanceMetrics:
        """Metrics of the last operation, or the last of that name; so far, if it is still running.
        LookupError: there is none."""
        found = self._native.get(operation_name)
        if found is None:
            raise LookupError(self._nothing(operation_name))
        sections = {name: kind(**found.pop(name)) for name, kind in _SECTIONS.items()}
        return PerformanceMetrics(**found, **sections)

    def _nothing(self, name):
        if name is None:
            return 'nothing has been profiled (use `with profiler.profile("name"):`)'
        known = ', '.join(repr(other) for other in self.get_timing_breakdown()) or 'none'
        return f'no operation {name!r} was profiled (known: {known})'

    def get_current_memory(self) -> float:
        """Memory of the process in MB."""
        return _native.current_memory()

    def get_current_gpu_memory(self) -> float:
        """The used share of the first GPU's memory, 0 to 1; without a GPU nan, which is neither
        above nor below any limit."""
        return _native.current_gpu_memory()

    def get_timing_breakdown(self) -> dict[str, float]:
        """Total seconds of completed operations, by name."""
        return self._native.breakdown()

    def has_results(self) -> bool:
        """True once an operation has ended."""
        return self._native.has_results()

    def get_memory_samples(self, operation_name: str | None = None) -> list[tuple[float, float]]:
        """[(seconds since it began, MB)] with detailed_memory; 512 at most, evenly thinned."""
        return self._native.memory_samples(operation_name)

    def profile_lines_of(self, *functions) -> None:
        """Also profiles the lines of these functions, in addition to those of the block."""
        self._functions += functions

    def get_line_profile(self, operation_name=None):
        """The pitot.line_profile.LineReport of the last operation, or the last of that name.
        LookupError: there is none."""
        if operation_name is None and self._line_reports:
            operation_name = next(reversed(self._line_reports))
        if operation_name not in self._line_reports:
            raise LookupError('there is no line profile (set enable_line_profiling=True)')
        return self._line_reports[operation_name]

    def _begin_lines(self, frame):
        """None: other tools use all tool ids. The operation continues without lines."""
        from pitot.line_profile import LineProfile
        try:
            profile = LineProfile(frame.f_code, *self._functions)
            profile.start(frame)
            return profile
        except (RuntimeError, TypeError):
            return None

    def _end_lines(self, name, profile):
        profile.stop()
        self._line_reports.pop(name, None)
        self._line_reports[name] = profile.report()
        if len(self._line_reports) > 100:
            del self._line_reports[next(iter(self._line_reports))]


def _begin_flops():
    """A started counter; None: the program has no torch, or the counter cannot start."""
    if 'torch' not in sys.modules:
        return None
    try:
        return FlopCounter().start()
    except Exception:
        return None


def _end_flops(counter):
    try:
        return counter.stop()
    except Exception:
        return None
