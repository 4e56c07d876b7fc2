#include "analyze/change_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranked {
    double value;
    size_t place;
};

static int by_value(const void *a, const void *b) {
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Ranks start at 1; equal values share their mean rank. */
static void find_ranks(const double *values, size_t count, double *ranks) {
    struct ranked sorted[PT_SHIFT_BLOCKS];
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){ values[i], i };
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && sorted[to].value == sorted[from].value;)
            to++;
        for (size_t i = from; i < to; i++)
            ranks[sorted[i].place] = (double)(from + to + 1) / 2;
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t count) {
    double sorted[PT_SHIFT_BLOCKS];
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)count : 0;
}

/* Lag-1 autocorrelation of the ranks around their level before and after the change. An estimate
 * from few values is biased by about -(1 + 3 r) / n. */
static double lag1_autocorrelation(const double *ranks, size_t count, size_t at) {
    double level[2] = { mean(ranks, at), mean(ranks + at, count - at) };
    double products = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        double now = ranks[i] - level[i >= at];
        squares += now * now;
        if (i > 0)
            products += now * (ranks[i - 1] - level[i - 1 >= at]);
    }
    double r = squares > 0 ? products / squares : 0;
    r += (1 + 3 * fmax(0, r)) / (double)count;
    return fmin(0.99, fmax(0, r));
}

struct pt_change_point pt_change_point_find(const double *values, size_t count) {
    double ranks[PT_SHIFT_BLOCKS], u = 0, u_max = 0, n = (double)count;
    struct pt_change_point found = { .at = 1 };
    find_ranks(values, count, ranks);
    for (size_t i = 0; i + 1 < count; i++) {
        u += 2 * ranks[i] - (n + 1);
        if (fabs(u) > u_max) {
            u_max = fabs(u);
            found.at = i + 1;
        }
    }
    double r = lag1_autocorrelation(ranks, count, found.at);
    /* Pettitt's p-value; (1 - r) / (1 + r) of the values are independent */
    double p = 2 * exp(-6 * u_max * u_max / (n * n * n + n * n) * (1 - r) / (1 + r));
    found.p = fmin(1, p);
    found.before = median(values, found.at);
    found.after = median(values + found.at, count - found.at);
    return found;
}

static void forget(struct pt_shift_watch *w, size_t blocks) {
    w->count -= blocks;
    memmove(w->medians, w->medians + blocks, w->count * sizeof *w->medians);
}

enum pt_shift pt_shift_add(struct pt_shift_watch *w, double value, struct pt_change_point *change) {
    if (!(value > 0) || !isfinite(value))
        return PT_SHIFT_NONE;
    w->seen++;
    w->block[w->block_fill++] = value;
    if (w->block_fill < PT_SHIFT_BLOCK)
        return PT_SHIFT_NONE;
    w->block_fill = 0;
    if (w->count == PT_SHIFT_BLOCKS)
        forget(w, 1);
    w->medians[w->count++] = median(w->block, PT_SHIFT_BLOCK);
    w->since_look++;
    if (w->count < PT_SHIFT_FIRST || w->since_look < PT_SHIFT_LOOK)
        return PT_SHIFT_NONE;
    w->since_look = 0;
    *change = pt_change_point_find(w->medians, w->count);
    size_t after = w->count - change->at;
    /* on a log scale a rise and the fall that reverses it have the same size */
    bool is_large_enough = fabs(log(change->after / change->before)) >= log1p(PT_SHIFT_CHANGE_MIN);
    if (change->p > PT_SHIFT_P || !is_large_enough)
        return PT_SHIFT_NONE;
    forget(w, change->at);
    change->at = after * PT_SHIFT_BLOCK;
    return change->after > change->before ? PT_SHIFT_ROSE : PT_SHIFT_FELL;
}
