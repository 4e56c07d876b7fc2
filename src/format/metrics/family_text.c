/* format/metrics/family_text.c -- a family in the Prometheus text formats.
 *
 *     # HELP requests_total Total requests
 *     # TYPE requests_total counter
 *     requests_total{model="a"} 12
 *
 * This is 0.0.4. In OpenMetrics the family is called `requests`, the sample has the same name. Both
 * add _total to a counter named without it, so that its series has one name. */
#include "format/metrics/family_writers.h"

#include "base/digits.h"
#include "base/utf8.h"

#include <errno.h>

#define NUMBER_MAX (PT_DIGITS_MAX + 1) /* and a newline */

/* The part before the first of the characters. */
static struct pt_str plain_part(struct pt_str text, const char *characters) {
    for (const char *c = characters; *c; c++) {
        const char *found = memchr(text.at, *c, text.len);
        if (found)
            text.len = (size_t)(found - text.at);
    }
    return text;
}

static void put_escaped(struct pt_out *out, struct pt_str text, bool escapes_quotes) {
    for (;;) {
        struct pt_str plain = plain_part(text, escapes_quotes ? "\\\n\"" : "\\\n");
        pt_out_str(out, plain);
        text = pt_str_skip(text, plain.len);
        if (text.len == 0)
            return;
        pt_out_char(out, '\\');
        pt_out_char(out, *text.at == '\n' ? 'n' : *text.at);
        text = pt_str_skip(text, 1);
    }
}

/* Help that is not UTF-8 is cut before the first invalid byte. */
static void put_help(struct pt_out *out, const struct pt_family *family, struct pt_str suffix,
                     bool is_openmetrics) {
    struct pt_str help = { family->help.at, pt_utf8_valid_length(family->help) };
    if (help.len == 0)
        return;
    pt_out_str(out, PT_STR("# HELP "));
    pt_out_str(out, family->name);
    pt_out_str(out, suffix);
    pt_out_char(out, ' ');
    put_escaped(out, help, is_openmetrics);
    pt_out_char(out, '\n');
}

static void put_type(struct pt_out *out, const struct pt_family *family, struct pt_str suffix) {
    static const char *const types[] = {
        [PT_FAMILY_COUNTER] = " counter\n",
        [PT_FAMILY_GAUGE] = " gauge\n",
        [PT_FAMILY_HISTOGRAM] = " histogram\n",
    };
    pt_out_str(out, PT_STR("# TYPE "));
    pt_out_str(out, family->name);
    pt_out_str(out, suffix);
    pt_out_text(out, types[family->kind]);
}

/* OpenMetrics requires full unit names, and only as the suffix of the metric name. */
static void put_unit(struct pt_out *out, const struct pt_family *family) {
    static const struct {
        const char *symbol, *word;
    } units[] = {
        { "s", "seconds" }, { "By", "bytes" }, { "Cel", "celsius" }, { "J", "joules" },
        { "W", "watts" },   { "Hz", "hertz" }, { "V", "volts" },     { "1", "ratio" },
    };
    struct pt_str unit = family->unit;
    for (size_t i = 0; i < PT_COUNT(units); i++)
        if (pt_str_eq(unit, pt_str_from(units[i].symbol)))
            unit = pt_str_from(units[i].word);
    struct pt_str name = family->name;
    if (unit.len == 0 || name.len <= unit.len || !pt_str_ends(name, unit) ||
        name.at[name.len - unit.len - 1] != '_')
        return;
    pt_out_str(out, PT_STR("# UNIT "));
    pt_out_str(out, name);
    pt_out_char(out, ' ');
    pt_out_str(out, unit);
    pt_out_char(out, '\n');
}

static size_t write_f64(char *into, double value) {
    if (PT_UNLIKELY(!isfinite(value))) {
        const char *word = isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
        memcpy(into, word, strlen(word));
        return strlen(word);
    }
    return pt_digits_f64(into, value);
}

static void put_number(struct pt_out *out, const struct pt_series *series) {
    char *at = pt_out_reserve(out, NUMBER_MAX);
    size_t length =
        series->is_integer ? pt_digits_u64(at, series->integer) : write_f64(at, series->value);
    at[length] = '\n';
    out->used += length + 1;
}

#define NAME_MAX_LENGTH 512

static bool is_too_long(struct pt_out *out, size_t length, size_t limit) {
    if (length <= limit)
        return false;
    out->error = out->error ? out->error : -EMSGSIZE;
    return true;
}

/* All lines of a family begin with: name_suffix{ */
struct start {
    size_t length;
    char text[NAME_MAX_LENGTH + 2];
};

static void make_start(struct start *start, struct pt_out *out, struct pt_str name,
                       struct pt_str suffix) {
    start->length = 0;
    if (is_too_long(out, name.len + suffix.len, NAME_MAX_LENGTH))
        return;
    char *at = mempcpy(start->text, name.at, name.len);
    at = mempcpy(at, suffix.at, suffix.len);
    *at++ = '{';
    start->length = (size_t)(at - start->text);
}

