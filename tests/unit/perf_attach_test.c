/* Perf events of a process that starts threads all the time: this one. */
#include "test.h"

#include "base/clock.h"
#include "profile/sample/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
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

/* Events write into loud rings only if there are some. */
static void test_loud(void **state) {
    (void)state;
    struct pt_perf *p = pt_calloc(1, sizeof *p);
    p->cpu_count = p->ring_count = 2;
    pt_perf_set_loud(p, true);
    assert_false(p->is_loud);
    p->ring_count = 4;
    pt_perf_set_loud(p, true);
    assert_true(p->is_loud);
    pt_perf_set_loud(p, false);
    assert_false(p->is_loud);
    pt_free(p);
}

/* A file instead of an event: what the kernel counted, and the records that it lost. */
static struct pt_perf_event event_of(uint64_t count, uint64_t lost, size_t words) {
    const uint64_t read_by_us[] = { count, lost };
    int fd = memfd_create("event", MFD_CLOEXEC);
    assert_int_equal(write(fd, read_by_us, 8 * words), 8 * words);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return (struct pt_perf_event){ .fd = fd };
}

static void test_counts(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pt_perf *p = pt_calloc(1, sizeof *p);
        p->counts_time = i != 1;
        pt_grow(&p->events, &p->event_capacity, 2, sizeof *p->events);
        p->events[p->event_count++] = event_of(1000, 3, 2);
        p->events[p->event_count++] = event_of(200, 4, i == 2 ? 1 : 2); /* an old kernel */
        struct pt_perf_counts counts = pt_perf_counts(p);
        assert_int_equal(counts.cpu_ns, i == 0 ? 1200 : -1);
        assert_int_equal(counts.lost, i == 2 ? -1 : 7);
        pt_perf_close(p);
        assert_int_equal(p->event_count, 0);
        pt_free(p);
    }
}

/* What is opened for this process; the rest is skipped where perf events are forbidden. */
static void test_opened(void **state) {
    (void)state;
    struct pt_fs fs;
    struct pt_err err = { "" };
    struct pt_perf *p = pt_calloc(1, sizeof *p);
    pid_t pid = getpid(), nobody = INT32_MAX - 9;
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    struct pt_perf_options o = { .rate_hz = 99, .stack_bytes = 8200, .wants_python = true };
    int rc = pt_perf_open_processes(p, &fs, &o, &pid, 1, &err);
    int input = dup(STDIN_FILENO);
    if (rc) {
        assert_true(rc == -EACCES || rc == -EPERM || rc == -ENOSYS);
        assert_true(err.text[0] != '\0');
        assert_int_equal(p->event_count + p->ring_count, 0);
    } else {
        pt_perf_close(p);
        close(STDIN_FILENO); /* 0 is a descriptor as any other */
        assert_int_equal(pt_perf_open_processes(p, &fs, &o, &pid, 1, &err), 0);
        assert_true(p->cpu_count > 0);
        assert_true(p->ring_count == p->cpu_count || p->ring_count == 2 * p->cpu_count);
        assert_int_equal(p->event_count, p->cpu_count); /* one thread */
        assert_non_null(strstr(p->method, "perf: "));
        assert_non_null(strstr(p->method, ", 9 KiB stacks"));
        assert_int_equal(p->left_out, 0);
        /* a quarter of a second of samples needs the least that is asked for, or what is allowed */
        assert_true(p->rings[0].size >= PT_PERF_RING_LEAST && p->rings[0].size <= 1 << 20);
        for (size_t i = 0; i < p->event_count; i++)
            assert_int_equal(p->events[i].cpu, i);
        for (size_t i = 0; i < p->ring_count; i++) {
            assert_non_null(p->rings[i].page);
            assert_true(fcntl(p->ring_fds[i], F_GETFD) >= 0);
        }
        assert_int_equal(p->ring_fds[0], STDIN_FILENO); /* the lowest that was free */
        pt_perf_close(p);
        /* a command that waits for its exec */
        o = (struct pt_perf_options){ .rate_hz = 99, .stack_bytes = 8192 };
        assert_int_equal(pt_perf_open_command(p, &fs, &o, pid, &err), 0);
        assert_int_equal(p->ring_count, p->cpu_count);
        assert_non_null(strstr(p->method, ", 8 KiB stacks"));
        pt_perf_close(p);
        assert_int_equal(pt_perf_open_processes(p, &fs, &o, &nobody, 1, &err), -ESRCH);
        assert_non_null(strstr(err.text, "there is no process"));
        const pid_t both[] = { pid, nobody }; /* only the first must be there */
        assert_int_equal(pt_perf_open_processes(p, &fs, &o, both, 2, &err), 0);
        assert_int_equal(p->left_out, 0);
        pt_perf_close(p);
        o.rate_hz = INT32_MAX;
        assert_int_equal(pt_perf_open_processes(p, &fs, &o, &pid, 1, &err), -EINVAL);
        assert_non_null(strstr(err.text, "at most"));
        assert_int_equal(p->event_count + p->ring_count, 0);
    }
    pt_perf_close(p);
    dup2(input, STDIN_FILENO);
    close(input);
    pt_fs_close(&fs);
    pt_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_loud, "C241: events are loud only with rings of their own"),
        PT_TEST(test_counts, "C241: counts of all events are added, or are unknown"),
        PT_TEST(test_opened, "C241: a process has one event per thread and CPU"),
        PT_TEST(test_attach, "C241: threads that start during the attaching count once"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
