/* The thresholds of verdicts: for each one, values just short of it and just beyond it.
 *
 * `known` has the numbers that the rules should have, so that a threshold does not change by
 * accident: whoever changes a rule changes it here too. A run has ten windows of a second, with the
 * same value in each; signals that are not set are unknown. */
#include "tracks.h"

#include "analyze/straggler.h"
#include "analyze/trend.h"
#include "analyze/verdict.h"

#include <math.h>

#define S(name)   PT_FIGURE_##name
#define MIB       1048576.0
#define WINDOWS   10
#define START_NS  INT64_C(7000000000) /* of the run; the clock does not start with it */
#define TOLERANCE 1e-6

static const struct known {
    const char *id;
    struct pt_rule_form forms[PT_RULE_FORMS];
    struct pt_condition against[PT_RULE_CONDITIONS];
} known[] = {
    { .id = "cpu-bound",
      .forms = { { { { S(OWN_CPU_SHARE), '>', 0.75, 0.95 }, { S(CPU_BUSY), '>', 0.8, 0.97 } } },
                 { { { S(OWN_CPU_SHARE), '>', 0.75, 0.95 },
                     { S(OWN_CPU_PRESSURE), '>', 0.1, 0.5 } } },
                 { { { S(MACHINE_BUSY), '>', 0.9, 0.98 }, { S(CPU_PRESSURE), '>', 0.2, 0.6 } } } },
      .against = { { S(OTHERS_CPU), '>', 0.5 },
                   { S(OWN_THROTTLED), '>', 0.1 },
                   { S(CPU_STEAL), '>', 0.1 } } },
    { .id = "single-thread-bound",
      .forms = { { { { S(OWN_HOTTEST), '>', 0.85, 0.97 },
                     { S(OWN_CPU), '<', 1.25 },
                     { S(CORE_BUSIEST), '>', 0.8, 0.95 },
                     { S(CPU_BUSY), '<', 0.9, 0.7 },
                     { S(CPU_COUNT), '>', 1 } } },
                 { { { S(OWN_CPU), '>', 0.85, 0.97 },
                     { S(OWN_CPU), '<', 1.1 },
                     { S(CORE_BUSIEST), '>', 0.85, 0.97 },
                     { S(CPU_BUSY), '<', 0.9, 0.7 },
                     { S(CPU_COUNT), '>', 1 } } },
                 { { { S(OWN_HOTTEST), '>', 0.9, 0.97 },
                     { S(OWN_CPU), '<', 1.1 },
                     { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                     { S(CPU_COUNT), '>', 1 } } },
                 { { { S(OWN_CPU), '>', 0.9, 0.97 },
                     { S(OWN_CPU), '<', 1.1 },
                     { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                     { S(CPU_COUNT), '>', 1 } },
                   .ceiling = 0.5 } },
      .against = { { S(OWN_CPU_PRESSURE), '>', 0.3 },
                   { S(OWN_THROTTLED), '>', 0.1 },
                   { S(OWN_IO_PRESSURE), '>', 0.3 } } },
    { .id = "gil-bound",
      .forms = { { { { S(PYTHON_SWITCHES), '>', 120, 400 },
                     { S(PYTHON_CPU), '>', 0.8, 0.97 },
                     { S(PYTHON_CPU), '<', 1.3 },
                     { S(PYTHON_THREADS), '>', 1.5 } } },
                 { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(PYTHON_CPU), '>', 0.7, 0.95 } } },
                 { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(OWN_CPU), '>', 0.7, 0.95 } } } },
      .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_IO_PRESSURE), '>', 0.3 } } },
    { .id = "lock-contention",
      .forms = { { { { S(PROFILE_LOCK), '>', 0.08, 0.3 },
                     { S(OWN_SWITCHES), '>', 1000, 10000 } } } },
      .against = { { S(PYTHON_SWITCHES), '>', 120 } } },
    { .id = "cpu-throttled",
      .forms = { { { { S(OWN_THROTTLED), '>', 0.1, 0.5 }, { S(OWN_QUOTA_USE), '>', 0.7, 0.95 } } },
                 { { { S(OWN_THROTTLED), '>', 0.1, 0.5 },
                     { S(OWN_THROTTLED_TIME), '>', 0.05, 0.3 },
                     { S(OWN_CPU_PRESSURE), '>', 0.05, 0.2 } } } },
      .against = { { S(OWN_THROTTLED_TIME), '<', 0.01 }, { S(OWN_QUOTA_USE), '<', 0.5 } } },
    { .id = "cpu-steal",
      .forms = { { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                     { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                     { S(OWN_CPU), '>', 0.25 } } },
                 { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                     { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                     { S(MACHINE_BUSY), '>', 0.25 } } },
                 { { { S(OTHERS_CPU), '>', 0.35, 0.6 },
                     { S(OWN_CPU_PRESSURE), '>', 0.15, 0.5 },
                     { S(CPU_BUSY), '>', 0.85, 0.97 } } },
                 { { { S(OTHERS_CPU), '>', 0.35, 0.6 },
                     { S(OWN_RUN_DELAY), '>', 0.15, 0.5 },
                     { S(CPU_BUSY), '>', 0.85, 0.97 } } } },
      .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_CPU_SHARE), '>', 0.75 } } },
    { .id = "memory-limit",
      .forms = { { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                     { S(OWN_LIMIT_HITS), '>', 0, 20 } } },
                 { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                     { S(OWN_MEMORY_PRESSURE), '>', 0.02, 0.2 } } } },
      .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.01 }, { S(MEM_AVAILABLE), '<', 0.03 } } },
    { .id = "memory-pressure",
      .forms = { { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 }, { S(MEM_SCAN), '>', 100, 5000 } } },
                 { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                     { S(MEM_MAJOR_FAULTS), '>', 50, 1000 } } },
                 { { { S(MEM_PRESSURE), '>', 0.1, 0.4 }, { S(MEM_AVAILABLE), '<', 0.1, 0.03 } } },
                 { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                     { S(OWN_LIMIT_HITS), '>', 1, 50 } } } },
      .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.02 }, { S(MEM_AVAILABLE), '>', 0.9 } } },
    { .id = "swapping",
      .forms = { { { { S(MEM_SWAP), '>', 100, 2000 },
                     { S(MEM_SWAP_USED), '>', 1 * MIB, 64 * MIB },
                     { S(MEM_PRESSURE), '>', 0.05, 0.3 } } },
                 { { { S(MEM_SWAP), '>', 100, 2000 },
                     { S(MEM_SWAP_USED), '>', 1 * MIB, 64 * MIB },
                     { S(MEM_MAJOR_FAULTS), '>', 50, 500 } } } },
      .against = { { S(MEM_AVAILABLE), '>', 0.5 } } },
    { .id = "disk-bound",
      .forms = { { { { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 }, { S(DISK_BUSY), '>', 0.4, 0.8 } } },
                 { { { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 },
                     { S(DISK_RATE), '>', 4 * MIB, 64 * MIB } } },
                 { { { S(IO_PRESSURE), '>', 0.4, 0.7 },
                     { S(DISK_BUSY), '>', 0.7, 0.95 },
                     { S(MACHINE_BUSY), '<', 0.5, 0.3 } } } },
      .against = { { S(OWN_CPU_SHARE), '>', 0.75 },
                   { S(OWN_MEMORY_PRESSURE), '>', 0.25 },
                   { S(MEM_SWAP), '>', 100 },
                   { S(OWN_IO_PRESSURE), '<', 0.05 } } },
    { .id = "network-bound",
      .forms = { { { { S(NET_LINK_SHARE), '>', 0.7, 0.9 },
                     { S(NET_RATE), '>', 1 * MIB, 8 * MIB },
                     { S(CPU_BUSY), '<', 0.8, 0.5 } } },
                 { { { S(NET_LINK_SHARE), '>', 0.7, 0.9 },
                     { S(NET_RATE), '>', 1 * MIB, 8 * MIB },
                     { S(OWN_CPU_SHARE), '<', 0.5, 0.25 } } },
                 { { { S(NET_DROPS), '>', 1, 50 },
                     { S(NET_RATE), '>', 8 * MIB, 64 * MIB },
                     { S(CPU_BUSY), '<', 0.8, 0.5 } } } },
      .against = { { S(OWN_CPU_SHARE), '>', 0.75 },
                   { S(OWN_IO_PRESSURE), '>', 0.3 },
                   { S(OWN_CPU_PRESSURE), '>', 0.5 } } },
    { .id = "gpu-starved",
      .forms = { { { { S(GPU_UTIL), '<', 0.5, 0.2 },
                     { S(OWN_CPU), '>', 0.85, 1 },
                     { S(GPU_MEMORY_SHARE), '>', 0.02 } } },
                 { { { S(GPU_UTIL), '<', 0.5, 0.2 }, { S(ENGINE_RUNNING), '>', 1, 4 } } },
                 { { { S(GPU_UTIL), '<', 0.5, 0.2 },
                     { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 },
                     { S(GPU_MEMORY_SHARE), '>', 0.02 } } } },
      .against = { { S(GPU_SM), '>', 0.7 },
                   { S(GPU_PCIE_SHARE), '>', 0.7 },
                   { S(GPU_THROTTLED), '>', 0.1 } } },
    { .id = "gpu-compute-bound",
      .forms = { { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                     { S(GPU_TENSOR), '>', 0.4, 0.7 },
                     { S(GPU_DRAM), '<', 0.6 } } },
                 { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                     { S(GPU_SM), '>', 0.75, 0.95 },
                     { S(GPU_POWER_SHARE), '>', 0.7, 0.9 },
                     { S(GPU_DRAM), '<', 0.6 } } },
                 { { { S(GPU_UTIL), '>', 0.9, 0.99 },
                     { S(GPU_POWER_SHARE), '>', 0.75, 0.9 },
                     { S(GPU_MEM_UTIL), '<', 0.5, 0.3 } } } },
      .against = { { S(GPU_DRAM), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } } },
    { .id = "gpu-bandwidth-bound",
      .forms = { { { { S(GPU_DRAM), '>', 0.6, 0.8 },
                     { S(GPU_UTIL), '>', 0.7, 0.95 },
                     { S(GPU_TENSOR), '<', 0.5, 0.3 } } },
                 { { { S(GPU_MEM_UTIL), '>', 0.6, 0.85 }, { S(GPU_UTIL), '>', 0.7, 0.95 } } } },
      .against = { { S(GPU_TENSOR), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } } },
    { .id = "gpu-memory-full",
      .forms = { { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                     { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                 { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                     { S(ENGINE_KV), '>', 0.95, 0.99 } } },
                 { { { S(GPU_MEMORY_SHARE), '>', 0.97, 0.99 },
                     { S(GPU_PROCESS_SHARE), '>', 0.9, 0.97 } } } },
      .against = { { S(ENGINE_KV), '<', 0.7 }, { S(ENGINE_WAITING), '<', 0.5 } } },
    { .id = "gpu-throttled",
      .forms = { { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                     { S(GPU_CLOCK_SHARE), '<', 0.95, 0.8 } } },
                 { { { S(GPU_THROTTLED), '>', 0.1, 0.5 }, { S(GPU_POWER_SHARE), '>', 0.95, 1 } } },
                 { { { S(GPU_THROTTLED), '>', 0.1, 0.5 }, { S(GPU_TEMPERATURE), '>', 80, 88 } } } },
      .against = { { S(GPU_UTIL), '<', 0.3 } } },
    { .id = "pcie-bound",
      .forms = { { { { S(GPU_PCIE_SHARE), '>', 0.6, 0.85 }, { S(GPU_UTIL), '<', 0.8, 0.5 } } } },
      .against = { { S(GPU_DRAM), '>', 0.6 }, { S(OWN_IO_PRESSURE), '>', 0.3 } } },
    { .id = "queue-bound",
      .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 }, { S(ENGINE_QUEUE_SHARE), '>', 0.2, 0.5 } } },
                 { { { S(ENGINE_WAITING), '>', 2, 16 },
                     { S(ENGINE_RUNNING), '>', 1 },
                     { S(ENGINE_TTFT_P50), '>', 0.5, 2 } } },
                 { { { S(ENGINE_WAITING), '>', 2, 8 }, { S(ENGINE_QUEUE_RATIO), '>', 1, 4 } } } },
      .against = { { S(ENGINE_TOKENS), '<', 1 } } },
    { .id = "kv-cache-full",
      .forms = { { { { S(ENGINE_KV), '>', 0.9, 0.98 }, { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                 { { { S(ENGINE_KV), '>', 0.95, 0.99 }, { S(ENGINE_WAITING), '>', 1, 8 } } } },
      .against = { { S(ENGINE_TOKENS), '<', 1 }, { S(ENGINE_WAITING), '<', 0.5 } } },
    { .id = "prefill-interference",
      .forms = { { { { S(ENGINE_TOKEN_SPREAD), '>', 4, 10 },
                     { S(ENGINE_PREFILL_SHARE), '>', 0.2, 0.5 },
                     { S(ENGINE_RUNNING), '>', 1 } } },
                 { { { S(ENGINE_PREFILL_BUSY), '>', 0.4, 0.7 },
                     { S(ENGINE_RUNNING), '>', 1 },
                     { S(ENGINE_TOKENS), '>', 1 } } } },
      .against = { { S(OWN_CPU_PRESSURE), '>', 0.5 },
                   { S(OWN_THROTTLED), '>', 0.1 },
                   { S(ENGINE_PREEMPTIONS), '>', 0 } } },
    { .id = "batch-too-small",
      .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 },
                     { S(ENGINE_RUNNING), '<', 9, 5 },
                     { S(ENGINE_RUNNING), '>', 0.5 },
                     { S(ENGINE_KV), '<', 0.5, 0.25 } } },
                 { { { S(ENGINE_WAITING), '>', 1, 4 },
                     { S(ENGINE_RUNNING), '<', 9, 5 },
                     { S(ENGINE_BATCH_SHARE), '>', 0.9, 0.98 } } } },
      .against = { { S(ENGINE_PREEMPTIONS), '>', 0 },
                   { S(GPU_TENSOR), '>', 0.6 },
                   { S(CPU_BUSY), '>', 0.9 } } },
    { .id = "client-limited",
      .forms = { { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                     { S(ENGINE_RUNNING), '<', 1, 0.3 },
                     { S(CPU_BUSY), '<', 0.6, 0.3 } } },
                 { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                     { S(ENGINE_RUNNING), '<', 1, 0.3 },
                     { S(GPU_UTIL), '<', 0.5, 0.2 } } },
                 { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                     { S(ENGINE_RUNNING), '<', 1, 0.3 },
                     { S(OWN_CPU_SHARE), '<', 0.4, 0.1 } } } },
      .against = { { S(OWN_CPU_PRESSURE), '>', 0.5 },
                   { S(OWN_THROTTLED), '>', 0.1 },
                   { S(OWN_IO_PRESSURE), '>', 0.3 } } },
    { .id = "observer-overhead",
      .forms = { { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_CALLS), '>', 0.04, 0.12 } } },
                 { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_LOST), '>', 0.2, 2 } } } },
      .against = { { S(PITOT_SHARE), '<', 0.02 } } },
};

