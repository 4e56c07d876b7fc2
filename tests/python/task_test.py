"""Spans of asyncio: a span follows its task."""
from support import TestCase, names, record


class TaskTest(TestCase):
    def test_tasks(self):
        """tasks that take turns on one thread have their own times and requests"""
        seen = record('''
            import asyncio, pitot
            async def inner(n):
                with pitot.span("inner", arg=n):
                    for _ in range(n): await asyncio.sleep(0)
            async def handle(n):
                with pitot.span("handle", arg=n, request=100 + n):
                    await inner(n)
                    await asyncio.create_task(inner(n))
                with pitot.span("after", arg=n): pass
            async def main():
                await asyncio.gather(*(handle(n) for n in range(1, 9)))
            asyncio.run(main())
            with pitot.span("outside"): pass
        ''')
        by_name = {}
        for span in seen.spans:
            by_name.setdefault(span.name, []).append(span)
        self.assertEqual({name: len(spans) for name, spans in by_name.items()},
                         {'handle': 8, 'inner': 16, 'after': 8, 'outside': 1})
        self.assertEqual({s.thread for s in seen.spans}, {seen.spans[0].thread})
        for handle in by_name['handle']:
            own = [s for s in by_name['inner'] if s.argument == handle.argument]
            self.assertEqual({s.request for s in own}, {handle.request})
            for span in own:
                self.assertLess(handle.start, span.start)
                self.assertLess(span.end, handle.end)
        self.assertEqual({s.request for s in by_name['after'] + by_name['outside']}, {None})
        # They did overlap: the order of the ends is that of the steps, all began at once.
        first = min(s.end for s in by_name['handle'])
        self.assertTrue(all(s.start < first for s in by_name['handle']))

    def test_cancellation(self):
        """a cancelled task leaves its spans and stays cancelled"""
        seen = record('''
            import asyncio, pitot
            @pitot.profile
            async def wait():
                with pitot.span("waiting", request=5):
                    await asyncio.Event().wait()
            async def main():
                task = asyncio.create_task(wait())
                await asyncio.sleep(0)
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    with pitot.span("caught"): pass
                assert task.cancelled()
                try:
                    await asyncio.wait_for(wait(), 0.01)
                except asyncio.TimeoutError:
                    with pitot.span("late"): pass
            asyncio.run(main())
        ''')
        self.assertEqual(names(seen), ['waiting', 'wait', 'caught', 'waiting', 'wait', 'late'])
        self.assertEqual([s.request for s in seen.spans], [5, None, None, 5, None, None])

    def test_foreign_context(self):
        """a generator that ends in another context than it began in is not an error"""
        seen = record('''
            import contextvars, pitot
            def steps():
                with pitot.span("steps", request=3):
                    yield 1
                    yield 2
            generator = steps()
            contextvars.copy_context().run(next, generator)
            contextvars.copy_context().run(list, generator)
            with pitot.span("outside"): pass
        ''')
        self.assertEqual([(s.name, s.request) for s in seen.spans],
                         [('steps', 3), ('outside', None)])
