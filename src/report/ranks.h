/* report/ranks.h -- the runs of a merged run and who of them is behind, for a report. */
#ifndef PT_REPORT_RANKS_H
#define PT_REPORT_RANKS_H

#include "analyze/straggler.h"
#include "base/json.h"
#include "base/out.h"
#include "store/journal.h"

/* The members "merge" (the note of the journal, as text) and "stragglers"; null of a single run. */
void pt_report_ranks_write(const struct pt_journal_reader *reader, const struct pt_stragglers *s,
                           struct pt_json *j);

/* The same as a table on a terminal: by span name who is the slowest, how often, by how much. */
void pt_report_stragglers_print(const struct pt_stragglers *s, struct pt_out *out);

#endif
