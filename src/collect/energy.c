/* collect/energy.c -- energy counters of the processor (RAPL).
 *
 * The counters wrap after a few minutes of full load on a big socket. They are read at every tick
 * and, if ticks are more than a minute apart, by a thread in between. */
#include "base/log.h"
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/rapl.h"

#include <errno.h>
#include <pthread.h>

#define ENERGY_COLUMNS(X, t)                                                                      \
    X(t, domain, "eDomain", KEY, STRING, NONE, 0,                                                 \
      "package-N (includes core and uncore), core-N, uncore-N, dram-N, or psys (includes all)",   \
      .title = "Domain", .heading = "DOMAIN", .role = PT_ROLE_NAME,                               \
      .words = "rapl socket package", .otel = "hw.id")                                            \
    X(t, energy, "eEnergyUj", COUNTER, I64, MICROJOULES, 0,                                       \
      "Energy used: the kernel's counter, corrected for wraparound",                              \
      .title = "Power of the processor", .heading = "POWER", .better = PT_LOWER_IS_BETTER,        \
      .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE, .words = "energy watts joules rapl", \
      .otel = "hw.energy hw.type=cpu")                                                            \
    X(t, range, "eRangeUj", INFO, I64, MICROJOULES, 0,                                            \
      "Value at which the kernel's counter wraps", .title = "Value at which the counter wraps",   \
      .importance = PT_RAW)                                                                       \
    X(t, problem, "eProblem", INFO, STRING, NONE, 0, "Reason if there is no value",               \
      .title = "Problem")

PT_TABLE(energy, PT_TABLE_FIXED("energy", "energy"),
         "Energy of the processor, from its own counters", ENERGY_COLUMNS, "/sys/class/powercap");

#define KEEP_UP_PERIOD_NS (30 * PT_NS_PER_SECOND)
#define KEEP_UP_ABOVE_NS  (60 * PT_NS_PER_SECOND)

struct energy_state {
    struct pt_rapl rapl; /* guarded by `mutex` while the thread runs */
    const struct pt_fs *fs;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t stopped;
    bool has_thread, must_stop, has_warned;
};

static void read_all(struct energy_state *s) {
    for (size_t i = 0; i < s->rapl.zone_count; i++)
        (void)pt_rapl_read(&s->rapl, &s->rapl.zones[i], s->fs, pt_mono_ns());
}

static void *keep_up(void *user) {
    struct energy_state *s = user;
    pthread_setname_np(pthread_self(), "pitot-energy");
    pthread_mutex_lock(&s->mutex);
    while (!s->must_stop) {
        int64_t until_ns = pt_mono_ns() + KEEP_UP_PERIOD_NS;
        struct timespec until = { until_ns / PT_NS_PER_SECOND, until_ns % PT_NS_PER_SECOND };
        if (pthread_cond_timedwait(&s->stopped, &s->mutex, &until) == ETIMEDOUT)
            read_all(s);
    }
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

static int start_thread(struct energy_state *s, struct pt_err *err) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int rc = pthread_create(&s->thread, NULL, keep_up, s);
    s->has_thread = rc == 0;
    return rc ? pt_fail(err, -rc, "cannot start the energy thread: %s", strerror(rc)) : 0;
}

static int energy_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct energy_state *s = state;
    s->fs = context->fs;
    int rc = pt_rapl_open(&s->rapl, context->fs);
    if (rc || context->interval_ns <= KEEP_UP_ABOVE_NS)
        return rc;
    return start_thread(s, err);
}

static void energy_close(void *state) {
    struct energy_state *s = state;
    if (s->has_thread) {
        pthread_mutex_lock(&s->mutex);
        s->must_stop = true;
        pthread_cond_signal(&s->stopped);
        pthread_mutex_unlock(&s->mutex);
        pthread_join(s->thread, NULL);
        pthread_cond_destroy(&s->stopped);
        pthread_mutex_destroy(&s->mutex);
    }
    pt_rapl_close(&s->rapl);
}

static const char *problem_of(int rc) {
    return rc == -EACCES || rc == -EPERM ? "permission denied" : strerror(-rc);
}

static void add_row(struct energy_state *s, struct pt_rapl_zone *zone, struct pt_batch *rows) {
    int64_t now_ns = pt_mono_ns();
    int rc = pt_rapl_read(&s->rapl, zone, s->fs, now_ns);
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, now_ns);
    pt_set_str(rows, energy_domain, pt_str_from(zone->domain));
    if (zone->counter.range_uj > 0)
        pt_set_i64(rows, energy_range, (int64_t)zone->counter.range_uj);
    if (rc) {
        pt_set_str(rows, energy_problem, pt_str_from(problem_of(rc)));
        if (!s->has_warned)
            pt_log(PT_LOG_INFO, "energy: cannot read %s: %s (see pitot doctor)", zone->domain,
                   problem_of(rc));
        s->has_warned = true;
    } else if (zone->counter.total_uj <= INT64_MAX) {
        pt_set_i64(rows, energy_energy, (int64_t)zone->counter.total_uj);
    }
}

static int energy_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct energy_state *s = state;
    (void)context;
    if (s->has_thread)
        pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < s->rapl.zone_count; i++)
        add_row(s, &s->rapl.zones[i], rows);
    if (s->has_thread)
        pthread_mutex_unlock(&s->mutex);
    return 0;
}

const struct pt_collector pt_energy_collector = {
    .name = "energy",
    .help = "energy counters of the processor (RAPL)",
    .keep = PT_KEEP_ALWAYS, /* its counters wrap */
    .tables = { &energy_table },
    .state_size = sizeof(struct energy_state),
    .open = energy_open,
    .collect = energy_collect,
    .close = energy_close,
};
