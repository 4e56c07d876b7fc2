#include "inside/preload/python_layout.h"

#include <string.h>

static const struct pt_python_layout layouts[] = {
    {
        .minor = 9,
        .grouping = PT_PYTHON_ONE_EACH,
        .instruction_form = PT_PYTHON_INDEX_BYTES,
        .lines = PT_PYTHON_LNOTAB,
        .runtime_interpreters = 32,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_frame = 24,
        .thread_handle = 176,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 104,
        .code_first_line = 40,
        .code_filename = 104,
        .code_name = 112,
        .code_lines = 120,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind_shift = 2,
        .runtime_gil = 352,
        .gil_holder = 8,
        .gil_locked = 16,
        .gil_condition = 32,
    },
    {
        .minor = 10,
        .grouping = PT_PYTHON_ONE_EACH,
        .instruction_form = PT_PYTHON_INDEX_UNITS,
        .lines = PT_PYTHON_LINETABLE_310,
        .runtime_interpreters = 32,
        .interpreter_threads = 8,
        .thread_next = 8,
        .thread_frame = 24,
        .thread_handle = 176,
        .frame_previous = 24,
        .frame_code = 32,
        .frame_instruction = 96,
        .code_first_line = 40,
        .code_filename = 104,
        .code_name = 112,
        .code_lines = 120,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind_shift = 2,
        .runtime_gil = 352,
        .gil_holder = 8,
        .gil_locked = 16,
        .gil_condition = 32,
    },
    {
        .minor = 11,
        .grouping = PT_PYTHON_ENTRY,
        .instruction_form = PT_PYTHON_POINTER,
        .lines = PT_PYTHON_LOCATIONS,
        .runtime_interpreters = 40,
        .interpreter_threads = 16,
        .thread_next = 8,
        .thread_frame = 56,
        .has_cframe = true,
        .cframe_frame = 8,
        .thread_native = 160,
        .frame_code = 32,
        .frame_previous = 48,
        .frame_instruction = 56,
        .frame_owner = 69,
        .frame_is_entry = 68,
        .code_first_line = 72,
        .code_filename = 112,
        .code_name = 128, /* qualname */
        .code_lines = 136,
        .code_bytecode = 184,
        .text_ascii = 48,
        .text_other = 72,
        .text_kind_shift = 2,
        .runtime_gil = 360,
        .gil_holder = 8,
        .gil_locked = 16,
        .gil_condition = 32,
    },
    {
        .minor = 12,
        .grouping = PT_PYTHON_SHIM,
        .instruction_form = PT_PYTHON_POINTER,
        .lines = PT_PYTHON_LOCATIONS,
        .runtime_interpreters = 40,
        .interpreter_threads = 72,
        .thread_next = 8,
        .thread_frame = 56,
        .has_cframe = true,
        .cframe_frame = 0,
        .thread_native = 144,
        .frame_code = 0,
        .frame_previous = 8,
        .frame_instruction = 56,
        .frame_owner = 70,
        .first_shim_owner = 3,
        .code_first_line = 68,
        .code_filename = 112,
        .code_name = 128,
        .code_lines = 136,
        .code_bytecode = 192,
        .text_ascii = 40,
        .text_other = 56,
        .text_kind_shift = 2,
        .thread_interpreter = 16,
        .interpreter_gil = 384,
        .gil_holder = 8,
        .gil_locked = 16,
        .gil_condition = 32,
    },
};

const struct pt_python_layout *pt_python_layout(unsigned minor) {
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}

/* Word numbers in _Py_DebugOffsets: cookie, version, free-threaded flag, then groups. */
enum { WORD_VERSION = 1, WORD_FREE_THREADED = 2, WORD_INTERPRETERS = 5 };

struct words {
    uint8_t interpreter_next, interpreter_threads, thread_next, thread_frame, thread_native;
    uint8_t frame_previous, frame_code, frame_instruction, frame_owner;
    uint8_t code_filename, code_name, code_lines, code_first_line, code_bytecode;
    uint8_t thread_interpreter, interpreter_gil, gil, gil_locked, gil_holder;
};

static const struct words words_313 = { 8,  9,  21, 23, 25, 29, 30, 31, 33, 35,
                                        37, 38, 39, 43, 22, 14, 15, 17, 18 };
static const struct words words_314 = { 8,  9,  24, 26, 28, 32, 33, 34, 36, 40,
                                        42, 43, 44, 48, 25, 15, 16, 18, 19 };

