/* analyze/death.h -- why a command ended, from its exit status and the kernel's counters.
 *
 * SIGKILL has many senders. The counters of the command's cgroup and of the machine show whether
 * the OOM killer sent it, and whether the cgroup's limit or the machine's memory was exhausted. */
#ifndef PT_ANALYZE_DEATH_H
#define PT_ANALYZE_DEATH_H

#include "model/sample.h"
#include "store/journal.h"

/* Why a part of a recording is kept. */
enum pt_cause_kind {
    PT_CAUSE_NONE,
    PT_CAUSE_EXIT,         /* the command exited with a code other than 0 */
    PT_CAUSE_SIGNAL,       /* a signal ended it */
    PT_CAUSE_OOM_KILL,     /* the machine was out of memory */
    PT_CAUSE_MEMORY_LIMIT, /* the OOM killer ended it at its cgroup limit */
    PT_CAUSE_ALERT,        /* an alert rule fired */
    PT_CAUSE_HEALTH,       /* an engine no longer answers */
    PT_CAUSE_REQUEST,      /* requested by a signal or pitot mark --keep */
};

#define PT_CAUSE_NOTE "cause" /* in journals: {"kind", "text"} */

struct pt_cause {
    enum pt_cause_kind kind;
    char text[256];
};

const char *pt_cause_name(enum pt_cause_kind kind); /* oom-kill */

/* {"kind": "alert", "text": ...}, the note of a journal. */
void pt_cause_write(const struct pt_cause *cause, struct pt_buf *into);
/* The cause in the journal; kind PT_CAUSE_NONE: none yet. */
void pt_cause_read(struct pt_cause *cause, const struct pt_journal_reader *reader);

/* A counter over a run. */
struct pt_death_counter {
    double first, last;
    bool is_known;
};

struct pt_death_watch {
    struct pt_death_counter own_kills, limit_hits, machine_kills;
    double limit_bytes; /* 0: unknown */
};

void pt_death_see(struct pt_death_watch *w, const struct pt_sample *sample);
/* `wait_status` is that of waitpid(2). Kind PT_CAUSE_NONE: the command succeeded. */
void pt_death_find(const struct pt_death_watch *w, int wait_status, struct pt_cause *cause);

#endif
