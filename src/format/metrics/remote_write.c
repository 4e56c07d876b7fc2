#include "format/metrics/remote_write.h"

#include "base/clock.h"
#include "base/proto_field.h"
#include "base/utf8.h"
#include "format/metrics/label.h"

#define STALE_BITS UINT64_C(0x7ff0000000000002) /* the NaN that means "the series ended" */

/* Field numbers of the public schema. */
enum { REQUEST_SYMBOLS = 4, REQUEST_SERIES = 5 };
enum {
    SERIES_LABEL_REFS = 1,
    SERIES_SAMPLE = 2,
    SERIES_HISTOGRAM = 3,
    SERIES_METADATA = 5,
    SERIES_CREATED = 6
};
enum { SAMPLE_VALUE = 1, SAMPLE_TIME = 2 };
enum { METADATA_TYPE = 1, METADATA_HELP = 3, METADATA_UNIT = 4 };
enum {
    HISTOGRAM_COUNT = 1,
    HISTOGRAM_SUM = 3,
    HISTOGRAM_SCHEMA = 4,
    HISTOGRAM_ZERO_THRESHOLD = 5,
    HISTOGRAM_ZERO_COUNT = 6,
    HISTOGRAM_POSITIVE_SPAN = 11,
    HISTOGRAM_POSITIVE_DELTA = 12,
    HISTOGRAM_TIME = 15
};

struct pt_rw_symbol {
    uint32_t offset, length;
};

struct pt_rw_refs {
    size_t first, count;
    uint32_t help, unit;
};

void pt_rw_writer_release(struct pt_rw_writer *w) {
    pt_intern_release(&w->index);
    pt_buf_release(&w->texts);
    pt_free(w->symbols);
    pt_free(w->refs);
    pt_free(w->series);
    *w = (struct pt_rw_writer){ 0 };
}

static struct pt_str symbol_text(const struct pt_rw_writer *w, size_t number) {
    struct pt_rw_symbol s = w->symbols[number];
    return s.length == 0 ? PT_STR("") : (struct pt_str){ (char *)w->texts.at + s.offset, s.length };
}

static bool is_symbol(const void *owner, uint32_t number, const void *key) {
    return pt_str_eq(symbol_text(owner, number), *(const struct pt_str *)key);
}

static uint32_t symbol(struct pt_rw_writer *w, struct pt_str text) {
    uint32_t next = (uint32_t)w->symbol_count;
    uint32_t number =
        pt_intern_find(&w->index, pt_intern_hash(text.at, text.len), is_symbol, w, &text, next);
    if (number < next)
        return number;
    pt_grow(&w->symbols, &w->symbol_capacity, w->symbol_count + 1, sizeof *w->symbols);
    w->symbols[w->symbol_count++] =
        (struct pt_rw_symbol){ (uint32_t)w->texts.len, (uint32_t)text.len };
    pt_buf_str(&w->texts, text);
    return number;
}

static void add_ref(struct pt_rw_writer *w, struct pt_str text) {
    pt_grow(&w->refs, &w->ref_capacity, w->ref_count + 1, sizeof *w->refs);
    w->refs[w->ref_count++] = symbol(w, text);
}

static void add_labels(struct pt_rw_writer *w, struct pt_str labels) {
    struct pt_str name, value;
    char text[PT_RW_LABEL_MAX];
    while (pt_labels_next(&labels, &name, &value)) {
        if (value.len > sizeof text)
            continue;
        add_ref(w, name);
        add_ref(w, pt_label_unescape(value, text));
    }
}

/* Symbol 0 is the empty text: absent texts refer to it. */
static void find_symbols(struct pt_rw_writer *w, const struct pt_rw_series *series, size_t count) {
    pt_intern_clear(&w->index);
    pt_buf_clear(&w->texts);
    w->symbol_count = w->ref_count = 0;
    symbol(w, PT_STR(""));
    pt_grow(&w->series, &w->series_capacity, count, sizeof *w->series);
    for (size_t i = 0; i < count; i++) {
        struct pt_str help = { series[i].help.at, pt_utf8_valid_length(series[i].help) };
        struct pt_rw_refs refs = { .first = w->ref_count };
        add_labels(w, series[i].labels);
        refs.count = w->ref_count - refs.first;
        refs.help = symbol(w, help);
        refs.unit = symbol(w, series[i].unit);
        w->series[i] = refs;
    }
}

/* A series being written. */
struct series {
    const struct pt_rw_series *series;
    const uint32_t *refs;
    const struct pt_rw_refs *where;
};

