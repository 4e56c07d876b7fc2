"""A service tells how it is: metrics of its requests, its health."""
import time

from pitot import _native
from pitot.figures import Figures
from pitot.instruments import counter, gauge, histogram


class HealthStatus(Figures):
    """What is not known is None."""
    status: str               # "healthy" or "unhealthy"
    latency_p50: float        # seconds, of the last five to ten minutes
    latency_p95: float
    memory_usage_mb: float
    gpu_utilization: float    # %
    error_rate: float         # 0 to 1
    probe_seconds: float      # None without a probe

    def to_json(self):
        import json
        return json.dumps(self.to_dict())


def health(probe=None):
    """How the service is. `probe` is called and timed: the service is healthy unless it raises an
    Exception or says False. If it gives an awaitable and no event loop runs, that is awaited; in
    a loop use `await pitot.health_check(probe)`."""
    if probe is None:
        return HealthStatus(**_native.health())
    return HealthStatus(**_native.health(lambda: _finished(probe())))


def _finished(answer):
    if not hasattr(answer, '__await__'):
        return answer
    import asyncio

    async def wait():
        return await answer
    return asyncio.run(wait())


async def health_check(engine):
    """As health(), in an event loop. `engine` is a probe, or has generate(), of which a test
    generation is asked: generate("test")."""
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
    memory_usage_bytes, as metrics of the process; switches recording on. ValueError: another kind
    of metric has one of these names."""

    def __init__(self):
        if not _native.is_on():
            _native.start()
        self.requests_total = counter('requests_total', 'Total requests')
        self.request_duration = histogram('request_duration_seconds', 'Request duration', unit='s')
        self.active_requests = gauge('active_requests', 'Active requests')
        self.tokens_per_second = gauge('tokens_per_second', 'Tokens per second')
        self.memory_usage = gauge('memory_usage_bytes', 'Memory usage', unit='By')

    def record_request(self, duration, tokens=0, ok=True):
        """A request was answered; `duration` in seconds, or a timedelta."""
        seconds = duration.total_seconds() if hasattr(duration, 'total_seconds') else duration
        _native.record_request(seconds, tokens, ok)


def get_latency_percentile(q):
    """Seconds, of the requests of the last five to ten minutes; q is 0 to 1. nan: there were none."""
    return _native.latency_percentile(q)


def get_error_rate():
    """0 to 1, of the last five to ten minutes; 0 without requests."""
    return _native.error_rate()


def get_memory_usage_mb():
    return _native.current_memory()


def get_gpu_utilization():
    """% of the first GPU; nan: there is none."""
    return _native.gpu_utilization()
