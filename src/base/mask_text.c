/* Finds secrets in a text: by the name before them, as part of a URL, or by their shape. */
#include "base/attr.h"
#include "base/mask_parts.h"

#include <ctype.h>

/* How far to look for the '@' after a password: bounds the work on hostile text. */
#define LOGIN_BYTES 512
/* No token with a known shape is shorter. */
#define SHAPE_MIN 14

struct masker {
    struct pt_buf *out;
    struct pt_str text;
    size_t at;
    char quote; /* the open quote, or 0 */
    const struct pt_mask_program *program;
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

/* Letters, digits, - _ and . */
static bool is_name_char(char c) {
    static const uint64_t set[] = { UINT64_C(0x03ff600000000000), UINT64_C(0x07fffffe87fffffe) };
    unsigned char u = (unsigned char)c;
    return u < 128 && (set[u / 64] >> u % 64 & 1);
}

static size_t skip_blanks(const struct masker *m, size_t at) {
    while (at < m->text.len && is_blank(m->text.at[at]))
        at++;
    return at;
}

/* From the end of a word to the next one: blanks, or the quotes and commas of a list of words as
 * Python and JSON write it: '--token', 'abc'. `at` if there is none. */
static size_t skip_gap(const struct masker *m, size_t at) {
    size_t next = at;
    bool is_apart = false;
    for (char c; (c = peek(m, next)) && (is_blank(c) || is_quote(c) || c == ',' || c == '\\');
         next++)
        is_apart |= is_blank(c) || c == ',';
    return is_apart && next < m->text.len ? next : at;
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

/* A token at the start of the word or behind one of - _ . in it, or attached to an option of one
 * letter: -pTOKEN. */
static bool mask_shape(struct masker *m, size_t word_end) {
    bool goes_on = peek(m, word_end) && strchr(":~+/=%", peek(m, word_end));
    for (size_t at = m->at; at < word_end && (goes_on || word_end - at >= SHAPE_MIN); at++) {
        char before = at > m->at ? m->text.at[at - 1] : '-';
        bool is_attached = at == m->at + 2 && m->text.at[m->at] == '-';
        if (!is_attached && before != '-' && before != '_' && before != '.')
            continue;
        size_t n = pt_mask_shape_length(pt_str_skip(m->text, at));
        if (n == 0)
            continue;
        pt_buf_str(m->out, piece(m, m->at, at));
        pt_buf_str(m->out, PT_MASK);
        m->at = at + n;
        return true;
    }
    return false;
}

/* -----BEGIN RSA PRIVATE KEY----- ... -----END RSA PRIVATE KEY-----, or up to the end. */
static bool mask_pem(struct masker *m, size_t word_end) {
    if (m->text.at[word_end - 1] != 'N' ||
        !pt_str_ends(piece(m, m->at, word_end), PT_STR("-----BEGIN")))
        return false;
    struct pt_str rest = pt_str_skip(m->text, word_end);
    const char *dashes = memmem(rest.at, rest.len, "-----", 5);
    size_t title = dashes ? (size_t)(dashes - rest.at) : rest.len;
    if (!memmem(rest.at, title, "PRIVATE", 7))
        return false;
    rest = pt_str_skip(rest, title + 5);
    const char *end = rest.len > 0 ? memmem(rest.at, rest.len, "-----END", 8) : NULL;
    const char *from = end ? end + 8 : pt_str_end(m->text);
    end = memmem(from, (size_t)(pt_str_end(m->text) - from), "-----", 5);
    pt_buf_str(m->out, PT_MASK);
    m->at = end ? (size_t)(end + 5 - m->text.at) : m->text.len;
    return true;
}

/* Bearer abc, Basic YWJj: in a sentence, too. */
static bool mask_scheme(struct masker *m, size_t word_end) {
    struct pt_str word = piece(m, m->at, word_end);
    size_t value = skip_gap(m, word_end), end = value;
    if (word.len < 5 || word.len > 6 || value == word_end)
        return false;
    bool is_bearer = equals_ignoring_case(word, "bearer");
    if (!is_bearer && !equals_ignoring_case(word, "basic"))
        return false;
    while (is_name_char(peek(m, end)) || (peek(m, end) && strchr("~+/=", peek(m, end))))
        end++;
    struct pt_str text = piece(m, value, end);
    struct pt_mask_look look = pt_mask_look_at(pt_str_skip(text, 1));
    bool is_long = is_bearer && text.len >= 20;
    bool is_mixed = look.digits > 0 || look.upper > 0 || pt_str_ends(text, PT_STR("="));
    if (text.len < 8 || !(is_long || (is_mixed && (is_bearer || text.len % 4 == 0))))
        return false;
    pt_buf_str(m->out, piece(m, m->at, value));
    pt_buf_str(m->out, PT_MASK);
    m->at = end;
    return true;
}

/* Hosts and paths of which the rest is a secret. */
static const char *const secret_paths[] = {
    "hooks.slack.com/", "hooks.slack-gov.com/", "hooks.zapier.com/",
    "maker.ifttt.com/", "api.telegram.org/",    "hc-ping.com/",
    "webhook.site/",    "webhook.office.com/",  "events.pagerduty.com/integration/",
    "discord.com/api/", "discordapp.com/api/",  "outlook.office.com/webhook/",
    "open.feishu.cn/",  "open.larksuite.com/",  "uptime.betterstack.com/api/",
    "logic.azure.com/", "chat.googleapis.com/", "m.pipedream.net/",
};

static bool starts_ignoring_case(struct pt_str s, const char *prefix) {
    size_t n = strlen(prefix);
    return s.len >= n && tolower((unsigned char)s.at[0]) == prefix[0] &&
           equals_ignoring_case((struct pt_str){ s.at, n }, prefix);
}

/* How much of host and path can be shown by the table above, or 0. */
static size_t shown_by_host(struct pt_str s) {
    for (size_t at = 0; at < s.len && s.at[at] != '/'; at++)
        for (size_t i = 0; i < PT_COUNT(secret_paths) && (at == 0 || s.at[at - 1] == '.'); i++)
            if (starts_ignoring_case(pt_str_skip(s, at), secret_paths[i]))
                return at + strlen(secret_paths[i]);
    return 0;
}

/* The same by a segment that is named after hooks; what follows must be long or have digits. */
static size_t shown_by_segment(struct pt_str s) {
    const char *path = s.len > 0 ? memchr(s.at, '/', s.len) : NULL;
    const char *hook = path ? memmem(path, (size_t)(pt_str_end(s) - path), "hook", 4) : NULL;
    const char *slash = hook ? memchr(hook, '/', (size_t)(pt_str_end(s) - hook)) : NULL;
    struct pt_str rest = pt_str_skip(s, slash ? (size_t)(slash - s.at) + 1 : s.len);
    return rest.len >= 16 || pt_mask_look_at(rest).digits > 0 ? s.len - rest.len : 0;
}

static size_t path_end(const struct masker *m, size_t at) {
    while (at < m->text.len && !is_blank(m->text.at[at]) && !is_quote(m->text.at[at]) &&
           !strchr("?#,;<>)", m->text.at[at]))
        at++;
    return at > 0 && m->text.at[at - 1] == ':' ? at - 1 : at; /* "https://h/x: timeout" */
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

/* The word before the scheme at `at`: "alert webhook https://..." */
static bool follows_webhook(const struct masker *m, size_t at) {
    while (at > 0 && is_name_char(m->text.at[at - 1]))
        at--;
    while (at > 0 && (is_blank(m->text.at[at - 1]) || strchr("=:\"'", m->text.at[at - 1])))
        at--;
    return at >= 7 && equals_ignoring_case(piece(m, at - 7, at), "webhook");
}

static bool is_user_name(struct pt_str s) {
    struct pt_mask_look look = pt_mask_look_at(s);
    return s.len < 16 && (look.digits == 0 || s.len < 8 || look.lower + look.upper == 0);
}

/* scheme://user:password@host, scheme://token@host and secret paths, at the colon. */
static bool mask_url(struct masker *m) {
    if (!pt_str_starts(pt_str_skip(m->text, m->at), PT_STR("://")))
        return false;
    size_t start = m->at + 3, end = authority_end(m, start), host = start;
    const char *sign = memrchr(m->text.at + start, '@', end - start);
    struct pt_str login = piece(m, start, sign ? (size_t)(sign - m->text.at) : start);
    const char *colon = login.len > 0 ? memchr(login.at, ':', login.len) : NULL;
    size_t user = colon ? (size_t)(colon - login.at) : login.len;
    bool hides_path = follows_webhook(m, m->at);
    pt_buf_str(m->out, PT_STR("://"));
    if (sign) {
        bool is_shown = is_user_name((struct pt_str){ login.at, user });
        pt_buf_str(m->out, is_shown ? (struct pt_str){ login.at, user } : PT_MASK);
        if (colon)
            pt_buf_str(m->out, PT_STR(":***"));
        host = start + login.len;
    }
    size_t end_of_path = path_end(m, host);
    struct pt_str whole = piece(m, sign ? host + 1 : host, end_of_path);
    const char *slash = whole.len > 0 ? memchr(whole.at, '/', whole.len) : NULL;
    size_t shown = hides_path && slash ? (size_t)(slash - whole.at) + 1 : shown_by_host(whole);
    if (shown == 0)
        shown = shown_by_segment(whole);
    m->at = host;
    if (shown > 0 && shown < whole.len) {
        pt_buf_str(m->out, piece(m, host, end_of_path - whole.len + shown));
        pt_buf_str(m->out, PT_MASK);
        m->at = end_of_path;
    }
    return true;
}

/* hooks.slack.com/... without a scheme. */
static bool mask_bare_hook(struct masker *m, size_t word_end) {
    if (peek(m, word_end) != '/' || (m->at > 0 && m->text.at[m->at - 1] == '/') ||
        !memchr(m->text.at + m->at, '.', word_end - m->at))
        return false;
    struct pt_str whole = piece(m, m->at, path_end(m, word_end));
    size_t shown = shown_by_host(whole);
    if (shown == 0 || shown == whole.len)
        return false;
    pt_buf_str(m->out, (struct pt_str){ whole.at, shown });
    pt_buf_str(m->out, PT_MASK);
    m->at += whole.len;
    return true;
}

/* user:password@host without a scheme; not image:tag@sha256:... */
static bool mask_bare_login(struct masker *m, size_t word_end) {
    size_t limit = m->at + LOGIN_BYTES < m->text.len ? m->at + LOGIN_BYTES : m->text.len;
    if (peek(m, word_end) != ':')
        return false;
    bool letter_seen = false;
    for (size_t i = m->at; i < word_end; i++)
        letter_seen |= isalpha((unsigned char)m->text.at[i]) != 0;
    if (!letter_seen)
        return false;
    size_t password = word_end + 1, at;
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
    a->value = skip_gap(m, at);
    a->is_next_word = true;
    if (!a->is_option || a->value == at)
        return false;
    return peek(m, a->value) != '-' ||
           (peek(m, a->value + 1) != '-' && !is_blank(peek(m, a->value + 2)));
}

static bool find_value(const struct masker *m, struct assignment *a) {
    size_t quotes_end = skip_closing_quotes(m, a->name_end);
    size_t sign = skip_blanks(m, quotes_end);
    a->is_quoted_name = quotes_end > a->name_end;
    if (peek(m, sign) != '=' && peek(m, sign) != ':')
        return find_option_value(m, a, a->name_end);
    char after = peek(m, sign + 1);
    bool is_colon = peek(m, sign) == ':';
    /* a::b, secrets:/run/secrets, "--api-key: not used", which is about an option */
    bool is_long_option = a->is_option && peek(m, a->name + 1) == '-';
    if (is_colon && (after == ':' || after == '/' || is_long_option))
        return false;
    while (peek(m, sign + 1) == '=' || peek(m, sign + 1) == '>')
        sign++;
    a->value = skip_blanks(m, sign + 1);
    a->is_header = is_colon && !a->is_quoted_name && !a->is_option && a->value > sign + 1;
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
    bool is_query = before && strchr("?&#", before);
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
    } else if (a->is_next_word && is_quote(m->text.at[a->value - 1])) {
        a->end = quoted_end(m, a->value, m->text.at[a->value - 1]);
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
    static const char *const names[] = {
        "sig",
        "signature",
        "x-amz-signature",
        "x-goog-signature",
        "x-amz-credential",
        "key",
        "code",
        "ticket",
        "sid",
        "st",
        "k",
        "t",
        "otp",
        "session",
        "sessionid",
        "awsaccesskeyid",
        "credential",
        "hash",
    };
    char before = a->name > 0 ? m->text.at[a->name - 1] : 0;
    return before && strchr("?&#", before) &&
           is_one_of(piece(m, a->name, a->name_end), names, PT_COUNT(names));
}

/* name=value, name: value, "name": "value", --name value. */
static bool mask_assignment(struct masker *m, size_t word_end) {
    struct assignment a = { .name = m->at, .name_end = word_end };
    a.is_option = peek(m, a.name) == '-';
    bool is_path = a.name > 0 && m->text.at[a.name - 1] == '/' && !a.is_option;
    if ((is_path && peek(m, word_end) != '=') || !find_value(m, &a))
        return false;
    enum pt_mask_name kind = pt_mask_name_kind(piece(m, a.name, a.name_end));
    if (kind == PT_MASK_PLAIN && !is_secret_in_query(m, &a))
        return false;
    struct masker saved = *m;
    find_end(m, &a, kind == PT_MASK_CERTAIN && a.name == 0 && !a.is_next_word);
    struct pt_str value = piece(m, a.value, a.end);
    while (value.len > 0 && strchr(",;.)", value.at[value.len - 1]))
        value.len--; /* of the sentence around it */
    if (pt_mask_is_harmless(value) ||
        (kind == PT_MASK_DOUBTFUL && !pt_mask_is_random(value) && !is_secret_in_query(m, &a))) {
        *m = saved;
        return false;
    }
    pt_buf_str(m->out, piece(m, a.name, a.value));
    pt_buf_str(m->out, PT_MASK);
    m->at = a.end;
    if (a.value > 0 && is_quote(m->text.at[a.value - 1]) && m->at < m->text.len)
        pt_buf_u8(m->out, (uint8_t)m->text.at[m->at++]);
    return true;
}

/* mysql -pabc and -u joe:abc in the text of a shell command. */
static bool mask_option(struct masker *m, size_t word_end) {
    char before = m->at > 0 ? m->text.at[m->at - 1] : 0;
    struct pt_str word = piece(m, m->at, word_end);
    const struct pt_mask_program *program = pt_mask_program_of(word);
    m->program = program ? program : m->program;
    enum pt_mask_next kind = PT_MASK_TEXT;
    if (word.at[0] == '-' && !is_name_char(before))
        kind = pt_mask_option(m->program, word);
    bool is_attached = word.len > 2 && word.at[1] != '-';
    size_t value = is_attached ? m->at + 2 : skip_gap(m, word_end), end = value;
    if (kind == PT_MASK_TEXT || (!is_attached && (value == word_end || peek(m, value) == '-')))
        return false;
    while (end < m->text.len && !is_blank(m->text.at[end]) && !is_quote(m->text.at[end]))
        end++;
    size_t shown = value;
    if (kind == PT_MASK_LOGIN) {
        struct pt_mask_look look = pt_mask_look_at(piece(m, value, end));
        while (shown < end && m->text.at[shown] != ':' && m->text.at[shown] != '%')
            shown++;
        if (shown++ == end || look.lower + look.upper == 0) /* no password; 1000:1000 */
            return false;
    }
    if (shown == end)
        return false;
    pt_buf_str(m->out, piece(m, m->at, shown));
    pt_buf_str(m->out, PT_MASK);
    m->at = end;
    return true;
}

static bool mask_word_here(struct masker *m, size_t word_end) {
    char before = m->at > 0 ? m->text.at[m->at - 1] : 0;
    return mask_option(m, word_end) || mask_assignment(m, word_end) || mask_pem(m, word_end) ||
           mask_scheme(m, word_end) || mask_bare_hook(m, word_end) || mask_shape(m, word_end) ||
           (before != '/' && before != ':' && mask_bare_login(m, word_end));
}

/* Most names of processes, devices and spans: nothing in them can be a secret. */
static bool is_one_name(struct pt_str text) {
    size_t i = 0;
    while (i < text.len && is_name_char(text.at[i]))
        i++;
    return i == text.len;
}

void pt_mask_text(struct pt_buf *out, struct pt_str text) {
    struct masker m = { .out = out, .text = text };
    if (text.len < SHAPE_MIN && is_one_name(text)) {
        pt_buf_str(out, text);
        return;
    }
    while (m.at < text.len) {
        char c = text.at[m.at];
        size_t end = m.at;
        while (is_name_char(peek(&m, end)))
            end++;
        if (end > m.at ? mask_word_here(&m, end) : c == ':' && mask_url(&m))
            continue;
        bool is_escaped = m.at > 0 && text.at[m.at - 1] == '\\';
        if (is_quote(c) && !is_escaped && (m.quote == 0 || m.quote == c))
            m.quote = m.quote ? 0 : c;
        end = end > m.at ? end : m.at + 1;
        pt_buf_str(out, piece(&m, m.at, end));
        m.at = end;
    }
}
