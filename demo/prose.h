/* demo/prose.h -- text for prompts. */
#ifndef PT_DEMO_PROSE_H
#define PT_DEMO_PROSE_H

#include "base/buf.h"

/* Appends a stretch of English that begins somewhere, chosen by `random`, and goes on for ever. */
void pt_prose_append(struct pt_buf *text, size_t length, uint64_t *random);

#endif
