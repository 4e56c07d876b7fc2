"""MetricsCollector: the newest timings, throughputs and memory samples of a loop."""
from __future__ import annotations

import atexit
import math
import threading
import time
from collections import deque
from contextlib import nullcontext

import pitot
from pitot import _native
from pitot.metrics.budget import Budget
from pitot.metrics.config import MetricsConfig
from pitot.metrics.log import DEBUG_PERFORMANCE, logger

_MIN_SECONDS = 0.001
_OFF = nullcontext()


class MetricsCollector:
    """timing_metrics has (name, seconds, wall time) of blocks of more than 1 ms;
    throughput_metrics has (what, per second, wall time);
    memory_metrics has (MB of the process, MB of torch on the GPU or None, wall time).
    A deque is None if its part is off in the config. `enabled` may be changed at any time."""

    def __init__(self, config: MetricsConfig):
        self.config = config
        self.enabled = config.enable_metrics
        self.timing_metrics = deque(maxlen=1000) if config.collect_timing else None
        self.throughput_metrics = deque(maxlen=1000) if config.collect_throughput else None
        self.memory_metrics = deque(maxlen=500) if config.collect_memory_basic else None
        # Operations of a deque are atomic; only the thread that polls the GPU needs a lock.
        self._lock = threading.Lock() if config.enable_gpu_monitoring else None
        self._histograms = {}
        self._budget = None
        if self.enabled:
            _switch_on(config)
            if config.auto_disable_on_slow and config.collect_timing:
                self._budget = self._new_budget()

    def time_component(self, component_name: str):
        """Times a block (with), also if it raises. Off: does nothing. The block is also a span, and
        is in the histogram component_seconds even if it is short."""
        if not self.enabled or self.timing_metrics is None or not self.config.collect_timing:
            return _OFF
        budget = self._budget
        if budget is not None:
            budget.left -= 1
            if budget.left < 0:
                self._look(budget)
        histogram = self._histograms.get(component_name) or self._histogram(component_name)
        block = _native.component(component_name, self.timing_metrics.append, _MIN_SECONDS,
                                  histogram)
        if self.config.collect_component_profiling:
            return _in_torch(component_name, block)
        return block

    def _new_budget(self):
        """A budget with the measured cost of a block: the minimum of several rounds."""
        self._histograms[''] = True # not recorded
        rounds = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(200):
                with self.time_component(''):
                    pass
            rounds.append((time.perf_counter() - start) / 200)
        self.timing_metrics.clear() # on a busy machine even an empty block may take a millisecond
        return Budget(min(rounds), self.config.performance_threshold)

    def _look(self, budget):
        if budget.is_exceeded():
            self.enabled = False
            logger.warning('metrics: turned off: components take %.0f %% of the CPU time, more '
                           'than %.0f %% (collector.enabled = True turns them on again)',
                           budget.fraction * 100, budget.threshold * 100)

    def _histogram(self, name):
        histogram = pitot.histogram('component_seconds', 'Time of components', unit='s',
                                    component=name)
        if len(self._histograms) < 1000:
            self._histograms[name] = histogram
        return histogram

    def record_throughput(self, samples: float | None = None, flows: float | None = None, *,
                          tokens: float | None = None, seconds: float) -> None:
        """Records the amount of work done in `seconds`."""
        if not self.enabled or self.throughput_metrics is None:
            return
        now = time.time()
        for what, amount in (('samples', samples), ('flows', flows), ('tokens', tokens)):
            rate = _rate(amount, seconds)
            if rate is not None:
                self.throughput_metrics.append((what, rate, now))
                pitot.gauge(f'{what}_per_second', f'{what.capitalize()} per second').set(rate)

    def record_memory(self) -> None:
        """Takes a sample of memory."""
        if self.enabled and self.memory_metrics is not None:
            self.memory_metrics.append((_native.current_memory(), _torch_memory(), time.time()))

    def memory_details(self) -> dict[str, float]:
        """With collect_memory_detailed: peak_ram_mb, and for torch on the GPU peak_gpu_mb and
        fragmentation (the unused share of its reserved memory). Otherwise {}."""
        if not self.enabled or not self.config.collect_memory_detailed:
            return {}
        return {**_peak(), **_torch_details()}

    def step(self, name: str = 'train_step') -> int:
        """Marks the end of a step of the loop: samples memory, tests for a leak every
        memory_cleanup_check_interval steps, logs every metrics_log_interval steps."""
        if not self.enabled:
            return 0
        self.record_memory()
        return _native.step(name)

    def summary(self) -> dict:
        """Summary of the deques: {"timing": {name: {"count", "average", "min", "max",
        "total"}}, "throughput": {what: ...}, "memory": {...}}."""
        timings, rates, memory = self._snapshot()
        return {'timing': _grouped(timings), 'throughput': _grouped(rates),
                'memory': _memory_summary(memory), **self._more()}

    def _more(self):
        details = self.memory_details()
        return {'memory_details': details} if details else {}

    def _snapshot(self):
        with self._lock or _OFF:
            return [list(kept or ()) for kept in
                    (self.timing_metrics, self.throughput_metrics, self.memory_metrics)]

    def log_performance_metrics(self, step: int | None = None, gpu_monitor=None) -> None:
        """Logs one line at DEBUG_PERFORMANCE, if enabled."""
        if not self.enabled or not logger.isEnabledFor(DEBUG_PERFORMANCE):
            return
        parts = [f'step {step}' if step is not None else 'metrics', *_words(self.summary())]
        busy = gpu_monitor.gpu_utilization if gpu_monitor is not None else math.nan
        if not math.isnan(busy) and gpu_monitor.enabled:
            parts.append(f'GPU {busy:.0f}%')
        logger.log(DEBUG_PERFORMANCE, ', '.join(parts))

    def bottleneck(self) -> tuple[str, float] | None:
        """The component with the second largest total time, assuming the largest is the whole step:
        (name, share of the largest). None: there are fewer than two components."""
        timings = sorted(_grouped(self._snapshot()[0]).items(), key=lambda item: -item[1]['total'])
        if len(timings) < 2:
            return None
        return timings[1][0], timings[1][1]['total'] / timings[0][1]['total']

    @property
    def overhead(self) -> float | None:
        """Overhead as a share of the program's CPU time, as measured by libpitot; None: not known
        yet. Above performance_threshold parts are turned off."""
        return _native.overhead()['recent_fraction']


