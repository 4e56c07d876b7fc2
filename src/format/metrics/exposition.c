#include "format/metrics/exposition.h"

#include "format/metrics/family_writers.h"

#include <strings.h>

void pt_exposition_begin(struct pt_exposition *e, struct pt_out *out,
                         enum pt_exposition_format format) {
    *e = (struct pt_exposition){ .out = out, .format = format, .json = { .out = out } };
    if (format != PT_JSON)
        return;
    pt_json_object(&e->json, NULL);
    pt_json_array(&e->json, "metrics");
}

void pt_exposition_family(struct pt_exposition *e, const struct pt_family *family) {
    switch (e->format) {
    case PT_PROMETHEUS:
    case PT_OPENMETRICS:
        pt_family_text(e->out, family, e->format == PT_OPENMETRICS);
        break;
    case PT_PROTOBUF:
        pt_family_proto(e->out, family);
        break;
    case PT_JSON:
        pt_family_json(&e->json, family);
        break;
    }
}

void pt_exposition_end(struct pt_exposition *e) {
    if (e->format == PT_OPENMETRICS)
        pt_out_text(e->out, "# EOF\n");
    if (e->format != PT_JSON)
        return;
    pt_json_end(&e->json);
    pt_json_end(&e->json);
    pt_out_char(e->out, '\n');
}

#define PROTOBUF_TYPE                                                            \
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; " \
    "encoding=delimited"

const char *pt_exposition_type(enum pt_exposition_format format) {
    static const char *const types[] = {
        [PT_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
        [PT_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
        [PT_PROTOBUF] = PROTOBUF_TYPE,
        [PT_JSON] = "application/json",
    };
    return (unsigned)format < PT_COUNT(types) ? types[format] : types[PT_PROMETHEUS];
}

/* A media range of an Accept header. Given parameters must match; parameters marked as needed must
 * be given. */
struct offer {
    const char *range;
    enum pt_exposition_format format;
    struct {
        const char *name, *value;
        bool is_needed;
    } parameters[2];
};

static const struct offer offers[] = {
    { "application/vnd.google.protobuf",
      PT_PROTOBUF,
      { { "proto", "io.prometheus.client.MetricFamily", true },
        { "encoding", "delimited", true } } },
    { "application/openmetrics-text", PT_OPENMETRICS, { { "version", "1.0.0", false } } },
    { "text/plain", PT_PROMETHEUS, { { "version", "0.0.4", false } } },
    { "application/json", PT_JSON, { { 0 } } },
    { "application/*", PT_OPENMETRICS, { { 0 } } },
    { "text/*", PT_PROMETHEUS, { { 0 } } },
    { "*/*", PT_PROMETHEUS, { { 0 } } },
};

static bool is_word(struct pt_str s, const char *word) {
    return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

static struct pt_str trim(struct pt_str s) {
    while (s.len > 0 && strchr(" \t\"", s.at[0]))
        s = pt_str_skip(s, 1);
    while (s.len > 0 && strchr(" \t\"", s.at[s.len - 1]))
        s.len--;
    return s;
}

/* Removes and returns the part before the next separator. */
static struct pt_str take_part(struct pt_str *s, char separator) {
    const char *end = s->len > 0 ? memchr(s->at, separator, s->len) : NULL;
    struct pt_str part = { s->at, end ? (size_t)(end - s->at) : s->len };
    *s = pt_str_skip(*s, part.len + 1);
    return trim(part);
}

/* "0.8" in thousandths; invalid values are 0, as if not accepted. */
static int parse_q(struct pt_str q) {
    int value = 0, scale = 1000;
    for (size_t i = 0; i < q.len && scale > 0; i++) {
        if (i == 1 && q.at[i] == '.')
            continue;
        if (q.at[i] < '0' || q.at[i] > '9')
            return 0;
        value += (q.at[i] - '0') * scale;
        scale /= 10;
    }
    return value < 1000 ? value : 1000;
}

/* The q of a range for an offer; 0: no match. */
static int q_of(const struct offer *offer, struct pt_str range) {
    if (!is_word(take_part(&range, ';'), offer->range))
        return 0;
    int q = 1000;
    bool is_given[PT_COUNT(offer->parameters)] = { false };
    while (range.len > 0) {
        struct pt_str value = take_part(&range, ';'), name = take_part(&value, '=');
        value = trim(value);
        if (is_word(name, "q"))
            q = parse_q(value);
        for (size_t i = 0; i < PT_COUNT(is_given); i++) {
            if (!offer->parameters[i].name || !is_word(name, offer->parameters[i].name))
                continue;
            if (!is_word(value, offer->parameters[i].value))
                return 0;
            is_given[i] = true;
        }
    }
    for (size_t i = 0; i < PT_COUNT(is_given); i++)
        if (offer->parameters[i].is_needed && !is_given[i])
            return 0;
    return q;
}

enum pt_exposition_format pt_exposition_negotiate(const char *accept) {
    enum pt_exposition_format best = PT_PROMETHEUS;
    int best_q = 0;
    struct pt_str rest = accept ? pt_str_from(accept) : PT_STR("");
    while (rest.len > 0) {
        struct pt_str range = take_part(&rest, ',');
        for (size_t i = 0; i < PT_COUNT(offers); i++) {
            int q = q_of(&offers[i], range);
            if (q > best_q) {
                best_q = q;
                best = offers[i].format;
            }
        }
    }
    return best;
}
