/* Masks and quotes the words of a command line. */
#include "base/mask.h"

#include "base/attr.h"

#include <ctype.h>

static bool is_login_option(struct pt_str word) {
    static const char *const options[] = { "-u", "--user", "--proxy-user", "--basic-auth" };
    for (size_t i = 0; i < PT_COUNT(options); i++) {
        if (pt_str_eq(word, pt_str_from(options[i])))
            return true;
    }
    return false;
}

/* user:password; but 1000:1000 is a user and group as docker writes them. */
static void mask_login(struct pt_buf *out, struct pt_str word) {
    const char *colon = word.len > 0 ? memchr(word.at, ':', word.len) : NULL;
    bool is_number = true;
    for (size_t i = 0; i < word.len; i++)
        is_number &= isdigit((unsigned char)word.at[i]) || word.at[i] == ':';
    if (!colon || is_number) {
        pt_mask_text(out, word);
        return;
    }
    pt_buf_bytes(out, word.at, (size_t)(colon - word.at) + 1);
    pt_buf_str(out, PT_MASK);
}

/* --other or -x: the previous option had no value. */
static bool looks_like_option(struct pt_str word) {
    return pt_str_starts(word, PT_STR("--")) || (word.len == 2 && word.at[0] == '-');
}

void pt_mask_word(struct pt_buf *out, struct pt_str word, enum pt_mask_next *next) {
    enum pt_mask_next now = looks_like_option(word) ? PT_MASK_TEXT : *next;
    *next = PT_MASK_TEXT;
    if (now == PT_MASK_SECRET) {
        pt_buf_str(out, pt_mask_is_harmless(word) ? word : PT_MASK);
        return;
    }
    if (now == PT_MASK_LOGIN) {
        mask_login(out, word);
        return;
    }
    if (is_login_option(word))
        *next = PT_MASK_LOGIN;
    else if (word.len > 1 && word.at[0] == '-' && !memchr(word.at, '=', word.len) &&
             pt_mask_is_secret_name(word))
        *next = PT_MASK_SECRET;
    pt_mask_text(out, word);
}

void pt_mask_value(struct pt_buf *out, struct pt_str name, struct pt_str value) {
    if (pt_mask_is_secret_name(name))
        pt_buf_str(out, pt_mask_is_harmless(value) ? value : PT_MASK);
    else
        pt_mask_text(out, value);
}

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

enum quoting { QUOTE_NONE, QUOTE_SINGLE, QUOTE_ESCAPED };

static enum quoting quoting_of(struct pt_str word) {
    enum quoting needed = word.len == 0 ? QUOTE_SINGLE : QUOTE_NONE;
    for (size_t i = 0; i < word.len; i++) {
        if (is_control(word.at[i]))
            return QUOTE_ESCAPED;
        if (strchr(" '\"\\$`;&|<>()#!", word.at[i]))
            needed = QUOTE_SINGLE;
    }
    return needed;
}

static void append_escaped(struct pt_buf *out, char c) {
    static const char hex[] = "0123456789abcdef";
    if (c == '\'' || c == '\\') {
        pt_buf_u8(out, '\\');
        pt_buf_u8(out, (uint8_t)c);
    } else if (c == '\n') {
        pt_buf_str(out, PT_STR("\\n"));
    } else if (c == '\t') {
        pt_buf_str(out, PT_STR("\\t"));
    } else if (is_control(c)) {
        pt_buf_str(out, PT_STR("\\x"));
        pt_buf_u8(out, (uint8_t)hex[c >> 4 & 15]);
        pt_buf_u8(out, (uint8_t)hex[c & 15]);
    } else {
        pt_buf_u8(out, (uint8_t)c);
    }
}

static void append_quoted(struct pt_buf *out, struct pt_str word) {
    enum quoting quoting = quoting_of(word);
    if (quoting == QUOTE_NONE) {
        pt_buf_str(out, word);
        return;
    }
    pt_buf_str(out, quoting == QUOTE_ESCAPED ? PT_STR("$'") : PT_STR("'"));
    for (size_t i = 0; i < word.len; i++) {
        if (quoting == QUOTE_ESCAPED)
            append_escaped(out, word.at[i]);
        else if (word.at[i] == '\'')
            pt_buf_str(out, PT_STR("'\\''"));
        else
            pt_buf_u8(out, (uint8_t)word.at[i]);
    }
    pt_buf_u8(out, '\'');
}

/* A command line being written. */
struct line {
    struct pt_buf *out;
    struct pt_buf word;
    enum pt_mask_next next;
    bool has_words;
};

static void add_word(struct line *line, struct pt_str word) {
    if (line->has_words)
        pt_buf_u8(line->out, ' ');
    line->has_words = true;
    pt_buf_clear(&line->word);
    pt_mask_word(&line->word, word, &line->next);
    append_quoted(line->out, pt_buf_as_str(&line->word));
}

void pt_mask_arguments(struct pt_buf *out, struct pt_str nul_separated) {
    struct line line = { .out = out };
    struct pt_str rest = nul_separated;
    while (rest.len > 0 && rest.at[rest.len - 1] == 0)
        rest.len--;
    while (rest.len > 0) {
        const char *nul = memchr(rest.at, 0, rest.len);
        size_t n = nul ? (size_t)(nul - rest.at) : rest.len;
        add_word(&line, (struct pt_str){ rest.at, n });
        rest = pt_str_skip(rest, n + 1);
    }
    pt_buf_release(&line.word);
}

void pt_mask_argv(struct pt_buf *out, char *const argv[]) {
    struct line line = { .out = out };
    for (; *argv; argv++)
        add_word(&line, pt_str_from(*argv));
    pt_buf_release(&line.word);
}
