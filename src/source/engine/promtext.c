/* Functions named take_* get a position in the text and return the position after what they read,
 * or NULL after a failure. Positions stay inside the body; bytes after its end read as newlines. */
#include "source/engine/promtext.h"

#include "base/utf8.h"
#include "source/engine/decimal.h"
#include "source/engine/promtext_words.h"

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
    const char *word;
    enum pt_promtext_type type;
} types[] = {
    { "counter", PT_PROMTEXT_COUNTER },
    { "gauge", PT_PROMTEXT_GAUGE },
    { "histogram", PT_PROMTEXT_HISTOGRAM },
    { "summary", PT_PROMTEXT_SUMMARY },
    { "untyped", PT_PROMTEXT_UNTYPED },
    { "unknown", PT_PROMTEXT_UNKNOWN },
    { "info", PT_PROMTEXT_INFO },
    { "stateset", PT_PROMTEXT_STATESET },
    { "gaugehistogram", PT_PROMTEXT_GAUGEHISTOGRAM },
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
        reason = "a carriage return: lines must end with a newline only";
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

/* Between the parts of a label list: blanks, but not in OpenMetrics. */
static inline const char *skip_gap(const struct pt_promtext *p, const char *s) {
    return p->is_openmetrics ? s : skip_blanks(p, s);
}

static inline const char *line_end(const struct pt_promtext *p, const char *s) {
    const char *newline = memchr(s, '\n', (size_t)(p->end - s));
    return newline ? newline : p->end;
}

static bool is_utf8(struct pt_str text) {
    uint64_t seen = 0;
    for (size_t i = 0; i < text.len; i += 8)
        seen |= load(text.at + i, text.at + text.len);
    return !has_high_bit(seen) || pt_utf8_valid_length(text) == text.len;
}

/* Names and labels. */

/* The text between quotes; `s` is after the opening quote. */
static const char *take_quoted(struct pt_promtext *p, const char *s, size_t *len,
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
            return fail(p, s, "an invalid escape (valid: \\\\ \\\" \\n)");
        *is_escaped = true;
        s += 2;
    }
    struct pt_str text = { start, (size_t)(s - start) };
    if (PT_UNLIKELY(has_high_bit(seen)) && !is_utf8(text))
        return fail(p, start, "text that is not UTF-8");
    if (PT_UNLIKELY(text.len > p->limits.label_bytes))
        return fail_with(p, start, -E2BIG, "a label longer than the limit");
    *len = text.len;
    return s + 1;
}

/* Families are contiguous: the name usually is, or starts as, that of the previous line. */
static inline const char *take_plain_name(struct pt_promtext *p, const char *s) {
    struct pt_promtext_item *item = &p->item;
    struct pt_str known = p->known_name;
    bool may_be_known = known.len > 0 && (size_t)(p->end - s) > known.len;
    if (may_be_known && is_equal(s, known.at, known.len) &&
        !(class_of(p, s + known.len) & NAME_REST)) {
        item->name = known;
        return s + known.len;
    }
    if (!(class_of(p, s) & NAME_FIRST))
        return fail(p, s, "a name must start with a letter, _ or :");
    const char *end = s + common_length(s, p->end, known.at, known.len);
    unsigned count;
    do {
        count = name_bytes(load(end, p->end));
        end += count;
    } while (count == 8);
    item->is_same_name = false;
    item->name = (struct pt_str){ s, (size_t)(end - s) };
    p->known_name = (struct pt_str){ s, (size_t)(end - s) };
    return end;
}

static inline const char *take_label_name(struct pt_promtext *p, const char *s, const char *text,
                                          struct pt_promtext_label *label) {
    bool is_quoted = peek(p, s) == '"';
    const char *start = s + is_quoted;
    size_t len;
    label->name_is_escaped = false;
    if (PT_UNLIKELY(is_quoted)) {
        s = take_quoted(p, start, &len, &label->name_is_escaped);
        if (!s)
            return NULL;
    } else {
        if (!(class_of(p, s) & LABEL_FIRST))
            return fail(p, s, "a label must start with a letter or _");
        do
            s++;
        while (class_of(p, s) & LABEL_REST);
        len = (size_t)(s - start);
    }
    label->name_at = (uint32_t)(start - text);
    label->name_len = (uint32_t)len;
    return s;
}

