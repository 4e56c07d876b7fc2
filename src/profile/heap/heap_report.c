#include "profile/heap/heap_report.h"

#include "base/json.h"
#include "profile/heap/leaks.h"

#include <inttypes.h>
#include <math.h>

#define LINE_STEPS 64 /* of the timeline on a terminal */

/* Bytes and blocks of a metric, over all stacks. */
struct sums {
    bool is_there;
    int64_t bytes, blocks;
};

static struct sums sums_of(const struct pt_profile *p, enum pt_heap_metric metric) {
    struct sums s = { 0 };
    for (size_t type = 0; type + 1 < p->type_count && !s.is_there; type++) {
        if (strcmp(p->types[type].name, pt_heap_metric_name(metric)) != 0)
            continue;
        s.is_there = true;
        for (size_t i = 0; i < p->samples.count; i++) {
            s.bytes += pt_profile_value(p, i, type);
            s.blocks += pt_profile_value(p, i, type + 1);
        }
    }
    return s;
}

bool pt_heap_report_fits(const struct pt_profile *p) {
    return sums_of(p, PT_HEAP_LIVE).is_there && sums_of(p, PT_HEAP_ALLOCATED).is_there;
}

static void print_sum(const char *name, int64_t bytes, int64_t error, int64_t blocks,
                      struct pt_out *out) {
    char text[PT_LEAKS_BYTES_TEXT];
    pt_out_printf(out, "%-10s %s", name, pt_leaks_bytes_text((double)bytes, text));
    if (error > 0)
        pt_out_printf(out, " +- %s", pt_leaks_bytes_text((double)error, text));
    pt_out_printf(out, " in %" PRId64 " blocks", blocks);
}

static double seconds_between(int64_t from_ns, int64_t to_ns) {
    return (double)(to_ns - from_ns) / 1e9;
}

