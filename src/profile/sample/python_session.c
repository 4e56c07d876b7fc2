#include "profile/sample/python_session.h"

#include "base/clock.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/thread.h"
#include "source/kernel/pid.h"
#include "source/kernel/pid_tree.h"
#include "profile/sample/preload_replay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LOOK_EVERY_NS PT_NS_PER_SECOND     /* for new processes and threads */
#define LOOK_EARLY_NS (50 * PT_NS_PER_MS)  /* until a Python process is found */
#define LATE_MIN_NS   (300 * PT_NS_PER_MS) /* longer than an interpreter takes to start */
#define LATE_PERCENT  10
#define THREADS_MAX   4096
#define STAT_BYTES    1024
#define NO_RIGHT                                                                  \
    "the process must belong to the same user, with kernel.yama.ptrace_scope=0, " \
    "or run with CAP_SYS_PTRACE"

struct pt_python_watched_process {
    int32_t pid;
    dev_t device;
    ino_t file; /* its executable */
    int tasks_fd;
    size_t thread_count; /* watched threads */
    bool is_there, is_python;
};

struct pt_python_watched_thread {
    int32_t pid, tid;
    int stat_fd, schedule_fd; /* schedule_fd is -1 if the kernel has no such file */
    int64_t sampled_ns;       /* of its CPU time, already sampled */
};

static bool read_stat(const struct pt_python_watched_thread *t, struct pt_pid_stat *stat) {
    char text[STAT_BYTES];
    ssize_t n = pread(t->stat_fd, text, sizeof text, 0);
    return n > 0 && !pt_pid_parse_stat(pt_scan_of((struct pt_str){ text, (size_t)n }), stat);
}

/* "601936204 1044020 95": nanoseconds on the CPU. Without this file, the ticks of stat. */
static int64_t cpu_ns_of(const struct pt_python_watched_thread *t, const struct pt_pid_stat *stat) {
    char text[128];
    ssize_t n = t->schedule_fd >= 0 ? pread(t->schedule_fd, text, sizeof text, 0) : -1;
    if (n > 0) {
        struct pt_scan scan = pt_scan_of((struct pt_str){ text, (size_t)n });
        int64_t ns = pt_scan_i64(&scan);
        if (!scan.failed)
            return ns;
    }
    return (stat->user_ticks + stat->kernel_ticks) * (PT_NS_PER_SECOND / sysconf(_SC_CLK_TCK));
}

static struct pt_python_watched_process *find_process(struct pt_python_session *s, int32_t pid) {
    for (size_t i = 0; i < s->process_count; i++)
        if (s->processes[i].pid == pid)
            return &s->processes[i];
    return NULL;
}

static int open_of_thread(const struct pt_python_session *s, int32_t pid, int32_t tid,
                          const char *file) {
    char path[64];
    snprintf(path, sizeof path, "%d/task/%d/%s", (int)pid, (int)tid, file);
    return openat(s->recording.images.fs->proc, path, O_RDONLY | O_CLOEXEC);
}

static void watch_thread(struct pt_python_session *s, struct pt_python_watched_process *p,
                         int32_t tid) {
    struct pt_pid_stat stat;
    if (s->thread_count >= THREADS_MAX)
        return;
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].tid == tid)
            return;
    struct pt_python_watched_thread t = { .pid = p->pid,
                                          .tid = tid,
                                          .stat_fd = open_of_thread(s, p->pid, tid, "stat") };
    if (t.stat_fd < 0)
        return;
    t.schedule_fd = open_of_thread(s, p->pid, tid, "schedstat");
    /* for a thread older than the session, only what it uses from now on counts */
    if (!s->has_begun && read_stat(&t, &stat))
        t.sampled_ns = cpu_ns_of(&t, &stat);
    pt_grow(&s->threads, &s->thread_capacity, s->thread_count + 1, sizeof *s->threads);
    s->threads[s->thread_count++] = t;
    p->thread_count++;
}

static void forget_thread(struct pt_python_session *s, size_t index) {
    struct pt_python_watched_process *p = find_process(s, s->threads[index].pid);
    if (p)
        p->thread_count--;
    close(s->threads[index].stat_fd);
    if (s->threads[index].schedule_fd >= 0)
        close(s->threads[index].schedule_fd);
    s->threads[index] = s->threads[--s->thread_count];
}

