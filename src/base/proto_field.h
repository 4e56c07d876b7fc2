/* base/proto_field.h -- reads protobuf messages field by field.
 *
 *     struct pt_bytes message = pt_bytes_of(text);
 *     struct pt_proto_field f;
 *     while (pt_proto_next(&message, &f))
 *         if (f.number == 2 && f.type == PT_PROTO_BYTES)
 *             use(f.bytes);
 *     if (message.failed)
 *         complain(); */
#ifndef PT_BASE_PROTO_FIELD_H
#define PT_BASE_PROTO_FIELD_H

#include "base/buf.h"

enum pt_proto_type {
    PT_PROTO_VARINT = 0,
    PT_PROTO_FIXED64 = 1,
    PT_PROTO_BYTES = 2,
    PT_PROTO_FIXED32 = 5
};

struct pt_proto_field {
    unsigned number;
    enum pt_proto_type type;
    uint64_t value;      /* of a number */
    struct pt_str bytes; /* of a string, message or packed numbers; borrowed */
};

/* False at the end and after a failure. */
bool pt_proto_next(struct pt_bytes *message, struct pt_proto_field *f);

#endif
