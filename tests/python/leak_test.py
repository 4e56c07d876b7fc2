"""Memory: nothing grows with what is recorded."""
import gc
import os
import sys

import pitot
from support import TestCase, python, recording


# The stable interface is slower and has less to leak.
MANY = '500_000' if 'abi3' in os.environ['PITOT_WHEEL'] else '8_000_000'


class LeakTest(TestCase):
    def test_ten_million_spans(self):
        """ten million spans, on and off, leave the process as large as it was"""
        grown = python('''
            import pitot, time
            def resident():
                with open("/proc/self/statm") as file: return int(file.read().split()[1]) * 4096
            def spans(n):
                span = pitot.span
                for i in range(n):
                    with span("block", tokens=i): pass
            pitot.start()
            pitot.configure(auto_disable_on_slow=False)
            seconds = pitot.histogram("seconds")
            def others(n):
                for i in range(n):
                    with pitot.span("text", arg="text", request=i) as span: span.samples = 1.5
                    with seconds.time(): pass
                    seconds.observe(i)
            # Until the parts of libpitot with a fixed size are in use: the history of spans.
            spans(1_000_000); others(100_000)
            before = resident()
            spans(MANY); others(200_000)
            pitot.stop()
            spans(MANY // 4)
            print(resident() - before)
        '''.replace('MANY', MANY), options=())
        self.assertLess(int(grown), 1 << 20)

    def test_references(self):
        """what is given to spans and metrics is given back"""
        name, text, function = 'name ' * 2, 'text ' * 2, lambda: None
        label = 'label ' * 2

        def use():
            for _ in range(100):
                span = pitot.span(name, arg=text)
                with span, span:
                    pass
                span.arg = text
                span.arg = 5
                span.again()
                pitot.profile(function)
                span(function)
                pitot.counter('reference_total', name, {'label': label}).inc(10**6)
                with pitot.histogram('reference_seconds').time():
                    pass
                pitot.health(function)
                pitot.settings()
                for bad in (lambda: pitot.span(name, what=text), lambda: pitot.span(text, arg=[]),
                            lambda: pitot.counter(name), lambda: pitot.configure(what=text)):
                    self.assertRaises((TypeError, ValueError), bad)

        with recording():
            use()
            objects = (name, text, label, function, pitot.Span, pitot.Counter, None)
            gc.collect()
            before = [sys.getrefcount(thing) for thing in objects]
            blocks = sys.getallocatedblocks()
            use()
            gc.collect()
            after = [sys.getrefcount(thing) for thing in objects]
            # None is used by all and everyone, and immortal since 3.12.
            self.assertEqual(before[:-1], after[:-1])
            self.assertLess(after[-1] - before[-1], 50)
            self.assertLess(sys.getallocatedblocks() - blocks, 500)
