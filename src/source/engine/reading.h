/* source/engine/reading.h -- one scrape of an inference engine, in the common schema.
 *
 *     struct pt_engine_parser parser = { 0 };
 *     struct pt_engine_reading reading = { .mono_ns = before };
 *     rc = pt_engine_parse(&parser, body, &reading, &err);
 *     if (pt_engine_has(&reading, PT_ENGINE_KV_USAGE)) ...
 *
 * Series of one field are summed (counters, requests) or reduced to the maximum (ratios, levels).
 * Ranks that report the same scheduler (tp_rank, pp_rank) and duplicate series count once.
 * Parser and reading keep their memory: a steady scrape allocates nothing. */
#ifndef PT_SOURCE_ENGINE_READING_H
#define PT_SOURCE_ENGINE_READING_H

#include "base/buf.h"
#include "source/engine/alias.h"
#include "source/engine/engine_histogram.h"
#include "source/engine/promtext.h"

/* A label that describes the engine. Of cache_config_info{block_size="16"}: family
 * "cache_config", key "block_size". Labels such as model_name have no family. */
struct pt_engine_info {
    struct pt_str family, key, value;
};

struct pt_engine_info_place {
    enum pt_engine_kind kind;
    uint32_t offset, family_len, key_len, value_len;
};

struct pt_engine_reading {
    enum pt_engine_kind kind;
    int64_t mono_ns; /* set by the caller; not changed by parsing */
    uint32_t series_count;
    uint32_t engine_count; /* 1, or the number of combined engines */
    uint32_t bad_line_count;
    struct pt_err first_bad; /* place and reason of the first bad line; "" if there is none */
    uint64_t present;        /* one bit per field */
    double values[PT_ENGINE_FIELD_COUNT];
    struct pt_engine_histogram latencies[PT_ENGINE_LATENCY_COUNT]; /* without buckets: unknown */
    struct pt_engine_info_place *infos;
    size_t info_count, info_capacity;
    struct pt_buf info_text;
};

void pt_engine_reading_release(struct pt_engine_reading *r);

static inline bool pt_engine_has(const struct pt_engine_reading *r, enum pt_engine_field field) {
    return r->present >> field & 1;
}

/* Borrows from the reading. */
struct pt_engine_info pt_engine_info(const struct pt_engine_reading *r, size_t index);

/* Fields (one bit each) that engines of this kind usually report but this one does not. */
uint64_t pt_engine_missing(const struct pt_engine_reading *r);

/* A series that is not used by a field; the text of its labels is the text between the braces. */
typedef void pt_engine_raw_fn(void *user, struct pt_str name, struct pt_str labels, double value);

/* A series used by a field. */
struct pt_engine_entry {
    uint64_t key; /* of the series: its row of the table and its labels without the ranks */
    double value, le;
    uint8_t kind, rank;
    uint8_t target; /* a field, or PT_ENGINE_FIELD_COUNT + the latency of a bucket */
};

struct pt_engine_parser {
    struct pt_str content_type;       /* of the body; empty: the text decides */
    struct pt_promtext_limits limits; /* zero: the defaults */
    pt_engine_raw_fn *raw;            /* or NULL */
    void *raw_user;

    struct pt_promtext text;
    struct pt_buf unix_lines; /* of a body with CRLF */
    struct pt_engine_entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t *slots; /* hash table: index of an entry plus one */
    size_t slot_count;
    uint32_t kinds_seen; /* one bit each */
};

void pt_engine_parser_release(struct pt_engine_parser *p);

/* 0; -EINVAL or -E2BIG with line, column and reason, and an empty reading. Lines that are not
 * metrics are counted and left out, and lines may end with CRLF. Refused are texts with more bad
 * lines than series, and texts that were cut: half a scrape would give sums that are too small. A
 * text without an engine's names is valid: PT_ENGINE_UNKNOWN. */
int pt_engine_parse(struct pt_engine_parser *p, struct pt_str body, struct pt_engine_reading *out,
                    struct pt_err *err) PT_MUST_CHECK;

#endif
