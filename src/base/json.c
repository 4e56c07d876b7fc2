#include "base/json.h"

#include <assert.h>
#include <math.h>

/* Length of the UTF-8 sequence at `at`, or 0 if it is not valid. */
static size_t utf8_length(const unsigned char *at, size_t left) {
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

static void escaped(struct pt_out *out, unsigned char c) {
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = c ? strchr(named, c) : NULL;
    if (found)
        pt_out_printf(out, "\\%c", letters[found - named]);
    else
        pt_out_printf(out, "\\u%04x", c);
}

void pt_json_quote(struct pt_out *out, struct pt_str value) {
    const unsigned char *at = (const unsigned char *)value.at;
    pt_out_char(out, '"');
    for (size_t i = 0, n; i < value.len; i += n) {
        n = utf8_length(at + i, value.len - i);
        if (n == 0) {
            n = 1;
            pt_out_text(out, "\xef\xbf\xbd");
        } else if (at[i] < 0x20 || at[i] == '"' || at[i] == '\\' || at[i] == 0x7f) {
            escaped(out, at[i]);
        } else {
            pt_out_bytes(out, at + i, n);
        }
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
    pt_json_quote(j->out, pt_str_from(key));
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
    pt_json_quote(j->out, value);
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
