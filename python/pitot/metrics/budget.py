"""What blocks of a collector cost, as a part of the program's CPU time.

libpitot's governor counts what its own calls take. A block of Python takes some ten times that,
so the collector keeps an account of its own: the number of blocks times the cost of one."""
import time

_CALLS = 1000 # between looks
_SECONDS = 1.0
_WINDOWS = 3


class Budget:
    """Exceeded when it was so in three windows of a second or more, one after the other."""

    def __init__(self, cost, threshold, wall=time.monotonic, cpu=time.process_time):
        self.cost, self.threshold, self.fraction = cost, threshold, None
        self._wall, self._cpu = wall, cpu
        self._beyond = 0
        self.left = _CALLS # the collector counts down
        self._begin()

    def _begin(self):
        self._calls, self._since, self._cpu_since = 0, self._wall(), self._cpu()

    def is_exceeded(self):
        """After the calls are counted down."""
        self._calls += _CALLS - self.left
        self.left = _CALLS
        if self._wall() - self._since < _SECONDS:
            return False
        spent = max(self._cpu() - self._cpu_since, 0.01 * _SECONDS)
        self.fraction = self._calls * self.cost / spent
        self._beyond = self._beyond + 1 if self.fraction > self.threshold else 0
        self._begin()
        return self._beyond >= _WINDOWS