static void look_for_threads(struct pt_python_session *s, struct pt_python_watched_process *p) {
    struct pt_pid_list tids = { 0 };
    if (p->tasks_fd >= 0 && !pt_pid_list_read(&tids, p->tasks_fd))
        for (size_t i = 0; i < tids.count; i++)
            watch_thread(s, p, (int32_t)tids.at[i]);
    pt_pid_list_release(&tids);
}

/* The task directory has two links more than there are threads, so one call per tick shows whether
 * there are new ones. */
static void look_for_new_threads(struct pt_python_session *s) {
    struct stat st;
    for (size_t i = 0; i < s->process_count && s->thread_count < THREADS_MAX; i++) {
        struct pt_python_watched_process *p = &s->processes[i];
        if (p->tasks_fd >= 0 && !fstat(p->tasks_fd, &st) && st.st_nlink != p->thread_count + 2)
            look_for_threads(s, p);
    }
}

static struct pt_python_watched_process *process_of(struct pt_python_session *s, int32_t pid) {
    struct pt_python_watched_process *known = find_process(s, pid);
    char path[32];
    if (known)
        return known;
    snprintf(path, sizeof path, "%d/task", (int)pid);
    int fd = openat(s->recording.images.fs->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pt_grow(&s->processes, &s->process_capacity, s->process_count + 1, sizeof *s->processes);
    s->processes[s->process_count] =
        (struct pt_python_watched_process){ .pid = pid, .tasks_fd = fd };
    return &s->processes[s->process_count++];
}

/* The process may have executed another program or loaded an interpreter since, so maps are read
 * again; known mappings stay. */
static void look_at_process(struct pt_python_session *s, int32_t pid) {
    struct pt_python_watched_process *p = process_of(s, pid);
    struct stat st;
    char path[32];
    p->is_there = true;
    snprintf(path, sizeof path, "%d/exe", (int)pid);
    if (fstatat(s->recording.images.fs->proc, path, &st, 0))
        return;
    if (p->file != st.st_ino || p->device != st.st_dev) {
        pt_preloaded_begin(&s->recording, pid);
        p->is_python = false;
        p->file = st.st_ino;
        p->device = st.st_dev;
    }
    (void)pt_recording_add_process(&s->recording, pid);
    look_for_threads(s, p);
    if (p->is_python || !pt_pythons_has(&s->pythons, p->pid))
        return;
    p->is_python = true;
    for (size_t i = 0; s->has_begun && i < s->thread_count; i++)
        if (s->threads[i].pid == p->pid)
            s->late_ns += s->threads[i].sampled_ns;
}

static void forget_process(struct pt_python_session *s, size_t index) {
    struct pt_perf_record end = { .kind = PT_PERF_EXIT,
                                  .pid = s->processes[index].pid,
                                  .tid = s->processes[index].pid };
    if (s->processes[index].tasks_fd >= 0)
        close(s->processes[index].tasks_fd);
    pt_recording_take(&s->recording, &end, NULL);
    s->processes[index] = s->processes[--s->process_count];
}

static void look(struct pt_python_session *s) {
    struct pt_pid_list tree = { 0 };
    pt_pid_tree_read(s->recording.images.fs->proc, s->roots.at, s->roots.count, &tree);
    for (size_t i = 0; i < tree.count; i++)
        if (tree.at[i] != pt_confine_pitot())
            look_at_process(s, (int32_t)tree.at[i]);
    pt_pid_list_release(&tree);
    for (size_t i = s->process_count; i > 0; i--) {
        if (!s->processes[i - 1].is_there)
            forget_process(s, i - 1);
        else
            s->processes[i - 1].is_there = false;
    }
    s->saw_python |= pt_pythons_any(&s->pythons);
    s->looked_ns = pt_mono_ns();
}

/* The same functions, called from the same lines; the leaf may have moved on. */
static bool is_same(struct pt_str first, struct pt_str second) {
    struct pt_python_entry a = { 0 }, b;
    if (first.len != second.len || first.len == 0)
        return false;
    for (size_t at = 0; at + sizeof a <= first.len; at += sizeof a) {
        memcpy(&a, first.at + at, sizeof a);
        memcpy(&b, second.at + at, sizeof b);
        if (a.code != b.code || (a.flags ^ b.flags) & PT_PYTHON_FRAME_FLAGS ||
            (at > 0 && a.instruction != b.instruction))
            return false;
    }
    return a.flags & PT_PYTHON_IS_LAST;
}

/* Memory changes while it is read: a stack that reads the same twice is certain. */
static bool read_stack(struct pt_python_session *s, const struct pt_python_watched_thread *t) {
    pt_buf_clear(&s->entries);
    pt_buf_clear(&s->again);
    if (pt_pythons_read(&s->pythons, t->pid, t->tid, &s->entries) == 0)
        return false;
    (void)pt_pythons_read(&s->pythons, t->pid, t->tid, &s->again);
    return is_same(pt_buf_as_str(&s->entries), pt_buf_as_str(&s->again));
}

/* State "R" includes threads that wait for a CPU; their clock does not advance. */
static void sample_threads(struct pt_python_session *s) {
    for (size_t i = 0; i < s->thread_count;) {
        struct pt_python_watched_thread *t = &s->threads[i];
        struct pt_pid_stat stat;
        if (!read_stat(t, &stat)) {
            forget_thread(s, i);
            continue;
        }
        i++;
        int64_t periods =
            stat.state == 'R' ? (cpu_ns_of(t, &stat) - t->sampled_ns) / s->period_ns : 0;
        if (periods < 1)
            continue;
        t->sampled_ns += periods * s->period_ns;
        struct pt_perf_record record = { .kind = PT_PERF_SAMPLE,
                                         .pid = t->pid,
                                         .tid = t->tid,
                                         .time_ns = pt_mono_ns(),
                                         .cpu = UINT16_MAX };
        record.sample.missed = (uint64_t)periods - 1;
        struct pt_perf_record python = { .kind = PT_PERF_PYTHON, .is_certain = read_stack(s, t) };
        python.python = pt_buf_as_str(&s->entries);
        pt_recording_take(&s->recording, &record, s->entries.len > 0 ? &python : NULL);
    }
}

/* False: the session ends. Samples are counted by CPU time, so a late tick only makes their
 * position less precise. */
static bool wait_for_tick(struct pt_python_session *s) {
    struct pollfd polled[] = { { .fd = s->timer_fd, .events = POLLIN },
                               { .fd = s->stop_fd, .events = POLLIN } };
    uint64_t count = 0;
    poll(polled, 2, -1);
    if (polled[1].revents)
        return false;
    (void)!read(s->timer_fd, &count, sizeof count);
    return true;
}

static void *run_sampler(void *state) {
    struct pt_python_session *s = state;
    (void)!pt_thread_hurry(); /* frames must be read on time */
    while (wait_for_tick(s)) {
        int64_t every_ns = pt_pythons_any(&s->pythons) ? LOOK_EVERY_NS : LOOK_EARLY_NS;
        if (pt_mono_ns() - s->looked_ns >= every_ns)
            look(s);
        look_for_new_threads(s);
        sample_threads(s);
    }
    s->sampler_cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static int check_right(const struct pt_fs *fs, pid_t pid, struct pt_err *err) {
    char path[32], line[512] = "";
    uint8_t byte;
    if (kill(pid, 0) != 0 && errno == ESRCH)
        return pt_fail(err, -ESRCH, "there is no process %d", (int)pid);
    snprintf(path, sizeof path, "%d/maps", (int)pid);
    int rc = pt_fs_read_line(fs->proc, path, line, sizeof line);
    struct pt_scan text = pt_scan_of(pt_str_from(line));
    uint64_t address = pt_scan_hex(&text);
    if (rc || text.failed)
        return pt_fail(err, -EPERM, "cannot read the memory of process %d (" NO_RIGHT ")",
                       (int)pid);
    struct iovec local = { &byte, 1 }, remote = { (void *)(uintptr_t)address, 1 };
    /* permission is checked first; EFAULT only means that the page itself is unreadable */
    if (pt_confine_read(pid, &local, &remote, 1) == 1 || errno == EFAULT)
        return 0;
    return pt_fail(err, -errno, "process_vm_readv: %s (" NO_RIGHT ")", strerror(errno));
}

static int open_clock(struct pt_python_session *s) {
    struct itimerspec pace = { 0 };
    int64_t first_ns = pt_mono_ns() + s->period_ns;
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->timer_fd < 0 || s->stop_fd < 0)
        return -errno;
    pace.it_value.tv_sec = first_ns / PT_NS_PER_SECOND;
    pace.it_value.tv_nsec = first_ns % PT_NS_PER_SECOND;
    pace.it_interval.tv_sec = s->period_ns / PT_NS_PER_SECOND;
    pace.it_interval.tv_nsec = s->period_ns % PT_NS_PER_SECOND;
    return timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &pace, NULL) ? -errno : 0;
}

