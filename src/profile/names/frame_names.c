#include "profile/names/frame_names.h"

#include "profile/names/demangle.h"

#include <stdlib.h>

static uint32_t add_function(struct pt_frame_names *n, struct pt_str name, uint32_t module,
                             const char *file, uint32_t line, enum pt_profile_kind kind) {
    struct pt_profile *p = n->profile;
    return pt_profile_function(
        p, (struct pt_profile_function){ .name = pt_profile_string(p, name),
                                         .module = module,
                                         .file = file ? pt_profile_string(p, pt_str_from(file)) : 0,
                                         .line = line,
                                         .kind = kind });
}

static struct pt_str plain_name(struct pt_frame_names *n, const char *name) {
    pt_demangle(name, &n->name);
    return pt_buf_as_str(&n->name);
}

static uint32_t new_part(struct pt_frame_names *n, struct pt_profile_frame frame) {
    pt_grow(&n->parts, &n->part_capacity, n->part_count + 1, sizeof *n->parts);
    n->parts[n->part_count] = pt_profile_frame(n->profile, frame);
    return (uint32_t)n->part_count++;
}

static void add_part(struct pt_frame_names *n, uint32_t old, struct pt_profile_frame frame) {
    struct pt_frame_expansion *e = &n->expansions[old];
    uint32_t part = new_part(n, frame);
    if (e->count == 0)
        e->first = part;
    e->count++;
}

void pt_frame_names_set(struct pt_frame_names *n, uint32_t old, struct pt_str name,
                        enum pt_profile_kind kind) {
    struct pt_profile_frame f = n->old[old];
    if (name.len > 0)
        f.function = add_function(n, name, f.module, NULL, 0, kind);
    add_part(n, old, f);
}

void pt_frame_names_set_from(struct pt_frame_names *n, uint32_t old, int64_t from_ns,
                             struct pt_str name, enum pt_profile_kind kind) {
    struct pt_profile_frame f = n->old[old];
    if (n->version_count >= PT_FRAME_VERSIONS_MAX)
        return;
    f.function = add_function(n, name, f.module, NULL, 0, kind);
    pt_grow(&n->versions, &n->version_capacity, n->version_count + 1, sizeof *n->versions);
    n->versions[n->version_count++] = (struct pt_frame_version){ old, new_part(n, f), from_ns };
}

void pt_frame_names_keep(struct pt_frame_names *n, uint32_t old) {
    add_part(n, old, n->old[old]);
}

/* One part per line from debug information, outermost first. For a C++ function local to a file,
 * debug information has the bare name, the symbol the full one. */
static void expand(struct pt_frame_names *n, uint32_t old, const struct pt_elf_line *lines,
                   size_t count, const char *symbol) {
    bool is_cpp = symbol && symbol[0] == '_' && symbol[1] == 'Z';
    for (size_t i = count; i > 0; i--) {
        const struct pt_elf_line *l = &lines[i - 1];
        struct pt_profile_frame f = n->old[old];
        const char *name = !l->function || (is_cpp && !l->is_inlined) ? symbol : l->function;
        if (name)
            f.function = add_function(n, plain_name(n, name), f.module, l->file, l->first_line,
                                      PT_KIND_NATIVE);
        f.line = l->line;
        f.flags |= l->is_inlined ? PT_FRAME_INLINED : 0;
        add_part(n, old, f);
    }
}

/* Names a function by its start, "libfoo.so+0x1040", unless it has a name from another source. */
static void name_without_symbol(struct pt_frame_names *n, const struct pt_elf *elf, uint32_t old) {
    struct pt_profile_frame f = n->old[old];
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = PT_STR("");
    if (f.function == PT_PROFILE_NONE &&
        elf->module->function_start(elf->state, f.address, &f.address))
        name = pt_profile_address_name(n->profile, f.module, f.address, buffer);
    pt_frame_names_set(n, old, name, PT_KIND_NATIVE);
}

size_t pt_frame_names_from_elf(struct pt_frame_names *n, const struct pt_elf *elf,
                               const struct pt_frame_group *g) {
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    size_t found = 0;
    elf->module->symbols(elf->state, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++) {
        size_t count = elf->module->lines(elf->state, g->addresses[i], lines);
        const char *symbol = symbols[i].name;
        found += count > 0 || symbol;
        if (count > 0)
            expand(n, g->frames[i], lines, count, symbol);
        else if (symbol)
            pt_frame_names_set(n, g->frames[i], plain_name(n, symbol), PT_KIND_NATIVE);
        else
            name_without_symbol(n, elf, g->frames[i]);
    }
    pt_free(symbols);
    return found;
}

struct by_module {
    uint32_t module, frame;
    uint64_t address;
};

