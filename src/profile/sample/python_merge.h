/* profile/sample/python_merge.h -- native frames and frames of Python become one stack: each frame
 * of the evaluation loop gives way to the functions it runs.
 *
 * The two were not read at the same instant. If the loops are as many as Python has runs of them,
 * they belong together; that is checked for every sample, and how often it holds is told. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_MERGE_H
#define PT_PROFILE_SAMPLE_PYTHON_MERGE_H

#include "profile/model/profile.h"
#include "profile/sample/python_process.h"

/* A native stack, leaf first; which of its frames are evaluation loops. */
struct pt_native_stack {
    const uint32_t *frames;
    const bool *is_eval;
    size_t count;
    bool is_cut; /* its outer frames are missing: the last frame says so */
};

/* What Python says, leaf first; `frames` are those of the profile (NONE: a shim). */
struct pt_python_part {
    const struct pt_python_entry *entries;
    const uint32_t *frames;
    size_t count;
};

/* Do they belong together? */
bool pt_python_matches(const struct pt_native_stack *native, const struct pt_python_entry *entries,
                       size_t count);

/* How many frames were written, at most `capacity`. Where they do not match, they are laid side by
 * side from the root, where stacks change least; of a stack that was cut from the leaf, and what
 * Python knows of the rest follows. */
size_t pt_python_merge(const struct pt_native_stack *native, const struct pt_python_part *python,
                       uint32_t *into, size_t capacity);

#endif
