#include "profile/model/tree.h"

struct builder {
    struct pt_tree *tree;
    const struct pt_profile *profile;
    uint32_t *names; /* number of the name of each frame */
    struct pt_intern name_index, node_index;
};

static bool is_name(const void *owner, uint32_t number, const void *key) {
    const struct builder *b = owner;
    const struct pt_str *name = key;
    char buffer[PT_PROFILE_NAME_BYTES];
    return pt_str_eq(pt_profile_frame_name(b->profile, b->tree->name_frames[number], buffer),
                     *name);
}

static void name_frame(struct builder *b, uint32_t frame) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = pt_profile_frame_name(b->profile, frame, buffer);
    uint32_t next = (uint32_t)b->tree->name_count;
    b->names[frame] =
        pt_intern_find(&b->name_index, pt_intern_hash(name.at, name.len), is_name, b, &name, next);
    if (b->names[frame] != next)
        return;
    pt_grow(&b->tree->name_frames, &b->tree->name_capacity, b->tree->name_count + 1,
            sizeof *b->tree->name_frames);
    b->tree->name_frames[b->tree->name_count++] = frame;
}

static bool is_node(const void *owner, uint32_t number, const void *key) {
    const struct builder *b = owner;
    const struct pt_tree_node *a = &b->tree->nodes[number], *wanted = key;
    return a->parent == wanted->parent && a->name == wanted->name;
}

static uint32_t node_of(struct builder *b, uint32_t parent, uint32_t frame) {
    struct pt_tree_node node = { parent, b->names[frame], frame };
    struct pt_tree *t = b->tree;
    uint32_t next = (uint32_t)t->count, key[] = { node.parent, node.name };
    uint32_t number =
        pt_intern_find(&b->node_index, pt_intern_hash(key, sizeof key), is_node, b, &node, next);
    if (number == next) {
        pt_grow(&t->nodes, &t->capacity, t->count + 1, sizeof *t->nodes);
        t->nodes[t->count++] = node;
    }
    return number;
}

void pt_tree_make(struct pt_tree *t, const struct pt_profile *p) {
    *t = (struct pt_tree){ 0 };
    struct builder b = { .tree = t, .profile = p };
    b.names = pt_calloc(p->frames.count, sizeof *b.names);
    t->of_stack = pt_calloc(p->stacks.count, sizeof *t->of_stack);
    for (uint32_t i = 0; i < p->frames.count; i++)
        name_frame(&b, i);
    for (size_t i = 0; i < p->stacks.count; i++) {
        uint32_t parent = p->stacks.at[i].parent;
        t->of_stack[i] = node_of(&b, parent == PT_PROFILE_NONE ? parent : t->of_stack[parent],
                                 p->stacks.at[i].frame);
    }
    pt_free(b.names);
    pt_intern_release(&b.name_index);
    pt_intern_release(&b.node_index);
}

void pt_tree_release(struct pt_tree *t) {
    pt_free(t->nodes);
    pt_free(t->of_stack);
    pt_free(t->name_frames);
    *t = (struct pt_tree){ 0 };
}
