/* The governor: the calibrated cost of calls, their number, and the resulting actions. */
#include "libpitot/overhead.h"

#include "base/attr.h"
#include "base/clock.h"
#include "libpitot/calibrate.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/span_history.h"
#include "libpitot/library_log.h"
#include "libpitot/ticker.h"
#include "inside/probe/probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define WINDOW_NS PT_NS_PER_SECOND

/* Totals so far. */
struct totals {
    int64_t time_ns, cpu_ns;              /* of the program */
    int64_t ticker_ns, gpu_ns, memory_ns; /* of libpitot */
    uint64_t spans, observations;
};

static int64_t memory_ns; /* atomic */

/* Guarded by libpitot/monitor_lock.h. */
static struct {
    struct pt_budget budget; /* limit 0: not configured yet */
    unsigned wanted;         /* parts of the probe */
    struct pt_costs costs;   /* span_seconds 0: not calibrated yet */
    struct totals last;
    double cost_seconds, base_seconds; /* since the first look */
    uint32_t action_count;
    int tick_id;
    bool is_begun;
} state = { .wanted = PT_PROBE_ALL };

static uint64_t count_shard(const struct pt_region_shard *shard) {
    uint64_t count = 0;
    uint32_t octave = pt_region_used_octave(shard, 0);
    for (; octave < PT_OCTAVE_COUNT; octave = pt_region_used_octave(shard, octave + 1)) {
        const uint64_t *buckets = &shard->buckets[octave * PT_BUCKETS_PER_OCTAVE];
        for (uint32_t i = 0; i < PT_BUCKETS_PER_OCTAVE; i++)
            count += pt_region_load(&buckets[i]);
    }
    return count;
}

static void count_events(struct totals *now) {
    const struct pt_region_layout *region = pt_probe_region();
    if (!region)
        return;
    uint32_t histogram_count = pt_region_load(&pt_probe_own.histogram_count);
    now->spans = pt_region_load(&region->header.dropped_spans);
    for (uint32_t i = 1; i < histogram_count; i++)
        now->observations += count_shard(&region->shards[i]);
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++) {
        if (!pt_probe_is_ready(i))
            continue;
        const struct pt_region_thread *thread = &region->threads[i];
        now->spans += pt_region_load(&thread->written) + pt_region_load(&thread->dropped);
        for (uint32_t k = 1; k < histogram_count; k++) {
            const struct pt_region_shard *shard = pt_probe_shard(i, k);
            now->observations += shard ? count_shard(shard) : 0;
        }
    }
}

static void read_totals(struct totals *now) {
    *now = (struct totals){
        .time_ns = pt_mono_ns(),
        .cpu_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .ticker_ns = pt_ticker_cpu_ns(),
        .gpu_ns = pt_gpu_watch_cpu_ns(),
        .memory_ns = __atomic_load_n(&memory_ns, __ATOMIC_RELAXED),
    };
    count_events(now);
}

/* Totals decrease in a child of fork(), which starts again. */
static double since(int64_t before, int64_t now) {
    return now > before ? (double)((uint64_t)now - (uint64_t)before) : 0;
}

static void measure(const struct totals *now, struct pt_budget_window *window) {
    const struct totals *last = &state.last;
    const double ns = 1 / (double)PT_NS_PER_SECOND;
    *window = (struct pt_budget_window){
        .seconds = since(last->time_ns, now->time_ns) * ns,
        .cpu_seconds = since(last->cpu_ns, now->cpu_ns) * ns,
        .costs = {
            [PT_PART_SPANS] = since((int64_t)last->spans, (int64_t)now->spans) *
                              state.costs.span_seconds,
            [PT_PART_HISTOGRAMS] = since((int64_t)last->observations, (int64_t)now->observations) *
                                   state.costs.histogram_seconds,
            [PT_PART_MEMORY] = since(last->memory_ns, now->memory_ns) * ns,
            [PT_PART_GPU] = since(last->gpu_ns, now->gpu_ns) * ns,
        },
        .other_cost = since(last->ticker_ns, now->ticker_ns) * ns,
    };
}

/* The guard is held. */
static unsigned parts(void) {
    unsigned off = (state.budget.is_off[PT_PART_SPANS] ? PT_SPANS_ON_ : 0u) |
                   (state.budget.is_off[PT_PART_HISTOGRAMS] ? PT_HISTOGRAMS_ON_ : 0u);
    return state.wanted & ~off;
}

static unsigned get_parts(void) {
    pt_monitor_lock();
    unsigned now = parts();
    pt_monitor_unlock();
    return now;
}

/* The last writer checks again. */
static void apply_parts(void) {
    unsigned set;
    do {
        set = get_parts();
        pt_probe_set_parts(set);
    } while (set != get_parts());
    if (set & PT_SPANS_ON_)
        pt_history_hurry();
}

/* A span of length zero, so that readers of the spans know why there are no more. */
static void put_mark(const char *text) {
    pt_name once = 0;
    pt_name name = pt_name_new_(&once, text);
    uint64_t now = pt_ticks_();
    if (name && !pt_is_off_(PT_METRICS_ON_))
        pt_span_put_(now, now, 0, 0, name, 0);
}

