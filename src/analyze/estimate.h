/* analyze/estimate.h -- a value with its range and provenance.
 *
 * Every figure about energy, carbon or cost carries them: otherwise a measured, a modelled and an
 * assumed number look the same. */
#ifndef PT_ANALYZE_ESTIMATE_H
#define PT_ANALYZE_ESTIMATE_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* From best to weakest: a value computed from several has the weakest provenance among them. */
enum pt_provenance {
    PT_UNKNOWN, /* there is no value */
    PT_GIVEN,   /* by the user, such as a price */
    PT_MEASURED,
    PT_MODELLED,
    PT_ASSUMED,
};

/* {0} is unknown. Values are never negative. */
struct pt_estimate {
    double value, low, high;
    enum pt_provenance provenance;
    char method[192]; /* how the value was computed, as text */
};

/* "measured", for people and JSON. */
const char *pt_provenance_name(enum pt_provenance provenance);

static inline bool pt_estimate_is_known(const struct pt_estimate *e) {
    return e->provenance != PT_UNKNOWN;
}

/* A value with the range `low` to `high` times the value. */
struct pt_estimate pt_estimate_of(double value, double low, double high,
                                  enum pt_provenance provenance, const char *method, ...)
    PT_PRINTF(5, 6);

/* Adds a part; an unknown one adds nothing. Keeps the method of `sum`. */
void pt_estimate_add(struct pt_estimate *sum, const struct pt_estimate *part);

/* Unknown if either is. Keeps the method of `a`. */
struct pt_estimate pt_estimate_times(const struct pt_estimate *a, const struct pt_estimate *b);
struct pt_estimate pt_estimate_scaled(const struct pt_estimate *e, double factor);

/* Replaces the method text. */
void pt_estimate_explain(struct pt_estimate *e, const char *method, ...) PT_PRINTF(2, 3);

/* "+-5 %" or "-60/+40 %"; empty if there is no range. `use_unicode`: a plus-minus sign. */
void pt_estimate_print_range(const struct pt_estimate *e, bool use_unicode, char *into,
                             size_t capacity);

/* Three significant digits and no exponent: 1230000, 12.3, 0.0000123. */
void pt_estimate_print_value(double value, char *into, size_t capacity);

#endif
