/* Finds secrets in a text: by the name before them, as part of a URL, or by their shape. */
#include "base/mask.h"

#include "base/attr.h"

#include <ctype.h>

/* How far to look for the '@' after a password: bounds the work on hostile text. */
#define LOGIN_BYTES 512

/* Tokens with a known prefix. At least `body` characters follow, one a digit if `has_digit`. */
static const struct shape {
    const char *prefix;
    const char *extra; /* characters of the body besides letters and digits */
    size_t body;
    bool has_digit;
} shapes[] = {
    { "hf_", "", 20, false },          { "sk-", "-_", 20, true },
    { "sk_live_", "", 16, false },     { "rk_live_", "", 16, false },
    { "gsk_", "", 20, true },          { "ghp_", "", 20, false },
    { "gho_", "", 20, false },         { "ghu_", "", 20, false },
    { "ghs_", "", 20, false },         { "ghr_", "", 20, false },
    { "github_pat_", "_", 20, false }, { "glpat-", "-_", 20, false },
    { "xoxb-", "-", 10, true },        { "xoxp-", "-", 10, true },
    { "xoxa-", "-", 10, true },        { "xoxs-", "-", 10, true },
    { "xapp-", "-", 10, true },        { "AKIA", "", 16, false },
    { "ASIA", "", 16, true },          { "AIza", "-_", 30, false },
    { "ya29.", "-_.", 20, false },     { "nvapi-", "-_", 20, false },
    { "npm_", "", 30, false },         { "pypi-", "-_", 30, true },
    { "dckr_pat_", "-_", 20, false },  { "r8_", "", 30, false },
    { "hvs.", "-_", 20, false },       { "eyJ", "-_.=", 20, false },
};

struct masker {
    struct pt_buf *out;
    struct pt_str text;
    size_t at;
    char quote; /* the open quote, or 0 */
};

static char peek(const struct masker *m, size_t at) {
    return at < m->text.len ? m->text.at[at] : 0;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static size_t skip_blanks(const struct masker *m, size_t at) {
    while (at < m->text.len && is_blank(m->text.at[at]))
        at++;
    return at;
}

static struct pt_str piece(const struct masker *m, size_t from, size_t to) {
    return (struct pt_str){ m->text.at + from, to - from };
}

static bool equals_ignoring_case(struct pt_str s, const char *word) {
    if (s.len != strlen(word))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (tolower((unsigned char)s.at[i]) != word[i])
            return false;
    }
    return true;
}

static bool is_one_of(struct pt_str s, const char *const words[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (equals_ignoring_case(s, words[i]))
            return true;
    }
    return false;
}

/* Length of a token of this shape at the start of `s`, or 0. */
static size_t shape_length(const struct shape *shape, struct pt_str s) {
    size_t prefix = strlen(shape->prefix), n = prefix;
    bool digit_seen = false, dot_seen = false;
    if (!pt_str_starts(s, pt_str_from(shape->prefix)))
        return 0;
    for (; n < s.len; n++) {
        unsigned char c = (unsigned char)s.at[n];
        if (!isalnum(c) && !(c && strchr(shape->extra, c)))
            break;
        digit_seen |= isdigit(c) != 0;
        dot_seen |= c == '.';
    }
    bool is_web_token = strcmp(shape->prefix, "eyJ") == 0;
    if (n - prefix < shape->body || (shape->has_digit && !digit_seen) ||
        (is_web_token && !dot_seen))
        return 0;
    return n;
}

static bool mask_shape(struct masker *m) {
    struct pt_str rest = pt_str_skip(m->text, m->at);
    for (size_t i = 0; i < PT_COUNT(shapes); i++) {
        size_t n = rest.at[0] == shapes[i].prefix[0] ? shape_length(&shapes[i], rest) : 0;
        if (n == 0)
            continue;
        pt_buf_str(m->out, PT_MASK);
        m->at += n;
        return true;
    }
    return false;
}

/* The authority of a URL ends at / ? # or a blank. If the text after the colon is not a number, it
 * is a password that may contain '/': then the search goes on. */
static size_t authority_end(const struct masker *m, size_t start) {
    size_t end = start, colon = 0;
    while (end < m->text.len && !is_blank(m->text.at[end]) && !is_quote(m->text.at[end]) &&
           !strchr("/?#", m->text.at[end])) {
        if (m->text.at[end] == ':')
            colon = end + 1;
        end++;
    }
    bool is_port = colon == 0 || colon == end || peek(m, start) == '[';
    for (size_t i = colon; !is_port && i < end && isdigit((unsigned char)m->text.at[i]); i++)
        is_port = i + 1 == end;
    if (is_port || memchr(m->text.at + start, '@', end - start))
        return end;
    size_t limit = start + LOGIN_BYTES < m->text.len ? start + LOGIN_BYTES : m->text.len;
    while (end < limit && !is_blank(m->text.at[end]) && !is_quote(m->text.at[end]))
        end++;
    return end;
}

