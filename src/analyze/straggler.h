/* analyze/straggler.h -- finds the slowest of several equal workers, step by step.
 *
 * Spans with the same name on each rank are steps, matched by the program's step number if it
 * increases, otherwise by order. In each step the slowest rank is found. In a collective operation,
 * where all ranks wait for each other, it is the rank that waits least. A rank that is the slowest
 * in most steps, more often than by chance, is a straggler. */
#ifndef PT_ANALYZE_STRAGGLER_H
#define PT_ANALYZE_STRAGGLER_H

#include "analyze/verdict.h"
#include "base/names.h"
#include "model/sample.h"

#define PT_STRAGGLER_SPANS_MAX 1000000
#define PT_STRAGGLER_STEPS_MIN 10

/* Forms of the rule "straggler": several engines, or ranks of a merged run. */
enum { PT_STRAGGLER_WORKERS, PT_STRAGGLER_RANKS };

struct pt_rank_span {
    uint32_t name, rank;
    int64_t start_ns, duration_ns, argument;
    bool has_argument;
};

/* Result for the spans of one name. */
struct pt_straggling {
    uint32_t name, rank; /* `rank` is the slowest most often */
    bool is_collective;
    size_t rank_count, step_count;
    double slowest_share; /* of the steps; 1 / rank_count is chance */
    double pace;          /* its time over the median of the others; below 1 if it waits less */
    double median_s;      /* of all ranks */
    double lost_s;        /* total delay of the slowest rank of each step against the median */
    bool is_straggler;
};

/* Needs pt_stragglers_init(). */
struct pt_stragglers {
    int table, rank, name, start, duration, argument, work; /* of the schema; table -1: none */
    struct pt_names names, ranks;
    struct pt_rank_span *spans;
    size_t span_count, span_capacity;
    uint64_t dropped_count;

    struct pt_straggling *list; /* after finish; most time lost first */
    size_t count;
};

/* Finds spans with ranks in the schema; without them, adding does nothing. */
void pt_stragglers_init(struct pt_stragglers *s, const struct pt_schema *schema);
void pt_stragglers_release(struct pt_stragglers *s);
void pt_stragglers_add(struct pt_stragglers *s, const struct pt_sample *sample);
/* Texts are copied. */
void pt_stragglers_add_span(struct pt_stragglers *s, struct pt_str rank, struct pt_str name,
                            const struct pt_rank_span *span);
/* After all samples. */
void pt_stragglers_finish(struct pt_stragglers *s);
/* The straggler that costs most, or NULL. */
const struct pt_straggling *pt_stragglers_worst(const struct pt_stragglers *s);
/* From the pace, the first condition of either form. */
double pt_straggler_confidence(const struct pt_rule_form *form, double pace);

#endif
