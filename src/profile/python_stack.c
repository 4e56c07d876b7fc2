#include "profile/python_stack.h"

#define INTERPRETERS_MAX 64
#define THREAD_BYTES     256 /* of a thread state: as much as the layouts need */
#define FRAME_BYTES      112
#define TEXT_MAX         1024
#define BYTES_MAX        (64u << 10)
#define PAGE_BYTES       4096
#define FRAME_PAGES      4   /* frames of one stack lie side by side, callers before callees */
#define PTHREAD_TID      720 /* glibc: where a pthread_t has the id of the kernel */
#define BYTES_PAYLOAD    32
#define OBJECT_SIZE      16 /* ob_size of a bytes object; length of a str */
#define TEXT_FLAGS       32

bool pt_memory_read(const struct pt_memory *m, uint64_t address, void *into, size_t size) {
    return m->read(m->state, &(struct pt_memory_piece){ address, into, size }, 1) == 1;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset) {
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static uint32_t u32_at(const uint8_t *bytes, size_t offset) {
    uint32_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static uint64_t read_pointer(const struct pt_memory *m, uint64_t address) {
    uint64_t value;
    return pt_memory_read(m, address, &value, sizeof value) ? value : 0;
}

/* 3.9 and 3.10 know the handle of pthreads only, which leads to the C library's own note. */
static bool has_tid(const struct pt_python_layout *l, const struct pt_memory *m,
                    const uint8_t thread[THREAD_BYTES], int32_t tid) {
    if (l->thread_native)
        return l->thread_native + 8u <= THREAD_BYTES &&
               u64_at(thread, l->thread_native) == (uint64_t)tid;
    int32_t found;
    return pt_memory_read(m, u64_at(thread, l->thread_handle) + PTHREAD_TID, &found,
                          sizeof found) &&
           found == tid;
}

bool pt_python_is_thread(const struct pt_python_layout *l, const struct pt_memory *m,
                         uint64_t thread, int32_t tid) {
    uint8_t bytes[THREAD_BYTES];
    return pt_memory_read(m, thread, bytes, sizeof bytes) && has_tid(l, m, bytes, tid);
}

uint64_t pt_python_find_thread(const struct pt_python_layout *l, const struct pt_memory *m,
                               uint64_t runtime, int32_t tid) {
    uint8_t bytes[THREAD_BYTES];
    uint64_t interpreter = read_pointer(m, runtime + l->runtime_interpreters);
    int seen = 0; /* in all: each costs a call of the kernel */
    for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = read_pointer(m, interpreter + l->interpreter_threads);
        for (; thread && seen < PT_PYTHON_THREADS_MAX; seen++) {
            if (!pt_memory_read(m, thread, bytes, sizeof bytes))
                break;
            if (has_tid(l, m, bytes, tid))
                return thread;
            thread = u64_at(bytes, l->thread_next);
        }
        interpreter = read_pointer(m, interpreter + l->interpreter_next);
    }
    return 0;
}

/* Pages that were read in one go: the one of a frame and those below. */
struct window {
    uint64_t start; /* of the lowest page; 0 = nothing is read */
    size_t page_count;
    uint8_t bytes[FRAME_PAGES * PAGE_BYTES];
};

static bool is_inside(const struct window *w, uint64_t address, size_t size) {
    uint64_t offset = address - w->start;
    size_t length = w->page_count * PAGE_BYTES;
    return w->page_count > 0 && offset <= length && size <= length - offset;
}

/* The page of the address last in the buffer, older frames before it. */
static bool fill(struct window *w, const struct pt_memory *m, uint64_t address) {
    struct pt_memory_piece pieces[FRAME_PAGES];
    uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1);
    size_t count = 0;
    while (count < FRAME_PAGES && page >= (count + 1) * PAGE_BYTES) {
        uint8_t *into = w->bytes + (FRAME_PAGES - 1 - count) * PAGE_BYTES;
        pieces[count] = (struct pt_memory_piece){ page - count * PAGE_BYTES, into, PAGE_BYTES };
        count++;
    }
    w->page_count = count > 0 ? m->read(m->state, pieces, count) : 0;
    if (w->page_count == 0)
        return false;
    w->start = page - (w->page_count - 1) * PAGE_BYTES;
    memmove(w->bytes, w->bytes + (FRAME_PAGES - w->page_count) * PAGE_BYTES,
            w->page_count * PAGE_BYTES);
    return true;
}

static bool read_frame(struct window *w, const struct pt_memory *m, uint64_t address,
                       uint8_t bytes[FRAME_BYTES]) {
    if (!is_inside(w, address, FRAME_BYTES) && !fill(w, m, address))
        return false;
    if (!is_inside(w, address, FRAME_BYTES)) /* across the end of its page */
        return pt_memory_read(m, address, bytes, FRAME_BYTES);
    memcpy(bytes, w->bytes + (address - w->start), FRAME_BYTES);
    return true;
}

static uint32_t instruction_of(const struct pt_python_layout *l, const uint8_t *frame,
                               uint64_t code) {
    uint32_t index = u32_at(frame, l->frame_instruction);
    if (l->instruction_form == PT_PYTHON_INDEX_BYTES)
        return index;
    if (l->instruction_form == PT_PYTHON_INDEX_UNITS)
        return index <= UINT32_MAX / 2 ? index * 2 : UINT32_MAX;
    uint64_t offset = u64_at(frame, l->frame_instruction) - (code + l->code_bytecode);
    if (offset == (uint64_t)-2) /* before the first */
        return 0;
    return offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}

