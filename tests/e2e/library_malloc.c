/* A program's own malloc(), which aborts on the hot path. It gives nothing back. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern __thread int is_hot;

static _Alignas(16) uint8_t memory[16 << 20];
static size_t used;

static void *take(size_t size) {
    if (is_hot)
        abort();
    size = (size + 31) & ~(size_t)15;
    size_t at = __atomic_fetch_add(&used, size, __ATOMIC_RELAXED);
    if (at > sizeof memory || size > sizeof memory - at)
        return NULL;
    memcpy(memory + at, &size, sizeof size);
    return memory + at + 16;
}

void *malloc(size_t size) {
    return take(size);
}

void free(void *at) {
    if (is_hot && at)
        abort();
}

void *calloc(size_t count, size_t size) {
    return take(count * size); /* never used before: zero */
}

void *realloc(void *at, size_t size) {
    size_t old_size = 0;
    void *to = take(size);
    if (at)
        memcpy(&old_size, (uint8_t *)at - 16, sizeof old_size);
    if (at && to)
        memcpy(to, at, old_size - 16 < size ? old_size - 16 : size);
    return to;
}