/* A quoted first item without a value is the name of the metric. */
static const char *take_inner_name(struct pt_promtext *p, const char *s, int index) {
    const struct pt_promtext_label *label = &p->item.list->labels[index];
    const char *name = p->item.list->text + label->name_at;
    if (name[-1] != '"' || index > 0)
        return fail(p, s, "no = after a label");
    if (p->item.name.len > 0)
        return fail(p, s, "a second metric name");
    if (label->name_len == 0)
        return fail(p, s, "an empty name");
    p->item.name = (struct pt_str){ name, label->name_len };
    p->item.name_is_escaped = label->name_is_escaped;
    return s;
}

static inline bool has_duplicate(const struct pt_promtext_list *list, int first, int last) {
    const struct pt_promtext_label *labels = list->labels;
    for (int i = first; i < last; i++)
        if (PT_UNLIKELY(labels[i].name_len == labels[last].name_len) &&
            memcmp(list->text + labels[i].name_at, list->text + labels[last].name_at,
                   labels[i].name_len) == 0)
            return true;
    return false;
}

/* name="value" into element `*index`; `first` is where this list of labels starts. */
static inline const char *take_label(struct pt_promtext *p, const char *s, int first, int *index) {
    struct pt_promtext_list *list = p->item.list;
    if (PT_UNLIKELY(*index >= PT_PROMTEXT_LABELS))
        return fail_with(p, s, -E2BIG, "more labels than the limit");
    struct pt_promtext_label *label = &list->labels[*index];
    const char *name_end = take_label_name(p, s, list->text, label);
    if (!name_end)
        return NULL;
    const char *value = skip_gap(p, name_end);
    if (PT_UNLIKELY(peek(p, value) != '='))
        return take_inner_name(p, name_end, *index);
    value = skip_gap(p, value + 1);
    if (peek(p, value) != '"')
        return fail(p, value, "no quote before a label value");
    size_t len;
    const char *end = take_quoted(p, value + 1, &len, &label->value_is_escaped);
    if (!end)
        return NULL;
    label->value_at = (uint32_t)(value + 1 - list->text);
    label->value_len = (uint32_t)len;
    if (PT_UNLIKELY(has_duplicate(list, first, *index)))
        return fail(p, s, "a duplicate label");
    ++*index;
    return end;
}

/* Labels up to the closing brace, into elements from `first` on; `s` is after the opening brace. */
static const char *take_labels(struct pt_promtext *p, const char *s, int first, uint8_t *count) {
    int index = first;
    s = skip_gap(p, s);
    bool is_open = peek(p, s) != '}';
    while (is_open) {
        s = take_label(p, s, first, &index);
        if (!s)
            return NULL;
        s = skip_gap(p, s);
        char c = peek(p, s);
        if (c == '}')
            break;
        if (c != ',')
            return fail(p, s, "no comma or closing brace after a label");
        s = skip_gap(p, s + 1);
        is_open = p->is_openmetrics || peek(p, s) != '}';
    }
    *count = (uint8_t)(index - first);
    return s + 1;
}

/* Numbers. */

static const char *word_end(const struct pt_promtext *p, const char *s) {
    while (!is_blank(peek(p, s)) && peek(p, s) != '\n')
        s++;
    return s;
}

static inline bool ends_word(const struct pt_promtext *p, const char *s) {
    char c = peek(p, s);
    return c == '\n' || c == ' ' || (c == '\t' && !p->is_openmetrics);
}

/* NaN, +Inf, and hexadecimal numbers where Go's rules apply. */
static const char *take_odd_number(struct pt_promtext *p, const char *s, double *value) {
    const char *end = word_end(p, s);
    struct pt_str word = { s, (size_t)(end - s) };
    bool is_number =
        p->is_openmetrics ? pt_decimal_parse(word, value) : pt_decimal_parse_go(word, value);
    if (is_number && ends_word(p, end))
        return end;
    const char *carriage_return = memchr(s, '\r', word.len);
    if (carriage_return)
        return fail(p, carriage_return, "");
    return fail(p, s, word.len ? "not a number" : "no value");
}