static void start_recording(struct pt_python_session *s, const struct pt_fs *fs,
                            const struct pt_perf_options *o) {
    pt_pythons_init(&s->pythons);
    s->period_ns = PT_NS_PER_SECOND / o->rate_hz;
    pt_recording_init(&s->recording, fs, &s->pythons, false, s->period_ns);
    struct pt_profile *p = &s->recording.profile;
    s->recording.bare_frame = pt_profile_marker(p, PT_STR("[not Python]"));
    p->meta.rate_hz = o->rate_hz;
    p->meta.start_ns = pt_mono_ns();
    p->meta.start_wall_ns = pt_wall_ns();
    snprintf(p->meta.method, sizeof p->meta.method,
             "python: only Python frames of running threads, read from outside");
    s->is_opened = true;
}

int pt_python_session_start(struct pt_python_session *s, const struct pt_fs *fs,
                            const struct pt_perf_options *o, const pid_t *pids, size_t count,
                            bool is_command, struct pt_err *err) {
    *s = (struct pt_python_session){ .timer_fd = -1, .stop_fd = -1 };
    int rc = check_right(fs, pids[0], err);
    if (rc)
        return rc;
    start_recording(s, fs, o);
    for (size_t i = 0; i < count; i++)
        pt_pid_list_add(&s->roots, pids[i]);
    look(s);
    s->has_begun = true;
    if (!is_command && !pt_pythons_any(&s->pythons))
        rc = pt_fail(err, -ENOEXEC, "process %d is not CPython 3.9 to 3.14", (int)pids[0]);
    if (!rc && (rc = open_clock(s)))
        (void)pt_fail(err, rc, "cannot pace samples: %s", strerror(-rc));
    if (!rc && (rc = pt_thread_start(&s->sampler, run_sampler, s)))
        (void)pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    s->is_running = rc == 0;
    if (rc)
        pt_python_session_release(s);
    return rc;
}

