#include "profile/leaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_WINDOWS 8
#define QUARTERS    4
#define SURE        3.0 /* standard errors */
#define FRAMES      4   /* of a stack in the table */

static double quarter_mean(const float *at, size_t count, size_t quarter) {
    size_t from = quarter * count / QUARTERS, to = (quarter + 1) * count / QUARTERS;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)at[i];
    return sum / (double)(to - from);
}

/* What is taken once, or in a warm-up, or given back from time to time, does not rise in every
 * quarter; a leak rises by a third of the whole in each, and by a quarter of that for certain. */
static bool rises_throughout(const float *at, size_t count, double error_bytes) {
    double rise = quarter_mean(at, count, QUARTERS - 1) - quarter_mean(at, count, 0);
    if (rise <= SURE * error_bytes || rise <= 0)
        return false;
    for (size_t q = 1; q < QUARTERS; q++)
        if (quarter_mean(at, count, q) - quarter_mean(at, count, q - 1) < rise / 12)
            return false;
    return true;
}

static void fit_line(const float *at, size_t count, double *slope, double *error) {
    double n = (double)count, mean_x = (n - 1) / 2, mean_y = 0, xy = 0, xx = 0, rest = 0;
    for (size_t i = 0; i < count; i++)
        mean_y += (double)at[i] / n;
    for (size_t i = 0; i < count; i++) {
        xy += ((double)i - mean_x) * ((double)at[i] - mean_y);
        xx += ((double)i - mean_x) * ((double)i - mean_x);
    }
    *slope = xy / xx;
    for (size_t i = 0; i < count; i++) {
        double off = (double)at[i] - mean_y - *slope * ((double)i - mean_x);
        rest += off * off;
    }
    *error = sqrt(rest / (n - 2) / xx);
}

struct pt_leak_growth pt_leak_growth(const float *bytes, size_t count, double window_s,
                                     double error_bytes) {
    struct pt_leak_growth g = { NAN, NAN, false };
    double slope, error;
    if (count < MIN_WINDOWS)
        return g;
    fit_line(bytes, count, &slope, &error);
    g.slope = slope / window_s;
    g.slope_error = hypot(error, error_bytes / (double)count) / window_s;
    g.is_leak = rises_throughout(bytes, count, error_bytes) && slope > SURE * error;
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
    const struct pt_leak *x = a, *y = b;
    return x->growth.slope > y->growth.slope ? -1 : x->growth.slope < y->growth.slope;
}

static double highest(const float *at, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, (double)at[i]);
    return most;
}

/* Groups of one stack, of all its threads, are one row. */
static struct pt_leak add_up(const struct pt_heap *h, const struct by_stack *of, size_t count,
                             size_t windows) {
    float sum[PT_HEAP_WINDOWS] = { 0 };
    struct pt_leak leak = { .stack = of[0].stack };
    double variance = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pt_heap_group *g = &h->groups[of[i].group];
        leak.live_bytes += g->live.bytes + g->left.bytes;
        leak.live_count += g->live.count + g->left.count;
        variance += g->live.variance + g->left.variance;
        for (size_t w = 0; w < windows && w < g->series.filled; w++)
            sum[w] += g->series.at[w];
    }
    leak.error_bytes = sqrt(variance > 0 ? variance : 0);
    leak.growth = pt_leak_growth(sum, windows, (double)h->window_ns / 1e9, leak.error_bytes);
    if (leak.live_bytes < highest(sum, windows) / 2)
        leak.growth.is_leak = false; /* it was given back after all */
    return leak;
}

void pt_leaks_find(struct pt_leaks *l, const struct pt_heap *h) {
    size_t windows = h->total_series.filled, count = 0, capacity = 0;
    *l = (struct pt_leaks){ .is_too_short = windows < MIN_WINDOWS };
    struct by_stack *sorted = pt_calloc(h->group_count + 1, sizeof *sorted);
    for (size_t i = 0; i < h->group_count; i++)
        if (h->groups[i].stack != PT_PROFILE_NONE)
            sorted[count++] = (struct by_stack){ h->groups[i].stack, (uint32_t)i };
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare_stacks);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].stack == sorted[i].stack;)
            end++;
        struct pt_leak leak = add_up(h, sorted + i, end - i, windows);
        if (!leak.growth.is_leak)
            continue;
        pt_grow(&l->rows, &capacity, l->count + 1, sizeof *l->rows);
        l->rows[l->count++] = leak;
    }
    if (l->count > 1)
        qsort(l->rows, l->count, sizeof *l->rows, faster_first);
    pt_free(sorted);
}

void pt_leaks_release(struct pt_leaks *l) {
    pt_free(l->rows);
    *l = (struct pt_leaks){ 0 };
}

const char *pt_leaks_bytes_text(double bytes, char text[PT_LEAKS_BYTES_TEXT]) {
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t unit = 0;
    if (fabs(bytes) < 0.5)
        bytes = 0; /* what sums of weights leave of nothing; never "-0" */
    for (; fabs(bytes) >= 1024 && unit + 1 < PT_COUNT(units); unit++)
        bytes /= 1024;
    snprintf(text, PT_LEAKS_BYTES_TEXT, "%.*f %s", unit == 0 ? 0 : 1, bytes, units[unit]);
    return text;
}

static void print_stack(const struct pt_profile *p, uint32_t stack, struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    for (size_t i = 0; i < FRAMES && stack != PT_PROFILE_NONE; i++) {
        pt_out_text(out, i ? " < " : "");
        pt_out_utf8(out, pt_profile_frame_name(p, p->stacks.at[stack].frame, buffer));
        stack = p->stacks.at[stack].parent;
    }
    pt_out_text(out, stack != PT_PROFILE_NONE ? " < ...\n" : "\n");
}

static void print_row(const struct pt_leak *leak, const struct pt_profile *p, struct pt_out *out) {
    char slope[PT_LEAKS_BYTES_TEXT], error[PT_LEAKS_BYTES_TEXT], live[PT_LEAKS_BYTES_TEXT];
    char growth[2 * PT_LEAKS_BYTES_TEXT + 16];
    snprintf(growth, sizeof growth, "%s/s +- %s/s", pt_leaks_bytes_text(leak->growth.slope, slope),
             pt_leaks_bytes_text(leak->growth.slope_error, error));
    pt_out_printf(out, "%28s  %10s  %10.0f  ", growth, pt_leaks_bytes_text(leak->live_bytes, live),
                  leak->live_count);
    print_stack(p, leak->stack, out);
}

void pt_leaks_print(const struct pt_leaks *l, const struct pt_profile *p, size_t limit,
                    struct pt_out *out) {
    if (l->count == 0) {
        pt_out_text(out, l->is_too_short
                             ? "leaks: the run was too short to tell\n"
                             : "leaks: no stack's live bytes rise throughout the run\n");
        return;
    }
    pt_out_text(out, "stacks whose live bytes rise throughout the run (not freed; may be in use):\n"
                     "                      growth    not freed       blocks  allocated by\n");
    for (size_t i = 0; i < l->count && i < limit; i++)
        print_row(&l->rows[i], p, out);
}
