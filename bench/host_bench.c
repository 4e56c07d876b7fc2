/* bench/host_bench.c -- a host tick against the bare reads of the same six files.
 *
 * The limit: pread of kept descriptors and a byte loop that converts every
 * integer. Ours: the cpu, mem, disk and net collectors into a sample, and the
 * sample appended to a journal with write(2). Hot: back to back. Paced: once a
 * second with cold caches (argument "paced"). */
#include "sampler/sampler.h"
#include "bench.h"
#include "store/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const paths[] = { "/proc/stat",   "/proc/loadavg",   "/proc/meminfo",
                                     "/proc/vmstat", "/proc/diskstats", "/proc/net/dev" };

struct limit {
    int fds[PT_COUNT(paths)];
    char buffer[1 << 16];
    uint64_t sum;
    bool must_scan;
};

static uint64_t scan_integers(const char *at, const char *end) {
    uint64_t sum = 0, value = 0;
    bool in_number = false;
    for (; at < end; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (digit <= 9) {
            value = value * 10 + digit;
            in_number = true;
        } else if (in_number) {
            sum += value;
            value = 0;
            in_number = false;
        }
    }
    return sum;
}

static void run_limit(void *user, int iterations) {
    struct limit *l = user;
    while (iterations-- > 0)
        for (size_t i = 0; i < PT_COUNT(paths); i++) {
            ssize_t n = pread(l->fds[i], l->buffer, sizeof l->buffer, 0);
            if (l->must_scan && n > 0)
                l->sum += scan_integers(l->buffer, l->buffer + n);
        }
}

struct tick {
    struct pt_fs fs;
    struct pt_target target;
    struct pt_sampler sampler;
    struct pt_sample sample;
    struct pt_journal journal;
};

static void run_tick(void *user, int iterations) {
    struct tick *t = user;
    while (iterations-- > 0) {
        pt_sample_clear(&t->sample);
        pt_sampler_tick(&t->sampler, &t->sample);
        if (pt_journal_write(&t->journal, &t->sample))
            abort();
    }
}

static void open_tick(struct tick *t, const char *journal) {
    struct pt_err err = { "" };
    struct pt_sampler_options options = { .interval_ns = PT_NS_PER_SECOND,
                                          .fs = &t->fs,
                                          .target = &t->target,
                                          .fd_budget = 1000,
                                          .is_enabled = { true, true, true, true } };
    const uint8_t uuid[16] = { 0 };
    if (pt_fs_open(&t->fs, "/proc", "/sys", "/", &err) ||
        pt_sampler_init(&t->sampler, &options, &err) || pt_sampler_open(&t->sampler, &err) ||
        pt_journal_create(&t->journal, journal, uuid, &t->sampler.schema, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    pt_sample_init(&t->sample, &t->sampler.schema);
}

static void run_paced(struct bench_side *sides, int count, int seconds) {
    for (int second = 0; second < seconds; second++)
        for (int i = 0; i < count; i++) {
            usleep(1000000 / (unsigned)count);
            int64_t before_ns = bench_cpu_ns();
            sides[i].run(sides[i].user, 1);
            int64_t each_ns = bench_cpu_ns() - before_ns;
            if (sides[i].best_ns == 0 || each_ns < sides[i].best_ns)
                sides[i].best_ns = each_ns;
        }
}

/* What a second of other work does to the caches, in milliseconds. */
static void evict_caches(void) {
    static char memory[96 << 20];
    static char value;
    memset(memory, ++value, sizeof memory);
}

static void run_cold(struct bench_side *sides, int count, int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            evict_caches();
            int64_t before_ns = bench_cpu_ns();
            sides[i].run(sides[i].user, 1);
            int64_t each_ns = bench_cpu_ns() - before_ns;
            if (sides[i].best_ns == 0 || each_ns < sides[i].best_ns)
                sides[i].best_ns = each_ns;
        }
}

/* Percent of one CPU for the bare reads at 1 kHz, or for waking up alone: bench/record_bench.py. */
static int print_bare_share(struct limit *l, bool must_read) {
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    int64_t before_ns = bench_cpu_ns();
    for (int i = 0; i < 2000; i++) {
        next.tv_nsec += PT_NS_PER_MS;
        next.tv_sec += next.tv_nsec / PT_NS_PER_SECOND;
        next.tv_nsec %= PT_NS_PER_SECOND;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (must_read)
            run_limit(l, 1);
    }
    printf("%.2f\n", (double)(bench_cpu_ns() - before_ns) / 2e9 * 100);
    return 0;
}

int main(int argc, char **argv) {
    static struct limit reads, scans = { .must_scan = true };
    static struct tick tick;
    char journal[64];
    snprintf(journal, sizeof journal, "/var/tmp/pitot-bench-%d.pitot", (int)getpid());
    for (size_t i = 0; i < PT_COUNT(paths); i++)
        reads.fds[i] = scans.fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
    if (argc > 1 && strncmp(argv[1], "bare", 4) == 0)
        return print_bare_share(&reads, strcmp(argv[1], "bare-wake") != 0);
    open_tick(&tick, journal);
    run_tick(&tick, 10);
    uint64_t bytes = tick.journal.byte_count, samples = tick.journal.sample_count;

    struct bench_side sides[] = { { "bare pread", run_limit, &reads, 0 },
                                  { "bare pread + scan", run_limit, &scans, 0 },
                                  { "pitot host tick", run_tick, &tick, 0 } };
    bool is_paced = argc > 1 && strcmp(argv[1], "paced") == 0;
    if (argc > 1 && strcmp(argv[1], "cold") == 0)
        run_cold(sides, 3, 100);
    else if (is_paced)
        run_paced(sides, 3, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10);
    else
        bench_interleave(sides, 3, 20, 500);
    double limit_us = (double)sides[1].best_ns / 1e3, ours_us = (double)sides[2].best_ns / 1e3;
    bool is_cold = argc > 1 && strcmp(argv[1], "cold") == 0;
    bench_row(is_paced  ? "host tick, paced at 1 Hz"
              : is_cold ? "host tick, caches emptied before each"
                        : "host tick, hot",
              ours_us, limit_us, "us", ours_us / limit_us,
              is_paced  ? "<= 1.5"
              : is_cold ? ""
                        : "<= 1.25");
    fprintf(stderr, "bare pread without scan: %.2f us\n", (double)sides[0].best_ns / 1e3);
    fprintf(stderr, "journal: %.1f bytes per host sample\n",
            (double)(tick.journal.byte_count - bytes) /
                (double)(tick.journal.sample_count - samples));
    unlink(journal);
    return 0;
}
