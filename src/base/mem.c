#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local uint64_t allocation_count;

static void *checked(void *memory, size_t bytes) {
    allocation_count++;
    if (!memory && bytes) {
        fprintf(stderr, "pitot: out of memory (%zu bytes)\n", bytes);
        abort();
    }
    return memory;
}

void *pt_malloc(size_t bytes) {
    return checked(malloc(bytes), bytes);
}

void *pt_calloc(size_t count, size_t bytes) {
    return checked(calloc(count, bytes), count && bytes);
}

void *pt_realloc(void *old, size_t bytes) {
    return checked(realloc(old, bytes), bytes);
}

char *pt_strdup(const char *text) {
    return pt_strndup(pt_str_from(text));
}

char *pt_strndup(struct pt_str text) {
    char *copy = pt_malloc(text.len + 1);
    return pt_str_copy(copy, text.len + 1, text);
}

char *pt_asprintf(const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    return checked(n < 0 ? NULL : text, 1);
}

void pt_free(void *memory) {
    free(memory);
}

uint64_t pt_mem_allocation_count(void) {
    return allocation_count;
}

void pt_grow(void *array, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity)
        return;
    size_t grown = *capacity ? *capacity : 8;
    while (grown < need)
        grown *= 2;
    void *old;
    memcpy(&old, array, sizeof old);
    void *moved = pt_realloc(old, grown * size);
    memcpy(array, &moved, sizeof moved);
    *capacity = grown;
}
