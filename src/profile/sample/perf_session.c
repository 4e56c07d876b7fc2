#include "profile/sample/perf_session.h"

#include "base/clock.h"
#include "base/thread.h"
#include "profile/unwind/registers.h"
#include "profile/sample/symbolize.h"

#include <errno.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SLOWEST_POLL_MS 250
#define PYTHON_POLL_MS  100                  /* a new mapping may be a Python interpreter */
#define NEWS_NS         (500 * PT_NS_PER_MS) /* how long a new mapping may turn out to be Python */
#define HAND_OVER_BYTES (256u << 10)
#define HAND_OVER_NS    (100 * PT_NS_PER_MS)
#define HURRY_MAX_RATE  4000 /* samples per second over all CPUs */
#define STOP_TOKEN      UINT64_MAX
#define SAMPLE_PID      16 /* offset in a sample: header, ip, pid, tid, time */
#define SAMPLE_TIME     24

/* The state of the thread that empties the rings, with the block it fills. */
struct drain {
    struct pt_session *session;
    struct pt_raw_block *block;
    int64_t handed_ns, mapped_ns;
    bool is_loud;   /* each sample wakes us */
    bool is_urgent; /* something was mapped; if it is Python, its frames are needed from now on */
};

struct python_header {
    struct perf_event_header header;
    int32_t pid, tid;
    int64_t time_ns;
};

/* The program continues: the sooner it is read, the more likely it is still where the sample was.
 */
static void read_python(struct pt_session *s, const uint8_t *record, struct pt_buf *into) {
    struct python_header h = { .header = { .type = PT_PERF_RECORD_PYTHON } };
    memcpy(&h.pid, record + SAMPLE_PID, sizeof h.pid);
    memcpy(&h.tid, record + SAMPLE_PID + 4, sizeof h.tid);
    memcpy(&h.time_ns, record + SAMPLE_TIME, sizeof h.time_ns);
    pt_buf_clear(&s->python_entries);
    if (pt_pythons_read(&s->pythons, h.pid, h.tid, &s->python_entries) == 0)
        return;
    while (s->python_entries.len % 8)
        pt_buf_u8(&s->python_entries, 0);
    h.header.size = (uint16_t)(sizeof h + s->python_entries.len);
    pt_buf_bytes(into, &h, sizeof h);
    pt_buf_str(into, pt_buf_as_str(&s->python_entries));
}

static void hand_over(struct drain *d, int64_t now_ns, bool is_last) {
    d->block->is_last = is_last;
    pt_raw_queue_put(&d->session->queue, d->block);
    d->block = NULL;
    d->handed_ns = now_ns;
}

/* False: the block is full, or no record is left. */
static bool take_record(struct drain *d, struct pt_perf_ring *ring) {
    struct pt_buf *into = &d->block->bytes;
    size_t before = into->len;
    size_t room = before < PT_RAW_BLOCK_BYTES ? PT_RAW_BLOCK_BYTES - before : 0;
    if (!pt_perf_ring_take(ring, pt_registers_count, room, into))
        return false;
    struct perf_event_header header;
    memcpy(&header, into->at + before, sizeof header);
    if (header.type == PERF_RECORD_SAMPLE && d->session->recording.pythons)
        read_python(d->session, into->at + before, into);
    d->is_urgent |= header.type == PERF_RECORD_MMAP2;
    return true;
}

/* Takes all records, which may fill several blocks. False: no free block is left. */
static bool empty_ring(struct drain *d, struct pt_perf_ring *ring, int64_t now_ns) {
    while (pt_perf_ring_used(ring) > 0) {
        if (!d->block)
            d->block = pt_raw_queue_take_free(&d->session->queue);
        if (!d->block)
            return false;
        if (!take_record(d, ring) && d->block->bytes.len > 0)
            hand_over(d, now_ns, false);
    }
    return true;
}

/* The worker is idle and holds no records: until the next block is handed over, the recording is
 * ours. */
static bool owns_recording(struct drain *d) {
    struct pt_session *s = d->session;
    return (!d->block || d->block->bytes.len == 0) &&
           pt_raw_queue_is_idle(&s->queue, d->block ? 1 : 0) && s->order.held.len == 0;
}

static bool take_known_samples(struct pt_session *s, struct pt_perf_ring *ring, uint64_t end) {
    struct pt_perf_record record;
    for (;;) {
        struct pt_str bytes = pt_perf_ring_first(ring, end, &s->scratch);
        if (bytes.len == 0)
            return true;
        if (pt_perf_record_parse((const uint8_t *)bytes.at, bytes.len, pt_registers_count,
                                 &record) &&
            !pt_recording_take_known(&s->recording, &record))
            return false;
        pt_perf_ring_drop(ring, bytes.len);
    }
}

/* Once all code is known, samples are unwound in place: cheaper than copying them and waking the
 * worker. False: records are left for the worker. */
