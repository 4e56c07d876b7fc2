"""Spans, as the recorder around the program sees them."""
import contextlib

import pitot
from support import TestCase, names, record, recording


class SpanTest(TestCase):
    def test_work(self):
        """a span has its name, its amount of work or number, and its request"""
        seen = record('''
            import pitot
            with pitot.span("decode", tokens=7): pass
            with pitot.span("load", samples=8): pass
            with pitot.span("net", flows=9): pass
            with pitot.span("step", arg=-3): pass
            with pitot.span("ask", request=2**63 - 1): pass
            with pitot.span("late") as span:
                span.tokens = 5
                span.request = 6
            with pitot.span("real", tokens=2.9): pass
            with pitot.span("none", tokens=None, arg=None, request=None): pass
            with pitot.span("text", arg="cold"): pass
            with pitot.span("both", tokens=3) as span: span.arg = "warm"
            with pitot.span("große Zahl", tokens=10**30): pass
        ''')
        self.assertEqual([(s.name, s.argument, s.request, s.work, s.text) for s in seen.spans], [
            ('decode', 7, None, 'tokens', ''), ('load', 8, None, 'samples', ''),
            ('net', 9, None, 'flows', ''), ('step', -3, None, '', ''),
            ('ask', None, 2**63 - 1, '', ''), ('late', 5, 6, 'tokens', ''),
            ('real', 2, None, 'tokens', ''), ('none', None, None, '', ''),
            ('text', None, None, '', 'cold'), ('both', None, None, '', 'warm'),
            ('große Zahl', 2**63 - 1, None, 'tokens', '')])

    def test_exceptions(self):
        """a block that raises is recorded, and the exception is the same object"""
        seen = record('''
            import pitot
            class Mine(BaseException): pass
            for error in (Mine("a"), KeyError(1), SystemExit(3), GeneratorExit()):
                try:
                    with pitot.span(type(error).__name__):
                        raise error
                except BaseException as caught:
                    assert caught is error
                    assert caught.__context__ is None and caught.__cause__ is None
                else:
                    raise AssertionError("swallowed")
        ''')
        self.assertEqual(names(seen), ['Mine', 'KeyError', 'SystemExit', 'GeneratorExit'])

    def test_nesting(self):
        """recursion and reuse of one object give one span each, properly nested"""
        seen = record('''
            import pitot
            block = pitot.span("block")
            def down(n):
                with block:
                    if n: down(n - 1)
            down(9)
            with block: pass
        ''')
        self.assertEqual(len(seen.spans), 11)
        nested = seen.spans[:10]
        for inner, outer in zip(nested, nested[1:]):
            self.assertLess(outer.start, inner.start)
            self.assertLess(inner.end, outer.end)
        self.assertGreater(seen.spans[10].start, nested[-1].end)

    def test_threads(self):
        """an object that threads share gives each of them its own times"""
        seen = record('''
            import pitot, threading
            block = pitot.span("block")
            barrier = threading.Barrier(2)
            def first():
                with block:
                    barrier.wait() # 1: the other enters
                    barrier.wait() # 2: it has entered
                barrier.wait() # 3: the other leaves
            def second():
                barrier.wait()
                with block:
                    barrier.wait()
                    barrier.wait()
            threads = [threading.Thread(target=f) for f in (first, second)]
            for t in threads: t.start()
            for t in threads: t.join()
        ''')
        first, second = seen.spans
        self.assertNotEqual(first.thread, second.thread)
        self.assertLess(first.start, second.start)
        self.assertLess(first.end, second.end)

    def test_many_threads(self):
        """nothing is lost or dropped with many threads"""
        seen = record('''
            import pitot, threading
            count = pitot.counter("blocks")
            def work():
                for i in range(500):
                    with pitot.span("block", arg=i): count.inc()
            threads = [threading.Thread(target=work) for _ in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
            print(count.value, pitot.dropped())
        ''')
        self.assertEqual(len(seen.spans), 4000)
        self.assertEqual(seen.out, '4000 0\n')
        self.assertEqual(sorted(s.argument for s in seen.spans), sorted([*range(500)] * 8))

    def test_odd_ends(self):
        """an exit without an enter, a span never left, a deleted one: nothing happens"""
        with recording():
            span = pitot.span('odd')
            self.assertIsNone(span.__exit__(None, None, None))
            span.__enter__()
            del span
            type(pitot.span('x')).__exit__(pitot.span('odd'), None, None, None)
            with contextlib.ExitStack() as stack:
                entered = stack.enter_context(pitot.span('stack'))
                self.assertEqual(entered.name, 'stack')
        self.assertEqual(pitot.dropped(), 0)

    def test_switching_inside(self):
        """switching on or off inside a block is not an error, and such a block is not a span"""
        seen = record('''
            import pitot
            before = pitot.span("before")
            pitot.stop()
            with pitot.span("off"): pitot.start()
            with pitot.span("on"): pitot.stop()
            with pitot.span("off"): pass
            pitot.start()
            with before: pass
        ''')
        self.assertEqual(names(seen), ['before'])

    def test_attributes(self):
        """attributes are what was given, and what makes no sense changes nothing"""
        span = pitot.span('a', tokens=3, request=4)
        self.assertEqual((span.name, span.tokens, span.samples, span.flows, span.arg, span.request),
                         ('a', 3, None, None, None, 4))
        span.arg = 'text'
        self.assertEqual((span.tokens, span.arg), (None, 'text'))
        span.samples = 'no number'
        span.request = -1
        self.assertEqual((span.samples, span.arg, span.request), (None, 'text', 4))
        self.assertEqual(repr(span), "<pitot.Span 'a'>")
        self.assertEqual(span.again().arg, 'text')

    def test_bad_arguments(self):
        """bad types are reported when a span is made, and only then"""
        for bad in (lambda: pitot.span(), lambda: pitot.span(5), lambda: pitot.span('a', 'b'),
                    lambda: pitot.span('a', tokens='many'), lambda: pitot.span('a', speed=3),
                    lambda: pitot.span('a', request=-1), lambda: pitot.span('a', arg=[]),
                    lambda: pitot.span('a')(1, 2), lambda: pitot.span('a')(5)):
            self.assertRaises(TypeError, bad)

    def test_large_requests(self):
        """requests of more than 63 bits, as a UUID, stay apart"""
        upper = 1 << 100
        ids = [pitot.span('a', request=upper + n).request for n in (5, 6)]
        self.assertEqual(ids, [5, 6])

    def test_subclasses(self):
        """texts and numbers may be of classes of others, with code of their own"""
        class Text(str):
            def __hash__(self):
                raise ValueError

            def __eq__(self, other):
                raise ValueError

        class Number(int):
            pass
        with recording():
            with pitot.span(Text('mine'), arg=Text('text')) as span:
                self.assertEqual((span.name, span.arg), ('mine', 'text'))
                span.tokens = Number(3)
                self.assertEqual(span.tokens, 3)

    def test_odd_names(self):
        """names of any kind, and more of them than fit"""
        with recording():
            for name in ('', '\udc80', 'x' * 1000, 'a\0b', '\N{SNOWMAN}' * 30):
                with pitot.span(name, arg=name):
                    pass
            for i in range(3000):
                with pitot.span(f'name {i}'):
                    pass
