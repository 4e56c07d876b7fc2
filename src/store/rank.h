/* store/rank.h -- merged runs: each row names the run it came from.
 *
 * Every table of a merged run begins with the key column `rank`, the label of the run that a row
 * came from; a sample holds rows of one run only. The note "merge" of the journal lists the labels
 * and how the clocks were aligned. Code that looks at one run (rates of the machine, signals,
 * energy) sees the samples of one rank as they were recorded, through a view. */
#ifndef PT_STORE_RANK_H
#define PT_STORE_RANK_H

#include "model/projection.h"
#include "model/sample.h"
#include "store/journal.h"

#define PT_RANK_COLUMN "rank"
#define PT_RANK_NOTE   "merge"
#define PT_RANKS_MAX   1024

/* How a run describes itself. */
struct pt_rank_identity {
    char host[256], boot_id[64]; /* "" if unknown */
    int64_t rank, world_size;    /* -1 if unknown */
};

/* From the static information of a run. */
void pt_rank_identify(struct pt_rank_identity *identity, const struct pt_journal_reader *reader);

/* Labels of a merged run, in its order; count 0: it is a run of its own. */
struct pt_ranks {
    char **labels;
    char **machines; /* id of the boot, or host; the label if neither is known */
    size_t count, capacity, machine_capacity;
};

void pt_ranks_read(struct pt_ranks *r, const struct pt_journal_reader *reader);
void pt_ranks_release(struct pt_ranks *r);
/* Is it the first rank of its machine? */
bool pt_ranks_is_first(const struct pt_ranks *r, size_t index);

/* The tables of all these schemas with the column `rank` in front. Texts are borrowed. -EINVAL: a
 * column of the same name differs in type. */
int pt_rank_schema_make(struct pt_schema *into, const struct pt_schema *const *schemas,
                        size_t count, struct pt_err *err) PT_MUST_CHECK;
void pt_rank_schema_release(struct pt_schema *schema);

/* The label of the rows of a sample, or an empty string. */
struct pt_str pt_rank_of(const struct pt_sample *sample);

/* Samples of one rank without that column. Must not move. */
struct pt_rank_view {
    struct pt_schema schema;
    struct pt_projection *projections;
    struct pt_sample sample; /* the one taken last */
};

void pt_rank_view_init(struct pt_rank_view *v, const struct pt_schema *merged); /* borrows */
void pt_rank_view_release(struct pt_rank_view *v);
/* False: the sample is of another rank, and `v->sample` as it was. */
bool pt_rank_view_take(struct pt_rank_view *v, const struct pt_sample *merged, const char *label);

#endif