static bool take_in_place(struct drain *d, int64_t now_ns) {
    struct pt_session *s = d->session;
    uint64_t ends[PT_PERF_RINGS_MAX];
    bool has_python = s->recording.pythons && pt_pythons_any(&s->pythons);
    if (s->recording.is_off_cpu || has_python || !owns_recording(d))
        return false;
    for (size_t i = 0; i < s->perf.ring_count; i++)
        if (!pt_perf_ring_has_only_samples(&s->perf.rings[i], now_ns, &ends[i]))
            return false;
    for (size_t i = 0; i < s->perf.ring_count; i++)
        if (!take_known_samples(s, &s->perf.rings[i], ends[i]))
            return false;
    return true;
}

/* Takes everything that was written before it starts: that makes `complete_ns` true. */
static void empty_rings(struct drain *d) {
    struct pt_session *s = d->session;
    int64_t now_ns = pt_mono_ns();
    if (take_in_place(d, now_ns))
        return;
    d->is_urgent = false;
    for (size_t i = 0; i < s->perf.ring_count; i++)
        if (!empty_ring(d, &s->perf.rings[i], now_ns))
            return;
    if (d->is_urgent)
        d->mapped_ns = now_ns;
    if (!d->block)
        d->block = pt_raw_queue_take_free(&s->queue);
    if (!d->block)
        return;
    d->block->complete_ns = now_ns;
    bool is_awaited = d->handed_ns == now_ns; /* by full blocks of the same time */
    if (is_awaited || d->is_urgent || d->block->bytes.len >= HAND_OVER_BYTES ||
        (d->block->bytes.len > 0 && now_ns - d->handed_ns > HAND_OVER_NS))
        hand_over(d, now_ns, false);
}

static void watch(struct pt_session *s, int fd, uint64_t token) {
    struct epoll_event e = { .events = EPOLLIN, .data.u64 = token };
    (void)epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, fd, &e);
}

/* Being woken costs more than unwinding; it is only worth it for Python, which must be read at
 * once. The thread then gets real-time priority if permitted: for about 60 us per sample, so only
 * at moderate rates. Children do not inherit it. It is not always on, because waking up then takes
 * several times as long. */
