"""Metrics of the requests of a service, and its health."""
from __future__ import annotations

import time

from pitot import _native
from pitot.figures import Figures
from pitot.instruments import counter, gauge, histogram

TYPE_CHECKING = False # as in typing, which is slow to import
if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Callable


class HealthStatus(Figures):
    """Unknown values are None."""
    status: str                   # "healthy" or "unhealthy"
    latency_p50: float | None     # seconds, of the last five to ten minutes
    latency_p95: float | None
    memory_usage_mb: float | None
    gpu_utilization: float | None # %
    error_rate: float | None      # 0 to 1
    probe_seconds: float | None   # None without a probe

    def to_json(self) -> str:
        import json
        return json.dumps(self.to_dict())


def health(probe: Callable | None = None) -> HealthStatus:
    """Health of the service. `probe` is called and timed: the service is healthy unless it raises
    an Exception or returns False. An awaitable result is awaited if no event loop is running;
    inside a loop use `await pitot.health_check(probe)`."""
    if probe is None:
        return HealthStatus(**_native.health())
    try:
        return HealthStatus(**_native.health(lambda: _finished(probe())))
    except _LoopRuns:
        raise RuntimeError(
            'an event loop is running (use `await pitot.health_check(probe)`)') from None


class _LoopRuns(BaseException):
    """Not an Exception: one raised by a probe means unhealthy."""


def _finished(answer):
    if not hasattr(answer, '__await__'):
        return answer
    import asyncio
    if asyncio._get_running_loop() is not None:
        if hasattr(answer, 'close'):
            answer.close()
        raise _LoopRuns

    async def wait():
        return await answer
    return asyncio.run(wait())


async def health_check(engine) -> HealthStatus:
    """Like health(), in an event loop. `engine` is a probe, or has generate(), which is called with
    "test"."""
    probe = (lambda: engine.generate('test')) if hasattr(engine, 'generate') else engine
    start = time.perf_counter()
    is_well = await _is_well(probe)
    seconds = time.perf_counter() - start
    figures = {**_native.health(), 'status': 'healthy' if is_well else 'unhealthy',
               'probe_seconds': seconds}
    return HealthStatus(**figures)


async def _is_well(probe):
    try:
        answer = probe()
        if hasattr(answer, '__await__'):
            answer = await answer
        return answer is None or bool(answer)
    except Exception:
        return False


class RequestMetrics:
    """requests_total, request_duration_seconds, active_requests, tokens_per_second and
    memory_usage_bytes, as metrics of the process; turns recording on. ValueError: one of these
    names is already used by another kind of metric."""

    def __init__(self):
        if not _native.is_on():
            _native.start()
        self.requests_total = counter('requests_total', 'Total requests')
        self.request_duration = histogram('request_duration_seconds', 'Request duration', unit='s')
        self.active_requests = gauge('active_requests', 'Active requests')
        self.tokens_per_second = gauge('tokens_per_second', 'Tokens per second')
        self.memory_usage = gauge('memory_usage_bytes', 'Memory usage', unit='By')

    def record_request(self, duration: float | timedelta, tokens: int = 0,
                       ok: bool = True) -> None:
        """Records a completed request; `duration` in seconds, or a timedelta."""
        seconds = duration.total_seconds() if hasattr(duration, 'total_seconds') else duration
        _native.record_request(seconds, tokens, ok)


def get_latency_percentile(q: float) -> float:
    """Seconds, over the last five to ten minutes; q is 0 to 1. nan: there were no requests."""
    return _native.latency_percentile(q)


def get_error_rate() -> float:
    """0 to 1, over the last five to ten minutes; 0 without requests."""
    return _native.error_rate()


def get_memory_usage_mb() -> float:
    return _native.current_memory()


def get_gpu_utilization() -> float:
    """Utilization of the first GPU in %; nan: there is none."""
    return _native.gpu_utilization()
