"""%%pitot in a notebook's shell."""
import contextlib
import io

from pitot.ipython import CellCost, sparkline
from pitot.measure import PerformanceProfiler
from support import TestCase, needs


class NotebookTest(TestCase):
    def test_sparkline(self):
        """values become bars from the lowest to the highest, many become few"""
        self.assertEqual(sparkline([1, 2, 3, 8]), '▁▂▃█')
        self.assertEqual(sparkline([5, 5]), '▁▁')
        self.assertEqual(sparkline([]), '')
        self.assertEqual(len(sparkline(list(range(1000)))), 40)

    @needs('IPython')
    def test_magic(self):
        """%%pitot runs a cell in the names of the notebook and shows what it took"""
        from IPython.core.interactiveshell import InteractiveShell
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance()
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                self.assertTrue(shell.run_cell('%load_ext pitot').success)
                self.assertTrue(shell.run_cell(
                    '%%pitot load\nblock = bytearray(32 << 20); print("ran")').success)
                shell.run_cell('%%pitot\n1 / 0')
        finally:
            InteractiveShell.clear_instance()
        self.assertEqual(len(shell.user_ns['block']), 32 << 20)
        self.assertRegex(out.getvalue(), r'ran\nPeak RAM: \d+\.\d MB, Wall Time: \d+\.\ds.*, '
                                         r'CPU Time: \d+\.\ds, RAM: \+3\d\.\d MB')
        self.assertRegex(out.getvalue(), r'(?s)ZeroDivisionError.*\nPeak RAM: ')

    def test_cost(self):
        """the cost of a cell has a plot of its memory, as text and as HTML"""
        profiler = PerformanceProfiler()
        with profiler.profile('cell'):
            pass
        cost = CellCost(profiler.get_metrics(), [(0.0, 10.0), (0.1, 17.0), (0.2, 13.0)])
        self.assertRegex(repr(cost), r'\n▁█▄  10 to 17 MB$')
        self.assertEqual(cost._repr_html_().count('<div'), 2)
