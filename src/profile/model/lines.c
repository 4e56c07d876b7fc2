#include "profile/model/lines.h"

#include "base/fs.h"
#include "base/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define CONTEXT 2 /* source lines shown before and after a line with samples */

struct spec {
    struct pt_str file, function; /* empty: any */
};

struct line {
    uint32_t file, number;
    int64_t self, total;
    uint32_t last_stack; /* the leaf last counted, plus one: recursion counts once */
};

struct lines {
    struct line *at;
    size_t count, capacity;
    struct pt_intern index;
    int64_t sum;
};

/* The last single ':' separates the file from the function ("::" does not). */
static struct spec parse(const char *what) {
    struct pt_str text = pt_str_from(what);
    for (size_t i = text.len; i-- > 0;) {
        bool is_pair = (i > 0 && what[i - 1] == ':') || what[i + 1] == ':';
        if (what[i] == ':' && !is_pair)
            return (struct spec){ { text.at, i }, pt_str_skip(text, i + 1) };
    }
    return (struct spec){ PT_STR(""), text };
}

static bool ends_at(struct pt_str whole, struct pt_str end, const char *before) {
    if (!pt_str_ends(whole, end))
        return false;
    return whole.len == end.len || strchr(before, whole.at[whole.len - end.len - 1]);
}

static bool is_line(const void *owner, uint32_t number, const void *key) {
    const struct lines *lines = owner;
    const struct line *wanted = key;
    return lines->at[number].file == wanted->file && lines->at[number].number == wanted->number;
}

static struct line *line_of(struct lines *lines, uint32_t file, uint32_t number) {
    struct line key = { .file = file, .number = number };
    uint32_t next = (uint32_t)lines->count;
    const uint32_t words[] = { file, number };
    uint32_t found = pt_intern_find(&lines->index, pt_intern_hash(words, sizeof words), is_line,
                                    lines, &key, next);
    if (found == next) {
        pt_grow(&lines->at, &lines->capacity, lines->count + 1, sizeof key);
        lines->at[lines->count++] = key;
    }
    return &lines->at[found];
}

static void count_stack(struct lines *lines, const struct pt_profile *p, const bool *is_chosen,
                        uint32_t leaf, int64_t value) {
    for (uint32_t s = leaf; s != PT_PROFILE_NONE; s = p->stacks.at[s].parent) {
        const struct pt_profile_frame *f = &p->frames.at[p->stacks.at[s].frame];
        if (f->function == PT_PROFILE_NONE || f->line == 0 || !is_chosen[f->function])
            continue;
        struct line *line = line_of(lines, p->functions.at[f->function].file, f->line);
        if (s == leaf)
            line->self += value;
        if (line->last_stack != leaf + 1)
            line->total += value;
        line->last_stack = leaf + 1;
    }
}

static void count(struct lines *lines, const struct pt_profile *p, const struct spec *spec) {
    bool *is_chosen = pt_calloc(p->functions.count, sizeof *is_chosen);
    int64_t *values = pt_calloc(p->stacks.count, sizeof *values);
    for (uint32_t i = 0; i < p->functions.count; i++) {
        struct pt_str file = pt_profile_text(p, p->functions.at[i].file);
        struct pt_str name = pt_profile_text(p, p->functions.at[i].name);
        is_chosen[i] = (spec->file.len == 0 || ends_at(file, spec->file, "/")) &&
                       (spec->function.len == 0 || ends_at(name, spec->function, ".:"));
    }
    for (size_t i = 0; i < p->samples.count; i++) {
        lines->sum += pt_profile_value(p, i, 0);
        if (p->samples.at[i].stack != PT_PROFILE_NONE)
            values[p->samples.at[i].stack] += pt_profile_value(p, i, 0);
    }
    for (uint32_t i = 0; i < p->stacks.count; i++)
        if (values[i] != 0)
            count_stack(lines, p, is_chosen, i, values[i]);
    pt_free(is_chosen);
    pt_free(values);
}

static int by_place(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void print_share(struct pt_out *out, int64_t part, int64_t whole) {
    if (part == 0 || whole == 0)
        pt_out_text(out, "         ");
    else
        pt_out_printf(out, "%6.1f %% ", 100.0 * (double)part / (double)whole);
}

static void print_line(struct pt_out *out, const struct lines *lines, const struct line *line,
                       uint32_t number, struct pt_str source) {
    print_share(out, line ? line->self : 0, lines->sum);
    print_share(out, line ? line->total : 0, lines->sum);
    pt_out_printf(out, "%6u  ", number);
    pt_out_utf8(out, source);
    pt_out_char(out, '\n');
}

/* Prints the source lines near a line of the profile. */
static void print_source(struct pt_out *out, const struct lines *lines, size_t first, size_t end,
                         struct pt_scan source) {
    struct pt_scan text;
    size_t next = first;
    uint32_t shown = 0;
    for (uint32_t number = 1; next < end && pt_scan_line(&source, &text); number++) {
        bool is_it = lines->at[next].number == number;
        bool is_before = lines->at[next].number - number <= CONTEXT;
        bool is_after = next > first && number - lines->at[next - 1].number <= CONTEXT;
        if (!is_before && !is_after)
            continue;
        if (shown > 0 && shown + 1 < number)
            pt_out_text(out, "                         ...\n");
        print_line(out, lines, is_it ? &lines->at[next] : NULL, number, pt_scan_rest(&text));
        shown = number;
        next += is_it;
    }
    for (; next < end; next++) /* the file has become shorter */
        print_line(out, lines, &lines->at[next], lines->at[next].number, PT_STR(""));
}

static void print_file(struct pt_out *out, const struct pt_profile *p, const struct lines *lines,
                       size_t first, size_t end) {
    struct pt_text buffer = { 0 };
    struct pt_scan source;
    char *path = pt_strndup(pt_profile_text(p, lines->at[first].file));
    bool is_readable = path[0] == '/' && pt_fs_read(AT_FDCWD, path, &buffer, &source) == 0;
    pt_out_utf8(out, pt_str_from(path[0] ? path : "[unknown file]"));
    pt_out_text(out, is_readable ? "\n   self    total     line\n"
                                 : " (cannot be read)\n   self    total     line\n");
    print_source(out, lines, first, end, is_readable ? source : (struct pt_scan){ 0 });
    pt_text_release(&buffer);
    pt_free(path);
}

int pt_lines_print(const struct pt_profile *p, const char *what, struct pt_out *out,
                   struct pt_err *err) {
    struct spec spec = parse(what);
    struct lines lines = { 0 };
    count(&lines, p, &spec);
    if (lines.count > 0)
        qsort(lines.at, lines.count, sizeof *lines.at, by_place);
    for (size_t first = 0, end; first < lines.count; first = end) {
        for (end = first + 1; end < lines.count && lines.at[end].file == lines.at[first].file;)
            end++;
        print_file(out, p, &lines, first, end);
    }
    size_t found = lines.count;
    pt_free(lines.at);
    pt_intern_release(&lines.index);
    return found > 0 ? 0
                     : pt_fail(err, -ENODATA,
                               "no sample has a line of %s (lines are known for Python and for "
                               "native code with debug information)",
                               what);
}
