/* Functions named take_* get a place in the text and return the place behind what they took, or
 * NULL after failing. Places stay inside the body; what lies behind its end reads as newlines. */
#include "engine/promtext.h"

#include "base/utf8.h"
#include "engine/decimal.h"

#include <errno.h>
#include <math.h>

enum { NAME_FIRST = 1, NAME_REST = 2, LABEL_FIRST = 4, LABEL_REST = 8 };

#define LETTER (NAME_FIRST | NAME_REST | LABEL_FIRST | LABEL_REST)

static const uint8_t classes[256] = {
    ['a' ... 'z'] = LETTER,
    ['A' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    [':'] = NAME_FIRST | NAME_REST,
    ['0' ... '9'] = NAME_REST | LABEL_REST,
};

static const struct {
    struct pt_str word;
    enum pt_promtext_type type;
} types[] = {
    { { "counter", 7 }, PT_PROMTEXT_COUNTER },
    { { "gauge", 5 }, PT_PROMTEXT_GAUGE },
    { { "histogram", 9 }, PT_PROMTEXT_HISTOGRAM },
    { { "summary", 7 }, PT_PROMTEXT_SUMMARY },
    { { "untyped", 7 }, PT_PROMTEXT_UNTYPED },
    { { "unknown", 7 }, PT_PROMTEXT_UNKNOWN },
    { { "info", 4 }, PT_PROMTEXT_INFO },
    { { "stateset", 8 }, PT_PROMTEXT_STATESET },
    { { "gaugehistogram", 14 }, PT_PROMTEXT_GAUGEHISTOGRAM },
};

static PT_COLD const char *fail_with(struct pt_promtext *p, const char *at, int error,
                                     const char *reason) {
    p->error = error;
    p->error_line = p->line;
    p->error_column = (uint32_t)(at - p->line_start) + 1;
    p->reason = reason;
    return NULL;
}

static PT_COLD const char *fail(struct pt_promtext *p, const char *at, const char *reason) {
    if (at < p->end && *at == '\r')
        reason = "a carriage return: lines end in a newline alone";
    return fail_with(p, at, -EINVAL, reason);
}

static inline char peek(const struct pt_promtext *p, const char *s) {
    return s < p->end ? *s : '\n';
}

static inline uint8_t class_of(const struct pt_promtext *p, const char *s) {
    return classes[(uint8_t)peek(p, s)];
}

static inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static inline const char *skip_blanks(const struct pt_promtext *p, const char *s) {
    while (is_blank(peek(p, s)))
        s++;
    return s;
}

/* Between the parts of a label list: blanks, but none in OpenMetrics. */
static inline const char *skip_gap(const struct pt_promtext *p, const char *s) {
    return p->is_openmetrics ? s : skip_blanks(p, s);
}

static inline const char *line_end(const struct pt_promtext *p, const char *s) {
    const char *newline = memchr(s, '\n', (size_t)(p->end - s));
    return newline ? newline : p->end;
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

/* Eight bytes; those behind the end are newlines. */
static inline uint64_t load(const char *s, const char *end) {
    uint64_t word = EACH_BYTE('\n');
    size_t n = (size_t)(end - s);
    if (PT_UNLIKELY(n < sizeof word))
        memcpy(&word, s, n);
    else
        memcpy(&word, s, sizeof word);
    return word;
}

/* The top bit of each byte that is zero; bytes above the lowest such one may be marked wrongly. */
static inline uint64_t zero_bytes(uint64_t word) {
    return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

/* The next quote, backslash or newline; ORs the words passed over into `seen`. */
static inline const char *find_special(const char *s, const char *end, uint64_t *seen) {
    for (;; s += 8) {
        uint64_t word = load(s, end);
        uint64_t stop = zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\\')) |
                        zero_bytes(word ^ EACH_BYTE('\n'));
        *seen |= word;
        if (stop)
            return s + (__builtin_ctzll(stop) >> 3);
    }
}

static bool is_utf8(struct pt_str text) {
    return pt_utf8_valid_length(text) == text.len;
}

static bool is_ascii(struct pt_str text) {
    uint64_t seen = 0;
    for (size_t i = 0; i < text.len; i += 8)
        seen |= load(text.at + i, text.at + text.len);
    return !(seen & EACH_BYTE(0x80));
}

/* What stands between quotes; `s` is behind the first one. */
static inline const char *take_quoted(struct pt_promtext *p, const char *s, struct pt_str *text,
                                      bool *is_escaped) {
    const char *start = s;
    uint64_t seen = 0;
    *is_escaped = false;
    for (;;) {
        s = find_special(s, p->end, &seen);
        char c = peek(p, s);
        if (c == '"')
            break;
        if (c == '\n')
            return fail(p, s, "no closing quote");
        char escaped = peek(p, s + 1);
        bool is_known = escaped == '\\' || escaped == '"' || escaped == 'n';
        if (escaped == '\n' || (!is_known && !p->is_openmetrics))
            return fail(p, s, "an escape that is none of \\\\ \\\" \\n");
        *is_escaped = true;
        s += 2;
    }
    *text = (struct pt_str){ start, (size_t)(s - start) };
    if (PT_UNLIKELY(seen & EACH_BYTE(0x80)) && !is_utf8(*text))
        return fail(p, start, "text that is not UTF-8");
    if (PT_UNLIKELY(text->len > p->limits.label_bytes))
        return fail_with(p, start, -E2BIG, "a label longer than the limit");
    return s + 1;
}

static inline const char *take_plain_name(struct pt_promtext *p, const char *s,
                                          struct pt_str *name) {
    const char *start = s;
    if (!(class_of(p, s) & NAME_FIRST))
        return fail(p, s, "a name must start with a letter, _ or :");
    do
        s++;
    while (class_of(p, s) & NAME_REST);
    *name = (struct pt_str){ start, (size_t)(s - start) };
    return s;
}

/* Families stand together, so the name is mostly that of the line before. */
static inline const char *take_sample_name(struct pt_promtext *p, const char *s,
                                           struct pt_promtext_item *item) {
    struct pt_str previous = p->previous_name;
    if (previous.len > 0 && (size_t)(p->end - s) > previous.len &&
        memcmp(s, previous.at, previous.len) == 0 && !(class_of(p, s + previous.len) & NAME_REST)) {
        item->name = previous;
        item->is_same_name = true;
        return s + previous.len;
    }
    s = take_plain_name(p, s, &item->name);
    if (s)
        p->previous_name = item->name;
    return s;
}

static inline bool has_duplicate(const struct pt_promtext_label *labels, int count) {
    const struct pt_promtext_label *last = &labels[count];
    for (int i = 0; i < count; i++)
        if (PT_UNLIKELY(labels[i].name.len == last->name.len) &&
            memcmp(labels[i].name.at, last->name.at, last->name.len) == 0)
            return true;
    return false;
}

static inline const char *take_label_name(struct pt_promtext *p, const char *s,
                                          struct pt_promtext_label *label) {
    label->name_is_escaped = false;
    if (PT_UNLIKELY(peek(p, s) == '"'))
        return take_quoted(p, s + 1, &label->name, &label->name_is_escaped);
    const char *start = s;
    if (!(class_of(p, s) & LABEL_FIRST))
        return fail(p, s, "a label must start with a letter or _");
    do
        s++;
    while (class_of(p, s) & LABEL_REST);
    label->name = (struct pt_str){ start, (size_t)(s - start) };
    return s;
}

/* The name of the metric as a first item in quotes. */
static const char *take_inner_name(struct pt_promtext *p, const char *s,
                                   const struct pt_promtext_label *label,
                                   struct pt_promtext_item *item) {
    if (item->name.len > 0)
        return fail(p, s, "a second name of the metric");
    if (label->name.len == 0)
        return fail(p, s, "an empty name");
    item->name = label->name;
    item->name_is_escaped = label->name_is_escaped;
    return s;
}

/* name="value" into the next free place, or (only of the sample itself) "name of the metric". */
static inline const char *take_label(struct pt_promtext *p, const char *s,
                                     struct pt_promtext_item *item, uint8_t *count) {
    int index = item->label_count + (count == &item->label_count ? 0 : *count);
    int first = index - *count;
    if (PT_UNLIKELY(index >= PT_PROMTEXT_LABELS))
        return fail_with(p, s, -E2BIG, "more labels than the limit");
    struct pt_promtext_label *label = &item->labels[index];
    const char *start = s;
    s = take_label_name(p, s, label);
    if (!s)
        return NULL;
    const char *behind = s;
    s = skip_gap(p, s);
    if (peek(p, s) != '=') {
        bool may_be_name = *start == '"' && count == &item->label_count && *count == 0;
        return may_be_name ? take_inner_name(p, behind, label, item)
                           : fail(p, s, "no = after a label");
    }
    s = skip_gap(p, s + 1);
    if (peek(p, s) != '"')
        return fail(p, s, "no quote before the value of a label");
    s = take_quoted(p, s + 1, &label->value, &label->value_is_escaped);
    if (!s)
        return NULL;
    if (PT_UNLIKELY(has_duplicate(item->labels + first, index - first)))
        return fail(p, start, "a label that is there already");
    ++*count;
    return s;
}

/* Labels up to the closing brace; `s` is behind the opening one. */
static inline const char *take_labels(struct pt_promtext *p, const char *s,
                                      struct pt_promtext_item *item, uint8_t *count) {
    s = skip_gap(p, s);
    if (peek(p, s) == '}')
        return s + 1;
    for (;;) {
        s = take_label(p, s, item, count);
        if (!s)
            return NULL;
        s = skip_gap(p, s);
        char c = peek(p, s);
        if (c == '}')
            return s + 1;
        if (c != ',')
            return fail(p, s, "no comma or closing brace after a label");
        s = skip_gap(p, s + 1);
        if (peek(p, s) == '}' && !p->is_openmetrics)
            return s + 1;
    }
}

static const char *word_end(const struct pt_promtext *p, const char *s) {
    while (!is_blank(peek(p, s)) && peek(p, s) != '\n')
        s++;
    return s;
}

static inline bool ends_word(const struct pt_promtext *p, const char *s) {
    char c = peek(p, s);
    return c == '\n' || c == ' ' || (c == '\t' && !p->is_openmetrics);
}

/* NaN, +Inf, and hexadecimal numbers where Go's rules are in force. */
static const char *take_odd_number(struct pt_promtext *p, const char *s, double *value) {
    const char *end = word_end(p, s);
    struct pt_str word = { s, (size_t)(end - s) };
    bool is_number =
        p->is_openmetrics ? pt_decimal_parse(word, value) : pt_decimal_parse_go(word, value);
    if (is_number && ends_word(p, end))
        return end;
    while (s < end && *s != '\r')
        s++;
    if (s < end)
        return fail(p, s, "");
    return fail(p, word.at, word.len ? "not a number" : "no value");
}

static inline const char *take_number(struct pt_promtext *p, const char *s, double *value) {
    size_t len = pt_decimal_scan((struct pt_str){ s, (size_t)(p->end - s) }, value);
    if (len > 0 && ends_word(p, s + len))
        return s + len;
    return take_odd_number(p, s, value);
}

/* Whole milliseconds. */
static const char *take_milliseconds(struct pt_promtext *p, const char *s, double *timestamp_s) {
    const char *end = word_end(p, s), *digit = s;
    bool is_negative = *digit == '-';
    if (*digit == '-' || *digit == '+')
        digit++;
    if (digit == end)
        return fail(p, s, "a timestamp that is no whole number");
    uint64_t ms = 0;
    for (; digit < end; digit++) {
        if (*digit < '0' || *digit > '9')
            return fail(p, digit, "a timestamp that is no whole number");
        ms = ms * 10 + (uint64_t)(*digit - '0');
        if (ms > INT64_MAX)
            return fail(p, s, "a timestamp beyond 64 bits");
    }
    *timestamp_s = (is_negative ? -1 : 1) * (double)ms / 1000;
    return end;
}

static const char *take_timestamp(struct pt_promtext *p, const char *s, double *timestamp_s) {
    if (!p->is_openmetrics)
        return take_milliseconds(p, s, timestamp_s);
    const char *end = take_number(p, s, timestamp_s);
    if (end && !isfinite(*timestamp_s))
        return fail(p, s, "a timestamp that is not finite");
    return end;
}

/* "{trace_id="x"} 0.5 1.6e9" behind " # ". */
static const char *take_exemplar(struct pt_promtext *p, const char *s,
                                 struct pt_promtext_item *item) {
    if (peek(p, s) != ' ' || peek(p, s + 1) != '{')
        return fail(p, s, "no labels in an exemplar");
    s = take_labels(p, s + 2, item, &item->exemplar_label_count);
    if (!s)
        return NULL;
    if (peek(p, s) != ' ')
        return fail(p, s, "no value in an exemplar");
    s = take_number(p, s + 1, &item->exemplar_value);
    item->has_exemplar = true;
    if (!s || peek(p, s) != ' ')
        return s;
    item->has_exemplar_timestamp = true;
    return take_timestamp(p, s + 1, &item->exemplar_timestamp_s);
}

/* [timestamp] [exemplar] to the end of the line. */
static const char *take_tail(struct pt_promtext *p, const char *s, struct pt_promtext_item *item) {
    s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    if (!p->is_openmetrics && peek(p, s) == '\n')
        return s;
    if (peek(p, s) != '#' || !p->is_openmetrics) {
        item->has_timestamp = true;
        s = take_timestamp(p, s, &item->timestamp_s);
        if (!s || peek(p, s) == '\n')
            return s;
        s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    }
    if (p->is_openmetrics && peek(p, s) == '#')
        s = take_exemplar(p, s + 1, item);
    if (s && peek(p, s) != '\n')
        return fail(p, s, "text after the end of the sample");
    return s;
}

static inline const char *take_braces(struct pt_promtext *p, const char *s,
                                      struct pt_promtext_item *item) {
    const char *start = s + 1;
    s = take_labels(p, start, item, &item->label_count);
    if (!s)
        return NULL;
    item->label_text = (struct pt_str){ start, (size_t)(s - 1 - start) };
    if (item->name.len == 0)
        return fail(p, start, "no name of the metric");
    if (p->is_openmetrics && peek(p, s) != ' ')
        return fail(p, s, "no blank before the value");
    return s + p->is_openmetrics;
}

static inline const char *take_sample(struct pt_promtext *p, const char *s,
                                      struct pt_promtext_item *item) {
    item->kind = PT_PROMTEXT_SAMPLE;
    item->name = item->label_text = PT_STR("");
    item->name_is_escaped = item->is_same_name = false;
    item->has_timestamp = item->has_exemplar = item->has_exemplar_timestamp = false;
    item->label_count = item->exemplar_label_count = 0;
    if (*s != '{') {
        s = take_sample_name(p, s, item);
        if (!s)
            return NULL;
    } else {
        p->previous_name = PT_STR("");
    }
    const char *name_end = s;
    s = skip_gap(p, s);
    if (peek(p, s) == '{')
        s = take_braces(p, s, item);
    else if (!is_blank(peek(p, name_end)) || (p->is_openmetrics && *name_end != ' '))
        return fail(p, s, peek(p, s) == '\n' ? "no value" : "a character that no name has");
    else
        s = name_end + 1;
    if (!s)
        return NULL;
    s = take_number(p, skip_gap(p, s), &item->value);
    if (!s || peek(p, s) == '\n')
        return s;
    return take_tail(p, s, item);
}

static enum pt_promtext_type type_of(struct pt_str word) {
    for (size_t i = 0; i < PT_COUNT(types); i++)
        if (pt_str_eq(types[i].word, word))
            return types[i].type;
    return PT_PROMTEXT_OTHER_TYPE;
}

/* Escapes of HELP are \\ and \n; OpenMetrics has \" too and lets others stand. */
static bool has_bad_escape(const struct pt_promtext *p, struct pt_str text) {
    if (p->is_openmetrics)
        return false;
    const char *end = text.at + text.len, *s = text.at;
    while (s < end && (s = memchr(s, '\\', (size_t)(end - s)))) {
        if (s + 1 == end || (s[1] != '\\' && s[1] != 'n'))
            return true;
        s += 2;
    }
    return false;
}

static const char *take_metadata_name(struct pt_promtext *p, const char *s,
                                      struct pt_promtext_item *item) {
    item->name_is_escaped = item->is_same_name = false;
    if (peek(p, s) == '"')
        return take_quoted(p, s + 1, &item->name, &item->name_is_escaped);
    return take_plain_name(p, s, &item->name);
}

/* The name and the text of HELP, TYPE or UNIT. */
static const char *take_metadata(struct pt_promtext *p, const char *s,
                                 struct pt_promtext_item *item) {
    s = take_metadata_name(p, s, item);
    if (!s)
        return NULL;
    char c = peek(p, s);
    if (c != ' ' && (p->is_openmetrics || (c != '\t' && c != '\n')))
        return fail(p, s, "no blank after the name");
    s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    const char *end = line_end(p, s), *last = end;
    if (item->kind != PT_PROMTEXT_HELP && !p->is_openmetrics)
        while (last > s && is_blank(last[-1]))
            last--;
    item->text = (struct pt_str){ s, (size_t)(last - s) };
    if (item->kind == PT_PROMTEXT_TYPE)
        item->type = type_of(item->text);
    if (has_bad_escape(p, item->text))
        return fail(p, s, "an escape that is none of \\\\ \\n");
    if (!is_ascii(item->text) && !is_utf8(item->text))
        return fail(p, s, "text that is not UTF-8");
    return end;
}

static bool keyword_of(struct pt_str word, bool is_openmetrics, enum pt_promtext_kind *kind) {
    if (pt_str_eq(word, PT_STR("HELP")))
        *kind = PT_PROMTEXT_HELP;
    else if (pt_str_eq(word, PT_STR("TYPE")))
        *kind = PT_PROMTEXT_TYPE;
    else if (is_openmetrics && pt_str_eq(word, PT_STR("UNIT")))
        *kind = PT_PROMTEXT_UNIT;
    else
        return false;
    return true;
}

/* A comment of 0.0.4: anything, unless its first word is HELP or TYPE. */
static const char *take_comment(struct pt_promtext *p, const char *s, struct pt_promtext_item *item,
                                bool *is_item) {
    s = skip_blanks(p, s);
    const char *end = word_end(p, s);
    struct pt_str word = { s, (size_t)(end - s) };
    const char *name = skip_blanks(p, end);
    if (!keyword_of(word, false, &item->kind) || peek(p, name) == '\n')
        return line_end(p, s);
    s = take_metadata(p, name, item);
    *is_item = s && item->text.len > 0;
    return s;
}

/* "# EOF" ends the text: nothing but a newline may follow. */
static const char *take_eof(struct pt_promtext *p, const char *s) {
    if (s < p->end && *s != '\n')
        return fail(p, s, "text after # EOF");
    if (p->end - s > 1)
        return fail(p, s + 1, "text after # EOF");
    p->has_ended = true;
    return s;
}

static const char *take_strict_comment(struct pt_promtext *p, const char *s,
                                       struct pt_promtext_item *item, bool *is_item) {
    if (peek(p, s) != ' ')
        return fail(p, s, "a comment that is none of HELP TYPE UNIT EOF");
    const char *word = s + 1;
    if (pt_str_starts((struct pt_str){ word, (size_t)(p->end - word) }, PT_STR("EOF")))
        return take_eof(p, word + 3);
    const char *end = word_end(p, word);
    if (!keyword_of((struct pt_str){ word, (size_t)(end - word) }, true, &item->kind))
        return fail(p, word, "a comment that is none of HELP TYPE UNIT EOF");
    if (peek(p, end) != ' ')
        return fail(p, end, "no name");
    *is_item = true;
    return take_metadata(p, end + 1, item);
}

/* One line; `is_item` stays false if it says nothing. */
static inline const char *take_line(struct pt_promtext *p, struct pt_promtext_item *item,
                                    bool *is_item) {
    const char *s = skip_gap(p, p->at);
    char c = peek(p, s);
    if (c == '#')
        return p->is_openmetrics ? take_strict_comment(p, s + 1, item, is_item)
                                 : take_comment(p, s + 1, item, is_item);
    if (c == '\n')
        return p->is_openmetrics ? fail(p, s, "a blank line") : s;
    if (PT_UNLIKELY(++p->sample_count > p->limits.sample_count))
        return fail_with(p, s, -E2BIG, "more series than the limit");
    *is_item = true;
    return take_sample(p, s, item);
}

int pt_promtext_next(struct pt_promtext *p, struct pt_promtext_item *item) {
    if (p->error)
        return p->error;
    while (p->at < p->end) {
        bool is_item = false;
        p->line++;
        p->line_start = p->at;
        const char *end = take_line(p, item, &is_item);
        if (!end)
            return p->error;
        if (PT_UNLIKELY((size_t)(end - p->line_start) > p->limits.line_bytes)) {
            fail_with(p, p->line_start, -E2BIG, "a line longer than the limit");
            return p->error;
        }
        p->at = end < p->end ? end + 1 : end;
        if (is_item)
            return 1;
    }
    if (p->is_openmetrics && !p->has_ended) {
        p->line++;
        fail(p, p->line_start = p->end, "no # EOF at the end");
        return p->error;
    }
    return 0;
}

void pt_promtext_init(struct pt_promtext *p, struct pt_str body, bool is_openmetrics,
                      const struct pt_promtext_limits *limits) {
    struct pt_promtext_limits given = limits ? *limits : (struct pt_promtext_limits){ 0 };
    *p = (struct pt_promtext){
        .at = body.len ? body.at : "",
        .is_openmetrics = is_openmetrics,
        .limits = { .line_bytes = given.line_bytes ? given.line_bytes : PT_PROMTEXT_LINE_BYTES,
                    .label_bytes = given.label_bytes ? given.label_bytes : PT_PROMTEXT_LABEL_BYTES,
                    .sample_count =
                        given.sample_count ? given.sample_count : PT_PROMTEXT_SAMPLE_COUNT },
    };
    p->end = p->at + body.len;
    p->line_start = p->at;
    p->previous_name = PT_STR("");
}

bool pt_promtext_is_openmetrics(struct pt_str content_type, struct pt_str body) {
    if (pt_str_starts(content_type, PT_STR("application/openmetrics-text")))
        return true;
    if (pt_str_ends(body, PT_STR("\n")))
        body.len--;
    return pt_str_ends(body, PT_STR("\n# EOF")) || pt_str_eq(body, PT_STR("# EOF"));
}

int pt_promtext_explain(const struct pt_promtext *p, struct pt_err *err) {
    return pt_fail(err, p->error, "line %u, column %u: %s", p->error_line, p->error_column,
                   p->reason);
}

struct pt_str pt_promtext_unescape(struct pt_str raw, char *into) {
    size_t n = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.at[i], next = i + 1 < raw.len ? raw.at[i + 1] : 0;
        bool is_escape = c == '\\' && (next == '\\' || next == '"' || next == 'n');
        i += is_escape;
        into[n++] = !is_escape ? c : next == 'n' ? '\n' : next;
    }
    return (struct pt_str){ into, n };
}
