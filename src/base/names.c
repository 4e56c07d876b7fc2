#include "base/names.h"

#include "base/mem.h"

/* The slot of the name, or the empty slot where it belongs. */
static uint32_t *slot_of(const struct pt_names *n, struct pt_str name) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (uint8_t)name.at[i]) * UINT64_C(1099511628211);
    size_t mask = n->slot_count - 1, at = hash & mask;
    while (n->slots[at] && !pt_str_eq(n->list[n->slots[at] - 1], name))
        at = (at + 1) & mask;
    return &n->slots[at];
}

static void grow_slots(struct pt_names *n) {
    pt_free(n->slots);
    n->slot_count = n->slot_count > 0 ? 2 * n->slot_count : 64;
    n->slots = pt_calloc(n->slot_count, sizeof *n->slots);
    for (size_t i = 0; i < n->count; i++)
        *slot_of(n, n->list[i]) = (uint32_t)i + 1;
}

uint32_t pt_names_find(const struct pt_names *n, struct pt_str name) {
    uint32_t found = n->slot_count > 0 ? *slot_of(n, name) : 0;
    return found ? found - 1 : PT_NAMES_NONE;
}

uint32_t pt_names_add(struct pt_names *n, struct pt_str name) {
    uint32_t found = pt_names_find(n, name);
    if (found != PT_NAMES_NONE)
        return found;
    if (2 * (n->count + 1) > n->slot_count)
        grow_slots(n);
    pt_grow(&n->list, &n->capacity, n->count + 1, sizeof *n->list);
    n->list[n->count] = (struct pt_str){ pt_strndup(name), name.len };
    *slot_of(n, name) = (uint32_t)++n->count;
    return (uint32_t)n->count - 1;
}

void pt_names_release(struct pt_names *n) {
    for (size_t i = 0; i < n->count; i++)
        pt_free((char *)n->list[i].at);
    pt_free(n->list);
    pt_free(n->slots);
    *n = (struct pt_names){ 0 };
}
