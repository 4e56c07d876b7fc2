#include "profile/heap/leaks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_WINDOWS     8
#define QUARTERS        4
#define STANDARD_ERRORS 3.0
#define FRAMES          4 /* of a stack in the table */
#define LATE            8 /* the last 1/8 of a run */

static double quarter_mean(const float *at, size_t count, size_t quarter) {
    size_t from = quarter * count / QUARTERS, to = (quarter + 1) * count / QUARTERS;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)at[i];
    return sum / (double)(to - from);
}

/* Memory allocated once, in a warm-up, or freed periodically does not rise in every quarter. A leak
 * rises by a third of the total from each quarter to the next; at least a quarter of that is
 * required. */
static bool rises_throughout(const float *at, size_t count, double error_bytes) {
    double rise = quarter_mean(at, count, QUARTERS - 1) - quarter_mean(at, count, 0);
    if (rise <= STANDARD_ERRORS * error_bytes || rise <= 0)
        return false;
    for (size_t q = 1; q < QUARTERS; q++)
        if (quarter_mean(at, count, q) - quarter_mean(at, count, q - 1) < rise / 12)
            return false;
    return true;
}

static void least_squares(const float *at, size_t count, double *slope, double *error) {
    double n = (double)count, mean_x = (n - 1) / 2, mean_y = 0, xy = 0, xx = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean_y += (double)at[i] / n;
    for (size_t i = 0; i < count; i++) {
        xy += ((double)i - mean_x) * ((double)at[i] - mean_y);
        xx += ((double)i - mean_x) * ((double)i - mean_x);
    }
    *slope = xy / xx;
    for (size_t i = 0; i < count; i++) {
        double residual = (double)at[i] - mean_y - *slope * ((double)i - mean_x);
        squares += residual * residual;
    }
    *error = sqrt(squares / (n - 2) / xx);
}

struct pt_leak_growth pt_leak_growth(const float *bytes, size_t count, double window_s,
                                     double error_bytes) {
    struct pt_leak_growth g = { NAN, NAN, false };
    double slope, error;
    if (count < MIN_WINDOWS)
        return g;
    least_squares(bytes, count, &slope, &error);
    g.slope = slope / window_s;
    g.slope_error = hypot(error, error_bytes / (double)count) / window_s;
    g.is_leak = rises_throughout(bytes, count, error_bytes) && slope > STANDARD_ERRORS * error;
    return g;
}

struct by_stack {
    uint32_t stack, group;
};

static int compare_stacks(const void *a, const void *b) {
    const struct by_stack *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static int faster_first(const void *a, const void *b) {
    const struct pt_profile_growth *x = a, *y = b;
    if (x->slope != y->slope)
        return x->slope > y->slope ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static double highest(const float *at, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, (double)at[i]);
    return most;
}

/* Sums the groups of one stack over all threads into one row. False: not a leak. */
static bool add_up(const struct pt_heap *h, const struct by_stack *of, size_t count, size_t windows,
                   struct pt_profile_growth *row) {
    float sum[PT_HEAP_WINDOWS] = { 0 };
    struct pt_heap_sum live = { 0 }, all = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct pt_heap_group *g = &h->groups[of[i].group];
        pt_heap_sum_add(&all, &g->allocated, 1);
        pt_heap_sum_add(&live, &g->live, 1);
        pt_heap_sum_add(&live, &g->left, 1);
        for (size_t w = 0; w < windows && w < g->series.filled; w++)
            sum[w] += g->series.at[w];
    }
    double error_bytes = sqrt(live.variance > 0 ? live.variance : 0);
    struct pt_leak_growth growth =
        pt_leak_growth(sum, windows, (double)h->window_ns / 1e9, error_bytes);
    /* near the end, not at it: many programs free everything before they exit */
    size_t from = windows - windows / LATE;
    double late = growth.is_leak ? highest(sum + from, windows - from) : 0;
    if (!growth.is_leak || late < highest(sum, windows) / 2)
        return false; /* it was freed after all */
    double block_bytes = all.count > 0 && all.bytes > 0 ? all.bytes / all.count : 1;
    if (live.bytes < late / 2)
        live = (struct pt_heap_sum){ late, late / block_bytes, 0 };
    *row = (struct pt_profile_growth){ .stack = of[0].stack,
                                       .slope = llround(growth.slope),
                                       .slope_error = llround(growth.slope_error),
                                       .bytes = llround(live.bytes),
                                       .count = llround(live.count) };
    return true;
}

