#include "profile/sample/python_stack.h"

#define INTERPRETERS_MAX 64
#define PAGE_BYTES       4096
#define PTHREAD_TID      720 /* glibc: offset of the kernel's thread id in a pthread_t */

/* 3.9 and 3.10 have only the pthread handle, which points to the C library's copy of the id. */
static bool has_tid(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                    const uint8_t thread[PT_PYTHON_THREAD_BYTES], int32_t tid) {
    if (l->thread_native)
        return pt_python_u64(thread, l->thread_native) == (uint64_t)tid;
    int32_t found;
    return pt_memory_read(m, pt_python_u64(thread, l->thread_handle) + PTHREAD_TID, &found,
                          sizeof found) &&
           found == tid;
}

bool pt_python_is_thread(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t thread, int32_t tid) {
    uint8_t bytes[PT_PYTHON_THREAD_BYTES];
    return pt_memory_read(m, thread, bytes, sizeof bytes) && has_tid(l, m, bytes, tid);
}

uint64_t pt_python_find_thread(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                               uint64_t runtime, int32_t tid) {
    uint8_t bytes[PT_PYTHON_THREAD_BYTES];
    uint64_t interpreter = pt_memory_pointer(m, runtime + l->runtime_interpreters);
    int seen = 0; /* in total: each costs a system call */
    for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
        uint64_t thread = pt_memory_pointer(m, interpreter + l->interpreter_threads);
        for (; thread && seen < PT_PYTHON_THREADS_MAX; seen++) {
            if (!pt_memory_read(m, thread, bytes, sizeof bytes))
                break;
            if (has_tid(l, m, bytes, tid))
                return thread;
            thread = pt_python_u64(bytes, l->thread_next);
        }
        interpreter = pt_memory_pointer(m, interpreter + l->interpreter_next);
    }
    return 0;
}

/* Frames of one stack are close to each other. */
struct page {
    uint64_t start;
    bool is_read;
    uint8_t bytes[PAGE_BYTES];
};

static bool is_inside(const struct page *p, uint64_t address, size_t size) {
    uint64_t offset = address - p->start;
    return p->is_read && offset <= PAGE_BYTES && size <= PAGE_BYTES - offset;
}

static bool read_frame(struct page *p, const struct pt_memory_reader *m, uint64_t address,
                       uint8_t bytes[PT_PYTHON_FRAME_BYTES]) {
    if (!is_inside(p, address, PT_PYTHON_FRAME_BYTES)) {
        p->start = address & ~(uint64_t)(PAGE_BYTES - 1);
        p->is_read = pt_memory_read(m, p->start, p->bytes, PAGE_BYTES);
        if (!p->is_read)
            return false;
    }
    if (!is_inside(p, address, PT_PYTHON_FRAME_BYTES)) /* crosses the end of the page */
        return pt_memory_read(m, address, bytes, PT_PYTHON_FRAME_BYTES);
    memcpy(bytes, p->bytes + (address - p->start), PT_PYTHON_FRAME_BYTES);
    return true;
}

size_t pt_python_frames(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                        uint64_t thread, struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX]) {
    struct page page = { .is_read = false };
    uint8_t bytes[PT_PYTHON_FRAME_BYTES];
    uint64_t at = pt_python_first_frame(l, m, thread);
    size_t count = 0;
    while (at && count < PT_PYTHON_DEPTH_MAX && read_frame(&page, m, at, bytes))
        at = pt_python_parse_frame(l, bytes, &frames[count++]);
    return count;
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

void pt_python_add_text(struct pt_buf *into, const uint8_t *text, size_t length, size_t width) {
    for (size_t i = 0; i < length; i++) {
        uint32_t c = 0;
        memcpy(&c, text + i * width, width);
        add_character(into, c);
    }
}

bool pt_python_read_text(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t object, struct pt_buf *into) {
    uint8_t text[PT_PYTHON_TEXT_MAX * 4];
    struct pt_python_text found;
    if (!pt_python_find_text(l, m, object, &found))
        return false;
    size_t size = (size_t)found.length * found.width;
    if (size > 0 && !pt_memory_read(m, found.payload, text, size))
        return false;
    pt_python_add_text(into, text, found.length, found.width);
    return true;
}

bool pt_python_read_bytes(const struct pt_memory_reader *m, uint64_t object, struct pt_buf *into) {
    uint64_t length;
    if (!object || !pt_memory_read(m, object + PT_PYTHON_SIZE, &length, sizeof length) ||
        length > PT_PYTHON_LINES_MAX)
        return false;
    uint8_t *room = pt_buf_reserve(into, (size_t)length + 1);
    if (length > 0 && !pt_memory_read(m, object + PT_PYTHON_PAYLOAD, room, (size_t)length))
        return false;
    into->len += (size_t)length;
    return true;
}
