#include "http/server_head.h"

#include "base/attr.h"

#include <string.h>
#include <strings.h>

#define CRLF 2

static const char *const single[] = { "Host", "Content-Length", "Authorization", "Origin" };
enum { HOST, LENGTH };

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool pt_http_target_is_clean(struct pt_str target) {
    if (target.len == 0 || target.at[0] != '/')
        return false;
    for (size_t i = 0; i < target.len; i++) {
        unsigned char c = (unsigned char)target.at[i];
        if (c <= ' ' || c >= 0x7f || c == '#')
            return false;
        if (c != '%')
            continue;
        int high = i + 2 < target.len ? digit_of(target.at[i + 1]) : -1;
        int low = i + 2 < target.len ? digit_of(target.at[i + 2]) : -1;
        if (high < 2 || low < 0 || (high == 7 && low == 15))
            return false;
    }
    return true;
}

static bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool has_only(struct pt_str text, const char *others) {
    for (size_t i = 0; i < text.len; i++)
        if (!text.at[i] || (!is_alphanumeric(text.at[i]) && !strchr(others, text.at[i])))
            return false;
    return text.len > 0;
}

static bool is_value(struct pt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.at[i] < ' ' && text.at[i] != '\t') || text.at[i] == 0x7f)
            return false;
    return true;
}

static bool is_named(struct pt_str name, const char *other) {
    return name.len == strlen(other) && strncasecmp(name.at, other, name.len) == 0;
}

void pt_http_head_add(struct pt_http_head *h, struct pt_str name, struct pt_str value) {
    h->is_bad |= !has_only(name, "!#$%&'*+-.^_`|~") || !is_value(value);
    for (size_t i = 0; i < PT_COUNT(single); i++)
        if (is_named(name, single[i])) {
            h->is_bad |= h->seen >> i & 1;
            h->seen |= 1u << i;
        }
    if (is_named(name, single[HOST]))
        h->is_bad |= value.len > 0 && !has_only(value, ".-_:[]");
    if (is_named(name, "Transfer-Encoding")) {
        h->is_bad |= h->is_chunked || !is_named(value, "chunked");
        h->is_chunked = true;
    }
    if (!h->next)
        return;
    h->is_bad |= name.at != h->next;
    h->next = value.at + value.len + CRLF;
}

unsigned pt_http_head_end(const struct pt_http_head *h, const char *end) {
    if (h->is_bad || (h->next && h->next + CRLF != end) || (h->is_chunked && h->seen >> LENGTH & 1))
        return 400;
    return h->is_chunked ? 411 : 0;
}
