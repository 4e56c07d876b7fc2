#include "report/cpu_hotspots.h"

#include "base/log.h"
#include "profile/model/classify.h"
#include "report/run_profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HOTSPOTS      3
#define SAMPLES_MIN   5    /* per window, for a share */
#define HOTSPOT_SHARE 0.05 /* of all samples, to be named */

void pt_cpu_hotspots_open(struct pt_cpu_hotspots *c, const char *journal) {
    struct pt_err err = { "" };
    *c = (struct pt_cpu_hotspots){ 0 };
    if (pt_run_profile_read(&c->file, journal, "cpu", &err)) {
        pt_log(PT_LOG_WARNING, "%s", err.text);
        return;
    }
    if (!c->file)
        return;
    c->states = pt_calloc(c->file->profile.stacks.count + 1, 1);
    pt_classify_stacks(&c->file->profile, c->states);
}

void pt_cpu_hotspots_close(struct pt_cpu_hotspots *c) {
    pt_run_profile_free(c->file);
    pt_free(c->states);
    *c = (struct pt_cpu_hotspots){ 0 };
}

static bool is_in_lock(const struct pt_cpu_hotspots *c, const struct pt_profile_sample *sample) {
    return sample->stack != PT_PROFILE_NONE && c->states[sample->stack] == PT_STATE_LOCK;
}

/* The window of a time, or -1. */
static int find_window(const struct pt_windows *w, int64_t time_ns) {
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->windows[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->count && w->windows[low].start_ns <= time_ns ? (int)low : -1;
}

/* Samples of a window. */
struct counts {
    uint32_t all, in_locks, gil_known, gil_contended;
};

static double share(uint32_t part, uint32_t all) {
    return all >= SAMPLES_MIN ? (double)part / all : NAN;
}

void pt_cpu_hotspots_signal(const struct pt_cpu_hotspots *c, struct pt_signals *signals) {
    if (!c->file)
        return;
    const struct pt_profile *p = &c->file->profile;
    const struct pt_windows *w = signals->windows;
    struct counts *counts = pt_calloc(w->count + 1, sizeof *counts);
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct pt_profile_sample *sample = &p->samples.at[i];
        int window = find_window(w, sample->time_ns);
        if (window < 0)
            continue;
        counts[window].all++;
        counts[window].in_locks += is_in_lock(c, sample);
        counts[window].gil_known += (sample->gil & PT_GIL_KNOWN) != 0;
        counts[window].gil_contended += sample->gil == PT_GIL_CONTENDED;
    }
    for (size_t i = 0; i < w->count; i++) {
        signals->values[PT_FIGURE_PROFILE_LOCK][i] = share(counts[i].in_locks, counts[i].all);
        signals->values[PT_FIGURE_PROFILE_GIL][i] =
            share(counts[i].gil_contended, counts[i].gil_known);
    }
    pt_free(counts);
}

/* ---- functions ---- */

/* The innermost Python function, which its author can change; otherwise the innermost function
 * outside the kernel. `is_above_locks`: the caller of the lock, not the lock itself. */
static uint32_t function_of(const struct pt_cpu_hotspots *c, uint32_t stack, bool is_above_locks) {
    const struct pt_profile *p = &c->file->profile;
    uint32_t native = PT_PROFILE_NONE;
    for (; stack != PT_PROFILE_NONE; stack = p->stacks.at[stack].parent) {
        uint32_t function = p->frames.at[p->stacks.at[stack].frame].function;
        if (function == PT_PROFILE_NONE || (is_above_locks && c->states[stack] == PT_STATE_LOCK))
            continue;
        uint32_t kind = p->functions.at[function].kind;
        if (kind == PT_KIND_PYTHON)
            return function;
        if (native == PT_PROFILE_NONE && (kind == PT_KIND_NATIVE || kind == PT_KIND_JIT))
            native = function;
    }
    return native;
}

struct hotspot {
    uint32_t function;
    uint64_t count;
};

static int by_count(const void *a, const void *b) {
    const struct hotspot *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

/* Functions sorted by samples; returns the number of samples. */
static uint64_t count_hotspots(const struct pt_cpu_hotspots *c, bool is_of_locks,
                               struct hotspot *hotspots) {
    const struct pt_profile *p = &c->file->profile;
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->functions.count; i++)
        hotspots[i] = (struct hotspot){ .function = i };
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct pt_profile_sample *sample = &p->samples.at[i];
        if (is_of_locks && !is_in_lock(c, sample))
            continue;
        uint32_t function = function_of(c, sample->stack, is_of_locks);
        total++;
        if (function != PT_PROFILE_NONE)
            hotspots[function].count++;
    }
    qsort(hotspots, p->functions.count, sizeof *hotspots, by_count);
    return total;
}

static void print_hotspot(const struct pt_profile *p, const struct hotspot *hotspot, uint64_t total,
                          char *into, size_t capacity) {
    const struct pt_profile_function *f = &p->functions.at[hotspot->function];
    struct pt_str name = pt_profile_text(p, f->name), file = pt_profile_text(p, f->file);
    const char *slash = file.len > 0 ? memrchr(file.at, '/', file.len) : NULL;
    if (slash)
        file = pt_str_skip(file, (size_t)(slash + 1 - file.at));
    snprintf(into, capacity, "%.*s%s%.*s%s %.0f %%", (int)name.len, name.at,
             file.len > 0 ? " (" : "", (int)file.len, file.at, file.len > 0 ? ")" : "",
             100.0 * (double)hotspot->count / (double)total);
}

static void describe(const struct pt_cpu_hotspots *c, bool is_of_locks, struct pt_verdict *v) {
    const struct pt_profile *p = &c->file->profile;
    struct hotspot *hotspots = pt_calloc(p->functions.count + 1, sizeof *hotspots);
    uint64_t total = count_hotspots(c, is_of_locks, hotspots);
    size_t used = 0;
    for (size_t i = 0; i < HOTSPOTS && i < p->functions.count; i++) {
        char text[192];
        if ((double)hotspots[i].count < HOTSPOT_SHARE * (double)total || hotspots[i].count == 0)
            break;
        print_hotspot(p, &hotspots[i], total, text, sizeof text);
        int n =
            snprintf(v->where + used, sizeof v->where - used, "%s%s", used > 0 ? ", " : "", text);
        if (n < 0 || used + (size_t)n >= sizeof v->where)
            break;
        used += (size_t)n;
    }
    if (used > 0)
        snprintf(v->where + used, sizeof v->where - used,
                 is_of_locks ? " of CPU time in locks" : " of CPU time");
    pt_free(hotspots);
}

void pt_cpu_hotspots_add(const struct pt_cpu_hotspots *c, struct pt_explanation *x) {
    static const char *const about_cpu[] = { "cpu-bound", "single-thread-bound", "gil-bound",
                                             "cpu-throttled", "gpu-starved" };
    for (int i = 0; c->file && i < x->verdict_count; i++) {
        struct pt_verdict *v = &x->verdicts[i];
        for (size_t a = 0; a < PT_COUNT(about_cpu); a++)
            if (strcmp(v->rule->id, about_cpu[a]) == 0)
                describe(c, false, v);
        if (strcmp(v->rule->id, "lock-contention") == 0)
            describe(c, true, v);
    }
}
