#include "profile/sample/python_gil.h"

#include "base/attr.h"

#include <pthread.h>

#define WAITERS_MAX 4096

/* The lock has two condition variables, each followed by its mutex. Threads that want the lock
 * sleep on the first; a thread that was asked to release it sleeps on the second until the other
 * has it, and then wants it back at once. */
#define SECOND    (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t))
#define GIL_BYTES (32 + SECOND + sizeof(pthread_cond_t))

/* Where glibc counts the waiters of a condition variable: since 2.25, and since 2.41 (or older
 * versions with the backported fix). The count is in units of 8; the lower bits mean
 * CLOCK_MONOTONIC, which Python requests, and private. */
static const uint8_t count_at[] = { 36, 28 };
#define FLAGS_MASK 7u
#define FLAGS      2u

uint64_t pt_python_find_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t runtime, uint64_t thread) {
    if (!l->gil_condition)
        return 0;
    if (l->runtime_gil)
        return runtime + l->runtime_gil;
    uint64_t interpreter = pt_memory_pointer(m, thread + l->thread_interpreter);
    return interpreter ? pt_memory_pointer(m, interpreter + l->interpreter_gil) : 0;
}

static bool is_count(uint32_t word) {
    return (word & FLAGS_MASK) == FLAGS && word / 8 <= WAITERS_MAX;
}

/* Where one version has its count, the other has an arbitrary number, which sooner or later cannot
 * be a count. False: both are still possible, or neither is. */
static bool count_waiters(const uint8_t *conditions, struct pt_gil_form *form, uint32_t *count) {
    unsigned possible = 0;
    for (unsigned i = 0; i < PT_COUNT(count_at); i++) {
        uint32_t first = pt_python_u32(conditions, count_at[i]);
        uint32_t second = pt_python_u32(conditions + SECOND, count_at[i]);
        if (!is_count(first) || !is_count(second))
            form->excluded |= (uint8_t)(1u << i);
        if (form->excluded & 1u << i)
            continue;
        *count = first / 8 + second / 8;
        possible++;
    }
    return possible == 1;
}

uint32_t pt_python_read_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t gil, uint64_t thread, struct pt_gil_form *form) {
    uint8_t bytes[GIL_BYTES];
    uint32_t waiters = 0;
    if (!gil || !pt_memory_read(m, gil, bytes, sizeof bytes))
        return 0;
    uint32_t locked = pt_python_u32(bytes, l->gil_locked);
    if (locked > 1 || !count_waiters(bytes + l->gil_condition, form, &waiters))
        return 0;
    bool is_held = locked && pt_python_u64(bytes, l->gil_holder) == thread;
    return PT_GIL_KNOWN | (is_held ? PT_GIL_HELD : 0) | (waiters > 0 ? PT_GIL_WANTED : 0);
}
