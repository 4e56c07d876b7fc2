#include "format/rows/parquet_thrift.h"

#include <assert.h>

/* Larger steps between ids would need the long form, which Parquet never uses. */
static void begin_field(struct pt_thrift *t, int id, enum pt_thrift_type type) {
    int step = id - t->last_id[t->depth];
    assert(step > 0 && step < 16);
    pt_buf_u8(t->into, (uint8_t)(step << 4 | (int)type));
    t->last_id[t->depth] = id;
}

static void begin_struct(struct pt_thrift *t) {
    assert(t->depth + 1 < PT_THRIFT_DEPTH);
    t->last_id[++t->depth] = 0;
}

void pt_thrift_bool(struct pt_thrift *t, int id, bool value) {
    begin_field(t, id, value ? PT_THRIFT_TRUE : PT_THRIFT_FALSE);
}

void pt_thrift_i16(struct pt_thrift *t, int id, int16_t value) {
    begin_field(t, id, PT_THRIFT_I16);
    pt_buf_zigzag(t->into, value);
}

void pt_thrift_i32(struct pt_thrift *t, int id, int32_t value) {
    begin_field(t, id, PT_THRIFT_I32);
    pt_buf_zigzag(t->into, value);
}

void pt_thrift_i64(struct pt_thrift *t, int id, int64_t value) {
    begin_field(t, id, PT_THRIFT_I64);
    pt_buf_zigzag(t->into, value);
}

void pt_thrift_str(struct pt_thrift *t, int id, struct pt_str value) {
    begin_field(t, id, PT_THRIFT_BINARY);
    pt_buf_lstr(t->into, value);
}

void pt_thrift_struct(struct pt_thrift *t, int id) {
    begin_field(t, id, PT_THRIFT_STRUCT);
    begin_struct(t);
}

void pt_thrift_end(struct pt_thrift *t) {
    pt_buf_u8(t->into, 0);
    if (t->depth > 0)
        t->depth--;
}

void pt_thrift_list(struct pt_thrift *t, int id, enum pt_thrift_type type, uint32_t count) {
    begin_field(t, id, PT_THRIFT_LIST);
    if (count < 15) {
        pt_buf_u8(t->into, (uint8_t)(count << 4 | type));
        return;
    }
    pt_buf_u8(t->into, (uint8_t)(0xf0 | type));
    pt_buf_varint(t->into, count);
}

void pt_thrift_item_i32(struct pt_thrift *t, int32_t value) {
    pt_buf_zigzag(t->into, value);
}

void pt_thrift_item_str(struct pt_thrift *t, struct pt_str value) {
    pt_buf_lstr(t->into, value);
}

void pt_thrift_item_struct(struct pt_thrift *t) {
    begin_struct(t);
}
