/* collect/process_read.h -- reads the files of one process, each at its own interval.
 *
 * Every tick: stat, statm, io, unless the CPU clock of the process has not advanced: then none of
 * its threads has run. Every few seconds: status and cgroup. When first seen and after exec:
 * cmdline. Rarely, for the recorded tree only: smaps_rollup, which walks all page tables of the
 * process. */
#ifndef PT_COLLECT_PROCESS_READ_H
#define PT_COLLECT_PROCESS_READ_H

#include "collect/process_set.h"

struct pt_process_reader {
    struct pt_process_set set;
    struct pt_file_pool pool;
    struct pt_thread_reader threads;
    bool may_roll_up;   /* no smaps_rollup was read in this tick */
    pid_t rolled_up_to; /* they take turns by pid */
    int64_t tree_count; /* recorded processes in the tick before: many are read less often */
};

/* Call it at the start of each tick. */
void pt_process_reader_begin(struct pt_process_reader *r, const struct pt_context *context);
void pt_process_reader_release(struct pt_process_reader *r);

/* Reads what every tick needs. Sets `is_gone` if the process has ended. If another process now has
 * the pid, the entry is reset and read as new. */
void pt_process_read(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p);
/* Reads those of the slower files that are due. */
void pt_process_read_slow(struct pt_process_reader *r, const struct pt_context *context,
                          struct pt_process *p);

/* It runs another program now: forget what was read of the previous one. */
void pt_process_note_exec(struct pt_process *p);

#endif
