#include "profile/sample/timer_session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "profile/unwind/loader.h"
#include "profile/sample/preload_replay.h"
#include "inside/region/sigbus_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uuid.h>

#define LIBRARY       "libpitot-cpu.so"
#define READ_EVERY_NS (100 * PT_NS_PER_MS) /* or when the bell rings */
#define PERIODS_MAX   100000               /* of one sample; more is invalid */

static uint32_t counted(const uint32_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static int open_bell(struct pt_timer_session *s, struct pt_err *err) {
    int fd = openat(pt_fd_get(s->regions.fd), PT_CPU_BELL,
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot create a file in %s: %s", s->regions.path,
                       strerror(errno));
    int rc = -posix_fallocate(fd, 0, sizeof *s->bell);
    void *at =
        rc ? MAP_FAILED : mmap(NULL, sizeof *s->bell, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return pt_fail(err, rc ? rc : -ENOMEM, "cannot create a file in %s: out of memory",
                       s->regions.path);
    /* the program may truncate the file at any time */
    rc = pt_sigbus_guard_add(at, sizeof *s->bell);
    if (rc) {
        munmap(at, sizeof *s->bell);
        return pt_fail(err, rc, "cannot handle SIGBUS: %s", strerror(-rc));
    }
    s->bell = at;
    return 0;
}

/* A container may forbid timers; what is forbidden for us is forbidden for the command. */
static int check_timers(struct pt_err *err) {
    struct sigevent none = { .sigev_notify = SIGEV_NONE };
    timer_t timer;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &none, &timer))
        return pt_fail(err, -errno, "timer_create: %s", strerror(errno));
    timer_delete(timer);
    return 0;
}

static int make_directory(struct pt_timer_session *s, struct pt_err *err) {
    uuid_t uuid;
    char name[37];
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, name);
    pt_regions_make(&s->regions, name);
    return s->regions.path[0] ? 0 : pt_fail(err, -EIO, "cannot create a directory in /dev/shm");
}

uint32_t pt_timer_session_add(void *state, const struct pt_preload_source *source) {
    struct pt_timer_session *s = state;
    pt_preloaded_begin(&s->recording, source->pid);
    pt_recording_add_names(&s->recording, source->pid);
    pt_grow(&s->processes, &s->process_capacity, s->process_count + 1, sizeof *s->processes);
    s->processes[s->process_count] = (struct pt_timer_process){ .pid = source->pid };
    return (uint32_t)s->process_count++;
}

static uint64_t missed_before(const struct pt_preload_event *e) {
    return e->bytes > 0 && e->bytes <= PERIODS_MAX ? e->bytes - 1 : 0;
}

static void take_sample(struct pt_timer_session *s, struct pt_timer_process *p,
                        const struct pt_preload_event *e) {
    struct pt_recording *r = &s->recording;
    /* the program continues while it is read, as with perf; the merge is checked */
    pt_buf_clear(&s->python_entries);
    if (r->pythons)
        (void)pt_pythons_read(&s->pythons, p->pid, e->thread, &s->python_entries);
    struct pt_perf_record python = { .kind = PT_PERF_PYTHON,
                                     .python = pt_buf_as_str(&s->python_entries) };
    const struct pt_perf_record *next = python.python.len > 0 ? &python : NULL;
    struct pt_perf_record record = pt_preloaded_sample(p->pid, e);
    record.cpu = UINT16_MAX;
    record.sample.missed = missed_before(e);
    pt_preloaded_name(r, p->pid, e);
    pt_recording_take(r, &record, next);
    if (pt_preloaded_is_lost(r) && p->may_refresh) {
        /* perhaps a library was loaded since; the next samples will find it */
        p->may_refresh = false;
        (void)pt_recording_add_process(r, p->pid);
    }
}

