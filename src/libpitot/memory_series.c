#include "libpitot/memory_series.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 32

static bool is_taken(const struct pt_memory_series *s) {
    return s->stride < 2 || s->offered % s->stride == 0;
}

bool pt_memory_series_wants(struct pt_memory_series *s) {
    bool wants = is_taken(s);
    s->offered += !wants;
    return wants;
}

static bool grow(struct pt_memory_series *s) {
    size_t capacity = s->capacity ? s->capacity * 2 : FIRST_CAPACITY;
    double *block = malloc(2 * capacity * sizeof *block);
    if (!block)
        return false;
    if (s->count > 0) {
        memcpy(block, s->x, s->count * sizeof *block);
        memcpy(block + capacity, s->mb, s->count * sizeof *block);
    }
    free(s->x);
    s->x = block;
    s->mb = block + capacity;
    s->capacity = capacity;
    return true;
}

void pt_memory_series_add(struct pt_memory_series *s, double x, double mb) {
    if (s->count == PT_MEMORY_SERIES_MAX) {
        s->count /= 2;
        for (size_t i = 0; i < s->count; i++) {
            s->x[i] = s->x[2 * i];
            s->mb[i] = s->mb[2 * i];
        }
        s->stride = s->stride < 2 ? 2 : s->stride * 2;
    }
    bool takes = is_taken(s) && (s->count < s->capacity || grow(s));
    s->offered++;
    if (!takes)
        return;
    s->x[s->count] = x;
    s->mb[s->count++] = mb;
}

void pt_memory_series_release(struct pt_memory_series *s) {
    free(s->x);
    *s = (struct pt_memory_series){ 0 };
}
