#include "report/blob.h"

#include <errno.h>
#include <math.h>
#include <zlib.h>

/* Rounds to 12 bits after the leading one. */
static uint32_t bits_of(double value, enum pt_blob_precision precision) {
    const uint32_t dropped = 11;
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (precision == PT_BLOB_EXACT || !isfinite(narrow))
        return bits;
    uint32_t rounded = (bits + (1u << (dropped - 1))) & ~((1u << dropped) - 1);
    memcpy(&narrow, &rounded, sizeof narrow);
    return isfinite(narrow) ? rounded : bits;
}

size_t pt_blob_add(struct pt_blob *b, const double *values, size_t count, size_t stride,
                   double base, enum pt_blob_precision precision) {
    size_t start = b->bytes.len;
    uint8_t *at = pt_buf_reserve(&b->bytes, count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = bits_of(values[i * stride] - base, precision);
        for (size_t plane = 0; plane < sizeof bits; plane++)
            at[plane * count + i] = (uint8_t)(bits >> (24 - 8 * plane));
    }
    b->bytes.len += count * sizeof(float);
    return start / sizeof(float);
}

static void write_base64(const uint8_t *bytes, size_t count, struct pt_out *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        group |= i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= i + 2 < count ? bytes[i + 2] : 0;
        char *at = pt_out_reserve(out, 4);
        at[0] = digits[group >> 18];
        at[1] = digits[group >> 12 & 63];
        at[2] = i + 1 < count ? digits[group >> 6 & 63] : '=';
        at[3] = i + 2 < count ? digits[group & 63] : '=';
        out->used += 4;
    }
}

int pt_blob_write(const struct pt_blob *b, struct pt_out *out) {
    uLongf length = compressBound(b->bytes.len);
    uint8_t *packed = pt_malloc(length);
    static const uint8_t nothing[1];
    int rc = compress2(packed, &length, b->bytes.len > 0 ? b->bytes.at : nothing, b->bytes.len, 9);
    if (rc == Z_OK)
        write_base64(packed, length, out);
    pt_free(packed);
    return rc == Z_OK ? 0 : -EIO;
}

void pt_blob_release(struct pt_blob *b) {
    pt_buf_release(&b->bytes);
}