/* CPU time between kernel ticks; it is counted for the previous stack. */
static void take_rest(struct pt_timer_session *s, const struct pt_timer_process *p,
                      const struct pt_preload_event *e) {
    struct pt_perf_record record = pt_preloaded_sample(p->pid, e);
    record.cpu = UINT16_MAX;
    record.sample.is_rest = true;
    record.sample.missed = missed_before(e);
    pt_recording_take(&s->recording, &record, NULL);
}

void pt_timer_session_read(void *state, uint32_t number, struct pt_preload_source *source,
                           bool is_over) {
    struct pt_timer_session *s = state;
    struct pt_preload_event e;
    if (number >= s->process_count)
        return;
    struct pt_timer_process *p = &s->processes[number];
    /* mappings first: samples that need them may precede them in the ring */
    uint64_t position = pt_preload_source_position(source);
    while (pt_preload_source_next(source, &position, is_over, PT_PRELOAD_MAPS, &e))
        pt_preloaded_maps(&s->recording, p->pid, &e);
    p->may_refresh = !is_over;
    position = pt_preload_source_position(source);
    while (pt_preload_source_next(source, &position, is_over, 0, &e)) {
        if (e.kind == PT_PRELOAD_CPU)
            take_sample(s, p, &e);
        else if (e.kind == PT_PRELOAD_CPU_REST)
            take_rest(s, p, &e);
        pt_preload_source_consume(source, position);
    }
    p->dropped = pt_preload_source_losses(source).allocations;
}

static void read_files(struct pt_timer_session *s, bool is_final) {
    uint32_t files = counted(&s->bell->files);
    if (files != s->files_seen)
        pt_preload_files_look(&s->files);
    s->files_seen = files;
    pt_preload_files_read(&s->files, is_final);
}

static void *run_reader(void *state) {
    struct pt_timer_session *s = state;
    (void)!pt_thread_hurry(); /* Python must be read while it is still where the sample was */
    while (!__atomic_load_n(&s->must_stop, __ATOMIC_ACQUIRE)) {
        /* Acquire: records written before the bell rang are visible below. */
        uint32_t rings = __atomic_load_n(&s->bell->rings, __ATOMIC_ACQUIRE);
        read_files(s, false);
        /* being woken by each sample is only worth it for Python, which must be read at once */
        struct timespec timeout = { .tv_nsec = READ_EVERY_NS };
        bool is_awaited = s->recording.pythons && pt_pythons_any(&s->pythons);
        __atomic_store_n(&s->bell->is_awaited, is_awaited, __ATOMIC_RELAXED);
        syscall(SYS_futex, &s->bell->rings, FUTEX_WAIT, rings, &timeout, NULL, 0);
    }
    read_files(s, true);
    s->reader_cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void start_recording(struct pt_timer_session *s, const struct pt_fs *fs,
                            const struct pt_perf_options *o) {
    s->period_ns = PT_NS_PER_SECOND / o->rate_hz;
    s->stack_bytes = o->stack_bytes;
    pt_pythons_init(&s->pythons);
    pt_recording_init(&s->recording, fs, o->wants_python ? &s->pythons : NULL, false, s->period_ns);
    struct pt_profile_meta *meta = &s->recording.profile.meta;
    meta->rate_hz = o->rate_hz;
    snprintf(meta->method, sizeof meta->method,
             "timer: CPU clocks of threads, user only, %zu KiB stacks", o->stack_bytes >> 10);
    pt_preload_files_init(
        &s->files, pt_fd_get(s->regions.fd), PT_CPU_FILE_SUFFIX,
        (struct pt_preload_files_reader){ pt_timer_session_add, pt_timer_session_read, s });
    s->is_opened = true;
}

int pt_timer_session_open(struct pt_timer_session *s, const struct pt_fs *fs,
                          const struct pt_perf_options *o, const char *program,
                          struct pt_err *err) {
    *s = (struct pt_timer_session){ 0 };
    int rc = pt_loader_check(program, err);
    if (!rc)
        rc = check_timers(err);
    if (!rc)
        rc = pt_preload_find(LIBRARY, s->library, sizeof s->library, err);
    if (!rc)
        rc = make_directory(s, err);
    if (!rc)
        rc = open_bell(s, err);
    if (rc)
        pt_regions_remove(&s->regions);
    else
        start_recording(s, fs, o);
    return rc;
}

void pt_timer_session_prepare(const struct pt_timer_session *s, struct pt_environment *e) {
    pt_environment_preload(e, s->library);
    pt_environment_set(e, pt_asprintf(PT_CPU_DIRECTORY "=%s", s->regions.path));
    pt_environment_set(e, pt_asprintf(PT_CPU_PERIOD "=%" PRId64, s->period_ns));
    pt_environment_set(e, pt_asprintf(PT_CPU_STACK "=%zu", s->stack_bytes));
}

int pt_timer_session_start(struct pt_timer_session *s, struct pt_err *err) {
    s->recording.profile.meta.start_ns = pt_mono_ns();
    s->recording.profile.meta.start_wall_ns = pt_wall_ns();
    int rc = pt_thread_start(&s->reader, run_reader, s);
    s->is_running = rc == 0;
    return rc ? pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc)) : 0;
}

