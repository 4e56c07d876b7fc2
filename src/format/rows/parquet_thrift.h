/* format/rows/parquet_thrift.h -- Thrift compact protocol, writing only: the encoding of Parquet
 * headers.
 *
 * A struct is fields with increasing ids and a zero byte. A field starts with one byte,
 * (id - last id) << 4 | type; integers are zigzag varints:
 *
 *     {1: i32 5, 3: i64 -1}  =  15 0a 26 01 00
 *
 * A struct may omit fields; their ids are those of parquet.thrift. */
#ifndef PT_FORMAT_ROWS_PARQUET_THRIFT_H
#define PT_FORMAT_ROWS_PARQUET_THRIFT_H

#include "base/buf.h"

#define PT_THRIFT_DEPTH 8

enum pt_thrift_type {
    PT_THRIFT_TRUE = 1,
    PT_THRIFT_FALSE = 2,
    PT_THRIFT_I16 = 4,
    PT_THRIFT_I32 = 5,
    PT_THRIFT_I64 = 6,
    PT_THRIFT_BINARY = 8,
    PT_THRIFT_LIST = 9,
    PT_THRIFT_STRUCT = 12,
};

/* { .into = &buf } writes the fields of a struct; pt_thrift_end() closes it. */
struct pt_thrift {
    struct pt_buf *into;
    int depth;
    int last_id[PT_THRIFT_DEPTH];
};

void pt_thrift_bool(struct pt_thrift *t, int id, bool value);
void pt_thrift_i16(struct pt_thrift *t, int id, int16_t value);
void pt_thrift_i32(struct pt_thrift *t, int id, int32_t value);
void pt_thrift_i64(struct pt_thrift *t, int id, int64_t value);
void pt_thrift_str(struct pt_thrift *t, int id, struct pt_str value);

/* A struct in a field; pt_thrift_end() closes it. */
void pt_thrift_struct(struct pt_thrift *t, int id);
void pt_thrift_end(struct pt_thrift *t);

/* A list in a field: its `count` items follow, made by the three functions below. */
void pt_thrift_list(struct pt_thrift *t, int id, enum pt_thrift_type type, uint32_t count);
void pt_thrift_item_i32(struct pt_thrift *t, int32_t value);
void pt_thrift_item_str(struct pt_thrift *t, struct pt_str value);
void pt_thrift_item_struct(struct pt_thrift *t); /* pt_thrift_end() closes it */

#endif
