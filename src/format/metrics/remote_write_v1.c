/* format/metrics/remote_write_v1.c -- converts a remote-write 2.0 request to 1.0.
 *
 * Samples and histograms are the same messages in both. Labels are texts instead of references,
 * metadata come once per metric after all series, and the start time of counters is dropped. */
#include "format/metrics/remote_write.h"

#include "base/proto_field.h"

#include <errno.h>

/* Field numbers of 2.0 and 1.0. */
enum { FROM_SYMBOL = 4, FROM_SERIES = 5 };
enum { FROM_LABEL_REFS = 1, FROM_SAMPLE = 2, FROM_HISTOGRAM = 3, FROM_METADATA = 5 };
enum { FROM_TYPE = 1, FROM_HELP = 3, FROM_UNIT = 4 };
enum { TO_SERIES = 1, TO_METADATA = 3 };
enum { TO_LABEL = 1, TO_SAMPLE = 2, TO_HISTOGRAM = 4 };
enum { TO_NAME = 1, TO_VALUE = 2 }; /* of a label */
enum { TO_TYPE = 1, TO_FAMILY = 2, TO_HELP = 4, TO_UNIT = 5 };

#define TYPE_HISTOGRAM 3

struct symbols {
    struct pt_str *at;
    size_t count, capacity;
};

/* A series; all of it borrowed from the request. */
struct series {
    const struct symbols *symbols;
    struct pt_str message;
    struct pt_str refs, metadata;
    bool *has_failed;
};

static struct pt_str text_of(const struct symbols *symbols, uint64_t number, bool *has_failed) {
    if (number < symbols->count)
        return symbols->at[number];
    *has_failed = true;
    return PT_STR("");
}

struct label {
    struct pt_str name, value;
};

static void put_label(struct pt_proto *p, const void *arg) {
    const struct label *label = arg;
    pt_proto_str(p, TO_NAME, label->name);
    pt_proto_str(p, TO_VALUE, label->value);
}

static bool next_label(const struct series *s, struct pt_bytes *refs, struct label *label) {
    if (refs->failed || refs->at >= refs->end)
        return false;
    uint64_t name = pt_bytes_varint(refs), value = pt_bytes_varint(refs);
    label->name = text_of(s->symbols, name, s->has_failed);
    label->value = text_of(s->symbols, value, s->has_failed);
    *s->has_failed |= refs->failed;
    return !refs->failed;
}

static void put_series(struct pt_proto *p, const void *arg) {
    const struct series *s = arg;
    struct pt_bytes refs = pt_bytes_of(s->refs), message = pt_bytes_of(s->message);
    struct label label;
    struct pt_proto_field f;
    while (next_label(s, &refs, &label))
        pt_proto_message(p, TO_LABEL, put_label, &label);
    while (pt_proto_next(&message, &f)) {
        if (f.number == FROM_SAMPLE)
            pt_proto_str(p, TO_SAMPLE, f.bytes);
        else if (f.number == FROM_HISTOGRAM)
            pt_proto_str(p, TO_HISTOGRAM, f.bytes);
    }
}

static struct series read_series(const struct symbols *symbols, struct pt_str bytes,
                                 bool *has_failed) {
    struct series s = { .symbols = symbols, .message = bytes, .has_failed = has_failed };
    struct pt_bytes message = pt_bytes_of(bytes);
    struct pt_proto_field f;
    while (pt_proto_next(&message, &f)) {
        if (f.number == FROM_LABEL_REFS)
            s.refs = f.bytes;
        else if (f.number == FROM_METADATA)
            s.metadata = f.bytes;
    }
    *has_failed |= message.failed;
    return s;
}

struct metadata {
    uint64_t type;
    struct pt_str family, help, unit;
};

static void put_metadata(struct pt_proto *p, const void *arg) {
    const struct metadata *m = arg;
    pt_proto_u64(p, TO_TYPE, m->type);
    pt_proto_str(p, TO_FAMILY, m->family);
    pt_proto_str(p, TO_HELP, m->help);
    pt_proto_str(p, TO_UNIT, m->unit);
}

static struct pt_str without(struct pt_str name, struct pt_str suffix) {
    return pt_str_ends(name, suffix) ? (struct pt_str){ name.at, name.len - suffix.len } : name;
}

/* Series of a classic histogram are named after their part of it. */
static struct pt_str family_of(struct pt_str name, uint64_t type) {
    if (type != TYPE_HISTOGRAM)
        return name;
    return without(without(without(name, PT_STR("_bucket")), PT_STR("_count")), PT_STR("_sum"));
}

static struct metadata read_metadata(const struct series *s) {
    struct metadata m = { .help = PT_STR(""), .unit = PT_STR("") };
    struct pt_bytes message = pt_bytes_of(s->metadata), refs = pt_bytes_of(s->refs);
    struct pt_proto_field f;
    struct label label;
    while (pt_proto_next(&message, &f)) {
        if (f.number == FROM_TYPE)
            m.type = f.value;
        else if (f.number == FROM_HELP)
            m.help = text_of(s->symbols, f.value, s->has_failed);
        else if (f.number == FROM_UNIT)
            m.unit = text_of(s->symbols, f.value, s->has_failed);
    }
    *s->has_failed |= message.failed;
    while (next_label(s, &refs, &label))
        if (pt_str_eq(label.name, PT_STR("__name__")))
            m.family = family_of(label.value, m.type);
    return m;
}

static bool read_symbols(struct pt_str request, struct symbols *symbols) {
    struct pt_bytes message = pt_bytes_of(request);
    struct pt_proto_field f;
    while (pt_proto_next(&message, &f)) {
        if (f.number != FROM_SYMBOL)
            continue;
        pt_grow(&symbols->at, &symbols->capacity, symbols->count + 1, sizeof *symbols->at);
        symbols->at[symbols->count++] = f.bytes;
    }
    return !message.failed;
}

static void put_all_metadata(struct pt_proto *p, struct pt_str request,
                             const struct symbols *symbols, bool *has_failed) {
    struct pt_bytes message = pt_bytes_of(request);
    struct pt_str last = PT_STR("");
    struct pt_proto_field f;
    while (pt_proto_next(&message, &f)) {
        if (f.number != FROM_SERIES)
            continue;
        struct series s = read_series(symbols, f.bytes, has_failed);
        struct metadata m = read_metadata(&s);
        if (m.family.len > 0 && !pt_str_eq(m.family, last))
            pt_proto_message(p, TO_METADATA, put_metadata, &m);
        last = m.family;
    }
}

int pt_rw_downgrade(struct pt_str request, bool has_metadata, struct pt_buf *into) {
    struct symbols symbols = { 0 };
    struct pt_out out;
    bool has_failed = !read_symbols(request, &symbols);
    pt_out_memory(&out, into);
    struct pt_proto p = { .out = &out };
    struct pt_bytes message = pt_bytes_of(request);
    struct pt_proto_field f;
    while (pt_proto_next(&message, &f)) {
        if (f.number != FROM_SERIES)
            continue;
        struct series s = read_series(&symbols, f.bytes, &has_failed);
        pt_proto_message(&p, TO_SERIES, put_series, &s);
    }
    if (has_metadata)
        put_all_metadata(&p, request, &symbols, &has_failed);
    (void)pt_out_close(&out); /* writing to memory cannot fail */
    pt_free(symbols.at);
    return has_failed ? -EBADMSG : 0;
}
