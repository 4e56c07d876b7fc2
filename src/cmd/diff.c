#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "report/diff.h"
#include "store/rank.h"
#include "store/run.h"

#include <unistd.h>

#define EXIT_ERROR 2

static const int exit_codes[] = {
    [PT_DIFF_PASS] = 0,
    [PT_DIFF_REGRESSION] = 1,
    [PT_DIFF_INCONCLUSIVE] = 3,
};

/* Adds what a reader gives to a side: all of it, or one rank of a merged run. The first of a side
 * gives its settings. */
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
    if (!rc)
        pt_comparisons_add(&d->comparisons, side, w);
    pt_sample_release(&sample);
    pt_windows_release(w);
    pt_rank_view_release(view);
    pt_free(view);
    pt_free(w);
    return rc;
}

/* A run, or each rank of a merged one: those are several runs of a side. */
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

static int add_run(struct pt_diff *d, int side, const char *run, struct pt_err *err) {
    char journal[PATH_MAX];
    int rc = pt_command_find_run(run, journal, err);
    d->names[side] = run;
    return rc ? rc : add_journal(d, side, journal, err);
}

/* All runs of a directory. */
static int add_baseline(struct pt_diff *d, const char *path, struct pt_err *err) {
    struct pt_run_list runs = { 0 };
    int rc = pt_run_list_directory(&runs, path, err);
    d->names[0] = path;
    for (size_t i = 0; i < runs.count && !rc; i++)
        rc = add_journal(d, 0, runs.journals[i], err);
    pt_run_list_release(&runs);
    return rc;
}

static int print(const struct pt_diff *d, const struct pt_command_options *o) {
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_diff_print_json(d, &out);
    else if (o->as_markdown)
        pt_diff_print_markdown(d, &out);
    else
        pt_diff_print(d, &out);
    int code = pt_command_close(&out, 0) ? EXIT_ERROR : 0;
    if (code)
        return code;
    /* without gates it informs: only what could not be done is a failure */
    return d->gate_count > 0 ? exit_codes[pt_diff_status(d)] : 0;
}

static int read_gates(const struct pt_option_list *list, struct pt_gate *gates,
                      struct pt_err *err) {
    for (size_t i = 0; i < list->count; i++) {
        int rc = pt_gate_parse(&gates[i], list->items[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

static int compare_runs(struct pt_diff *d, const struct pt_command_options *o, char **operands,
                        struct pt_err *err) {
    int rc = o->baseline ? add_baseline(d, o->baseline, err) : add_run(d, 0, operands[0], err);
    if (!rc)
        rc = add_run(d, 1, operands[o->baseline ? 0 : 1], err);
    if (!rc)
        pt_comparisons_finish(&d->comparisons);
    return rc;
}

int pt_cmd_diff(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_err err = { "" };
    struct pt_diff d = { 0 };
    int operand_count = 0, code;
    while (operands[operand_count])
        operand_count++;
    if (operand_count != (o->baseline ? 1 : 2))
        return pt_command_misused(PT_COMMAND_DIFF, "give two runs, or --baseline DIR and one");
    struct pt_gate *gates = pt_calloc(o->gates.count + 1, sizeof *gates);
    d.gates = gates;
    d.gate_count = o->gates.count;
    pt_comparisons_init(&d.comparisons, o->minimum_change_percent / 100);
    if (read_gates(&o->gates, gates, &err)) {
        code = pt_command_misused(PT_COMMAND_DIFF, "--gate: %s", err.text);
    } else if (compare_runs(&d, o, operands, &err)) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        code = EXIT_ERROR;
    } else {
        code = print(&d, o);
    }
    pt_comparisons_release(&d.comparisons);
    pt_settings_release(&d.settings[0]);
    pt_settings_release(&d.settings[1]);
    pt_free(gates);
    return code;
}
