/* analyze/rules_observer.c -- Pitot's own overhead. */
#include "analyze/verdict.h"

#define S(name) PT_FIGURE_##name

const struct pt_rule pt_rules_observer[] = {
    {
        .id = "observer-overhead",
        .title = "Pitot's own overhead is noticeable",
        .forms = { { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_CALLS), '>', 0.04, 0.12 } } },
                   { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_LOST), '>', 0.2, 2 } } } },
        /* negligible next to a large command; an idle machine does not excuse it */
        .against = { { S(PITOT_SHARE), '<', 0.02 } },
        .advice =
            "Record less often (-t 1000), without processes (no -p), with fewer collectors "
            "(--no-collect), or with a lower --max-overhead. This frees the CPU time that Pitot "
            "used.",
    },
    { 0 },
};
