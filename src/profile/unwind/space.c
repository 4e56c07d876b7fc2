#include "profile/unwind/space.h"

void pt_space_release(struct pt_space *s) {
    pt_free(s->at);
    *s = (struct pt_space){ 0 };
}

void pt_space_clear(struct pt_space *s) {
    s->count = 0;
}

void pt_space_copy(struct pt_space *s, const struct pt_space *from) {
    pt_grow(&s->at, &s->capacity, from->count, sizeof *s->at);
    if (from->count > 0)
        memcpy(s->at, from->at, from->count * sizeof *s->at);
    s->count = from->count;
}

/* The first mapping that ends after `address`. */
static size_t first_behind(const struct pt_space *s, uint64_t address) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct pt_space *s, size_t at, struct pt_mapping mapping) {
    if (s->count >= PT_SPACE_MAPPINGS_MAX)
        return;
    pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
    if (at < s->count)
        memmove(&s->at[at + 1], &s->at[at], (s->count - at) * sizeof *s->at);
    s->at[at] = mapping;
    s->count++;
}

static void set_start(struct pt_mapping *m, uint64_t start) {
    m->file_offset += start - m->start;
    m->start = start;
}

void pt_space_map(struct pt_space *s, struct pt_mapping mapping) {
    if (mapping.end <= mapping.start)
        return;
    size_t at = first_behind(s, mapping.start);
    if (at < s->count && s->at[at].start < mapping.start) {
        struct pt_mapping tail = s->at[at];
        s->at[at].end = mapping.start;
        set_start(&tail, mapping.end);
        at++;
        if (tail.end > mapping.end)
            insert(s, at, tail);
    }
    size_t covered = 0;
    while (at + covered < s->count && s->at[at + covered].end <= mapping.end)
        covered++;
    if (covered > 0)
        memmove(&s->at[at], &s->at[at + covered], (s->count - at - covered) * sizeof *s->at);
    s->count -= covered;
    if (at < s->count && s->at[at].start < mapping.end)
        set_start(&s->at[at], mapping.end);
    insert(s, at, mapping);
}

struct pt_mapping *pt_space_find(const struct pt_space *s, uint64_t address) {
    size_t i = first_behind(s, address);
    return i < s->count && s->at[i].start <= address ? &s->at[i] : NULL;
}

bool pt_space_has(const struct pt_space *s, const struct pt_mapping *mapping) {
    const struct pt_mapping *m = pt_space_find(s, mapping->start);
    return m && m->start == mapping->start && m->end == mapping->end &&
           m->file_offset == mapping->file_offset && m->image == mapping->image;
}

bool pt_maps_parse(struct pt_scan line, struct pt_maps_line *into) {
    into->start = pt_scan_hex(&line);
    if (!pt_scan_take(&line, PT_STR("-")))
        return false;
    into->end = pt_scan_hex(&line);
    struct pt_str rights = pt_scan_word(&line);
    into->file_offset = pt_scan_hex(&line);
    pt_scan_skip(&line, 2);
    if (line.failed || rights.len < 3 || into->end < into->start)
        return false;
    into->is_executable = rights.at[2] == 'x';
    pt_scan_blanks(&line);
    into->path = pt_scan_rest(&line);
    if (pt_str_ends(into->path, PT_STR(" (deleted)")))
        into->path.len -= sizeof " (deleted)" - 1;
    return true;
}
