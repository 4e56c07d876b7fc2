/* inside/preload/walk.h -- walks from the caller to the root of the stack, by the rules of
 * .eh_frame, which are cached. A walk lists the words it has read: if they are all unchanged, so is
 * the result.
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
    uint64_t pc, sp, fp; /* the start, then the current frame */
    uint64_t stack_end;  /* limit of reads */
    uint64_t pcs[PT_HEAP_DEPTH];
    uint32_t depth;
    bool is_whole; /* the walk reached the root */
    /* What the result depends on besides `pc` and `sp`. */
    struct pt_walk_word words[PT_WALK_WORDS];
    uint32_t word_count; /* larger than PT_WALK_WORDS: they did not fit */
    bool uses_fp;
};

bool pt_walk_open(void);
/* Stores return addresses, without those inside our own library. */
void pt_walk(struct pt_walk *w, uint64_t own_start, uint64_t own_end);

#endif
