/* analyze/rank_verdict.h -- the bottleneck of a run with several ranks.
 *
 * Each rank is evaluated with the rules for any run; a verdict that several ranks share is
 * reported once. Stragglers are found by comparing all ranks. */
#ifndef PT_ANALYZE_RANK_VERDICT_H
#define PT_ANALYZE_RANK_VERDICT_H

#include "analyze/straggler.h"
#include "analyze/verdict.h"

struct pt_rank_explanation {
    const char *label; /* borrowed */
    struct pt_explanation explanation;
};

/* `workers`: signals over the rows of all ranks, to compare engines with each other. */
void pt_explain_ranks(struct pt_explanation *x, const struct pt_rank_explanation *ranks,
                      size_t count, const struct pt_stragglers *stragglers,
                      const struct pt_signals *workers);

#endif
