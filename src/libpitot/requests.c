/* Requests of a service, as metrics of the process and for its health check.
 *
 * The health check works while recording is off, so the figures it needs are kept here as well. */
#include "libpitot/requests.h"

#include "base/clock.h"
#include "libpitot/process_usage.h"
#include "inside/region/layout.h"

#include <errno.h>
#include <math.h>
#include <pitot/monitor.h>
#include <pthread.h>

#define MEMORY_NS    PT_NS_PER_SECOND /* interval between readings of memory_usage_bytes */

#define BYTES_PER_MB (1024.0 * 1024)

enum { REQUESTS, ERRORS, DURATION, ACTIVE, RATE, MEMORY, METRIC_COUNT };

static struct pt_latency latency;
static int64_t active_count, memory_ns;
static uint32_t slots[METRIC_COUNT]; /* 0: the region is full */
static int is_registered;            /* was tried */
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define load(at)         __atomic_load_n(at, __ATOMIC_RELAXED)
#define store(at, value) __atomic_store_n(at, value, __ATOMIC_RELAXED)

/* The requests of the parent are not ours. The child has one thread. */
static void forget(void) {
    memset(&latency, 0, sizeof latency);
    active_count = memory_ns = 0;
}

static void prepare(void) {
    pthread_atfork(NULL, NULL, forget);
}

static const struct metric {
    enum pt_region_kind kind;
    const char *name, *unit, *help;
} metrics[METRIC_COUNT] = {
    [REQUESTS] = { PT_REGION_COUNTER, "requests_total", "", "Total requests" },
    [ERRORS] = { PT_REGION_COUNTER, "request_errors_total", "", "Failed requests" },
    [DURATION] = { PT_REGION_HISTOGRAM, "request_duration_seconds", "s", "Request duration" },
    [ACTIVE] = { PT_REGION_GAUGE, "active_requests", "", "Active requests" },
    [RATE] = { PT_REGION_GAUGE, "tokens_per_second", "", "Tokens per second" },
    [MEMORY] = { PT_REGION_GAUGE, "memory_usage_bytes", "By", "Memory usage" },
};

static uint32_t make(const struct metric *m) {
    if (m->kind == PT_REGION_COUNTER)
        return pt_counter_new(m->name, m->unit, m->help, NULL).slot;
    if (m->kind == PT_REGION_GAUGE)
        return pt_gauge_new(m->name, m->unit, m->help, NULL).slot;
    return pt_histogram_new(m->name, m->unit, m->help, NULL).slot;
}

/* Registering again gives the same slots, so that several threads may do this at once. */
int pt_requests_register(void) {
    int rc = 0;
    for (int i = 0; i < METRIC_COUNT; i++) {
        store(&slots[i], make(&metrics[i]));
        rc = rc ? rc : pt_registration_error();
    }
    /* Release: a reader of it sees the slots. */
    __atomic_store_n(&is_registered, 1, __ATOMIC_RELEASE);
    return rc;
}

/* False: recording is off. */
static bool is_recording(void) {
    if (pt_is_off_(PT_METRICS_ON_))
        return false;
    if (!__atomic_load_n(&is_registered, __ATOMIC_ACQUIRE))
        (void)pt_requests_register();
    return true;
}

/* Set, not added to: the count continued while recording was off. The last writer checks again. */
static void show_active(void) {
    if (!is_recording())
        return;
    int64_t shown;
    do {
        shown = load(&active_count);
        pt_gauge_set((pt_gauge){ load(&slots[ACTIVE]) }, (double)shown);
    } while (shown != __atomic_load_n(&active_count, __ATOMIC_SEQ_CST));
}

static void move_active(int64_t by) {
    pthread_once(&once, prepare);
    __atomic_fetch_add(&active_count, by, __ATOMIC_SEQ_CST);
    show_active();
}

void pt_request_begin(void) {
    move_active(1);
}

void pt_request_end(void) {
    move_active(-1);
}

static void show_memory(int64_t now_ns) {
    int64_t shown_ns = load(&memory_ns);
    if ((shown_ns && now_ns - shown_ns < MEMORY_NS) ||
        !__atomic_compare_exchange_n(&memory_ns, &shown_ns, now_ns, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    double mb = pt_process_ram_mb();
    if (!isnan(mb))
        pt_gauge_set((pt_gauge){ load(&slots[MEMORY]) }, mb * BYTES_PER_MB);
}

void pt_record_request(double seconds, uint64_t tokens, bool has_succeeded) {
    pthread_once(&once, prepare);
    int64_t now_ns = pt_mono_ns();
    bool has_duration = isfinite(seconds) && seconds >= 0;
    pt_latency_record(&latency, has_duration ? seconds : (double)NAN, has_succeeded, now_ns);
    if (!is_recording())
        return;
    pt_counter_add((pt_counter){ load(&slots[REQUESTS]) }, 1);
    if (!has_succeeded)
        pt_counter_add((pt_counter){ load(&slots[ERRORS]) }, 1);
    if (has_duration)
        pt_histogram_record((pt_histogram){ load(&slots[DURATION]) }, seconds);
    if (has_duration && seconds > 0)
        pt_gauge_set((pt_gauge){ load(&slots[RATE]) }, (double)tokens / seconds);
    show_memory(now_ns);
}

void pt_requests_window(struct pt_latency_counts *window) {
    pt_latency_read(&latency, pt_mono_ns(), window);
}
