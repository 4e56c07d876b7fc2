/* profile/model/by_function.h -- a profile by function: how much of it each was the leaf of
 * (self), and how much it was anywhere in the stack of (total). */
#ifndef PT_PROFILE_MODEL_BY_FUNCTION_H
#define PT_PROFILE_MODEL_BY_FUNCTION_H

#include "base/out.h"
#include "profile/model/profile.h"

struct pt_top_row {
    uint32_t frame;      /* one of those with this name */
    int64_t self, total; /* of the first value; a function that calls itself counts once */
};

struct pt_top {
    struct pt_top_row *rows; /* by self, then total, falling */
    size_t count;
    int64_t sum; /* of all samples */
};

void pt_top_make(struct pt_top *t, const struct pt_profile *p);
void pt_top_release(struct pt_top *t);

/* How a terminal wants it; {0} is a file: names as long as they are, no colours. */
struct pt_top_style {
    size_t columns; /* 0 = no limit */
    bool has_colors;
};

/* That of a descriptor. NO_COLOR and TERM=dumb are obeyed. */
struct pt_top_style pt_top_style_of(int fd);

/* At most `limit` rows. */
void pt_top_print(const struct pt_top *t, const struct pt_profile *p, size_t limit,
                  const struct pt_top_style *style, struct pt_out *out);

/* A line on the lock of Python's interpreters; none if nothing is known of it. */
void pt_top_print_gil(const struct pt_profile *p, struct pt_out *out);

#endif
