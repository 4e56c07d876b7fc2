/* profile/unwind/space.h -- the address space of a process: its executable mappings. */
#ifndef PT_PROFILE_UNWIND_SPACE_H
#define PT_PROFILE_UNWIND_SPACE_H

#include "base/scan.h"
#include "profile/unwind/image.h"

#define PT_SPACE_MAPPINGS_MAX 65536

struct pt_mapping {
    uint64_t start, end;
    uint64_t file_offset; /* of `start` */
    /* File address minus memory address; computed when first needed. */
    uint64_t bias;
    bool has_bias;
    struct pt_image *image;
};

struct pt_space {
    int32_t pid;
    bool has_ended;
    struct pt_mapping *at; /* sorted by start, without overlap */
    size_t count, capacity;
};

void pt_space_release(struct pt_space *s);
void pt_space_clear(struct pt_space *s);
void pt_space_copy(struct pt_space *s, const struct pt_space *from);

/* A new mapping replaces what was there. */
void pt_space_map(struct pt_space *s, struct pt_mapping mapping);

/* Is exactly this mapping present? */
bool pt_space_has(const struct pt_space *s, const struct pt_mapping *mapping);

/* NULL: nothing is mapped there. */
struct pt_mapping *pt_space_find(const struct pt_space *s, uint64_t address);

/* A line of /proc/PID/maps:
 *
 *     55d0c8a00000-55d0c8c1f000 r-xp 0001f000 fe:00 1234    /usr/bin/python3.11
 */
struct pt_maps_line {
    uint64_t start, end, file_offset;
    bool is_executable;
    struct pt_str path; /* "" if there is none; without " (deleted)" */
};

/* False: the line has another form. */
bool pt_maps_parse(struct pt_scan line, struct pt_maps_line *into);

#endif
