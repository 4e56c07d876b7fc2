/* inside/preload/heap_layout.h -- what libpitot-heap.so and the recorder share besides the records
 * (inside/preload/record_layout.h): environment variables and, if every allocation is recorded, the
 * tables of stacks after the ring. */
#ifndef PT_INSIDE_PRELOAD_HEAP_LAYOUT_H
#define PT_INSIDE_PRELOAD_HEAP_LAYOUT_H

#include "inside/preload/record_layout.h"

/* Pitot's options have variables too (base/options.h); these names must differ from them. */
#define PT_HEAP_DIRECTORY "PITOT_HEAP_DIRECTORY" /* directory of the file; unset: off */
/* mean bytes between samples; 0: every allocation */
#define PT_HEAP_MEAN        "PITOT_HEAP_MEAN"
#define PT_HEAP_STACK       "PITOT_HEAP_STACK"  /* maximum bytes of stack per sample */
#define PT_HEAP_SEED        "PITOT_HEAP_SEED"   /* fixed random seed, for tests */
#define PT_HEAP_ARENAS      "PITOT_HEAP_ARENAS" /* 1: mmap counts as an allocation */
#define PT_HEAP_FILE_SUFFIX ".heap"

#define PT_HEAP_STACKS      (1u << 20) /* in mode "every"; number 0 is "unknown" */
#define PT_HEAP_NODES       (8u << 20) /* of the tree of stacks */
#define PT_HEAP_DEPTH       256        /* frames of one stack */
#define PT_HEAP_CHUNK       4096u      /* stacks or nodes that get memory at a time */

/* In mode "every": a frame and its caller, which has a smaller number. Stacks with common callers
 * share nodes. Python frames follow the leaf of the native stack, outermost first; they cannot be
 * confused with addresses. */
struct pt_heap_node {
    uint64_t pc; /* a return address, or pt_preload_python_pc() */
    uint32_t parent;
    uint32_t stack; /* the stack that ends here, or 0 */
};

#define PT_HEAP_PYTHON_NODE (UINT64_C(1) << 63)
#define PT_PRELOAD_NO_CODE  UINT64_C(0xffffff)

static inline uint64_t pt_preload_python_pc(struct pt_preload_python_frame f) {
    uint64_t code = f.code < PT_PRELOAD_NO_CODE ? f.code : PT_PRELOAD_NO_CODE;
    return PT_HEAP_PYTHON_NODE | (uint64_t)(f.flags & 3) << 56 | code << 32 | f.instruction;
}

static inline struct pt_preload_python_frame pt_preload_python_frame_of(uint64_t pc) {
    uint64_t code = pc >> 32 & PT_PRELOAD_NO_CODE;
    struct pt_preload_python_frame f = { code == PT_PRELOAD_NO_CODE ? UINT32_MAX : (uint32_t)code,
                                         (uint32_t)pc, (uint32_t)(pc >> 56) & 3 };
    return f;
}

/* The first two nodes have no frame: they are the roots of complete stacks, and of stacks that
 * could be walked only near their leaf. */
enum { PT_HEAP_WHOLE, PT_HEAP_PART, PT_HEAP_FIRST_NODE };

/* A stack and what was allocated from it. */
struct pt_heap_stack {
    uint32_t node;   /* its leaf; written last, 0: not complete yet */
    uint32_t thread; /* the first thread with this stack */
    uint64_t allocated_count, allocated_bytes;
    uint64_t freed_count, freed_bytes;
    uint64_t temporary_count, temporary_bytes;
    uint64_t peak_count, peak_bytes; /* live at the time of the peak */
};

_Static_assert(sizeof(struct pt_heap_node) == 16, "ABI");
_Static_assert(sizeof(struct pt_heap_stack) == 72, "ABI");

#endif
