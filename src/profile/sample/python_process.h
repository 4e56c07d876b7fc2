/* profile/sample/python_process.h -- the sampled Python processes: the thread that empties the
 * rings reads the frames of a thread at once, without stopping it; the thread that unwinds gets the
 * names of the code. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_PROCESS_H
#define PT_PROFILE_SAMPLE_PYTHON_PROCESS_H

#include "base/intern.h"
#include "profile/sample/python_stack.h"

#include <pthread.h>

#define PT_PYTHON_PROCESSES_MAX 1024
#define PT_PYTHON_CODES_MAX     (256u << 10)

/* A code object; never changes. */
struct pt_python_code {
    char *name, *file;
    uint32_t first_line;
    enum pt_python_lines lines;
    struct pt_buf table;
};

/* A frame as it is handed over; stacks are leaf first. */
struct pt_python_entry {
    uint32_t code; /* number; UINT32_MAX: unreadable */
    uint32_t instruction;
    uint32_t flags;
};

/* The flags of the leaf also hold the PT_GIL_* of its thread, shifted. */
#define PT_PYTHON_GIL_SHIFT   8
#define PT_PYTHON_FRAME_FLAGS ((1u << PT_PYTHON_GIL_SHIFT) - 1)

struct pt_python_process;

struct pt_pythons {
    pthread_mutex_t lock;                 /* of all below */
    struct pt_python_process **processes; /* by pid */
    size_t process_count, process_capacity;
    struct pt_python_code **codes;
    size_t code_count, code_capacity;
    uint8_t *recalled; /* memory read from the current thread */
};

/* Where the interpreter is in the memory of a process. */
struct pt_python_place {
    uint64_t runtime;         /* _PyRuntime */
    uint64_t version_address; /* Py_Version; 0 = none */
    unsigned minor;           /* from the name of the file; 0 = unknown */
};

/* Is a file an interpreter, judged by its name? `minor`: 11 for /usr/lib/libpython3.11.so.1.0 and
 * /usr/bin/python3.11; 0 if the name has no version. */
bool pt_python_is_file(struct pt_str path, unsigned *minor);

void pt_pythons_init(struct pt_pythons *p);
void pt_pythons_release(struct pt_pythons *p);

void pt_pythons_add(struct pt_pythons *p, int32_t pid, struct pt_python_place place);
void pt_pythons_fork(struct pt_pythons *p, int32_t pid, int32_t parent);
void pt_pythons_remove(struct pt_pythons *p, int32_t pid);

/* Is there any? */
bool pt_pythons_any(struct pt_pythons *p);
bool pt_pythons_has(struct pt_pythons *p, int32_t pid);

/* Appends the frames of the thread as pt_python_entry and returns their count; 0: not a Python
 * thread. */
size_t pt_pythons_read(struct pt_pythons *p, int32_t pid, int32_t tid, struct pt_buf *into);

/* Adds a code object that was read inside the process; takes its parts. Returns its number, or
 * UINT32_MAX: there are too many, and it was released. */
uint32_t pt_pythons_add_code(struct pt_pythons *p, struct pt_python_code code);

/* Valid as long as `p`. */
const struct pt_python_code *pt_pythons_code(struct pt_pythons *p, uint32_t number);

#endif
