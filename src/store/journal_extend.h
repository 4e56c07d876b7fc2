/* store/journal_extend.h -- adds tables to a complete journal.
 *
 * A journal lists its tables at its beginning, and nothing may follow its end. So it is rewritten
 * with the rows of the new tables in order of time, and replaces the old file in one step. Existing
 * tables with these names are replaced. */
#ifndef PT_STORE_JOURNAL_EXTEND_H
#define PT_STORE_JOURNAL_EXTEND_H

#include "store/journal.h"

struct pt_journal_extension {
    const struct pt_table *const *tables;
    uint32_t table_count;
    /* Adds all rows up to `until_ns` (CLOCK_MONOTONIC) that were not added before to the batches of
     * the tables, in their order. True: there are more, for another sample. */
    bool (*fill)(void *arg, int64_t until_ns, struct pt_batch *batches);
    void *arg;
};

/* 0 or -errno with words; the journal is then as it was. -EBUSY: it is not complete. */
int pt_journal_extend(const char *path, const struct pt_journal_extension *extension,
                      struct pt_err *err) PT_MUST_CHECK;

/* When a run was: the times of its first and last sample, and how far Unix time was ahead of
 * CLOCK_MONOTONIC. */
struct pt_journal_span {
    int64_t first_mono_ns, last_mono_ns, ahead_ns;
    bool is_complete;
};

/* 0 or -errno with words; -ENODATA: it has no samples. */
int pt_journal_read_span(const char *path, struct pt_journal_span *span,
                         struct pt_err *err) PT_MUST_CHECK;

#endif
