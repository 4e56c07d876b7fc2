#include "format/metrics/label.h"

#include "base/utf8.h"

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

size_t pt_metric_name_clean(char *into, struct pt_str raw) {
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.at[i];
        into[i] = is_letter(c) || c == ':' || (i > 0 && is_digit(c)) ? c : '_';
    }
    if (raw.len == 0)
        into[0] = '_';
    return raw.len > 0 ? raw.len : 1;
}

struct pt_str pt_counter_family(struct pt_str name) {
    const struct pt_str total = PT_STR("_total");
    if (name.len > total.len && pt_str_ends(name, total))
        name.len -= total.len;
    return name;
}

static struct pt_str skip_blanks(struct pt_str s) {
    while (s.len > 0 && (*s.at == ' ' || *s.at == '\t'))
        s = pt_str_skip(s, 1);
    return s;
}

/* Number of bytes before the closing quote; s.len: no closing quote, or an invalid escape. */
static size_t value_length(struct pt_str s) {
    for (size_t i = 0; i < s.len && s.at[i] != '\n'; i++) {
        if (s.at[i] == '"')
            return i;
        if (s.at[i] == '\\' && (++i == s.len || !strchr("\\\"n", s.at[i]) || !s.at[i]))
            break;
    }
    return s.len;
}

static bool take_char(struct pt_str *s, char c) {
    if (s->len == 0 || *s->at != c)
        return false;
    *s = pt_str_skip(*s, 1);
    return true;
}

/* One label, with blanks around its parts. */
static bool take_label(struct pt_str *s, struct pt_str *name, struct pt_str *value) {
    *s = skip_blanks(*s);
    size_t n = 0;
    while (n < s->len && (is_letter(s->at[n]) || (n > 0 && is_digit(s->at[n]))))
        n++;
    *name = (struct pt_str){ s->at, n };
    *s = skip_blanks(pt_str_skip(*s, n));
    if (name->len == 0 || !take_char(s, '='))
        return false;
    *s = skip_blanks(*s);
    if (!take_char(s, '"'))
        return false;
    size_t length = value_length(*s);
    if (length == s->len)
        return false;
    *value = (struct pt_str){ s->at, length };
    *s = skip_blanks(pt_str_skip(*s, length + 1));
    if (!take_char(s, ','))
        s->len = 0; /* the end, or not labels from here on */
    return true;
}

static bool has_name(struct pt_str labels, struct pt_str name) {
    struct pt_str other, value;
    while (pt_labels_next(&labels, &other, &value))
        if (pt_str_eq(other, name))
            return true;
    return false;
}

/* A question mark for each byte that is not UTF-8: U+FFFD would be longer. */
static void repair_utf8(char *text, size_t length) {
    struct pt_str rest = { text, length };
    for (;;) {
        size_t valid = pt_utf8_valid_length(rest);
        if (valid == rest.len)
            return;
        text[length - rest.len + valid] = '?';
        rest = pt_str_skip(rest, valid + 1);
    }
}

static size_t append(char *into, size_t at, struct pt_str s) {
    memcpy(into + at, s.at, s.len);
    return at + s.len;
}

size_t pt_labels_clean(char *into, struct pt_str raw, const char *reserved) {
    struct pt_str name, value;
    size_t length = 0;
    while (take_label(&raw, &name, &value)) {
        if ((reserved && pt_str_eq(name, pt_str_from(reserved))) ||
            has_name((struct pt_str){ into, length }, name))
            continue;
        if (length > 0)
            into[length++] = ',';
        length = append(into, length, name);
        length = append(into, length, PT_STR("=\""));
        length = append(into, length, value);
        into[length++] = '"';
    }
    repair_utf8(into, length);
    return length;
}

bool pt_labels_next(struct pt_str *labels, struct pt_str *name, struct pt_str *value) {
    return take_label(labels, name, value);
}

struct pt_str pt_label_unescape(struct pt_str value, char *into) {
    size_t length = 0;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (c == '\\' && i + 1 < value.len) {
            c = value.at[++i];
            c = c == 'n' ? '\n' : c;
        }
        into[length++] = c;
    }
    return (struct pt_str){ into, length };
}
