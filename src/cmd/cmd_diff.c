#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "profile/model/profile_diff.h"
#include "profile/files/profile_writers.h"
#include "report/diff_text.h"
#include "report/run_profile.h"
#include "store/rank.h"
#include "store/run.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_ERROR      2
#define FUNCTIONS_SHOWN 10

static const int exit_codes[] = {
    [PT_DIFF_PASS] = 0,
    [PT_DIFF_REGRESSION] = 1,
    [PT_DIFF_INCONCLUSIVE] = 3,
};

/* Adds a run, or one rank of a merged run, to a side. The settings are those of its first run. */
static int add_samples(struct pt_diff *d, int side, struct pt_journal_reader *reader,
                       const char *rank) {
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_rank_view *view = pt_calloc(1, sizeof *view);
    struct pt_sample sample;
    int rc;
    pt_rank_view_init(view, &reader->schema);
    pt_windows_init(w, rank ? &view->schema : &reader->schema, pt_comparison_wants);
    pt_sample_init(&sample, &reader->schema);
    while ((rc = pt_journal_next(reader, &sample)) > 0)
        if (!rank)
            pt_windows_add(w, &sample);
        else if (pt_rank_view_take(view, &sample, rank))
            pt_windows_add(w, &view->sample);
    const struct pt_journal_note *note = pt_journal_note_find(reader, "static");
    if (!rc && note && d->comparisons.run_counts[side] == 0)
        pt_settings_read(&d->settings[side], (struct pt_str){ note->text, note->text_len });
    struct pt_subject subject;
    pt_subject_read(&subject, reader);
    if (d->comparisons.run_counts[0] + d->comparisons.run_counts[1] == 0)
        d->subject = subject;
    pt_subject_join(&d->subject, &subject);
    if (!rc)
        pt_comparisons_add(&d->comparisons, side, w);
    pt_sample_release(&sample);
    pt_windows_release(w);
    pt_rank_view_release(view);
    pt_free(view);
    pt_free(w);
    return rc;
}

/* Adds a run; each rank of a merged run counts as a run of its own. */
static int add_journal(struct pt_diff *d, int side, const char *journal, struct pt_err *err) {
    struct pt_ranks ranks = { 0 };
    int rc = 0;
    for (size_t i = 0; !rc && i <= ranks.count; i++) {
        struct pt_journal_reader reader = { 0 };
        if (i > 0 && i == ranks.count)
            break;
        rc = pt_journal_open(&reader, journal, err);
        if (rc)
            break;
        if (i == 0)
            pt_ranks_read(&ranks, &reader);
        rc = add_samples(d, side, &reader, ranks.count > 0 ? ranks.labels[i] : NULL);
        if (rc)
            pt_fail(err, rc, "cannot read %s: %s", journal, strerror(-rc));
        pt_journal_reader_close(&reader);
    }
    pt_ranks_release(&ranks);
    return rc;
}

