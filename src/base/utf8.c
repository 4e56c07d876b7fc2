#include "base/utf8.h"

#include <stdint.h>

/* Length of the character at `at`, or 0 if it is not valid. */
static size_t character_length(const unsigned char *at, size_t left) {
    static const unsigned minimum[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = at[0] < 0x80   ? 1
               : at[0] < 0xc2 ? 0
               : at[0] < 0xe0 ? 2
               : at[0] < 0xf0 ? 3
               : at[0] < 0xf5 ? 4
                              : 0;
    if (n <= 1 || n > left)
        return n > left ? 0 : n;
    unsigned code = at[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < minimum[n] || code > 0x10ffff || is_surrogate ? 0 : n;
}

/* Most text is ASCII: skips it eight bytes at a time. */
static size_t ascii_words(struct pt_str text) {
    size_t length = 0;
    for (uint64_t word; length + sizeof word <= text.len; length += sizeof word) {
        memcpy(&word, text.at + length, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return length;
}

size_t pt_utf8_valid_length(struct pt_str text) {
    const unsigned char *at = (const unsigned char *)text.at;
    size_t length = ascii_words(text);
    while (length < text.len) {
        size_t n = at[length] < 0x80 ? 1 : character_length(at + length, text.len - length);
        if (n == 0)
            break;
        length += n;
    }
    return length;
}

void pt_utf8_add(struct pt_buf *into, struct pt_str text) {
    for (;;) {
        size_t valid = pt_utf8_valid_length(text);
        pt_buf_bytes(into, text.at, valid);
        if (valid == text.len)
            return;
        pt_buf_str(into, PT_STR(PT_UTF8_REPLACEMENT));
        text = pt_str_skip(text, valid + 1);
    }
}

static void put_visible(struct pt_buf *into, unsigned code) {
    static const char hex[] = "0123456789abcdef";
    pt_buf_str(into, PT_STR("\\x"));
    pt_buf_u8(into, (uint8_t)hex[code >> 4]);
    pt_buf_u8(into, (uint8_t)hex[code & 15]);
}

void pt_utf8_printable(struct pt_buf *into, struct pt_str text, const char *kept) {
    const unsigned char *at = (const unsigned char *)text.at, *end = at + text.len;
    while (at < end) {
        const unsigned char *plain = at;
        while (at < end && *at >= 0x20 && *at < 0x7f)
            at++;
        pt_buf_bytes(into, plain, (size_t)(at - plain));
        if (at == end)
            return;
        size_t n = *at < 0x80 ? 1 : character_length(at, (size_t)(end - at));
        bool is_c1 = (n == 2 && at[0] == 0xc2 && at[1] < 0xa0) || (n == 0 && *at < 0xa0);
        if (n == 1 && *at && strchr(kept, *at))
            pt_buf_u8(into, *at);
        else if (is_c1 || n == 1)
            put_visible(into, at[n == 2]);
        else if (n == 0)
            pt_buf_str(into, PT_STR(PT_UTF8_REPLACEMENT));
        else
            pt_buf_bytes(into, at, n);
        at += n ? n : 1;
    }
}

void pt_utf8_put(struct pt_buf *into, uint32_t code) {
    static const struct {
        unsigned below, lead;
    } sizes[] = { { 0x80, 0 }, { 0x800, 0xc0 }, { 0x10000, 0xe0 }, { 0x110000, 0xf0 } };
    unsigned more = 0;
    while (code >= sizes[more].below)
        more++;
    pt_buf_u8(into, (uint8_t)(sizes[more].lead | code >> 6 * more));
    while (more-- > 0)
        pt_buf_u8(into, (uint8_t)(0x80 | (code >> 6 * more & 0x3f)));
}
