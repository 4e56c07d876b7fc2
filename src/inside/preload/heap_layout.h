/* inside/preload/heap_layout.h -- what libpitot-heap.so and the recorder share besides the records
 * (inside/preload/record_layout.h): variables of the environment and, when every allocation is
 * recorded, the tables of stacks behind the ring. */
#ifndef PT_INSIDE_PRELOAD_HEAP_LAYOUT_H
#define PT_INSIDE_PRELOAD_HEAP_LAYOUT_H

#include "inside/preload/record_layout.h"

/* Options of Pitot have variables too (base/options.h): none is called like these. */
#define PT_HEAP_DIRECTORY   "PITOT_HEAP_DIRECTORY" /* where the file goes; without it: off */
#define PT_HEAP_MEAN        "PITOT_HEAP_MEAN"      /* bytes between samples; 0: every allocation */
#define PT_HEAP_STACK       "PITOT_HEAP_STACK"  /* bytes of stack that go with a sample, at most */
#define PT_HEAP_SEED        "PITOT_HEAP_SEED"   /* the same numbers every time; for tests */
#define PT_HEAP_ARENAS      "PITOT_HEAP_ARENAS" /* 1: mmap counts as an allocation */
#define PT_HEAP_FILE_ENDING ".heap"

#define PT_HEAP_STACKS      (1u << 20) /* of mode "every"; 0 is "not known" */
#define PT_HEAP_NODES       (8u << 20) /* of the tree that the stacks are paths of */
#define PT_HEAP_DEPTH       256        /* of one */
#define PT_HEAP_CHUNK       4096u      /* so many stacks or nodes get memory at a time */

/* Of mode "every": a frame and its caller, which has a smaller number. Stacks that begin alike
 * share their nodes. Below the leaf of a native stack hang the frames of Python, the outermost
 * first; an address never looks like one of them. */
struct pt_heap_node {
    uint64_t pc; /* a return address, or pt_preload_python_pc() */
    uint32_t parent;
    uint32_t stack; /* that ends here, or 0 */
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

/* The first two have no frame: what hangs from one is a whole stack, or only the part of one near
 * its leaf that could be walked. */
enum { PT_HEAP_WHOLE, PT_HEAP_PART, PT_HEAP_FIRST_NODE };

/* A stack and what was allocated from it. */
struct pt_heap_stack {
    uint32_t node;   /* its leaf; written last: 0 is not there yet */
    uint32_t thread; /* that was here first */
    uint64_t allocated_count, allocated_bytes;
    uint64_t freed_count, freed_bytes;
    uint64_t temporary_count, temporary_bytes;
    uint64_t peak_count, peak_bytes; /* live at the time of the peak */
};

_Static_assert(sizeof(struct pt_heap_node) == 16, "ABI");
_Static_assert(sizeof(struct pt_heap_stack) == 72, "ABI");

#endif
