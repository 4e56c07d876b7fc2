#include "source/engine/reading.h"

#include "source/engine/decimal.h"

#include <errno.h>
#include <math.h>

/* Labels that differ between processes that report the same scheduler. */
static const struct pt_str copy_labels[] = {
    { "tp_rank", 7 },
    { "pp_rank", 7 },
    { "moe_ep_rank", 11 },
};

static const struct pt_str model_labels[] = {
    { "model_name", 10 }, { "model", 5 }, /* Triton */
};

void pt_engine_reading_release(struct pt_engine_reading *r) {
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_engine_histogram_release(&r->latencies[i]);
    pt_free(r->infos);
    pt_buf_release(&r->info_text);
    *r = (struct pt_engine_reading){ 0 };
}

void pt_engine_parser_release(struct pt_engine_parser *p) {
    pt_free(p->entries);
    pt_free(p->slots);
    pt_buf_release(&p->unix_lines);
    *p = (struct pt_engine_parser){ 0 };
}

static void reading_clear(struct pt_engine_reading *r) {
    r->kind = PT_ENGINE_UNKNOWN;
    r->series_count = 0;
    r->engine_count = 1;
    r->bad_line_count = 0;
    r->first_bad.text[0] = 0;
    r->present = 0;
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_engine_histogram_clear(&r->latencies[i]);
    r->info_count = 0;
    pt_buf_clear(&r->info_text);
}

/* Identity of series. */

static inline uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline uint64_t hash_text(struct pt_str text) {
    uint64_t hash = text.len, word;
    while (text.len > sizeof word) {
        memcpy(&word, text.at, sizeof word);
        hash = mix(hash, word);
        text = pt_str_skip(text, sizeof word);
    }
    word = 0;
    memcpy(&word, text.at, text.len);
    return mix(hash, word);
}

static bool is_copy_label(struct pt_str name) {
    if (!pt_str_ends(name, PT_STR("_rank")))
        return false;
    for (size_t i = 0; i < PT_COUNT(copy_labels); i++)
        if (pt_str_eq(name, copy_labels[i]))
            return true;
    return false;
}

/* The order of labels does not matter; copies of a series have the same hash. */
static uint64_t hash_labels(const struct pt_promtext_item *item) {
    uint64_t sum = 0;
    for (int i = 0; i < item->label_count; i++) {
        struct pt_str name = pt_promtext_label_name(item, i);
        struct pt_str value = pt_promtext_label_value(item, i);
        const char *end = value.at + value.len;
        if (!is_copy_label(name))
            sum += hash_text((struct pt_str){ name.at, (size_t)(end - name.at) });
    }
    return sum;
}

static void slots_clear(struct pt_engine_parser *p) {
    if (p->slot_count > 0)
        memset(p->slots, 0, p->slot_count * sizeof *p->slots);
}

static uint32_t *find_slot(struct pt_engine_parser *p, uint64_t key) {
    size_t mask = p->slot_count - 1, i = (size_t)(key >> 16) & mask;
    while (p->slots[i] && p->entries[p->slots[i] - 1].key != key)
        i = (i + 1) & mask;
    return &p->slots[i];
}

/* The highest value of the copies: they are read at slightly different times. */
static void add_entry(struct pt_engine_parser *p, const struct pt_engine_entry *entry) {
    if (p->entry_count * 2 >= p->slot_count) {
        p->slot_count = p->slot_count ? p->slot_count * 2 : 1024;
        p->slots = pt_realloc(p->slots, p->slot_count * sizeof *p->slots);
        slots_clear(p);
        for (size_t i = 0; i < p->entry_count; i++)
            *find_slot(p, p->entries[i].key) = (uint32_t)i + 1;
    }
    uint32_t *slot = find_slot(p, entry->key);
    if (*slot) {
        struct pt_engine_entry *known = &p->entries[*slot - 1];
        if (entry->value > known->value)
            known->value = entry->value;
        return;
    }
    pt_grow(&p->entries, &p->entry_capacity, p->entry_count + 1, sizeof *p->entries);
    p->entries[p->entry_count++] = *entry;
    *slot = (uint32_t)p->entry_count;
}

