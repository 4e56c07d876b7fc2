/* profile/heap/heap_report.h -- a profile of memory as text for people, and as JSON: of one that
 * was just taken and of one that was read alike. */
#ifndef PT_PROFILE_HEAP_HEAP_REPORT_H
#define PT_PROFILE_HEAP_HEAP_REPORT_H

#include "profile/model/profile.h"
#include "profile/model/by_function.h"

struct pt_heap_report {
    size_t top_rows; /* of each table; 0 = none */
    bool wants_leaks;
    struct pt_top_style style;
};

/* Is it one? */
bool pt_heap_report_fits(const struct pt_profile *p);

/* Sums with their standard errors, what was lost, live bytes over time, tables. */
void pt_heap_report_print(const struct pt_profile *p, const struct pt_heap_report *how,
                          struct pt_out *out);
/* What was lost and why the sums are not as certain as they look; nothing if nothing was. */
void pt_heap_report_print_losses(const struct pt_profile *p, struct pt_out *out);
/* The object of docs/HEAP.md. */
void pt_heap_report_print_json(const struct pt_profile *p, size_t top_rows, struct pt_out *out);

#endif
