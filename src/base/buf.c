#include "base/buf.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "journal and Parquet are little-endian");

void pt_buf_release(struct pt_buf *b) {
    pt_free(b->at);
    *b = (struct pt_buf){ 0 };
}

uint64_t pt_bytes_varint_slow(struct pt_bytes *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && r->at < r->end && !r->failed; shift += 7) {
        uint8_t byte = *r->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->failed = true;
    return 0;
}

struct pt_str pt_bytes_take(struct pt_bytes *r, uint64_t n) {
    if (r->failed || n > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        return PT_STR("");
    }
    struct pt_str taken = { (const char *)r->at, (size_t)n };
    r->at += n;
    return taken;
}

struct pt_str pt_bytes_lstr(struct pt_bytes *r) {
    return pt_bytes_take(r, pt_bytes_varint(r));
}
