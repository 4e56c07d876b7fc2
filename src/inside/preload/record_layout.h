/* inside/preload/record_layout.h -- the mapped file into which a process with a preloaded library
 * (libpitot-heap.so, libpitot-cpu.so) writes records, and from which the recorder reads them. Like
 * inside/region/layout.h, an ABI between programs of one version: fixed widths, little endian; any
 * change is a new version.
 *
 *     header | ring of records | heap, every allocation: stacks, nodes (heap_layout.h)
 *
 * The ring has many writers and one reader. Positions only grow. A writer claims bytes by moving
 * `claimed`, writes its record and finally the stamp, which contains the position: a record is
 * complete if it has the stamp of its position, whatever was there before. The reader moves `read`.
 * Nobody waits: records that do not fit are counted as dropped. */
#ifndef PT_INSIDE_PRELOAD_RECORD_LAYOUT_H
#define PT_INSIDE_PRELOAD_RECORD_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define PT_PRELOAD_MAGIC      UINT64_C(0x50414548544f5450) /* "PTOTHEAP" */
#define PT_PRELOAD_VERSION    2
#define PT_PRELOAD_STAMP      UINT64_C(0x9d1c3a5e77b20f43)

#define PT_PRELOAD_RING_BYTES (4u << 20) /* a power of two */
#define PT_PRELOAD_ALIGNMENT  16u        /* of records */
#define PT_PRELOAD_RECORD_MAX (128u << 10)
#define PT_PRELOAD_STACK_MAX  (64u << 10)
#define PT_PRELOAD_REGISTERS  9           /* in the order of profile/unwind/registers.c */
#define PT_PRELOAD_PYTHON_MAX 512         /* Python frames per allocation */
#define PT_PRELOAD_CODES      (64u << 10) /* Python code objects; a power of two */

enum {
    PT_PRELOAD_EVERY = 1,
    PT_PRELOAD_OWN_MALLOC = 2,
    PT_PRELOAD_SANDBOXED = 4, /* set later: nothing is recorded after that */
};

/* What the process found out about Python in itself. */
enum pt_preload_python {
    PT_PRELOAD_NO_PYTHON,
    PT_PRELOAD_PYTHON,
    PT_PRELOAD_PYTHON_UNKNOWN, /* a version or build with an unknown layout */
};

struct pt_preload_header {
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
    uint64_t untracked; /* sampled, but their free will not be noticed */
    uint32_t ring_given, stack_count, node_count, thread_count;
    uint64_t live_bytes, peak_bytes; /* in mode "every" */
    int64_t peak_mono_ns;
    uint64_t lost_stacks; /* allocations with stack 0: the table was full, or the stack unknown */
    uint32_t python;      /* enum pt_preload_python */
    uint8_t reserved_process[44];
    /* Written by the reader. */
    uint64_t read;
    uint8_t reserved_reader[4096 - 128 - 128 - 8];
};

enum pt_preload_kind {
    PT_PRELOAD_ALLOCATION = 1,
    PT_PRELOAD_FREE,
    PT_PRELOAD_RESTORE,    /* the last free of this address did not happen: realloc failed */
    PT_PRELOAD_MAPS,       /* executable lines of /proc/self/maps */
    PT_PRELOAD_STACK_COPY, /* for a stack of the table that could not be walked */
    PT_PRELOAD_CODE,       /* a Python code object, before its first frame */
    PT_PRELOAD_CPU,        /* libpitot-cpu.so: a sample; `bytes` is its number of periods */
    PT_PRELOAD_CPU_REST,   /* same without a stack: CPU time of a thread since its last sample */
};

enum { PT_PRELOAD_TEMPORARY = 1, PT_PRELOAD_UNTRACKED = 2, PT_PRELOAD_IS_MMAP = 4 };

struct pt_preload_record {
    uint64_t stamp; /* position ^ PT_PRELOAD_STAMP, written last */
    uint32_t size;  /* of the whole record */
    uint16_t kind, flags;
};

struct pt_preload_sample {
    struct pt_preload_record record;
    int64_t mono_ns;
    uint64_t address, bytes;
    uint32_t thread, stack_size;
    uint32_t stack;      /* for PT_PRELOAD_STACK_COPY: its number */
    uint32_t mean_shift; /* sampled with a mean of mean_bytes << mean_shift */
    uint32_t python_count, reserved[3];
    char name[16]; /* of the thread */
    uint64_t registers[PT_PRELOAD_REGISTERS];
    /* then the stack, from the stack pointer up, then the Python frames */
};

/* A Python frame; the leaf is first. */
struct pt_preload_python_frame {
    uint32_t code; /* number; UINT32_MAX: a shim, or unknown */
    uint32_t instruction, flags;
};

/* A code object; characters have 1, 2 or 4 bytes. */
struct pt_preload_code {
    struct pt_preload_record record;
    uint32_t number, first_line;
    uint32_t name_length, name_width, file_length, file_width;
    uint32_t lines_size, lines_form;
    /* then the name, the file and the line table */
};

struct pt_preload_free {
    struct pt_preload_record record;
    int64_t mono_ns;
    uint64_t address;
};

struct pt_preload_maps {
    struct pt_preload_record record;
    int64_t mono_ns;
    uint32_t thread, text_size;
    char name[16]; /* of the thread */
    /* then the text */
};

_Static_assert(sizeof(struct pt_preload_header) == 4096, "ABI");
_Static_assert(offsetof(struct pt_preload_header, claimed) == 128, "ABI: a line for each side");
_Static_assert(offsetof(struct pt_preload_header, read) == 256, "ABI: a line for each side");
_Static_assert(sizeof(struct pt_preload_record) == 16, "ABI");
_Static_assert(sizeof(struct pt_preload_sample) == 160, "ABI");
_Static_assert(sizeof(struct pt_preload_free) == 32, "ABI");
_Static_assert(sizeof(struct pt_preload_maps) == 48, "ABI");
_Static_assert(sizeof(struct pt_preload_python_frame) == 12, "ABI");
_Static_assert(sizeof(struct pt_preload_code) == 48, "ABI");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ABI");

#endif
