/* analyze/compare.h -- compares two sets of runs metric by metric: what changed beyond noise.
 *
 * Every number that both sides have is a metric: a gauge by its mean, a counter by its growth per
 * second, each over the settled part of its run. With several runs per side, the variance between
 * runs counts too. The false discovery rate over all metrics is controlled (Benjamini and
 * Hochberg), and only changes of a minimum size are reported. */
#ifndef PT_ANALYZE_COMPARE_H
#define PT_ANALYZE_COMPARE_H

#include "analyze/steady.h"
#include "analyze/window.h"

#define PT_COMPARE_FALSE_DISCOVERY_RATE 0.05

enum pt_change_kind { PT_CHANGE_SAME, PT_CHANGE_WORSE, PT_CHANGE_BETTER, PT_CHANGE_OTHER };

/* A metric on one side: its value in each run. */
struct pt_side_value {
    struct pt_steady *runs;
    size_t run_count, run_capacity;
};

struct pt_comparison {
    char *name;        /* cpu_time, containers.cpu_time, pressure.some_total{cpu}; NULL: a figure */
    const char *title; /* for people; NULL: it has none */
    enum pt_unit unit;
    bool is_rate;
    enum pt_form form;
    enum pt_direction direction;
    struct pt_side_value sides[2];

    bool is_known;          /* both sides have enough values */
    double means[2];        /* NAN if unknown */
    double change;          /* relative: -0.05 is 5 % less; NAN from 0 */
    double ci_low, ci_high; /* its 95 % confidence interval */
    double p, adjusted_p;   /* p-value of no difference; adjusted for the number of metrics */
    enum pt_change_kind kind;
};

/* A figure of one side over its whole runs. */
struct pt_side_figure {
    double sum; /* of the values of its runs */
    size_t run_count;
};

/* A figure: over the whole runs, as everywhere, and compared over the settled parts, for gates. */
struct pt_compared_figure {
    struct pt_side_figure whole[2];
    struct pt_comparison settled;
};

struct pt_comparisons {
    struct pt_comparison *metrics; /* by name */
    size_t metric_count, metric_capacity;
    struct pt_compared_figure figures[PT_FIGURE_COUNT];
    size_t run_counts[2];
    double minimum_change;
};

/* `minimum_change` is relative: 0.02 hides changes below 2 %. */
void pt_comparisons_init(struct pt_comparisons *c, double minimum_change);
void pt_comparisons_release(struct pt_comparisons *c);
/* For pt_windows_init(). */
bool pt_comparison_wants(const struct pt_table *table, const struct pt_column *column);
/* Adds a run to a side, 0 or 1. */
void pt_comparisons_add(struct pt_comparisons *c, int side, const struct pt_windows *w);
/* The figure over the whole run, as everywhere; of several runs their mean. NAN: unknown. */
double pt_comparisons_figure(const struct pt_comparisons *c, int side, enum pt_figure_id id);
/* After all runs: computes changes, intervals and kinds. */
void pt_comparisons_finish(struct pt_comparisons *c);
/* By name, of a metric or a figure (engine.tokens), or by alias (tokens_per_second); NULL: no run
 * has it. */
const struct pt_comparison *pt_comparisons_find(const struct pt_comparisons *c, const char *name);

/* A gate: "tokens_per_second<-3%" fails when B is more than 3 % below A. */
struct pt_gate {
    char metric[128];
    char direction; /* '<' or '>' */
    double limit;   /* -0.03 */
};

enum pt_gate_result { PT_GATE_PASS, PT_GATE_FAIL, PT_GATE_UNSURE, PT_GATE_MISSING };

/* 0 or -EINVAL with a message. */
int pt_gate_parse(struct pt_gate *gate, const char *text, struct pt_err *err) PT_MUST_CHECK;
/* Fails if the change is beyond the limit and significant; unsure if it is beyond the limit but may
 * be chance, or if the noise is larger than the limit. A gate that demands a change
 * ("tokens_per_second<+3%": at least three percent more) fails if it was clearly missed. */
enum pt_gate_result pt_gate_check(const struct pt_gate *gate, const struct pt_comparison *metric);

#endif
