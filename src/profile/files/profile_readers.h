/* profile/files/profile_readers.h -- reads profiles from untrusted files: every number is checked
 * before use, sums cannot overflow, and memory is bounded by the size of the content. */
#ifndef PT_PROFILE_FILES_PROFILE_READERS_H
#define PT_PROFILE_FILES_PROFILE_READERS_H

#include "profile/model/profile.h"

#include "base/err.h"

#define PT_PROFILE_CONTENT_MAX (UINT64_C(1) << 30) /* bytes, uncompressed */
#define PT_PROFILE_DEPTH_MAX   4096

/* A profile read from a file, with the names that its struct only borrows: do not move it. */
struct pt_profile_file {
    struct pt_profile profile;
    char title[32];
    char names[PT_PROFILE_VALUES_MAX][32];
    int64_t sums[PT_PROFILE_VALUES_MAX];
    uint16_t *depths; /* of each stack */
    size_t depth_capacity;
};

struct pt_profile_reader {
    const char *extension;
    /* The caller releases `f`, also on failure. */
    int (*read)(struct pt_str bytes, struct pt_profile_file *f, struct pt_err *err);
};

/* NULL after the last. */
extern const struct pt_profile_reader *const pt_profile_readers[];

/* 0 or -errno with a message: -EINVAL unknown extension, -EBADMSG malformed, -EFBIG too large.
 * Release `f` in every case. */
int pt_profile_file_read(struct pt_profile_file *f, const char *path,
                         struct pt_err *err) PT_MUST_CHECK;
void pt_profile_file_release(struct pt_profile_file *f);

/* For readers. The first copies the names; the others check and return whether the entry was added.
 */
struct pt_profile_file_type {
    struct pt_str name;
    enum pt_profile_unit unit;
};
void pt_profile_file_init(struct pt_profile_file *f, struct pt_str title,
                          const struct pt_profile_file_type *types, size_t count);
bool pt_profile_file_stack(struct pt_profile_file *f, uint32_t parent, uint32_t frame,
                           uint32_t *stack);
bool pt_profile_file_sample(struct pt_profile_file *f, const struct pt_profile_sample *sample,
                            const int64_t *values);

/* Parse the content of a .pitotprof, and of a .pb.gz after gunzip; public for tests. */
int pt_saved_parse(struct pt_str content, struct pt_profile_file *f, struct pt_err *err);
int pt_pprof_parse(struct pt_str content, struct pt_profile_file *f, struct pt_err *err);

/* Each is in the file of its name. */
extern const struct pt_profile_reader pt_saved_reader;
extern const struct pt_profile_reader pt_folded_reader;
extern const struct pt_profile_reader pt_pprof_reader;

#endif
