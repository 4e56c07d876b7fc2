/* profile/heap/leaks.h -- finds stacks with live bytes that rise from the beginning of a run to its
 * end. It is known that the memory was not freed, not whether it is still used. */
#ifndef PT_PROFILE_HEAP_LEAKS_H
#define PT_PROFILE_HEAP_LEAKS_H

#include "base/out.h"
#include "profile/heap/heap.h"

/* How a series of live bytes grows. */
struct pt_leak_growth {
    double slope, slope_error; /* bytes per second, by least squares */
    bool is_leak;
};

/* `error_bytes`: standard error of the last value. Needs at least 8 windows. */
struct pt_leak_growth pt_leak_growth(const float *bytes, size_t count, double window_s,
                                     double error_bytes);

/* Puts the leaks into the profile, fastest first. */
void pt_leaks_find(struct pt_heap *h);

/* Prints the leaks of a profile, at most `limit`. */
void pt_leaks_print(const struct pt_profile *p, size_t limit, struct pt_out *out);
/* Prints "leaf < caller < ...": at most `frames` of a stack. */
void pt_leaks_print_stack(const struct pt_profile *p, uint32_t stack, size_t frames,
                          struct pt_out *out);

/* "12.3 MiB" */
#define PT_LEAKS_BYTES_TEXT 32
const char *pt_leaks_bytes_text(double bytes, char text[PT_LEAKS_BYTES_TEXT]);

#endif