static bool is_directory(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Adds one run; of several in a directory, the newest. */
static int find_run(struct pt_run_list *runs, const char *run, struct pt_err *err) {
    char journal[PATH_MAX];
    int rc = pt_command_find_run(run, journal, err);
    if (!rc)
        pt_run_list_add(runs, journal);
    return rc;
}

/* Finds the runs of both sides. A baseline that is a directory stands for all runs in it. */
static int find_runs(struct pt_run_list runs[2], const struct pt_command_options *o,
                     char **operands, struct pt_err *err) {
    const struct pt_option_list *baselines = &o->baselines;
    int rc = 0;
    for (size_t i = 0; i < baselines->count && !rc; i++)
        rc = is_directory(baselines->items[i])
                 ? pt_run_list_directory(&runs[0], baselines->items[i], err)
                 : find_run(&runs[0], baselines->items[i], err);
    if (baselines->count == 0)
        rc = find_run(&runs[0], *operands++, err);
    while (*operands && !rc)
        rc = find_run(&runs[1], *operands++, err);
    return rc;
}

/* The profile of the first run of a side that has one, or NULL. */
static struct pt_profile_file *read_profile(const struct pt_run_list *runs) {
    struct pt_profile_file *file = NULL;
    struct pt_err err;
    for (size_t i = 0; i < runs->count && !file; i++)
        if (pt_run_profile_read(&file, runs->journals[i], "cpu", &err))
            pt_log(PT_LOG_WARNING, "%s", err.text);
    return file;
}

/* Compares the CPU profiles. 0, or -ENODATA if a side has none. */
static int compare_profiles(const struct pt_run_list runs[2], struct pt_profile *diff,
                            struct pt_err *err) {
    struct pt_profile_file *before = read_profile(&runs[0]);
    struct pt_profile_file *after = before ? read_profile(&runs[1]) : NULL;
    int rc = after ? pt_profile_diff(&before->profile, &after->profile, diff, err)
                   : pt_fail(err, -ENODATA, "side %s has no CPU profile (record with --cpu)",
                             before ? "B" : "A");
    pt_run_profile_free(before);
    pt_run_profile_free(after);
    return rc;
}

/* Writes the flame graph of -o and, in text output, prints the functions that changed. Runs without
 * profiles are compared without them, unless -o asks for a flame graph. */
static int diff_profiles(const struct pt_run_list runs[2], const struct pt_command_options *o) {
    struct pt_profile diff;
    struct pt_err err = { "" };
    struct pt_out out;
    int code = 0, rc = compare_profiles(runs, &diff, &err);
    if (rc == -ENODATA && !o->output)
        return 0;
    if (rc)
        return pt_command_fail(&err, EXIT_ERROR);
    if (o->output && pt_profile_write(&diff, o->output, &err)) {
        code = pt_command_fail(&err, EXIT_ERROR);
    } else if (!o->as_json && !o->as_markdown) {
        pt_out_show(&out, STDOUT_FILENO);
        pt_out_text(&out, "\nCPU time by function:\n");
        pt_profile_diff_print(&diff, FUNCTIONS_SHOWN, &out);
        code = pt_command_close(&out, 0) ? EXIT_ERROR : 0;
    }
    pt_profile_release(&diff);
    return code;
}

static int print(const struct pt_diff *d, const struct pt_command_options *o) {
    struct pt_out out;
    pt_out_show(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_diff_print_json(d, &out);
    else if (o->as_markdown)
        pt_diff_print_markdown(d, &out);
    else
        pt_diff_print(d, &out);
    if (pt_command_close(&out, 0))
        return EXIT_ERROR;
    /* without gates, a regression is not a failure */
    return d->gate_count > 0 ? exit_codes[pt_diff_status(d)] : 0;
}

static int diff(struct pt_diff *d, const struct pt_command_options *o, char **operands) {
    struct pt_run_list runs[2] = { { 0 } };
    struct pt_err err = { "" };
    int rc = find_runs(runs, o, operands, &err), code = EXIT_ERROR;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; !rc && i < runs[side].count; i++)
            rc = add_journal(d, side, runs[side].journals[i], &err);
    /* a side with one run has the name that the user gave */
    char **others = operands + (o->baselines.count == 0);
    d->names[0] = o->baselines.count == 1 ? o->baselines.items[0]
                  : o->baselines.count    ? "the baselines"
                                          : operands[0];
    d->names[1] = others[1] ? "the others" : others[0];
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
    } else {
        pt_comparisons_finish(&d->comparisons);
        code = print(d, o);
        if (code != EXIT_ERROR && diff_profiles(runs, o))
            code = EXIT_ERROR;
    }
    pt_run_list_release(&runs[0]);
    pt_run_list_release(&runs[1]);
    return code;
}

int pt_cmd_diff(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_diff d = { 0 };
    struct pt_err err = { "" };
    size_t operand_count = 0;
    while (operands[operand_count])
        operand_count++;
    if (o->baselines.count > 0 ? operand_count == 0 : operand_count != 2)
        return pt_command_misused(PT_COMMAND_DIFF,
                                  "give two runs, or --baseline and the runs to compare");
    if (o->as_json && o->as_markdown)
        return pt_command_misused(PT_COMMAND_DIFF, "give either --json or --markdown, not both");
    if (o->output && pt_profile_check_path(o->output, &err))
        return pt_command_misused(PT_COMMAND_DIFF, "%s", err.text);
    struct pt_gate *gates = pt_calloc(o->gates.count + 1, sizeof *gates);
    int rc = 0;
    for (size_t i = 0; !rc && i < o->gates.count; i++)
        rc = pt_gate_parse(&gates[i], o->gates.items[i], &err);
    d.gates = gates;
    d.gate_count = o->gates.count;
    pt_comparisons_init(&d.comparisons, o->minimum_change_percent / 100);
    int code =
        rc ? pt_command_misused(PT_COMMAND_DIFF, "--gate: %s", err.text) : diff(&d, o, operands);
    pt_comparisons_release(&d.comparisons);
    pt_settings_release(&d.settings[0]);
    pt_settings_release(&d.settings[1]);
    pt_free(gates);
    return code;
}