static uint32_t flags_of(const struct pt_python_layout *l, const uint8_t *frame) {
    switch (l->grouping) {
    case PT_PYTHON_ONE_EACH:
        return PT_PYTHON_IS_LAST;
    case PT_PYTHON_ENTRY:
        return frame[l->frame_is_entry] ? PT_PYTHON_IS_LAST : 0;
    default:
        return frame[l->frame_owner] >= l->first_shim_owner ? PT_PYTHON_IS_LAST | PT_PYTHON_IS_SHIM
                                                            : 0;
    }
}

static bool fits(const struct pt_python_layout *l) {
    return l->frame_code + 8u <= FRAME_BYTES && l->frame_previous + 8u <= FRAME_BYTES &&
           l->frame_instruction + 8u <= FRAME_BYTES && l->frame_owner < FRAME_BYTES &&
           l->frame_is_entry < FRAME_BYTES;
}

static uint64_t current_frame(const struct pt_python_layout *l, const struct pt_memory *m,
                              uint64_t thread) {
    uint64_t at = read_pointer(m, thread + l->thread_frame);
    return l->has_cframe && at ? read_pointer(m, at + l->cframe_frame) : at;
}

size_t pt_python_frames(const struct pt_python_layout *l, const struct pt_memory *m,
                        uint64_t thread, struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX]) {
    struct window w = { .page_count = 0 };
    uint8_t bytes[FRAME_BYTES];
    uint64_t at = fits(l) ? current_frame(l, m, thread) : 0;
    size_t count = 0;
    while (at && count < PT_PYTHON_DEPTH_MAX && read_frame(&w, m, at, bytes)) {
        /* references are tagged in their low bits from 3.14 on */
        uint64_t code = u64_at(bytes, l->frame_code) & ~UINT64_C(7);
        frames[count++] =
            (struct pt_python_frame){ code, instruction_of(l, bytes, code), flags_of(l, bytes) };
        at = u64_at(bytes, l->frame_previous);
    }
    return count;
}

struct pt_python_code_key pt_python_code_key(const struct pt_python_layout *l,
                                             const uint8_t bytes[PT_PYTHON_CODE_BYTES]) {
    struct pt_python_code_key key = { 0 };
    if (l->code_filename + 8u > PT_PYTHON_CODE_BYTES || l->code_name + 8u > PT_PYTHON_CODE_BYTES ||
        l->code_lines + 8u > PT_PYTHON_CODE_BYTES || l->code_first_line + 4u > PT_PYTHON_CODE_BYTES)
        return key;
    key.filename = u64_at(bytes, l->code_filename);
    key.name = u64_at(bytes, l->code_name);
    key.lines = u64_at(bytes, l->code_lines);
    key.first_line = u32_at(bytes, l->code_first_line);
    return key;
}

static void add_character(struct pt_buf *into, uint32_t c) {
    if (c < 0x80) {
        pt_buf_u8(into, (uint8_t)c);
    } else if (c < 0x800) {
        pt_buf_u8(into, (uint8_t)(0xc0 | c >> 6));
        pt_buf_u8(into, (uint8_t)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        pt_buf_u8(into, (uint8_t)(0xe0 | c >> 12));
        pt_buf_u8(into, (uint8_t)(0x80 | (c >> 6 & 63)));
        pt_buf_u8(into, (uint8_t)(0x80 | (c & 63)));
    } else if (c < 0x110000) {
        pt_buf_u8(into, (uint8_t)(0xf0 | c >> 18));
        pt_buf_u8(into, (uint8_t)(0x80 | (c >> 12 & 63)));
        pt_buf_u8(into, (uint8_t)(0x80 | (c >> 6 & 63)));
        pt_buf_u8(into, (uint8_t)(0x80 | (c & 63)));
    }
}

static void add_wide(struct pt_buf *into, const uint8_t *text, size_t length, size_t width) {
    for (size_t i = 0; i < length; i++) {
        uint32_t c = 0;
        memcpy(&c, text + i * width, width);
        add_character(into, c);
    }
}

bool pt_python_read_text(const struct pt_python_layout *l, const struct pt_memory *m,
                         uint64_t object, struct pt_buf *into) {
    uint8_t head[40], text[TEXT_MAX * 4];
    if (!object || !pt_memory_read(m, object, head, sizeof head))
        return false;
    uint64_t length = u64_at(head, OBJECT_SIZE);
    uint32_t flags = u32_at(head, TEXT_FLAGS) >> l->text_kind_shift;
    size_t width = flags & 7;
    bool is_compact = flags & 8, is_ascii = flags & 16;
    if (!is_compact || (width != 1 && width != 2 && width != 4) || length > TEXT_MAX)
        return false;
    uint64_t payload = object + (is_ascii ? l->text_ascii : l->text_other);
    if (length > 0 && !pt_memory_read(m, payload, text, (size_t)length * width))
        return false;
    add_wide(into, text, (size_t)length, width);
    return true;
}

bool pt_python_read_bytes(const struct pt_memory *m, uint64_t object, struct pt_buf *into) {
    uint64_t length;
    if (!object || !pt_memory_read(m, object + OBJECT_SIZE, &length, sizeof length) ||
        length > BYTES_MAX)
        return false;
    uint8_t *room = pt_buf_reserve(into, (size_t)length + 1);
    if (length > 0 && !pt_memory_read(m, object + BYTES_PAYLOAD, room, (size_t)length))
        return false;
    into->len += (size_t)length;
    return true;
}