static void put_refs(struct pt_proto *p, const void *arg) {
    const struct series *s = arg;
    for (size_t i = 0; i < s->where->count; i++)
        pt_proto_varint(p, s->refs[s->where->first + i]);
}

static uint64_t time_ms(int64_t time_ns) {
    return (uint64_t)(time_ns / PT_NS_PER_MS);
}

/* These are most of a request: each is built at once. */
static void put_sample(struct pt_proto *p, const struct pt_point *point) {
    uint8_t bytes[32] = { SERIES_SAMPLE << 3 | PT_PROTO_BYTES, 0,
                          SAMPLE_VALUE << 3 | PT_PROTO_FIXED64 };
    uint64_t bits = STALE_BITS, ms = time_ms(point->time_ns);
    if (!point->is_stale)
        memcpy(&bits, &point->value, sizeof bits);
    memcpy(bytes + 3, &bits, sizeof bits);
    size_t n = 3 + sizeof bits;
    bytes[n++] = SAMPLE_TIME << 3 | PT_PROTO_VARINT;
    for (; ms >= 0x80; ms >>= 7)
        bytes[n++] = (uint8_t)(ms | 0x80);
    bytes[n++] = (uint8_t)ms;
    bytes[1] = (uint8_t)(n - 2);
    pt_proto_raw(p, bytes, n);
}

static void put_histogram(struct pt_proto *p, const void *arg) {
    const struct pt_point *point = arg;
    const struct pt_native *n = point->histogram;
    if (point->is_stale) {
        pt_proto_fixed64(p, HISTOGRAM_SUM, STALE_BITS);
        pt_proto_u64(p, HISTOGRAM_TIME, time_ms(point->time_ns));
        return;
    }
    pt_proto_u64(p, HISTOGRAM_COUNT, n->count);
    pt_proto_f64(p, HISTOGRAM_SUM, n->sum);
    pt_proto_sint(p, HISTOGRAM_SCHEMA, PT_NATIVE_SCHEMA);
    pt_proto_f64(p, HISTOGRAM_ZERO_THRESHOLD, pt_native_zero_threshold());
    pt_proto_u64(p, HISTOGRAM_ZERO_COUNT, n->zero_count);
    pt_native_spans(p, HISTOGRAM_POSITIVE_SPAN, n);
    pt_native_deltas(p, HISTOGRAM_POSITIVE_DELTA, n);
    pt_proto_u64(p, HISTOGRAM_TIME, time_ms(point->time_ns));
}

/* The same numbers in 1.0 and 2.0. */
static uint64_t type_of(enum pt_family_kind kind) {
    static const uint64_t types[] = {
        [PT_FAMILY_COUNTER] = 1,
        [PT_FAMILY_GAUGE] = 2,
        [PT_FAMILY_HISTOGRAM] = 3,
    };
    return types[kind];
}

static void put_metadata(struct pt_proto *p, const void *arg) {
    const struct series *s = arg;
    pt_proto_u64(p, METADATA_TYPE, type_of(s->series->kind));
    if (s->where->help > 0)
        pt_proto_u64(p, METADATA_HELP, s->where->help);
    if (s->where->unit > 0)
        pt_proto_u64(p, METADATA_UNIT, s->where->unit);
}

static void put_series(struct pt_proto *p, const void *arg) {
    const struct series *s = arg;
    pt_proto_message(p, SERIES_LABEL_REFS, put_refs, s);
    for (size_t i = 0; i < s->series->point_count; i++) {
        const struct pt_point *point = &s->series->points[i];
        if (point->histogram)
            pt_proto_message(p, SERIES_HISTOGRAM, put_histogram, point);
        else
            put_sample(p, point);
    }
    pt_proto_message(p, SERIES_METADATA, put_metadata, s);
    int64_t start_ns = s->series->points[s->series->point_count - 1].start_ns;
    if (start_ns > 0)
        pt_proto_u64(p, SERIES_CREATED, time_ms(start_ns));
}

void pt_rw_write(struct pt_rw_writer *w, const struct pt_rw_series *series, size_t count,
                 struct pt_buf *into) {
    struct pt_out out;
    find_symbols(w, series, count);
    pt_out_memory(&out, into);
    struct pt_proto p = { .out = &out };
    for (size_t i = 0; i < w->symbol_count; i++)
        pt_proto_str(&p, REQUEST_SYMBOLS, symbol_text(w, i));
    for (size_t i = 0; i < count; i++) {
        struct series s = { &series[i], w->refs, &w->series[i] };
        pt_proto_message(&p, REQUEST_SERIES, put_series, &s);
    }
    (void)pt_out_close(&out); /* writing to memory cannot fail */
}
