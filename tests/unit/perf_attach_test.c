/* Perf events of a process that starts threads all the time: this one. */
#include "test.h"

#include "base/clock.h"
#include "profile/sample/perf_event.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define ROUNDS  21
#define LIFE_NS (10 * PT_NS_PER_MS) /* of a thread, in CPU time */

static bool must_end;
static uint32_t running;

static void burn(clockid_t clock, int64_t cpu_ns) {
    int64_t end_ns = pt_clock_ns(clock) + cpu_ns;
    while (pt_clock_ns(clock) < end_ns)
        continue;
}

/* Early in its life a thread starts the next, so that there are always several. */
static void *live(void *nothing) {
    pthread_t next;
    burn(CLOCK_THREAD_CPUTIME_ID, LIFE_NS / 8);
    if (!__atomic_load_n(&must_end, __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
        if (pthread_create(&next, NULL, live, NULL))
            abort();
        pthread_detach(next);
    }
    burn(CLOCK_THREAD_CPUTIME_ID, LIFE_NS * 7 / 8);
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
    return nothing;
}

/* What the kernel counted of the CPU time that was used meanwhile. */
static double counted_share(const struct pt_fs *fs) {
    struct pt_perf_options o = { .rate_hz = 99, .stack_bytes = 8192 };
    struct pt_perf perf;
    struct pt_err err;
    pid_t pid = getpid();
    int64_t before_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int rc = pt_perf_open_processes(&perf, fs, &o, &pid, 1, &err);
    if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS)
        return -1;
    assert_int_equal(rc, 0);
    burn(CLOCK_PROCESS_CPUTIME_ID, 2 * LIFE_NS);
    pt_perf_stop(&perf);
    int64_t used_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
    int64_t counted_ns = pt_perf_counts(&perf).cpu_ns;
    pt_perf_close(&perf);
    return (double)counted_ns / (double)used_ns;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The counter runs on while the host does not run this machine, and the clock does not: one round
 * may have too much. */
static void test_attach(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_err err;
    double shares[ROUNDS];
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    running = 1;
    pthread_t first;
    assert_int_equal(pthread_create(&first, NULL, live, NULL), 0);
    pthread_detach(first);
    for (int i = 0; i < ROUNDS; i++)
        shares[i] = counted_share(&fs);
    __atomic_store_n(&must_end, true, __ATOMIC_RELAXED);
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0)
        burn(CLOCK_THREAD_CPUTIME_ID, PT_NS_PER_MS);
    pt_fs_close(&fs);
    qsort(shares, ROUNDS, sizeof *shares, ascending);
    if (shares[0] < 0)
        skip(); /* cycles are counted here, or it is forbidden */
    assert_true(shares[ROUNDS / 2] > 0.2);
    assert_true(shares[ROUNDS / 2] < 1.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_attach, "C241: threads that start during the attaching count once"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