/* From a series to entries. */

static bool row_applies(const struct pt_engine_alias *row, const struct pt_promtext_item *item) {
    if (row->label.len == 0)
        return true;
    int label = pt_promtext_find_label(item, row->label);
    return label >= 0 && pt_str_eq(pt_promtext_label_value(item, label), row->label_value);
}

static uint8_t target_of(const struct pt_engine_alias *row, enum pt_engine_part part) {
    switch (part) {
    case PT_ENGINE_SUM:
        return (uint8_t)pt_engine_sum_of(row->target);
    case PT_ENGINE_COUNT:
        return (uint8_t)pt_engine_count_of(row->target);
    case PT_ENGINE_BUCKET:
        return (uint8_t)(PT_ENGINE_FIELD_COUNT + row->target);
    default:
        return row->target;
    }
}

/* SGLang has a series with priority="" for all requests beside one for each priority. */
static bool is_breakdown(const struct pt_promtext_item *item) {
    int label = pt_promtext_find_label(item, PT_STR("priority"));
    return label >= 0 && pt_promtext_label_value(item, label).len > 0;
}

/* Counts have no unit: of a histogram in milliseconds only edges and sums are scaled. */
static void take_row(struct pt_engine_parser *p, const struct pt_engine_route *route,
                     const struct pt_engine_alias *row, uint64_t labels) {
    const struct pt_promtext_item *item = &p->text.item;
    struct pt_engine_entry entry = {
        .key = mix(mix(labels, (uint64_t)(uintptr_t)row), route->part),
        .value = item->value,
        .kind = row->kind,
        .rank = (uint8_t)(4 * row->rank + 2 * route->rank_offset +
                          (row->kind == PT_ENGINE_SGLANG && is_breakdown(item))),
        .target = target_of(row, route->part),
    };
    if (route->part == PT_ENGINE_BUCKET) {
        int le = pt_promtext_find_label(item, PT_STR("le"));
        if (le < 0 || !pt_decimal_parse_go(pt_promtext_label_value(item, le), &entry.le))
            return;
        entry.le *= row->factor;
    } else if (route->part != PT_ENGINE_COUNT) {
        entry.value *= row->factor;
    }
    add_entry(p, &entry);
}

static bool take_rows(struct pt_engine_parser *p, const struct pt_engine_route *route) {
    bool is_taken = false;
    if (route->alias_count == 0)
        return false;
    uint64_t labels = hash_labels(&p->text.item);
    for (int i = 0; i < route->alias_count; i++) {
        if (!row_applies(&route->aliases[i], &p->text.item))
            continue;
        is_taken = true;
        if (isfinite(p->text.item.value))
            take_row(p, route, &route->aliases[i], labels);
    }
    return is_taken;
}

/* Descriptions. */

struct pt_engine_info pt_engine_info(const struct pt_engine_reading *r, size_t index) {
    const struct pt_engine_info_place *place = &r->infos[index];
    const char *text = (const char *)r->info_text.at + place->offset;
    return (struct pt_engine_info){
        .family = { text, place->family_len },
        .key = { text + place->family_len, place->key_len },
        .value = { text + place->family_len + place->key_len, place->value_len },
    };
}

static bool has_info(const struct pt_engine_reading *r, struct pt_str family, struct pt_str key,
                     struct pt_str value) {
    for (size_t i = 0; i < r->info_count; i++) {
        struct pt_engine_info known = pt_engine_info(r, i);
        if (pt_str_eq(known.value, value) && pt_str_eq(known.key, key) &&
            pt_str_eq(known.family, family))
            return true;
    }
    return false;
}