struct run {
    struct pt_windows *windows;
    struct pt_signals signals;
    double values[PT_FIGURE_COUNT][PT_WINDOW_MAX];
};

/* A run without any signal. */
static void init_run(struct run *r, size_t window_count, double window_seconds) {
    static const struct pt_schema empty;
    *r = (struct run){ .windows = test_calloc(1, sizeof *r->windows) };
    r->windows->schema = &empty;
    r->windows->count = window_count;
    r->windows->first_mono_ns = START_NS;
    r->signals = (struct pt_signals){ .windows = r->windows,
                                      .count = window_count,
                                      .seconds = (double)window_count * window_seconds };
    for (size_t i = 0; i < window_count; i++)
        r->windows->windows[i] =
            (struct pt_window){ START_NS + (int64_t)((double)i * window_seconds * 1e9),
                                START_NS + (int64_t)((double)(i + 1) * window_seconds * 1e9) };
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        r->signals.values[id] = r->values[id];
        for (size_t i = 0; i < window_count; i++)
            r->values[id][i] = NAN;
    }
}

static void release_run(struct run *r) {
    test_free(r->windows);
}

static void set_signal(struct run *r, enum pt_figure_id id, double value) {
    for (size_t i = 0; i < r->signals.count; i++)
        r->values[id][i] = value;
}

