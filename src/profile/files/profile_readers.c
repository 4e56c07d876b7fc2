#include "profile/files/profile_readers.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

const struct pt_profile_reader *const pt_profile_readers[] = {
    &pt_saved_reader,
    &pt_folded_reader,
    &pt_pprof_reader,
    NULL,
};

/* Larger times are invalid, and their differences would overflow. */
#define TIME_MAX_NS (INT64_C(1) << 61)

void pt_profile_file_init(struct pt_profile_file *f, struct pt_str title,
                          const struct pt_profile_file_type *types, size_t count) {
    struct pt_profile_value_type borrowed[PT_PROFILE_VALUES_MAX];
    pt_str_copy(f->title, sizeof f->title, title);
    for (size_t i = 0; i < count; i++) {
        borrowed[i].name = pt_str_copy(f->names[i], sizeof f->names[i], types[i].name);
        borrowed[i].unit = types[i].unit;
    }
    pt_profile_init(&f->profile, borrowed, count);
    f->profile.meta.title = f->title;
}

void pt_profile_file_release(struct pt_profile_file *f) {
    pt_profile_release(&f->profile);
    pt_free(f->depths);
    f->depths = NULL;
}

bool pt_profile_file_stack(struct pt_profile_file *f, uint32_t parent, uint32_t frame,
                           uint32_t *stack) {
    struct pt_profile *p = &f->profile;
    if (frame >= p->frames.count || (parent != PT_PROFILE_NONE && parent >= p->stacks.count))
        return false;
    unsigned depth = parent == PT_PROFILE_NONE ? 1 : f->depths[parent] + 1u;
    if (depth > PT_PROFILE_DEPTH_MAX)
        return false;
    *stack = pt_profile_stack(p, parent, frame);
    pt_grow(&f->depths, &f->depth_capacity, p->stacks.count, sizeof *f->depths);
    f->depths[*stack] = (uint16_t)depth;
    return true;
}

bool pt_profile_file_sample(struct pt_profile_file *f, const struct pt_profile_sample *s,
                            const int64_t *values) {
    struct pt_profile *p = &f->profile;
    if ((s->stack != PT_PROFILE_NONE && s->stack >= p->stacks.count) ||
        (s->thread != PT_PROFILE_NONE && s->thread >= p->threads.count) ||
        s->state >= PT_STATE_COUNT || s->time_ns > TIME_MAX_NS || s->time_ns < -TIME_MAX_NS)
        return false;
    for (size_t i = 0; i < p->type_count; i++)
        if (values[i] < 0 || __builtin_add_overflow(f->sums[i], values[i], &f->sums[i]))
            return false;
    return pt_profile_sample(p, s, values);
}

int pt_profile_file_read(struct pt_profile_file *f, const char *path, struct pt_err *err) {
    const struct pt_profile_reader *reader = NULL;
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    struct pt_err why = { "" };
    char known[200] = "";
    size_t used = 0;
    *f = (struct pt_profile_file){ 0 };
    for (size_t i = 0; pt_profile_readers[i]; i++) {
        const char *extension = pt_profile_readers[i]->extension;
        if (!reader && pt_str_ends(pt_str_from(path), pt_str_from(extension)))
            reader = pt_profile_readers[i];
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                     extension);
    }
    if (!reader)
        return pt_fail(err, -EINVAL, "%s: unknown file extension; use one of: %s", path, known);
    int rc = pt_fs_read(AT_FDCWD, path, &buffer, &text);
    if (rc) {
        pt_text_release(&buffer);
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    }
    rc = reader->read(pt_scan_rest(&text), f, &why);
    pt_text_release(&buffer);
    return rc ? pt_fail(err, rc, "%s: %s", path, why.text) : 0;
}