/* Appends the pieces to the text, and removes them again if they are known already. */
static void add_info(struct pt_engine_reading *r, enum pt_engine_kind kind, struct pt_str family,
                     struct pt_str key, struct pt_str raw) {
    size_t start = r->info_text.len;
    pt_buf_str(&r->info_text, family);
    pt_buf_str(&r->info_text, key);
    char *into = (char *)pt_buf_reserve(&r->info_text, raw.len);
    struct pt_str value = pt_promtext_unescape(raw, into);
    if (has_info(r, family, key, value)) {
        r->info_text.len = start;
        return;
    }
    r->info_text.len += value.len;
    pt_grow(&r->infos, &r->info_capacity, r->info_count + 1, sizeof *r->infos);
    r->infos[r->info_count++] = (struct pt_engine_info_place){
        .kind = kind,
        .offset = (uint32_t)start,
        .family_len = (uint32_t)family.len,
        .key_len = (uint32_t)key.len,
        .value_len = (uint32_t)value.len,
    };
}

/* From entries to the reading. */

#define TARGET_COUNT (PT_ENGINE_FIELD_COUNT + PT_ENGINE_LATENCY_COUNT)

static bool is_worst(enum pt_engine_rule rule) {
    return rule == PT_ENGINE_LEVEL || rule == PT_ENGINE_RATIO;
}

/* LMCache is part of an engine and has its series on the engine's page. */
static bool is_of(const struct pt_engine_entry *e, enum pt_engine_kind kind) {
    return e->kind == kind || e->kind == PT_ENGINE_LMCACHE;
}

static void finish(const struct pt_engine_parser *p, struct pt_engine_reading *r) {
    uint8_t ranks[TARGET_COUNT];
    uint32_t counts[PT_ENGINE_FIELD_COUNT] = { 0 };
    r->kind = p->kinds_seen ? (enum pt_engine_kind)__builtin_ctz(p->kinds_seen) : PT_ENGINE_UNKNOWN;
    size_t kept = 0;
    for (size_t i = 0; i < r->info_count; i++)
        if (r->infos[i].kind == r->kind)
            r->infos[kept++] = r->infos[i];
    r->info_count = kept;
    memset(ranks, UINT8_MAX, TARGET_COUNT);
    for (size_t i = 0; i < p->entry_count; i++) {
        const struct pt_engine_entry *e = &p->entries[i];
        if (is_of(e, r->kind) && e->rank < ranks[e->target])
            ranks[e->target] = e->rank;
    }
    for (size_t i = 0; i < p->entry_count; i++) {
        const struct pt_engine_entry *e = &p->entries[i];
        if (!is_of(e, r->kind) || e->rank != ranks[e->target])
            continue;
        if (e->target < PT_ENGINE_FIELD_COUNT) {
            if (counts[e->target]++ == 0)
                r->values[e->target] = e->value;
            else if (!is_worst(pt_engine_fields[e->target].rule))
                r->values[e->target] += e->value;
            else if (e->value > r->values[e->target])
                r->values[e->target] = e->value;
            r->present |= UINT64_C(1) << e->target;
        } else {
            pt_engine_histogram_add(&r->latencies[e->target - PT_ENGINE_FIELD_COUNT], e->le,
                                    e->value);
        }
    }
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++) {
        enum pt_engine_field count = pt_engine_count_of((enum pt_engine_latency)i);
        pt_engine_histogram_finish(&r->latencies[i],
                                   pt_engine_has(r, count) ? r->values[count] : NAN);
    }
}

