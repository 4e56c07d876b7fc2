/* store/journal_extend.h -- puts further tables into a journal that is complete.
 *
 * A journal names its tables at its beginning, and nothing follows its end: so it is written anew,
 * with the rows of the further tables where they belong in time, and takes the place of the old one
 * in one step. Tables of these names that it already had are replaced. */
#ifndef PT_STORE_JOURNAL_EXTEND_H
#define PT_STORE_JOURNAL_EXTEND_H

#include "store/journal.h"

struct pt_journal_extension {
    const struct pt_table *const *tables;
    uint32_t table_count;
    /* Adds the rows of all that is not later than `until_ns` (CLOCK_MONOTONIC) and was not added
     * before to the batches of the tables, in their order. True: there is more of it, for another
     * sample. */
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
