#include "base/mem.h"

#include "base/digits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local uint64_t allocation_count;

static struct {
    int (*run)(void *arg);
    void *arg;
    long thread; /* that runs it; 0: none yet */
} last_resort;

void pt_mem_set_last_resort(int (*run)(void *arg), void *arg) {
    last_resort.arg = arg;
    last_resort.run = run;
}

static void say_exhausted(size_t bytes) {
    static const char start[] = "pitot: error: out of memory (", end[] = " bytes)\n";
    char line[sizeof start + PT_DIGITS_MAX + sizeof end];
    size_t length = sizeof start - 1;
    memcpy(line, start, length);
    length += pt_digits_u64(line + length, bytes);
    memcpy(line + length, end, sizeof end - 1);
    (void)!write(STDERR_FILENO, line, length + sizeof end - 1);
}

void pt_mem_exhausted(size_t bytes) {
    long self = syscall(SYS_gettid), first = 0;
    bool is_first = __atomic_compare_exchange_n(&last_resort.thread, &first, self, false,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    while (!is_first && first != self)
        pause(); /* another thread ends the program */
    if (is_first)
        say_exhausted(bytes);
    _exit(is_first && last_resort.run ? last_resort.run(last_resort.arg) : PT_MEM_EXIT);
}

static void *checked(void *memory, size_t bytes) {
    allocation_count++;
    if (!memory && bytes)
        pt_mem_exhausted(bytes);
    return memory;
}

void *pt_malloc(size_t bytes) {
    return checked(malloc(bytes), bytes);
}

void *pt_calloc(size_t count, size_t bytes) {
    return checked(calloc(count, bytes), count * bytes);
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

void *pt_try_calloc(size_t count, size_t bytes) {
    return pt_calloc(count, bytes);
}

void *pt_try_realloc(void *old, size_t bytes) {
    return pt_realloc(old, bytes);
}

void pt_grow(void *array, size_t *capacity, size_t need, size_t size) {
    (void)!pt_try_grow(array, capacity, need, size);
}
