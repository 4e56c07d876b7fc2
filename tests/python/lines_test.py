"""Line profiles: hits are exact, times add up, and no other tool is disturbed."""
import pathlib
import sys
import tempfile
import textwrap
import threading

import pitot
from pitot.line_profile import LineProfile
from pitot.measure import PerformanceProfiler
from support import TestCase


def inner(n):
    total = 0
    for i in range(n):
        total += i
    return total


def outer(n):
    first = inner(n)
    try:
        raises()
    except ZeroDivisionError:
        first += inner(2 * n)
    return first


def raises():
    return 1 / 0


def numbers(n):
    for i in range(n):
        yield i


def down(n):
    if n:
        return down(n - 1)
    return 0


def hits(report, function):
    """By the text of the line."""
    return {row.source.strip(): row.hits for row in report.rows() if row.function == function}


class LinesTest(TestCase):
    def test_hits(self):
        """C291: each line has as many hits as it was reached, through calls and exceptions"""
        with pitot.lines(outer, inner, raises) as profile:
            outer(10)
        report = profile.report()
        self.assertEqual(hits(report, 'inner'), {
            'total = 0': 2, 'for i in range(n):': 32, 'total += i': 30, 'return total': 2})
        self.assertEqual(hits(report, 'outer'), {
            'first = inner(n)': 1, 'try:': 1, 'raises()': 1, 'except ZeroDivisionError:': 1,
            'first += inner(2 * n)': 1, 'return first': 1})
        self.assertEqual(hits(report, 'raises'), {'return 1 / 0': 1})

    def test_times(self):
        """C291: a line has the time of what it calls"""
        with pitot.lines(outer, inner) as profile:
            outer(5000)
        seconds = {}
        for row in profile.report().rows():
            seconds[row.function] = seconds.get(row.function, 0) + row.seconds
        self.assertGreater(seconds['outer'], seconds['inner'])
        self.assertGreater(seconds['inner'], 0)

    def test_resumed(self):
        """C291: generators and recursion are followed"""
        with pitot.lines(numbers, down) as profile:
            some = list(zip(numbers(3), numbers(5)))
            down(4)
        self.assertEqual(len(some), 3)
        self.assertEqual(hits(profile.report(), 'numbers')['yield i'], 6)
        self.assertEqual(hits(profile.report(), 'down'),
                         {'if n:': 5, 'return down(n - 1)': 4, 'return 0': 1})

    def test_stopped(self):
        """C291: what runs before and after is not seen, and an earlier trace function comes back"""
        events = []

        def trace(frame, event, arg):
            events.append(event)
        before = sys.gettrace()
        inner(3)
        sys.settrace(trace)
        try:
            with pitot.lines(inner) as profile:
                inner(1)
            found = sys.gettrace()
        finally:
            sys.settrace(before)
        inner(3)
        self.assertIs(found, trace)
        self.assertEqual(hits(profile.report(), 'inner')['total += i'], 1)

    def test_decorator(self):
        """C291: a decorated function has its lines with it, also a method"""
        @pitot.lines
        def twice(n):
            """Doubles."""
            return 2 * n

        class Thing:
            @pitot.lines
            def method(self, n):
                return twice(n)
        self.assertEqual([twice(i) for i in range(5)], [0, 2, 4, 6, 8])
        self.assertEqual(Thing().method(4), 8)
        self.assertEqual([row.hits for row in twice.lines.report().rows()], [6])
        self.assertEqual(twice.__doc__, 'Doubles.')
        self.assertRaisesRegex(TypeError, 'generator', pitot.lines(numbers), 3)
        self.assertRaisesRegex(TypeError, 'not a Python function', pitot.lines, len)

    def test_threads(self):
        """C291: threads do not disturb one another"""
        with pitot.lines(inner) as profile:
            threads = [threading.Thread(target=inner, args=(1000,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            inner(500)
            for thread in threads:
                thread.join()
        seen = hits(profile.report(), 'inner')['total += i']
        self.assertIn(seen, (500, 4500)) # 3.12 and later see all threads

    def test_table(self):
        """C291: a table and a page of HTML with the source"""
        with pitot.lines(outer) as profile:
            outer(3)
        text = str(profile.report())
        self.assertRegex(text, r'^outer  .*lines_test\.py:\d+  \d+\.\d{6} s\n'
                               r' +line +hits +seconds +%  source\n')
        self.assertRegex(text, r'\n +\d+ +1 +\d\.\d{6} +\d+\.\d      first = inner\(n\)\n')
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, 'lines.html')
            profile.report().write_html(path)
            page = path.read_text(encoding='utf-8')
        self.assertIn('<td>    first = inner(n)</tr>', page)
        self.assertTrue(page.endswith('</body></html>\n'))

    def test_profiler(self):
        """C276 C291: the lines of the function that has the block, and of those chosen"""
        profiler = PerformanceProfiler(enable_line_profiling=True)
        self.assertRaises(LookupError, profiler.get_line_profile)
        profiler.profile_lines_of(inner)
        with profiler.profile('work'):
            first = inner(3)
            first += 1
        report = profiler.get_line_profile('work')
        own = hits(report, report.rows()[0].function)
        self.assertEqual((own['first = inner(3)'], own['first += 1']), (1, 1))
        self.assertEqual(hits(report, 'inner')['total += i'], 3)

    def test_exception(self):
        """C276: a block that raises has its lines"""
        profiler = PerformanceProfiler(enable_line_profiling=True)
        profiler.profile_lines_of(raises)
        with self.assertRaises(ZeroDivisionError):
            with profiler.profile('fails'):
                raises()
        self.assertEqual(hits(profiler.get_line_profile(), 'raises'), {'return 1 / 0': 1})

    if hasattr(sys, 'monitoring'): # from 3.12 on tools have places; before, one trace function
        def test_places(self):
            """C276: where other tools have all places, an operation has no lines, and no error"""
            taken = [tool for tool in (2, 3, 4) if sys.monitoring.get_tool(tool) is None]
            for tool in taken:
                sys.monitoring.use_tool_id(tool, 'test')
            try:
                profiler = PerformanceProfiler(enable_line_profiling=True)
                with profiler.profile('x'):
                    pass
                self.assertRaisesRegex(RuntimeError, 'tool ids of', LineProfile(inner).start)
            finally:
                for tool in taken:
                    sys.monitoring.free_tool_id(tool)
            self.assertTrue(profiler.has_results())
            self.assertRaises(LookupError, profiler.get_line_profile)
    else:
        def test_trace_function(self):
            """C276: where another tool traces, an operation has its lines; the tool goes on"""
            seen = []

            def other_tool(frame, event, _):
                seen.append((frame.f_code.co_name, event))

            before = sys.gettrace()
            sys.settrace(other_tool)
            try:
                profiler = PerformanceProfiler(enable_line_profiling=True)
                profiler.profile_lines_of(inner)
                with profiler.profile('x'):
                    inner(3)
                self.assertIs(sys.gettrace(), other_tool)
                seen.clear()
                inner(1)
            finally:
                sys.settrace(before)
            self.assertIn(('inner', 'call'), seen)
            self.assertEqual(hits(profiler.get_line_profile('x'), 'inner')['total += i'], 3)

    def test_no_source(self):
        """C291: code without a file has numbers, and no text"""
        names = {}
        exec(compile(textwrap.dedent('''
            def made(n):
                n += 1
                return n
        '''), '<nowhere>', 'exec'), names)
        profile = LineProfile(names['made'])
        profile.start()
        names['made'](1)
        profile.stop()
        self.assertEqual([(row.line, row.hits, row.source) for row in profile.report().rows()],
                         [(3, 1, ''), (4, 1, '')])
        self.assertIn('made  <nowhere>:2', str(profile.report()))
