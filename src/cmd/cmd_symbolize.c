#include "base/confine.h"
#include "profile/names/debuginfod.h"
#include "profile/run/run_cpu.h"
#include "base/log.h"
#include "cmd/command.h"
#include "profile/names/late_symbols.h"
#include "profile/files/profile_readers.h"
#include "profile/files/profile_writers.h"
#include "profile/sample/confined_names.h"
#include "store/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define MODULES_LISTED 10

/* In the confined process; says counts, then modules without a debug file. */
static void look_up(struct pt_profile *p, void *files, struct pt_buf *said) {
    struct pt_late_symbols s;
    pt_late_symbols_add(&s, p, files);
    pt_buf_varint(said, s.wanted);
    pt_buf_varint(said, s.found);
    for (size_t i = 0; i < s.missing_count; i++)
        pt_buf_varint(said, s.missing[i]);
    pt_late_symbols_release(&s);
}

static int fetch_through_door(void *nothing, const char *build_id) {
    (void)nothing;
    return pt_confine_fetch(build_id);
}

static void print_missing(struct pt_bytes missing, const struct pt_profile *p) {
    size_t listed = 0;
    while (missing.at < missing.end && !missing.failed) {
        uint64_t module = pt_bytes_varint(&missing);
        if (missing.failed || module >= p->modules.count)
            break;
        const struct pt_profile_module *m = &p->modules.at[module];
        struct pt_str path = pt_profile_text(p, m->path), id = pt_profile_text(p, m->build_id);
        /* [kernel], [vdso] and generated code have no debug files */
        if (path.len == 0 || path.at[0] == '[' || listed++ >= MODULES_LISTED)
            continue;
        pt_say("  no debug file for %.*s (%s%.*s)", (int)path.len, path.at,
               id.len > 0 ? "build id " : "no build id", (int)id.len, id.at);
    }
    if (listed > MODULES_LISTED)
        pt_say("  and %zu more modules", listed - MODULES_LISTED);
}

static int add_symbols(const struct pt_command_options *o, struct pt_debug_files *files,
                       struct pt_debuginfod *servers, const char *from, const char *into) {
    struct pt_profile_file file;
    struct pt_buf said = { 0 };
    struct pt_err err = { "" };
    struct pt_confined_names how = { look_up, files, pt_debuginfod_fetch, servers };
    int rc = pt_profile_file_read(&file, from, &err);
    if (!rc)
        rc = pt_confined_names(&file, &how, &said, &err);
    if (!rc)
        rc = pt_profile_write(&file.profile, into, &err);
    if (!rc && !o->is_quiet) {
        struct pt_bytes r = { said.at, said.at + said.len, false };
        uint64_t wanted = pt_bytes_varint(&r), found = pt_bytes_varint(&r);
        pt_say("%s: resolved %" PRIu64 " of %" PRIu64 " addresses without debug information", into,
               found, wanted);
        print_missing(r, &file.profile);
    }
    pt_buf_release(&said);
    pt_profile_file_release(&file);
    return rc ? pt_command_fail(&err, 1) : 0;
}

static bool is_profile(const char *path) {
    for (size_t i = 0; pt_profile_readers[i]; i++)
        if (pt_str_ends(pt_str_from(path), pt_str_from(pt_profile_readers[i]->extension)))
            return true;
    return false;
}

struct profiles {
    char *list[8];
    size_t count;
};

/* The profile itself, or those of a run. 0 or -errno with a message. */
static int find_profiles(const char *operand, struct profiles *found, struct pt_err *err) {
    char journal[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1];
    int other_count;
    if (is_profile(operand)) {
        found->list[found->count++] = pt_strdup(operand);
        return 0;
    }
    int rc = pt_run_find(operand, journal, &other_count, err);
    if (rc)
        return rc;
    pt_run_split(journal, directory, name);
    for (size_t i = 0; pt_run_profile_kind(i) && found->count < PT_COUNT(found->list); i++) {
        char *path = pt_asprintf("%s/%s.%s" PT_RUN_PROFILE_EXTENSION, directory, name,
                                 pt_run_profile_kind(i));
        if (access(path, F_OK) == 0)
            found->list[found->count++] = path;
        else
            pt_free(path);
    }
    return found->count > 0
               ? 0
               : pt_fail(err, -ENOENT, "the run %s/%s has no profile (record with --cpu)",
                         directory, name);
}

static int symbolize(const struct pt_command_options *o, const struct profiles *profiles,
                     struct pt_debug_files *files) {
    struct pt_debuginfod servers = { 0 };
    struct pt_err err = { "" };
    files->fetch = fetch_through_door;
    int rc = pt_elf_check(&err);
    if (!rc)
        rc = pt_debuginfod_open(&servers, &err);
    int code = rc ? pt_command_fail(&err, 1) : 0;
    for (size_t i = 0; !code && i < profiles->count; i++)
        code = add_symbols(o, files, &servers, profiles->list[i],
                           o->output ? o->output : profiles->list[i]);
    pt_debuginfod_close(&servers);
    return code;
}

int pt_cmd_symbolize(const struct pt_command_options *o, char **operands, bool has_dashes,
                     char **argv) {
    (void)has_dashes;
    (void)argv;
    struct profiles profiles = { .count = 0 };
    struct pt_debug_files files = { .directories = o->debug_directories.items,
                                    .directory_count = o->debug_directories.count };
    struct pt_err err = { "" };
    int code;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_SYMBOLIZE,
                                  "give one profile, or a run with a profile");
    if (find_profiles(operands[0], &profiles, &err))
        code = pt_command_fail(&err, 1);
    else if (o->output && profiles.count > 1)
        code = pt_command_misused(PT_COMMAND_SYMBOLIZE,
                                  "-o: the run has several profiles (give one of them)");
    else if (pt_profile_check_path(o->output ? o->output : profiles.list[0], &err) ||
             pt_debug_files_check(&files, &err))
        code = pt_command_misused(PT_COMMAND_SYMBOLIZE, "%s", err.text);
    else
        code = symbolize(o, &profiles, &files);
    pt_debug_files_release(&files);
    for (size_t i = 0; i < profiles.count; i++)
        pt_free(profiles.list[i]);
    return code;
}