/* A verdict of the run; all 0 if it is not given. */
static struct pt_verdict verdict_of(const struct run *r, const char *id) {
    struct pt_explanation x;
    pt_explain(&x, &r->signals);
    for (int i = 0; i < x.verdict_count; i++)
        if (strcmp(x.verdicts[i].rule->id, id) == 0)
            return x.verdicts[i];
    return (struct pt_verdict){ 0 };
}

static double confidence_of(const struct run *r, const char *id) {
    return verdict_of(r, id).confidence;
}

static double step_of(const struct pt_condition *c) {
    double step = c->threshold == 0 ? 0.001 : c->threshold * 0.001;
    return c->direction == '<' ? -step : step;
}

static double beyond(const struct pt_condition *c) {
    return c->threshold + step_of(c);
}

/* Exactly at a threshold of 0, below which there is nothing. */
static double short_of(const struct pt_condition *c) {
    return c->threshold == 0 ? 0 : c->threshold - step_of(c);
}

static bool is_graded(const struct pt_condition *c) {
    return c->certain != 0;
}

static int graded_count(const struct pt_rule_form *form) {
    int count = 0;
    for (int i = 0; i < PT_RULE_CONDITIONS && form->needs[i].direction; i++)
        count += is_graded(&form->needs[i]);
    return count;
}

/* Every condition of the form holds, and those that are graded are certain. */
static void set_form(struct run *r, const struct pt_rule_form *form) {
    /* needed by every explanation; between the thresholds of all rules but one */
    set_signal(r, S(CPU_BUSY), 0.7);
    for (int i = 0; i < PT_RULE_CONDITIONS && form->needs[i].direction; i++) {
        const struct pt_condition *c = &form->needs[i];
        if (!is_graded(c))
            set_signal(r, c->signal, c->direction == '<' ? c->threshold / 2 : c->threshold * 2);
    }
    for (int i = 0; i < PT_RULE_CONDITIONS && form->needs[i].direction; i++)
        if (is_graded(&form->needs[i]))
            set_signal(r, form->needs[i].signal, form->needs[i].certain);
}

static bool uses(const struct pt_rule_form *form, enum pt_figure_id id) {
    for (int i = 0; i < PT_RULE_CONDITIONS && form->needs[i].direction; i++)
        if (form->needs[i].signal == id)
            return true;
    return false;
}

/* A full link with busy CPUs is another form of the same verdict than one with idle CPUs. */
static void keep_forms_apart(struct run *r, const char *id, const struct pt_rule_form *form) {
    if (strcmp(id, "network-bound") == 0 && !uses(form, S(CPU_BUSY)))
        set_signal(r, S(CPU_BUSY), 0.85);
}

static struct pt_verdict verdict_with(const char *id, const struct pt_rule_form *form,
                                      enum pt_figure_id signal, double value) {
    static struct run r;
    init_run(&r, WINDOWS, 1);
    set_form(&r, form);
    keep_forms_apart(&r, id, form);
    set_signal(&r, signal, value);
    struct pt_verdict v = verdict_of(&r, id);
    release_run(&r);
    return v;
}

static double confidence_with(const char *id, const struct pt_rule_form *form,
                              enum pt_figure_id signal, double value) {
    return verdict_with(id, form, signal, value).confidence;
}

static void check_need(const char *id, const struct pt_rule_form *form, int index) {
    const struct pt_condition *c = &form->needs[index];
    const char *name = pt_figures[c->signal].name;
    double ceiling = form->ceiling > 0 ? form->ceiling : 1;
    if (confidence_with(id, form, c->signal, beyond(c)) <= 0)
        fail_msg("%s does not hold with %s at %g", id, name, beyond(c));
    if (confidence_with(id, form, c->signal, short_of(c)) > 0)
        fail_msg("%s holds with %s at %g", id, name, short_of(c));
    if (!is_graded(c))
        return;
    double half = confidence_with(id, form, c->signal, (c->threshold + c->certain) / 2);
    double expected = fmin(ceiling, 0.6 + 0.39 * (1 - 0.5 / graded_count(form)));
    if (fabs(half - expected) > TOLERANCE)
        fail_msg("%s: %s half way to %g gives confidence %g instead of %g", id, name, c->certain,
                 half, expected);
    double whole = confidence_with(id, form, c->signal, c->certain);
    if (fabs(whole - fmin(ceiling, 0.99)) > TOLERANCE)
        fail_msg("%s: %s at %g gives confidence %g", id, name, c->certain, whole);
}

/* A form that does not need the signal: the evidence could not hold otherwise. */
static const struct pt_rule_form *form_without(const struct known *k, enum pt_figure_id id) {
    for (int f = 0; f < PT_RULE_FORMS && k->forms[f].needs[0].direction; f++)
        if (!uses(&k->forms[f], id) && k->forms[f].ceiling <= 0)
            return &k->forms[f];
    fail_msg("%s: each form needs %s", k->id, pt_figures[id].name);
    return NULL;
}

static void check_against(const struct known *k, int index) {
    const struct pt_condition *c = &k->against[index];
    const struct pt_rule_form *form = form_without(k, c->signal);
    const char *name = pt_figures[c->signal].name;
    struct pt_verdict without = verdict_with(k->id, form, c->signal, short_of(c));
    struct pt_verdict with = verdict_with(k->id, form, c->signal, beyond(c));
    if (without.confidence <= 0 || without.against[index] != 0)
        fail_msg("%s: %s at %g is held against it", k->id, name, short_of(c));
    if (with.against[index] != 1 || fabs(with.confidence - 0.99 * 0.4) > TOLERANCE)
        fail_msg("%s: %s at %g is not held against it: %g", k->id, name, beyond(c),
                 with.confidence);
}

static void thresholds_are_where_they_should_be(void **state) {
    const struct known *k = *state;
    const struct pt_rule *rule = pt_rule_find(k->id);
    assert_non_null(rule);
    for (int f = 0; f < PT_RULE_FORMS; f++) {
        int count = pt_condition_count(k->forms[f].needs, PT_RULE_CONDITIONS);
        assert_int_equal(pt_condition_count(rule->forms[f].needs, PT_RULE_CONDITIONS), count);
        for (int i = 0; i < count; i++)
            check_need(k->id, &k->forms[f], i);
    }
    int count = pt_condition_count(k->against, PT_RULE_CONDITIONS);
    assert_int_equal(pt_condition_count(rule->against, PT_RULE_CONDITIONS), count);
    for (int i = 0; i < count; i++)
        check_against(k, i);
}

