/* inside/preload/heap_layout.h -- the mapped file in which a process with libpitot-heap.so leaves
 * what it allocates, and a recorder reads it. Like inside/region/layout.h an ABI between programs
 * of one version: fixed widths, little endian; anything new is a new version.
 *
 *     header | ring of records | only when every allocation is recorded: stacks, nodes
 *
 * The ring has many writers and one reader. Positions only grow. A writer claims bytes by moving
 * `claimed`, writes its record and last of all the stamp, which is made of the position: a record
 * is whole if it has the stamp of its place, whatever lay there before. The reader moves `read`.
 * Nobody waits: what finds no room is counted as dropped. */
#ifndef PT_INSIDE_PRELOAD_HEAP_LAYOUT_H
#define PT_INSIDE_PRELOAD_HEAP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define PT_HEAP_MAGIC   UINT64_C(0x50414548544f5450) /* "PTOTHEAP" */
#define PT_HEAP_VERSION 2
#define PT_HEAP_STAMP   UINT64_C(0x9d1c3a5e77b20f43)

/* Options of Pitot have variables too (base/options.h): none is called like these. */
#define PT_HEAP_DIRECTORY   "PITOT_HEAP_DIRECTORY" /* where the file goes; without it: off */
#define PT_HEAP_MEAN        "PITOT_HEAP_MEAN"      /* bytes between samples; 0: every allocation */
#define PT_HEAP_STACK       "PITOT_HEAP_STACK"  /* bytes of stack that go with a sample, at most */
#define PT_HEAP_SEED        "PITOT_HEAP_SEED"   /* the same numbers every time; for tests */
#define PT_HEAP_ARENAS      "PITOT_HEAP_ARENAS" /* 1: mmap counts as an allocation */
#define PT_HEAP_FILE_ENDING ".heap"

#define PT_HEAP_RING_BYTES  (4u << 20) /* a power of two */
#define PT_HEAP_ALIGNMENT   16u        /* of records */
#define PT_HEAP_RECORD_MAX  (128u << 10)
#define PT_HEAP_STACK_MAX   (64u << 10)
#define PT_HEAP_REGISTERS   9           /* in the order of profile/unwind/registers.c */
#define PT_HEAP_PYTHON_MAX  512         /* frames of Python that go with an allocation */
#define PT_HEAP_CODES       (64u << 10) /* of Python; a power of two */

#define PT_HEAP_STACKS      (1u << 20) /* of mode "every"; 0 is "not known" */
#define PT_HEAP_NODES       (8u << 20) /* of the tree that the stacks are paths of */
#define PT_HEAP_DEPTH       256        /* of one */
#define PT_HEAP_CHUNK       4096u      /* so many stacks or nodes get memory at a time */

enum { PT_HEAP_EVERY = 1, PT_HEAP_OWN_MALLOC = 2 };

/* What the process found of Python in itself. */
enum pt_heap_python {
    PT_HEAP_NO_PYTHON,
    PT_HEAP_PYTHON,
    PT_HEAP_PYTHON_UNKNOWN, /* a version, or a build, whose frames cannot be followed */
};

struct pt_heap_header {
    uint64_t magic; /* written last */
    uint32_t version, header_size;
    uint64_t size, ring_offset, ring_size, stacks_offset, nodes_offset;
    uint64_t mean_bytes;
    int64_t start_mono_ns, start_wall_ns;
    uint32_t pid, flags;
    uint8_t reserved[128 - 88];
    /* Written by the process. */
    uint64_t claimed;
    uint64_t dropped_allocations, dropped_frees;
    uint64_t untracked; /* sampled, but their end will not be seen */
    uint32_t ring_given, stack_count, node_count, thread_count;
    uint64_t live_bytes, peak_bytes; /* of mode "every" */
    int64_t peak_mono_ns;
    uint64_t lost_stacks; /* allocations of stack 0: the table was full, or nothing was found */
    uint32_t python;      /* enum pt_heap_python */
    uint8_t reserved_process[44];
    /* Written by the reader. */
    uint64_t read;
    uint8_t reserved_reader[4096 - 128 - 128 - 8];
};