void pt_leaks_find(struct pt_heap *h) {
    struct pt_profile *p = &h->recording.profile;
    size_t count = 0;
    struct by_stack *sorted = pt_calloc(h->group_count + 1, sizeof *sorted);
    for (size_t i = 0; i < h->group_count; i++)
        if (h->groups[i].stack != PT_PROFILE_NONE)
            sorted[count++] = (struct by_stack){ h->groups[i].stack, (uint32_t)i };
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_stacks);
    p->growth.count = 0;
    for (size_t i = 0, end; i < count; i = end) {
        struct pt_profile_growth row;
        for (end = i + 1; end < count && sorted[end].stack == sorted[i].stack;)
            end++;
        if (add_up(h, sorted + i, end - i, h->total_series.filled, &row))
            pt_profile_growth(p, &row);
    }
    if (p->growth.count > 1)
        qsort(p->growth.at, p->growth.count, sizeof *p->growth.at, faster_first);
    pt_free(sorted);
}

const char *pt_leaks_bytes_text(double bytes, char text[PT_LEAKS_BYTES_TEXT]) {
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t unit = 0;
    if (fabs(bytes) < 0.5)
        bytes = 0; /* rounding error of sums of weights; never "-0" */
    for (; fabs(bytes) >= 1024 && unit + 1 < PT_COUNT(units); unit++)
        bytes /= 1024;
    snprintf(text, PT_LEAKS_BYTES_TEXT, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
    return text;
}

static bool is_python(const struct pt_profile *p, uint32_t stack) {
    return pt_profile_frame_kind(p, p->stacks.at[stack].frame) == PT_KIND_PYTHON;
}

/* With Python in the stack: the leaf, then only Python functions, because interpreter frames say
 * nothing. */
void pt_leaks_print_stack(const struct pt_profile *p, uint32_t stack, size_t frames,
                          struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    bool only_python = false;
    size_t printed = 0;
    for (uint32_t s = stack; s != PT_PROFILE_NONE && !only_python; s = p->stacks.at[s].parent)
        only_python = is_python(p, s);
    for (; printed < frames && stack != PT_PROFILE_NONE; stack = p->stacks.at[stack].parent) {
        if (printed > 0 && only_python && !is_python(p, stack))
            continue;
        uint32_t frame = p->stacks.at[stack].frame;
        pt_out_text(out, printed++ ? " < " : "");
        pt_out_utf8(out, pt_profile_frame_name(p, frame, buffer));
        if (p->frames.at[frame].line > 0)
            pt_out_printf(out, ":%u", p->frames.at[frame].line);
    }
    if (stack != PT_PROFILE_NONE)
        pt_out_text(out, " < ...");
}

void pt_leaks_print(const struct pt_profile *p, size_t limit, struct pt_out *out) {
    if (p->growth.count == 0) {
        pt_out_text(out,
                    p->timeline.count < MIN_WINDOWS
                        ? "leaks: unknown (the run was too short)\n"
                        : "leaks: none (no stack has live bytes that rise throughout the run)\n");
        return;
    }
    pt_out_text(out, "stacks with live bytes that rise throughout the run (may be in use):\n"
                     "                      growth         live       blocks  allocated by\n");
    for (size_t i = 0; i < p->growth.count && i < limit; i++) {
        const struct pt_profile_growth *g = &p->growth.at[i];
        char slope[PT_LEAKS_BYTES_TEXT], error[PT_LEAKS_BYTES_TEXT], live[PT_LEAKS_BYTES_TEXT];
        char growth[2 * PT_LEAKS_BYTES_TEXT + 16];
        snprintf(growth, sizeof growth, "%s/s +- %s/s",
                 pt_leaks_bytes_text((double)g->slope, slope),
                 pt_leaks_bytes_text((double)g->slope_error, error));
        pt_out_printf(out, "%28s  %10s  %10" PRId64 "  ", growth,
                      pt_leaks_bytes_text((double)g->bytes, live), g->count);
        pt_leaks_print_stack(p, g->stack, FRAMES, out);
        pt_out_char(out, '\n');
    }
}
