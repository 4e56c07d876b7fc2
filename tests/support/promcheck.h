/* tests/support/promcheck.h -- checks relations between the lines of an exposition.
 *
 * In text 0.0.4: one HELP and one TYPE per name, before its samples; known types; le and quantile
 * are numbers. OpenMetrics adds the rules of each type: suffixes, units, contiguous groups,
 * timestamps that do not decrease, buckets in order with +Inf last, matching counts, exemplars only
 * where allowed and with at most 128 characters.
 *
 * Not used when engines are scraped: a second TYPE line makes no number unreadable. Tests check
 * with it what Pitot writes. */
#ifndef PT_TESTS_PROMCHECK_H
#define PT_TESTS_PROMCHECK_H

#include "source/engine/promtext.h"

/* Hashes of the names and groups seen. */
struct pt_promcheck_set {
    uint64_t *slots; /* 0 is free */
    size_t capacity, count;
};

struct pt_promcheck {
    bool is_openmetrics;
    struct pt_promcheck_set names, groups;

    /* The current family, OpenMetrics only. */
    struct pt_str family, unit;
    enum pt_promtext_type type;
    bool has_family, has_help, has_type, has_unit, has_samples;

    /* Its current group: samples that differ only in le, quantile or state. */
    uint64_t group;
    double timestamp_s;
    bool has_group, has_timestamp;

    /* The histogram of that group and timestamp. */
    double le, cumulative, count;
    bool has_bucket, has_count, has_sum, has_gsum, has_negative_le, has_negative_gsum;
};

void pt_promcheck_init(struct pt_promcheck *c, bool is_openmetrics);
void pt_promcheck_release(struct pt_promcheck *c);

/* Both return NULL or the error. Items borrow from a body that outlives the check. */
const char *pt_promcheck_item(struct pt_promcheck *c, const struct pt_promtext_item *item);
const char *pt_promcheck_end(struct pt_promcheck *c);

/* Syntax and relations of a whole body: 0, or -EINVAL / -E2BIG with line and reason. */
int pt_promcheck_text(struct pt_str body, bool is_openmetrics, struct pt_err *err) PT_MUST_CHECK;

#endif