static const char *take_number(struct pt_promtext *p, const char *s, double *value) {
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
        return fail(p, s, "a timestamp that is not a whole number");
    uint64_t ms = 0;
    for (; digit < end; digit++) {
        if (*digit < '0' || *digit > '9')
            return fail(p, digit, "a timestamp that is not a whole number");
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

/* Samples. */

/* "{trace_id="x"} 0.5 1.6e9" after " # ". */
static const char *take_exemplar(struct pt_promtext *p, const char *s) {
    struct pt_promtext_item *item = &p->item;
    if (peek(p, s) != ' ' || peek(p, s + 1) != '{')
        return fail(p, s, "no labels in an exemplar");
    if (item->label_count == 0) { /* the list is that of a previous line */
        item->list->text = s;
        item->list->count = 0;
    }
    s = take_labels(p, s + 2, item->label_count, &item->exemplar_label_count);
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
static const char *take_tail(struct pt_promtext *p, const char *s) {
    s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    if (!p->is_openmetrics && peek(p, s) == '\n')
        return s;
    if (peek(p, s) != '#' || !p->is_openmetrics) {
        p->item.has_timestamp = true;
        s = take_timestamp(p, s, &p->item.timestamp_s);
        if (!s || peek(p, s) == '\n')
            return s;
        s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    }
    if (p->is_openmetrics && peek(p, s) == '#')
        s = take_exemplar(p, s + 1);
    if (s && peek(p, s) != '\n')
        return fail(p, s, "text after the end of the sample");
    return s;
}

/* Most lists of labels differ from a previous one in one value only, such as those of the buckets
 * of a histogram. Then the rest is only compared, not parsed again. */

#define MARGIN 32 /* readable bytes needed after a list: a value gets longer, a number follows */

/* Finds that label; false if other parts differ. */
static bool find_varying(const struct pt_promtext *p, const char *s,
                         struct pt_promtext_list *list) {
    size_t common = common_length(s, p->end, list->text, list->len);
    for (int i = 0; i < list->count; i++) {
        const struct pt_promtext_label *label = &list->labels[i];
        if (common > label->value_at + label->value_len)
            continue;
        list->varying_label = (uint8_t)i;
        return common >= label->value_at;
    }
    return false;
}

/* The known list with another value of its varying label, a short one without escapes; the
 * `before_len` bytes before it must be the same too. Otherwise NULL, and nothing is changed. The
 * caller makes sure that a word after the list can be read. */
static inline __attribute__((always_inline)) const char *
take_varied(struct pt_promtext *p, const char *s, size_t before_len,
            struct pt_promtext_list *list) {
    struct pt_promtext_label *label = &list->labels[list->varying_label];
    uint32_t value_at = label->value_at, value_len = label->value_len;
    if (!is_equal(s - before_len, list->text - before_len, before_len + value_at))
        return NULL;
    const char *value = s + value_at;
    uint64_t word;
    memcpy(&word, value, sizeof word);
    uint64_t stop = special_bytes(word);
    uint32_t len = stop ? (uint32_t)__builtin_ctzll(stop) >> 3 : 8;
    uint32_t rest_at = value_at + value_len, rest_len = list->len - rest_at;
    if (!is_equal(value + len, list->text + rest_at, rest_len) || has_high_bit(word) ||
        len > p->limits.label_bytes)
        return NULL;
    uint32_t shift = len - value_len;
    list->text = s;
    list->len += shift;
    label->value_len = len;
    label->value_is_escaped = false;
    for (int i = list->varying_label + 1; i < list->count; i++) {
        list->labels[i].name_at += shift;
        list->labels[i].value_at += shift;
    }
    return value + len + rest_len;
}

/* Tries both lists, then, within a family, both with another label. */
static inline const char *take_similar(struct pt_promtext *p, const char *s) {
    for (int i = 0, n = p->item.is_same_name ? 4 : 2; i < n; i++) {
        uint8_t which = (p->list + i) & 1;
        struct pt_promtext_list *list = &p->lists[which];
        if (list->count == 0 || (size_t)(p->end - s) < list->len + MARGIN ||
            (i >= 2 && !find_varying(p, s, list)))
            continue;
        const char *end = take_varied(p, s, 0, list);
        if (end) {
            p->list = which;
            return end;
        }
    }
    return NULL;
}

/* A new list replaces the older one. */
static const char *take_new_list(struct pt_promtext *p, const char *s) {
    p->list ^= 1;
    struct pt_promtext_list *list = p->item.list = &p->lists[p->list];
    list->text = s;
    list->count = 0;
    bool has_name = p->item.name.len > 0;
    const char *end = take_labels(p, s, 0, &p->item.label_count);
    if (!end)
        return NULL;
    list->len = (uint32_t)(end - s);
    int le = pt_promtext_find_label(&p->item, PT_STR("le"));
    list->varying_label = le < 0 ? 0 : (uint8_t)le;
    list->count = has_name ? p->item.label_count : 0;
    return end;
}

/* The text in braces; `s` is after the opening brace. */
static const char *take_braces(struct pt_promtext *p, const char *s) {
    struct pt_promtext_item *item = &p->item;
    bool has_name = item->name.len > 0;
    const char *end = has_name ? take_similar(p, s) : NULL;
    if (end) {
        item->list = &p->lists[p->list];
        item->label_count = item->list->count;
    } else {
        end = take_new_list(p, s);
        if (!end)
            return NULL;
    }
    item->list->before_len = (uint32_t)(s - p->line_start);
    item->label_text = (struct pt_str){ s, (size_t)(end - 1 - s) };
    p->is_list_known = item->list->count > 0;
    if (item->name.len == 0)
        return fail(p, s, "no metric name");
    return end;
}

/* The name and the labels. */
static const char *take_series(struct pt_promtext *p, const char *s) {
    p->item.label_text = PT_STR("");
    p->item.label_count = 0;
    p->item.name = PT_STR("");
    p->is_list_known = false;
    if (*s == '{') {
        p->item.is_same_name = false;
        p->known_name = PT_STR("");
        return take_braces(p, s + 1);
    }
    const char *end = take_plain_name(p, s);
    if (!end)
        return NULL;
    const char *brace = skip_gap(p, end);
    if (peek(p, brace) == '{')
        return take_braces(p, brace + 1);
    char c = peek(p, end);
    if (c == ' ' || (c == '\t' && !p->is_openmetrics))
        return end;
    return fail(p, end, c == '\n' ? "no value" : "a character not allowed in a name");
}

static const char *take_sample(struct pt_promtext *p, const char *s) {
    struct pt_promtext_item *item = &p->item;
    item->is_same_name = item->kind == PT_PROMTEXT_SAMPLE;
    item->kind = PT_PROMTEXT_SAMPLE;
    item->name_is_escaped = false;
    item->has_timestamp = item->has_exemplar = item->has_exemplar_timestamp = false;
    item->exemplar_label_count = 0;
    const char *end = take_series(p, s);
    if (!end)
        return NULL;
    if (!p->is_openmetrics)
        end = skip_blanks(p, end);
    else if (peek(p, end++) != ' ')
        return fail(p, end - 1, "no blank before the value");
    end = take_number(p, end, &item->value);
    if (!end || peek(p, end) == '\n')
        return end;
    p->is_list_known = false;
    return take_tail(p, end);
}

/* A line like the previous one except for that value and the number. NULL if it is anything
 * else. */
static inline const char *take_similar_sample(struct pt_promtext *p) {
    struct pt_promtext_list *list = p->item.list;
    size_t before_len = list->before_len;
    if ((size_t)(p->end - p->at) < before_len + list->len + MARGIN ||
        p->sample_count >= p->limits.sample_count)
        return NULL;
    const char *s = p->at + before_len, *end = take_varied(p, s, before_len, list);
    if (!end || *end != ' ')
        return NULL;
    const char *number = end + 1;
    struct pt_str rest = { number, (size_t)(p->end - number) };
    size_t len = pt_decimal_scan(rest, &p->item.value);
    if (len == 0 || peek(p, number + len) != '\n')
        return NULL;
    p->item.is_same_name = true;
    p->item.label_text = (struct pt_str){ s, (size_t)(end - 1 - s) };
    p->sample_count++;
    return number + len;
}

/* Metadata. */

static enum pt_promtext_type type_of(struct pt_str word) {
    for (size_t i = 0; i < PT_COUNT(types); i++)
        if (pt_str_eq(pt_str_from(types[i].word), word))
            return types[i].type;
    return PT_PROMTEXT_OTHER_TYPE;
}

/* Escapes of HELP are \\ and \n; OpenMetrics adds \" and keeps others. */
static bool has_bad_escape(const struct pt_promtext *p, struct pt_str text) {
    if (p->is_openmetrics)
        return false;
    const char *end = pt_str_end(text), *s = text.at;
    while (s < end && (s = memchr(s, '\\', (size_t)(end - s)))) {
        if (s + 1 == end || (s[1] != '\\' && s[1] != 'n'))
            return true;
        s += 2;
    }
    return false;
}

/* The name and the text of HELP, TYPE or UNIT. */
static const char *take_metadata(struct pt_promtext *p, const char *s, enum pt_promtext_kind kind) {
    struct pt_promtext_item *item = &p->item;
    item->kind = kind;
    item->name_is_escaped = item->is_same_name = false;
    p->is_list_known = false;
    if (peek(p, s) == '"') {
        item->name.at = s + 1;
        s = take_quoted(p, s + 1, &item->name.len, &item->name_is_escaped);
    } else {
        s = take_plain_name(p, s);
    }
    if (!s)
        return NULL;
    char c = peek(p, s);
    if (c != ' ' && (p->is_openmetrics || (c != '\t' && c != '\n')))
        return fail(p, s, "no blank after the name");
    s = p->is_openmetrics ? s + 1 : skip_blanks(p, s);
    const char *end = line_end(p, s), *last = end;
    if (kind != PT_PROMTEXT_HELP && !p->is_openmetrics)
        while (last > s && is_blank(last[-1]))
            last--;
    item->text = (struct pt_str){ s, (size_t)(last - s) };
    if (kind == PT_PROMTEXT_TYPE)
        item->type = type_of(item->text);
    if (has_bad_escape(p, item->text))
        return fail(p, s, "an invalid escape (valid: \\\\ \\n)");
    if (!is_utf8(item->text))
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
static const char *take_comment(struct pt_promtext *p, const char *s, bool *is_item) {
    enum pt_promtext_kind kind;
    s = skip_blanks(p, s);
    const char *end = word_end(p, s), *name = skip_blanks(p, end);
    if (!keyword_of((struct pt_str){ s, (size_t)(end - s) }, false, &kind) || peek(p, name) == '\n')
        return line_end(p, s);
    s = take_metadata(p, name, kind);
    *is_item = s && p->item.text.len > 0;
    return s;
}

/* "# EOF" ends the text: only a newline may follow. */
static const char *take_eof(struct pt_promtext *p, const char *s) {
    if (peek(p, s) != '\n')
        return fail(p, s, "text after # EOF");
    if (p->end - s > 1)
        return fail(p, s + 1, "text after # EOF");
    p->has_ended = true;
    return s;
}

static const char *take_strict_comment(struct pt_promtext *p, const char *s, bool *is_item) {
    enum pt_promtext_kind kind;
    if (peek(p, s) != ' ')
        return fail(p, s, "a comment that is not one of: HELP, TYPE, UNIT, EOF");
    const char *word = s + 1;
    if (pt_str_starts((struct pt_str){ word, (size_t)(p->end - word) }, PT_STR("EOF")))
        return take_eof(p, word + 3);
    const char *end = word_end(p, word);
    if (!keyword_of((struct pt_str){ word, (size_t)(end - word) }, true, &kind))
        return fail(p, word, "a comment that is not one of: HELP, TYPE, UNIT, EOF");
    if (peek(p, end) != ' ')
        return fail(p, end, "no name");
    *is_item = true;
    return take_metadata(p, end + 1, kind);
}

/* One line; `is_item` stays false if the line has no item. */
static const char *take_line(struct pt_promtext *p, bool *is_item) {
    const char *s = skip_gap(p, p->at);
    char c = peek(p, s);
    if (c == '#')
        return p->is_openmetrics ? take_strict_comment(p, s + 1, is_item)
                                 : take_comment(p, s + 1, is_item);
    if (c == '\n')
        return p->is_openmetrics ? fail(p, s, "a blank line") : s;
    if (PT_UNLIKELY(++p->sample_count > p->limits.sample_count))
        return fail_with(p, s, -E2BIG, "more series than the limit");
    *is_item = true;
    return take_sample(p, s);
}

int pt_promtext_next(struct pt_promtext *p) {
    if (PT_UNLIKELY(p->error))
        return p->error;
    while (p->at < p->end) {
        bool is_item = p->is_list_known;
        p->line++;
        p->line_start = p->at;
        const char *end = is_item ? take_similar_sample(p) : NULL;
        if (!end) {
            is_item = false;
            end = take_line(p, &is_item);
        }
        if (PT_UNLIKELY(!end))
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

bool pt_promtext_skip_line(struct pt_promtext *p) {
    const char *end = line_end(p, p->line_start);
    if (p->error != -EINVAL || p->has_ended || end == p->end)
        return false;
    p->error = 0;
    p->at = end + 1;
    p->known_name = PT_STR("");
    p->is_list_known = false;
    p->lists[0].count = p->lists[1].count = 0;
    p->item.kind = PT_PROMTEXT_HELP; /* the next sample follows no other */
    return true;
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
        .known_name = PT_STR(""),
        .item = { .kind = PT_PROMTEXT_HELP, .list = &p->lists[0] },
    };
    p->end = p->at + body.len;
    p->line_start = p->at;
    if (body.len > UINT32_MAX) /* positions on a line have 32 bits */
        fail_with(p, p->at, -E2BIG, "a text of more than 4 GiB");
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