/* Live bytes over time, in eighths of the maximum. */
static void print_time_line(const struct pt_profile_timeline *t, struct pt_out *out) {
    static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    size_t together = (t->count + LINE_STEPS - 1) / LINE_STEPS;
    int64_t most = 0;
    for (size_t i = 0; i < t->count; i++)
        most = t->values[i] > most ? t->values[i] : most;
    if (t->count < 2 || most <= 0)
        return;
    pt_out_text(out, "live       ");
    for (size_t i = 0; i < t->count; i += together) {
        int64_t highest = 0;
        for (size_t k = i; k < i + together && k < t->count; k++)
            highest = t->values[k] > highest ? t->values[k] : highest;
        pt_out_text(out, levels[(size_t)fmin(7, 8 * (double)highest / (double)most)]);
    }
    pt_out_printf(out, " (%.3g s each)\n", (double)together * (double)t->step_ns / 1e9);
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

void pt_heap_report_print_losses(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_heap_meta *h = &p->meta.heap;
    if (h->thinned > 0)
        pt_out_printf(out,
                      "samples arrived faster than they were read: %.1f %% were taken at a lower "
                      "rate than requested (sums are correct, with larger errors)\n",
                      percent(h->thinned, h->taken));
    if (p->meta.lost > 0)
        pt_out_printf(out,
                      "lost: %" PRId64 " samples (%.1f %%): the ring was full, so sums are too low "
                      "by about that share (use a larger --heap)\n",
                      p->meta.lost, percent(p->meta.lost, p->meta.lost + h->taken));
    if (h->lost_frees > 0)
        pt_out_printf(out, "lost: %" PRId64 " frees (their memory appears as live)\n",
                      h->lost_frees);
    if (h->untracked > 0)
        pt_out_printf(out, "not tracked until freed: %" PRId64 " allocations\n", h->untracked);
    if (h->lost_stacks > 0)
        pt_out_printf(out, "without a stack: %" PRId64 " allocations\n", h->lost_stacks);
    if (h->unknown_pythons > 0)
        pt_out_printf(out,
                      "python: frames of %" PRId64
                      " processes cannot be read (unknown Python version)\n",
                      h->unknown_pythons);
}

static void print_head(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_meta *m = &p->meta;
    pt_out_printf(out, "heap: %s\n", m->method);
    pt_out_printf(out, "samples: %" PRId64 " of %" PRId64 " process%s", m->heap.taken,
                  m->heap.processes, m->heap.processes == 1 ? "" : "es");
    if (m->unwound > 0)
        pt_out_printf(out, "; %.1f %% of the stacks reach the root",
                      percent(m->rooted, m->unwound));
    pt_out_char(out, '\n');
    if (m->python_wanted > 0)
        pt_out_printf(out, "python: %.1f %% of %" PRId64 " stacks merged with certainty\n",
                      percent(m->python_matched, m->python_wanted), m->python_wanted);
    pt_heap_report_print_losses(p, out);
}

static void print_figures(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_heap_meta *h = &p->meta.heap;
    struct sums allocated = sums_of(p, PT_HEAP_ALLOCATED), peak = sums_of(p, PT_HEAP_PEAK),
                live = sums_of(p, PT_HEAP_LIVE);
    print_sum("allocated", allocated.bytes, h->allocated_error, allocated.blocks, out);
    pt_out_char(out, '\n');
    print_sum("peak", h->peak_bytes, h->peak_error, peak.blocks, out);
    pt_out_printf(out, ", after %.3g s\n", seconds_between(p->meta.start_ns, h->peak_ns));
    print_sum("not freed", live.bytes, h->live_error, live.blocks, out);
    pt_out_char(out, '\n');
    print_time_line(&p->timeline, out);
}

static void print_top(const struct pt_profile *p, const struct pt_heap_report *how,
                      struct pt_out *out) {
    struct pt_top top;
    pt_top_make(&top, p);
    pt_out_printf(out, "%s bytes by function:%s\n", p->types[0].name,
                  top.sum > 0 ? "" : " none (see --metric for others)");
    if (top.sum > 0)
        pt_top_print(&top, p, how->top_rows, &how->style, out);
    pt_top_release(&top);
}

void pt_heap_report_print(const struct pt_profile *p, const struct pt_heap_report *how,
                          struct pt_out *out) {
    print_head(p, out);
    print_figures(p, out);
    if (how->top_rows > 0)
        print_top(p, how, out);
    if (how->wants_leaks)
        pt_leaks_print(p, how->top_rows ? how->top_rows : SIZE_MAX, out);
}

static void put_sum(struct pt_json *j, const char *key, int64_t bytes, int64_t error,
                    int64_t blocks) {
    pt_json_object(j, key);
    pt_json_i64(j, "bytes", bytes);
    pt_json_i64(j, "error", error);
    pt_json_i64(j, "blocks", blocks);
    pt_json_end(j);
}

static void put_sums(const struct pt_profile *p, struct pt_json *j) {
    const struct pt_profile_heap_meta *h = &p->meta.heap;
    struct sums allocated = sums_of(p, PT_HEAP_ALLOCATED), peak = sums_of(p, PT_HEAP_PEAK),
                live = sums_of(p, PT_HEAP_LIVE), temporary = sums_of(p, PT_HEAP_TEMPORARIES);
    put_sum(j, "allocated", allocated.bytes, h->allocated_error, allocated.blocks);
    put_sum(j, "peak", h->peak_bytes, h->peak_error, peak.blocks);
    put_sum(j, "live", live.bytes, h->live_error, live.blocks);
    pt_json_object(j, "temporary");
    pt_json_i64(j, "bytes", temporary.bytes);
    pt_json_i64(j, "blocks", temporary.blocks);
    pt_json_end(j);
    pt_json_f64(j, "peak_seconds", seconds_between(p->meta.start_ns, h->peak_ns));
}

static void put_losses(const struct pt_profile *p, struct pt_json *j) {
    const struct pt_profile_heap_meta *h = &p->meta.heap;
    pt_json_object(j, "lost");
    pt_json_i64(j, "samples", p->meta.lost);
    pt_json_i64(j, "thinned", h->thinned);
    pt_json_i64(j, "frees", h->lost_frees);
    pt_json_i64(j, "untracked", h->untracked);
    pt_json_i64(j, "stacks", h->lost_stacks);
    pt_json_i64(j, "unknown_pythons", h->unknown_pythons);
    pt_json_end(j);
}

static void put_timeline(const struct pt_profile *p, struct pt_json *j) {
    const struct pt_profile_timeline *t = &p->timeline;
    pt_json_object(j, "timeline");
    pt_json_f64(j, "step_seconds", (double)t->step_ns / 1e9);
    pt_json_array(j, "live_bytes");
    for (size_t i = 0; i < t->count; i++)
        pt_json_i64(j, NULL, t->values[i]);
    pt_json_end(j);
    pt_json_end(j);
}

static void put_leaks(const struct pt_profile *p, struct pt_json *j) {
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_json_array(j, "leaks");
    for (size_t i = 0; i < p->growth.count; i++) {
        const struct pt_profile_growth *g = &p->growth.at[i];
        pt_json_object(j, NULL);
        pt_json_i64(j, "bytes_per_second", g->slope);
        pt_json_i64(j, "error", g->slope_error);
        pt_json_i64(j, "bytes", g->bytes);
        pt_json_i64(j, "blocks", g->count);
        pt_json_array(j, "stack");
        for (uint32_t s = g->stack; s != PT_PROFILE_NONE; s = p->stacks.at[s].parent)
            pt_json_str(j, NULL, pt_profile_frame_name(p, p->stacks.at[s].frame, buffer));
        pt_json_end(j);
        pt_json_end(j);
    }
    pt_json_end(j);
}

static void put_functions(const struct pt_profile *p, size_t rows, struct pt_json *j) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_top top;
    pt_top_make(&top, p);
    pt_json_array(j, "functions");
    for (size_t i = 0; i < top.count && i < rows; i++) {
        pt_json_object(j, NULL);
        pt_json_str(j, "name", pt_profile_frame_name(p, top.rows[i].frame, buffer));
        pt_json_i64(j, "self", top.rows[i].self);
        pt_json_i64(j, "total", top.rows[i].total);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_top_release(&top);
}

void pt_heap_report_print_json(const struct pt_profile *p, size_t top_rows, struct pt_out *out) {
    struct pt_json j = { .out = out, .indent = 2 };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "command", p->meta.command);
    pt_json_text(&j, "way", p->meta.method);
    pt_json_f64(&j, "seconds", seconds_between(p->meta.start_ns, p->meta.end_ns));
    pt_json_i64(&j, "samples", p->meta.heap.taken);
    pt_json_i64(&j, "processes", p->meta.heap.processes);
    pt_json_text(&j, "metric", p->types[0].name);
    put_losses(p, &j);
    put_sums(p, &j);
    put_timeline(p, &j);
    put_leaks(p, &j);
    put_functions(p, top_rows, &j);
    pt_json_end(&j);
}
