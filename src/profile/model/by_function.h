/* profile/model/by_function.h -- a profile by function: the share of each function as the leaf of
 * stacks (self) and anywhere in them (total). */
#ifndef PT_PROFILE_MODEL_BY_FUNCTION_H
#define PT_PROFILE_MODEL_BY_FUNCTION_H

#include "base/out.h"
#include "profile/model/profile.h"

struct pt_top_row {
    uint32_t frame;      /* one of the frames with this name */
    int64_t self, total; /* of the first value; a function that calls itself counts once */
};

struct pt_top {
    struct pt_top_row *rows; /* sorted by self, then total, descending */
    size_t count;
    int64_t sum; /* of all samples */
};

void pt_top_make(struct pt_top *t, const struct pt_profile *p);
void pt_top_release(struct pt_top *t);

/* Layout for a terminal; {0} is for a file: names in full, no colours. */
struct pt_top_style {
    size_t columns; /* 0 = no limit */
    bool has_colors;
};

/* The style of a descriptor. Respects NO_COLOR and TERM=dumb. */
struct pt_top_style pt_top_style_of(int fd);

/* Prints at most `limit` rows. */
void pt_top_print(const struct pt_top *t, const struct pt_profile *p, size_t limit,
                  const struct pt_top_style *style, struct pt_out *out);

/* Prints a line about the lock of the Python interpreters; nothing if its state is unknown. */
void pt_top_print_gil(const struct pt_profile *p, struct pt_out *out);

#endif
