/* store/own_cost.h -- what Pitot itself has cost so far: with its helpers, without the command.
 *
 * The whole cost is known only after the last file, so it is the last note of a journal, behind the
 * record that says that the run is complete. */
#ifndef PT_STORE_OWN_COST_H
#define PT_STORE_OWN_COST_H

#include "base/fs.h"
#include "store/journal.h"

#define PT_COST_NOTE "cost"

struct pt_own_cost {
    int64_t cpu_ns;
    int64_t
        peak_bytes; /* resident memory of the recorder, or of its largest helper if that is more */
    int64_t elapsed_ns;       /* since the first sample */
    int64_t mono_ns, wall_ns; /* when it was measured */
};

/* `proc`: directory of /proc; `text` is scratch memory; `command_ns` is the CPU time of waited-for
 * processes that are not Pitot's. */
void pt_own_cost_measure(struct pt_own_cost *c, int proc, struct pt_text *text, int64_t start_ns,
                         int64_t command_ns);
/* Of one CPU. */
double pt_own_cost_share(const struct pt_own_cost *c);

void pt_own_cost_write(const struct pt_own_cost *c, struct pt_buf *text);
/* False: the journal does not say. */
bool pt_own_cost_find(struct pt_own_cost *c, const struct pt_journal_reader *reader);

#endif
