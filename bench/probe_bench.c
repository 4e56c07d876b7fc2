/* Cost of a call of libpitot in the calling program, on one thread and on two, compared with the
 * minimum cost of such a call: two reads of the ticks and a store, or an add. Linked to the shared
 * library, as programs are. */
#include "bench.h"
#include "probe_peers.h"

#include "inside/region/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pitot/pitot.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS      7
#define CALLS       3000000 /* long enough for both threads to run at the same time */
#define THREADS_MAX 2
#define RING        4096

static pt_counter counter;
static pt_histogram histogram;
static struct pt_region region;
double bench_values[BENCH_VALUES];

static _Thread_local struct { uint64_t start, end; } ring[RING];
static _Thread_local uint64_t local_count;
static uint64_t atomic_count;

static void limit_of_span(int calls) {
    for (int i = 0; i < calls; i++) {
        uint64_t start = pt_ticks_();
        __asm__ volatile("" ::: "memory");
        ring[i % RING].start = start;
        ring[i % RING].end = pt_ticks_();
    }
}

/* The recorder's part: makes room. */
static void drain(void) {
    struct pt_region_layout *at = region.at;
    uint32_t self = (uint32_t)gettid();
    for (int i = 1; i < PT_REGION_THREADS; i++)
        if (pt_region_load(&at->threads[i].thread) == self)
            pt_region_store(&at->threads[i].read, pt_region_load(&at->threads[i].written));
}

static void put_spans(int calls) {
    for (int i = 0; i < calls; i++) {
        if (i % RING == 0)
            drain();
        PT_SPAN(span, "bench");
        __asm__ volatile("" ::: "memory");
    }
}

static void put_spans_off(int calls) {
    for (int i = 0; i < calls; i++) {
        PT_SPAN(span, "bench");
        __asm__ volatile("" ::: "memory");
    }
}

static void limit_of_counter(int calls) {
    for (int i = 0; i < calls; i++) {
        local_count += 1;
        __asm__ volatile("" ::: "memory");
    }
}

static void add_atomically(int calls) {
    for (int i = 0; i < calls; i++)
        __atomic_fetch_add(&atomic_count, 1, __ATOMIC_RELAXED);
}

static void add_to_counter(int calls) {
    for (int i = 0; i < calls; i++)
        pt_counter_add(counter, 1);
}

static void record_in_histogram(int calls) {
    for (int i = 0; i < calls; i++)
        pt_histogram_record(histogram, bench_values[i % BENCH_VALUES]);
}

/* Evenly over nine orders of magnitude, not in order. */
static void make_values(void) {
    uint32_t random = 1;
    for (int i = 0; i < BENCH_VALUES; i++) {
        random = random * 1664525 + 1013904223;
        bench_values[i] = pow(10, -6 + 9 * (double)random / 0x1p32);
    }
}

struct side {
    void (*run)(int calls);
    double best_ns[THREADS_MAX + 1]; /* by number of threads */
};

static pthread_barrier_t is_there;
static struct side *current;
static double took_ns[THREADS_MAX];

static void *measure(void *index) {
    pthread_barrier_wait(&is_there);
    current->run(CALLS / 10);
    int64_t before_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    current->run(CALLS);
    took_ns[(intptr_t)index] = (double)(pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns) / CALLS;
    return NULL;
}

static void measure_side(struct side *side, int thread_count) {
    pthread_t threads[THREADS_MAX];
    double worst_ns = 0;
    current = side;
    pthread_barrier_init(&is_there, NULL, (unsigned)thread_count);
    for (intptr_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, measure, (void *)i))
            abort();
    for (int i = 0; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
        worst_ns = took_ns[i] > worst_ns ? took_ns[i] : worst_ns;
    }
    pthread_barrier_destroy(&is_there);
    double *best_ns = &side->best_ns[thread_count];
    if (*best_ns == 0 || worst_ns < *best_ns)
        *best_ns = worst_ns;
}

