/* derive/percentiles.h -- columns that are percentiles, over any time.
 *
 * Percentiles of percentiles mean nothing. Such a column says of which histogram it is
 * (`percentile` and `histogram` in model/table.h); over some time it is that percentile of the
 * buckets that grew in it, by the estimator of derive/classic_histogram.h. Journals of 0.1 have no
 * buckets: of their percentiles the worst of a time is shown, never a mean. */
#ifndef PT_DERIVE_PERCENTILES_H
#define PT_DERIVE_PERCENTILES_H

#include "derive/classic_histogram.h"
#include "model/sample.h"

#define PT_PERCENTILES_KEYS 4

/* Where the histograms of a table's percentiles are. */
struct pt_percentiles {
    int table;       /* of histograms, in the schema; -1: none */
    int first, name; /* its columns */
    struct {
        int of_row, of_bucket;
    } keys[PT_PERCENTILES_KEYS]; /* columns that both tables have */
    int key_count;
    bool has_one_each; /* a row has histograms of its own, not those of several rows together */
};

void pt_percentiles_init(struct pt_percentiles *p, const struct pt_schema *schema,
                         const struct pt_table *table);

static inline bool pt_percentiles_has(const struct pt_percentiles *p, const struct pt_column *c) {
    return p->table >= 0 && c->percentile > 0;
}

static inline double pt_percentile_level(const struct pt_column *c) {
    return c->percentile / 100.0;
}

/* What the histogram of a cell has grown by. */
struct pt_percentiles_growth {
    struct pt_classic_histogram *histogram; /* is added to */
    int64_t from_ns, to_ns;                 /* 0: nothing was added */
};

/* `buckets`: the rows of the sample in the table of histograms. False: nothing grew. */
bool pt_percentiles_add(const struct pt_percentiles *p, const struct pt_batch *rows, uint32_t row,
                        int column, const struct pt_batch *buckets,
                        struct pt_percentiles_growth *growth);

#endif
