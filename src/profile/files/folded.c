/* Collapsed stacks, as flamegraph.pl and many others read them: one line per stack, from the root,
 * with the sum of the first value of its samples.
 *
 *     python3;main;train;at::matmul 1024
 *
 * A difference has two numbers, before and after, as difffolded.pl writes and flamegraph.pl reads
 * them; the first is scaled to the total of the second. */
#include "profile/model/profile_diff.h"
#include "profile/model/tree.h"
#include "profile/files/profile_writers.h"

#define DEPTH_MAX 4096

/* ';' separates frames and a newline separates stacks: neither may occur in a name. */
static void write_name(struct pt_out *out, struct pt_str name) {
    size_t start = 0;
    for (size_t i = 0; i <= name.len; i++) {
        bool is_end = i == name.len;
        if (!is_end && name.at[i] != ';' && (unsigned char)name.at[i] >= ' ')
            continue;
        pt_out_utf8(out, (struct pt_str){ name.at + start, i - start });
        if (!is_end)
            pt_out_char(out, ':');
        start = i + 1;
    }
}

/* `first` comes before the root, if it is not empty. A line without frames is "[unknown]". */
static void write_frames(const struct pt_profile *p, const struct pt_tree *tree,
                         struct pt_str first, uint32_t node, struct pt_out *out) {
    uint32_t frames[DEPTH_MAX];
    char buffer[PT_PROFILE_NAME_BYTES];
    size_t depth = 0;
    for (; node != PT_PROFILE_NONE && depth < DEPTH_MAX; node = tree->nodes[node].parent)
        frames[depth++] = tree->nodes[node].frame;
    if (first.len > 0 || depth == 0)
        write_name(out, first.len > 0 ? first : PT_STR("[unknown]"));
    for (bool is_first = first.len == 0; depth > 0; is_first = false) {
        if (!is_first)
            pt_out_char(out, ';');
        write_name(out, pt_profile_frame_name(p, frames[--depth], buffer));
    }
}

/* Samples of one process with the same names share a line. */
struct line {
    uint32_t process, node;
};

struct lines {
    struct line *at;
    int64_t *sums;
    size_t count, line_capacity, sum_capacity;
    struct pt_intern index;
};

static bool is_line(const void *owner, uint32_t number, const void *key) {
    const struct lines *lines = owner;
    return memcmp(&lines->at[number], key, sizeof(struct line)) == 0;
}

static void add(struct lines *lines, struct line line, int64_t value) {
    uint32_t next = (uint32_t)lines->count;
    uint32_t number = pt_intern_find(&lines->index, pt_intern_hash(&line, sizeof line), is_line,
                                     lines, &line, next);
    if (number == next) {
        lines->count++;
        pt_grow(&lines->at, &lines->line_capacity, lines->count, sizeof *lines->at);
        pt_grow(&lines->sums, &lines->sum_capacity, lines->count, sizeof *lines->sums);
        lines->at[number] = line;
        lines->sums[number] = 0;
    }
    lines->sums[number] += value;
}

static void write_folded(const struct pt_profile *p, struct pt_out *out) {
    struct lines lines = { 0 };
    struct pt_tree tree;
    pt_tree_make(&tree, p);
    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t thread = p->samples.at[i].thread;
        uint32_t process = thread == PT_PROFILE_NONE ? 0 : p->threads.at[thread].process;
        uint32_t stack = p->samples.at[i].stack;
        uint32_t node = stack == PT_PROFILE_NONE ? stack : tree.of_stack[stack];
        add(&lines, (struct line){ process, node }, pt_profile_value(p, i, 0));
    }
    for (size_t i = 0; i < lines.count; i++) {
        struct pt_str process = pt_profile_text(p, lines.at[i].process);
        if (process.len == 0 && p->threads.count > 0)
            process = PT_STR("[unknown]");
        write_frames(p, &tree, process, lines.at[i].node, out);
        pt_out_char(out, ' ');
        pt_out_i64(out, lines.sums[i]);
        pt_out_char(out, '\n');
    }
    pt_free(lines.at);
    pt_free(lines.sums);
    pt_intern_release(&lines.index);
    pt_tree_release(&tree);
}

static void write_diff(const struct pt_profile *p, struct pt_out *out) {
    struct pt_tree tree;
    int64_t before = 0, after = 0;
    pt_tree_make(&tree, p);
    for (size_t i = 0; i < p->samples.count; i++) {
        before += pt_profile_value(p, i, 0);
        after += pt_profile_value(p, i, 1);
    }
    double scale = before > 0 && after > 0 ? (double)after / (double)before : 1;
    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t stack = p->samples.at[i].stack;
        uint32_t node = stack == PT_PROFILE_NONE ? stack : tree.of_stack[stack];
        write_frames(p, &tree, PT_STR(""), node, out);
        pt_out_printf(out, " %.0f %lld\n", (double)pt_profile_value(p, i, 0) * scale,
                      (long long)pt_profile_value(p, i, 1));
    }
    pt_tree_release(&tree);
}

static void write_any(const struct pt_profile *p, struct pt_out *out) {
    if (pt_profile_is_diff(p))
        write_diff(p, out);
    else
        write_folded(p, out);
}

const struct pt_profile_writer pt_folded_writer = {
    ".folded",
    "collapsed stacks, one per line",
    write_any,
};
