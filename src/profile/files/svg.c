/* A static flame graph: no script, no external files, works in every SVG viewer; each box has its
 * numbers as a title. The root is on top, heavy branches are on the left. Boxes too narrow to be
 * visible are omitted. A difference is coloured by change. */
#include "base/utf8.h"
#include "profile/model/profile_diff.h"
#include "profile/model/call_tree.h"
#include "profile/files/profile_writers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH       1200
#define MARGIN      10
#define HEADER      58
#define ROW         18
#define LETTER      6.7 /* width of one letter */
#define NARROWEST   0.4
#define NARROW_TEXT 28

static const char *const style =
    "<style>\n"
    "svg{background:#fff}\n"
    "text{font:11px ui-monospace,\"DejaVu Sans Mono\",monospace;fill:#10181f}\n"
    ".t{font:600 17px system-ui,\"DejaVu Sans\",sans-serif}\n"
    ".m{font:12px system-ui,\"DejaVu Sans\",sans-serif;fill:#5b6875}\n"
    "g:hover>rect{stroke:#0b62a8;stroke-width:1.5}\n"
    ".native{fill:#8fc6ea}.python{fill:#f6d35b}.kernel{fill:#f3a27c}.jit{fill:#d3b0de}\n"
    ".unknown{fill:#c3c8cd}.marker,.all{fill:#d8dce0}\n"
    "@media (prefers-color-scheme:dark){\n"
    "svg{background:#12171c}text{fill:#f4f7fa}.m{fill:#97a4b0}\n"
    ".native{fill:#285a80}.python{fill:#7f5b15}.kernel{fill:#95492a}.jit{fill:#7d498d}\n"
    ".unknown{fill:#4e555b}.marker,.all{fill:#3e444b}\n"
    ".d text{fill:#10181f}}\n"
    "</style>\n";

struct svg {
    struct pt_call_tree tree;
    struct pt_call_values values, before; /* `before` only for a difference */
    bool is_diff;
    double *x;      /* of each node, in the unit of values; NAN: too narrow */
    uint32_t *rows; /* from 0, below the box "all" */
    uint32_t row_count;
    double largest_change;
};

