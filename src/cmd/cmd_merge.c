#include "runs/merge.h"

#include "base/log.h"
#include "cmd/command.h"
#include "report/report_page.h"
#include "report/ranks.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_merged(const char *journal) {
    struct pt_journal_reader reader = { 0 };
    bool found = !pt_journal_open(&reader, journal, NULL) &&
                 pt_journal_note_find(&reader, PT_RANK_NOTE) != NULL;
    pt_journal_reader_close(&reader);
    return found;
}

/* A directory stands for all runs in it, except merged ones. */
static int add_operand(struct pt_run_list *runs, const char *operand, struct pt_err *err) {
    struct stat st;
    if (stat(operand, &st) == 0 && S_ISDIR(st.st_mode)) {
        struct pt_run_list found = { 0 };
        int rc = pt_run_list_directory(&found, operand, err);
        for (size_t i = 0; i < found.count; i++)
            if (!is_merged(found.journals[i]))
                pt_run_list_add(runs, found.journals[i]);
        pt_run_list_release(&found);
        return rc;
    }
    char journal[PATH_MAX];
    int other_count, rc = pt_run_find(operand, journal, &other_count, err);
    if (rc)
        return rc;
    if (other_count > 0)
        return pt_fail(err, -ENOTUNIQ, "%d runs start with %s (give more of the uuid)",
                       other_count + 1, operand);
    pt_run_list_add(runs, journal);
    return 0;
}

static int print_stragglers(const char *journal, struct pt_out *out, struct pt_err *err) {
    struct pt_journal_reader reader = { 0 };
    struct pt_stragglers stragglers;
    struct pt_sample sample;
    int rc = pt_journal_open(&reader, journal, err);
    if (rc)
        return rc;
    pt_stragglers_init(&stragglers, &reader.schema);
    pt_sample_init(&sample, &reader.schema);
    while ((rc = pt_journal_next(&reader, &sample)) > 0)
        pt_stragglers_add(&stragglers, &sample);
    pt_stragglers_finish(&stragglers);
    pt_out_char(out, '\n');
    pt_report_stragglers_print(&stragglers, out);
    pt_stragglers_release(&stragglers);
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    return rc ? pt_fail(err, rc, "cannot read %s: %s", journal, strerror(-rc)) : 0;
}

static int merge(const struct pt_command_options *o, const struct pt_run_list *runs,
                 struct pt_err *err) {
    char directory[PATH_MAX], name[NAME_MAX + 1];
    bool with_page = pt_str_ends(pt_str_from(o->output), PT_STR(".html"));
    struct pt_merge m;
    struct pt_out out;
    int rc = with_page ? pt_report_check(err) : 0;
    if (rc)
        return rc;
    if (with_page)
        pt_run_split(o->output, directory, name);
    else
        pt_str_copy(directory, PATH_MAX, pt_str_from(o->output));
    rc = pt_merge_write(&m, (const char *const *)runs->journals, runs->count, directory, err);
    if (!rc && !o->is_quiet) {
        pt_out_show(&out, STDOUT_FILENO);
        pt_merge_print(&m, &out);
        rc = print_stragglers(m.journal, &out, err);
        if (pt_command_close(&out, 0) && !rc)
            rc = pt_fail(err, -EIO, "the merged run is in %s", m.journal);
    }
    struct pt_report_options page = { .journal = m.journal, .path = o->output };
    if (!rc && with_page)
        rc = pt_report_write(&page, err);
    if (!rc && !o->is_quiet)
        pt_say("Wrote %s%s%s", m.journal, with_page ? " and " : "", with_page ? o->output : "");
    pt_merge_release(&m);
    return rc;
}

int pt_cmd_merge(const struct pt_command_options *o, char **operands, bool has_dashes,
                 char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_run_list runs = { 0 };
    struct pt_err err = { "" };
    int rc = 0;
    if (!operands[0])
        return pt_command_misused(PT_COMMAND_MERGE, "give runs, or their directory");
    for (size_t i = 0; operands[i] && !rc; i++)
        rc = add_operand(&runs, operands[i], &err);
    if (!rc)
        rc = merge(o, &runs, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    pt_run_list_release(&runs);
    return rc ? 1 : 0;
}
