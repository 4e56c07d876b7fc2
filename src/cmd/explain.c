#include "analyze/verdict.h"
#include "base/json_walk.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scan.h"
#include "cmd/command.h"
#include "report/explain.h"
#include "store/run.h"

#include <math.h>
#include <unistd.h>
#include <uuid.h>

/* "interfaces.0.speed_mbit" of the static information: the fastest one. */
static void take_speed(void *arg, const char *path, struct pt_str value) {
    double *bytes_per_s = arg;
    struct pt_scan scan = pt_scan_of(value);
    struct pt_str name = pt_str_from(path);
    double mbit = pt_scan_f64(&scan);
    if (pt_str_starts(name, PT_STR("interfaces.")) && pt_str_ends(name, PT_STR(".speed_mbit")) &&
        !scan.failed && mbit > 0)
        *bytes_per_s = fmax(*bytes_per_s, mbit * 1e6 / 8);
}

static double find_link_speed(const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, "static");
    double bytes_per_s = NAN;
    if (note &&
        pt_json_walk((struct pt_str){ note->text, note->text_len }, take_speed, &bytes_per_s))
        pt_log(PT_LOG_WARNING, "the static information of the run cannot be read");
    return bytes_per_s;
}

static int print_explanation(const struct pt_journal_reader *reader, const struct pt_windows *w,
                             const struct pt_explanation *x, bool as_json) {
    struct pt_out out;
    char uuid[37];
    uuid_unparse_lower(reader->uuid, uuid);
    pt_out_borrow(&out, STDOUT_FILENO);
    if (as_json)
        pt_explain_print_json(x, uuid, w->first_wall_ns, &out);
    else
        pt_explain_print(x, uuid, &out);
    return pt_command_close(&out, 0);
}

static int explain_run(const char *journal, bool as_json) {
    struct pt_journal_reader reader = { 0 };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_signals signals;
    struct pt_explanation x;
    struct pt_err err = { "" };
    if (pt_journal_open(&reader, journal, &err)) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        pt_free(w);
        return 2;
    }
    pt_windows_init(w, &reader.schema, pt_signal_wants);
    int rc = pt_windows_read(w, &reader);
    if (rc)
        pt_log(PT_LOG_ERROR, "cannot read %s: %s", journal, strerror(-rc));
    pt_signals_make(&signals, w, find_link_speed(&reader));
    pt_explain(&x, &signals);
    int code = print_explanation(&reader, w, &x, as_json);
    pt_signals_release(&signals);
    pt_windows_release(w);
    pt_free(w);
    pt_journal_reader_close(&reader);
    return rc ? 2 : code;
}

int pt_cmd_explain(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX];
    int other_count;
    struct pt_err err = { "" };
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_EXPLAIN, "give one run");
    if (pt_run_find(operands[0], journal, &other_count, &err)) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        return 2;
    }
    if (other_count > 0)
        pt_log(PT_LOG_WARNING, "%d runs there, taking the newest: %s", other_count + 1, journal);
    return explain_run(journal, o->as_json);
}
