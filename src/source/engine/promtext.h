/* source/engine/promtext.h -- cursor over the text of metrics endpoints: Prometheus text 0.0.4 and
 * OpenMetrics 1.0, both with quoted names (text 1.0.0).
 *
 *     # HELP vllm:prompt_tokens_total Number of prefill tokens processed.
 *     # TYPE vllm:prompt_tokens_total counter
 *     vllm:prompt_tokens_total{engine="0",model_name="Qwen/Qwen3-0.6B"} 8.128902e+06
 *     {"http.requests",code="200",} 5 1601830800000
 *     a_bucket{le="1.0"} 3 1.6e9 # {trace_id="x"} 0.5 1.6e9
 *     # EOF
 *
 * Reads one line at a time and copies nothing: names, labels and texts borrow from the body. The
 * grammar of a line is checked here; relations between the lines of a family (types, groups, order
 * of buckets) are checked by tests/support/promcheck.h. */
#ifndef PT_SOURCE_ENGINE_PROMTEXT_H
#define PT_SOURCE_ENGINE_PROMTEXT_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum pt_promtext_kind {
    PT_PROMTEXT_SAMPLE,
    PT_PROMTEXT_HELP,
    PT_PROMTEXT_TYPE,
    PT_PROMTEXT_UNIT, /* OpenMetrics only */
};

enum pt_promtext_type {
    PT_PROMTEXT_UNTYPED,
    PT_PROMTEXT_UNKNOWN,
    PT_PROMTEXT_COUNTER,
    PT_PROMTEXT_GAUGE,
    PT_PROMTEXT_HISTOGRAM,
    PT_PROMTEXT_GAUGEHISTOGRAM,
    PT_PROMTEXT_SUMMARY,
    PT_PROMTEXT_INFO,
    PT_PROMTEXT_STATESET,
    PT_PROMTEXT_OTHER_TYPE, /* a word that is not a type */
};

#define PT_PROMTEXT_LABELS 64 /* per line, including labels of its exemplar */

/* Positions in the text of the list. */
struct pt_promtext_label {
    uint32_t name_at, name_len, value_at, value_len;
    bool name_is_escaped, value_is_escaped;
};

struct pt_promtext_list {
    const char *text;      /* after the opening brace */
    uint32_t len;          /* including the closing brace */
    uint32_t before_len;   /* of the text before it on the line: the name and the brace */
    uint8_t count;         /* labels of the sample; 0 if this list cannot be compared with */
    uint8_t varying_label; /* label with the value that changed last */
    struct pt_promtext_label labels[PT_PROMTEXT_LABELS];
};

struct pt_promtext_item {
    enum pt_promtext_kind kind;
    struct pt_str name;
    bool name_is_escaped;
    bool is_same_name; /* the previous line is a sample of the same name */

    /* Of metadata. */
    enum pt_promtext_type type;
    struct pt_str text; /* of HELP (escaped) and UNIT, the word of TYPE */

    /* Of a sample. Labels of the exemplar follow those of the sample. */
    double value;
    double timestamp_s;
    double exemplar_value;
    double exemplar_timestamp_s;
    bool has_timestamp, has_exemplar, has_exemplar_timestamp;
    uint8_t label_count, exemplar_label_count;
    struct pt_str label_text; /* the text between the braces */
    struct pt_promtext_list *list;
};

/* Limits against endpoints that serve no metrics, or far too many. Zero is the default below. */
struct pt_promtext_limits {
    uint32_t line_bytes, label_bytes; /* label: of one value */
    uint32_t sample_count;
};

#define PT_PROMTEXT_LINE_BYTES   65536
#define PT_PROMTEXT_LABEL_BYTES  16384
#define PT_PROMTEXT_SAMPLE_COUNT 1000000

struct pt_promtext {
    const char *at, *end, *line_start;
    struct pt_promtext_limits limits;
    bool is_openmetrics, has_ended;
    uint32_t line;
    uint32_t sample_count;
    struct pt_promtext_item item;

    /* Lines resemble previous lines: equal parts have been checked already. */
    struct pt_str known_name;         /* the last unquoted name */
    struct pt_promtext_list lists[2]; /* the last two kinds of labels, e.g. those of buckets */
    uint8_t list;                     /* and those of counters; and which one was last */
    bool is_list_known;               /* the last list is that of the previous sample */

    /* The first failure. */
    int error;
    uint32_t error_line, error_column; /* from 1; the column counts bytes */
    const char *reason;
};

/* Is it OpenMetrics, by its content type (may be empty) or a last line "# EOF"? */
bool pt_promtext_is_openmetrics(struct pt_str content_type, struct pt_str body);

/* Borrows the body; `limits` may be NULL. */
void pt_promtext_init(struct pt_promtext *p, struct pt_str body, bool is_openmetrics,
                      const struct pt_promtext_limits *limits);

/* 1 and the next item in `item`; 0 at the end; -EINVAL: syntax error; -E2BIG: a limit is exceeded.
 * A failure is final: every later call returns it again. */
int pt_promtext_next(struct pt_promtext *p) PT_MUST_CHECK;

/* After -EINVAL: continues behind the line that failed, if there are lines behind it. False: there
 * are none, or a limit is exceeded. */
bool pt_promtext_skip_line(struct pt_promtext *p);

/* "line 3, column 17: no closing quote"; returns the error. */
int pt_promtext_explain(const struct pt_promtext *p, struct pt_err *err);

/* \\ \" \n of a name or value; other escapes are kept. `into` holds raw.len bytes. */
struct pt_str pt_promtext_unescape(struct pt_str raw, char *into);

/* As in the text, not unescaped. */
static inline struct pt_str pt_promtext_label_name(const struct pt_promtext_item *item, int index) {
    const struct pt_promtext_label *label = &item->list->labels[index];
    return (struct pt_str){ item->list->text + label->name_at, label->name_len };
}

static inline struct pt_str pt_promtext_label_value(const struct pt_promtext_item *item,
                                                    int index) {
    const struct pt_promtext_label *label = &item->list->labels[index];
    return (struct pt_str){ item->list->text + label->value_at, label->value_len };
}

/* Index of the sample's label with this name, or -1. */
static inline int pt_promtext_find_label(const struct pt_promtext_item *item, struct pt_str name) {
    for (int i = 0; i < item->label_count; i++)
        if (pt_str_eq(pt_promtext_label_name(item, i), name))
            return i;
    return -1;
}

#endif
