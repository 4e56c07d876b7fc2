"""%%pitot: time and memory of a notebook cell.

    %load_ext pitot

    %%pitot
    model.fit(data)

Below the output is a line like that of summary(), and a small plot of memory over time."""
from pitot.measure import PerformanceProfiler

_BARS = '▁▂▃▄▅▆▇█'
_WIDTH = 40


def sparkline(values, width=_WIDTH):
    """The values as a row of bars, scaled from lowest to highest; thinned to `width`."""
    if not values:
        return ''
    picked = [values[i * len(values) // width] for i in range(width)] if len(values) > width \
        else list(values)
    low, high = min(picked), max(picked)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0
    return ''.join(_BARS[round((value - low) * scale)] for value in picked)


class CellCost:
    """Time and memory of a cell, as text and as HTML."""

    def __init__(self, metrics, samples):
        self.metrics = metrics
        self.memory_mb = [mb for _, mb in samples]

    def __repr__(self):
        timing, memory = self.metrics.timing, self.metrics.memory
        text = (f'{self.metrics.summary()}, CPU Time: {timing.cpu_time_s:.1f}s, '
                f'RAM: {memory.final_ram_mb - memory.initial_ram_mb:+.1f} MB')
        if len(self.memory_mb) > 1:
            text += (f'\n{sparkline(self.memory_mb)}  {min(self.memory_mb):.0f} to '
                     f'{max(self.memory_mb):.0f} MB')
        return text

    def _repr_html_(self):
        lines = repr(self).split('\n')
        return ''.join(f'<div style="font-family:monospace">{line}</div>' for line in lines)


def measure_cell(shell, line, cell):
    """Runs the cell in the notebook's namespace; exceptions are shown as usual."""
    from IPython.display import display
    profiler = PerformanceProfiler(detailed_memory=True, memory_interval=0.05)
    with profiler.profile(line.strip() or 'cell'):
        shell.run_cell(cell)
    display(CellCost(profiler.get_metrics(), profiler.get_memory_samples()))


def load(shell):
    def magic(line, cell):
        measure_cell(shell, line, cell)
    shell.register_magic_function(magic, 'cell', 'pitot')
