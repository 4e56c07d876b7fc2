#include "base/proto_field.h"

bool pt_proto_next(struct pt_bytes *message, struct pt_proto_field *f) {
    if (message->failed || message->at >= message->end)
        return false;
    uint64_t key = pt_bytes_varint(message);
    *f = (struct pt_proto_field){ .number = (unsigned)(key >> 3 & 0xffff), .type = key & 7 };
    switch (f->type) {
    case PT_PROTO_VARINT:
        f->value = pt_bytes_varint(message);
        break;
    case PT_PROTO_FIXED64:
        f->value = pt_bytes_u64(message);
        break;
    case PT_PROTO_BYTES:
        f->bytes = pt_bytes_lstr(message);
        break;
    case PT_PROTO_FIXED32:
        f->value = pt_bytes_u32(message);
        break;
    default:
        message->failed = true;
    }
    return !message->failed;
}
