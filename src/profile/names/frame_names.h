/* profile/names/frame_names.h -- gives names to the frames of a profile: replaces each frame by a
 * named one, or by several if debug information lists inlined functions.
 *
 *     pt_frame_names_begin(&n, profile);
 *     ... each old frame is replaced by one of the functions below ...
 *     pt_frame_names_end(&n);
 */
#ifndef PT_PROFILE_NAMES_FRAME_NAMES_H
#define PT_PROFILE_NAMES_FRAME_NAMES_H

#include "profile/unwind/elf.h"
#include "profile/model/profile.h"

/* What replaces a frame: itself and the functions inlined into it, outermost first. */
struct pt_frame_expansion {
    uint32_t first, count; /* in `parts` */
};

#define PT_FRAME_VERSIONS_MAX (1u << 20) /* further versions are ignored */

/* Generated code may be replaced by other code at the same address. */
struct pt_frame_version {
    uint32_t old;
    uint32_t part;   /* of `parts` */
    int64_t from_ns; /* CLOCK_MONOTONIC */
};

struct pt_frame_names {
    struct pt_profile *profile;
    struct pt_profile_frame *old; /* the frames before */
    size_t old_count;
    struct pt_profile_stack *old_stacks;
    size_t old_stack_count;
    struct pt_frame_expansion *expansions; /* one per old frame */
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
/* Renumbers frames, stacks and samples. */
void pt_frame_names_end(struct pt_frame_names *n);

/* Groups the frames for which `wants_name` returns true; keeps the others unchanged. */
void pt_frame_groups_make(struct pt_frame_groups *g, struct pt_frame_names *n,
                          bool (*wants_name)(const struct pt_frame_names *n, uint32_t old));
void pt_frame_groups_release(struct pt_frame_groups *g);

/* Keeps the frame unchanged. */
void pt_frame_names_keep(struct pt_frame_names *n, uint32_t old);
/* An empty name leaves the frame unchanged. */
void pt_frame_names_set(struct pt_frame_names *n, uint32_t old, struct pt_str name,
                        enum pt_profile_kind kind);
/* Another name for samples from that time on; times ascend, and the frame already has a name. */
void pt_frame_names_set_from(struct pt_frame_names *n, uint32_t old, int64_t from_ns,
                             struct pt_str name, enum pt_profile_kind kind);
/* Names frames from the file: by lines and inlined functions, else symbols, else the start of the
 * function. Returns how many got a name or a line from the file. */
size_t pt_frame_names_from_elf(struct pt_frame_names *n, const struct pt_elf *elf,
                               const struct pt_frame_group *g);

#endif
