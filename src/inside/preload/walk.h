/* inside/preload/walk.h -- from here to the root of the stack, by the rules of .eh_frame, each kept
 * once it is known. What a walk read is kept with it: if all of it is the same again, so is the
 * result.
 */
#ifndef PT_INSIDE_PRELOAD_WALK_H
#define PT_INSIDE_PRELOAD_WALK_H

#include "inside/preload/heap_layout.h"

#include <stdbool.h>

#define PT_WALK_WORDS 192

struct pt_walk_word {
    uint64_t address, value;
};

struct pt_walk {
    uint64_t pc, sp, fp; /* where it starts, then where it is */
    uint64_t stack_end;  /* nothing is read from there on */
    uint64_t pcs[PT_HEAP_DEPTH];
    uint32_t depth;
    bool is_whole; /* it reached the root */
    /* What the result depends on besides `pc` and `sp`. */
    struct pt_walk_word words[PT_WALK_WORDS];
    uint32_t word_count; /* more than PT_WALK_WORDS: they did not fit */
    bool uses_fp;
};

bool pt_walk_open(void);
/* Return addresses from the caller on; those inside our own library are left out. */
void pt_walk(struct pt_walk *w, uint64_t own_start, uint64_t own_end);

#endif
