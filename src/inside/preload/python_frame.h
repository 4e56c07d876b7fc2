/* inside/preload/python_frame.h -- reads frames, code objects and strings of CPython in memory,
 * from inside the process or from outside. Pure except for the given memory reader; allocates
 * nothing. */
#ifndef PT_INSIDE_PRELOAD_PYTHON_FRAME_H
#define PT_INSIDE_PRELOAD_PYTHON_FRAME_H

#include "inside/preload/python_layout.h"

#include <string.h>

#define PT_PYTHON_TEXT_BYTES 40   /* of the header of a str */
#define PT_PYTHON_TEXT_MAX   1024 /* characters */
#define PT_PYTHON_LINES_MAX  (64u << 10)
#define PT_PYTHON_TYPE       8  /* ob_type of an object */
#define PT_PYTHON_SIZE       16 /* ob_size of a bytes object; length of a str */
#define PT_PYTHON_PAYLOAD    32 /* of a bytes object */

struct pt_memory_piece {
    uint64_t address;
    void *into;
    size_t size;
};

/* Memory of a process. */
struct pt_memory_reader {
    /* Returns how many pieces, from the first on, were read completely. */
    size_t (*read)(void *state, const struct pt_memory_piece *pieces, size_t count);
    void *state;
};

bool pt_memory_read(const struct pt_memory_reader *m, uint64_t address, void *into, size_t size);
/* 0 if it cannot be read. */
uint64_t pt_memory_pointer(const struct pt_memory_reader *m, uint64_t address);

static inline uint64_t pt_python_u64(const uint8_t *bytes, size_t offset) {
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static inline uint32_t pt_python_u32(const uint8_t *bytes, size_t offset) {
    uint32_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

enum {
    PT_PYTHON_IS_LAST = 1, /* last frame of a run of the evaluation loop */
    PT_PYTHON_IS_SHIM = 2, /* not a function: only marks the end of a loop */
};

struct pt_python_frame {
    uint64_t code;
    uint32_t instruction; /* in bytes; UINT32_MAX = unknown */
    uint32_t flags;
};

/* The address of the current frame of a thread, from its state; 0: none, or unreadable. */
uint64_t pt_python_first_frame(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                               uint64_t thread);
/* How many bytes of a frame and of a code object the functions below use: at most what
 * is read of them. */
size_t pt_python_frame_size(const struct pt_python_layout *l);
size_t pt_python_code_size(const struct pt_python_layout *l);
/* Parses a frame. Returns the address of its caller, or 0. */
uint64_t pt_python_parse_frame(const struct pt_python_layout *l,
                               const uint8_t bytes[PT_PYTHON_FRAME_BYTES],
                               struct pt_python_frame *into);

/* Distinguishes a code object from another one at the same address. */
struct pt_python_code_key {
    uint64_t filename, name, lines;
    uint32_t first_line, reserved; /* compared byte by byte: no padding */
};

struct pt_python_code_key pt_python_code_key(const struct pt_python_layout *l,
                                             const uint8_t bytes[PT_PYTHON_CODE_BYTES]);

/* The characters of a str, of `width` bytes each. */
struct pt_python_text {
    uint64_t payload;
    uint32_t length, width;
};

/* False: not a str, or too long. */
bool pt_python_find_text(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t object, struct pt_python_text *into);

#endif
