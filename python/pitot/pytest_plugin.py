"""A pytest plugin: time and memory limits for tests.

    @pytest.mark.pitot(max_seconds=1, max_ram_mb=500, max_growth_mb=10)
    def test_load(): ...

A passing test that exceeds a limit fails and reports the value. `--pitot` lists the usage of marked
tests."""
import pytest

from pitot.measure import PerformanceProfiler

_LIMITS = {
    'max_seconds': ('took {:.3f} s', lambda m: m.timing.wall_time_s),
    'max_ram_mb': ('had up to {:.1f} MB', lambda m: m.memory.peak_ram_mb),
    'max_growth_mb': ('grew by {:.1f} MB',
                      lambda m: m.memory.final_ram_mb - m.memory.initial_ram_mb),
}


def pytest_addoption(parser):
    parser.addoption('--pitot', action='store_true',
                     help='list time and memory of tests marked pitot')


def pytest_configure(config):
    config.addinivalue_line('markers', 'pitot(max_seconds=, max_ram_mb=, max_growth_mb=): '
                                       'the test fails if it exceeds a limit')
    config.pitot_metrics = {} # by the id of the test


def _limits(marker):
    unknown = sorted(set(marker.kwargs) - set(_LIMITS))
    if unknown or marker.args:
        raise pytest.UsageError(f'pytest.mark.pitot takes {", ".join(_LIMITS)} by name, not '
                                f'{", ".join([*unknown, *map(repr, marker.args)])}')
    return marker.kwargs


def excesses(metrics, limits):
    """One text per exceeded limit."""
    for name, limit in limits.items():
        words, figure = _LIMITS[name]
        value = figure(metrics)
        if value is not None and value > limit:
            yield f'{words.format(value)}, {name} is {limit}'


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    marker = item.get_closest_marker('pitot')
    if marker is None:
        yield
        return
    limits = _limits(marker)
    profiler = PerformanceProfiler(track_gpu=False, memory_interval=0.05)
    with profiler.profile(item.name):
        outcome = yield
    metrics = profiler.get_metrics()
    item.config.pitot_metrics[item.nodeid] = metrics
    broken = '; '.join(excesses(metrics, limits))
    if broken and outcome.excinfo is None:
        _fail(outcome, f'{item.name} {broken}')


def _fail(outcome, text):
    failure = pytest.fail.Exception(text, pytrace=False)
    if not hasattr(outcome, 'force_exception'):
        raise failure # pluggy before 1.1
    outcome.force_exception(failure)


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption('pitot'):
        return
    terminalreporter.section('pitot')
    for name, metrics in config.pitot_metrics.items():
        terminalreporter.line(f'{name}: {metrics.summary()}')
