#include "profile/sample/perf_event.h"

#include "profile/sample/perf_record.h"
#include "profile/unwind/registers.h"

#include "base/clock.h"
#include "source/kernel/pid_list.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_NS          (250 * PT_NS_PER_MS) /* a quiet ring holds samples for this long */
#define RING_BYTES_LEAST (1u << 20)
#define RING_BYTES_MOST  (8u << 20)
#define RINGS_BYTES_MOST (128u << 20) /* over all CPUs */
#define LOUD_RING_BYTES  (1u << 20)
#define SAMPLE_BYTES     1024 /* without its stack */
#define MAX_ROUNDS       8    /* of looking for threads started in the meantime */

struct method {
    uint32_t type;
    uint64_t config;
    bool has_kernel;
    const char *name;
};

/* What is sampled: running processes, or a command that waits for its exec. */
struct target {
    const pid_t *pids;
    size_t count;
    bool is_command;
};

static const struct method cpu_methods[] = {
    { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, "hardware cycles, user and kernel" },
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, "cpu-clock, user and kernel" },
    { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, "hardware cycles, user only" },
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, "cpu-clock, user only" },
};

/* A thread leaves the CPU inside the kernel: without kernel samples there is nothing to see. */
static const struct method off_cpu_methods[] = {
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true, "context switches" },
};

static struct perf_event_attr make_attr(const struct method *method,
                                        const struct pt_perf_options *o, bool is_quiet) {
    struct perf_event_attr a = {
        .type = method->type,
        .size = sizeof a,
        .config = method->config,
        .sample_type = PT_PERF_SAMPLE_TYPE,
        .read_format = PERF_FORMAT_LOST,
        .sample_regs_user = pt_registers_mask,
        .sample_stack_user = (uint32_t)(o->stack_bytes < 65528 ? o->stack_bytes : 65528),
        .disabled = 1,
        .inherit = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .build_id = 1,
        .sample_id_all = 1,
        .exclude_kernel = !method->has_kernel,
        .exclude_hv = 1,
        .exclude_callchain_user = 1,
        .exclude_callchain_kernel = !method->has_kernel,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .context_switch = o->is_off_cpu,
    };
    if (o->is_off_cpu) {
        a.sample_period = 1;
    } else {
        a.freq = 1;
        a.sample_freq = (uint64_t)o->rate_hz;
    }
    /* the ring decides when to wake its reader; without loud rings, every sample wakes it */
    a.watermark = is_quiet;
    a.wakeup_events = !is_quiet;
    return a;
}

static int try_open(const struct perf_event_attr *attr, pid_t pid, int cpu) {
    int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* Kernels before 6.0 do not count lost records; those before 5.12 do not report build ids of
 * mappings.
 */
static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu) {
    int fd = try_open(attr, pid, cpu);
    if (fd == -EINVAL && attr->read_format) {
        attr->read_format = 0;
        fd = try_open(attr, pid, cpu);
    }
    if (fd == -EINVAL && attr->build_id) {
        attr->build_id = 0;
        fd = try_open(attr, pid, cpu);
    }
    return fd;
}

static void close_events(struct pt_perf *p, size_t from) {
    for (size_t i = from; i < p->event_count; i++)
        close(p->events[i].fd);
    p->event_count = from;
}

static void close_rings(struct pt_perf *p, size_t from) {
    for (size_t i = from; i < p->ring_count; i++) {
        pt_perf_ring_unmap(&p->rings[i]);
        close(p->ring_fds[i]);
    }
    p->ring_count = from;
}

void pt_perf_close(struct pt_perf *p) {
    close_events(p, 0);
    close_rings(p, 0);
    pt_free(p->events);
    *p = (struct pt_perf){ 0 };
}

/* An event with a mapped ring cannot be redirected to another ring. So each ring belongs to a dummy
 * event of our own thread, which counts nothing. */
static int open_ring(struct pt_perf *p, int cpu, size_t bytes, size_t least_bytes,
                     uint32_t wakeup_bytes) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = wakeup_bytes,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    int fd = try_open(&attr, 0, cpu);
    if (fd < 0)
        return fd;
    int rc = pt_perf_ring_map(&p->rings[p->ring_count], fd, bytes, least_bytes);
    if (rc) {
        close(fd);
        return rc;
    }
    p->ring_fds[p->ring_count++] = fd;
    return 0;
}

