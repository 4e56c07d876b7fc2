#include "agent/debuginfod.h"
#include "agent/run_profile.h"
#include "base/log.h"
#include "cmd/command.h"
#include "profile/late_symbols.h"
#include "profile/readers.h"
#include "profile/writers.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define MODULES_LISTED 10

static int report(const struct pt_err *err) {
    pt_log(PT_LOG_ERROR, "%s", err->text);
    return 1;
}

/* [kernel], [vdso] and code of no file have no debug files. */
static bool is_file(struct pt_str path) {
    return path.len > 0 && path.at[0] != '[';
}

static void print_missing(const struct pt_late_symbols *s, const struct pt_profile *p) {
    size_t listed = 0;
    for (size_t i = 0; i < s->missing_count; i++) {
        const struct pt_profile_module *m = &p->modules.at[s->missing[i]];
        struct pt_str path = pt_profile_text(p, m->path), id = pt_profile_text(p, m->build_id);
        if (!is_file(path) || listed++ >= MODULES_LISTED)
            continue;
        fprintf(stderr, "  no file for %.*s (%s%.*s)\n", (int)path.len, path.at,
                id.len > 0 ? "build id " : "it has no build id", (int)id.len, id.at);
    }
    if (listed > MODULES_LISTED)
        fprintf(stderr, "  and for %zu more modules\n", listed - MODULES_LISTED);
}

static int add_symbols(const struct pt_command_options *o, struct pt_debug_files *files,
                       const char *from, const char *into) {
    struct pt_profile_file file;
    struct pt_late_symbols symbols = { 0 };
    struct pt_err err = { "" };
    int rc = pt_profile_file_read(&file, from, &err);
    if (!rc) {
        pt_late_symbols_add(&symbols, &file.profile, files);
        rc = pt_profile_write(&file.profile, into, &err);
    }
    if (!rc && !o->is_quiet) {
        fprintf(stderr, "%s: %zu of %zu places without debug information have it now\n", into,
                symbols.found, symbols.wanted);
        print_missing(&symbols, &file.profile);
    }
    pt_late_symbols_release(&symbols);
    pt_profile_file_release(&file);
    return rc ? report(&err) : 0;
}

/* The profile itself, or that of a run. The caller frees it. */
static char *find_profile(const char *operand, struct pt_err *err) {
    char journal[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1];
    int other_count;
    for (size_t i = 0; pt_profile_readers[i]; i++)
        if (pt_str_ends(pt_str_from(operand), pt_str_from(pt_profile_readers[i]->ending)))
            return pt_strdup(operand);
    if (pt_run_find(operand, journal, &other_count, err))
        return NULL;
    pt_run_split(journal, directory, name);
    for (size_t i = 0; pt_run_profile_kind(i); i++) {
        char *path = pt_asprintf("%s/%s.%s" PT_RUN_PROFILE_EXTENSION, directory, name,
                                 pt_run_profile_kind(i));
        if (access(path, F_OK) == 0)
            return path;
        pt_free(path);
    }
    pt_fail(err, -ENOENT, "the run %s/%s has no profile: record one with --cpu", directory, name);
    return NULL;
}

static int symbolize(const struct pt_command_options *o, const char *profile) {
    const char *into = o->output ? o->output : profile;
    struct pt_debuginfod servers = { 0 };
    struct pt_debug_files files = { .directories = o->debug_directories.items,
                                    .directory_count = o->debug_directories.count,
                                    .fetch = pt_debuginfod_fetch,
                                    .fetch_arg = &servers };
    struct pt_err err = { "" };
    if (pt_profile_check_path(into, &err) || pt_debug_files_check(&files, &err))
        return pt_command_misused(PT_COMMAND_SYMBOLIZE, "%s", err.text);
    int rc = pt_elf_check(&err);
    if (!rc)
        rc = pt_debuginfod_open(&servers, &err);
    int code = rc ? report(&err) : add_symbols(o, &files, profile, into);
    pt_debuginfod_close(&servers);
    pt_debug_files_release(&files);
    return code;
}

int pt_cmd_symbolize(const struct pt_command_options *o, char **operands, bool has_dashes,
                     char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_err err = { "" };
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_SYMBOLIZE, "give one profile, or a run that has one");
    char *profile = find_profile(operands[0], &err);
    int code = profile ? symbolize(o, profile) : report(&err);
    pt_free(profile);
    return code;
}
