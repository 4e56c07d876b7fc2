/* inside/preload/python_layout.h -- where CPython keeps what: offsets in bytes, by version. 3.9
 * to 3.12 are tables; from 3.13 on the interpreter carries its own (_Py_DebugOffsets). */
#ifndef PT_INSIDE_PRELOAD_PYTHON_LAYOUT_H
#define PT_INSIDE_PRELOAD_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How frames of Python belong to frames of the evaluation loop. */
enum pt_python_grouping {
    PT_PYTHON_ONE_EACH, /* 3.9, 3.10: a loop for each call */
    PT_PYTHON_ENTRY,    /* 3.11: a loop ends with a frame that is marked */
    PT_PYTHON_SHIM,     /* 3.12: a loop ends with a frame that belongs to C */
};

/* How the instruction is told. */
enum pt_python_instruction {
    PT_PYTHON_INDEX_BYTES, /* 3.9: f_lasti */
    PT_PYTHON_INDEX_UNITS, /* 3.10: f_lasti in units of two bytes */
    PT_PYTHON_POINTER,     /* 3.11: into the code object */
};

enum pt_python_lines { PT_PYTHON_LNOTAB, PT_PYTHON_LINETABLE_310, PT_PYTHON_LOCATIONS };

struct pt_python_layout {
    unsigned minor; /* 11 of 3.11 */
    enum pt_python_grouping grouping;
    enum pt_python_instruction instruction_form;
    enum pt_python_lines lines;
    uint16_t runtime_interpreters;
    uint16_t interpreter_next, interpreter_threads;
    uint16_t thread_next, thread_frame;
    bool has_cframe; /* thread_frame leads to a struct that leads to the frame */
    uint16_t cframe_frame;
    uint16_t thread_native; /* id of the kernel; 0: only the handle of pthreads, thread_handle */
    uint16_t thread_handle;
    uint16_t frame_code, frame_previous, frame_instruction, frame_owner;
    uint16_t frame_is_entry;
    uint8_t first_shim_owner;
    uint16_t code_first_line, code_filename, code_name, code_lines, code_bytecode;
    uint16_t text_ascii, text_other; /* payload of a compact str */
    uint8_t text_kind_shift;         /* in the word of flags */
    uint16_t runtime_gil;            /* up to 3.11; else 0: a thread leads to it by the two below */
    uint16_t thread_interpreter, interpreter_gil;
    uint16_t gil_holder, gil_locked;
    uint16_t gil_condition; /* that its waiters sleep on; 0: nothing is known of the GIL */
};

/* NULL: not a version with a table. */
const struct pt_python_layout *pt_python_layout(unsigned minor);

/* The beginning of _PyRuntime, from 3.13 on. */
#define PT_PYTHON_DEBUG_BYTES (8 * 52)
#define PT_PYTHON_COOKIE      "xdebugpy"

/* False: it has no such table, or one that we do not know (a free-threaded build). */
bool pt_python_layout_from(const uint8_t bytes[PT_PYTHON_DEBUG_BYTES],
                           struct pt_python_layout *into);

#endif