def _switch_on(config):
    """Turns on recording with the settings of the config, and the governor and log of libpitot."""
    try:
        _native.set_log(logger.log)
        atexit.register(_native.set_log, None)
        pitot.configure(**config.native())
    except (OSError, ValueError) as error:
        logger.warning('metrics: not recorded as spans: %s', error)


def _rate(amount, seconds):
    try:
        return amount / seconds if amount is not None and seconds > 0 else None
    except TypeError:
        return None


def _in_torch(name, block):
    try:
        return pitot.torch.Component(name, block)
    except ImportError:
        return block


def _torch_memory():
    """MB that torch has allocated on the GPU; None without torch or GPU."""
    cuda = pitot.torch.cuda()
    try:
        return cuda.memory_allocated() / 2**20 if cuda else None
    except Exception:
        return None


def _torch_details():
    cuda = pitot.torch.cuda()
    try:
        if not cuda:
            return {}
        used, reserved = cuda.memory_allocated(), cuda.memory_reserved()
        return {'peak_gpu_mb': cuda.max_memory_allocated() / 2**20,
                'fragmentation': 1 - used / reserved if reserved else 0.0}
    except Exception:
        return {}


def _peak():
    try:
        with open('/proc/self/status', encoding='ascii', errors='replace') as status:
            return {'peak_ram_mb': int(line.split()[1]) / 1024 for line in status
                    if line.startswith('VmHWM:')}
    except (OSError, ValueError):
        return {}


def _grouped(records):
    values = {}
    for name, value, _ in records:
        values.setdefault(name, []).append(value)
    return {name: {'count': len(some), 'average': sum(some) / len(some), 'min': min(some),
                   'max': max(some), 'total': sum(some)} for name, some in values.items()}


def _memory_summary(samples):
    if not samples:
        return {}
    ram = [sample[0] for sample in samples]
    return {'current_mb': ram[-1], 'min_mb': min(ram), 'max_mb': max(ram)}


def _words(summary):
    for name, timing in summary['timing'].items():
        yield f'{name} {timing["average"] * 1000:.1f} ms'
    for what, rate in summary['throughput'].items():
        yield f'{rate["average"]:.1f} {what}/s'
    if summary['memory']:
        yield f'{summary["memory"]["current_mb"]:.0f} MB'
