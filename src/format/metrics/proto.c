#include "format/metrics/proto.h"

#include "base/buf.h"
#include "base/crc32c.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

void pt_proto_raw(struct pt_proto *p, const void *bytes, size_t n) {
    p->size += n;
    if (!p->out)
        return;
    pt_out_bytes(p->out, bytes, n);
    if (p->has_crc)
        p->crc = pt_crc32c(p->crc, bytes, n);
}

void pt_proto_varint(struct pt_proto *p, uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    if (!p->out) {
        p->size += (70 - (size_t)__builtin_clzll(value | 1)) / 7; /* seven bits per byte */
        return;
    }
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    pt_proto_raw(p, bytes, n);
}

void pt_proto_zigzag(struct pt_proto *p, int64_t value) {
    pt_proto_varint(p, pt_zigzag(value));
}

void pt_proto_raw_f64(struct pt_proto *p, double value) {
    pt_proto_raw(p, &value, sizeof value);
}

static void put_key(struct pt_proto *p, uint32_t field, uint32_t type) {
    pt_proto_varint(p, (uint64_t)field << 3 | type);
}

void pt_proto_u64(struct pt_proto *p, uint32_t field, uint64_t value) {
    put_key(p, field, VARINT);
    pt_proto_varint(p, value);
}

void pt_proto_sint(struct pt_proto *p, uint32_t field, int64_t value) {
    pt_proto_u64(p, field, pt_zigzag(value));
}

void pt_proto_fixed64(struct pt_proto *p, uint32_t field, uint64_t value) {
    put_key(p, field, FIXED64);
    pt_proto_raw(p, &value, sizeof value);
}

void pt_proto_f64(struct pt_proto *p, uint32_t field, double value) {
    put_key(p, field, FIXED64);
    pt_proto_raw_f64(p, value);
}

void pt_proto_f32(struct pt_proto *p, uint32_t field, float value) {
    put_key(p, field, FIXED32);
    pt_proto_raw(p, &value, sizeof value);
}

void pt_proto_str(struct pt_proto *p, uint32_t field, struct pt_str value) {
    put_key(p, field, BYTES);
    pt_proto_varint(p, value.len);
    if (value.len > 0)
        pt_proto_raw(p, value.at, value.len);
}

uint64_t pt_proto_size(pt_proto_function *write, const void *arg) {
    struct pt_proto counting = { 0 };
    write(&counting, arg);
    return counting.size;
}

void pt_proto_message(struct pt_proto *p, uint32_t field, pt_proto_function *write,
                      const void *arg) {
    uint64_t size = pt_proto_size(write, arg);
    put_key(p, field, BYTES);
    pt_proto_varint(p, size);
    if (p->out)
        write(p, arg);
    else
        p->size += size;
}