int64_t pt_python_session_cpu_ns(const struct pt_python_session *s) {
    return s->is_running ? pt_thread_cpu_ns(s->sampler) : 0;
}

void pt_python_session_stop(struct pt_python_session *s) {
    uint64_t one = 1;
    s->is_running = false;
    (void)!write(s->stop_fd, &one, sizeof one);
    pthread_join(s->sampler, NULL);
    s->recording.profile.meta.end_ns = pt_mono_ns();
    s->recording.profile.meta.own_cpu_ns = s->sampler_cpu_ns;
}

/* On a busy machine a program may have run for long before it is first examined. */
static void warn_if_late(const struct pt_python_session *s) {
    const struct pt_profile *p = &s->recording.profile;
    int64_t sampled_ns = 0;
    for (size_t i = 0; i < p->samples.count; i++)
        sampled_ns += pt_profile_value(p, i, 1);
    if (s->late_ns >= LATE_MIN_NS && s->late_ns * 100 >= sampled_ns * LATE_PERCENT)
        pt_log(PT_LOG_WARNING,
               "Python was detected only after %.2g s of its CPU time; what ran before is shown as "
               "[not Python]",
               (double)s->late_ns / 1e9);
}

int pt_python_session_check(const struct pt_python_session *s, struct pt_err *err) {
    const struct pt_profile *p = &s->recording.profile;
    warn_if_late(s);
    if (p->meta.python_wanted > 0 || (p->samples.count == 0 && s->saw_python))
        return 0;
    return pt_fail(err, -ENODATA,
                   "no process was CPython 3.9 to 3.14, and nothing else can be sampled without "
                   "perf events or timers");
}

void pt_python_session_release(struct pt_python_session *s) {
    if (!s->is_opened)
        return;
    if (s->is_running)
        pt_python_session_stop(s);
    while (s->thread_count > 0)
        forget_thread(s, s->thread_count - 1);
    pt_free(s->threads);
    while (s->process_count > 0)
        forget_process(s, s->process_count - 1);
    pt_free(s->processes);
    pt_pid_list_release(&s->roots);
    if (s->timer_fd >= 0)
        close(s->timer_fd);
    if (s->stop_fd >= 0)
        close(s->stop_fd);
    pt_recording_release(&s->recording);
    pt_pythons_release(&s->pythons);
    pt_buf_release(&s->entries);
    pt_buf_release(&s->again);
    *s = (struct pt_python_session){ .timer_fd = -1, .stop_fd = -1 };
}
