#include "agent/export.h"
#include "base/log.h"
#include "cmd/command.h"
#include "store/run.h"

#include <stdio.h>

static void warn_of_damage(const struct pt_export_result *r) {
    if (r->skipped_bytes > 0)
        pt_log(PT_LOG_WARNING,
               "%llu damaged bytes in the journal were passed over, and %llu "
               "samples that need them",
               (unsigned long long)r->skipped_bytes, (unsigned long long)r->skipped_sample_count);
    if (!r->is_complete)
        pt_log(PT_LOG_WARNING, "the run has not ended or was cut off: taking all that is there");
    if (r->tail_bytes > 0)
        pt_log(PT_LOG_INFO, "the last %llu bytes are not a whole record",
               (unsigned long long)r->tail_bytes);
}

int pt_cmd_export(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_export_formats formats;
    struct pt_err err = { "" };
    char journal[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1];
    int other_count;
    size_t made_from;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_EXPORT, "give one run to export");
    if (pt_export_formats_parse(&formats, o->formats, &err))
        return pt_command_misused(PT_COMMAND_EXPORT, "--format: %s", err.text);
    int rc = pt_run_find(operands[0], journal, &other_count, &err);
    if (!rc) {
        pt_run_split(journal, directory, name);
        if (other_count > 0)
            pt_log(PT_LOG_WARNING, "%d runs there, taking the newest: %s", other_count + 1, name);
    }
    if (!rc && o->output)
        rc = pt_run_make_directory(o->output, &made_from, &err);
    struct pt_export_result result = { 0 };
    if (!rc)
        rc = pt_export(journal, &formats, o->output ? o->output : directory, name, NULL, &result,
                       &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        return 1;
    }
    warn_of_damage(&result);
    if (!o->is_quiet)
        fprintf(stderr, "Exported %llu samples to %s/%s.*\n",
                (unsigned long long)result.sample_count, o->output ? o->output : directory, name);
    return 0;
}