/* name_suffix{labels} and a blank */
static void put_start(struct pt_out *out, const struct start *start, struct pt_str labels) {
    size_t length = start->length + labels.len + sizeof "} ";
    if (is_too_long(out, length, PT_OUT_BUFFER))
        return;
    char *line = pt_out_reserve(out, length), *at = line;
    at = mempcpy(at, start->text, start->length);
    if (labels.len > 0) {
        at = mempcpy(at, labels.at, labels.len);
        *at++ = '}';
    } else {
        at -= start->length > 0; /* the brace */
    }
    *at++ = ' ';
    out->used += (size_t)(at - line);
}

/* name_bucket{labels,le=" */
static size_t write_bucket_start(char *into, struct pt_str name, struct pt_str labels) {
    char *at = mempcpy(into, name.at, name.len);
    at = mempcpy(at, "_bucket{", 8);
    if (labels.len > 0) {
        at = mempcpy(at, labels.at, labels.len);
        *at++ = ',';
    }
    at = mempcpy(at, "le=\"", 4);
    return (size_t)(at - into);
}

static void put_bucket(struct pt_out *out, struct pt_str start, const char *end, size_t end_length,
                       uint64_t count) {
    char *line = pt_out_reserve(out, start.len + end_length + NUMBER_MAX), *at = line;
    at = mempcpy(at, start.at, start.len);
    at = mempcpy(at, end, end_length);
    at += pt_digits_u64(at, count);
    *at++ = '\n';
    out->used += (size_t)(at - line);
}

#define BUCKET_START_MAX 1024

static void put_buckets(struct pt_out *out, struct pt_str name, struct pt_str labels,
                        const struct pt_distribution *d) {
    char text[BUCKET_START_MAX];
    if (is_too_long(out, name.len + labels.len + sizeof "_bucket{,le=\"", sizeof text))
        return;
    struct pt_str start = { text, write_bucket_start(text, name, labels) };
    uint64_t at_or_below[PT_BOUNDS_MAX];
    pt_bounds_count(d->bounds, d->buckets, d->used, at_or_below);
    for (size_t i = 0; i < d->bounds->count; i++)
        put_bucket(out, start, d->bounds->ends[i].text, d->bounds->ends[i].length, at_or_below[i]);
    struct pt_str infinity = PT_STR("+Inf\"} ");
    put_bucket(out, start, infinity.at, infinity.len, d->count);
}

static void put_total(struct pt_out *out, struct pt_str name, struct pt_str suffix,
                      struct pt_str labels, const struct pt_series *value) {
    struct start start;
    make_start(&start, out, name, suffix);
    put_start(out, &start, labels);
    put_number(out, value);
}

static struct pt_str suffix_of(const struct pt_family *family) {
    return family->kind == PT_FAMILY_COUNTER ? PT_STR("_total") : PT_STR("");
}

static void put_head(struct pt_out *out, const struct pt_family *family, bool is_openmetrics) {
    struct pt_str suffix = is_openmetrics ? PT_STR("") : suffix_of(family);
    put_help(out, family, suffix, is_openmetrics);
    put_type(out, family, suffix);
    if (is_openmetrics)
        put_unit(out, family);
}

static void put_kept_head(struct pt_out *out, const struct pt_family *family, bool is_openmetrics) {
    struct pt_family_heads *heads = family->heads;
    struct pt_buf *head = is_openmetrics ? &heads->openmetrics : &heads->prometheus;
    if (head->len > 0) {
        pt_out_str(out, pt_buf_as_str(head));
        return;
    }
    uint64_t written = out->written;
    size_t start = out->used;
    put_head(out, family, is_openmetrics);
    size_t length = out->used - start;
    /* Otherwise it is incomplete, or there is no memory, and it is kept another time. */
    if (out->written == written && pt_try_grow(&head->at, &head->capacity, length, 1)) {
        memcpy(head->at, out->buffer + start, length);
        head->len = length;
    }
}

void pt_family_text(struct pt_out *out, const struct pt_family *family, bool is_openmetrics) {
    if (family->heads)
        put_kept_head(out, family, is_openmetrics);
    else
        put_head(out, family, is_openmetrics);
    if (family->kind != PT_FAMILY_HISTOGRAM) {
        struct start start;
        make_start(&start, out, family->name, suffix_of(family));
        for (size_t i = 0; i < family->series_count; i++) {
            put_start(out, &start, family->series[i].labels);
            put_number(out, &family->series[i]);
        }
        return;
    }
    for (size_t i = 0; i < family->series_count; i++) {
        const struct pt_series *series = &family->series[i];
        const struct pt_distribution *d = series->distribution;
        const struct pt_series sum = { .value = d->sum };
        const struct pt_series count = { .integer = d->count, .is_integer = true };
        put_buckets(out, family->name, series->labels, d);
        put_total(out, family->name, PT_STR("_sum"), series->labels, &sum);
        put_total(out, family->name, PT_STR("_count"), series->labels, &count);
    }
}
