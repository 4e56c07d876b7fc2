/* libpitot/memory_series.h -- values of memory over time or steps, in bounded space.
 *
 * When it is full, every second value is dropped, and from then on only every second value is kept:
 * the values stay evenly spaced. */
#ifndef PT_LIBPITOT_MEMORY_SERIES_H
#define PT_LIBPITOT_MEMORY_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_MEMORY_SERIES_MAX 512

/* {0} is empty. */
struct pt_memory_series {
    double *x, *mb; /* one block */
    size_t count, capacity;
    uint64_t offered, stride; /* every stride-th value is kept; 0: all */
};

/* Drops the value if there is no memory. */
void pt_memory_series_add(struct pt_memory_series *s, double x, double mb);
/* Would pt_memory_series_add() keep the next value? If not, the value counts as offered, so that an
 * expensive read can be skipped. */
bool pt_memory_series_wants(struct pt_memory_series *s);
void pt_memory_series_release(struct pt_memory_series *s);

#endif