static void measure_all(struct side *sides, int count) {
    for (int round = 0; round < ROUNDS; round++)
        for (int threads = 1; threads <= THREADS_MAX; threads++)
            for (int i = 0; i < count; i++)
                if (sides[i].run)
                    measure_side(&sides[i], threads);
}

static void print(const char *what, const struct side *ours, const struct side *reference,
                  const char *goal) {
    if (!reference->run)
        return;
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        char row[96];
        snprintf(row, sizeof row, "%s, %d thread%s", what, threads, threads > 1 ? "s" : "");
        bench_row(row, ours->best_ns[threads], reference->best_ns[threads], "ns",
                  ours->best_ns[threads] / reference->best_ns[threads], goal);
    }
}

static void open_region(const char *directory) {
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && !pt_region_open(&region, dirfd(d), e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(directory);
    if (!region.at)
        abort();
}

/* As under a recorder: the library finds its directory in the environment when it is loaded. */
static void run_again_with_region(char **arguments) {
    char directory[] = "/dev/shm/pitot-bench-XXXXXX";
    if (!mkdtemp(directory) || setenv(PITOT_REGION_VARIABLE, directory, 1))
        abort();
    execv("/proc/self/exe", arguments);
    abort();
}

static void measure_off(void) {
    enum { SPAN, ADD, POINT, SIDES };
    struct side sides[SIDES] = { { .run = put_spans_off },
                                 { .run = limit_of_counter },
                                 { .run = bench_lttng_point } };
    pt_stop();
    measure_all(sides, SIDES);
    print("span while off, against an add", &sides[SPAN], &sides[ADD], "<= 1 ns");
    print("span while off, against two LTTng tracepoints without a session", &sides[SPAN],
          &sides[POINT], "< 1");
}

static void measure_on(void) {
    enum { SPAN, SPAN_LIMIT, COUNTER, OWN_ADD, ATOMIC, PROMETHEUS, HISTOGRAM, OBSERVE, SIDES };
    struct side sides[SIDES] = {
        [SPAN] = { .run = put_spans },
        [SPAN_LIMIT] = { .run = limit_of_span },
        [COUNTER] = { .run = add_to_counter },
        [OWN_ADD] = { .run = limit_of_counter },
        [ATOMIC] = { .run = add_atomically },
        [PROMETHEUS] = { .run = bench_prometheus_count },
        [HISTOGRAM] = { .run = record_in_histogram },
        [OBSERVE] = { .run = bench_prometheus_observe },
    };
    measure_all(sides, SIDES);
    print("span, against two ticks and a store", &sides[SPAN], &sides[SPAN_LIMIT], "<= 1.2");
    print("counter, against a thread's own add", &sides[COUNTER], &sides[OWN_ADD], "<= 1.5 ns");
    print("counter, against a relaxed atomic add", &sides[COUNTER], &sides[ATOMIC], "< 1");
    print("counter, against prometheus-cpp", &sides[COUNTER], &sides[PROMETHEUS], "< 1");
    print("histogram, against a relaxed atomic add", &sides[HISTOGRAM], &sides[ATOMIC], "<= 5 ns");
    print("histogram, against prometheus-cpp", &sides[HISTOGRAM], &sides[OBSERVE], "< 1");
}

int main(int argument_count, char **arguments) {
    const char *directory = getenv(PITOT_REGION_VARIABLE);
    if (argument_count == 1 && !directory)
        run_again_with_region(arguments);
    make_values();
    counter = pt_counter_new("bench_calls", "", "", NULL);
    histogram = pt_histogram_new("bench_seconds", "s", "", NULL);
    open_region(directory);
    measure_on();
    if (pt_dropped() > 0)
        fprintf(stderr, "probe_bench: %llu spans were dropped\n", (unsigned long long)pt_dropped());
    measure_off();
    pt_region_close(&region);
    return 0;
}
