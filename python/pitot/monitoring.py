"""MonitoringSystem: series of values, figures of GPU and machine, alerts, and a report."""
from __future__ import annotations

import math
import time

from pitot import _native


class MonitoringSystem:
    """metrics: name to [(timestamp, value)], the newest `capacity` of each; alerts: texts of the
    alerts active at the last check_alerts(); start_time: seconds since 1970."""

    def __init__(self, capacity: int = 100):
        if capacity < 1:
            raise ValueError(f'capacity must be 1 or more, not {capacity!r}')
        from collections import defaultdict # imported late to keep `import pitot` fast
        self.metrics = defaultdict(list)
        self.alerts = []
        self.start_time = time.time()
        self.capacity = capacity
        self._native = _native.monitor()

    def record_metric(self, metric_name: str, value: float,
                      timestamp: float | None = None) -> None:
        if timestamp is None:
            timestamp = time.time()
        series = self.metrics[metric_name]
        series.append((timestamp, value))
        if len(series) > self.capacity:
            del series[:-self.capacity]
        try:
            self._native.record(metric_name, value, timestamp)
        except (TypeError, ValueError):
            pass # rules only see numbers

    def get_gpu_metrics(self) -> dict[str, float]:
        """The first GPU: gpu_utilization in %, gpu_memory_used and gpu_memory_total in MB,
        gpu_temperature in degrees Celsius, gpu_power_draw in W. {} without one."""
        try:
            return self._native.gpu()
        except Exception:
            return {}

    def get_system_metrics(self) -> dict[str, float]:
        """cpu_utilization and memory_percent in %, memory_used_gb and memory_total_gb. CPU
        utilization is since the previous call, or since this object was created."""
        return self._native.machine()

    def add_rule(self, metric: str, *, above: float | None = None, below: float | None = None,
                 text: str, for_seconds: float = 0.0, hysteresis: float = 0.0) -> None:
        """Adds an alert rule to those of the GPU: `metric` is a recorded series, or a name
        of get_gpu_metrics() or get_system_metrics(), or gpu_memory_usage (0 to 1)."""
        if (above is None) == (below is None):
            raise ValueError('a rule needs either above= or below=')
        self._native.add_rule(metric, below is None, above if below is None else below,
                              for_seconds, hysteresis, text)

    def clear_rules(self) -> None:
        """Removes all rules, also those of the GPU."""
        self._native.clear_rules()

    def check_alerts(self) -> list[str]:
        """Texts of the active alerts. Unknown values never fire an alert."""
        alerts = self._native.check()
        self.alerts[:] = alerts
        return alerts

    def generate_report(self) -> dict:
        """A dict with the six keys timestamp, uptime_seconds, gpu_metrics, system_metrics, alerts,
        metric_summaries; ready for json.dumps()."""
        now = time.time()
        return {
            'timestamp': now,
            'uptime_seconds': now - self.start_time,
            'gpu_metrics': self.get_gpu_metrics(),
            'system_metrics': self.get_system_metrics(),
            'alerts': self.check_alerts(),
            'metric_summaries': self._summaries(),
        }

    def _summaries(self):
        found = {name: _summary(values[-100:]) for name, values in list(self.metrics.items())}
        return {name: summary for name, summary in found.items() if summary}


def _summary(series):
    numbers = [number for number in map(_number, (value for _, value in series))
               if number is not None]
    if not numbers:
        return None
    return {'current': numbers[-1], 'average': math.fsum(numbers) / len(numbers),
            'min': min(numbers), 'max': max(numbers)}


def _number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
