/* store/journal_repair.h -- copies everything that can be read of a damaged or incomplete journal
 * to a new one that is whole. */
#ifndef PT_STORE_JOURNAL_REPAIR_H
#define PT_STORE_JOURNAL_REPAIR_H

#include "store/journal.h"

/* What is wrong with a journal. */
struct pt_journal_damage {
    uint64_t sample_count;              /* can be read */
    uint64_t skipped_bytes, tail_bytes; /* cannot: inside, and at the end */
    uint64_t lost_sample_count;         /* known to be lost */
    bool is_header_damaged, is_schema_damaged, is_complete;
};

/* Reads the whole journal or ring. With `copy_path`, writes what can be read to a new journal
 * there. 0 or -errno with words; then there is no copy. */
int pt_journal_repair(const char *path, const char *copy_path, struct pt_journal_damage *damage,
                      struct pt_err *err) PT_MUST_CHECK;

bool pt_journal_is_damaged(const struct pt_journal_damage *damage);

#endif
