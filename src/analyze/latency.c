#include "analyze/latency.h"

#include <sched.h>

#define load(at)    __atomic_load_n(at, __ATOMIC_RELAXED)
#define add_one(at) __atomic_fetch_add(at, 1, __ATOMIC_RELAXED)

static void copy_total(const struct pt_latency *l, struct pt_latency_counts *into) {
    into->requests = load(&l->total.requests);
    into->errors = load(&l->total.errors);
    for (uint32_t i = 0; i < PT_BUCKET_COUNT; i++)
        into->buckets[i] = load(&l->total.buckets[i]);
}

/* Needs the lock. After a long pause both copies are current: older requests do not count. */
static void turn(struct pt_latency *l, int64_t now_ns) {
    int64_t copied_ns = load(&l->copied_ns);
    if (now_ns - copied_ns < PT_LATENCY_HALF_NS && copied_ns)
        return;
    if (copied_ns) {
        l->copies[0] = l->copies[1];
        copy_total(l, &l->copies[1]);
        if (now_ns - copied_ns >= 2 * PT_LATENCY_HALF_NS)
            l->copies[0] = l->copies[1];
    }
    __atomic_store_n(&l->copied_ns, now_ns, __ATOMIC_RELAXED);
}

/* Acquire and release: the next holder of the lock sees complete copies. */
static bool try_lock(struct pt_latency *l) {
    return !__atomic_exchange_n(&l->is_locked, 1, __ATOMIC_ACQUIRE);
}

static void unlock(struct pt_latency *l) {
    __atomic_store_n(&l->is_locked, 0, __ATOMIC_RELEASE);
}

void pt_latency_record(struct pt_latency *l, double seconds, bool has_succeeded, int64_t now_ns) {
    int64_t copied_ns = load(&l->copied_ns);
    if ((!copied_ns || now_ns - copied_ns >= PT_LATENCY_HALF_NS) && try_lock(l)) {
        turn(l, now_ns);
        unlock(l);
    }
    if (seconds >= 0)
        add_one(&l->total.buckets[pt_bucket_of(seconds)]);
    if (!has_succeeded)
        add_one(&l->total.errors);
    add_one(&l->total.requests);
}

void pt_latency_read(struct pt_latency *l, int64_t now_ns, struct pt_latency_counts *window) {
    while (!try_lock(l))
        sched_yield();
    turn(l, now_ns);
    copy_total(l, window);
    const struct pt_latency_counts *from = &l->copies[0];
    window->requests -= from->requests;
    window->errors -= from->errors;
    for (uint32_t i = 0; i < PT_BUCKET_COUNT; i++)
        window->buckets[i] -= from->buckets[i];
    unlock(l);
}