/* The ceiling hides how certain a form is, but not where it holds in few windows only. */
static void one_busy_thread_of_unknown_processes_is_graded_too(void **state) {
    (void)state;
    static const double cases[][2] = { { 0.935, 0.1499999 }, { 0.9000001, 0.09 } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        static struct run r;
        init_run(&r, WINDOWS, 1);
        set_signal(&r, S(CPU_BUSY), 0.7);
        for (size_t w = 0; w < 4; w++) {
            r.values[S(OWN_CPU)][w] = cases[i][0];
            r.values[S(OWN_CPU_PRESSURE)][w] = cases[i][1];
            r.values[S(CPU_COUNT)][w] = 2;
        }
        double expected = (0.6 + 0.39 * 0.25) * 0.6;
        assert_true(fabs(confidence_of(&r, "single-thread-bound") - expected) < 1e-5);
        release_run(&r);
    }
}

static void every_rule_has_known_thresholds(void **state) {
    (void)state;
    static const char *const apart[] = { "oom-killed", "memory-leak", "gpu-memory-leak",
                                         "straggler" };
    const struct pt_rule *rule;
    size_t count = 0;
    for (; (rule = pt_rule_at(count)); count++) {
        bool is_known = false;
        for (size_t i = 0; i < PT_COUNT(known); i++)
            is_known |= strcmp(known[i].id, rule->id) == 0;
        for (size_t i = 0; i < PT_COUNT(apart); i++)
            is_known |= strcmp(apart[i], rule->id) == 0;
        if (!is_known)
            fail_msg("%s has no known thresholds", rule->id);
    }
    assert_int_equal(count, PT_COUNT(known) + PT_COUNT(apart));
}

/* Limits of all verdicts */

static struct pt_explanation explain_busy(size_t window_count, double window_seconds,
                                          size_t busy_count) {
    static struct run r;
    struct pt_explanation x;
    init_run(&r, window_count, window_seconds);
    set_signal(&r, S(CPU_BUSY), 0.97);
    for (size_t i = 0; i < busy_count; i++)
        r.values[S(OWN_CPU_SHARE)][i] = 0.95;
    pt_explain(&x, &r.signals);
    release_run(&r);
    return x;
}

static void a_run_is_too_short_below_four_windows_or_a_second_and_a_half(void **state) {
    (void)state;
    assert_string_equal(explain_busy(3, 1, 3).because,
                        "the run is too short: 3.0 s in 3 windows (needs 1.5 s in 4 windows)");
    assert_null(strstr(explain_busy(4, 1, 4).because, "too short"));
    assert_string_equal(explain_busy(7, 0.2142, 7).because,
                        "the run is too short: 1.5 s in 7 windows (needs 1.5 s in 4 windows)");
    assert_int_equal(explain_busy(7, 0.2144, 7).status, PT_EXPLAIN_BOUND);
}

static void a_verdict_needs_a_quarter_of_the_run(void **state) {
    (void)state;
    assert_int_equal(explain_busy(100, 1, 24).status, PT_EXPLAIN_NOTHING);
    assert_int_equal(explain_busy(100, 1, 24).verdict_count, 0);
    struct pt_explanation x = explain_busy(100, 1, 25);
    assert_int_equal(x.status, PT_EXPLAIN_BOUND);
    assert_true(fabs(x.verdicts[0].share - 0.25) < TOLERANCE);
}

