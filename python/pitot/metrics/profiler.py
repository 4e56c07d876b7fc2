"""ProfilerManager: steps under torch's profiler, exported as Chrome traces."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager

import pitot
from pitot.metrics import trace
from pitot.metrics.config import MetricsConfig
from pitot.metrics.log import DEBUG_PROFILING, logger

_ANCHORS = ('pitot: clock 1', 'pitot: clock 2', 'pitot: clock 3')


class ProfilerManager:
    """With torch, its profiler profiles a step, and the trace has Pitot's spans on the same clock;
    without torch, a trace has only the spans: those of pitot.span() and time_component()."""

    def __init__(self, config: MetricsConfig):
        self.config = config
        self.enabled = config.enable_profiler
        self.step_count = 0
        self._anchors, self._start = [], None # of the current step
        if self.enabled:
            _keep_spans()

    @contextmanager
    def profile_step(self, step_name: str = 'train_step'):
        """Profiles a block; yields torch's profiler, or None. The trace is written every
        profiler_export_interval steps. A block that raises also counts as a step."""
        if not self.enabled:
            yield
            return
        profiler = self._begin()
        try:
            with pitot.span(step_name):
                yield profiler
        finally:
            self._end(profiler, step_name)

    def _begin(self):
        self._start = time.monotonic_ns()
        profiler = _torch_profiler(self.config)
        self._anchors = _drop_anchors() if profiler is not None else []
        return profiler

    def _end(self, profiler, step_name):
        _leave(profiler)
        self.step_count += 1
        if self.step_count % max(self.config.profiler_export_interval, 1) == 0:
            self._export_trace(profiler, step_name)

    def _export_trace(self, prof, step_name: str) -> None:
        """To {profiler_trace_dir}/{step_name}_step_{step_count}.json."""
        path = f'{self.config.profiler_trace_dir}/{step_name}_step_{self.step_count}.json'
        try:
            os.makedirs(self.config.profiler_trace_dir, exist_ok=True)
            trace.write(path, prof, self._anchors, self._start)
        except Exception as error:
            logger.warning('cannot write the trace %s: %s', path, error)
            return
        logger.log(DEBUG_PROFILING, f'Exported profiler trace: {path}')


def _keep_spans():
    try:
        if not pitot.is_on():
            pitot.start()
    except OSError as error:
        logger.warning('profiler: the trace has no spans of pitot: %s', error)


def _torch_profiler(config):
    """torch.profiler.profile, entered; None: torch is missing, or is already profiling."""
    try:
        import torch
        kinds = torch.profiler.ProfilerActivity
        profiler = torch.profiler.profile(
            activities=[kinds.CPU, *([kinds.CUDA] if torch.cuda.is_available() else [])],
            record_shapes=config.profiler_record_shapes,
            profile_memory=config.profiler_profile_memory,
            with_stack=config.profiler_with_stack)
        profiler.__enter__()
        return profiler
    except ImportError:
        return None
    except Exception as error:
        logger.warning("torch's profiler did not start: %s", error)
        return None


def _drop_anchors():
    """Events with a known time, to align the clock of torch with ours. The first event is slow, so
    there are several."""
    anchors = []
    try:
        from torch.profiler import record_function
        for name in _ANCHORS:
            with record_function(name):
                anchors.append(trace.Anchor(name, time.monotonic_ns() / 1000))
    except Exception as error:
        logger.warning("torch's clock is unknown; traces have no events of torch: %s", error)
    return anchors


def _leave(profiler):
    if profiler is None:
        return
    try:
        profiler.__exit__(None, None, None)
    except Exception as error:
        logger.warning("torch's profiler did not stop: %s", error)
