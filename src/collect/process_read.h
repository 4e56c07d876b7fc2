/* collect/process_read.h -- reads the files of one process, each at its own pace.
 *
 * Every tick: stat, statm, io; not even these when the CPU clock of the process
 * stands still, for then no thread of it has run. Every few seconds: status and
 * cgroup. On first sight and after exec: cmdline. Rarely, for the recorded tree
 * only: smaps_rollup, which walks all page tables of the process. */
#ifndef PT_COLLECT_PROCESS_READ_H
#define PT_COLLECT_PROCESS_READ_H

#include "collect/process_set.h"

struct pt_process_reader {
    struct pt_process_set set;
    struct pt_file_pool pool;
    struct pt_thread_reader threads;
    bool may_roll_up;   /* no smaps_rollup has been read in this tick */
    pid_t rolled_up_to; /* they take turns by pid */
};

/* To be called at the start of each tick. */
void pt_process_reader_begin(struct pt_process_reader *r, const struct pt_context *context);
void pt_process_reader_release(struct pt_process_reader *r);

/* What every tick needs. Sets `is_gone` when the process is; a pid that another
 * process has now gets renewed and is read as new. */
void pt_process_read(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p);
/* What is due of the slower files. */
void pt_process_read_slow(struct pt_process_reader *r, const struct pt_context *context,
                          struct pt_process *p);

#endif