static size_t ring_bytes(const struct pt_perf_options *o, size_t cpu_count) {
    uint64_t rate = o->is_off_cpu ? PT_PERF_RATE_MAX : (uint64_t)o->rate_hz;
    uint64_t wanted = rate * RING_NS / PT_NS_PER_SECOND * (o->stack_bytes + SAMPLE_BYTES);
    size_t bytes = RING_BYTES_LEAST;
    while (bytes < wanted && bytes < RING_BYTES_MOST)
        bytes *= 2;
    while (bytes > RING_BYTES_LEAST / 2 && bytes * cpu_count > RINGS_BYTES_MOST)
        bytes /= 2;
    return bytes;
}

/* If there is no memory for loud rings, the quiet rings serve both purposes. */
static int open_rings(struct pt_perf *p, const struct pt_perf_options *o, const int *cpus,
                      size_t cpu_count) {
    size_t bytes = ring_bytes(o, cpu_count);
    uint32_t wakeup = o->is_off_cpu ? 128u << 10 : (uint32_t)bytes / 2;
    int rc = 0;
    p->cpu_count = cpu_count;
    for (size_t i = 0; i < cpu_count && !rc; i++)
        rc = open_ring(p, cpus[i], bytes, PT_PERF_RING_LEAST, wakeup);
    if (rc || !o->wants_python || o->is_off_cpu)
        return rc;
    for (size_t i = 0; i < cpu_count && !rc; i++)
        rc = open_ring(p, cpus[i], LOUD_RING_BYTES, LOUD_RING_BYTES, 1);
    if (rc)
        close_rings(p, cpu_count);
    return 0;
}

static bool has_loud_rings(const struct pt_perf *p) {
    return p->ring_count > p->cpu_count;
}

/* Parses "0-3,8". */
static size_t parse_cpus(struct pt_scan text, int *cpus, size_t capacity) {
    size_t count = 0;
    while (!text.failed && text.at < text.end && *text.at >= '0' && *text.at <= '9') {
        uint64_t first = pt_scan_u64(&text), last = first;
        if (pt_scan_take(&text, PT_STR("-")))
            last = pt_scan_u64(&text);
        for (uint64_t cpu = first; !text.failed && cpu <= last && count < capacity; cpu++)
            cpus[count++] = (int)cpu;
        if (!pt_scan_take(&text, PT_STR(",")))
            break;
    }
    return count;
}

static size_t online_cpus(const struct pt_fs *fs, int *cpus, size_t capacity) {
    char line[1024];
    if (!pt_fs_read_line(fs->sys, "devices/system/cpu/online", line, sizeof line)) {
        size_t count = parse_cpus(pt_scan_of(pt_str_from(line)), cpus, capacity);
        if (count > 0)
            return count;
    }
    size_t count = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < count && i < capacity; i++)
        cpus[i] = (int)i;
    return count < capacity ? count : capacity;
}

/* Fails for a CPU that went offline, and for a core type without this counter (-ENOENT). */
static int open_thread(struct pt_perf *p, struct perf_event_attr *attr, pid_t tid, const int *cpus,
                       size_t cpu_count) {
    for (size_t i = 0; i < cpu_count; i++) {
        int fd = open_event(attr, tid, cpus[i]);
        if (fd < 0)
            return fd;
        pt_grow(&p->events, &p->event_capacity, p->event_count + 1, sizeof *p->events);
        p->events[p->event_count++] = (struct pt_perf_event){ fd, (uint32_t)i };
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->ring_fds[i]))
            return -errno;
    }
    return 0;
}

static int refused(const struct pt_fs *fs, const struct pt_perf_options *o, int rc,
                   struct pt_err *err) {
    int64_t level = 0, most = o->is_off_cpu ? 1 : 2;
    if (pt_fs_read_i64(fs->proc, "sys/kernel/perf_event_paranoid", &level))
        return pt_fail(err, rc, "the kernel has no perf events (perf_event_paranoid is missing)");
    if (level > most)
        return pt_fail(err, rc,
                       "perf events are forbidden by kernel.perf_event_paranoid=%d (set it to %d: "
                       "sysctl -w kernel.perf_event_paranoid=%d, or run with CAP_PERFMON)",
                       (int)level, (int)most, (int)most);
    return pt_fail(
        err, rc,
        "perf_event_open: %s (kernel.perf_event_paranoid=%d; the process belongs to another "
        "user, or a container forbids it by seccomp: run with CAP_PERFMON)",
        strerror(-rc), (int)level);
}

