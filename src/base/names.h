/* base/names.h -- texts by number: each is kept once. */
#ifndef PT_BASE_NAMES_H
#define PT_BASE_NAMES_H

#include "base/str.h"

#include <stdint.h>

/* {0} is empty. */
struct pt_names {
    struct pt_str *list; /* owned copies, terminated too */
    size_t count, capacity;
    uint32_t *slots; /* number of a name plus one; a power of two of them */
    size_t slot_count;
};

#define PT_NAMES_NONE UINT32_MAX

uint32_t pt_names_find(const struct pt_names *n, struct pt_str name); /* or PT_NAMES_NONE */
uint32_t pt_names_add(struct pt_names *n, struct pt_str name);        /* finds it or adds it */
void pt_names_release(struct pt_names *n);

#endif
