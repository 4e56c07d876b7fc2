/* model/projection.h -- rows of one table as rows of another that shares columns with it.
 *
 * Columns and sources are the same if their names (and types) are; what the other table does not
 * have is left out, what only it has stays null. */
#ifndef PT_MODEL_PROJECTION_H
#define PT_MODEL_PROJECTION_H

#include "model/batch.h"

struct pt_projection {
    const struct pt_table *from;
    int *columns, *sources; /* of `into` for each of `from`; -1: it has none */
};

void pt_projection_init(struct pt_projection *p, const struct pt_table *from,
                        const struct pt_table *into); /* borrows both */
void pt_projection_release(struct pt_projection *p);

/* Adds the row to `into`, with its read times moved by `shift_ns`. */
void pt_projection_add(const struct pt_projection *p, const struct pt_batch *from, uint32_t row,
                       int64_t shift_ns, struct pt_batch *into);

#endif
