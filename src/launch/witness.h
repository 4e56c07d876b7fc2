/* launch/witness.h -- tells a signal to Pitot alone from a signal to many.
 *
 * Shells, timeout(1), systemd and Slurm signal a whole process group or cgroup: the command has got
 * the signal too and must not get it twice. The kernel does not say so. The witness does: a process
 * in Pitot's group and cgroup that blocks all signals. What is pending for it was sent to many. */
#ifndef PT_LAUNCH_WITNESS_H
#define PT_LAUNCH_WITNESS_H

#include "base/fd.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

/* {0}: there is none. */
struct pt_witness {
    pid_t pid;
    uint32_t serial; /* of the last question */
    struct pt_fd fd;
};

/* Call with all signals blocked, before there are threads. Without a process to spare there is no
 * witness. */
void pt_witness_open(struct pt_witness *w);
/* Whether the same sender sent this signal to the witness as well. A sender that goes from process
 * to process gets `patience_ms` to reach it. */
bool pt_witness_saw(struct pt_witness *w, const struct signalfd_siginfo *info, int patience_ms);
/* A stop signal to many has stopped the witness, too. */
void pt_witness_continue(const struct pt_witness *w);
void pt_witness_close(struct pt_witness *w);

#endif
