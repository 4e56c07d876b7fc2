#include "source/gpu/poller.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "source/gpu/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#define BACKENDS_MAX     8
#define SHORTEST_NS      (100 * PT_NS_PER_MS)
#define SLOW_PERIOD_NS   PT_NS_PER_SECOND
#define STOP_PATIENCE_NS (500 * PT_NS_PER_MS)

struct opened {
    const struct pt_gpu_backend *backend;
    void *state;
    int first; /* of its devices in the reading */
};

struct pt_gpu_poller {
    pthread_t thread;
    struct pt_fs fs; /* own descriptors: the thread may outlive the caller's */

    /* Of the thread alone. */
    struct opened opened[BACKENDS_MAX];
    int opened_count;
    struct pt_gpu_reading work;
    int64_t turn_ns; /* the interval, as of the start of this turn */

    /* Shared. */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct pt_gpu_reading latest;
    int64_t interval_ns;
    struct pt_err reason; /* why there is no GPU */
    bool has_searched, is_found, must_stop, has_ended, is_abandoned;
};

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){ ns / PT_NS_PER_SECOND, ns % PT_NS_PER_SECOND };
}

static int copy_fs(struct pt_fs *into, const struct pt_fs *from) {
    *into = (struct pt_fs){ .proc = fcntl(from->proc, F_DUPFD_CLOEXEC, 0),
                            .sys = fcntl(from->sys, F_DUPFD_CLOEXEC, 0),
                            .root = fcntl(from->root, F_DUPFD_CLOEXEC, 0),
                            .is_live = from->is_live };
    if (into->proc >= 0 && into->sys >= 0 && into->root >= 0)
        return 0;
    int rc = -errno;
    pt_fs_close(into);
    return rc;
}

/* False if there is no memory for all of them. */
static bool add_devices(struct opened *o, struct pt_gpu_reading *r) {
    int count = o->backend->device_count(o->state);
    for (int i = 0; i < count; i++) {
        struct pt_gpu_device *d = pt_gpu_add_device(r);
        if (!d)
            return false;
        o->backend->describe_device(o->state, i, o->first, &d->info);
    }
    return true;
}

/* Of several reasons for no GPU, reports the most serious: one that is not "there is none". */
static void open_backends(struct pt_gpu_poller *p, struct pt_err *reason) {
    int worst = 0;
    for (int i = 0; pt_gpu_backends[i] && p->opened_count < BACKENDS_MAX; i++) {
        struct opened *o = &p->opened[p->opened_count];
        struct pt_err err = { 0 };
        *o = (struct opened){ .backend = pt_gpu_backends[i],
                              .state = pt_try_calloc(1, pt_gpu_backends[i]->state_size) };
        int rc = o->state ? o->backend->open(o->state, &p->fs, &err)
                          : pt_fail(&err, -ENOMEM, "%s: %s", o->backend->name, strerror(ENOMEM));
        if (rc) {
            pt_free(o->state);
            if (!worst || (worst == -ENODATA && rc != -ENODATA)) {
                *reason = err;
                worst = rc;
            }
            continue;
        }
        o->first = (int)p->work.device_count;
        if (add_devices(o, &p->work)) {
            p->opened_count++;
            continue;
        }
        o->backend->close(o->state);
        pt_free(o->state);
        p->work.device_count = (size_t)o->first;
    }
}

static void read_device(struct opened *o, int index, enum pt_gpu_pace pace,
                        struct pt_gpu_device *d) {
    bool was_gone = d->is_gone;
    pt_gpu_forget(d, pace);
    o->backend->read_device(o->state, index, pace, d);
    d->read_ns[pace] = pt_mono_ns();
    if (!d->is_gone)
        return;
    d->present = 0;
    d->gpm_present = 0;
    if (!was_gone)
        pt_log(PT_LOG_WARNING, "GPU %d (%s) stopped responding; continuing with the others",
               o->first + index, d->info.name);
}