/* XML forbids control characters, even escaped, and U+FFFE and U+FFFF. */
static const char *escape_of(struct pt_str text, size_t *bytes) {
    unsigned char c = (unsigned char)text.at[0];
    *bytes = 3;
    if (pt_str_starts(text, PT_STR("\xef\xbf\xbe")) || pt_str_starts(text, PT_STR("\xef\xbf\xbf")))
        return PT_UTF8_REPLACEMENT;
    *bytes = 1;
    if (c < ' ' || c == 0x7f)
        return PT_UTF8_REPLACEMENT;
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

static void write_text(struct pt_out *out, struct pt_str text) {
    size_t plain = 0, bytes;
    while (plain < text.len) {
        const char *escape = escape_of(pt_str_skip(text, plain), &bytes);
        if (!escape) {
            plain++;
            continue;
        }
        pt_out_utf8(out, (struct pt_str){ text.at, plain });
        pt_out_text(out, escape);
        text = pt_str_skip(text, plain + bytes);
        plain = 0;
    }
    pt_out_utf8(out, text);
}

static int by_parent_and_weight(const void *a, const void *b, void *user) {
    const struct svg *s = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    /* plus one: roots, which have NONE as parent, come first */
    uint32_t left = s->tree.nodes.at[x].parent + 1, right = s->tree.nodes.at[y].parent + 1;
    if (left != right)
        return left < right ? -1 : 1;
    if (s->values.total[x] != s->values.total[y])
        return s->values.total[x] > s->values.total[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Parents have smaller numbers, so each is placed before its children. */
static void place(struct svg *s) {
    size_t count = s->tree.nodes.count;
    uint32_t *order = pt_calloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, by_parent_and_weight, s);
    double x = 0, narrowest = NARROWEST * (double)s->values.sum / (WIDTH - 2 * MARGIN);
    for (size_t i = 0; i < count; i++) {
        uint32_t node = order[i], parent = s->tree.nodes.at[node].parent;
        if (i == 0 || parent != s->tree.nodes.at[order[i - 1]].parent)
            x = parent == PT_PROFILE_NONE ? 0 : s->x[parent];
        double width = (double)s->values.total[node];
        s->rows[node] = parent == PT_PROFILE_NONE ? 0 : s->rows[parent] + 1;
        s->x[node] = width < narrowest ? (double)NAN : x;
        if (!isnan(s->x[node]) && s->rows[node] >= s->row_count)
            s->row_count = s->rows[node] + 1;
        x += width;
    }
    pt_free(order);
}

static double share(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}

static double change_of(const struct svg *s, uint32_t node) {
    return share(s->values.total[node], s->values.sum) -
           share(s->before.total[node], s->before.sum);
}

static void svg_init(struct svg *s, const struct pt_profile *p) {
    *s = (struct svg){ .is_diff = pt_profile_is_diff(p) };
    pt_call_tree_init(&s->tree, p);
    pt_call_values_init(&s->values, &s->tree, s->is_diff ? 1 : 0);
    if (s->is_diff) {
        pt_call_values_init(&s->before, &s->tree, 0);
        for (uint32_t i = 0; i < s->tree.nodes.count; i++)
            s->largest_change = fmax(s->largest_change, fabs(change_of(s, i)));
    }
    s->x = pt_calloc(s->tree.nodes.count, sizeof *s->x);
    s->rows = pt_calloc(s->tree.nodes.count, sizeof *s->rows);
    place(s);
}

static void svg_release(struct svg *s) {
    pt_call_tree_release(&s->tree);
    pt_call_values_release(&s->values);
    pt_call_values_release(&s->before);
    pt_free(s->x);
    pt_free(s->rows);
}

static void write_value(struct pt_out *out, enum pt_profile_unit unit, int64_t value) {
    if (unit == PT_PROFILE_NANOSECONDS)
        pt_out_printf(out, "%.3f s", (double)value / 1e9);
    else if (unit == PT_PROFILE_BYTES)
        pt_out_printf(out, "%.2f MiB", (double)value / (1 << 20));
    else
        pt_out_printf(out, "%lld samples", (long long)value);
}

/* As much of a name as fits. */
static void write_label(struct pt_out *out, struct pt_str name, double x, double y, double width) {
    if (width < NARROW_TEXT)
        return;
    size_t fits = (size_t)((width - 6) / LETTER);
    pt_out_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 4, y + 13);
    if (name.len > fits) {
        name.len = fits - 1;
        write_text(out, (struct pt_str){ name.at, pt_utf8_valid_length(name) });
        pt_out_text(out, "\xe2\x80\xa6"); /* an ellipsis */
    } else {
        write_text(out, name);
    }
    pt_out_text(out, "</text>");
}

static void write_title(const struct svg *s, uint32_t node, struct pt_str name,
                        struct pt_out *out) {
    uint32_t label = s->tree.nodes.at[node].label;
    struct pt_str place = pt_call_tree_file(&s->tree, label);
    if (place.len == 0)
        place = pt_call_tree_module(&s->tree, label);
    pt_out_text(out, "<title>");
    write_text(out, name);
    pt_out_text(out, " \xe2\x80\x93 ");
    write_value(out, s->tree.profile->types[0].unit, s->values.total[node]);
    pt_out_printf(out, ", %.2f %%", 100 * share(s->values.total[node], s->values.sum));
    if (s->is_diff)
        pt_out_printf(out, ", change %+.2f %% of the whole", 100 * change_of(s, node));
    if (place.len > 0)
        pt_out_char(out, '\n');
    write_text(out, place);
    pt_out_text(out, "</title>");
}

/* For a difference: blue is less, orange is more, grey is unchanged. Otherwise by kind, with
 * slightly different opacity, so that neighbours of one kind can be distinguished. */
static void write_fill(const struct svg *s, uint32_t node, struct pt_str name, struct pt_out *out) {
    static const int less[] = { 74, 144, 226 }, more[] = { 243, 128, 52 },
                     same[] = { 228, 231, 234 };
    uint32_t kind = s->tree.labels.at[s->tree.nodes.at[node].label].kind;
    if (!s->is_diff) {
        pt_out_printf(out, " class=\"%s\" fill-opacity=\"%.2f\"",
                      pt_profile_kind_name((enum pt_profile_kind)kind),
                      0.82 + 0.06 * (pt_intern_hash(name.at, name.len) % 4));
        return;
    }
    double part = s->largest_change > 0 ? change_of(s, node) / s->largest_change : 0;
    const int *end = part < 0 ? less : more;
    double k = sqrt(fmin(1, fabs(part)));
    pt_out_text(out, " fill=\"rgb(");
    for (int i = 0; i < 3; i++)
        pt_out_printf(out, "%s%d", i ? "," : "", (int)lround(same[i] + k * (end[i] - same[i])));
    pt_out_text(out, ")\"");
}

static void write_box(const struct svg *s, uint32_t node, struct pt_out *out) {
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = pt_call_tree_name(&s->tree, s->tree.nodes.at[node].label, buffer);
    double scale = (double)(WIDTH - 2 * MARGIN) / (double)s->values.sum;
    double x = MARGIN + s->x[node] * scale, width = (double)s->values.total[node] * scale;
    double y = HEADER + ROW * (s->rows[node] + 1.0);
    pt_out_text(out, "<g>");
    write_title(s, node, name, out);
    pt_out_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"1.5\"", x, y,
                  width > 2 ? width - 0.6 : width, ROW - 1);
    write_fill(s, node, name, out);
    pt_out_text(out, "/>");
    write_label(out, name, x, y, width);
    pt_out_text(out, "</g>\n");
}

