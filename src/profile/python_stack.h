/* profile/python_stack.h -- the frames of a Python thread, and what its code objects are called,
 * read from memory that changes meanwhile: every number is doubted, every loop has an end. Pure but
 * for the reader that is given. */
#ifndef PT_PROFILE_PYTHON_STACK_H
#define PT_PROFILE_PYTHON_STACK_H

#include "base/buf.h"
#include "profile/python_layout.h"

#define PT_PYTHON_DEPTH_MAX   512
#define PT_PYTHON_THREADS_MAX 4096

struct pt_memory_piece {
    uint64_t address;
    void *into;
    size_t size;
};

/* Memory of another process. */
struct pt_memory {
    /* How many of the pieces could be read whole, from the first on. */
    size_t (*read)(void *state, const struct pt_memory_piece *pieces, size_t count);
    void *state;
};

bool pt_memory_read(const struct pt_memory *m, uint64_t address, void *into, size_t size);

enum {
    PT_PYTHON_IS_LAST = 1, /* of its run of the evaluation loop */
    PT_PYTHON_IS_SHIM = 2, /* no function: only marks the end of a loop */
};

struct pt_python_frame {
    uint64_t code;
    uint32_t instruction; /* in bytes; UINT32_MAX = unknown */
    uint32_t flags;
};

/* Finds the state of a thread by its id of the kernel. 0: Python does not know it. */
uint64_t pt_python_find_thread(const struct pt_python_layout *l, const struct pt_memory *m,
                               uint64_t runtime, int32_t tid);

/* Is this still the state of that thread? */
bool pt_python_is_thread(const struct pt_python_layout *l, const struct pt_memory *m,
                         uint64_t thread, int32_t tid);

/* Frames, leaf first; how many. */
size_t pt_python_frames(const struct pt_python_layout *l, const struct pt_memory *m,
                        uint64_t thread, struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX]);

/* What tells a code object from another that took its place. */
struct pt_python_code_key {
    uint64_t filename, name, lines;
    uint32_t first_line, reserved; /* bytes are compared: no padding */
};

#define PT_PYTHON_CODE_BYTES 208 /* of a code object: as much as the layouts need */

struct pt_python_code_key pt_python_code_key(const struct pt_python_layout *l,
                                             const uint8_t bytes[PT_PYTHON_CODE_BYTES]);

/* Appends a str as UTF-8, or the payload of a bytes object. False: it is not one. */
bool pt_python_read_text(const struct pt_python_layout *l, const struct pt_memory *m,
                         uint64_t object, struct pt_buf *into);
bool pt_python_read_bytes(const struct pt_memory *m, uint64_t object, struct pt_buf *into);

#endif
