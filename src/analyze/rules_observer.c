/* analyze/rules_observer.c -- Pitot itself costs too much. */
#include "analyze/verdict.h"

#define S(name) PT_SIGNAL_##name

const struct pt_rule pt_rules_observer[] = {
    {
        .id = "observer-overhead",
        .title = "Pitot itself takes a noticeable part of a CPU",
        .forms = { { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_CALLS), '>', 0.04, 0.12 } } },
                   { { { S(PITOT_CPU), '>', 0.05, 0.15 }, { S(PITOT_LATE), '>', 0.2, 2 } } } },
        /* a large command hardly notices it; that a machine is idle is no excuse */
        .against = { { S(PITOT_SHARE), '<', 0.02 } },
        .advice =
            "Record less often (-t 1000), without processes (no -p), with fewer collectors "
            "(--no-collect), or with a lower --max-overhead. The CPU time that Pitot took comes "
            "back.",
    },
    { 0 },
};
