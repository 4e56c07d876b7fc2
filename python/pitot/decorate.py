"""Wraps functions of any kind so that their body runs inside a block.

`make` returns a new context manager for each call, so that calls may recurse and overlap. The block
of a generator lasts from its first step to its end, including the time between the steps."""
from pitot._native import span

# As in the module inspect, which is slow to import.
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def profile(target=None, **work):
    """Times each call of a function: @profile, @profile("name"), @profile("name", arg="cold")."""
    if target is None or isinstance(target, str):
        return lambda function: _profile(function, target, work)
    return _profile(target, None, work)


def _profile(function, name, work):
    return wrap(function, span(name or _name_of(function), **work).again)


def _name_of(function):
    inner = getattr(function, '__func__', function)
    inner = getattr(inner, 'func', inner) # of a functools.partial
    return getattr(inner, '__qualname__', None) or type(function).__qualname__


def wrap(function, make):
    """Returns a function like this one, with every call inside a block of make()."""
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(wrap(function.__func__, make))
    if not callable(function):
        raise TypeError(f'{function!r} is not a function')
    import functools
    return functools.wraps(function)(_wrapper_for(function)(function, make))


def _wrapper_for(function):
    while hasattr(function, 'func'): # unwrap functools.partial
        function = function.func
    flags = getattr(getattr(function, '__code__', None), 'co_flags', 0)
    if flags & _COROUTINE:
        return _around_coroutine
    if flags & _ASYNC_GENERATOR:
        return _around_async_generator
    if flags & _GENERATOR:
        return _around_generator
    return _around_call


def _around_call(function, make):
    def call(*args, **kwargs):
        with make():
            return function(*args, **kwargs)
    return call


def _around_coroutine(function, make):
    async def call(*args, **kwargs):
        with make():
            return await function(*args, **kwargs)
    return call


def _around_generator(function, make):
    def call(*args, **kwargs):
        with make():
            return (yield from function(*args, **kwargs))
    return call


def _around_async_generator(function, make):
    async def call(*args, **kwargs):
        with make():
            inner = function(*args, **kwargs)
            try:
                value = await inner.__anext__()
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        value = await inner.athrow(error)
                    else:
                        value = await inner.asend(sent)
            except StopAsyncIteration:
                return
            finally:
                await inner.aclose()
    return call
