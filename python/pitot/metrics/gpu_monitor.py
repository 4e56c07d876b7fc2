"""GPUMonitor: GPU utilization, read at most once per interval."""
from __future__ import annotations

import math
import time

from pitot import _native, torch
from pitot.metrics.config import MetricsConfig
from pitot.metrics.log import DEBUG_PERFORMANCE, logger


class GPUMonitor:
    """libpitot polls the driver in a separate thread, which exists only if monitoring is on."""

    def __init__(self, config: MetricsConfig):
        self.enabled = config.enable_gpu_monitoring
        self.interval = config.gpu_monitor_interval
        self.nvml_available = False
        if self.enabled:
            self._init_monitoring()

    def _init_monitoring(self):
        self.nvml_available = not math.isnan(_native.gpu_utilization())
        if not self.nvml_available:
            logger.log(DEBUG_PERFORMANCE, 'GPU monitoring: NVML not found, using torch instead')

    @property
    def gpu_utilization(self) -> float:
        """Percent. 0.0 if disabled; nan if enabled but unknown."""
        if not self.enabled:
            return 0.0
        now = time.monotonic()
        if hasattr(self, '_last_poll') and now - self._last_poll < self.interval:
            return self._cached_utilization
        self._last_poll = now
        self._cached_utilization = self._poll_gpu_utilization()
        return self._cached_utilization

    def _poll_gpu_utilization(self):
        if self.nvml_available:
            return _native.gpu_utilization()
        cuda = torch.cuda()
        try:
            return float(cuda.utilization()) if cuda else math.nan
        except Exception:
            return math.nan