/* The kernel lowers its limit when samples take too long. */
static int too_fast(const struct pt_fs *fs, const struct pt_perf_options *o, int rc,
                    struct pt_err *err) {
    int64_t most = INT64_MAX;
    if (pt_fs_read_i64(fs->proc, "sys/kernel/perf_event_max_sample_rate", &most) ||
        o->rate_hz <= most)
        return pt_fail(err, rc, "perf_event_open: %s", strerror(-rc));
    return pt_fail(err, rc,
                   "the kernel allows at most %d samples per second (use --rate %d, or raise "
                   "kernel.perf_event_max_sample_rate)",
                   (int)most, (int)most);
}

static int explain(const struct pt_fs *fs, const struct pt_perf_options *o, pid_t pid, int rc,
                   struct pt_err *err) {
    switch (-rc) {
    case EACCES:
    case EPERM:
        return refused(fs, o, rc, err);
    case EINVAL:
        return too_fast(fs, o, rc, err);
    case ENOSYS:
        return pt_fail(err, rc, "the kernel has no perf events (perf_event_open: %s)",
                       strerror(-rc));
    case ESRCH:
        return pt_fail(err, rc, "there is no process %d", (int)pid);
    case EMFILE:
        return pt_fail(err, rc,
                       "too many open files: one event is needed per thread and CPU "
                       "(raise the limit: ulimit -n)");
    case ENOMEM:
        return pt_fail(err, rc,
                       "no memory for the perf event rings (raise "
                       "kernel.perf_event_mlock_kb)");
    default:
        return pt_fail(err, rc, "perf_event_open: %s", strerror(-rc));
    }
}

/* Both lists are ascending. */
static bool has_new(const struct pt_pid_list *now, const struct pt_pid_list *before) {
    size_t i = 0;
    for (size_t j = 0; j < now->count; j++) {
        while (i < before->count && before->at[i] < now->at[j])
            i++;
        if (i == before->count || before->at[i] != now->at[j])
            return true;
    }
    return false;
}

static int open_listed(struct pt_perf *p, struct perf_event_attr *attr,
                       const struct pt_pid_list *tids, const int *cpus, size_t cpu_count) {
    for (size_t i = 0; i < tids->count; i++) {
        if (p->event_count + cpu_count > PT_PERF_EVENTS_MAX)
            return -EMFILE;
        int rc = open_thread(p, attr, tids->at[i], cpus, cpu_count);
        if (rc && rc != -ESRCH) /* it has ended */
            return rc;
    }
    return 0;
}

/* Opens events for every thread once; threads that start later inherit them. Whether a thread
 * started in between has inherited them is unknown, and it must not be counted twice: then
 * everything is opened again, until no thread starts. */
