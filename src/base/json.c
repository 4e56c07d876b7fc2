#include "base/json.h"

#include "base/buf.h"
#include "base/digits.h"

#include <assert.h>
#include <math.h>

static void escaped(struct pt_out *out, unsigned char c) {
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = c ? strchr(named, c) : NULL;
    if (found)
        pt_out_printf(out, "\\%c", letters[found - named]);
    else
        pt_out_printf(out, "\\u%04x", c);
}

/* U+0080 to U+009F, which terminals obey. */
static inline bool is_c1(struct pt_str s) {
    return (unsigned char)s.at[0] == 0xc2 && s.len > 1 && (unsigned char)s.at[1] >= 0x80 &&
           (unsigned char)s.at[1] < 0xa0;
}

void pt_json_quote(struct pt_out *out, struct pt_str value) {
    pt_out_char(out, '"');
    for (;;) {
        size_t plain = 0;
        for (; plain < value.len; plain++) {
            unsigned char c = (unsigned char)value.at[plain];
            if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f || is_c1(pt_str_skip(value, plain)))
                break;
        }
        pt_out_utf8(out, (struct pt_str){ value.at, plain });
        if (plain == value.len)
            break;
        plain += is_c1(pt_str_skip(value, plain)); /* its code is its second byte */
        escaped(out, (unsigned char)value.at[plain]);
        value = pt_str_skip(value, plain + 1);
    }
    pt_out_char(out, '"');
}

static void new_line(struct pt_json *j) {
    if (j->indent == 0)
        return;
    pt_out_char(j->out, '\n');
    for (int i = 0; i < j->depth * j->indent; i++)
        pt_out_char(j->out, ' ');
}

/* The name of a value says whether it is a secret. */
static void quote(struct pt_json *j, const char *key, struct pt_str value) {
    if (!j->mask) {
        pt_json_quote(j->out, value);
        return;
    }
    struct pt_buf masked = { 0 };
    j->mask(&masked, pt_str_from(key ? key : ""), value);
    pt_json_quote(j->out, pt_buf_as_str(&masked));
    pt_buf_release(&masked);
}

static void begin_item(struct pt_json *j, const char *key) {
    if (j->depth > 0) {
        bool *has_items = &j->has_items[j->depth - 1];
        if (*has_items)
            pt_out_char(j->out, ',');
        *has_items = true;
        new_line(j);
    }
    if (!key)
        return;
    quote(j, NULL, pt_str_from(key));
    pt_out_text(j->out, j->indent ? ": " : ":");
}

static void begin_nested(struct pt_json *j, const char *key, bool is_array) {
    begin_item(j, key);
    assert(j->depth < PT_JSON_DEPTH);
    j->has_items[j->depth] = false;
    j->is_array[j->depth++] = is_array;
    pt_out_char(j->out, is_array ? '[' : '{');
}

void pt_json_object(struct pt_json *j, const char *key) {
    begin_nested(j, key, false);
}

void pt_json_array(struct pt_json *j, const char *key) {
    begin_nested(j, key, true);
}

void pt_json_end(struct pt_json *j) {
    assert(j->depth > 0);
    j->depth--;
    if (j->has_items[j->depth])
        new_line(j);
    pt_out_char(j->out, j->is_array[j->depth] ? ']' : '}');
    if (j->depth == 0 && j->indent)
        pt_out_char(j->out, '\n');
}

void pt_json_str(struct pt_json *j, const char *key, struct pt_str value) {
    begin_item(j, key);
    quote(j, key, value);
}

void pt_json_text(struct pt_json *j, const char *key, const char *value) {
    if (value)
        pt_json_str(j, key, pt_str_from(value));
    else
        pt_json_null(j, key);
}

void pt_json_i64(struct pt_json *j, const char *key, int64_t value) {
    begin_item(j, key);
    pt_out_i64(j->out, value);
}

void pt_json_f64(struct pt_json *j, const char *key, double value) {
    begin_item(j, key);
    if (isfinite(value))
        pt_out_f64(j->out, value);
    else
        pt_out_text(j->out, "null");
}

void pt_json_float(struct pt_json *j, const char *key, double value) {
    char digits[PT_DIGITS_MAX];
    size_t n = isfinite(value) ? pt_digits_f64(digits, value) : 0;
    pt_json_f64(j, key, value);
    if (n > 0 && !memchr(digits, '.', n) && !memchr(digits, 'e', n))
        pt_out_text(j->out, ".0");
}

void pt_json_bool(struct pt_json *j, const char *key, bool value) {
    begin_item(j, key);
    pt_out_text(j->out, value ? "true" : "false");
}

void pt_json_null(struct pt_json *j, const char *key) {
    begin_item(j, key);
    pt_out_text(j->out, "null");
}

void pt_json_raw(struct pt_json *j, const char *key, struct pt_str json) {
    begin_item(j, key);
    pt_out_str(j->out, json);
}
