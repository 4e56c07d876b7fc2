/* bench/bench.h -- what the benchmark programs share: CPU time, interleaved minima, tables.
 *
 * Machines are noisy, so both sides of a ratio run in turn in one process and
 * the smallest time of several rounds counts. */
#ifndef PT_BENCH_H
#define PT_BENCH_H

#include "base/clock.h"

#include <stdio.h>

static inline int64_t bench_cpu_ns(void) {
    return pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct bench_side {
    const char *name;
    void (*run)(void *user, int iterations);
    void *user;
    int64_t best_ns; /* CPU time of one iteration */
};

/* Runs the sides in turn, `rounds` times, and keeps the minimum of each. */
static inline void bench_interleave(struct bench_side *sides, int count, int rounds,
                                    int iterations) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            int64_t before_ns = bench_cpu_ns();
            sides[i].run(sides[i].user, iterations);
            int64_t each_ns = (bench_cpu_ns() - before_ns) / iterations;
            if (sides[i].best_ns == 0 || each_ns < sides[i].best_ns)
                sides[i].best_ns = each_ns;
        }
}

/* A row of the table of results: what, ours, theirs, ratio, goal. */
static inline void bench_row(const char *what, double ours, double reference, const char *unit,
                             double ratio, const char *goal) {
    printf("| %s | %.2f %s | %.2f %s | %.2f | %s |\n", what, ours, unit, reference, unit, ratio,
           goal);
}

#endif
