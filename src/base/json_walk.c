#include "base/json_walk.h"

#include "base/json.h"
#include "base/scan.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>

struct walk {
    struct pt_scan scan;
    struct pt_buf decoded; /* of the last string with escapes */
    char path[PT_JSON_PATH_MAX];
    size_t path_len;
    int depth;
    pt_json_value_function *take;
    void *arg;
};

/* The four digits after \u; false if they are not hexadecimal. */
static bool take_unit(struct pt_scan *s, unsigned *unit) {
    struct pt_scan digits = { .at = s->at, .end = s->at + 4 };
    if (s->end - s->at < 4)
        return false;
    *unit = (unsigned)pt_scan_hex(&digits);
    if (digits.failed || digits.at != digits.end)
        return false;
    s->at += 4;
    return true;
}

/* Starts after \u. Characters above 16 bits are a pair of units. */
static void unescape_code(struct pt_scan *s, struct pt_buf *into) {
    unsigned high, low;
    if (!take_unit(s, &high)) {
        pt_buf_str(into, PT_STR("\\u"));
        return;
    }
    struct pt_scan rest = *s;
    bool is_pair = high >= 0xd800 && high < 0xdc00 && pt_scan_take(&rest, PT_STR("\\u")) &&
                   take_unit(&rest, &low) && low >= 0xdc00 && low < 0xe000;
    if (is_pair) {
        *s = rest;
        pt_utf8_put(into, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    } else {
        pt_utf8_put(into, high >= 0xd800 && high < 0xe000 ? 0xfffd : high);
    }
}

/* Unknown escapes stay as they are. */
static void unescape(struct pt_str value, struct pt_buf *into) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    struct pt_scan s = pt_scan_of(value);
    while (s.at < s.end) {
        char c = *s.at++;
        const char *escape = c == '\\' && s.at < s.end && *s.at ? strchr(from, *s.at) : NULL;
        if (escape) {
            pt_buf_u8(into, (uint8_t)to[escape - from]);
            s.at++;
        } else if (c == '\\' && pt_scan_take(&s, PT_STR("u"))) {
            unescape_code(&s, into);
        } else {
            pt_buf_u8(into, (uint8_t)c);
        }
    }
}

static void skip_space(struct walk *w) {
    while (w->scan.at < w->scan.end && strchr(" \t\r\n", *w->scan.at) && *w->scan.at)
        w->scan.at++;
}

static bool next_is(struct walk *w, char c) {
    skip_space(w);
    if (w->scan.failed || w->scan.at >= w->scan.end || *w->scan.at != c)
        return false;
    w->scan.at++;
    return true;
}

static void expect(struct walk *w, char c) {
    if (!next_is(w, c))
        w->scan.failed = true;
}

/* Starts after the opening quote; consumes the closing one. The result lasts until the next. */
static struct pt_str take_string(struct walk *w) {
    const char *start = w->scan.at, *p = start;
    bool has_escapes = false;
    while (p < w->scan.end && *p != '"') {
        has_escapes |= *p == '\\';
        p += *p == '\\' && p + 1 < w->scan.end ? 2 : 1;
    }
    if (p >= w->scan.end) {
        w->scan.failed = true;
        return PT_STR("");
    }
    w->scan.at = p + 1;
    struct pt_str raw = { start, (size_t)(p - start) };
    if (!has_escapes)
        return raw;
    pt_buf_clear(&w->decoded);
    unescape(raw, &w->decoded);
    return pt_buf_as_str(&w->decoded);
}

static void walk_value(struct walk *w);

static void walk_member(struct walk *w, struct pt_str name) {
    size_t len = w->path_len, space = sizeof w->path - 1 - len;
    if (len > 0 && space > 0) {
        w->path[w->path_len++] = '.';
        space--;
    }
    pt_str_copy(w->path + w->path_len, space + 1, name);
    w->path_len += strlen(w->path + w->path_len);
    walk_value(w);
    w->path_len = len;
    w->path[len] = 0;
}

static void walk_object(struct walk *w) {
    if (next_is(w, '}'))
        return;
    do {
        expect(w, '"');
        struct pt_str name = take_string(w);
        expect(w, ':');
        if (!w->scan.failed)
            walk_member(w, name);
    } while (!w->scan.failed && next_is(w, ','));
    expect(w, '}');
}

static void walk_array(struct walk *w) {
    if (next_is(w, ']'))
        return;
    unsigned index = 0;
    do {
        char name[16];
        snprintf(name, sizeof name, "%u", index++);
        walk_member(w, pt_str_from(name));
    } while (!w->scan.failed && next_is(w, ','));
    expect(w, ']');
}

static struct pt_str take_word(struct walk *w) {
    const char *start = w->scan.at;
    while (w->scan.at < w->scan.end && *w->scan.at && !strchr(" \t\r\n,]}\"[{:", *w->scan.at))
        w->scan.at++;
    w->scan.failed |= w->scan.at == start;
    return (struct pt_str){ start, (size_t)(w->scan.at - start) };
}

static struct pt_json_value take_scalar(struct walk *w) {
    if (next_is(w, '"'))
        return (struct pt_json_value){ PT_JSON_STRING, take_string(w) };
    struct pt_str word = take_word(w);
    enum pt_json_kind kind = pt_str_eq(word, PT_STR("null"))    ? PT_JSON_NULL
                             : pt_str_eq(word, PT_STR("true"))  ? PT_JSON_BOOL
                             : pt_str_eq(word, PT_STR("false")) ? PT_JSON_BOOL
                                                                : PT_JSON_NUMBER;
    return (struct pt_json_value){ kind, word };
}

static void walk_value(struct walk *w) {
    if (w->depth == PT_JSON_DEPTH)
        w->scan.failed = true;
    if (w->scan.failed)
        return;
    w->depth++;
    if (next_is(w, '{')) {
        walk_object(w);
    } else if (next_is(w, '[')) {
        walk_array(w);
    } else {
        struct pt_json_value value = take_scalar(w);
        if (!w->scan.failed)
            w->take(w->arg, w->path, value);
    }
    w->depth--;
}

int pt_json_walk(struct pt_str text, pt_json_value_function *take, void *arg) {
    struct walk w = { .scan = pt_scan_of(text), .take = take, .arg = arg };
    walk_value(&w);
    skip_space(&w);
    pt_buf_release(&w.decoded);
    return w.scan.failed || w.scan.at < w.scan.end ? -EINVAL : 0;
}
