#include "analyze/verdict.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "report/explain.h"
#include "report/leak_stack.h"
#include "store/run.h"

#include <unistd.h>
#include <uuid.h>

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
    pt_signals_make(&signals, w, pt_explain_link_speed(&reader));
    pt_explain(&x, &signals);
    pt_leak_stack_add(&x, journal);
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