static void read_pace(struct pt_gpu_poller *p, enum pt_gpu_pace pace, int64_t start_ns) {
    for (int i = 0; i < p->opened_count; i++) {
        struct opened *o = &p->opened[i];
        int count = o->backend->device_count(o->state);
        for (int k = 0; k < count; k++) {
            struct pt_gpu_device *d = &p->work.devices[o->first + k];
            bool is_due = !d->read_ns[pace] || start_ns - d->read_ns[pace] >= SLOW_PERIOD_NS;
            /* Slow values may take long: those of the other devices are read in the next turn. */
            bool has_time = pt_mono_ns() - start_ns < p->turn_ns / 2;
            if (pace == PT_GPU_FAST || (is_due && has_time))
                read_device(o, k, pace, d);
        }
    }
}

static void read_processes(struct pt_gpu_poller *p, int64_t start_ns) {
    struct pt_gpu_reading *r = &p->work;
    if (r->processes_ns && start_ns - r->processes_ns < SLOW_PERIOD_NS)
        return;
    r->process_count = 0;
    for (size_t i = 0; i < r->device_count; i++)
        r->devices[i].has_process_count = false;
    for (int i = 0; i < p->opened_count; i++) {
        const struct opened *o = &p->opened[i];
        if (o->backend->read_processes)
            o->backend->read_processes(o->state, o->first, r);
    }
    r->processes_ns = pt_mono_ns();
}

static void publish(struct pt_gpu_poller *p) {
    p->work.time_ns = pt_mono_ns();
    p->work.sequence++;
    p->work.cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    pthread_mutex_lock(&p->mutex);
    (void)!pt_gpu_reading_copy(&p->latest, &p->work); /* otherwise the last one stays */
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

/* False if the poller is to stop. */
static bool wait_until(struct pt_gpu_poller *p, int64_t deadline_ns) {
    struct timespec deadline = timespec_of(deadline_ns);
    pthread_mutex_lock(&p->mutex);
    while (!p->must_stop && pthread_cond_timedwait(&p->changed, &p->mutex, &deadline) != ETIMEDOUT)
        ;
    bool goes_on = !p->must_stop;
    pthread_mutex_unlock(&p->mutex);
    return goes_on;
}

static void poll_devices(struct pt_gpu_poller *p) {
    int64_t next_ns;
    do {
        int64_t start_ns = pt_mono_ns();
        pthread_mutex_lock(&p->mutex);
        p->turn_ns = p->interval_ns;
        pthread_mutex_unlock(&p->mutex);
        next_ns = start_ns + p->turn_ns;
        read_pace(p, PT_GPU_FAST, start_ns);
        read_pace(p, PT_GPU_SLOW, start_ns);
        read_processes(p, start_ns);
        publish(p);
    } while (wait_until(p, next_ns));
}

static bool announce(struct pt_gpu_poller *p, const struct pt_err *reason) {
    pthread_mutex_lock(&p->mutex);
    p->reason = *reason;
    p->has_searched = true;
    p->is_found = p->work.device_count > 0;
    bool goes_on = p->is_found && !p->must_stop;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    return goes_on;
}

static void release(struct pt_gpu_poller *p) {
    pt_gpu_reading_release(&p->work);
    pt_gpu_reading_release(&p->latest);
    pt_fs_close(&p->fs);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    pt_free(p);
}

static void end(struct pt_gpu_poller *p) {
    for (int i = 0; i < p->opened_count; i++) {
        p->opened[i].backend->close(p->opened[i].state);
        pt_free(p->opened[i].state);
    }
    pthread_mutex_lock(&p->mutex);
    bool is_abandoned = p->is_abandoned;
    p->has_ended = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    if (is_abandoned)
        release(p);
}

static void *run(void *user) {
    struct pt_gpu_poller *p = user;
    struct pt_err reason = { 0 };
    pthread_setname_np(pthread_self(), "pitot-gpu");
    open_backends(p, &reason);
    if (announce(p, &reason))
        poll_devices(p);
    end(p);
    return NULL;
}

static int init(struct pt_gpu_poller *p, const struct pt_fs *fs) {
    pthread_condattr_t attributes;
    int rc = copy_fs(&p->fs, fs);
    if (rc)
        return rc;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&p->mutex, NULL);
    return 0;
}

