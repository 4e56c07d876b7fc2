/* The same 10,000 series as in render_bench.c, written by prometheus-cpp. Prints a row. */
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <string>

static double cpu_ns() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class Builder, class Set> static void make(prometheus::Registry &registry,
                                                     Builder builder, int family, Set set) {
    auto &made = builder.Name("engine_requests_of_some_kind_" + std::to_string(family) +
                              (family % 2 ? "_total" : ""))
                     .Help("What the name says, so far")
                     .Register(registry);
    for (int i = 0; i < 100; i++)
        set(made.Add({ { "engine", std::to_string(i) },
                       { "model", "llama-" + std::to_string(i % 7) } }),
            family * 100 + i);
}

int main() {
    prometheus::Registry registry;
    for (int family = 0; family < 100; family++) {
        if (family % 2)
            make(registry, prometheus::BuildCounter(), family,
                 [](prometheus::Counter &c, int i) { c.Increment(i * 7919 + 1234567); });
        else
            make(registry, prometheus::BuildGauge(), family,
                 [](prometheus::Gauge &g, int i) { g.Set(i * 0.37); });
    }
    const prometheus::TextSerializer serializer;
    double best = 1e18;
    for (int round = 0; round < 15; round++) {
        double before = cpu_ns();
        if (serializer.Serialize(registry.Collect()).empty())
            return 1;
        best = std::min(best, cpu_ns() - before);
    }
    std::printf("| the same by prometheus-cpp | | %.2f ns per series | | |\n", best / 10000);
    return 0;
}
