/* base/mask.h -- hides secrets in command lines, environments and URLs before they are stored.
 *
 *     vllm serve m --api-key abc           vllm serve m --api-key ***
 *     curl -H "Authorization: Bearer x"    curl -H 'Authorization: ***'
 *     postgres://joe:pw@db/x               postgres://joe:***@db/x
 *     hf_AbCdEf... (known token shapes)    ***
 *
 * Where it is unclear how far a secret reaches, more is hidden rather than less.
 * Secrets behind a short option (`mysql -pabc`) cannot be told from other words and stay,
 * unless their shape gives them away; `-u user:password` is known. */
#ifndef PT_BASE_MASK_H
#define PT_BASE_MASK_H

#include "base/buf.h"
#include "base/str.h"

/* What stands in place of a secret. */
#define PT_MASK PT_STR("***")

/* What the word before says about the next one. */
enum pt_mask_next { PT_MASK_TEXT, PT_MASK_SECRET, PT_MASK_LOGIN };

/* True for names whose value is a secret: "--api-key", "HF_TOKEN", "db.password", "clientSecret".
 * False for "--max-tokens", "--eos-token", "--tokenizer", "--password-file", "monkey". */
bool pt_mask_is_secret_name(struct pt_str name);

/* Appends any text with the secrets in it masked: a URL, JSON, a shell command. */
void pt_mask_text(struct pt_buf *out, struct pt_str text);

/* Values that hide nothing: empty, true, false, null, none. */
bool pt_mask_is_harmless(struct pt_str value);

/* Appends one word of a command line, masked, not quoted. `next` carries from word to word what
 * an option says about its value; it starts as PT_MASK_TEXT. */
void pt_mask_word(struct pt_buf *out, struct pt_str word, enum pt_mask_next *next);

/* Appends the value of a variable: all of it is hidden if the name is a secret's. */
void pt_mask_value(struct pt_buf *out, struct pt_str name, struct pt_str value);

/* Appends one line: masked words with a blank between them, quoted for the shell where needed,
 * control characters as $'\n'. The first takes the text of /proc/PID/cmdline, whose trailing NULs
 * (processes that changed their title leave many) are dropped. */
void pt_mask_arguments(struct pt_buf *out, struct pt_str nul_separated);
void pt_mask_argv(struct pt_buf *out, char *const argv[]);

#endif
