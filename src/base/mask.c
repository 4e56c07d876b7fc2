/* Masks and quotes the words of a command line. */
#include "base/mask.h"

#include "base/attr.h"
#include "base/mask_parts.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>

#define MESSAGE_BYTES 1024
#define CUT_BYTES     256

/* user:password; but 1000:1000 is a user and group as docker writes them. */
static void mask_login(struct pt_buf *out, struct pt_str word) {
    const char *colon = word.len > 0 ? memchr(word.at, ':', word.len) : NULL;
    if (!colon && word.len > 0)
        colon = memchr(word.at, '%', word.len);
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

/* Options of one letter with an attached value; true if it is written. */
static bool mask_attached(struct pt_buf *out, struct pt_str word, enum pt_mask_next kind) {
    if (kind == PT_MASK_TEXT || word.len <= 2 || word.at[1] == '-')
        return false;
    pt_buf_bytes(out, word.at, 2);
    if (kind == PT_MASK_LOGIN)
        mask_login(out, pt_str_skip(word, 2));
    else
        pt_buf_str(out, PT_MASK);
    return true;
}

/* The words of a key that was not quoted: -----BEGIN PRIVATE KEY----- MII... -----END ... */
static bool mask_pem_word(struct pt_buf *out, struct pt_str word, struct pt_mask_words *words) {
    bool is_begin = pt_str_eq(word, PT_STR("-----BEGIN"));
    if (words->next != PT_MASK_PEM && words->next != PT_MASK_PEM_END && !is_begin)
        return false;
    if (pt_str_starts(word, PT_STR("-----END")))
        words->next = PT_MASK_PEM_END;
    else if (words->next == PT_MASK_PEM_END && pt_str_ends(word, PT_STR("-----")))
        words->next = PT_MASK_TEXT;
    else if (is_begin)
        words->next = PT_MASK_PEM;
    pt_buf_str(out, PT_MASK);
    return true;
}

/* What the word says about the one behind it. */
static enum pt_mask_next next_after(struct pt_str word) {
    struct pt_str name = word;
    if (pt_str_eq(word, PT_STR("Bearer")) || pt_str_eq(word, PT_STR("bearer")) ||
        pt_str_eq(word, PT_STR("Basic")))
        return PT_MASK_SECRET;
    bool is_header = pt_str_ends(word, PT_STR(":")); /* Authorization: Bearer x, not quoted */
    name.len -= is_header;
    bool is_name = word.len > 1 && (word.at[0] == '-' || is_header) &&
                   !memchr(word.at, '=', word.len) && pt_mask_is_secret_name(name);
    return is_name ? PT_MASK_SECRET : PT_MASK_TEXT;
}

void pt_mask_word(struct pt_buf *out, struct pt_str word, struct pt_mask_words *words) {
    if (mask_pem_word(out, word, words))
        return;
    enum pt_mask_next now = looks_like_option(word) ? PT_MASK_TEXT : words->next;
    enum pt_mask_next option = pt_mask_option(words->program, word), next = next_after(word);
    bool has_value = word.len > 2 && word.at[1] != '-';
    if (option != PT_MASK_TEXT && !has_value)
        next = option;
    words->next = now == PT_MASK_TEXT || next == PT_MASK_SECRET ? next : PT_MASK_TEXT;
    const struct pt_mask_program *program = pt_mask_program_of(word);
    if (program)
        words->program = program;
    if (now == PT_MASK_SECRET)
        pt_buf_str(out, pt_mask_is_harmless(word) ? word : PT_MASK);
    else if (now == PT_MASK_LOGIN)
        mask_login(out, word);
    else if (!mask_attached(out, word, option))
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
    struct pt_mask_words words;
    bool has_words;
};

static void add_word(struct line *line, struct pt_str word) {
    if (line->has_words)
        pt_buf_u8(line->out, ' ');
    line->has_words = true;
    pt_buf_clear(&line->word);
    pt_mask_word(&line->word, word, &line->words);
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

bool pt_mask_is_clean(struct pt_str text) {
    struct pt_buf masked = { 0 };
    pt_mask_text(&masked, text);
    bool is_clean = pt_str_eq(pt_buf_as_str(&masked), text);
    pt_buf_release(&masked);
    return is_clean;
}

void pt_mask_message(char *into, size_t capacity, const char *format, va_list args) {
    char text[MESSAGE_BYTES + CUT_BYTES], masked[PT_MASK_MAX(sizeof text)];
    char shown[PT_PRINTABLE_MAX(MESSAGE_BYTES)];
    struct pt_buf safe = { (uint8_t *)masked, 0, sizeof masked };
    struct pt_buf line = { (uint8_t *)shown, 0, sizeof shown };
    int n = vsnprintf(text, sizeof text, format, args);
    pt_mask_text(&safe, pt_str_from(n < 0 ? "" : text));
    if (n >= (int)sizeof text) /* its end may be a secret that was cut and not known */
        safe.len -= safe.len < CUT_BYTES ? safe.len : CUT_BYTES;
    safe.len = safe.len < MESSAGE_BYTES ? safe.len : MESSAGE_BYTES;
    pt_utf8_printable(&line, pt_buf_as_str(&safe), "");
    pt_str_copy(into, capacity, pt_buf_as_str(&line));
}
