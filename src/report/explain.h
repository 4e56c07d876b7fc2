/* report/explain.h -- what held a run back, as text and as JSON. */
#ifndef PT_REPORT_EXPLAIN_H
#define PT_REPORT_EXPLAIN_H

#include "analyze/verdict.h"
#include "base/out.h"
#include "store/journal.h"

/* The verdict first, then its numbers; at most a screenful. */
void pt_explain_print(const struct pt_explanation *x, const char *uuid, struct pt_out *out);

/* The object of docs/EXPLAIN.md: {"status", "because", "verdicts": [{"id", "share", ...}]}. Times
 * are seconds since `start`, which is Unix milliseconds. */
void pt_explain_print_json(const struct pt_explanation *x, const char *uuid, int64_t start_wall_ns,
                           struct pt_out *out);

/* Bytes a second of the fastest link, from the static information of the run; NAN: unknown. */
double pt_explain_link_speed(const struct pt_journal_reader *reader);

#endif
