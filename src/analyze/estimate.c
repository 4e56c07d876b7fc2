#include "analyze/estimate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *pt_provenance_name(enum pt_provenance provenance) {
    static const char *const names[] = { "unknown", "given", "measured", "modelled", "assumed" };
    return names[provenance];
}

static enum pt_provenance weaker(enum pt_provenance a, enum pt_provenance b) {
    return a > b ? a : b;
}

struct pt_estimate pt_estimate_of(double value, double low, double high,
                                  enum pt_provenance provenance, const char *method, ...) {
    struct pt_estimate e = { 0 };
    if (!isfinite(value) || value < 0)
        return e;
    e = (struct pt_estimate){ value, value * low, value * high, provenance, "" };
    va_list args;
    va_start(args, method);
    vsnprintf(e.method, sizeof e.method, method, args);
    va_end(args);
    return e;
}

void pt_estimate_explain(struct pt_estimate *e, const char *method, ...) {
    va_list args;
    va_start(args, method);
    vsnprintf(e->method, sizeof e->method, method, args);
    va_end(args);
}

void pt_estimate_add(struct pt_estimate *sum, const struct pt_estimate *part) {
    sum->value += part->value;
    sum->low += part->low;
    sum->high += part->high;
    sum->provenance = weaker(sum->provenance, part->provenance);
}

struct pt_estimate pt_estimate_times(const struct pt_estimate *a, const struct pt_estimate *b) {
    struct pt_estimate product = *a;
    if (!pt_estimate_is_known(a) || !pt_estimate_is_known(b))
        return (struct pt_estimate){ 0 };
    product.value *= b->value;
    product.low *= b->low;
    product.high *= b->high;
    product.provenance = weaker(a->provenance, b->provenance);
    return product;
}

struct pt_estimate pt_estimate_scaled(const struct pt_estimate *e, double factor) {
    struct pt_estimate scaled = *e;
    if (!pt_estimate_is_known(e) || !isfinite(factor) || factor < 0)
        return (struct pt_estimate){ 0 };
    scaled.value *= factor;
    scaled.low *= factor;
    scaled.high *= factor;
    return scaled;
}

void pt_estimate_print_range(const struct pt_estimate *e, bool use_unicode, char *into,
                             size_t capacity) {
    double below = e->value > 0 ? round((1 - e->low / e->value) * 100) : 0;
    double above = e->value > 0 ? round((e->high / e->value - 1) * 100) : 0;
    if (below == 0 && above == 0)
        into[0] = 0;
    else if (below == above)
        snprintf(into, capacity, "%s%.0f %%", use_unicode ? "±" : "+-", below);
    else
        snprintf(into, capacity, "-%.0f/+%.0f %%", below, above);
}

void pt_estimate_print_value(double value, char *into, size_t capacity) {
    double decimals = value > 0 ? 2 - floor(log10(value)) : 0;
    snprintf(into, capacity, "%.*f", (int)fmin(fmax(decimals, 0), 12), value);
}
