/* report/ranks.h -- ranks and stragglers of a merged run, for a report. */
#ifndef PT_REPORT_RANKS_H
#define PT_REPORT_RANKS_H

#include "analyze/straggler.h"
#include "base/json.h"
#include "base/out.h"
#include "store/journal.h"

/* The members "merge" (the note of the journal, as text) and "stragglers"; "merge" is null for a
 * single run. */
void pt_report_ranks_write(const struct pt_journal_reader *reader, const struct pt_stragglers *s,
                           struct pt_json *j);

/* The same as a text table: per span name the slowest rank, how often and by how much. */
void pt_report_stragglers_print(const struct pt_stragglers *s, struct pt_out *out);

#endif
