#include "profile/top.h"

#include <stdlib.h>

/* Which row a frame belongs to: all frames of one name are one row. */
struct rows {
    struct pt_top *top;
    const struct pt_profile *profile;
    uint32_t *of_frame; /* row + 1; 0 = not known yet */
    uint32_t *last;     /* the stack a row was counted for last, + 1 */
    size_t row_capacity, last_capacity;
    struct pt_intern index;
};

static bool has_name(const void *owner, uint32_t number, const void *key) {
    const struct rows *r = owner;
    const struct pt_str *name = key;
    char buffer[PT_PROFILE_NAME_BYTES];
    return pt_str_eq(pt_profile_frame_name(r->profile, r->top->rows[number].frame, buffer), *name);
}

static uint32_t row_of(struct rows *r, uint32_t frame) {
    if (r->of_frame[frame])
        return r->of_frame[frame] - 1;
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = pt_profile_frame_name(r->profile, frame, buffer);
    uint32_t next = (uint32_t)r->top->count;
    uint32_t row =
        pt_intern_find(&r->index, pt_intern_hash(name.at, name.len), has_name, r, &name, next);
    if (row == next) {
        r->top->count++;
        pt_grow(&r->top->rows, &r->row_capacity, r->top->count, sizeof *r->top->rows);
        pt_grow(&r->last, &r->last_capacity, r->top->count, sizeof *r->last);
        r->top->rows[row] = (struct pt_top_row){ .frame = frame };
        r->last[row] = 0;
    }
    r->of_frame[frame] = row + 1;
    return row;
}

static void count_stack(struct rows *r, uint32_t leaf, int64_t value) {
    const struct pt_profile *p = r->profile;
    bool is_leaf = true;
    for (uint32_t stack = leaf; stack != PT_PROFILE_NONE; stack = p->stacks.at[stack].parent) {
        uint32_t row = row_of(r, p->stacks.at[stack].frame);
        if (is_leaf)
            r->top->rows[row].self += value;
        is_leaf = false;
        if (r->last[row] == leaf + 1)
            continue;
        r->last[row] = leaf + 1;
        r->top->rows[row].total += value;
    }
}

static int by_self(const void *a, const void *b) {
    const struct pt_top_row *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void pt_top_make(struct pt_top *t, const struct pt_profile *p) {
    *t = (struct pt_top){ 0 };
    struct rows r = { .top = t, .profile = p };
    r.of_frame = pt_calloc(p->frames.count + 1, sizeof *r.of_frame);
    int64_t *values = pt_calloc(p->stacks.count + 1, sizeof *values);
    for (size_t i = 0; i < p->samples.count; i++) {
        int64_t value = pt_profile_value(p, i, 0);
        t->sum += value;
        if (p->samples.at[i].stack != PT_PROFILE_NONE)
            values[p->samples.at[i].stack] += value;
    }
    for (uint32_t stack = 0; stack < p->stacks.count; stack++)
        if (values[stack] != 0)
            count_stack(&r, stack, values[stack]);
    if (t->count > 1)
        qsort(t->rows, t->count, sizeof *t->rows, by_self);
    pt_free(values);
    pt_free(r.of_frame);
    pt_free(r.last);
    pt_intern_release(&r.index);
}

void pt_top_release(struct pt_top *t) {
    pt_free(t->rows);
    *t = (struct pt_top){ 0 };
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static struct pt_str module_name(const struct pt_profile *p, uint32_t frame) {
    uint32_t module = p->frames.at[frame].module;
    if (module == PT_PROFILE_NONE)
        return PT_STR("");
    struct pt_str path = pt_profile_text(p, p->modules.at[module].path);
    const char *slash = memrchr(path.at, '/', path.len);
    return slash ? pt_str_skip(path, (size_t)(slash + 1 - path.at)) : path;
}

void pt_top_print(const struct pt_top *t, const struct pt_profile *p, size_t limit,
                  struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_out_text(out, "   self   total  function\n");
    for (size_t i = 0; i < t->count && i < limit; i++) {
        const struct pt_top_row *row = &t->rows[i];
        struct pt_str name = pt_profile_frame_name(p, row->frame, buffer);
        struct pt_str module = module_name(p, row->frame);
        pt_out_printf(out, "%5.1f %%  %5.1f %%  ", percent(row->self, t->sum),
                      percent(row->total, t->sum));
        pt_out_utf8(out, name);
        if (module.len > 0 && p->frames.at[row->frame].function != PT_PROFILE_NONE) {
            pt_out_text(out, "  (");
            pt_out_utf8(out, module);
            pt_out_text(out, ")");
        }
        pt_out_char(out, '\n');
    }
}
