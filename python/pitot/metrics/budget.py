"""Overhead of a collector's blocks, as a share of the program's CPU time.

libpitot's governor counts the cost of its own calls. A block of Python costs about ten times as
much, so the collector has its own estimate: the number of blocks times the cost of one."""
import time

_CALLS = 1000 # between checks
_SECONDS = 1.0
_WINDOWS = 3


class Budget:
    """Exceeded after three consecutive windows of one second or more above the threshold."""

    def __init__(self, cost, threshold, wall=time.monotonic, cpu=time.process_time):
        self.cost, self.threshold, self.fraction = cost, threshold, None
        self._wall, self._cpu = wall, cpu
        self._beyond = 0
        self.left = _CALLS # the collector counts down
        self._begin()

    def _begin(self):
        self._calls, self._since, self._cpu_since = 0, self._wall(), self._cpu()

    def is_exceeded(self):
        """Called when `left` has reached zero."""
        self._calls += _CALLS - self.left
        self.left = _CALLS
        if self._wall() - self._since < _SECONDS:
            return False
        spent = max(self._cpu() - self._cpu_since, 0.01 * _SECONDS)
        self.fraction = self._calls * self.cost / spent
        self._beyond = self._beyond + 1 if self.fraction > self.threshold else 0
        self._begin()
        return self._beyond >= _WINDOWS
