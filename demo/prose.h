/* demo/prose.h -- text for prompts. */
#ifndef PT_DEMO_PROSE_H
#define PT_DEMO_PROSE_H

#include "base/buf.h"

/* Appends English text that starts at a random position and repeats. */
void pt_prose_append(struct pt_buf *text, size_t length, uint64_t *random);

#endif
