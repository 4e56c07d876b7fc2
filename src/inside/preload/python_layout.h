/* inside/preload/python_layout.h -- offsets of CPython's structures, in bytes, by version. 3.9 to
 * 3.12 are tables; from 3.13 on the interpreter contains them (_Py_DebugOffsets). */
#ifndef PT_INSIDE_PRELOAD_PYTHON_LAYOUT_H
#define PT_INSIDE_PRELOAD_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much of a structure is read: every offset of a layout lies within. */
#define PT_PYTHON_THREAD_BYTES 256
#define PT_PYTHON_FRAME_BYTES  112
#define PT_PYTHON_CODE_BYTES   208

/* How Python frames belong to native frames of the evaluation loop. */
enum pt_python_grouping {
    PT_PYTHON_ONE_EACH, /* 3.9, 3.10: one loop per call */
    PT_PYTHON_ENTRY,    /* 3.11: a loop ends with a marked frame */
    PT_PYTHON_SHIM,     /* 3.12: a loop ends with a frame owned by C */
};

/* How a frame stores its instruction. */
enum pt_python_instruction {
    PT_PYTHON_INDEX_BYTES, /* 3.9: f_lasti */
    PT_PYTHON_INDEX_UNITS, /* 3.10: f_lasti in units of two bytes */
    PT_PYTHON_POINTER,     /* 3.11: into the code object */
};

enum pt_python_lines { PT_PYTHON_LNOTAB, PT_PYTHON_LINETABLE_310, PT_PYTHON_LOCATIONS };

struct pt_python_layout {
    unsigned minor; /* 11 for 3.11 */
    enum pt_python_grouping grouping;
    enum pt_python_instruction instruction_form;
    enum pt_python_lines lines;
    uint16_t runtime_interpreters;
    uint16_t interpreter_next, interpreter_threads;
    uint16_t thread_next, thread_frame;
    bool has_cframe; /* thread_frame points to a struct that points to the frame */
    uint16_t cframe_frame;
    uint16_t thread_native; /* kernel thread id; 0: only the pthread handle, thread_handle */
    uint16_t thread_handle;
    uint16_t frame_code, frame_previous, frame_instruction, frame_owner;
    uint16_t frame_is_entry;
    uint8_t first_shim_owner;
    uint16_t code_first_line, code_filename, code_name, code_lines, code_bytecode;
    uint16_t text_ascii, text_other; /* payload of a compact str */
    uint8_t text_kind_shift;         /* in the flags word */
    /* up to 3.11; otherwise 0: reached from a thread by the next two */
    uint16_t runtime_gil;
    uint16_t thread_interpreter, interpreter_gil;
    uint16_t gil_holder, gil_locked;
    uint16_t gil_condition; /* condition variable of its waiters; 0: the GIL is unknown */
};

/* NULL: no table for this version. */
const struct pt_python_layout *pt_python_layout(unsigned minor);

/* The start of _PyRuntime, from 3.13 on. */
#define PT_PYTHON_DEBUG_BYTES (8 * 52)
#define PT_PYTHON_COOKIE      "xdebugpy"

/* The table comes from a process that may write anything there, so every offset is checked here,
 * once. False: no such table, an unsupported one (a free-threaded build), or an offset outside its
 * structure. */
bool pt_python_layout_from(const uint8_t bytes[PT_PYTHON_DEBUG_BYTES],
                           struct pt_python_layout *into);

#endif
