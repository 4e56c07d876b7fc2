#include "profile/names/late_symbols.h"

#include "profile/names/frame_names.h"

/* Native code not named from debug information: it has no name, or that of a symbol (perhaps only
 * the nearest exported one), or that of the function's start. */
static bool is_without_line(const struct pt_frame_names *n, uint32_t old) {
    const struct pt_profile_frame *f = &n->old[old];
    if (f->line > 0 || f->flags & PT_FRAME_INLINED)
        return false;
    if (f->function == PT_PROFILE_NONE)
        return true;
    const struct pt_profile_function *function = &n->profile->functions.at[f->function];
    return function->kind == PT_KIND_NATIVE && function->file == 0;
}

void pt_late_symbols_add(struct pt_late_symbols *s, struct pt_profile *p,
                         struct pt_debug_files *files) {
    struct pt_frame_names names;
    struct pt_frame_groups groups;
    *s = (struct pt_late_symbols){ 0 };
    pt_frame_names_begin(&names, p);
    pt_frame_groups_make(&groups, &names, is_without_line);
    s->missing = pt_calloc(groups.count, sizeof *s->missing);
    for (size_t i = 0; i < groups.count; i++) {
        const struct pt_frame_group *g = &groups.list[i];
        const struct pt_profile_module *m = &p->modules.at[g->module];
        char *path = pt_strndup(pt_profile_text(p, m->path));
        char *build_id = pt_strndup(pt_profile_text(p, m->build_id));
        struct pt_elf elf;
        s->wanted += g->count;
        if (!pt_debug_files_open(files, path, build_id, &elf)) {
            s->found += pt_frame_names_from_elf(&names, &elf, g);
            pt_elf_close(&elf);
        } else {
            s->missing[s->missing_count++] = g->module;
            for (size_t k = 0; k < g->count; k++)
                pt_frame_names_keep(&names, g->frames[k]);
        }
        pt_free(path);
        pt_free(build_id);
    }
    pt_frame_groups_release(&groups);
    pt_frame_names_end(&names);
}

void pt_late_symbols_release(struct pt_late_symbols *s) {
    pt_free(s->missing);
    *s = (struct pt_late_symbols){ 0 };
}
