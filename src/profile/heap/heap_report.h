/* profile/heap/heap_report.h -- prints a heap profile, new or read from a file, as text and as
 * JSON. */
#ifndef PT_PROFILE_HEAP_HEAP_REPORT_H
#define PT_PROFILE_HEAP_HEAP_REPORT_H

#include "profile/model/profile.h"
#include "profile/model/by_function.h"

struct pt_heap_report {
    size_t top_rows; /* of each table; 0 = none */
    bool wants_leaks;
    struct pt_top_style style;
};

/* Is it a heap profile? */
bool pt_heap_report_fits(const struct pt_profile *p);

/* Prints sums with their standard errors, losses, live bytes over time, tables. */
void pt_heap_report_print(const struct pt_profile *p, const struct pt_heap_report *how,
                          struct pt_out *out);
/* Prints what was lost and how that affects the sums; nothing if nothing was lost. */
void pt_heap_report_print_losses(const struct pt_profile *p, struct pt_out *out);
/* The JSON object that docs/HEAP.md describes. */
void pt_heap_report_print_json(const struct pt_profile *p, size_t top_rows, struct pt_out *out);

#endif