static void take_sample(struct pt_engine_parser *p, const struct pt_engine_route *route,
                        struct pt_engine_reading *out) {
    const struct pt_promtext_item *item = &p->text.item;
    if (route->kind != PT_ENGINE_UNKNOWN)
        p->kinds_seen |= 1u << route->kind;
    if (route->is_info && item->value == 1) {
        struct pt_str family = { route->family.at, route->family.len - strlen("_info") };
        for (int i = 0; i < item->label_count; i++)
            add_info(out, route->kind, family, pt_promtext_label_name(item, i),
                     pt_promtext_label_value(item, i));
    }
    bool is_taken = take_rows(p, route);
    if (is_taken && route->part != PT_ENGINE_BUCKET) {
        for (size_t i = 0; i < PT_COUNT(model_labels); i++) {
            int label = pt_promtext_find_label(item, model_labels[i]);
            if (label >= 0)
                add_info(out, route->kind, PT_STR(""), model_labels[0],
                         pt_promtext_label_value(item, label));
        }
    }
    if (!is_taken && p->raw)
        p->raw(p->raw_user, item->name, item->label_text, item->value);
}

/* Without the carriage returns before newlines. */
static struct pt_str unix_lines(struct pt_engine_parser *p, struct pt_str body) {
    if (body.len == 0 || !memchr(body.at, '\r', body.len))
        return body;
    pt_buf_clear(&p->unix_lines);
    for (const char *at = body.at, *end = pt_str_end(body); at < end;) {
        const char *mark = memchr(at, '\r', (size_t)(end - at));
        const char *stop = mark ? mark : end;
        pt_buf_str(&p->unix_lines, (struct pt_str){ at, (size_t)(stop - at) });
        if (mark && (mark + 1 == end || mark[1] != '\n'))
            pt_buf_u8(&p->unix_lines, '\r');
        at = stop + (mark != NULL);
    }
    return pt_buf_as_str(&p->unix_lines);
}

#define BAD_LINES_MAX 100 /* more than series; the rest is not read */

/* The next item; lines that cannot be read are counted and skipped. */
static int next_item(struct pt_engine_parser *p, struct pt_engine_reading *out) {
    int rc;
    while ((rc = pt_promtext_next(&p->text)) < 0) {
        struct pt_err reason = { "" };
        if (out->bad_line_count == 0)
            (void)pt_promtext_explain(&p->text, &reason);
        if (out->bad_line_count > p->text.sample_count + BAD_LINES_MAX ||
            !pt_promtext_skip_line(&p->text))
            return rc;
        if (out->bad_line_count++ == 0)
            out->first_bad = reason;
    }
    return rc;
}

static int refuse(struct pt_engine_reading *out, int rc, const char *reason, struct pt_err *err) {
    rc = pt_fail(err, rc, "%s", reason);
    reading_clear(out);
    return rc;
}

int pt_engine_parse(struct pt_engine_parser *p, struct pt_str body, struct pt_engine_reading *out,
                    struct pt_err *err) {
    struct pt_engine_route route = { 0 };
    uint32_t sample_count = 0;
    int rc;
    reading_clear(out);
    slots_clear(p);
    p->entry_count = 0;
    p->kinds_seen = 0;
    body = unix_lines(p, body);
    pt_promtext_init(&p->text, body, pt_promtext_is_openmetrics(p->content_type, body), &p->limits);
    while ((rc = next_item(p, out)) > 0) {
        if (p->text.item.kind != PT_PROMTEXT_SAMPLE)
            continue;
        if (!p->text.item.is_same_name)
            route = pt_engine_route_of(p->text.item.name);
        take_sample(p, &route, out);
        sample_count++;
    }
    if (rc < 0) {
        struct pt_err reason = { "" };
        (void)pt_promtext_explain(&p->text, &reason);
        return refuse(out, rc, reason.text, err);
    }
    if (out->bad_line_count > sample_count) {
        struct pt_err reason = out->first_bad;
        return refuse(out, -EINVAL, reason.text, err);
    }
    finish(p, out);
    out->series_count = sample_count;
    return 0;
}

uint64_t pt_engine_missing(const struct pt_engine_reading *r) {
    uint64_t missing = 0;
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++)
        if (pt_engine_fields[i].is_expected && !pt_engine_has(r, (enum pt_engine_field)i) &&
            pt_engine_has_alias(r->kind, (enum pt_engine_field)i))
            missing |= UINT64_C(1) << i;
    return missing;
}