enum pt_heap_kind {
    PT_HEAP_ALLOCATION = 1,
    PT_HEAP_FREE,
    PT_HEAP_RESTORE,    /* the last free of this address did not happen: realloc failed */
    PT_HEAP_MAPS,       /* lines of /proc/self/maps that are executable */
    PT_HEAP_STACK_COPY, /* of a stack of the table that could not be walked */
    PT_HEAP_CODE,       /* a code object of Python, before the first frame of it */
    PT_HEAP_CPU,        /* of libpitot-cpu.so: a sample; `bytes` are the periods it stands for */
    PT_HEAP_CPU_REST,   /* likewise, but no sample: what a thread used behind its last one */
};

enum { PT_HEAP_TEMPORARY = 1, PT_HEAP_UNTRACKED = 2, PT_HEAP_IS_MMAP = 4 };

struct pt_heap_record {
    uint64_t stamp; /* position ^ PT_HEAP_STAMP, written last */
    uint32_t size;  /* of the whole record */
    uint16_t kind, flags;
};

struct pt_heap_allocation {
    struct pt_heap_record record;
    int64_t mono_ns;
    uint64_t address, bytes;
    uint32_t thread, stack_size;
    uint32_t stack;      /* of PT_HEAP_STACK_COPY: its number */
    uint32_t mean_shift; /* it was drawn with a mean of mean_bytes << mean_shift */
    uint32_t python_count, reserved[3];
    char name[16]; /* of the thread */
    uint64_t registers[PT_HEAP_REGISTERS];
    /* then the stack, from its pointer up, then the frames of Python */
};

/* A frame of Python; the leaf is first. */
struct pt_heap_python_frame {
    uint32_t code; /* number; UINT32_MAX: a shim, or it could not be told */
    uint32_t instruction, flags;
};

/* Text of a code object: characters of 1, 2 or 4 bytes. */
struct pt_heap_code {
    struct pt_heap_record record;
    uint32_t number, first_line;
    uint32_t name_length, name_width, file_length, file_width;
    uint32_t lines_size, lines_form;
    /* then the name, the file and the table of lines */
};

struct pt_heap_free {
    struct pt_heap_record record;
    int64_t mono_ns;
    uint64_t address;
};

struct pt_heap_maps {
    struct pt_heap_record record;
    int64_t mono_ns;
    uint32_t thread, text_size;
    char name[16]; /* of the thread */
    /* then the text */
};

/* Of mode "every": a frame and its caller, which has a smaller number. Stacks that begin alike
 * share their nodes. Below the leaf of a native stack hang the frames of Python, the outermost
 * first; an address never looks like one of them. */
struct pt_heap_node {
    uint64_t pc; /* a return address, or pt_heap_python_pc() */
    uint32_t parent;
    uint32_t stack; /* that ends here, or 0 */
};

#define PT_HEAP_PYTHON_NODE (UINT64_C(1) << 63)
#define PT_HEAP_NO_CODE     UINT64_C(0xffffff)

static inline uint64_t pt_heap_python_pc(struct pt_heap_python_frame f) {
    uint64_t code = f.code < PT_HEAP_NO_CODE ? f.code : PT_HEAP_NO_CODE;
    return PT_HEAP_PYTHON_NODE | (uint64_t)(f.flags & 3) << 56 | code << 32 | f.instruction;
}

static inline struct pt_heap_python_frame pt_heap_python_frame_of(uint64_t pc) {
    uint64_t code = pc >> 32 & PT_HEAP_NO_CODE;
    struct pt_heap_python_frame f = { code == PT_HEAP_NO_CODE ? UINT32_MAX : (uint32_t)code,
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

_Static_assert(sizeof(struct pt_heap_header) == 4096, "ABI");
_Static_assert(offsetof(struct pt_heap_header, claimed) == 128, "ABI: a line for each side");
_Static_assert(offsetof(struct pt_heap_header, read) == 256, "ABI: a line for each side");
_Static_assert(sizeof(struct pt_heap_record) == 16, "ABI");
_Static_assert(sizeof(struct pt_heap_allocation) == 160, "ABI");
_Static_assert(sizeof(struct pt_heap_free) == 32, "ABI");
_Static_assert(sizeof(struct pt_heap_maps) == 48, "ABI");
_Static_assert(sizeof(struct pt_heap_python_frame) == 12, "ABI");
_Static_assert(sizeof(struct pt_heap_code) == 48, "ABI");
_Static_assert(sizeof(struct pt_heap_node) == 16, "ABI");
_Static_assert(sizeof(struct pt_heap_stack) == 72, "ABI");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ABI");

#endif
