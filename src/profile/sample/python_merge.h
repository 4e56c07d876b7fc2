/* profile/sample/python_merge.h -- merges native and Python frames into one stack: each frame of
 * the evaluation loop is replaced by the Python functions it runs.
 *
 * The two were not read at the same instant. If the number of loops equals the number of runs of
 * Python frames, they belong together; that is checked for every sample, and the share of matches
 * is reported. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_MERGE_H
#define PT_PROFILE_SAMPLE_PYTHON_MERGE_H

#include "profile/model/profile.h"
#include "profile/sample/python_process.h"

/* A native stack, leaf first, with the frames that are evaluation loops marked. */
struct pt_native_stack {
    const uint32_t *frames;
    const bool *is_eval;
    size_t count;
    bool is_cut; /* the outer frames are missing; the last frame is a marker */
};

/* The Python frames, leaf first; `frames` are those of the profile (NONE: a shim). */
struct pt_python_part {
    const struct pt_python_entry *entries;
    const uint32_t *frames;
    size_t count;
};

/* Do the two stacks belong together? */
bool pt_python_matches(const struct pt_native_stack *native, const struct pt_python_entry *entries,
                       size_t count);

/* Returns the number of frames written, at most `capacity`. Stacks that do not match are aligned at
 * the root, where stacks change least; a stack that was cut is aligned at the leaf, and the
 * remaining Python frames follow. */
size_t pt_python_merge(const struct pt_native_stack *native, const struct pt_python_part *python,
                       uint32_t *into, size_t capacity);

#endif
