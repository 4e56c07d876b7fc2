"""Decorators: @pitot.profile, @pitot.span(...), @histogram.time()."""
import asyncio
import functools
import inspect

import pitot
from support import TestCase, names, record, recording


class ProfileTest(TestCase):
    def test_kinds(self):
        """functions of every kind are timed as a whole, under their own names or a given one"""
        seen = record('''
            import asyncio, functools, pitot
            @pitot.profile
            def plain(a, *, b): return a + b
            @pitot.profile("named", arg=4)
            def other(): return 1
            @pitot.span("spanned", tokens=2)
            def third(): return 2
            @pitot.profile
            def steps(n):
                for i in range(n): yield i
            @pitot.profile
            async def later(): await asyncio.sleep(0); return 3
            @pitot.profile
            async def many():
                yield 1
                yield 2
            class Thing:
                @pitot.profile
                def method(self): return self
                @pitot.profile
                @classmethod
                def of_class(cls): return cls
                @staticmethod
                @pitot.profile()
                def of_none(): return 5
            assert plain(1, b=2) == 3 and other() == 1 and third() == 2
            assert list(steps(3)) == [0, 1, 2]
            assert asyncio.run(later()) == 3
            async def collect(): return [x async for x in many()]
            assert asyncio.run(collect()) == [1, 2]
            thing = Thing()
            assert thing.method() is thing and Thing.of_class() is Thing and Thing.of_none() == 5
            assert pitot.profile(functools.partial(plain, 1))(b=3) == 4
        ''')
        self.assertEqual(names(seen), [
            'plain', 'named', 'spanned', 'steps', 'later', 'many', 'Thing.method',
            'Thing.of_class', 'Thing.of_none', 'plain', 'plain'])
        self.assertEqual([s.argument for s in seen.spans[1:3]], [4, 2])

    def test_looks(self):
        """a decorated function looks like the one it was"""
        async def coroutine():
            """Doc."""

        async def async_generator():
            yield

        def generator():
            yield

        self.assertEqual(pitot.profile(coroutine).__doc__, 'Doc.')
        self.assertEqual(pitot.profile(coroutine).__name__, 'coroutine')
        self.assertTrue(inspect.iscoroutinefunction(pitot.profile(coroutine)))
        self.assertTrue(inspect.iscoroutinefunction(
            pitot.profile(functools.partial(coroutine))))
        self.assertTrue(inspect.isasyncgenfunction(pitot.profile(async_generator)))
        self.assertTrue(inspect.isgeneratorfunction(pitot.profile(generator)))
        self.assertRaises(TypeError, pitot.profile, 5)

    def test_generators(self):
        """values, exceptions and the end go both ways through a decorated generator"""
        @pitot.profile
        def echo():
            got = yield 'ready'
            while got != 'end':
                try:
                    got = yield got
                except KeyError as error:
                    got = yield f'caught {error}'
            return 'done'

        with recording():
            generator = echo()
            self.assertEqual(next(generator), 'ready')
            self.assertEqual(generator.send(1), 1)
            self.assertEqual(generator.throw(KeyError('k')), "caught 'k'")
            with self.assertRaises(StopIteration) as end:
                generator.send('end')
            self.assertEqual(end.exception.value, 'done')
            generator = echo()
            next(generator)
            generator.close()
            self.assertRaises(StopIteration, next, generator)

    def test_async_generators(self):
        """the same for asynchronous ones, which are closed when they are left"""
        events = []

        @pitot.profile
        async def echo():
            try:
                got = yield 'ready'
                while True:
                    try:
                        got = yield got
                    except KeyError as error:
                        got = yield f'caught {error}'
            finally:
                events.append('closed')

        async def use():
            generator = echo()
            self.assertEqual(await generator.__anext__(), 'ready')
            self.assertEqual(await generator.asend(1), 1)
            self.assertEqual(await generator.athrow(KeyError('k')), "caught 'k'")
            with self.assertRaises(ValueError):
                await generator.athrow(ValueError())
            generator = echo()
            await generator.__anext__()
            await generator.aclose()

        with recording():
            asyncio.run(use())
        self.assertEqual(events, ['closed', 'closed'])

    def test_timer(self):
        """@histogram.time() observes each call, recursive ones too"""
        with recording():
            seconds = pitot.histogram('profile_test_seconds')

            @seconds.time()
            def down(n):
                return n and down(n - 1)
            down(9)
            with seconds.time():
                pass
            self.assertRaises(TypeError, seconds.time(), 5)
            self.assertGreaterEqual(seconds.quantile(1), 0)