/* Waits for the search; false if it found nothing. */
static bool await_search(struct pt_gpu_poller *p, int64_t patience_ns, struct pt_err *err) {
    struct timespec deadline = timespec_of(pt_mono_ns() + patience_ns);
    pthread_mutex_lock(&p->mutex);
    while (!p->has_searched &&
           pthread_cond_timedwait(&p->changed, &p->mutex, &deadline) != ETIMEDOUT)
        ;
    bool may_have = !p->has_searched || p->is_found;
    if (!may_have && err)
        *err = p->reason;
    pthread_mutex_unlock(&p->mutex);
    return may_have;
}

void pt_gpu_poller_set_interval(struct pt_gpu_poller *p, int64_t interval_ns) {
    pthread_mutex_lock(&p->mutex);
    p->interval_ns = interval_ns > SHORTEST_NS ? interval_ns : SHORTEST_NS;
    pthread_mutex_unlock(&p->mutex);
}

int pt_gpu_poller_start(struct pt_gpu_poller **poller, const struct pt_fs *fs, int64_t interval_ns,
                        int64_t patience_ns, struct pt_err *err) {
    struct pt_gpu_poller *p = pt_try_calloc(1, sizeof *p);
    *poller = NULL;
    if (!p)
        return pt_fail(err, -ENOMEM, "cannot poll GPUs: %s", strerror(ENOMEM));
    p->interval_ns = interval_ns > SHORTEST_NS ? interval_ns : SHORTEST_NS;
    int rc = init(p, fs);
    if (rc) {
        pt_free(p);
        return pt_fail(err, rc, "cannot poll GPUs: %s", strerror(-rc));
    }
    rc = pt_thread_start(&p->thread, run, p);
    if (rc) {
        release(p);
        return pt_fail(err, rc, "cannot start the GPU thread: %s", strerror(-rc));
    }
    if (!await_search(p, patience_ns, err)) {
        pt_gpu_poller_stop(p);
        return -ENODATA;
    }
    *poller = p;
    return 0;
}

/* True if the thread has ended; otherwise it is detached. */
static bool await_end(struct pt_gpu_poller *p) {
    struct timespec deadline = timespec_of(pt_mono_ns() + STOP_PATIENCE_NS);
    pthread_mutex_lock(&p->mutex);
    p->must_stop = true;
    pthread_cond_broadcast(&p->changed);
    while (!p->has_ended && pthread_cond_timedwait(&p->changed, &p->mutex, &deadline) != ETIMEDOUT)
        ;
    bool has_ended = p->has_ended;
    p->is_abandoned = !has_ended;
    pthread_mutex_unlock(&p->mutex);
    return has_ended;
}

void pt_gpu_poller_stop(struct pt_gpu_poller *p) {
    if (!p)
        return;
    pthread_t thread = p->thread;
    if (await_end(p)) {
        pthread_join(thread, NULL);
        release(p);
        return;
    }
    pthread_detach(thread);
    pt_log(PT_LOG_WARNING, "a call to the GPU driver does not return; continuing without it");
}

bool pt_gpu_poller_read(struct pt_gpu_poller *p, struct pt_gpu_reading *r) {
    pthread_mutex_lock(&p->mutex);
    bool is_new = p->latest.sequence > r->sequence && pt_gpu_reading_copy(r, &p->latest);
    pthread_mutex_unlock(&p->mutex);
    return is_new;
}

bool pt_gpu_poller_wait(struct pt_gpu_poller *p, uint64_t sequence, int64_t patience_ns) {
    struct timespec deadline = timespec_of(pt_mono_ns() + patience_ns);
    pthread_mutex_lock(&p->mutex);
    while (p->latest.sequence <= sequence &&
           pthread_cond_timedwait(&p->changed, &p->mutex, &deadline) != ETIMEDOUT)
        ;
    bool is_there = p->latest.sequence > sequence;
    pthread_mutex_unlock(&p->mutex);
    return is_there;
}
