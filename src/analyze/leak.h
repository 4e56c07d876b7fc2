/* analyze/leak.h -- memory that grows steadily, according to two independent counts. */
#ifndef PT_ANALYZE_LEAK_H
#define PT_ANALYZE_LEAK_H

#include "analyze/verdict.h"

/* A trend that counts as a leak. */
#define PT_LEAK_GROWS                                                                     \
    { PT_FIGURE_TREND_GROWTH, '>', 8 << 20 }, { PT_FIGURE_TREND_GROWTH_SHARE, '>', 0.1 }, \
        { PT_FIGURE_TREND_FIT, '>', 0.85 }, {                                             \
        PT_FIGURE_TREND_EVENNESS, '>', 0.4                                                \
    }
/* A second, independent count grows at about the same pace. */
#define PT_LEAK_CONFIRMED                           \
    { PT_FIGURE_WITNESS_FIT, PT_AT_LEAST, 0.85 }, { \
        PT_FIGURE_WITNESS_DISAGREEMENT, '<', 2      \
    }
/* A short run may just be loading. */
#define PT_LEAK_FORMS                                                            \
    {                                                                            \
        { .needs = { PT_LEAK_GROWS,                                              \
                     PT_LEAK_CONFIRMED,                                          \
                     { PT_FIGURE_TREND_SECONDS, PT_AT_LEAST, 30, 300 } } },      \
            { .needs = { PT_LEAK_GROWS, PT_LEAK_CONFIRMED }, .ceiling = 0.5 }, { \
            .needs = { PT_LEAK_GROWS }, .ceiling = 0.4                           \
        }                                                                        \
    }
/* The second count does not grow: the growth is file pages, not its own memory. */
#define PT_LEAK_NEVER \
    { PT_FIGURE_WITNESS_CHANGE, '<', 0.2 }

bool pt_find_memory_leak(const struct pt_rule *rule, const struct pt_signals *s,
                         struct pt_verdict *v);
bool pt_find_gpu_leak(const struct pt_rule *rule, const struct pt_signals *s, struct pt_verdict *v);

#endif
