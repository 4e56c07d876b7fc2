#!/usr/bin/python3
"""What the classes of the documents cost in a program with torch.

    bench/measure_bench.py BUILD_DIRECTORY

A step with and one without take turns; CPU time counts, by
the median of the differences of neighbours, so that a busy machine slows both alike."""
import statistics
import time
import timeit

import bench
from bench import cpu_seconds

PAIRS, BATCH = 100, 128


def slowdown(plain, measured):
    """(seconds of the plain step, part by which the other is slower)."""
    for call in (plain, measured):
        call()
    pairs = []
    for i in range(PAIRS):
        order = (plain, measured) if i % 2 else (measured, plain)
        taken = {call: cpu_seconds(call) for call in order}
        pairs.append((taken[plain], taken[measured]))
    step = statistics.median(first for first, _ in pairs)
    return step, statistics.median(second - first for first, second in pairs) / step


def step_row(what, plain, measured):
    step, part = slowdown(plain, measured)
    bench.row(what, f'{part * 100:+.2f} %', f'{step * 1e3:.1f} ms', goal='< 1 % slower')


def torch_step(torch):
    model = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(BATCH, 784), torch.randint(0, 10, (BATCH,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    return step


def torch_rows(pitot):
    try:
        import torch
    except ImportError:
        bench.not_measured('PerformanceProfiler around a torch step', 'no torch')
        return
    step = torch_step(torch)
    profiler = pitot.PerformanceProfiler(detailed_memory=True)

    def profiled():
        with profiler.profile('step'):
            step()
    step_row('PerformanceProfiler around a step of torch vs. the step alone', step, profiled)

    from pitot.metrics import MetricsCollector, MetricsConfig
    metrics = MetricsCollector(MetricsConfig(enable_metrics=True))

    def collected():
        with metrics.time_component('total_step'):
            step()
        metrics.record_throughput(samples=BATCH, seconds=0.01)
        metrics.step()
    step_row('MetricsCollector with all basics on vs. the step alone', step, collected)
    pitot.configure(enable_metrics=False)


def operation_row(pitot):
    profiler = pitot.PerformanceProfiler()

    def operation():
        with profiler.profile('nothing'):
            pass
    taken = statistics.median(cpu_seconds(operation) for _ in range(1000))
    bench.row('PerformanceProfiler.profile() around nothing', f'{taken * 1e6:.0f} us')


def sampling_row(pitot):
    """CPU of this process while it sleeps, with the sampler and without, by turns."""
    profiler = pitot.PerformanceProfiler(detailed_memory=True, memory_interval=0.1)

    def sampled():
        with profiler.profile('sleep'):
            time.sleep(2)
    shares = [cpu_seconds(sampled) - cpu_seconds(lambda: time.sleep(2)) for _ in range(5)]
    bench.row('memory sampled every 0.1 s in the background',
              f'{statistics.median(shares) / 2 * 100:.3f} % of one core', goal='< 0.1 %')


def component_row(pitot):
    from pitot.metrics import MetricsCollector, MetricsConfig
    names = {'own': MetricsCollector(MetricsConfig(enable_metrics=True)),
             'document': bench.DocumentCollector(shortest=0.001)}
    pitot.configure(auto_disable_on_slow=False)
    best = {}
    for _ in range(100):
        for name in ('own', 'document'):
            taken = timeit.timeit(f'with {name}.time_component("x"): pass', globals=names,
                                  number=2000) / 2000
            best[name] = min(best.get(name, taken), taken)
        time.sleep(0.01)
    pitot.configure(enable_metrics=False, auto_disable_on_slow=True)
    own, document = best['own'] * 1e9, best['document'] * 1e9
    bench.row('MetricsCollector.time_component(), a span and a histogram, vs. that '
              'of document 1', f'{own:.0f} ns', f'{document:.0f} ns', f'{document / own:.1f}')


def work(n):
    total = 0
    for i in range(n):
        total += i
    return total


def line_row(pitot):
    count = 20000
    profile = pitot.lines(work)
    plain = min(cpu_seconds(lambda: work(count)) for _ in range(20))
    with profile:
        traced = min(cpu_seconds(lambda: profile._function(count)) for _ in range(20))
    bench.row('line profile, for each line that is reached',
              f'{(traced - plain) / (2 * count) * 1e9:.0f} ns')


def main():
    with bench.package(bench.build_directory()):
        import pitot
        sampling_row(pitot)
        operation_row(pitot)
        component_row(pitot)
        line_row(pitot)
        torch_rows(pitot)


main()
