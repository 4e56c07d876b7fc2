/* profile/model/tree.h -- stacks by name: calls of one function from several lines are merged. A
 * node is a path of names from the root. */
#ifndef PT_PROFILE_MODEL_TREE_H
#define PT_PROFILE_MODEL_TREE_H

#include "profile/model/profile.h"

struct pt_tree_node {
    uint32_t parent; /* or NONE; always smaller than the node's own number */
    uint32_t name;   /* number of the name: equal names have equal numbers */
    uint32_t frame;  /* one of the frames with this name */
};

struct pt_tree {
    struct pt_tree_node *nodes;
    size_t count, capacity;
    uint32_t *of_stack;    /* the node of each stack of the profile */
    uint32_t *name_frames; /* of each name: a frame with it */
    size_t name_count, name_capacity;
};

void pt_tree_make(struct pt_tree *t, const struct pt_profile *p);
void pt_tree_release(struct pt_tree *t);

#endif
