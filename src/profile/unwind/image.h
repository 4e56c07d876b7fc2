/* profile/unwind/image.h -- the files that code was mapped from, each opened once, and what
 * unwinding found out about their addresses. */
#ifndef PT_PROFILE_UNWIND_IMAGE_H
#define PT_PROFILE_UNWIND_IMAGE_H

#include "base/fs.h"
#include "profile/unwind/elf.h"
#include "profile/model/profile.h"

#define PT_IMAGES_MAX       8192
#define PT_IMAGE_PLACES_MAX (256u << 10) /* known addresses; then they are forgotten */

/* A place in code: how to get to its caller and its number in the profile. */
struct pt_place {
    uint64_t key; /* address + 1; 0 = free */
    uint32_t frame;
    bool is_python_eval; /* inside _PyEval_EvalFrameDefault */
    bool is_read;        /* of generated code: a rule was looked for in the code itself */
    struct pt_unwind_rule rule;
};

struct pt_image {
    char *path;
    uint32_t build_id; /* string that it was asked for by; 0 = none */
    uint32_t module;   /* in the profile */
    bool is_tried;     /* `elf` was opened, or cannot be */
    bool is_prepared;  /* its symbols were asked for */
    struct pt_elf elf;
    uint64_t entry; /* of a process; UINT64_MAX: none */
    struct pt_place *places;
    size_t place_count, place_capacity;
    uint64_t eval_start, eval_end; /* of the function that runs Python; 0: not in this file */
};

struct pt_images {
    const struct pt_fs *fs;
    struct pt_profile *profile;
    struct pt_image **at; /* pointers: they are kept elsewhere */
    size_t count, capacity;
    struct pt_intern index;
    struct pt_image *unknown; /* code of no file */
    uint32_t signal_frame;    /* stands for the code that the kernel returns to from a handler */
};

void pt_images_init(struct pt_images *images, const struct pt_fs *fs, struct pt_profile *profile);
void pt_images_release(struct pt_images *images);

/* `build_id` may be empty: then it is read when the file opens. */
struct pt_image *pt_images_find(struct pt_images *images, struct pt_str path,
                                const uint8_t *build_id, size_t build_id_size);

/* Opens the file, as the process sees it; once. False: it cannot be read. */
bool pt_image_open(struct pt_images *images, struct pt_image *image, int32_t pid);

/* What is known of an address of the file; NULL: nothing yet. Valid until the next call of the one
 * below. */
const struct pt_place *pt_image_known_place(const struct pt_image *image, uint64_t address);
/* The same, found out if need be. */
struct pt_place *pt_image_place(struct pt_images *images, struct pt_image *image, uint64_t address);

#endif
