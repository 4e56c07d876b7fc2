#include "profile/model/call_tree.h"

#include <stdio.h>

static bool is_label(const void *owner, uint32_t number, const void *key) {
    const struct pt_call_tree *t = owner;
    return memcmp(&t->labels.at[number], key, sizeof *t->labels.at) == 0;
}

static uint32_t add_label(struct pt_call_tree *t, struct pt_call_label label) {
    uint32_t next = (uint32_t)t->labels.count;
    uint32_t number = pt_intern_find(&t->labels.index, pt_intern_hash(&label, sizeof label),
                                     is_label, t, &label, next);
    if (number == next) {
        pt_grow(&t->labels.at, &t->labels.capacity, t->labels.count + 1, sizeof label);
        t->labels.at[t->labels.count++] = label;
    }
    return number;
}

static bool is_node(const void *owner, uint32_t number, const void *key) {
    const struct pt_call_tree *t = owner;
    return memcmp(&t->nodes.at[number], key, sizeof *t->nodes.at) == 0;
}

static uint32_t add_node(struct pt_call_tree *t, struct pt_call_node node) {
    uint32_t next = (uint32_t)t->nodes.count;
    uint32_t number = pt_intern_find(&t->nodes.index, pt_intern_hash(&node, sizeof node), is_node,
                                     t, &node, next);
    if (number == next) {
        pt_grow(&t->nodes.at, &t->nodes.capacity, t->nodes.count + 1, sizeof node);
        t->nodes.at[t->nodes.count++] = node;
    }
    return number;
}

void pt_call_tree_init(struct pt_call_tree *t, const struct pt_profile *p) {
    *t = (struct pt_call_tree){ .profile = p };
    uint32_t *label_of_frame = pt_calloc(p->frames.count, sizeof *label_of_frame);
    for (size_t i = 0; i < p->frames.count; i++) {
        const struct pt_profile_frame *f = &p->frames.at[i];
        bool is_named = f->function != PT_PROFILE_NONE;
        uint32_t module = is_named ? p->functions.at[f->function].module : f->module;
        struct pt_call_label label = { f->function, module, pt_profile_frame_kind(p, (uint32_t)i) };
        label_of_frame[i] = add_label(t, label);
    }
    t->node_of_stack = pt_calloc(p->stacks.count, sizeof *t->node_of_stack);
    for (size_t i = 0; i < p->stacks.count; i++) {
        struct pt_profile_stack s = p->stacks.at[i];
        uint32_t parent = s.parent == PT_PROFILE_NONE ? s.parent : t->node_of_stack[s.parent];
        t->node_of_stack[i] = add_node(t, (struct pt_call_node){ parent, label_of_frame[s.frame] });
    }
    pt_free(label_of_frame);
}

void pt_call_tree_release(struct pt_call_tree *t) {
    pt_free(t->labels.at);
    pt_intern_release(&t->labels.index);
    pt_free(t->nodes.at);
    pt_intern_release(&t->nodes.index);
    pt_free(t->node_of_stack);
    *t = (struct pt_call_tree){ 0 };
}

struct pt_str pt_call_tree_module(const struct pt_call_tree *t, uint32_t label) {
    const struct pt_profile *p = t->profile;
    uint32_t module = t->labels.at[label].module;
    return module == PT_PROFILE_NONE ? PT_STR("") : pt_profile_text(p, p->modules.at[module].path);
}

struct pt_str pt_call_tree_file(const struct pt_call_tree *t, uint32_t label) {
    const struct pt_profile *p = t->profile;
    uint32_t function = t->labels.at[label].function;
    return function == PT_PROFILE_NONE ? PT_STR("")
                                       : pt_profile_text(p, p->functions.at[function].file);
}

struct pt_str pt_call_tree_name(const struct pt_call_tree *t, uint32_t label,
                                char buffer[PT_PROFILE_NAME_BYTES]) {
    const struct pt_profile *p = t->profile;
    uint32_t function = t->labels.at[label].function;
    if (function != PT_PROFILE_NONE) {
        struct pt_str name = pt_profile_text(p, p->functions.at[function].name);
        return name.len > 0 ? name : PT_STR("[unnamed]");
    }
    struct pt_str module = pt_profile_base_name(pt_call_tree_module(t, label));
    if (module.len == 0)
        return PT_STR("[unknown]");
    if (module.at[0] == '[')
        return module;
    if (module.len > PT_PROFILE_NAME_BYTES - 3)
        module.len = PT_PROFILE_NAME_BYTES - 3;
    int n = snprintf(buffer, PT_PROFILE_NAME_BYTES, "[%.*s]", (int)module.len, module.at);
    return (struct pt_str){ buffer, n > 0 ? (size_t)n : 0 };
}

void pt_call_values_init(struct pt_call_values *v, const struct pt_call_tree *t, size_t type) {
    const struct pt_profile *p = t->profile;
    size_t count = t->nodes.count;
    *v = (struct pt_call_values){ .self = pt_calloc(count, sizeof *v->self),
                                  .total = pt_calloc(count, sizeof *v->total) };
    for (size_t i = 0; i < p->samples.count; i++) {
        int64_t value = pt_profile_value(p, i, type);
        v->sum += value;
        if (p->samples.at[i].stack != PT_PROFILE_NONE)
            v->self[t->node_of_stack[p->samples.at[i].stack]] += value;
    }
    for (size_t i = count; i-- > 0;) {
        v->total[i] += v->self[i];
        if (t->nodes.at[i].parent != PT_PROFILE_NONE)
            v->total[t->nodes.at[i].parent] += v->total[i];
    }
}

void pt_call_values_release(struct pt_call_values *v) {
    pt_free(v->self);
    pt_free(v->total);
    *v = (struct pt_call_values){ 0 };
}
