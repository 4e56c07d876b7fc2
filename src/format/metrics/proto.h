/* format/metrics/proto.h -- protobuf messages written as a stream.
 *
 * A message comes after its length. So each is visited twice: once to count, without `out`, and
 * once to write. Nothing is kept in memory. */
#ifndef PT_FORMAT_METRICS_PROTO_H
#define PT_FORMAT_METRICS_PROTO_H

#include "base/out.h"

struct pt_proto {
    struct pt_out *out; /* NULL: only counts */
    uint64_t size;      /* bytes so far */
    bool has_crc;       /* CRC-32C of the bytes is kept in: */
    uint32_t crc;
};

typedef void pt_proto_function(struct pt_proto *p, const void *arg);

/* Bytes that are fields already. */
void pt_proto_raw(struct pt_proto *p, const void *bytes, size_t n);

/* Values of a packed field. */
void pt_proto_varint(struct pt_proto *p, uint64_t value);
void pt_proto_zigzag(struct pt_proto *p, int64_t value);
void pt_proto_raw_f64(struct pt_proto *p, double value);

/* Fields. */
void pt_proto_u64(struct pt_proto *p, uint32_t field, uint64_t value);
void pt_proto_sint(struct pt_proto *p, uint32_t field, int64_t value);
void pt_proto_fixed64(struct pt_proto *p, uint32_t field, uint64_t value);
void pt_proto_f64(struct pt_proto *p, uint32_t field, double value);
void pt_proto_f32(struct pt_proto *p, uint32_t field, float value);
void pt_proto_str(struct pt_proto *p, uint32_t field, struct pt_str value);
/* A message, or a packed field, written by `write`, which must write the same each time. */
void pt_proto_message(struct pt_proto *p, uint32_t field, pt_proto_function *write,
                      const void *arg);
/* Its length, without writing it. */
uint64_t pt_proto_size(pt_proto_function *write, const void *arg);

#endif