static void show_part(enum pt_part part, bool is_on) {
    char labels[32];
    snprintf(labels, sizeof labels, "part=\"%s\"", pt_part_names[part]);
    pt_gauge gauge =
        pt_gauge_new("pitot_part_on", "", "0: switched off, its overhead was too high", labels);
    pt_gauge_set(gauge, is_on);
}

static void apply_action(const struct pt_budget_action *action, double mean, double limit) {
    char text[60];
    snprintf(text, sizeof text, "pitot: %s %s", pt_part_names[action->part],
             action->is_on ? "on" : "off");
    if (!action->is_on)
        put_mark(text);
    apply_parts();
    if (action->part == PT_PART_GPU)
        pt_gpu_watch_slow(!action->is_on);
    if (action->is_on)
        put_mark(text);
    show_part(action->part, action->is_on);
    pt_monitor_log(PT_LEVEL_WARNING, "%s: overhead is %.2f %% of the CPU time, limit %.2f %%", text,
                   100 * mean, 100 * limit);
}

static void calibrate_once(void) {
    pt_monitor_lock();
    bool is_done = state.costs.span_seconds > 0;
    pt_monitor_unlock();
    struct pt_costs costs;
    if (is_done || pt_is_off_(PT_METRICS_ON_) || pt_calibrate(&costs))
        return;
    pt_monitor_lock();
    state.costs = costs;
    pt_monitor_unlock();
}

void pt_overhead_look(void *unused) {
    (void)unused;
    struct totals now;
    struct pt_budget_window window;
    struct pt_budget_action action;
    calibrate_once();
    read_totals(&now);
    pt_monitor_lock();
    measure(&now, &window);
    state.last = now;
    state.cost_seconds += pt_budget_cost(&window);
    state.base_seconds += pt_budget_base(&window);
    bool is_taken = pt_budget_step(&state.budget, &window, &action);
    state.action_count += is_taken;
    double mean = state.budget.mean, limit = state.budget.limit;
    pt_monitor_unlock();
    if (is_taken)
        apply_action(&action, mean, limit);
}

/* The guard is held. */
static void prepare_budget(double limit, bool may_act) {
    if (state.budget.limit != limit || state.budget.may_act != may_act)
        pt_budget_init(&state.budget, limit, may_act);
}

void pt_overhead_begin(void) {
    struct totals now;
    pt_config config;
    pt_monitor_lock();
    bool is_first = !state.is_begun;
    state.is_begun = true;
    pt_monitor_unlock();
    if (!is_first) {
        pt_ticker_wake();
        return;
    }
    calibrate_once();
    read_totals(&now);
    pt_config_get(&config);
    pt_monitor_lock();
    prepare_budget(config.performance_threshold, config.auto_disable_on_slow);
    state.last = now;
    pt_monitor_unlock();
    int id = pt_ticker_add(pt_overhead_look, NULL, WINDOW_NS);
    if (id < 0)
        pt_monitor_log(PT_LEVEL_WARNING, "overhead is not monitored: %s", strerror(-id));
}

/* New limits start again, with all parts on. */
void pt_overhead_configure(const pt_config *config) {
    pt_monitor_lock();
    prepare_budget(config->performance_threshold, config->auto_disable_on_slow);
    state.wanted = PT_PROBE_ALL;
    if (!config->collect_timing && !config->collect_throughput)
        state.wanted &= ~(unsigned)PT_SPANS_ON_;
    pt_monitor_unlock();
    pt_monitor_lock();
    bool is_slow = state.budget.is_off[PT_PART_GPU];
    pt_monitor_unlock();
    apply_parts();
    pt_gpu_watch_slow(is_slow);
}

bool pt_overhead_allows(enum pt_part part) {
    pt_monitor_lock();
    bool is_on = !state.budget.is_off[part];
    pt_monitor_unlock();
    return is_on;
}

void pt_overhead_add_memory(int64_t ns) {
    __atomic_fetch_add(&memory_ns, ns, __ATOMIC_RELAXED);
}

void pt_overhead_get(pt_overhead *overhead) {
    int saved_errno = errno;
    struct totals now;
    pt_overhead_begin();
    calibrate_once();
    read_totals(&now);
    pt_monitor_lock();
    const bool *is_off = state.budget.is_off;
    bool is_calibrated = state.costs.span_seconds > 0;
    *overhead = (pt_overhead){
        .fraction = state.base_seconds > 0 ? state.cost_seconds / state.base_seconds : NAN,
        .recent_fraction = state.budget.mean,
        .span_seconds = is_calibrated ? state.costs.span_seconds : NAN,
        .counter_seconds = is_calibrated ? state.costs.counter_seconds : NAN,
        .histogram_seconds = is_calibrated ? state.costs.histogram_seconds : NAN,
        .thread_seconds = (double)(now.ticker_ns + now.gpu_ns) / (double)PT_NS_PER_SECOND,
        .spans = now.spans,
        .observations = now.observations,
        .spans_on = parts() & PT_SPANS_ON_,
        .histograms_on = parts() & PT_HISTOGRAMS_ON_,
        .memory_on = !is_off[PT_PART_MEMORY],
        .gpu_on = !is_off[PT_PART_GPU],
        .actions = state.action_count,
    };
    pt_monitor_unlock();
    errno = saved_errno;
}
