#include "profile/top.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

struct pt_top_style pt_top_style_of(int fd) {
    struct pt_top_style style = { 0 };
    struct winsize size;
    if (!isatty(fd))
        return style;
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    style.has_colors = term && strcmp(term, "dumb") != 0 && !(no_color && no_color[0]);
    if (ioctl(fd, TIOCGWINSZ, &size) == 0)
        style.columns = size.ws_col;
    return style;
}

/* The colours of the flame graph, as near as 16 colours come. */
static const char *color_of(enum pt_profile_kind kind) {
    static const char *const colors[PT_KIND_COUNT] = {
        [PT_KIND_UNKNOWN] = "\033[90m", [PT_KIND_NATIVE] = "\033[36m",
        [PT_KIND_KERNEL] = "\033[31m",  [PT_KIND_PYTHON] = "\033[33m",
        [PT_KIND_JIT] = "\033[35m",     [PT_KIND_MARKER] = "\033[90m",
    };
    return colors[kind];
}

#define NUMBERS_WIDTH 17 /* of both percentages */
#define NARROWEST     8  /* a name is not cut further */

/* Cut at the end, with a mark. */
static void print_cut(struct pt_out *out, struct pt_str text, size_t room) {
    if (text.len <= room) {
        pt_out_utf8(out, text);
        return;
    }
    text.len = room > 2 ? room - 2 : 0;
    text.len = pt_utf8_valid_length(text);
    pt_out_utf8(out, text);
    pt_out_text(out, "..");
}

static void print_row(const struct pt_top_row *row, const struct pt_profile *p,
                      const struct pt_top_style *style, struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = pt_profile_frame_name(p, row->frame, buffer);
    struct pt_str module = module_name(p, row->frame);
    bool has_module = module.len > 0 && p->frames.at[row->frame].function != PT_PROFILE_NONE;
    size_t room = SIZE_MAX;
    if (style->columns > 0)
        room =
            style->columns > NUMBERS_WIDTH + NARROWEST ? style->columns - NUMBERS_WIDTH : NARROWEST;
    has_module &= name.len <= room && room - name.len >= module.len + 4;
    if (style->has_colors)
        pt_out_text(out, color_of(pt_profile_frame_kind(p, row->frame)));
    print_cut(out, name, room);
    if (style->has_colors)
        pt_out_text(out, "\033[0m");
    if (has_module) {
        pt_out_text(out, "  (");
        pt_out_utf8(out, module);
        pt_out_text(out, ")");
    }
    pt_out_char(out, '\n');
}

void pt_top_print(const struct pt_top *t, const struct pt_profile *p, size_t limit,
                  const struct pt_top_style *style, struct pt_out *out) {
    pt_out_text(out, "   self   total  function\n");
    for (size_t i = 0; i < t->count && i < limit; i++) {
        pt_out_printf(out, "%5.1f %% %5.1f %%  ", percent(t->rows[i].self, t->sum),
                      percent(t->rows[i].total, t->sum));
        print_row(&t->rows[i], p, style, out);
    }
    if (t->count > limit)
        pt_out_printf(out, "%zu more functions\n", t->count - limit);
}