static void choose_loudness(struct drain *d) {
    struct pt_session *s = d->session;
    bool is_loud = s->recording.pythons &&
                   (pt_mono_ns() - d->mapped_ns < NEWS_NS || pt_pythons_any(&s->pythons));
    if (is_loud == d->is_loud)
        return;
    d->is_loud = is_loud;
    pt_perf_set_loud(&s->perf, is_loud);
    struct sched_param priority = { .sched_priority = is_loud };
    int64_t rate = s->recording.profile.meta.rate_hz * (int64_t)s->perf.cpu_count;
    if (rate <= HURRY_MAX_RATE)
        (void)sched_setscheduler(0, (is_loud ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK,
                                 &priority);
}

static bool wait_for_samples(struct drain *d) {
    struct pt_session *s = d->session;
    struct epoll_event events[64];
    choose_loudness(d);
    int count = epoll_wait(s->poll_fd, events, (int)PT_COUNT(events), s->poll_ms);
    for (int i = 0; i < count; i++)
        if (events[i].data.u64 == STOP_TOKEN)
            return false;
    return true;
}

/* The events are stopped, so the rings only get emptier. The last block is handed over even if it
 * is empty. */
static void drain_rest(struct drain *d) {
    struct pt_session *s = d->session;
    for (;;) {
        empty_rings(d);
        if (!d->block)
            d->block = pt_raw_queue_take_free(&s->queue);
        size_t left = 0;
        for (size_t i = 0; i < s->perf.ring_count; i++)
            left += pt_perf_ring_used(&s->perf.rings[i]);
        if (d->block && left == 0)
            break;
        if (!d->block)
            usleep(1000); /* the worker is behind */
    }
    d->block->complete_ns = INT64_MAX;
    hand_over(d, 0, true);
}

static void *run_drain(void *state) {
    /* on a busy machine rings would overflow */
    (void)!pt_thread_hurry();
    struct drain d = { .session = state, .handed_ns = pt_mono_ns(), .mapped_ns = pt_mono_ns() };
    while (wait_for_samples(&d))
        empty_rings(&d);
    pt_perf_stop(&d.session->perf);
    drain_rest(&d);
    d.session->drain_cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static bool parse(const struct pt_ordered_record *o, struct pt_perf_record *into) {
    return pt_perf_record_parse(o->at, o->size, pt_registers_count, into);
}

/* Takes the records up to `complete_ns`, which have their final order; returns how many. */
static size_t take_records(struct pt_session *s, int64_t complete_ns) {
    struct pt_perf_record record, next;
    size_t i = 0;
    while (i < s->order.count && s->order.at[i].time_ns <= complete_ns) {
        if (!parse(&s->order.at[i++], &record))
            continue;
        bool is_followed = record.kind == PT_PERF_SAMPLE && i < s->order.count &&
                           parse(&s->order.at[i], &next) && next.kind == PT_PERF_PYTHON &&
                           next.tid == record.tid && next.time_ns == record.time_ns;
        pt_recording_take(&s->recording, &record, is_followed ? &next : NULL);
        i += is_followed;
    }
    return i;
}

static void *run_worker(void *state) {
    struct pt_session *s = state;
    for (bool is_last = false; !is_last;) {
        struct pt_raw_block *block = pt_raw_queue_take(&s->queue);
        is_last = block->is_last;
        if (block->complete_ns == 0) {
            /* more blocks of the same time will follow, so the order is not known yet */
            pt_record_order_keep(&s->order, pt_buf_as_str(&block->bytes));
        } else {
            pt_record_order_sort(&s->order, pt_buf_as_str(&block->bytes));
            pt_record_order_hold(&s->order, take_records(s, block->complete_ns));
        }
        /* the slow part of symbol lookup is done while no block waits */
        int64_t before_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        while (!is_last && pt_raw_queue_is_empty(&s->queue) && pt_symbolize_prepare(&s->recording))
            continue;
        s->names_cpu_ns += pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
        pt_raw_queue_give_back(&s->queue, block);
    }
    s->worker_cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - s->names_cpu_ns;
    return NULL;
}

static int open_poll(struct pt_session *s) {
    s->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->poll_fd < 0 || s->stop_fd < 0)
        return -errno;
    watch(s, s->stop_fd, STOP_TOKEN);
    for (size_t i = 0; i < s->perf.ring_count; i++)
        watch(s, s->perf.ring_fds[i], i);
    return 0;
}

/* Events wake us when half a ring is full (perf_event.c), so polling is only for slow samples and
 * must not come earlier. */
static int poll_interval_ms(const struct pt_perf *perf, const struct pt_perf_options *o) {
    size_t samples = perf->ring_count > 0 ? perf->rings[0].size / (o->stack_bytes + 1024) : 0;
    int64_t ms = (int64_t)samples * 700 / (o->rate_hz > 0 ? o->rate_hz : 1);
    int64_t slowest = o->wants_python ? PYTHON_POLL_MS : SLOWEST_POLL_MS;
    return ms < 1 ? 1 : ms > slowest ? (int)slowest : (int)ms;
}

int pt_session_start(struct pt_session *s, struct pt_perf *perf, const struct pt_fs *fs,
                     const struct pt_perf_options *o, const struct pt_pid_list *running,
                     struct pt_err *err) {
    *s = (struct pt_session){ .perf = *perf };
    *perf = (struct pt_perf){ 0 };
    int64_t period_ns = o->rate_hz > 0 ? PT_NS_PER_SECOND / o->rate_hz : 0;
    pt_pythons_init(&s->pythons);
    pt_recording_init(&s->recording, fs, o->wants_python ? &s->pythons : NULL, o->is_off_cpu,
                      o->is_off_cpu ? 0 : period_ns);
    pt_raw_queue_init(&s->queue);
    struct pt_profile_meta *meta = &s->recording.profile.meta;
    meta->start_ns = pt_mono_ns();
    meta->start_wall_ns = pt_wall_ns();
    meta->rate_hz = o->is_off_cpu ? 0 : o->rate_hz;
    memcpy(meta->method, s->perf.method, sizeof meta->method);
    for (size_t i = 0; i < running->count; i++)
        (void)pt_recording_add_process(&s->recording, running->at[i]);
    s->poll_ms = poll_interval_ms(&s->perf, o);
    int rc = open_poll(s);
    if (rc)
        return pt_fail(err, rc, "cannot wait for samples: %s", strerror(-rc));
    rc = pt_thread_start(&s->worker, run_worker, s);
    if (rc)
        return pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    rc = pt_thread_start(&s->drain, run_drain, s);
    if (rc) {
        struct pt_raw_block *last = pt_raw_queue_take_free(&s->queue);
        last->is_last = true;
        pt_raw_queue_put(&s->queue, last);
        pthread_join(s->worker, NULL);
        return pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    }
    s->is_running = true;
    return 0;
}

void pt_session_stop(struct pt_session *s) {
    struct pt_profile_meta *meta = &s->recording.profile.meta;
    uint64_t one = 1;
    s->is_running = false;
    (void)!write(s->stop_fd, &one, sizeof one);
    pthread_join(s->drain, NULL);
    pthread_join(s->worker, NULL);
    meta->end_ns = pt_mono_ns();
    meta->own_cpu_ns = s->drain_cpu_ns + s->worker_cpu_ns;
    /* records about losses need space in the ring too, so the last ones never arrive */
    struct pt_perf_counts counts = pt_perf_counts(&s->perf);
    meta->lost = counts.lost > meta->lost ? counts.lost : meta->lost;
    meta->counted_ns = counts.cpu_ns;
    pt_recording_end(&s->recording, meta->end_ns);
}

int64_t pt_session_cpu_ns(const struct pt_session *s) {
    return s->is_running ? pt_thread_cpu_ns(s->drain) + pt_thread_cpu_ns(s->worker) : 0;
}

void pt_session_release(struct pt_session *s) {
    pt_perf_close(&s->perf);
    pt_recording_release(&s->recording);
    pt_raw_queue_release(&s->queue);
    pt_record_order_release(&s->order);
    pt_pythons_release(&s->pythons);
    pt_buf_release(&s->python_entries);
    pt_buf_release(&s->scratch);
    if (s->poll_fd > 0)
        close(s->poll_fd);
    if (s->stop_fd > 0)
        close(s->stop_fd);
}
