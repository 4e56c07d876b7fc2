/* analyze/rank_verdict.h -- what held a run of several ranks back.
 *
 * Each rank is looked at by itself, by the rules that any run is; what several have in common is
 * said once. Whether one of them holds the others back is asked of all together. */
#ifndef PT_ANALYZE_RANK_VERDICT_H
#define PT_ANALYZE_RANK_VERDICT_H

#include "analyze/straggler.h"
#include "analyze/verdict.h"

struct pt_rank_explanation {
    const char *label; /* borrowed */
    struct pt_explanation explanation;
};

/* `workers`: signals over the rows of all ranks, for engines that are compared with each other. */
void pt_explain_ranks(struct pt_explanation *x, const struct pt_rank_explanation *ranks,
                      size_t count, const struct pt_stragglers *stragglers,
                      const struct pt_signals *workers);

#endif