static void a_verdict_of_four_windows_is_less_certain(void **state) {
    (void)state;
    struct pt_explanation few = explain_busy(5, 1, 4), enough = explain_busy(5, 1, 5);
    assert_true(fabs(few.verdicts[0].confidence - 0.99 * 0.6) < TOLERANCE);
    assert_int_equal(few.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_true(fabs(enough.verdicts[0].confidence - 0.99) < TOLERANCE);
    assert_int_equal(enough.status, PT_EXPLAIN_BOUND);
}

/* cpu-bound with two signals that are `certainty` (0 to 1) beyond their thresholds, and evidence
 * against it in some of 1000 windows. */
static struct pt_explanation explain_doubted(double certainty, size_t against_count) {
    static struct run r;
    struct pt_explanation x;
    init_run(&r, 1000, 1);
    set_signal(&r, S(OWN_CPU_SHARE), 0.75 + 0.2 * certainty);
    set_signal(&r, S(CPU_BUSY), 0.8 + 0.17 * certainty);
    for (size_t i = 0; i < 1000; i++)
        r.values[S(CPU_STEAL)][i] = i < against_count ? 0.11 : 0;
    pt_explain(&x, &r.signals);
    release_run(&r);
    return x;
}

static void a_verdict_is_an_answer_from_a_confidence_of_six_tenths_on(void **state) {
    (void)state;
    /* 0.99 (1 - 0.6 x 0.656) is 0.6003, with 0.657 it is 0.5997 */
    assert_int_equal(explain_doubted(1, 656).status, PT_EXPLAIN_BOUND);
    assert_int_equal(explain_doubted(1, 657).status, PT_EXPLAIN_INCONCLUSIVE);
    /* 0.4 (0.6 + 0.39 x 0.0642) is 0.25002 */
    assert_int_equal(explain_doubted(0.0642, 1000).status, PT_EXPLAIN_INCONCLUSIVE);
    assert_int_equal(explain_doubted(0.0642, 1000).verdict_count, 1);
    assert_int_equal(explain_doubted(0.0640, 1000).verdict_count, 0);
    assert_int_equal(explain_doubted(0.0640, 1000).status, PT_EXPLAIN_NOTHING);
}

/* Two verdicts that do not explain each other: rank is 0.4 for the confidence alone, and 0.6 for
 * the share of the run. */
static void a_verdict_of_most_of_the_run_comes_before_a_more_certain_one(void **state) {
    (void)state;
    static const struct {
        size_t window_count; /* of 100 in which disk-bound holds, with 0.99 */
        const char *first;
    } cases[] = { { 46, "queue-bound" }, { 49, "disk-bound" } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        static struct run r;
        struct pt_explanation x;
        init_run(&r, 100, 1);
        set_signal(&r, S(CPU_BUSY), 0.7);
        set_signal(&r, S(ENGINE_WAITING), 1.6); /* a fifth of the way: 0.678 in the whole run */
        set_signal(&r, S(ENGINE_QUEUE_SHARE), 0.26);
        for (size_t w = 0; w < cases[i].window_count; w++) {
            r.values[S(OWN_IO_PRESSURE)][w] = 0.6;
            r.values[S(DISK_BUSY)][w] = 0.8;
        }
        pt_explain(&x, &r.signals);
        release_run(&r);
        assert_int_equal(x.verdict_count, 2);
        assert_string_equal(x.verdicts[0].rule->id, cases[i].first);
    }
}

static void a_value_at_its_threshold_is_not_beyond_it(void **state) {
    (void)state;
    const struct pt_condition above = { S(CPU_BUSY), '>', 0.5 }, below = { S(CPU_BUSY), '<', 0.5 };
    const struct pt_condition least = { S(CPU_BUSY), PT_AT_LEAST, 0.5 };
    assert_false(pt_condition_holds(&above, 0.5) || pt_condition_holds(&below, 0.5));
    assert_true(pt_condition_holds(&least, 0.5));
    assert_false(pt_condition_holds(&above, NAN) || pt_condition_holds(&below, NAN) ||
                 pt_condition_holds(&least, NAN));
}

static void an_explained_verdict_has_nine_tenths_of_the_confidence(void **state) {
    (void)state;
    static struct run r;
    init_run(&r, WINDOWS, 1);
    set_signal(&r, S(CPU_BUSY), 0.7);
    set_signal(&r, S(ENGINE_WAITING), 4);
    set_signal(&r, S(ENGINE_QUEUE_SHARE), 0.5);
    assert_true(fabs(confidence_of(&r, "queue-bound") - 0.99) < TOLERANCE);
    set_signal(&r, S(ENGINE_KV), 0.94);
    set_signal(&r, S(ENGINE_PREEMPTIONS), 0.25);
    assert_true(fabs(confidence_of(&r, "kv-cache-full") - 0.795) < TOLERANCE);
    assert_true(fabs(confidence_of(&r, "queue-bound") - 0.795 * 0.9) < TOLERANCE);
    release_run(&r);
}

/* Events */

struct kill {
    double own, elsewhere; /* kills, or NAN */
    enum pt_figure_id sign;
    double value;
    double confidence;
};

static void a_kill_counts_with_a_sign_that_memory_was_short(void **state) {
    (void)state;
    static const struct kill kills[] = {
        { 1, 1, S(OWN_MEMORY_SHARE), 0.801, 0.97 },
        { 1, 1, S(OWN_MEMORY_SHARE), 0.799, 0.4 },
        { 1, 1, S(OWN_LIMIT_HITS), 0.001, 0.97 },
        { 1, 1, S(OWN_LIMIT_HITS), 0, 0.4 },
        { 1, 1, S(OWN_MEMORY_PRESSURE), 0.0201, 0.97 },
        { 1, 1, S(OWN_MEMORY_PRESSURE), 0.0199, 0.4 },
        { 1, 1, S(MEM_PRESSURE), 0.0501, 0.97 },
        { 1, 1, S(MEM_PRESSURE), 0.0499, 0.4 },
        { 0, 1, S(OWN_MEMORY_SHARE), 0.801, 0.5 },
        { 0, 1, S(OWN_MEMORY_SHARE), 0.799, 0.4 },
        { 0, 1, S(OWN_LIMIT_HITS), 0.001, 0.5 },
        { 0, 1, S(MEM_PRESSURE), 0.0501, 0.5 },
        { 0, 1, S(OWN_MEMORY_PRESSURE), 0.0201, 0.5 },
        { 0, 0, S(OWN_MEMORY_SHARE), 0.99, 0 },
    };
    for (size_t i = 0; i < PT_COUNT(kills); i++) {
        static struct run r;
        init_run(&r, WINDOWS, 1);
        set_signal(&r, S(CPU_BUSY), 0.7);
        set_signal(&r, kills[i].sign, kills[i].value);
        for (size_t w = 0; w < WINDOWS; w++) {
            /* one kill in a long window is a small rate */
            r.values[S(OWN_OOM_KILLS)][w] = w == 4 ? kills[i].own / 1000 : 0;
            r.values[S(MEM_OOM_KILLS)][w] = w == 4 ? kills[i].elsewhere / 1000 : 0;
        }
        double confidence = confidence_of(&r, "oom-killed");
        if (fabs(confidence - kills[i].confidence) > TOLERANCE)
            fail_msg("case %zu: confidence %g", i, confidence);
        release_run(&r);
    }
}

static void a_kill_is_told_with_two_signs_at_most(void **state) {
    (void)state;
    static struct run r;
    init_run(&r, WINDOWS, 1);
    set_signal(&r, S(CPU_BUSY), 0.7);
    set_signal(&r, S(OWN_OOM_KILLS), 0.1);
    set_signal(&r, S(MEM_OOM_KILLS), 0.2);
    struct pt_verdict v = verdict_of(&r, "oom-killed");
    assert_int_equal(v.signal_count, 1);
    assert_int_equal(v.signals[0].signal, S(OWN_OOM_KILLS));
    assert_true(v.signals[0].value == 1);
    set_signal(&r, S(OWN_MEMORY_SHARE), 0.9);
    set_signal(&r, S(OWN_LIMIT_HITS), 2);
    set_signal(&r, S(MEM_PRESSURE), 0.3);
    v = verdict_of(&r, "oom-killed");
    assert_int_equal(v.signal_count, 3);
    assert_int_equal(v.signals[1].signal, S(OWN_MEMORY_SHARE));
    assert_int_equal(v.signals[2].signal, S(OWN_LIMIT_HITS));
    release_run(&r);
}

/* Leaks: 16 windows, of which the trend leaves out the first four. */

#define LEAK_WINDOWS 16
#define LEAK_FIRST   4
#define LEAK_STEPS \
    (LEAK_WINDOWS - 1 - LEAK_FIRST) /* from the first window of the trend to its last */

/* A line, with `restless` taken away from and added to its windows in turn. */
struct course {
    double start, growth, restless;
};

struct leak {
    double window_seconds;
    struct course own, witness, machine; /* those that do not start at 0 */
    enum pt_figure_id other;             /* one more signal, if it has a value */
    double value;
};

static void set_course(struct run *r, enum pt_figure_id id, const struct course *c) {
    for (int i = 0; i < LEAK_WINDOWS && c->start > 0; i++)
        r->values[id][i] = c->start + c->growth * (i - LEAK_FIRST) / LEAK_STEPS +
                           (i % 2 ? c->restless : -c->restless);
}

static double leak_confidence(const struct leak *l, bool is_gpu) {
    static struct run r;
    init_run(&r, LEAK_WINDOWS, l->window_seconds);
    set_signal(&r, S(CPU_BUSY), 0.7);
    set_course(&r, is_gpu ? S(GPU_MEMORY) : S(OWN_RSS), &l->own);
    set_course(&r, is_gpu ? S(GPU_PROCESS_MEMORY) : S(OWN_ANON), &l->witness);
    set_course(&r, S(MEM_ANON), &l->machine);
    if (l->value > 0)
        set_signal(&r, l->other, l->value);
    double confidence = confidence_of(&r, is_gpu ? "gpu-memory-leak" : "memory-leak");
    release_run(&r);
    return confidence;
}

#define GROWING \
    { 100 * MIB, 50 * MIB, 0 }
/* 0.65, and 0.3 for a line of 300 seconds or more; here it has 110 */
#define EXPECTED 0.76

static void a_leak_is_known_by_its_numbers(void **state) {
    (void)state;
    static const struct {
        struct leak leak;
        double confidence;
    } cases[] = {
        /* growth of 8 MiB */
        { { 10, { 20 * MIB, 8.01 * MIB, 0 }, { 20 * MIB, 8.01 * MIB, 0 } }, EXPECTED },
        { { 10, { 20 * MIB, 7.99 * MIB, 0 }, { 20 * MIB, 7.99 * MIB, 0 } }, 0 },
        /* growth by a tenth */
        { { 10, { 1000 * MIB, 100.1 * MIB, 0 }, { 1000 * MIB, 100.1 * MIB, 0 } }, EXPECTED },
        { { 10, { 1000 * MIB, 99.9 * MIB, 0 }, { 1000 * MIB, 99.9 * MIB, 0 } }, 0 },
        /* R² of 0.8518 and 0.8441: 1.55 and 1.6 times the growth of a window */
        { { 10, { 100 * MIB, 55 * MIB, 5 * 1.55 * MIB }, { 100 * MIB, 55 * MIB, 0 } },
          0.65 + 0.3 * 110 / 300 * 0.8517818892759816 },
        { { 10, { 100 * MIB, 55 * MIB, 5 * 1.6 * MIB }, { 100 * MIB, 55 * MIB, 0 } }, 0 },
        /* a second count: as straight as that, and at half to twice the pace */
        { { 10, GROWING, { 100 * MIB, 55 * MIB, 5 * 1.55 * MIB } }, EXPECTED },
        { { 10, GROWING, { 100 * MIB, 55 * MIB, 5 * 1.6 * MIB } }, 0.4 },
        { { 10, GROWING, { 100 * MIB, 99.9 * MIB, 0 } }, EXPECTED },
        { { 10, GROWING, { 100 * MIB, 100.1 * MIB, 0 } }, 0.4 },
        { { 10, GROWING, { 100 * MIB, 25.1 * MIB, 0 } }, EXPECTED },
        { { 10, GROWING, { 100 * MIB, 24.9 * MIB, 0 } }, 0.4 },
        { { 10, GROWING, { 200 * MIB, -50 * MIB, 0 } }, 0.4 },
        { { 10, GROWING, { 0 } }, 0.4 },
        /* a second count that is level */
        { { 10, GROWING, { 100 * MIB, 10.1 * MIB, 0 } }, 0.4 },
        { { 10, GROWING, { 100 * MIB, 9.9 * MIB, 0 } }, 0 },
        { { 10, GROWING, { 200 * MIB, -10.1 * MIB, 0 } }, 0.4 },
        { { 10, GROWING, { 200 * MIB, -9.9 * MIB, 0 } }, 0 },
        /* length of the line: 29.9 and 30.1 seconds; 300 and more */
        { { 29.9 / 11, GROWING, GROWING }, 0.5 },
        { { 30.1 / 11, GROWING, GROWING }, 0.65 + 0.3 * 30.1 / 300 },
        { { 300.0 / 11, GROWING, GROWING }, 0.95 },
        { { 400.0 / 11, GROWING, GROWING }, 0.95 },
        /* other reasons to grow */
        { { 10, GROWING, GROWING, .other = S(OWN_IO_PRESSURE), .value = 0.099 }, EXPECTED },
        { { 10, GROWING, GROWING, .other = S(OWN_IO_PRESSURE), .value = 0.101 }, EXPECTED * 0.4 },
        { { 10, GROWING, GROWING, .other = S(ENGINE_WAITING), .value = 0.99 }, EXPECTED },
        { { 10, GROWING, GROWING, .other = S(ENGINE_WAITING), .value = 1.01 }, EXPECTED * 0.4 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        for (int is_gpu = 0; is_gpu < 2; is_gpu++) {
            double confidence = leak_confidence(&cases[i].leak, is_gpu);
            if (fabs(confidence - cases[i].confidence) > TOLERANCE)
                fail_msg("case %zu%s: confidence %g instead of %g", i, is_gpu ? " of a GPU" : "",
                         confidence, cases[i].confidence);
        }
}

static void a_restless_second_count_leaves_it_to_the_third(void **state) {
    (void)state;
    static const struct leak confirmed = { 10, GROWING, { 100 * MIB, 55 * MIB, 8 * MIB }, GROWING };
    static const struct leak denied = { 10, GROWING, { 0 }, { 900 * MIB, 0, 0 } };
    assert_true(fabs(leak_confidence(&confirmed, false) - EXPECTED) < TOLERANCE);
    assert_true(leak_confidence(&denied, false) == 0);
}

/* Levels of three windows each. The slowest step is 0.4026 and 0.3913 of the mean step. */
static void a_leak_grows_in_every_quarter(void **state) {
    (void)state;
    static const double slowest[] = { 0.31, 0.3 };
    for (int i = 0; i < 2; i++) {
        const double levels[] = { 100, 110, 110 + 10 * slowest[i], 120 + 10 * slowest[i] };
        static struct run r;
        init_run(&r, LEAK_WINDOWS, 10);
        set_signal(&r, S(CPU_BUSY), 0.7);
        for (int w = LEAK_FIRST; w < LEAK_WINDOWS; w++)
            r.values[S(OWN_RSS)][w] = levels[(w - LEAK_FIRST) / 3] * MIB;
        assert_true(fabs(confidence_of(&r, "memory-leak") - (i == 0 ? 0.4 : 0)) < TOLERANCE);
        release_run(&r);
    }
}

/* Trends, and where a verdict holds */

static void assert_near(double found, double wanted) {
    if (!(fabs(found - wanted) <= TOLERANCE))
        fail_msg("%.12g instead of %.12g", found, wanted);
}

/* 16 windows of two seconds; the values are those of their middles. */
static void set_line(struct run *r, double start, double slope) {
    init_run(r, 16, 2);
    for (int i = 0; i < 16; i++)
        r->values[S(OWN_RSS)][i] = start + slope * (2 * i + 1);
}

static void a_trend_has_known_answers(void **state) {
    (void)state;
    static struct run r;
    struct pt_trend t;
    set_line(&r, 100, 3);
    assert_true(pt_trend_find(&r.signals, S(OWN_RSS), 0, &t));
    assert_near(t.first, 103);
    assert_near(t.last, 193);
    assert_near(t.slope_per_second, 3);
    assert_near(t.r_squared, 1);
    assert_near(t.least_quarter, 1);
    assert_near(t.seconds, 30);
    assert_near(t.from, 1);
    assert_near(t.to, 31);
    assert_int_equal(t.window_count, 16);
    /* without its first quarter, and with gaps: eight windows are enough, seven are not */
    for (int i = 0; i < 4; i++)
        r.values[S(OWN_RSS)][i] = 1e6;
    for (int i = 5; i < 9; i++)
        r.values[S(OWN_RSS)][i] = NAN;
    assert_true(pt_trend_find(&r.signals, S(OWN_RSS), 0.25, &t));
    assert_near(t.first, 100 + 3 * 9);
    assert_near(t.last, 193);
    assert_near(t.from, 9);
    assert_near(t.seconds, 22);
    assert_near(t.slope_per_second, 3);
    assert_int_equal(t.window_count, 8);
    r.values[S(OWN_RSS)][12] = NAN;
    assert_false(pt_trend_find(&r.signals, S(OWN_RSS), 0.25, &t));
    release_run(&r);
    /* level, and falling */
    set_line(&r, 100, 0);
    assert_true(pt_trend_find(&r.signals, S(OWN_RSS), 0, &t));
    assert_true(t.r_squared == 0 && t.least_quarter == 0 && t.slope_per_second == 0);
    release_run(&r);
    set_line(&r, 100, -3);
    assert_true(pt_trend_find(&r.signals, S(OWN_RSS), 0, &t));
    assert_near(t.slope_per_second, -3);
    assert_near(t.r_squared, 1);
    assert_true(t.least_quarter == 0);
    release_run(&r);
    /* quarters of 10, 20, 24 and 42: the least growth is 4 of 32 / 3; the last has two more */
    init_run(&r, 18, 1);
    static const double levels[] = { 10, 20, 24, 40 };
    for (int i = 0; i < 18; i++)
        r.values[S(OWN_RSS)][i] = i < 16 ? levels[i / 4] : 46;
    assert_true(pt_trend_find(&r.signals, S(OWN_RSS), 0, &t));
    assert_near(t.least_quarter, 0.375);
    release_run(&r);
}

/* Windows 1 to 3 and 6 to 8: the first of two stretches of the same length is reported; a longer
 * one is reported instead of it. */
static void a_verdict_is_told_by_its_longest_stretch(void **state) {
    (void)state;
    for (int is_longer = 0; is_longer < 2; is_longer++) {
        static struct run r;
        init_run(&r, 10, 2);
        set_signal(&r, S(CPU_BUSY), 0.97);
        for (int i = 1; i < 4; i++) {
            r.values[S(OWN_CPU_SHARE)][i] = 0.9 + 0.01 * i;
            r.values[S(OWN_CPU_SHARE)][i + 5] = 0.8;
        }
        if (is_longer)
            r.values[S(OWN_CPU_SHARE)][9] = 0.8;
        struct pt_verdict v = verdict_of(&r, "cpu-bound");
        assert_near(v.share, is_longer ? 0.7 : 0.6);
        assert_int_equal(v.signal_count, 2);
        assert_int_equal(v.signals[0].signal, S(OWN_CPU_SHARE));
        assert_near(v.signals[0].value, is_longer ? 0.8 : 0.92);
        assert_near(v.signals[0].from, is_longer ? 12 : 2);
        assert_near(v.signals[0].to, is_longer ? 20 : 8);
        assert_near(v.signals[1].value, 0.97);
        release_run(&r);
    }
}

/* What speaks against it is known in one window, then in two. */
static void a_doubt_counts_where_it_is_known(void **state) {
    (void)state;
    static struct run r;
    init_run(&r, 8, 1);
    set_signal(&r, S(CPU_BUSY), 0.97);
    set_signal(&r, S(OWN_CPU_SHARE), 0.95);
    r.values[S(OTHERS_CPU)][2] = 0.6;
    struct pt_verdict v = verdict_of(&r, "cpu-bound");
    assert_true(v.against[0] == 1);
    assert_true(isnan(v.against[1]));
    assert_near(v.confidence, 0.99 * 0.4);
    r.values[S(OTHERS_CPU)][3] = 0.4;
    v = verdict_of(&r, "cpu-bound");
    assert_near(v.against[0], 0.5);
    assert_near(v.confidence, 0.99 * 0.7);
    release_run(&r);
}

static void verdicts_of_the_same_rank_are_in_order_of_their_names(void **state) {
    (void)state;
    static const char *const ids[] = { "swapping", "disk-bound", "network-bound", "cpu-bound" };
    struct pt_explanation x = { .verdict_count = PT_COUNT(ids) };
    for (size_t i = 0; i < PT_COUNT(ids); i++)
        x.verdicts[i] =
            (struct pt_verdict){ .rule = pt_rule_find(ids[i]), .confidence = 0.5, .share = 1 };
    pt_explanation_decide(&x);
    for (int i = 1; i < x.verdict_count; i++)
        assert_true(strcmp(x.verdicts[i - 1].rule->id, x.verdicts[i].rule->id) < 0);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_non_null(strstr(x.because, "cpu-bound"));
}

/* The second in which most were killed, and the highest pressure, each with its own time. */
static void an_event_is_told_with_its_time(void **state) {
    (void)state;
    static struct run r;
    init_run(&r, 10, 2);
    set_signal(&r, S(CPU_BUSY), 0.7);
    set_signal(&r, S(OWN_OOM_KILLS), 0);
    set_signal(&r, S(MEM_OOM_KILLS), 0);
    r.values[S(OWN_OOM_KILLS)][0] = NAN;
    r.values[S(OWN_OOM_KILLS)][3] = 0.5;
    r.values[S(OWN_OOM_KILLS)][4] = 1;
    r.values[S(OWN_OOM_KILLS)][6] = 1;
    r.values[S(OWN_MEMORY_SHARE)][5] = 0.9;
    r.values[S(OWN_MEMORY_SHARE)][7] = 0.95;
    struct pt_verdict v = verdict_of(&r, "oom-killed");
    assert_near(v.confidence, 0.97);
    assert_near(v.share, 0.1);
    assert_int_equal(v.signal_count, 2);
    assert_near(v.signals[0].value, 5); /* rates of 2.5 in all, for two seconds */
    assert_near(v.signals[0].from, 8);
    assert_near(v.signals[0].to, 10);
    assert_int_equal(v.signals[1].signal, S(OWN_MEMORY_SHARE));
    assert_near(v.signals[1].value, 0.95);
    assert_near(v.signals[1].from, 14);
    assert_near(v.signals[1].to, 16);
    release_run(&r);
}

/* What it grew by, where it ended and what confirms it, along the line. */
static void a_leak_is_told_with_its_line(void **state) {
    (void)state;
    static struct run r;
    init_run(&r, 16, 10);
    set_signal(&r, S(CPU_BUSY), 0.7);
    for (int i = 0; i < 16; i++) {
        r.values[S(OWN_RSS)][i] = (100 + 5.0 * i) * MIB;
        r.values[S(OWN_ANON)][i] = (50 + 4.0 * i) * MIB;
    }
    struct pt_verdict v = verdict_of(&r, "memory-leak");
    assert_near(v.share, 110.0 / 160);
    assert_int_equal(v.signal_count, 3);
    assert_int_equal(v.signals[0].signal, S(OWN_RSS_GROWTH));
    assert_near(v.signals[0].value / MIB, 0.5);
    assert_int_equal(v.signals[1].signal, S(OWN_RSS));
    assert_near(v.signals[1].value / MIB, 175);
    assert_int_equal(v.signals[2].signal, S(OWN_ANON_GROWTH));
    assert_near(v.signals[2].value / MIB, 0.4);
    for (int i = 0; i < 3; i++) {
        assert_near(v.signals[i].from, 45);
        assert_near(v.signals[i].to, 155);
    }
    release_run(&r);
}

/* Stragglers */

static const char *const urls[] = { "a", "b", "c", "d" };

/* `worker_count` engines with work, the last of which has other numbers, and the third of four. */
static struct pt_verdict worker_verdict(size_t worker_count, double pace, double rate,
                                        double running, const struct track *other) {
    struct track_set *set = test_calloc(1, sizeof *set);
    struct pt_journal_reader reader = { 0 };
    struct pt_windows *w = test_calloc(1, sizeof *w);
    struct pt_signals signals;
    struct pt_explanation x;
    struct pt_err err = { "" };
    char path[] = "/tmp/pitot-rules-XXXXXX";
    struct pt_verdict found = { 0 };
    tracks_add(set,
               (const struct track[]){ { "cpu", NULL, "vCpuIdleTime", 'c', 100, 0 },
                                       { "engine", NULL, "tokens_generation_total", 'c', 9, 0 },
                                       { 0 } });
    tracks_add(set, other);
    for (size_t i = 0; i < worker_count; i++) {
        bool is_last = i + 1 == worker_count || i == 2;
        tracks_add(set, (const struct track[]){
                            { "engines", urls[i], "system_requests_running", 'g', running, 0 },
                            { "engines", urls[i], "latency_inter_token_s_p50", 'g',
                              is_last ? 0.02 * pace : 0.02, 0 },
                            { "engines", urls[i], "tokens_generation_total", 'c',
                              is_last ? 500 * rate : 500, 0 },
                            { 0 } });
    }
    tracks_write(set, 10, 0.5, path);
    assert_int_equal(pt_journal_open(&reader, path, &err), 0);
    pt_windows_init(w, &reader.schema, pt_signal_wants);
    assert_int_equal(pt_windows_read(w, &reader), 0);
    pt_signals_make(&signals, w, NAN);
    pt_explain(&x, &signals);
    for (int i = 0; i < x.verdict_count; i++)
        if (strcmp(x.verdicts[i].rule->id, "straggler") == 0)
            found = x.verdicts[i];
    pt_signals_release(&signals);
    pt_windows_release(w);
    pt_journal_reader_close(&reader);
    unlink(path);
    test_free(w);
    test_free(set);
    return found;
}

static void a_slow_engine_is_known_by_its_numbers(void **state) {
    (void)state;
    static const struct {
        size_t worker_count;
        double pace, rate, running, confidence;
        struct track other[3];
    } cases[] = {
        { 3, 1.301, 0.5, 4, 0.6 + 0.3 * 0.001 / 0.7 },
        { 3, 1.299, 0.5, 4, 0 },
        { 3, 1.65, 0.5, 4, 0.75 },
        { 3, 2, 0.5, 4, 0.9 },
        { 3, 3, 0.5, 4, 0.9 },
        { 3, 1.65, 0.849, 4, 0.75 },
        { 3, 1.65, 0.851, 4, 0 },
        { 2, 1.65, 0.5, 4, 0 },
        { 4, 1.65, 0.5, 4, 0.75 }, /* the middle of four is the second */
        { 3, 1.65, 0.5, 1, 0.75 },
        { 3, 1.65, 0.5, 0.99, 0 },
        { 3, 1.65, 0.5, 4, 0.75, { { "engine", NULL, "system_preemptions_total", 'c', 0, 0 } } },
        { 3, 1.65, 0.5, 4, 0.3, { { "engine", NULL, "system_preemptions_total", 'c', 0.01, 0 } } },
        { 3,
          1.65,
          0.5,
          4,
          0.75,
          { { "container", "/own", "cCpuPeriods", 'c', 1000, 0 },
            { "container", "/own", "cCpuThrottledPeriods", 'c', 99, 0 } } },
        { 3,
          1.65,
          0.5,
          4,
          0.3,
          { { "container", "/own", "cCpuPeriods", 'c', 1000, 0 },
            { "container", "/own", "cCpuThrottledPeriods", 'c', 101, 0 } } },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        double confidence = worker_verdict(cases[i].worker_count, cases[i].pace, cases[i].rate,
                                           cases[i].running, cases[i].other)
                                .confidence;
        if (fabs(confidence - cases[i].confidence) > TOLERANCE)
            fail_msg("case %zu: confidence %g", i, confidence);
    }
}

static void a_slow_engine_is_told_with_its_pace_and_rate(void **state) {
    (void)state;
    static const struct track none = { 0 };
    struct pt_verdict v = worker_verdict(3, 1.65, 0.5, 4, &none);
    assert_string_equal(v.entity, "c");
    assert_true(v.share == 1);
    assert_int_equal(v.signal_count, 2);
    assert_int_equal(v.signals[0].signal, S(WORKER_PACE));
    assert_true(fabs(v.signals[0].value - 1.65) < TOLERANCE);
    assert_int_equal(v.signals[1].signal, S(WORKER_RATE));
    assert_true(fabs(v.signals[1].value - 0.5) < TOLERANCE);
    for (int i = 0; i < 2; i++)
        assert_true(v.signals[i].from == 0 && fabs(v.signals[i].to - 10) < TOLERANCE);
}

/* In the first `slowest` of the steps the last rank takes `pace` times as long as the others; in
 * the rest the first rank takes twice as long. */
static bool is_straggler(const char *name, int ranks, int steps, int slowest, double pace) {
    struct pt_stragglers s = { .table = -1 };
    bool is_collective = pace < 1;
    for (int rank = 0; rank < ranks; rank++) {
        char label[8];
        int n = snprintf(label, sizeof label, "%d", rank);
        for (int i = 0; i < steps; i++) {
            double ms = 100;
            if (i < slowest && rank == ranks - 1)
                ms *= pace;
            if (i >= slowest && rank == 0)
                ms *= is_collective ? 0.5 : 2;
            pt_stragglers_add_span(&s, (struct pt_str){ label, (size_t)n }, pt_str_from(name),
                                   &(struct pt_rank_span){ .start_ns = i * INT64_C(1000000000),
                                                           .duration_ns = (int64_t)(ms * 1e6) });
        }
    }
    pt_stragglers_finish(&s);
    bool is_found = pt_stragglers_worst(&s) != NULL;
    pt_stragglers_release(&s);
    return is_found;
}

static void a_slow_rank_is_known_by_its_numbers(void **state) {
    (void)state;
    assert_true(is_straggler("step", 4, 20, 20, 1.101));
    assert_false(is_straggler("step", 4, 20, 20, 1.099));
    assert_true(is_straggler("all_reduce", 4, 20, 20, 1 / 1.101));
    assert_false(is_straggler("all_reduce", 4, 20, 20, 1 / 1.099));
    /* half way from chance to always: 15 of 20 steps with two ranks, 12.5 with four */
    assert_true(is_straggler("step", 2, 20, 15, 2));
    assert_false(is_straggler("step", 2, 20, 14, 2));
    assert_true(is_straggler("step", 4, 20, 13, 2));
    assert_false(is_straggler("step", 4, 20, 12, 2));
    assert_true(is_straggler("step", 3, 12, 8, 2));
    assert_false(is_straggler("step", 3, 12, 7, 2));
    assert_true(is_straggler("step", 4, 10, 10, 2));
    assert_false(is_straggler("step", 4, 9, 9, 2));
    const struct pt_rule_form *form = &pt_rule_find("straggler")->forms[PT_STRAGGLER_RANKS];
    assert_true(fabs(pt_straggler_confidence(form, 1.1) - 0.6) < TOLERANCE);
    assert_true(fabs(pt_straggler_confidence(form, 1.3) - 0.75) < TOLERANCE);
    assert_true(fabs(pt_straggler_confidence(form, 1.6) - 0.9) < TOLERANCE);
}

int main(void) {
    static const struct CMUnitTest others[] = {
        PT_TEST(every_rule_has_known_thresholds,
                "C234: every rule has thresholds with known answers"),
        PT_TEST(one_busy_thread_of_unknown_processes_is_graded_too,
                "C234: one busy thread is graded where processes are not recorded, too"),
        PT_TEST(a_run_is_too_short_below_four_windows_or_a_second_and_a_half,
                "C234: a run below four windows or a second and a half is too short"),
        PT_TEST(a_verdict_needs_a_quarter_of_the_run,
                "C234: a verdict that holds for less than a quarter of the run is not reported"),
        PT_TEST(a_verdict_of_four_windows_is_less_certain,
                "C234: a verdict that holds in four windows is less certain than one in five"),
        PT_TEST(a_verdict_is_an_answer_from_a_confidence_of_six_tenths_on,
                "C234: a verdict is reported from a confidence of 0.25 on, an answer from 0.6 on"),
        PT_TEST(a_verdict_of_most_of_the_run_comes_before_a_more_certain_one,
                "C234: a verdict of most of the run comes before a more certain one of less"),
        PT_TEST(a_value_at_its_threshold_is_not_beyond_it,
                "C234: a value at its threshold is not beyond it, and an unknown value neither"),
        PT_TEST(an_explained_verdict_has_nine_tenths_of_the_confidence,
                "C234: an explained verdict has nine tenths of the confidence of its cause"),
        PT_TEST(a_kill_counts_with_a_sign_that_memory_was_short,
                "C234: an OOM kill counts with a sign that memory was short, and if it is its own"),
        PT_TEST(a_kill_is_told_with_two_signs_at_most,
                "C234: an OOM kill is counted, and told with two signs at most"),
        PT_TEST(a_leak_is_known_by_its_numbers,
                "C234: a leak begins at its thresholds, in memory and in GPU memory"),
        PT_TEST(
            a_restless_second_count_leaves_it_to_the_third,
            "C234: where its cgroup cannot tell, the machine's memory confirms or denies a leak"),
        PT_TEST(a_leak_grows_in_every_quarter, "C234: a leak grows in every quarter of the run"),
        PT_TEST(a_trend_has_known_answers, "C234: the trend of a signal has known answers"),
        PT_TEST(a_verdict_is_told_by_its_longest_stretch,
                "C234: signals are those of the longest time in which a verdict holds"),
        PT_TEST(a_doubt_counts_where_it_is_known,
                "C234: what speaks against a verdict counts in windows where it is known"),
        PT_TEST(verdicts_of_the_same_rank_are_in_order_of_their_names,
                "C234: verdicts of the same rank are in order of their names"),
        PT_TEST(an_event_is_told_with_its_time,
                "C234: an OOM kill and its signs are reported with the time of their peaks"),
        PT_TEST(a_leak_is_told_with_its_line,
                "C234: a leak is reported with its growth, its level and what confirms it"),
        PT_TEST(a_slow_engine_is_told_with_its_pace_and_rate,
                "C234: a slow engine is reported with its pace and its rate, over the whole run"),
        PT_TEST(a_slow_engine_is_known_by_its_numbers,
                "C234: a slow engine is a straggler from its thresholds on"),
        PT_TEST(a_slow_rank_is_known_by_its_numbers,
                "C234: a slow rank is a straggler from its thresholds on"),
    };
    static char names[PT_COUNT(known)][96];
    struct CMUnitTest tests[PT_COUNT(known) + PT_COUNT(others)];
    memcpy(tests, others, sizeof others);
    for (size_t i = 0; i < PT_COUNT(known); i++) {
        snprintf(names[i], sizeof names[i], "C234: %s begins and ends at its thresholds",
                 known[i].id);
        tests[PT_COUNT(others) + i] = (struct CMUnitTest){
            .name = names[i],
            .test_func = thresholds_are_where_they_should_be,
            .initial_state = (void *)(uintptr_t)&known[i],
        };
    }
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
