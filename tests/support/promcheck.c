#include "support/promcheck.h"

#include "base/mem.h"
#include "source/engine/decimal.h"

#include <errno.h>
#include <math.h>

#define EXEMPLAR_CHARACTERS 128

/* How a name in the set is used. */
enum tag { NAMED = 1, TYPED, HELPED, SAMPLED, HISTOGRAM, SUMMARY };

static const char *const suffixes[][6] = {
    [PT_PROMTEXT_UNTYPED] = { "" },
    [PT_PROMTEXT_UNKNOWN] = { "" },
    [PT_PROMTEXT_COUNTER] = { "_total", "_created" },
    [PT_PROMTEXT_GAUGE] = { "" },
    [PT_PROMTEXT_HISTOGRAM] = { "_bucket", "_count", "_sum", "_created" },
    [PT_PROMTEXT_GAUGEHISTOGRAM] = { "_bucket", "_gcount", "_gsum" },
    [PT_PROMTEXT_SUMMARY] = { "", "_count", "_sum", "_created" },
    [PT_PROMTEXT_INFO] = { "_info" },
    [PT_PROMTEXT_STATESET] = { "" },
};

/* FNV-1a: hashing a name in two parts gives the hash of the whole name. */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_on(uint64_t hash, struct pt_str text) {
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (uint8_t)text.at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t tagged(uint64_t hash, enum tag tag) {
    return (hash + tag) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static uint64_t *find(const struct pt_promcheck_set *set, uint64_t key) {
    size_t i = (size_t)(key >> 20) & (set->capacity - 1);
    while (set->slots[i] && set->slots[i] != key)
        i = (i + 1) & (set->capacity - 1);
    return &set->slots[i];
}

/* False if it was there already. */
static bool set_add(struct pt_promcheck_set *set, uint64_t key) {
    if (set->count * 2 >= set->capacity) {
        struct pt_promcheck_set old = *set;
        set->capacity = old.capacity ? old.capacity * 2 : 64;
        set->slots = pt_calloc(set->capacity, sizeof *set->slots);
        for (size_t i = 0; i < old.capacity; i++)
            if (old.slots[i])
                *find(set, old.slots[i]) = old.slots[i];
        pt_free(old.slots);
    }
    uint64_t *slot = find(set, key);
    bool is_new = *slot == 0;
    *slot = key;
    set->count += is_new;
    return is_new;
}

static bool label_number(const struct pt_promtext_item *item, struct pt_str name, double *value) {
    int label = pt_promtext_find_label(item, name);
    return label >= 0 && pt_decimal_parse_go(pt_promtext_label_value(item, label), value);
}

/* Text 0.0.4. */

static bool knows(struct pt_promcheck *c, struct pt_str name, enum tag tag) {
    return c->names.count > 0 && *find(&c->names, tagged(hash_on(HASH_START, name), tag)) != 0;
}

static bool learn(struct pt_promcheck *c, struct pt_str name, enum tag tag) {
    return set_add(&c->names, tagged(hash_on(HASH_START, name), tag));
}

static const char *plain_type(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    if (item->type == PT_PROMTEXT_OTHER_TYPE)
        return "an unknown type";
    if (knows(c, item->name, SAMPLED))
        return "TYPE after samples";
    if (!learn(c, item->name, TYPED))
        return "a second TYPE";
    if (item->type == PT_PROMTEXT_HISTOGRAM)
        learn(c, item->name, HISTOGRAM);
    if (item->type == PT_PROMTEXT_SUMMARY)
        learn(c, item->name, SUMMARY);
    return NULL;
}

/* The name of the histogram or summary that a sample belongs to, or its own. */
static struct pt_str plain_family(struct pt_promcheck *c, struct pt_str name) {
    static const char *const parts[] = { "_bucket", "_count", "_sum" };
    for (size_t i = 0; i < PT_COUNT(parts); i++) {
        struct pt_str suffix = pt_str_from(parts[i]);
        if (!pt_str_ends(name, suffix))
            continue;
        struct pt_str base = { name.at, name.len - suffix.len };
        if (knows(c, base, HISTOGRAM) || (i > 0 && knows(c, base, SUMMARY)))
            return base;
    }
    return name;
}

static const char *plain_sample(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    struct pt_str family = plain_family(c, item->name);
    double number;
    if (pt_promtext_find_label(item, PT_STR("__name__")) >= 0)
        return "a label called __name__";
    if (knows(c, family, HISTOGRAM) && pt_str_ends(item->name, PT_STR("_bucket")) &&
        !label_number(item, PT_STR("le"), &number))
        return "le is not a number";
    if (knows(c, family, SUMMARY) && family.len == item->name.len &&
        !label_number(item, PT_STR("quantile"), &number))
        return "quantile is not a number";
    learn(c, family, SAMPLED);
    return NULL;
}

static const char *plain_item(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    switch (item->kind) {
    case PT_PROMTEXT_SAMPLE:
        return plain_sample(c, item);
    case PT_PROMTEXT_TYPE:
        return plain_type(c, item);
    default:
        return learn(c, item->name, HELPED) ? NULL : "a second HELP";
    }
}

/* OpenMetrics. */

static const char *check_histogram(const struct pt_promcheck *c) {
    bool is_histogram = c->type == PT_PROMTEXT_HISTOGRAM || c->type == PT_PROMTEXT_GAUGEHISTOGRAM;
    if (!is_histogram || !c->has_group)
        return NULL;
    if (!c->has_bucket || !isinf(c->le) || c->le < 0)
        return "no +Inf bucket";
    if (c->has_count && c->count != c->cumulative)
        return "the count differs from the +Inf bucket";
    if (c->has_count != (c->has_sum || c->has_gsum))
        return "a count without a sum, or a sum without a count";
    if (c->has_negative_le && c->has_sum)
        return "a sum with negative buckets";
    if (c->has_negative_gsum && !c->has_negative_le)
        return "a negative sum without negative buckets";
    return NULL;
}

static const char *end_family(struct pt_promcheck *c) {
    if (!c->has_family)
        return NULL;
    bool is_unitless = c->type == PT_PROMTEXT_INFO || c->type == PT_PROMTEXT_STATESET;
    if (c->unit.len > 0 && is_unitless)
        return "a unit on a type without units";
    struct pt_str family = c->family;
    if (c->unit.len > 0 && (!pt_str_ends(family, c->unit) || family.len == c->unit.len ||
                            family.at[family.len - c->unit.len - 1] != '_'))
        return "a name that does not end in its unit";
    uint64_t hash = hash_on(HASH_START, family);
    bool is_new = set_add(&c->names, tagged(hash, NAMED));
    for (int i = 0; suffixes[c->type][i]; i++)
        if (suffixes[c->type][i][0])
            is_new &=
                set_add(&c->names, tagged(hash_on(hash, pt_str_from(suffixes[c->type][i])), NAMED));
    if (!is_new)
        return "a name used by another family";
    return check_histogram(c);
}

static const char *start_family(struct pt_promcheck *c, struct pt_str name) {
    const char *reason = end_family(c);
    struct pt_promcheck_set names = c->names, groups = c->groups;
    if (groups.count > 0)
        memset(groups.slots, 0, groups.capacity * sizeof *groups.slots);
    groups.count = 0;
    *c = (struct pt_promcheck){ .is_openmetrics = true,
                                .names = names,
                                .groups = groups,
                                .family = name,
                                .unit = PT_STR(""),
                                .type = PT_PROMTEXT_UNKNOWN,
                                .has_family = true };
    return reason;
}

static const char *strict_metadata(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    if (!c->has_family || !pt_str_eq(c->family, item->name)) {
        const char *reason = start_family(c, item->name);
        if (reason)
            return reason;
    }
    if (c->has_samples)
        return "metadata after samples";
    bool *has = item->kind == PT_PROMTEXT_HELP   ? &c->has_help
                : item->kind == PT_PROMTEXT_TYPE ? &c->has_type
                                                 : &c->has_unit;
    if (*has)
        return "duplicate metadata";
    *has = true;
    if (item->kind == PT_PROMTEXT_UNIT)
        c->unit = item->text;
    if (item->kind != PT_PROMTEXT_TYPE)
        return NULL;
    if (item->type == PT_PROMTEXT_OTHER_TYPE || item->type == PT_PROMTEXT_UNTYPED)
        return "an unknown type";
    c->type = item->type;
    return NULL;
}

/* The suffix that the sample's name adds to the family's, or NULL if it is of another family. */
static const char *suffix_of(const struct pt_promcheck *c, struct pt_str name) {
    if (!c->has_family || !pt_str_starts(name, c->family))
        return NULL;
    struct pt_str rest = pt_str_skip(name, c->family.len);
    for (int i = 0; suffixes[c->type][i]; i++)
        if (pt_str_eq(rest, pt_str_from(suffixes[c->type][i])))
            return suffixes[c->type][i];
    return NULL;
}

static bool is_one_of(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static const char *check_values(const struct pt_promcheck *c, const char *suffix, double value) {
    static const char *const not_nan[] = {
        "_total", "_sum", "_count", "_bucket", "_gcount", "_gsum"
    };
    static const char *const whole[] = { "_count", "_bucket", "_gcount" };
    if (is_one_of(suffix, not_nan, PT_COUNT(not_nan)) && isnan(value))
        return "a counter that is NaN";
    if (is_one_of(suffix, not_nan, PT_COUNT(not_nan) - 1) && value < 0)
        return "a counter below zero";
    if (is_one_of(suffix, whole, PT_COUNT(whole)) && floor(value) != value)
        return "a count that is not whole";
    if (c->type == PT_PROMTEXT_INFO && value != 1)
        return "an info that is not 1";
    if (c->type == PT_PROMTEXT_STATESET && value != 0 && value != 1)
        return "a state that is neither 0 nor 1";
    if (c->type == PT_PROMTEXT_SUMMARY && !suffix[0] && value < 0)
        return "a quantile below zero";
    return NULL;
}

static const char *check_labels(const struct pt_promcheck *c, const char *suffix,
                                const struct pt_promtext_item *item) {
    double number;
    if (c->type == PT_PROMTEXT_STATESET && pt_promtext_find_label(item, c->family) < 0)
        return "no label with the state";
    if (c->type == PT_PROMTEXT_SUMMARY && !suffix[0] &&
        (!label_number(item, PT_STR("quantile"), &number) || !(number >= 0 && number <= 1)))
        return "quantile is not between 0 and 1";
    if (strcmp(suffix, "_bucket") != 0)
        return NULL;
    if (!label_number(item, PT_STR("le"), &number) || isnan(number))
        return "le is not a number";
    int label = pt_promtext_find_label(item, PT_STR("le"));
    struct pt_str le = pt_promtext_label_value(item, label);
    if (number == INFINITY && !pt_str_eq(le, PT_STR("+Inf")))
        return "le is not written +Inf";
    return NULL;
}

static size_t count_characters(struct pt_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += (text.at[i] & 0xc0) != 0x80;
    return n;
}

static const char *check_exemplar(const struct pt_promcheck *c, const char *suffix,
                                  const struct pt_promtext_item *item) {
    bool is_bucket = (c->type == PT_PROMTEXT_HISTOGRAM || c->type == PT_PROMTEXT_GAUGEHISTOGRAM) &&
                     strcmp(suffix, "_bucket") == 0;
    bool is_total = c->type == PT_PROMTEXT_COUNTER && strcmp(suffix, "_total") == 0;
    if (!item->has_exemplar)
        return NULL;
    if (!is_bucket && !is_total)
        return "an exemplar where none is allowed";
    size_t characters = 0;
    for (int i = 0; i < item->exemplar_label_count; i++)
        characters += count_characters(pt_promtext_label_name(item, item->label_count + i)) +
                      count_characters(pt_promtext_label_value(item, item->label_count + i));
    return characters > EXEMPLAR_CHARACTERS ? "an exemplar of more than 128 characters" : NULL;
}

/* The same for all samples of a group, in any order of labels. */
static uint64_t group_of(const struct pt_promcheck *c, const char *suffix,
                         const struct pt_promtext_item *item) {
    struct pt_str member = strcmp(suffix, "_bucket") == 0               ? PT_STR("le")
                           : c->type == PT_PROMTEXT_SUMMARY && !*suffix ? PT_STR("quantile")
                           : c->type == PT_PROMTEXT_STATESET            ? c->family
                                                                        : PT_STR("");
    uint64_t group = 1;
    if (c->type == PT_PROMTEXT_INFO)
        return group;
    for (int i = 0; i < item->label_count; i++) {
        struct pt_str name = pt_promtext_label_name(item, i);
        if (pt_str_eq(name, member))
            continue;
        uint64_t hash = hash_on(HASH_START, name) * 31;
        group += tagged(hash_on(hash, pt_promtext_label_value(item, i)), NAMED);
    }
    return group;
}

static const char *enter_group(struct pt_promcheck *c, uint64_t group,
                               const struct pt_promtext_item *item) {
    bool is_same = c->has_group && c->group == group;
    const char *reason = NULL;
    if (is_same && c->has_timestamp != item->has_timestamp)
        return "timestamps on only some samples of a group";
    if (is_same && item->has_timestamp && item->timestamp_s < c->timestamp_s)
        return "a timestamp earlier than the previous one";
    if (!is_same && !set_add(&c->groups, tagged(group, NAMED)))
        return "a group with samples that are not contiguous";
    if (!is_same || (item->has_timestamp && item->timestamp_s != c->timestamp_s)) {
        reason = check_histogram(c);
        c->has_bucket = c->has_count = c->has_sum = c->has_gsum = false;
        c->has_negative_le = c->has_negative_gsum = false;
        c->cumulative = 0;
    }
    c->has_group = true;
    c->group = group;
    c->has_timestamp = item->has_timestamp;
    c->timestamp_s = item->timestamp_s;
    return reason;
}

static const char *add_bucket(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    double le = 0;
    (void)label_number(item, PT_STR("le"), &le); /* checked before */
    if (c->has_bucket && le <= c->le)
        return "buckets out of order";
    if (item->value < c->cumulative)
        return "a bucket count below the previous one";
    c->has_bucket = true;
    c->has_negative_le |= le < 0;
    c->le = le;
    c->cumulative = item->value;
    return NULL;
}

static const char *add_to_histogram(struct pt_promcheck *c, const char *suffix,
                                    const struct pt_promtext_item *item) {
    if (strcmp(suffix, "_bucket") == 0)
        return add_bucket(c, item);
    if (strcmp(suffix, "_count") == 0 || strcmp(suffix, "_gcount") == 0) {
        c->has_count = true;
        c->count = item->value;
    }
    c->has_sum |= strcmp(suffix, "_sum") == 0;
    if (strcmp(suffix, "_gsum") == 0) {
        c->has_gsum = true;
        c->has_negative_gsum = item->value < 0;
    }
    return NULL;
}

static const char *strict_sample(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    const char *reason = NULL, *suffix = suffix_of(c, item->name);
    if (!suffix) {
        reason = start_family(c, item->name);
        suffix = "";
    }
    c->has_samples = true;
    if (!reason)
        reason = check_labels(c, suffix, item);
    if (!reason)
        reason = check_values(c, suffix, item->value);
    if (!reason)
        reason = check_exemplar(c, suffix, item);
    if (!reason)
        reason = enter_group(c, group_of(c, suffix, item), item);
    if (!reason)
        reason = add_to_histogram(c, suffix, item);
    return reason;
}

void pt_promcheck_init(struct pt_promcheck *c, bool is_openmetrics) {
    *c = (struct pt_promcheck){ .is_openmetrics = is_openmetrics };
}

void pt_promcheck_release(struct pt_promcheck *c) {
    pt_free(c->names.slots);
    pt_free(c->groups.slots);
    *c = (struct pt_promcheck){ 0 };
}

const char *pt_promcheck_item(struct pt_promcheck *c, const struct pt_promtext_item *item) {
    if (!c->is_openmetrics)
        return plain_item(c, item);
    return item->kind == PT_PROMTEXT_SAMPLE ? strict_sample(c, item) : strict_metadata(c, item);
}

const char *pt_promcheck_end(struct pt_promcheck *c) {
    return c->is_openmetrics ? end_family(c) : NULL;
}

int pt_promcheck_text(struct pt_str body, bool is_openmetrics, struct pt_err *err) {
    struct pt_promtext text;
    struct pt_promcheck check;
    const char *reason = NULL;
    int rc;
    pt_promtext_init(&text, body, is_openmetrics, NULL);
    pt_promcheck_init(&check, is_openmetrics);
    while (!reason && (rc = pt_promtext_next(&text)) > 0)
        reason = pt_promcheck_item(&check, &text.item);
    if (!reason && rc == 0)
        reason = pt_promcheck_end(&check);
    pt_promcheck_release(&check);
    if (reason)
        return pt_fail(err, -EINVAL, "line %u: %s", text.line, reason);
    return rc < 0 ? pt_promtext_explain(&text, err) : 0;
}