static int open_threads(struct pt_perf *p, const struct pt_fs *fs, struct perf_event_attr *attr,
                        pid_t pid, const int *cpus, size_t cpu_count) {
    char path[32];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    int fd = openat(fs->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -ESRCH;
    struct pt_pid_list opened = { 0 }, now = { 0 };
    size_t first = p->event_count;
    int rc = pt_pid_list_read(&now, fd);
    for (int round = 0; round < MAX_ROUNDS && !rc && has_new(&now, &opened); round++) {
        struct pt_pid_list older = opened;
        opened = now;
        now = older;
        close_events(p, first);
        rc = open_listed(p, attr, &opened, cpus, cpu_count);
        if (!rc)
            rc = pt_pid_list_read(&now, fd);
    }
    pt_pid_list_release(&opened);
    pt_pid_list_release(&now);
    close(fd);
    return rc ? rc : p->event_count == first ? -ESRCH : 0;
}

static int open_processes(struct pt_perf *p, const struct pt_fs *fs, struct perf_event_attr *attr,
                          const struct target *target, const int *cpus, size_t cpu_count) {
    int rc = open_threads(p, fs, attr, target->pids[0], cpus, cpu_count);
    p->left_out = 0;
    for (size_t i = 1; i < target->count && !rc; i++) {
        int other = open_threads(p, fs, attr, target->pids[i], cpus, cpu_count);
        p->left_out += other && other != -ESRCH;
    }
    return rc;
}

static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool is_worth_another_try(int rc) {
    return rc == -EACCES || rc == -EPERM || rc == -ENOENT || rc == -EOPNOTSUPP || rc == -EINVAL ||
           rc == -ENODEV || rc == -ENXIO || rc == -EBUSY;
}

static int open_best(struct pt_perf *p, const struct pt_fs *fs, const struct pt_perf_options *o,
                     const struct target *target, struct pt_err *err) {
    int cpus[PT_PERF_CPUS_MAX];
    size_t cpu_count = online_cpus(fs, cpus, PT_PERF_CPUS_MAX);
    const struct method *methods = o->is_off_cpu ? off_cpu_methods : cpu_methods;
    size_t method_count = o->is_off_cpu ? PT_COUNT(off_cpu_methods) : PT_COUNT(cpu_methods);
    *p = (struct pt_perf){ 0 };
    raise_descriptor_limit();
    int rc = open_rings(p, o, cpus, cpu_count);
    for (size_t i = 0; i < method_count && p->ring_count >= cpu_count; i++) {
        const struct method *m = &methods[i];
        struct perf_event_attr attr = make_attr(m, o, !o->wants_python || has_loud_rings(p));
        attr.enable_on_exec = target->is_command;
        rc = target->is_command ? open_thread(p, &attr, target->pids[0], cpus, cpu_count)
                                : open_processes(p, fs, &attr, target, cpus, cpu_count);
        if (!rc) {
            p->has_kernel = m->has_kernel;
            p->counts_time = m->type == PERF_TYPE_SOFTWARE && m->config == PERF_COUNT_SW_CPU_CLOCK;
            snprintf(p->method, sizeof p->method, "perf: %s, %zu KiB stacks", m->name,
                     (o->stack_bytes + 1023) >> 10);
            return 0;
        }
        if (!is_worth_another_try(rc))
            break;
        close_events(p, 0);
    }
    if (!rc)
        return 0;
    pt_perf_close(p);
    return explain(fs, o, target->pids[0], rc, err);
}

int pt_perf_open_command(struct pt_perf *p, const struct pt_fs *fs, const struct pt_perf_options *o,
                         pid_t pid, struct pt_err *err) {
    return open_best(p, fs, o, &(struct target){ &pid, 1, true }, err);
}

int pt_perf_open_processes(struct pt_perf *p, const struct pt_fs *fs,
                           const struct pt_perf_options *o, const pid_t *pids, size_t count,
                           struct pt_err *err) {
    int rc = open_best(p, fs, o, &(struct target){ pids, count, false }, err);
    for (size_t i = 0; !rc && i < p->event_count; i++)
        (void)ioctl(p->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    return rc;
}

void pt_perf_set_loud(struct pt_perf *p, bool is_loud) {
    if (is_loud == p->is_loud || !has_loud_rings(p))
        return;
    p->is_loud = is_loud;
    for (size_t i = 0; i < p->event_count; i++) {
        size_t ring = p->events[i].cpu + (is_loud ? p->cpu_count : 0);
        (void)ioctl(p->events[i].fd, PERF_EVENT_IOC_SET_OUTPUT, p->ring_fds[ring]);
    }
}

void pt_perf_stop(struct pt_perf *p) {
    for (size_t i = 0; i < p->event_count; i++)
        (void)ioctl(p->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

struct pt_perf_counts pt_perf_counts(const struct pt_perf *p) {
    struct pt_perf_counts sum = { 0, 0 };
    for (size_t i = 0; i < p->event_count; i++) {
        uint64_t words[2] = { 0, 0 }; /* the count, then the number of lost records */
        ssize_t n = read(p->events[i].fd, words, sizeof words);
        if (n < (ssize_t)sizeof words)
            return (struct pt_perf_counts){ -1, -1 };
        sum.cpu_ns += (int64_t)words[0];
        sum.lost += (int64_t)words[1];
    }
    if (!p->counts_time)
        sum.cpu_ns = -1;
    return sum;
}
