/* analyze/straggler.h -- which of several like workers is behind, step by step.
 *
 * Spans of the same name on each rank are steps: by the number the program gives them if that
 * counts up, otherwise the first, the second and so on. Of each step the slowest rank is found.
 * Where all wait for each other (a collective operation) it is the one that waits least. A rank
 * that is the slowest in most steps, not just in its share of them, is a straggler. */
#ifndef PT_ANALYZE_STRAGGLER_H
#define PT_ANALYZE_STRAGGLER_H

#include "analyze/verdict.h"
#include "base/names.h"
#include "model/sample.h"

#define PT_STRAGGLER_SPANS_MAX 1000000
#define PT_STRAGGLER_STEPS_MIN 10

/* Forms of the rule "straggler": engines side by side, or ranks of a merged run. */
enum { PT_STRAGGLER_WORKERS, PT_STRAGGLER_RANKS };

struct pt_rank_span {
    uint32_t name, rank;
    int64_t start_ns, duration_ns, argument;
    bool has_argument;
};

/* What is said of the spans of one name. */
struct pt_straggling {
    uint32_t name, rank; /* `rank` is the slowest most often */
    bool is_collective;
    size_t rank_count, step_count;
    double slowest_share; /* of the steps; 1 / rank_count would be chance */
    double pace;     /* its time over the median of the others: less than 1 where it waits less */
    double median_s; /* of all ranks */
    double lost_s;   /* by which the slowest of each step is behind the median, in all */
    bool is_straggler;
};

/* {0} and an init is empty. */
struct pt_stragglers {
    int table, rank, name, start, duration, argument, work; /* of the schema; table -1: none */
    struct pt_names names, ranks;
    struct pt_rank_span *spans;
    size_t span_count, span_capacity;
    uint64_t dropped_count;

    struct pt_straggling *list; /* after finish; most time lost first */
    size_t count;
};

/* Looks for spans with ranks in the schema; without them adding does nothing. */
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
/* By its pace, the first condition of either form. */
double pt_straggler_confidence(const struct pt_rule_form *form, double pace);

#endif
