/* analyze/death.h -- why a command ended, as far as the exit status and the kernel's counters tell.
 *
 * SIGKILL has many senders; the counters of the command's cgroup and of the machine say whether it
 * was the OOM killer, and whether a limit of its own or the machine was full. */
#ifndef PT_ANALYZE_DEATH_H
#define PT_ANALYZE_DEATH_H

#include "model/sample.h"
#include "store/journal.h"

/* What made a part of a recording worth keeping. */
enum pt_cause_kind {
    PT_CAUSE_NONE,
    PT_CAUSE_EXIT,         /* the command exited with another code than 0 */
    PT_CAUSE_SIGNAL,       /* a signal ended it */
    PT_CAUSE_OOM_KILL,     /* the machine was out of memory */
    PT_CAUSE_MEMORY_LIMIT, /* the OOM killer ended it at a limit of its own */
    PT_CAUSE_ALERT,        /* a rule went on */
    PT_CAUSE_HEALTH,       /* an engine no longer answers */
    PT_CAUSE_REQUEST,      /* somebody asked: a signal, pitot mark --keep */
};

#define PT_CAUSE_NOTE "cause" /* in journals: {"kind", "text"} */

struct pt_cause {
    enum pt_cause_kind kind;
    char text[256];
};

const char *pt_cause_name(enum pt_cause_kind kind); /* oom-kill */

/* {"kind": "alert", "text": ...}, the note of a journal. */
void pt_cause_write(const struct pt_cause *cause, struct pt_buf *into);
/* What the journal says so far; kind PT_CAUSE_NONE: nothing. */
void pt_cause_read(struct pt_cause *cause, const struct pt_journal_reader *reader);

/* A counter over a run. */
struct pt_death_counter {
    double first, last;
    bool is_known;
};

struct pt_death_watch {
    struct pt_death_counter own_kills, limit_hits, machine_kills;
    double limit_bytes; /* 0: none is known */
};

void pt_death_see(struct pt_death_watch *w, const struct pt_sample *sample);
/* `wait_status` as of waitpid(2). Kind PT_CAUSE_NONE: it ended well. */
void pt_death_find(const struct pt_death_watch *w, int wait_status, struct pt_cause *cause);

#endif