/* scheme://user:password@host and scheme://long-token@host, at the colon. */
static bool mask_url_login(struct masker *m) {
    struct pt_str rest = pt_str_skip(m->text, m->at);
    if (!pt_str_starts(rest, PT_STR("://")))
        return false;
    size_t start = m->at + 3, end = authority_end(m, start);
    const char *sign = memrchr(m->text.at + start, '@', end - start);
    if (!sign)
        return false;
    struct pt_str login = { m->text.at + start, (size_t)(sign - m->text.at) - start };
    const char *colon = memchr(login.at, ':', login.len);
    size_t kept = colon ? (size_t)(colon - login.at) + 1 : login.len >= 16 ? 0 : login.len;
    pt_buf_str(m->out, piece(m, m->at, start + kept));
    if (kept < login.len)
        pt_buf_str(m->out, PT_MASK);
    m->at = start + login.len;
    return true;
}

/* user:password@host without a scheme; not image:tag@sha256:... */
static bool mask_bare_login(struct masker *m) {
    size_t limit = m->at + LOGIN_BYTES < m->text.len ? m->at + LOGIN_BYTES : m->text.len;
    size_t at = m->at;
    bool letter_seen = false;
    for (; at < limit && is_name_char(m->text.at[at]); at++)
        letter_seen |= isalpha((unsigned char)m->text.at[at]) != 0;
    if (!letter_seen || peek(m, at) != ':')
        return false;
    size_t password = at + 1;
    for (at = password; at < limit; at++) {
        char c = m->text.at[at];
        if (c == '@' || c == '/' || is_blank(c) || is_quote(c))
            break;
    }
    struct pt_str host = pt_str_skip(m->text, at + 1);
    if (at == password || peek(m, at) != '@' || host.len == 0 ||
        !(isalnum((unsigned char)host.at[0]) || host.at[0] == '[') ||
        pt_str_starts(host, PT_STR("sha256:")) || pt_str_starts(host, PT_STR("sha512:")))
        return false;
    pt_buf_str(m->out, piece(m, m->at, password));
    pt_buf_str(m->out, PT_MASK);
    m->at = at;
    return true;
}

/* A name and the position of its value; the text between them decides where the value ends. */
struct assignment {
    size_t name, name_end; /* including leading dashes */
    size_t value, end;
    bool is_option, is_quoted_name, is_header, is_next_word;
};

/* Quotes and backslashes that close a quoted name: "name": and \"name\": */
static size_t skip_closing_quotes(const struct masker *m, size_t at) {
    while (is_quote(peek(m, at)) || (peek(m, at) == '\\' && is_quote(peek(m, at + 1))))
        at++;
    return at;
}

/* The value of `--option value` within one word; not the next option. */
static bool find_option_value(const struct masker *m, struct assignment *a, size_t at) {
    a->value = skip_blanks(m, at);
    a->is_next_word = true;
    if (!a->is_option || a->value == at || a->value == m->text.len)
        return false;
    return peek(m, a->value) != '-' ||
           (peek(m, a->value + 1) != '-' && !is_blank(peek(m, a->value + 2)));
}

static bool find_value(const struct masker *m, struct assignment *a) {
    size_t quotes_end = skip_closing_quotes(m, a->name_end);
    size_t sign = skip_blanks(m, quotes_end);
    a->is_quoted_name = quotes_end > a->name_end;
    if (peek(m, sign) != '=' && peek(m, sign) != ':')
        return !a->is_quoted_name && find_option_value(m, a, a->name_end);
    char after = peek(m, sign + 1);
    bool is_colon = peek(m, sign) == ':';
    /* a::b, secrets:/run/secrets */
    if (is_colon && (after == ':' || after == '/'))
        return false;
    while (peek(m, sign + 1) == '=' || peek(m, sign + 1) == '>')
        sign++;
    a->value = skip_blanks(m, sign + 1);
    a->is_header = is_colon && !a->is_quoted_name && a->value > sign + 1;
    return a->value < m->text.len;
}

