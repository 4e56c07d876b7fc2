/* profile/names/frame_names.h -- frames of a profile get names: each is replaced by itself with a
 * name, or by several where debug information knows functions that were inlined.
 *
 *     pt_frame_names_begin(&n, profile);
 *     ... each old frame is replaced by one of the functions below ...
 *     pt_frame_names_end(&n);
 */
#ifndef PT_PROFILE_NAMES_FRAME_NAMES_H
#define PT_PROFILE_NAMES_FRAME_NAMES_H

#include "profile/unwind/elf.h"
#include "profile/model/profile.h"

/* What takes the place of a frame: itself and what was inlined into it, outermost first. */
struct pt_frame_expansion {
    uint32_t first, count; /* in `parts` */
};

#define PT_FRAME_VERSIONS_MAX (1u << 20) /* later ones are not told apart */

/* Generated code may be replaced by other code at the same place. */
struct pt_frame_version {
    uint32_t old;
    uint32_t part;   /* of `parts` */
    int64_t from_ns; /* CLOCK_MONOTONIC */
};

struct pt_frame_names {
    struct pt_profile *profile;
    struct pt_profile_frame *old; /* the frames as they were */
    size_t old_count;
    struct pt_profile_stack *old_stacks;
    size_t old_stack_count;
    struct pt_frame_expansion *expansions; /* one for each old frame */
    uint32_t *parts;
    size_t part_count, part_capacity;
    struct pt_frame_version *versions; /* beyond the first */
    size_t version_count, version_capacity;
    struct pt_buf name; /* scratch */
};

/* Old frames of one module, by address. */
struct pt_frame_group {
    uint32_t module;
    uint32_t *frames;
    uint64_t *addresses;
    size_t count;
};

struct pt_frame_groups {
    struct pt_frame_group *list;
    size_t count;
    uint32_t *frames; /* of all groups */
    uint64_t *addresses;
};

/* Takes frames and stacks out of the profile. */
void pt_frame_names_begin(struct pt_frame_names *n, struct pt_profile *p);
/* Numbers frames, stacks and samples anew. */
void pt_frame_names_end(struct pt_frame_names *n);

/* Puts frames that want a name into groups; those that do not are kept as they are. */
void pt_frame_groups_make(struct pt_frame_groups *g, struct pt_frame_names *n,
                          bool (*wants_name)(const struct pt_frame_names *n, uint32_t old));
void pt_frame_groups_release(struct pt_frame_groups *g);

/* As it was. */
void pt_frame_names_keep(struct pt_frame_names *n, uint32_t old);
/* An empty name: as it was. */
void pt_frame_names_set(struct pt_frame_names *n, uint32_t old, struct pt_str name,
                        enum pt_profile_kind kind);
/* A further name, for samples from that time on; times rise, and the frame already has one. */
void pt_frame_names_set_from(struct pt_frame_names *n, uint32_t old, int64_t from_ns,
                             struct pt_str name, enum pt_profile_kind kind);
/* By what the file knows: lines and inlined functions, else symbols, else where the function
 * starts. How many got a name or a line of the file. */
size_t pt_frame_names_from_elf(struct pt_frame_names *n, const struct pt_elf *elf,
                               const struct pt_frame_group *g);

#endif
