#include "profile/model/profile_diff.h"
#include "profile/model/call_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BEFORE, AFTER };

static const char *const column_names[] = { "before", "after" };

bool pt_profile_is_diff(const struct pt_profile *p) {
    return p->type_count == 2 && strcmp(p->types[BEFORE].name, column_names[BEFORE]) == 0 &&
           strcmp(p->types[AFTER].name, column_names[AFTER]) == 0;
}

/* The frame of the difference for a label of one of the two profiles. */
static uint32_t take_label(struct pt_profile *diff, const struct pt_call_tree *t, uint32_t label) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str path = pt_profile_base_name(pt_call_tree_module(t, label));
    uint32_t module = PT_PROFILE_NONE;
    if (path.len > 0)
        module = pt_profile_module(
            diff, (struct pt_profile_module){ .path = pt_profile_string(diff, path) });
    uint32_t function = pt_profile_function(
        diff, (struct pt_profile_function){
                  .name = pt_profile_string(diff, pt_call_tree_name(t, label, buffer)),
                  .module = module,
                  .file = pt_profile_string(diff, pt_call_tree_file(t, label)),
                  .kind = t->labels.at[label].kind });
    return pt_profile_frame(diff, (struct pt_profile_frame){ function, module, 0, 0, 0 });
}

static void add_side(struct pt_profile *diff, const struct pt_profile *p, int side) {
    struct pt_call_tree tree;
    struct pt_call_values values;
    pt_call_tree_init(&tree, p);
    pt_call_values_init(&values, &tree, 0);
    uint32_t *frames = pt_calloc(tree.labels.count, sizeof *frames);
    uint32_t *stacks = pt_calloc(tree.nodes.count, sizeof *stacks);
    int64_t stackless = values.sum;
    for (uint32_t i = 0; i < tree.labels.count; i++)
        frames[i] = take_label(diff, &tree, i);
    struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE, .cpu = UINT16_MAX };
    for (size_t i = 0; i < tree.nodes.count; i++) {
        struct pt_call_node node = tree.nodes.at[i];
        uint32_t parent = node.parent == PT_PROFILE_NONE ? node.parent : stacks[node.parent];
        stacks[i] = pt_profile_stack(diff, parent, frames[node.label]);
        stackless -= values.self[i];
        sample.stack = stacks[i];
        if (values.self[i] != 0)
            (void)pt_profile_sample(diff, &sample,
                                    (int64_t[]){ side == BEFORE ? values.self[i] : 0,
                                                 side == AFTER ? values.self[i] : 0 });
    }
    sample.stack = PT_PROFILE_NONE;
    if (stackless != 0)
        (void)pt_profile_sample(
            diff, &sample,
            (int64_t[]){ side == BEFORE ? stackless : 0, side == AFTER ? stackless : 0 });
    pt_free(frames);
    pt_free(stacks);
    pt_call_values_release(&values);
    pt_call_tree_release(&tree);
}

/* Merges the samples of one stack, which may come from both sides. */
static void join_samples(struct pt_profile *diff) {
    size_t *place = pt_calloc(diff->stacks.count + 1, sizeof *place); /* plus one; last: no stack */
    size_t count = 0;
    for (size_t i = 0; i < diff->samples.count; i++) {
        uint32_t stack = diff->samples.at[i].stack;
        size_t *at = &place[stack == PT_PROFILE_NONE ? diff->stacks.count : stack];
        int64_t *values = diff->values.at + 2 * i;
        if (*at == 0) {
            *at = ++count;
            diff->samples.at[count - 1] = diff->samples.at[i];
            memmove(diff->values.at + 2 * (count - 1), values, 2 * sizeof *values);
        } else {
            diff->values.at[2 * (*at - 1) + BEFORE] += values[BEFORE];
            diff->values.at[2 * (*at - 1) + AFTER] += values[AFTER];
        }
    }
    diff->samples.count = count;
    diff->values.count = 2 * count;
    pt_free(place);
}

int pt_profile_diff(const struct pt_profile *before, const struct pt_profile *after,
                    struct pt_profile *diff, struct pt_err *err) {
    enum pt_profile_unit unit = after->types[0].unit;
    if (before->types[0].unit != unit)
        return pt_fail(err, -EINVAL, "one profile counts %s, the other %s",
                       pt_profile_unit_name(before->types[0].unit), pt_profile_unit_name(unit));
    if ((before->modules.count == 0) != (after->modules.count == 0))
        return pt_fail(err, -EINVAL,
                       "only one profile has modules (is the other collapsed stacks?), so nothing "
                       "would match (compare two files of one format)");
    const struct pt_profile_value_type types[] = { { column_names[BEFORE], unit },
                                                   { column_names[AFTER], unit } };
    pt_profile_init(diff, types, PT_COUNT(types));
    diff->meta.title = "diff";
    diff->meta.lost = diff->meta.unwound = diff->meta.rooted = diff->meta.truncated = -1;
    snprintf(diff->meta.command, sizeof diff->meta.command, "%.500s  \xe2\x86\x92  %.500s",
             before->meta.command, after->meta.command);
    add_side(diff, before, BEFORE);
    add_side(diff, after, AFTER);
    join_samples(diff);
    return 0;
}

struct change {
    uint32_t label;
    double before, after; /* self, as shares of the whole */
};

static int by_size(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    double left = fabs(x->after - x->before), right = fabs(y->after - y->before);
    if (left != right)
        return left > right ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

static void add_shares(struct change *changes, const struct pt_call_tree *t, int side) {
    struct pt_call_values values;
    pt_call_values_init(&values, t, (size_t)side);
    for (size_t i = 0; i < t->nodes.count && values.sum > 0; i++) {
        struct change *c = &changes[t->nodes.at[i].label];
        double share = (double)values.self[i] / (double)values.sum;
        *(side == BEFORE ? &c->before : &c->after) += share;
    }
    pt_call_values_release(&values);
}

void pt_profile_diff_print(const struct pt_profile *diff, size_t limit, struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_call_tree tree;
    pt_call_tree_init(&tree, diff);
    struct change *changes = pt_calloc(tree.labels.count, sizeof *changes);
    for (uint32_t i = 0; i < tree.labels.count; i++)
        changes[i].label = i;
    add_shares(changes, &tree, BEFORE);
    add_shares(changes, &tree, AFTER);
    qsort(changes, tree.labels.count, sizeof *changes, by_size);
    pt_out_text(out, " before   after   change  function (self, of the whole)\n");
    for (size_t i = 0; i < tree.labels.count && i < limit; i++) {
        const struct change *c = &changes[i];
        if (c->before == c->after)
            break;
        pt_out_printf(out, "%5.1f %% %5.1f %% %+6.1f %%  ", 100 * c->before, 100 * c->after,
                      100 * (c->after - c->before));
        pt_out_utf8(out, pt_call_tree_name(&tree, c->label, buffer));
        pt_out_char(out, '\n');
    }
    pt_free(changes);
    pt_call_tree_release(&tree);
}