/* Authorization: Bearer x -- the first word belongs to the value. */
static size_t skip_scheme(const struct masker *m, size_t at) {
    static const char *const schemes[] = { "bearer", "basic", "token", "digest", "apikey" };
    size_t end = at;
    while (isalpha((unsigned char)peek(m, end)))
        end++;
    if (!is_blank(peek(m, end)) || !is_one_of(piece(m, at, end), schemes, PT_COUNT(schemes)))
        return at;
    return skip_blanks(m, end);
}

static size_t quoted_end(const struct masker *m, size_t at, char quote) {
    while (at < m->text.len && m->text.at[at] != quote)
        at += m->text.at[at] == '\\' ? 2 : 1;
    return at < m->text.len ? at : m->text.len;
}

/* The end of a value without quotes. */
static size_t plain_end(const struct masker *m, const struct assignment *a) {
    char before = a->name > 0 ? m->text.at[a->name - 1] : 0;
    bool is_query = before == '?' || before == '&';
    size_t at = skip_scheme(m, a->value);
    for (; at < m->text.len; at++) {
        char c = m->text.at[at];
        if ((m->quote && c == m->quote) || c == '\n' || (is_blank(c) && !a->is_header) ||
            (is_query && (c == '&' || c == '#')) || (a->is_quoted_name && strchr(",}]", c)))
            break;
    }
    return at;
}

/* Sets where the value ends; steps over an opening quote. */
static void find_end(struct masker *m, struct assignment *a, bool is_whole_word) {
    char first = peek(m, a->value);
    if (a->is_quoted_name)
        m->quote = 0;
    if (is_whole_word || first == '\\' || (a->is_quoted_name && (first == '[' || first == '{'))) {
        a->end = m->text.len;
    } else if (is_quote(first)) {
        a->value++;
        a->end = quoted_end(m, a->value, first);
    } else {
        a->end = plain_end(m, a);
    }
}

bool pt_mask_is_harmless(struct pt_str value) {
    static const char *const words[] = { "true", "false", "null", "none" };
    return value.len == 0 || is_one_of(value, words, PT_COUNT(words));
}

/* Signatures of storage URLs: secret in a query, harmless as an option. */
static bool is_secret_in_query(const struct masker *m, const struct assignment *a) {
    static const char *const names[] = { "sig", "signature", "x-amz-signature", "x-goog-signature",
                                         "key" };
    char before = a->name > 0 ? m->text.at[a->name - 1] : 0;
    return (before == '?' || before == '&') &&
           is_one_of(piece(m, a->name, a->name_end), names, PT_COUNT(names));
}

/* name=value, name: value, "name": "value", --name value. */
static bool mask_assignment(struct masker *m) {
    struct assignment a = { .name = m->at, .name_end = m->at };
    while (is_name_char(peek(m, a.name_end)))
        a.name_end++;
    a.is_option = peek(m, a.name) == '-';
    if (a.name_end == a.name || (a.name > 0 && m->text.at[a.name - 1] == '/') || !find_value(m, &a))
        return false;
    if (!pt_mask_is_secret_name(piece(m, a.name, a.name_end)) && !is_secret_in_query(m, &a))
        return false;
    find_end(m, &a, a.name == 0 && !a.is_next_word);
    if (pt_mask_is_harmless(piece(m, a.value, a.end)))
        return false;
    pt_buf_str(m->out, piece(m, a.name, a.value));
    pt_buf_str(m->out, PT_MASK);
    m->at = a.end;
    if (a.value > 0 && is_quote(m->text.at[a.value - 1]) && m->at < m->text.len)
        pt_buf_u8(m->out, (uint8_t)m->text.at[m->at++]);
    return true;
}

static bool mask_here(struct masker *m) {
    char before = m->at > 0 ? m->text.at[m->at - 1] : 0;
    if (m->text.at[m->at] == ':')
        return mask_url_login(m);
    if (is_name_char(before))
        return false;
    if (mask_assignment(m) || mask_shape(m))
        return true;
    return before != '/' && before != ':' && mask_bare_login(m);
}

void pt_mask_text(struct pt_buf *out, struct pt_str text) {
    struct masker m = { .out = out, .text = text };
    while (m.at < text.len) {
        if (mask_here(&m))
            continue;
        char c = text.at[m.at];
        bool is_escaped = m.at > 0 && text.at[m.at - 1] == '\\';
        if (is_quote(c) && !is_escaped && (m.quote == 0 || m.quote == c))
            m.quote = m.quote ? 0 : c;
        pt_buf_u8(out, (uint8_t)c);
        m.at++;
    }
}
