#include "libpitot/flops_counter.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 64 /* one descriptor per thread and event */

static const char tasks_path[] = "/proc/self/task";

struct pt_flops_event {
    int fd;
    double weight;
};

#define RAW_EVENT(event, umask) ((umask) << 8 | (event))

/* Events of Intel and AMD. */
enum { FP_ARITH_INST_RETIRED = 0xc7, RETIRED_SSE_AVX_FLOPS = 0x03 };
enum {
    SCALAR_DOUBLE = 0x01,
    SCALAR_SINGLE = 0x02,
    PACKED_128_DOUBLE = 0x04,
    PACKED_128_SINGLE = 0x08,
    PACKED_256_DOUBLE = 0x10,
    PACKED_256_SINGLE = 0x20,
    PACKED_512_DOUBLE = 0x40,
    PACKED_512_SINGLE = 0x80,
    ALL_FLOPS = 0xff,
};

/* The weight is the number of operations per instruction; umasks with the same weight are one
 * event. */
static const struct kind {
    uint64_t config;
    double weight;
} intel[] = {
    { RAW_EVENT(FP_ARITH_INST_RETIRED, SCALAR_DOUBLE | SCALAR_SINGLE), 1 },
    { RAW_EVENT(FP_ARITH_INST_RETIRED, PACKED_128_DOUBLE), 2 },
    { RAW_EVENT(FP_ARITH_INST_RETIRED, PACKED_128_SINGLE | PACKED_256_DOUBLE), 4 },
    { RAW_EVENT(FP_ARITH_INST_RETIRED, PACKED_256_SINGLE | PACKED_512_DOUBLE), 8 },
    { RAW_EVENT(FP_ARITH_INST_RETIRED, PACKED_512_SINGLE), 16 },
}, amd[] = { { RAW_EVENT(RETIRED_SSE_AVX_FLOPS, ALL_FLOPS), 1 } };

struct kinds {
    const struct kind *at;
    size_t count;
};

#if defined(__x86_64__)
static struct kinds find_kinds(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_is("intel"))
        return (struct kinds){ intel, PT_COUNT(intel) };
    if (__builtin_cpu_is("amd"))
        return (struct kinds){ amd, PT_COUNT(amd) };
    return (struct kinds){ NULL, 0 };
}
#else
static struct kinds find_kinds(void) {
    (void)intel;
    (void)amd;
    return (struct kinds){ NULL, 0 };
}
#endif

static int open_event(const struct kind *kind, pid_t thread) {
    struct perf_event_attr attr = { 0 };
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_RAW;
    attr.config = kind->config;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.inherit = 1;
    attr.exclude_kernel = attr.exclude_hv = 1;
    long fd = syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int open_thread(struct pt_flops_counter *c, const struct kinds *kinds, pid_t thread) {
    for (size_t i = 0; i < kinds->count; i++) {
        int fd = open_event(&kinds->at[i], thread);
        if (fd == -ESRCH)
            return 0; /* it has ended */
        if (fd < 0)
            return fd;
        c->events[c->event_count++] = (struct pt_flops_event){ fd, kinds->at[i].weight };
    }
    return 0;
}

static int open_threads(struct pt_flops_counter *c, const struct kinds *kinds, DIR *tasks) {
    int rc = 0, count = 0;
    for (struct dirent *task = readdir(tasks); task && !rc; task = readdir(tasks)) {
        pid_t thread = (pid_t)strtol(task->d_name, NULL, 10);
        if (thread > 0)
            rc = ++count > THREADS_MAX ? -E2BIG : open_thread(c, kinds, thread);
    }
    return rc;
}

int pt_flops_counter_open(struct pt_flops_counter *c) {
    struct kinds kinds = find_kinds();
    *c = (struct pt_flops_counter){ 0 };
    if (kinds.count == 0)
        return -ENOENT;
    DIR *tasks = opendir(tasks_path);
    if (!tasks)
        return -errno;
    c->events = calloc(THREADS_MAX * kinds.count, sizeof *c->events);
    int rc = c->events ? open_threads(c, &kinds, tasks) : -ENOMEM;
    closedir(tasks);
    if (rc)
        pt_flops_counter_close(c);
    return rc;
}

double pt_flops_scale(uint64_t count, uint64_t enabled_ns, uint64_t running_ns) {
    if (running_ns == 0)
        return enabled_ns == 0 ? (double)count : NAN;
    return (double)count * ((double)enabled_ns / (double)running_ns);
}

double pt_flops_counter_read(const struct pt_flops_counter *c) {
    double sum = c->event_count > 0 ? 0 : NAN;
    for (size_t i = 0; i < c->event_count; i++) {
        uint64_t values[3]; /* count, time enabled, time running */
        if (read(c->events[i].fd, values, sizeof values) != sizeof values)
            return NAN;
        sum += c->events[i].weight * pt_flops_scale(values[0], values[1], values[2]);
    }
    return sum;
}

void pt_flops_counter_close(struct pt_flops_counter *c) {
    for (size_t i = 0; i < c->event_count; i++)
        close(c->events[i].fd);
    free(c->events);
    *c = (struct pt_flops_counter){ 0 };
}
