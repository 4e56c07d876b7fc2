#include "runs/export.h"
#include "profile/run/run_cpu.h"
#include "base/log.h"
#include "cmd/command.h"
#include "profile/files/profile_readers.h"
#include "profile/files/profile_writers.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void warn_of_damage(const struct pt_export_result *r) {
    if (r->skipped_bytes > 0)
        pt_log(PT_LOG_WARNING,
               "the journal is damaged: skipped %llu bytes, and %llu samples that depend on them",
               (unsigned long long)r->skipped_bytes, (unsigned long long)r->skipped_sample_count);
    if (!r->is_complete)
        pt_log(PT_LOG_WARNING, "the run has not ended or was cut off; exporting what there is");
    if (r->tail_bytes > 0)
        pt_log(PT_LOG_INFO, "the last %llu bytes are an incomplete record",
               (unsigned long long)r->tail_bytes);
}

static bool is_profile_kind(const char *word) {
    for (size_t i = 0; pt_run_profile_kind(i); i++)
        if (strcmp(word, pt_run_profile_kind(i)) == 0)
            return true;
    return false;
}

/* Converts the profile next to the journal. */
static int export_profile(const struct pt_command_options *o, const char *run) {
    struct pt_err err = { "" };
    struct pt_profile_file file;
    char journal[PATH_MAX];
    if (!is_profile_kind(o->profile))
        return pt_command_misused(PT_COMMAND_EXPORT, "--profile: unknown kind '%s'", o->profile);
    if (!o->output)
        return pt_command_misused(PT_COMMAND_EXPORT,
                                  "--profile: missing output file (give it with -o)");
    if (o->heap_metric && strcmp(o->profile, PT_RUN_PROFILE_HEAP) != 0)
        return pt_command_misused(PT_COMMAND_EXPORT, "--metric: works with --profile heap only");
    if (pt_profile_check_path(o->output, &err))
        return pt_command_misused(PT_COMMAND_EXPORT, "%s", err.text);
    if (pt_command_find_run(run, journal, &err))
        return pt_command_fail(&err, 1);
    int rc;
    char *saved = pt_run_profile_path(journal, o->profile);
    if (access(saved, F_OK)) {
        rc = pt_fail(&err, -ENOENT,
                     "the run has no %s profile: %s does not exist (record with --%s)", o->profile,
                     saved, o->profile);
    } else {
        rc = pt_command_heap_file(o, saved, &file, &err);
        if (!rc)
            rc = pt_profile_write(&file.profile, o->output, &err);
        pt_profile_file_release(&file);
    }
    pt_free(saved);
    return rc ? pt_command_fail(&err, 1) : 0;
}

int pt_cmd_export(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_export_formats formats;
    struct pt_err err = { "" };
    char journal[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1];
    size_t made_from;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_EXPORT, "give one run to export");
    if (o->profile)
        return export_profile(o, operands[0]);
    if (o->heap_metric)
        return pt_command_misused(PT_COMMAND_EXPORT, "--metric: works with --profile heap only");
    if (pt_export_formats_parse(&formats, o->formats, &err))
        return pt_command_misused(PT_COMMAND_EXPORT, "--format: %s", err.text);
    int rc = pt_command_find_run(operands[0], journal, &err);
    if (!rc)
        pt_run_split(journal, directory, name);
    if (!rc && o->output)
        rc = pt_run_make_directory(o->output, &made_from, &err);
    struct pt_export_result result = { 0 };
    if (!rc)
        rc = pt_export(journal, &formats, o->output ? o->output : directory, name, NULL, &result,
                       &err);
    if (rc)
        return pt_command_fail(&err, 1);
    warn_of_damage(&result);
    if (!o->is_quiet)
        pt_say("Exported %llu samples to %s/%s.*", (unsigned long long)result.sample_count,
               o->output ? o->output : directory, name);
    return 0;
}
