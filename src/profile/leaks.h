/* profile/leaks.h -- stacks whose live bytes rise from the beginning of a run to its end. That they
 * are "not freed" is all that is known; whether anyone still uses them is not. */
#ifndef PT_PROFILE_LEAKS_H
#define PT_PROFILE_LEAKS_H

#include "base/out.h"
#include "profile/heap.h"

/* How a series of live bytes grows. */
struct pt_leak_growth {
    double slope, slope_error; /* bytes a second, by least squares */
    bool is_leak;
};

/* `error_bytes`: standard error of the last value. Fewer than 8 windows show nothing. */
struct pt_leak_growth pt_leak_growth(const float *bytes, size_t count, double window_s,
                                     double error_bytes);

struct pt_leak {
    uint32_t stack;
    struct pt_leak_growth growth;
    double live_bytes, live_count, error_bytes;
};

struct pt_leaks {
    struct pt_leak *rows; /* fastest first */
    size_t count;
    bool is_too_short; /* the run had too few windows to tell */
};

/* After pt_heap_finish(). */
void pt_leaks_find(struct pt_leaks *l, const struct pt_heap *h);
void pt_leaks_release(struct pt_leaks *l);
void pt_leaks_print(const struct pt_leaks *l, const struct pt_profile *p, size_t limit,
                    struct pt_out *out);

/* "12.3 MiB" */
#define PT_LEAKS_BYTES_TEXT 32
const char *pt_leaks_bytes_text(double bytes, char text[PT_LEAKS_BYTES_TEXT]);

#endif
