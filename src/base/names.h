/* base/names.h -- a set of strings: each is stored once and has a number. */
#ifndef PT_BASE_NAMES_H
#define PT_BASE_NAMES_H

#include "base/str.h"

#include <stdint.h>

/* {0} is empty. */
struct pt_names {
    struct pt_str *list; /* owned copies, also terminated */
    size_t count, capacity;
    uint32_t *slots; /* number of a name plus one; the count is a power of two */
    size_t slot_count;
};

#define PT_NAMES_NONE UINT32_MAX

uint32_t pt_names_find(const struct pt_names *n, struct pt_str name); /* or PT_NAMES_NONE */
uint32_t pt_names_add(struct pt_names *n, struct pt_str name);        /* finds or adds it */
void pt_names_release(struct pt_names *n);

#endif
