#include "profile/model/by_function.h"

#include "base/utf8.h"
#include "profile/model/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int by_self(const void *a, const void *b) {
    const struct pt_top_row *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Sums by node first, then walks each path of names once. A name counts once per path: last[name]
 * is the leaf node it was last counted for, plus one. */
static void count_samples(struct pt_top *t, const struct pt_profile *p,
                          const struct pt_tree *tree) {
    int64_t *values = pt_calloc(tree->count, sizeof *values);
    uint32_t *last = pt_calloc(tree->name_count, sizeof *last);
    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t stack = p->samples.at[i].stack;
        int64_t value = pt_profile_value(p, i, 0);
        t->sum += value;
        if (stack != PT_PROFILE_NONE)
            values[tree->of_stack[stack]] += value;
    }
    for (uint32_t leaf = 0; leaf < tree->count; leaf++) {
        if (values[leaf] == 0)
            continue;
        t->rows[tree->nodes[leaf].name].self += values[leaf];
        for (uint32_t node = leaf; node != PT_PROFILE_NONE; node = tree->nodes[node].parent) {
            uint32_t name = tree->nodes[node].name;
            if (last[name] == leaf + 1)
                continue;
            last[name] = leaf + 1;
            t->rows[name].total += values[leaf];
        }
    }
    pt_free(values);
    pt_free(last);
}

void pt_top_make(struct pt_top *t, const struct pt_profile *p) {
    struct pt_tree tree;
    pt_tree_make(&tree, p);
    *t = (struct pt_top){ .count = tree.name_count };
    t->rows = pt_calloc(t->count, sizeof *t->rows);
    for (size_t i = 0; i < t->count; i++)
        t->rows[i].frame = tree.name_frames[i];
    count_samples(t, p, &tree);
    qsort(t->rows, t->count, sizeof *t->rows, by_self);
    while (t->count > 0 && t->rows[t->count - 1].total == 0)
        t->count--; /* names of frames without samples */
    pt_tree_release(&tree);
}

void pt_top_release(struct pt_top *t) {
    pt_free(t->rows);
    *t = (struct pt_top){ 0 };
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
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

/* The colours of the flame graph, as close as 16 colours allow. */
static const char *const colors[PT_KIND_COUNT] = {
    [PT_KIND_UNKNOWN] = "\033[90m", [PT_KIND_NATIVE] = "\033[36m", [PT_KIND_KERNEL] = "\033[31m",
    [PT_KIND_PYTHON] = "\033[33m",  [PT_KIND_JIT] = "\033[35m",    [PT_KIND_MARKER] = "\033[90m",
};

#define NUMBERS_WIDTH 17 /* of both percentage columns */
#define NARROWEST     8  /* names are not cut below this */

/* Text that does not fit ends with ".."; `room` is NARROWEST or more. */
static void print_cut(struct pt_out *out, struct pt_str text, size_t room) {
    if (text.len <= room) {
        pt_out_utf8(out, text);
        return;
    }
    text.len = room - 2;
    text.len = pt_utf8_valid_length(text);
    pt_out_utf8(out, text);
    pt_out_text(out, "..");
}

static void print_row(const struct pt_top_row *row, const struct pt_profile *p,
                      const struct pt_top_style *style, struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = pt_profile_frame_name(p, row->frame, buffer);
    const struct pt_profile_frame *f = &p->frames.at[row->frame];
    struct pt_str module = PT_STR("");
    if (f->function != PT_PROFILE_NONE && f->module != PT_PROFILE_NONE)
        module = pt_profile_base_name(pt_profile_text(p, p->modules.at[f->module].path));
    size_t room = SIZE_MAX;
    if (style->columns > 0)
        room =
            style->columns > NUMBERS_WIDTH + NARROWEST ? style->columns - NUMBERS_WIDTH : NARROWEST;
    bool has_module = module.len > 0 && name.len <= room && room - name.len >= module.len + 4;
    if (style->has_colors)
        pt_out_style(out, colors[pt_profile_frame_kind(p, row->frame)]);
    print_cut(out, name, room);
    if (style->has_colors)
        pt_out_style(out, "\033[0m");
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

void pt_top_print_gil(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_meta *m = &p->meta;
    if (m->gil_known > 0)
        pt_out_printf(out,
                      "GIL: held in %.1f %% of %" PRId64
                      " samples inside Python, wanted by other threads in %.1f %%\n",
                      percent(m->gil_held, m->gil_known), m->gil_known,
                      percent(m->gil_contended, m->gil_known));
}