static int compare(const void *a, const void *b) {
    const struct by_module *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

void pt_frame_groups_make(struct pt_frame_groups *g, struct pt_frame_names *n,
                          bool (*wants_name)(const struct pt_frame_names *n, uint32_t old)) {
    struct by_module *sorted = pt_calloc(n->old_count, sizeof *sorted);
    size_t count = 0;
    for (uint32_t i = 0; i < n->old_count; i++) {
        const struct pt_profile_frame *f = &n->old[i];
        if (f->module != PT_PROFILE_NONE && wants_name(n, i))
            sorted[count++] = (struct by_module){ f->module, i, f->address };
        else
            pt_frame_names_keep(n, i);
    }
    qsort(sorted, count, sizeof *sorted, compare);
    *g = (struct pt_frame_groups){ .list = pt_calloc(count, sizeof *g->list),
                                   .frames = pt_calloc(count, sizeof *g->frames),
                                   .addresses = pt_calloc(count, sizeof *g->addresses) };
    for (size_t i = 0; i < count; i++) {
        g->frames[i] = sorted[i].frame;
        g->addresses[i] = sorted[i].address;
        if (i == 0 || sorted[i].module != sorted[i - 1].module)
            g->list[g->count++] =
                (struct pt_frame_group){ sorted[i].module, g->frames + i, g->addresses + i, 0 };
        g->list[g->count - 1].count++;
    }
    pt_free(sorted);
}

void pt_frame_groups_release(struct pt_frame_groups *g) {
    pt_free(g->list);
    pt_free(g->frames);
    pt_free(g->addresses);
    *g = (struct pt_frame_groups){ 0 };
}

void pt_frame_names_begin(struct pt_frame_names *n, struct pt_profile *p) {
    *n = (struct pt_frame_names){ .profile = p,
                                  .old = p->frames.at,
                                  .old_count = p->frames.count,
                                  .old_stacks = p->stacks.at,
                                  .old_stack_count = p->stacks.count };
    n->expansions = pt_calloc(n->old_count, sizeof *n->expansions);
    pt_intern_release(&p->frames.index);
    pt_intern_release(&p->stacks.index);
    p->frames.at = NULL;
    p->stacks.at = NULL;
    p->frames.count = p->frames.capacity = p->stacks.count = p->stacks.capacity = 0;
}

static int compare_versions(const void *a, const void *b) {
    const struct pt_frame_version *x = a, *y = b;
    if (x->old != y->old)
        return x->old < y->old ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* The first version of the frame; `version_count` if there is none. */
static size_t first_version(const struct pt_frame_names *n, uint32_t old) {
    size_t low = 0, high = n->version_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->versions[middle].old < old)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->version_count && n->versions[low].old == old ? low : n->version_count;
}

/* The expansion of the frame at that time. */
static struct pt_frame_expansion expansion_at(const struct pt_frame_names *n, uint32_t old,
                                              int64_t time_ns) {
    struct pt_frame_expansion e = n->expansions[old];
    for (size_t i = first_version(n, old);
         i < n->version_count && n->versions[i].old == old && n->versions[i].from_ns <= time_ns;
         i++)
        e = (struct pt_frame_expansion){ n->versions[i].part, 1 };
    return e;
}

static uint32_t add_expansion(struct pt_frame_names *n, uint32_t stack,
                              struct pt_frame_expansion e) {
    for (uint32_t part = e.first; part < e.first + e.count; part++)
        stack = pt_profile_stack(n->profile, stack, n->parts[part]);
    return stack;
}

/* The stack at the time of the sample. */
static uint32_t stack_at(struct pt_frame_names *n, uint32_t old, int64_t time_ns,
                         struct pt_buf *path) {
    uint32_t stack = PT_PROFILE_NONE, frame;
    pt_buf_clear(path);
    for (; old != PT_PROFILE_NONE; old = n->old_stacks[old].parent)
        pt_buf_u32(path, n->old_stacks[old].frame);
    for (size_t at = path->len; at > 0; at -= sizeof frame) {
        memcpy(&frame, path->at + at - sizeof frame, sizeof frame);
        stack = add_expansion(n, stack, expansion_at(n, frame, time_ns));
    }
    return stack;
}

/* The new number of a stack, and whether it depends on the time of the sample. */
struct numbered {
    uint32_t stack;
    bool is_by_time;
};

void pt_frame_names_end(struct pt_frame_names *n) {
    struct pt_profile *p = n->profile;
    struct numbered *stacks = pt_calloc(n->old_stack_count, sizeof *stacks);
    struct pt_buf path = { 0 };
    if (n->version_count > 1)
        qsort(n->versions, n->version_count, sizeof *n->versions, compare_versions);
    for (size_t i = 0; i < n->old_stack_count; i++) {
        struct pt_profile_stack old = n->old_stacks[i];
        struct numbered parent = { PT_PROFILE_NONE, false };
        if (old.parent != PT_PROFILE_NONE)
            parent = stacks[old.parent]; /* has the smaller number, so it is already done */
        stacks[i].stack = add_expansion(n, parent.stack, n->expansions[old.frame]);
        stacks[i].is_by_time = parent.is_by_time || first_version(n, old.frame) < n->version_count;
    }
    for (size_t i = 0; i < p->samples.count; i++) {
        struct pt_profile_sample *s = &p->samples.at[i];
        if (s->stack == PT_PROFILE_NONE)
            continue;
        struct numbered now = stacks[s->stack];
        s->stack = now.is_by_time ? stack_at(n, s->stack, s->time_ns, &path) : now.stack;
    }
    for (size_t i = 0; i < p->growth.count; i++)
        p->growth.at[i].stack = stacks[p->growth.at[i].stack].stack;
    pt_buf_release(&path);
    pt_free(stacks);
    pt_free(n->versions);
    pt_free(n->old);
    pt_free(n->old_stacks);
    pt_free(n->expansions);
    pt_free(n->parts);
    pt_buf_release(&n->name);
    *n = (struct pt_frame_names){ 0 };
}
