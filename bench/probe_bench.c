/* What a call of libpitot costs in the program that makes it, on one thread and on two, beside the
 * least that such a call can be: two readings of the ticks and a store, an add. Linked to the
 * shared library, as programs are. */
#include "bench.h"

#include "region/reader.h"

#include <dirent.h>
#include <fcntl.h>
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
static pt_name span_name;
static struct pt_region region;

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
        if (pt_region_load(&at->header.owners[i]) == self)
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
    double value = 1e-6;
    for (int i = 0; i < calls; i++) {
        pt_histogram_record(histogram, value);
        value = value > 1e3 ? 1e-6 : value * 1.37;
    }
}

static void make_values(int calls) {
    volatile double sink;
    double value = 1e-6;
    for (int i = 0; i < calls; i++) {
        sink = value;
        value = value > 1e3 ? 1e-6 : value * 1.37;
    }
    (void)sink;
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
                measure_side(&sides[i], threads);
}

static void print(const char *what, const struct side *ours, const struct side *reference,
                  const char *goal) {
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

int main(void) {
    char directory[] = "/dev/shm/pitot-bench-XXXXXX";
    if (!mkdtemp(directory))
        return 1;
    struct side off[] = { { .run = put_spans_off }, { .run = limit_of_counter } };
    measure_all(off, 2);
    if (pt_start(directory))
        return 1;
    counter = pt_counter_new("bench", "", "", NULL);
    histogram = pt_histogram_new("bench", "", "", NULL);
    span_name = pt_name_once(&span_name, "bench");
    open_region(directory);
    enum { SPAN, SPAN_LIMIT, COUNTER, COUNTER_LIMIT, ATOMIC, HISTOGRAM, VALUES, SIDES };
    struct side sides[SIDES] = {
        [SPAN] = { .run = put_spans },         [SPAN_LIMIT] = { .run = limit_of_span },
        [COUNTER] = { .run = add_to_counter }, [COUNTER_LIMIT] = { .run = limit_of_counter },
        [ATOMIC] = { .run = add_atomically },  [HISTOGRAM] = { .run = record_in_histogram },
        [VALUES] = { .run = make_values },
    };
    measure_all(sides, SIDES);
    for (int threads = 1; threads <= THREADS_MAX; threads++)
        sides[HISTOGRAM].best_ns[threads] -= sides[VALUES].best_ns[threads];
    print("span, against two ticks and a store", &sides[SPAN], &sides[SPAN_LIMIT], "<= 1.2");
    print("span while off, against an add", &off[0], &off[1], "<= 1 ns");
    print("counter, against a thread's own add", &sides[COUNTER], &sides[COUNTER_LIMIT],
          "<= 1.5 ns");
    print("counter, against a relaxed atomic add", &sides[COUNTER], &sides[ATOMIC], "< 1");
    print("histogram, against a relaxed atomic add", &sides[HISTOGRAM], &sides[ATOMIC], "<= 5 ns");
    pt_region_close(&region);
    return 0;
}
