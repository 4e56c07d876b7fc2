/* base/mask.h -- hides secrets in command lines, environments and URLs before they are stored.
 *
 *     vllm serve m --api-key abc           vllm serve m --api-key ***
 *     curl -H "Authorization: Bearer x"    curl -H 'Authorization: ***'
 *     postgres://joe:pw@db/x               postgres://joe:***@db/x
 *     hf_AbCdEf... (known token shapes)    ***
 *
 * If the end of a secret is unclear, more is masked rather than less. Secrets attached to a short
 * option (`mysql -pabc`) look like other words and are not masked, unless they have the shape of a
 * known token; `-u user:password` is masked. */
#ifndef PT_BASE_MASK_H
#define PT_BASE_MASK_H

#include "base/buf.h"
#include "base/str.h"

/* The replacement for a secret. */
#define PT_MASK PT_STR("***")

/* What the previous word says about the next one. */
enum pt_mask_next { PT_MASK_TEXT, PT_MASK_SECRET, PT_MASK_LOGIN };

/* True if values of this name are secrets: "--api-key", "HF_TOKEN", "db.password", "clientSecret".
 * False for "--max-tokens", "--eos-token", "--tokenizer", "--password-file", "monkey". */
bool pt_mask_is_secret_name(struct pt_str name);

/* Appends any text (a URL, JSON, a shell command) with its secrets masked. */
void pt_mask_text(struct pt_buf *out, struct pt_str text);

/* True for values that are never secrets: empty, true, false, null, none. */
bool pt_mask_is_harmless(struct pt_str value);

/* Appends one word of a command line, masked, not quoted. `next` carries from word to word whether
 * the next word is the value of an option; it starts as PT_MASK_TEXT. */
void pt_mask_word(struct pt_buf *out, struct pt_str word, enum pt_mask_next *next);

/* Appends the value of a variable; masks all of it if the name is that of a secret. */
void pt_mask_value(struct pt_buf *out, struct pt_str name, struct pt_str value);

/* Append one line: masked words separated by blanks, quoted for the shell where needed, control
 * characters as $'\n'. The first accepts the text of /proc/PID/cmdline and drops trailing NULs
 * (processes that changed their title leave many). */
void pt_mask_arguments(struct pt_buf *out, struct pt_str nul_separated);
void pt_mask_argv(struct pt_buf *out, char *const argv[]);

#endif
