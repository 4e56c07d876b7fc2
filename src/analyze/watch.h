/* analyze/watch.h -- alert rules on recorded metrics, from a file:
 *
 *     # the section is the name of the rule
 *     [kv-cache-full]
 *     metric = engine.kv_cache
 *     above = 0.95
 *     for = 30s
 *     hysteresis = 0.05
 *
 * A metric is a figure (derive/figure.h), watched in its base unit, or TABLE.COLUMN
 * (docs/METRICS.md). Of a counter, the growth per second is watched; `of = COLUMN` makes the value
 * a percentage of another column. Each row of the table has its own state; `entity = KEY` selects
 * one row. */
#ifndef PT_ANALYZE_WATCH_H
#define PT_ANALYZE_WATCH_H

#include "analyze/alert.h"
#include "base/err.h"
#include "derive/figure.h"

#define PT_WATCH_RULES    64
#define PT_WATCH_ENTITIES 1024 /* over all rules; further ones are ignored */

struct pt_watch_rule {
    char name[64], table[32], column[64], of[64], entity[128]; /* of a figure: its name's parts */
    bool is_figure;
    enum pt_figure_id figure;
    struct pt_alert_limit limit;
    bool has_metric, has_limit;
};

struct pt_watch_state {
    size_t rule;
    char key[128];
    struct pt_alert_state alert;
    struct pt_rate rate;
    bool is_seen;
};

struct pt_watch {
    struct pt_watch_rule rules[PT_WATCH_RULES];
    size_t rule_count;
    struct pt_watch_state *states;
    size_t state_count, state_capacity;
    struct pt_gaps gaps;
    struct pt_figure_stream *figures; /* NULL: no rule needs them */
};

typedef void pt_watch_function(void *arg, const struct pt_watch_rule *rule,
                               const struct pt_watch_state *state, bool is_on);

/* Adds the rules of a text; `path` is for messages. 0 or -EINVAL with a message. */
int pt_watch_parse(struct pt_watch *w, struct pt_str text, const char *path,
                   struct pt_err *err) PT_MUST_CHECK;
/* GPUs: underused, saturated, memory nearly full, hot. */
void pt_watch_add_defaults(struct pt_watch *w);
/* Are the metrics of all rules figures, or numbers of the schema? 0 or -EINVAL with a message. */
int pt_watch_check(const struct pt_watch *w, const struct pt_schema *schema,
                   struct pt_err *err) PT_MUST_CHECK;
/* Calls `changed` for each rule and row that fired or cleared with this sample. */
void pt_watch_see(struct pt_watch *w, const struct pt_sample *sample, pt_watch_function *changed,
                  void *arg);
void pt_watch_release(struct pt_watch *w);

#endif
