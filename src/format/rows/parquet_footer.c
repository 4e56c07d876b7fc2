#include "format/rows/parquet_footer.h"

#include "format/rows/parquet_thrift.h"

/* Field ids and constants are those of parquet.thrift. */
enum { FORMAT_VERSION = 2, CODEC_ZSTD = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0, CONVERTED_TIMESTAMP_MICROS = 10 };

static void put_encodings(struct pt_thrift *t, uint32_t encodings) {
    pt_thrift_list(t, 2, PT_THRIFT_I32, (uint32_t)__builtin_popcount(encodings));
    for (int encoding = 0; encoding < 32; encoding++)
        if (encodings >> encoding & 1)
            pt_thrift_item_i32(t, encoding);
}

static void put_statistics(struct pt_thrift *t, const struct pt_parquet_chunk *chunk) {
    pt_thrift_struct(t, 12);
    pt_thrift_i64(t, 3, (int64_t)chunk->null_count);
    if (chunk->has_range) {
        pt_thrift_str(t, 5, pt_buf_as_str(&chunk->max));
        pt_thrift_str(t, 6, pt_buf_as_str(&chunk->min));
    }
    pt_thrift_end(t);
}

static void put_chunk(struct pt_thrift *t, const struct pt_parquet_column *c, const char *name,
                      uint64_t offset) {
    const struct pt_parquet_chunk *chunk = &c->chunk;
    pt_thrift_item_struct(t);
    pt_thrift_i64(t, 2, 0); /* file_offset: deprecated, but required */
    pt_thrift_struct(t, 3);
    pt_thrift_i32(t, 1, (int32_t)c->type);
    put_encodings(t, chunk->encodings);
    pt_thrift_list(t, 3, PT_THRIFT_BINARY, 1);
    pt_thrift_item_str(t, pt_str_from(name));
    pt_thrift_i32(t, 4, CODEC_ZSTD);
    pt_thrift_i64(t, 5, (int64_t)chunk->row_count);
    pt_thrift_i64(t, 6, (int64_t)chunk->uncompressed_bytes);
    pt_thrift_i64(t, 7, (int64_t)c->pages.len);
    pt_thrift_i64(t, 9, (int64_t)(offset + chunk->dictionary_bytes));
    if (chunk->dictionary_bytes > 0)
        pt_thrift_i64(t, 11, (int64_t)offset);
    put_statistics(t, chunk);
    pt_thrift_end(t);
    pt_thrift_end(t);
}

void pt_parquet_put_row_group(struct pt_buf *b, const struct pt_view *view,
                              const struct pt_parquet_column *columns, uint64_t row_count,
                              uint64_t offset, uint32_t ordinal) {
    struct pt_thrift t = { .into = b };
    uint64_t at = offset, uncompressed = 0;
    pt_thrift_list(&t, 1, PT_THRIFT_STRUCT, view->column_count);
    for (uint32_t i = 0; i < view->column_count; i++) {
        put_chunk(&t, &columns[i], view->columns[i].name, at);
        at += columns[i].pages.len;
        uncompressed += columns[i].chunk.uncompressed_bytes;
    }
    pt_thrift_i64(&t, 2, (int64_t)uncompressed);
    pt_thrift_i64(&t, 3, (int64_t)row_count);
    pt_thrift_i64(&t, 5, (int64_t)offset);
    pt_thrift_i64(&t, 6, (int64_t)(at - offset));
    if (ordinal <= INT16_MAX)
        pt_thrift_i16(&t, 7, (int16_t)ordinal);
    pt_thrift_end(&t);
}

static void put_timestamp_type(struct pt_thrift *t) {
    enum { TIMESTAMP = 8, MICROS = 2 };
    pt_thrift_i32(t, 6, CONVERTED_TIMESTAMP_MICROS);
    pt_thrift_struct(t, 10);
    pt_thrift_struct(t, TIMESTAMP);
    pt_thrift_bool(t, 1, true); /* is adjusted to UTC */
    pt_thrift_struct(t, 2);
    pt_thrift_struct(t, MICROS);
    for (int i = 0; i < 4; i++)
        pt_thrift_end(t);
}

static void put_string_type(struct pt_thrift *t) {
    enum { STRING = 1 };
    pt_thrift_i32(t, 6, CONVERTED_UTF8);
    pt_thrift_struct(t, 10);
    pt_thrift_struct(t, STRING);
    pt_thrift_end(t);
    pt_thrift_end(t);
}

