/* base/mask.h -- the one gate that hides secrets in text of others: command lines, environments,
 * URLs, labels, names, messages.
 *
 *     vllm serve m --api-key abc           vllm serve m --api-key ***
 *     curl -H "Authorization: Bearer x"    curl -H 'Authorization: ***'
 *     postgres://joe:pw@db/x               postgres://joe:***@db/x
 *     https://hooks.slack.com/a/b?c=1      https://hooks.slack.com/(***)?c=1, without the brackets
 *     hf_AbCdEf... (known token shapes)    ***
 *
 * Every string cell of a sample passes it (pt_set_str), every string of the static information,
 * every message and every error. Names of secrets are tables in mask_name.c, shapes of tokens those
 * in mask_shape.c. If the end of a secret is unclear, more is masked rather than less. Masked text
 * stays as it is when it is masked again. */
#ifndef PT_BASE_MASK_H
#define PT_BASE_MASK_H

#include <stdarg.h>

#include "base/buf.h"
#include "base/str.h"

/* The replacement for a secret. */
#define PT_MASK PT_STR("***")

/* What the words before say about the next one; {0} before the first. */
struct pt_mask_words {
    enum pt_mask_next {
        PT_MASK_TEXT,
        PT_MASK_SECRET,
        PT_MASK_LOGIN,
        PT_MASK_PEM,
        PT_MASK_PEM_END
    } next;
    const struct pt_mask_program *program; /* one whose short options have secrets, or NULL */
};

/* True if values of this name are secrets: "--api-key", "HF_TOKEN", "db.password", "clientSecret".
 * False for "--max-tokens", "--eos-token", "--tokenizer", "--password-file", "monkey". */
bool pt_mask_is_secret_name(struct pt_str name);

/* Appends any text (a URL, JSON, a shell command) with its secrets masked: at most three times the
 * bytes, and PT_MASK_MAX(bytes). */
#define PT_MASK_MAX(bytes) (3 * (bytes))
void pt_mask_text(struct pt_buf *out, struct pt_str text);

/* The same for a message, without allocating: formatted, masked, cut to fit. Control characters of
 * others become visible (base/utf8.h), so that it is one line that no terminal obeys. */
void pt_mask_message(char *into, size_t capacity, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* True if masking would change nothing. */
bool pt_mask_is_clean(struct pt_str text);

/* True for values that are never secrets: empty, true, false, null, none. */
bool pt_mask_is_harmless(struct pt_str value);

/* Appends one word of a command line, masked, not quoted. */
void pt_mask_word(struct pt_buf *out, struct pt_str word, struct pt_mask_words *words);

/* Appends the value of a variable; masks all of it if the name is that of a secret. */
void pt_mask_value(struct pt_buf *out, struct pt_str name, struct pt_str value);

/* Append one line: masked words separated by blanks, quoted for the shell where needed, control
 * characters as $'\n'. The first accepts the text of /proc/PID/cmdline and drops trailing NULs
 * (processes that changed their title leave many). */
void pt_mask_arguments(struct pt_buf *out, struct pt_str nul_separated);
void pt_mask_argv(struct pt_buf *out, char *const argv[]);

#endif
