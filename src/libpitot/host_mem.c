/* libpitot/host_mem.c -- memory of a program that must not end for the lack of it (base/mem.h). */
#include "base/mem.h"

#include <stdlib.h>

void *pt_try_calloc(size_t count, size_t bytes) {
    return calloc(count, bytes);
}

void *pt_try_realloc(void *old, size_t bytes) {
    return realloc(old, bytes);
}

void pt_free(void *memory) {
    free(memory);
}