static void write_header(const struct svg *s, struct pt_out *out) {
    const struct pt_profile *p = s->tree.profile;
    const char *title = p->meta.title ? p->meta.title : "cpu";
    pt_out_printf(out, "<title>Flame graph: %s</title>\n", title);
    pt_out_printf(out, "<text class=\"t\" x=\"%d\" y=\"24\">", MARGIN);
    write_text(out, p->meta.command[0] ? pt_str_from(p->meta.command) : pt_str_from(title));
    pt_out_printf(out, "</text>\n<text class=\"m\" x=\"%d\" y=\"44\">", MARGIN);
    if (s->is_diff) {
        pt_out_text(out, "blue: smaller share of the whole than before; orange: larger share");
    } else {
        write_text(out, pt_str_from(p->meta.method));
        pt_out_printf(out, "%s%zu samples", p->meta.method[0] ? "; " : "", p->samples.count);
        if (p->meta.lost > 0)
            pt_out_printf(out, ", %lld lost", (long long)p->meta.lost);
    }
    pt_out_text(out, "</text>\n");
}

static void write_svg(const struct pt_profile *p, struct pt_out *out) {
    struct svg s;
    svg_init(&s, p);
    unsigned height = HEADER + ROW * (s.row_count + 1) + MARGIN;
    pt_out_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                  "viewBox=\"0 0 %d %u\" role=\"img\">\n",
                  WIDTH, height, WIDTH, height);
    write_header(&s, out);
    pt_out_text(out, style);
    pt_out_printf(out,
                  "<g><title>all</title><rect class=\"all\" x=\"%d\" y=\"%d\" width=\"%d\" "
                  "height=\"%d\" rx=\"1.5\"/><text x=\"%d\" y=\"%d\">all, ",
                  MARGIN, HEADER, WIDTH - 2 * MARGIN, ROW - 1, MARGIN + 4, HEADER + 13);
    write_value(out, p->types[0].unit, s.values.sum);
    pt_out_text(out, "</text></g>\n");
    if (s.is_diff)
        pt_out_text(out, "<g class=\"d\">\n");
    for (uint32_t i = 0; i < s.tree.nodes.count; i++)
        if (!isnan(s.x[i]) && s.values.sum > 0)
            write_box(&s, i, out);
    pt_out_text(out, s.is_diff ? "</g>\n</svg>\n" : "</svg>\n");
    svg_release(&s);
}

const struct pt_profile_writer pt_svg_writer = {
    ".svg",
    "flame graph as a picture",
    write_svg,
};
