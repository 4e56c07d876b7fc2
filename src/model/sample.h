/* model/sample.h -- the result of one tick: a batch per table of the schema. */
#ifndef PT_MODEL_SAMPLE_H
#define PT_MODEL_SAMPLE_H

#include "model/batch.h"

/* The tables of a run, in the order of every output. */
struct pt_schema {
    const struct pt_table *const *tables;
    uint32_t table_count;
};

struct pt_sample {
    int64_t wall_ns; /* Unix time of the tick */
    int64_t mono_ns; /* the same instant on CLOCK_MONOTONIC */
    const struct pt_schema *schema;
    struct pt_batch *batches; /* one per table of the schema */
};

void pt_sample_init(struct pt_sample *s, const struct pt_schema *schema); /* borrows */
void pt_sample_clear(struct pt_sample *s);
void pt_sample_release(struct pt_sample *s);

/* Unix time of an instant on CLOCK_MONOTONIC, by the clocks of this sample. */
static inline int64_t pt_sample_wall_of(const struct pt_sample *s, int64_t mono_ns) {
    return s->wall_ns + (mono_ns - s->mono_ns);
}

/* The schema of this program. A journal keeps names and units; what its columns mean is taken from
 * here, by name. Set once at the start; without it columns have the defaults. */
void pt_schema_install(const struct pt_schema *schema); /* borrows */
const struct pt_schema *pt_schema_installed(void);      /* or NULL */
/* Gives the columns of a table that was read from a file their meaning. */
void pt_table_describe(struct pt_table *t, struct pt_column *columns);

/* Index of the table of that name, or -1. */
int pt_schema_find(const struct pt_schema *schema, const char *table);

#endif