static void put_schema_column(struct pt_thrift *t, const struct pt_parquet_column *c,
                              const char *name) {
    pt_thrift_item_struct(t);
    pt_thrift_i32(t, 1, (int32_t)c->type);
    pt_thrift_i32(t, 3, c->is_required ? REQUIRED : OPTIONAL);
    pt_thrift_str(t, 4, pt_str_from(name));
    if (c->is_time)
        put_timestamp_type(t);
    else if (c->type == PT_PARQUET_BYTE_ARRAY)
        put_string_type(t);
    pt_thrift_end(t);
}

static void put_schema(struct pt_thrift *t, const struct pt_parquet_footer *f) {
    pt_thrift_list(t, 2, PT_THRIFT_STRUCT, f->view->column_count + 1);
    pt_thrift_item_struct(t);
    pt_thrift_str(t, 4, PT_STR("schema"));
    pt_thrift_i32(t, 5, (int32_t)f->view->column_count);
    pt_thrift_end(t);
    for (uint32_t i = 0; i < f->view->column_count; i++)
        put_schema_column(t, &f->columns[i], f->view->columns[i].name);
}

/* Pairs are counted before they are written: the list begins with its length. */
struct pairs {
    struct pt_buf bytes;
    uint32_t count;
};

static void add_pair(struct pairs *pairs, const char *prefix, const char *name, const char *value) {
    if (value[0] == 0)
        return;
    char *key = pt_asprintf("pitot.%s%s", prefix, name);
    struct pt_thrift t = { .into = &pairs->bytes };
    pt_thrift_str(&t, 1, pt_str_from(key));
    pt_thrift_str(&t, 2, pt_str_from(value));
    pt_thrift_end(&t);
    pairs->count++;
    pt_free(key);
}

static void add_pairs_of_column(struct pairs *pairs, const struct pt_view_column *c) {
    const char *unit = "", *help = "";
    switch (c->role) {
    case PT_VIEW_TIMESTAMP:
        help = "when the sample was taken";
        break;
    case PT_VIEW_MONOTONIC:
        unit = pt_units[PT_NANOSECONDS].name;
        help = "the same instant on the monotonic clock";
        break;
    case PT_VIEW_VALUE:
        unit = pt_units[c->column->unit].name;
        help = c->column->help;
        break;
    case PT_VIEW_TIME: /* pitot.times says it for all columns */
        break;
    }
    add_pair(pairs, "unit.", c->name, unit);
    add_pair(pairs, "help.", c->name, help);
}

static void put_pairs(struct pt_thrift *t, const struct pt_view *view) {
    struct pairs pairs = { 0 };
    add_pair(&pairs, "version", "", PITOT_VERSION);
    add_pair(&pairs, "times", "", "<name>T is the time when <name> was read");
    for (uint32_t i = 0; i < view->column_count; i++)
        add_pairs_of_column(&pairs, &view->columns[i]);
    pt_thrift_list(t, 5, PT_THRIFT_STRUCT, pairs.count);
    pt_buf_bytes(t->into, pairs.bytes.at, pairs.bytes.len);
    pt_buf_release(&pairs.bytes);
}

/* Without column orders readers ignore minima and maxima. */
static void put_column_orders(struct pt_thrift *t, uint32_t column_count) {
    enum { TYPE_DEFINED_ORDER = 1 };
    pt_thrift_list(t, 7, PT_THRIFT_STRUCT, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        pt_thrift_item_struct(t);
        pt_thrift_struct(t, TYPE_DEFINED_ORDER);
        pt_thrift_end(t);
        pt_thrift_end(t);
    }
}

void pt_parquet_put_footer(struct pt_buf *b, const struct pt_parquet_footer *footer) {
    struct pt_thrift t = { .into = b };
    pt_thrift_i32(&t, 1, FORMAT_VERSION);
    put_schema(&t, footer);
    pt_thrift_i64(&t, 3, (int64_t)footer->row_count);
    pt_thrift_list(&t, 4, PT_THRIFT_STRUCT, footer->group_count);
    pt_buf_str(b, footer->groups);
    put_pairs(&t, footer->view);
    /* Readers require exactly this form; otherwise they assume a writer with known bugs. */
    pt_thrift_str(&t, 6, PT_STR("pitot version " PITOT_VERSION));
    put_column_orders(&t, footer->view->column_count);
    pt_thrift_end(&t);
}
