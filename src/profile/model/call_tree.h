/* profile/model/call_tree.h -- the stacks of a profile as a tree of functions, for people to look
 * at.
 *
 * Stacks distinguish code addresses. Here all addresses in one function share a label, and so do
 * all addresses without a symbol in one module ("[libc.so.6]"): a function is one box, not one per
 * line. Parents have smaller numbers than their children, as in the profile. */
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
/* Empty if unknown. */
struct pt_str pt_call_tree_module(const struct pt_call_tree *t, uint32_t label);
struct pt_str pt_call_tree_file(const struct pt_call_tree *t, uint32_t label);

/* The value of each node alone and with its callees; both arrays have `nodes.count` elements. `sum`
 * includes samples without a stack. */
struct pt_call_values {
    int64_t *self, *total;
    int64_t sum;
};

void pt_call_values_init(struct pt_call_values *v, const struct pt_call_tree *t, size_t type);
void pt_call_values_release(struct pt_call_values *v);

#endif