struct reader {
    uint64_t words[PT_PYTHON_DEBUG_BYTES / 8];
    bool failed;
};

/* A field of `size` bytes that starts at the offset and ends before `end`. */
static uint16_t offset(struct reader *r, unsigned word, size_t size, size_t end) {
    uint64_t value = r->words[word];
    r->failed |= value > end - size;
    return (uint16_t)value;
}

/* A pointer in a structure that is not read as a whole. */
static uint16_t pointer(struct reader *r, unsigned word) {
    return offset(r, word, 8, UINT16_MAX);
}

static void read_lists(struct reader *r, const struct words *w, struct pt_python_layout *into) {
    into->runtime_interpreters = pointer(r, WORD_INTERPRETERS);
    into->interpreter_next = pointer(r, w->interpreter_next);
    into->interpreter_threads = pointer(r, w->interpreter_threads);
    into->thread_next = offset(r, w->thread_next, 8, PT_PYTHON_THREAD_BYTES);
    into->thread_frame = offset(r, w->thread_frame, 8, PT_PYTHON_THREAD_BYTES);
    into->thread_native = offset(r, w->thread_native, 8, PT_PYTHON_THREAD_BYTES);
}

static void read_frame(struct reader *r, const struct words *w, struct pt_python_layout *into) {
    into->frame_previous = offset(r, w->frame_previous, 8, PT_PYTHON_FRAME_BYTES);
    into->frame_code = offset(r, w->frame_code, 8, PT_PYTHON_FRAME_BYTES);
    into->frame_instruction = offset(r, w->frame_instruction, 8, PT_PYTHON_FRAME_BYTES);
    into->frame_owner = offset(r, w->frame_owner, 1, PT_PYTHON_FRAME_BYTES);
}

static void read_code(struct reader *r, const struct words *w, struct pt_python_layout *into) {
    into->code_filename = offset(r, w->code_filename, 8, PT_PYTHON_CODE_BYTES);
    into->code_name = offset(r, w->code_name, 8, PT_PYTHON_CODE_BYTES);
    into->code_lines = offset(r, w->code_lines, 8, PT_PYTHON_CODE_BYTES);
    into->code_first_line = offset(r, w->code_first_line, 4, PT_PYTHON_CODE_BYTES);
    into->code_bytecode = pointer(r, w->code_bytecode); /* only added to an address */
}

/* The offsets do not include the condition variable: it follows the described fields, as long as
 * they are where they have been since 3.9. Without it only the lock is unknown. */
static void read_gil(struct reader r, const struct words *w, struct pt_python_layout *into) {
    uint64_t gil = r.words[w->gil];
    uint16_t interpreter_gil = pointer(&r, w->interpreter_gil);
    uint16_t thread_interpreter = offset(&r, w->thread_interpreter, 8, PT_PYTHON_THREAD_BYTES);
    if (r.failed || r.words[w->gil_holder] - gil != 8 || r.words[w->gil_locked] - gil != 16)
        return;
    into->thread_interpreter = thread_interpreter;
    into->interpreter_gil = interpreter_gil;
    into->gil_holder = 8;
    into->gil_locked = 16;
    into->gil_condition = 32;
}

bool pt_python_layout_from(const uint8_t bytes[PT_PYTHON_DEBUG_BYTES],
                           struct pt_python_layout *into) {
    struct reader r = { .failed = false };
    memcpy(r.words, bytes, PT_PYTHON_DEBUG_BYTES);
    if (memcmp(bytes, PT_PYTHON_COOKIE, 8) != 0 || r.words[WORD_FREE_THREADED] != 0)
        return false;
    unsigned major = (unsigned)(r.words[WORD_VERSION] >> 24 & 0xff);
    unsigned minor = (unsigned)(r.words[WORD_VERSION] >> 16 & 0xff);
    if (major != 3 || minor < 13 || minor > 14)
        return false;
    *into = (struct pt_python_layout){
        .minor = minor,
        .grouping = PT_PYTHON_SHIM,
        .instruction_form = PT_PYTHON_POINTER,
        .lines = PT_PYTHON_LOCATIONS,
        .first_shim_owner = 3,
        .text_ascii = 40,
        .text_other = 56,
        .text_kind_shift = minor == 13 ? 2 : 16,
    };
    const struct words *words = minor == 13 ? &words_313 : &words_314;
    read_lists(&r, words, into);
    read_frame(&r, words, into);
    read_code(&r, words, into);
    read_gil(r, words, into);
    return !r.failed;
}
