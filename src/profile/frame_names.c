#include "profile/frame_names.h"

#include "profile/demangle.h"

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

static void add_part(struct pt_frame_names *n, uint32_t old, struct pt_profile_frame frame) {
    struct pt_frame_expansion *e = &n->expansions[old];
    if (e->count == 0)
        e->first = (uint32_t)n->part_count;
    e->count++;
    pt_grow(&n->parts, &n->part_capacity, n->part_count + 1, sizeof *n->parts);
    n->parts[n->part_count++] = pt_profile_frame(n->profile, frame);
}

void pt_frame_names_set(struct pt_frame_names *n, uint32_t old, struct pt_str name,
                        enum pt_profile_kind kind) {
    struct pt_profile_frame f = n->old[old];
    if (name.len > 0)
        f.function = add_function(n, name, f.module, NULL, 0, kind);
    add_part(n, old, f);
}

void pt_frame_names_keep(struct pt_frame_names *n, uint32_t old) {
    add_part(n, old, n->old[old]);
}

/* What is local to a file of C++ has its bare name in debug information, its whole one as symbol.
 */
static bool is_fuller(const char *symbol, const struct pt_elf_line *line) {
    return symbol && !line->is_inlined && symbol[0] == '_' && symbol[1] == 'Z';
}

/* Each place that debug information knows, from the outermost. */
static void expand(struct pt_frame_names *n, uint32_t old, const struct pt_elf_line *lines,
                   size_t count, const char *symbol) {
    for (size_t i = count; i > 0; i--) {
        const struct pt_elf_line *l = &lines[i - 1];
        struct pt_profile_frame f = n->old[old];
        const char *name = !l->function || is_fuller(symbol, l) ? symbol : l->function;
        if (name)
            f.function = add_function(n, plain_name(n, name), f.module, l->file, l->first_line,
                                      PT_KIND_NATIVE);
        f.line = l->line;
        f.flags |= l->is_inlined ? PT_FRAME_INLINED : 0;
        add_part(n, old, f);
    }
}

/* A function without a name is one function all the same: "libfoo.so+0x1040", its start. */
static void name_by_start(struct pt_frame_names *n, const struct pt_elf *elf, uint32_t old) {
    struct pt_profile_frame f = n->old[old];
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = PT_STR("");
    if (elf->module->function_start(elf->state, f.address, &f.address))
        name = pt_profile_address_name(n->profile, f.module, f.address, buffer);
    pt_frame_names_set(n, old, name, PT_KIND_NATIVE);
}

/* What has a name from elsewhere keeps it. */
static void name_without_symbol(struct pt_frame_names *n, const struct pt_elf *elf, uint32_t old) {
    if (n->old[old].function == PT_PROFILE_NONE)
        name_by_start(n, elf, old);
    else
        pt_frame_names_keep(n, old);
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

static size_t sort_frames(struct pt_frame_names *n, struct by_module *sorted,
                          bool (*wants_name)(const struct pt_frame_names *n, uint32_t old)) {
    size_t count = 0;
    for (uint32_t i = 0; i < n->old_count; i++) {
        const struct pt_profile_frame *f = &n->old[i];
        if (f->module != PT_PROFILE_NONE && wants_name(n, i))
            sorted[count++] = (struct by_module){ f->module, i, f->address };
        else
            pt_frame_names_keep(n, i);
    }
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare);
    return count;
}

void pt_frame_groups_make(struct pt_frame_groups *g, struct pt_frame_names *n,
                          bool (*wants_name)(const struct pt_frame_names *n, uint32_t old)) {
    struct by_module *sorted = pt_calloc(n->old_count + 1, sizeof *sorted);
    size_t count = sort_frames(n, sorted, wants_name);
    *g = (struct pt_frame_groups){ .list = pt_calloc(count + 1, sizeof *g->list),
                                   .frames = pt_calloc(count + 1, sizeof *g->frames),
                                   .addresses = pt_calloc(count + 1, sizeof *g->addresses) };
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
    n->expansions = pt_calloc(n->old_count + 1, sizeof *n->expansions);
    pt_intern_release(&p->frames.index);
    pt_intern_release(&p->stacks.index);
    p->frames.at = NULL;
    p->stacks.at = NULL;
    p->frames.count = p->frames.capacity = p->stacks.count = p->stacks.capacity = 0;
}

/* A parent has the smaller number: it is always there already. */
static void number_stacks(struct pt_frame_names *n) {
    struct pt_profile *p = n->profile;
    const struct pt_profile_stack *old = n->old_stacks;
    uint32_t *stacks = pt_calloc(n->old_stack_count + 1, sizeof *stacks);
    for (size_t i = 0; i < n->old_stack_count; i++) {
        uint32_t stack = old[i].parent == PT_PROFILE_NONE ? PT_PROFILE_NONE : stacks[old[i].parent];
        struct pt_frame_expansion e = n->expansions[old[i].frame];
        for (uint32_t part = e.first; part < e.first + e.count; part++)
            stack = pt_profile_stack(p, stack, n->parts[part]);
        stacks[i] = stack;
    }
    for (size_t i = 0; i < p->samples.count; i++)
        if (p->samples.at[i].stack != PT_PROFILE_NONE)
            p->samples.at[i].stack = stacks[p->samples.at[i].stack];
    pt_free(stacks);
}

void pt_frame_names_end(struct pt_frame_names *n) {
    number_stacks(n);
    pt_free(n->old);
    pt_free(n->old_stacks);
    pt_free(n->expansions);
    pt_free(n->parts);
    pt_buf_release(&n->name);
    *n = (struct pt_frame_names){ 0 };
}
