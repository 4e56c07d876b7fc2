/* base/mem.h -- allocation that never fails: out of memory ends the program, after its last resort.
 *
 * All of Pitot allocates through these functions, so that a test can count the allocations of a
 * tick. Code that is also in libpitot uses only the functions pt_try_*: libpitot is linked without
 * the others (libpitot/host_mem.c), because it must never end the program that it measures. */
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

/* NULL or false, with nothing changed, if there is no memory. In Pitot itself this never happens:
 * they end the program like the functions above. */
void *pt_try_calloc(size_t count, size_t bytes) PT_MUST_CHECK;
void *pt_try_realloc(void *old, size_t bytes) PT_MUST_CHECK;
bool pt_try_grow(void *array, size_t *capacity, size_t need, size_t size) PT_MUST_CHECK;

#define PT_MEM_EXIT 125 /* exit code of a program that fails itself, not its command */

/* Prints one line and ends the program: with the code of the last resort, or PT_MEM_EXIT. For
 * libraries that report a lack of memory, too. Allocates nothing. */
_Noreturn void pt_mem_exhausted(size_t bytes);
/* What to do before that, once; other threads keep running until they need memory. It returns the
 * exit code; if it needs memory, the program ends at once. NULL: nothing. */
void pt_mem_set_last_resort(int (*run)(void *arg), void *arg);

/* Allocations made by the calling thread since it started. */
uint64_t pt_mem_allocation_count(void);

/* Doubles `*capacity` until `need` elements of `size` bytes fit; grows `*array`. */
void pt_grow(void *array, size_t *capacity, size_t need, size_t size);

#endif
