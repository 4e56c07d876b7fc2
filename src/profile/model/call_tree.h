/* profile/model/call_tree.h -- the stacks of a profile as people look at them: a tree of functions.
 *
 * Stacks tell places in code apart. Here all places of one function are one label, and all places
 * without a symbol in one module too ("[libc.so.6]"), so that a function is one box and not one for
 * each of its lines. Parents have smaller numbers than their children, as in the profile. */
#ifndef PT_PROFILE_MODEL_CALL_TREE_H
#define PT_PROFILE_MODEL_CALL_TREE_H

#include "profile/model/profile.h"

struct pt_call_label {
    uint32_t function; /* or NONE */
    uint32_t module;   /* or NONE */
    uint32_t kind;     /* enum pt_profile_kind */
};

struct pt_call_node {
    uint32_t parent; /* or NONE: a root */
    uint32_t label;
};

struct pt_call_tree {
    const struct pt_profile *profile; /* borrowed */
    PT_PROFILE_ARRAY(struct pt_call_label) labels;
    PT_PROFILE_ARRAY(struct pt_call_node) nodes;
    uint32_t *node_of_stack;
};

void pt_call_tree_init(struct pt_call_tree *t, const struct pt_profile *p);
void pt_call_tree_release(struct pt_call_tree *t);

/* Never empty. Writes into `buffer` only if there is no function. */
struct pt_str pt_call_tree_name(const struct pt_call_tree *t, uint32_t label,
                                char buffer[PT_PROFILE_NAME_BYTES]);
/* Empty if not known. */
struct pt_str pt_call_tree_module(const struct pt_call_tree *t, uint32_t label);
struct pt_str pt_call_tree_file(const struct pt_call_tree *t, uint32_t label);

/* What each node has itself and with all it calls; both have `nodes.count` elements, which the
 * caller frees. `sum` has the samples without a stack too. */
struct pt_call_values {
    int64_t *self, *total;
    int64_t sum;
};

void pt_call_values_init(struct pt_call_values *v, const struct pt_call_tree *t, size_t type);
void pt_call_values_release(struct pt_call_values *v);

/* The name of a file without its directories. */
struct pt_str pt_profile_base_name(struct pt_str path);

#endif
