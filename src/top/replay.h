/* top/replay.h -- the samples of a run, forwards or from any moment on.
 *
 * The run is read once when it is opened; what is kept of that are the places where samples start
 * afresh. A run that is still being recorded grows while it is looked at. */
#ifndef PT_TOP_REPLAY_H
#define PT_TOP_REPLAY_H

#include "store/journal.h"

struct pt_replay_key {
    int64_t mono_ns;
    struct pt_journal_place place;
};

struct pt_replay {
    struct pt_journal_reader reader;
    struct pt_sample next; /* the one after those that were handed out */
    bool has_next;
    int64_t first_ns, last_ns; /* of the run, as far as it was read */
    struct pt_replay_key *keys;
    size_t key_count, key_capacity;
    unsigned keys_skipped, key_stride; /* of a long run only some are kept */
};

int pt_replay_open(struct pt_replay *r, const char *journal, struct pt_err *err) PT_MUST_CHECK;
void pt_replay_close(struct pt_replay *r);

/* Goes to samples well before that moment, so that rates and curves are known when it comes. */
void pt_replay_seek(struct pt_replay *r, int64_t mono_ns);
/* The next sample, if it is not after that moment; NULL: none is. Valid until another call. */
const struct pt_sample *pt_replay_until(struct pt_replay *r, int64_t mono_ns);
/* When the next sample is; false: none is there (yet). */
bool pt_replay_peek(struct pt_replay *r, int64_t *mono_ns);

#endif
