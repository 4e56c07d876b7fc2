/* profile/unwind/image.h -- the files that code is mapped from, each opened once, with what
 * unwinding has learnt about their addresses. */
#ifndef PT_PROFILE_UNWIND_IMAGE_H
#define PT_PROFILE_UNWIND_IMAGE_H

#include "base/fs.h"
#include "profile/unwind/elf.h"
#include "profile/model/profile.h"

#define PT_IMAGES_MAX       8192
#define PT_IMAGE_PLACES_MAX (256u << 10) /* known addresses; beyond this the table starts over */

/* A code address: the rule to unwind it and its frame in the profile. */
struct pt_place {
    uint64_t key; /* address + 1; 0 = free */
    uint32_t frame;
    bool is_python_eval; /* inside _PyEval_EvalFrameDefault */
    bool is_read;        /* generated code: its instructions were searched for a rule */
    struct pt_unwind_rule rule;
};

struct pt_image {
    char *path;
    uint32_t build_id; /* the string it was looked up by; 0 = none */
    uint32_t module;   /* in the profile */
    bool is_tried;     /* opening `elf` was attempted */
    bool is_prepared;  /* its symbols were loaded */
    struct pt_elf elf;
    uint64_t entry; /* of a process; UINT64_MAX: none */
    struct pt_place *places;
    size_t place_count, place_capacity;
    /* of the function that runs Python bytecode; 0: not in this file */
    uint64_t eval_start, eval_end;
};

struct pt_images {
    const struct pt_fs *fs;
    struct pt_profile *profile;
    struct pt_image **at; /* pointers, because others keep them */
    size_t count, capacity;
    struct pt_intern index;
    struct pt_image *unknown; /* code without a file */
    uint32_t signal_frame;    /* for the code that a signal handler returns to */
};

void pt_images_init(struct pt_images *images, const struct pt_fs *fs, struct pt_profile *profile);
void pt_images_release(struct pt_images *images);

/* `build_id` may be empty; it is then read when the file is opened. */
struct pt_image *pt_images_find(struct pt_images *images, struct pt_str path,
                                const uint8_t *build_id, size_t build_id_size);

/* Opens the file as the process sees it, once. False: the file cannot be read. */
bool pt_image_open(struct pt_images *images, struct pt_image *image, int32_t pid);

/* What is known about an address of the file; NULL: nothing yet. Valid until the next
 * pt_image_place(). */
const struct pt_place *pt_image_known_place(const struct pt_image *image, uint64_t address);
/* Same, but looks up what is not known yet. */
struct pt_place *pt_image_place(struct pt_images *images, struct pt_image *image, uint64_t address);

#endif
