/* top/replay.h -- the samples of a run, in order from any time.
 *
 * Opening a run reads it once and keeps the positions where reading can start. A run that is still
 * being recorded grows while it is shown. */
#ifndef PT_TOP_REPLAY_H
#define PT_TOP_REPLAY_H

#include "store/journal.h"

struct pt_replay_key {
    int64_t mono_ns;
    struct pt_journal_place place;
};

struct pt_replay {
    struct pt_journal_reader reader;
    struct pt_sample next; /* the next one to hand out */
    bool has_next;
    int64_t first_ns, last_ns; /* of the run, as far as it has been read */
    struct pt_replay_key *keys;
    size_t key_count, key_capacity;
    unsigned keys_skipped, key_stride; /* of a long run only some are kept */
};

int pt_replay_open(struct pt_replay *r, const char *journal, struct pt_err *err) PT_MUST_CHECK;
void pt_replay_close(struct pt_replay *r);

/* Moves well before that time, so that rates and curves are known at that time. */
void pt_replay_seek(struct pt_replay *r, int64_t mono_ns);
/* The next sample if it is not after that time, else NULL. Valid until the next call. */
const struct pt_sample *pt_replay_until(struct pt_replay *r, int64_t mono_ns);
/* Time of the next sample; false: there is none (yet). */
bool pt_replay_peek(struct pt_replay *r, int64_t *mono_ns);

#endif