int64_t pt_timer_session_cpu_ns(const struct pt_timer_session *s) {
    return s->is_running ? pt_thread_cpu_ns(s->reader) : 0;
}

void pt_timer_session_stop(struct pt_timer_session *s) {
    struct pt_profile_meta *meta = &s->recording.profile.meta;
    s->is_running = false;
    __atomic_store_n(&s->bell->is_over, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&s->must_stop, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&s->bell->rings, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &s->bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    pthread_join(s->reader, NULL);
    meta->end_ns = pt_mono_ns();
    meta->own_cpu_ns = s->reader_cpu_ns;
    meta->lost = __atomic_load_n(&s->bell->unwritten, __ATOMIC_RELAXED);
    for (size_t i = 0; i < s->process_count; i++)
        meta->lost += (int64_t)(s->processes[i].dropped & INT32_MAX);
}

int pt_timer_session_check(const struct pt_timer_session *s, struct pt_err *err) {
    const struct pt_profile *p = &s->recording.profile;
    uint32_t taken = counted(&s->bell->taken), untimed = counted(&s->bell->untimed);
    uint32_t sandboxed = counted(&s->bell->sandboxed);
    if (counted(&s->bell->loaded) == 0)
        return pt_fail(err, -ENODATA,
                       "no samples: no process of the command loaded " LIBRARY " "
                       "(static and setuid programs cannot)");
    if (taken > 0)
        pt_log(PT_LOG_WARNING,
               "processes that replaced the handler of the timer signal and were not sampled "
               "afterwards: %" PRIu32,
               taken);
    if (sandboxed > 0)
        pt_log(PT_LOG_WARNING,
               "processes that entered a seccomp sandbox and were not sampled afterwards: %" PRIu32,
               sandboxed);
    if (untimed > 0)
        pt_log(PT_LOG_WARNING, "threads without a timer, which were not sampled: %" PRIu32,
               untimed);
    if (p->meta.python_wanted > 0 && p->meta.python_matched == 0)
        pt_log(PT_LOG_WARNING, "cannot read Python frames (process_vm_readv)");
    if (p->samples.count == 0 && (taken > 0 || untimed > 0))
        return pt_fail(err, -ENODATA, "no samples");
    return 0;
}

void pt_timer_session_release(struct pt_timer_session *s) {
    if (!s->is_opened)
        return;
    if (s->is_running)
        pt_timer_session_stop(s);
    __atomic_store_n(&s->bell->is_over, 1, __ATOMIC_RELAXED); /* also if nobody could stop it */
    pt_preload_files_release(&s->files);
    pt_sigbus_guard_remove(s->bell);
    munmap(s->bell, sizeof *s->bell);
    pt_regions_remove(&s->regions);
    pt_recording_release(&s->recording);
    pt_pythons_release(&s->pythons);
    pt_buf_release(&s->python_entries);
    pt_free(s->processes);
    *s = (struct pt_timer_session){ 0 };
}
