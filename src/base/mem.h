/* base/mem.h -- allocation that never fails: out of memory ends the program.
 *
 * All of Pitot allocates through these functions, so that a test can count the allocations of a
 * tick. Not for code inside an observed process. */
#ifndef PT_BASE_MEM_H
#define PT_BASE_MEM_H

#include "base/attr.h"
#include "base/str.h"

#include <stdint.h>

void *pt_malloc(size_t bytes) PT_MUST_CHECK;
void *pt_calloc(size_t count, size_t bytes) PT_MUST_CHECK;
void *pt_realloc(void *old, size_t bytes) PT_MUST_CHECK;
char *pt_strdup(const char *text) PT_MUST_CHECK;
char *pt_strndup(struct pt_str text) PT_MUST_CHECK;
char *pt_asprintf(const char *format, ...) PT_PRINTF(1, 2) PT_MUST_CHECK;
void pt_free(void *memory);

/* Allocations made by the calling thread since it started. */
uint64_t pt_mem_allocation_count(void);

/* Doubles `*capacity` until `need` elements of `size` bytes fit; grows `*array`. */
void pt_grow(void *array, size_t *capacity, size_t need, size_t size);

#endif
