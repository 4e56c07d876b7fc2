/* source/gpu/poller.h -- the thread that reads all GPUs.
 *
 * Drivers are sometimes slow: a GPU that falls off the bus can block a call for seconds. So only
 * this thread calls the backends. It publishes each complete reading; a reader copies the latest
 * one and never waits for a driver: while a call hangs, the reading gets older, and its times show
 * it.
 *
 * Stopping waits a moment for the thread. If a call still hangs then, the thread is left behind
 * with all it owns and ends with the process, or cleans up after itself should the call ever
 * return. */
#ifndef PT_SOURCE_GPU_POLLER_H
#define PT_SOURCE_GPU_POLLER_H

#include "base/err.h"
#include "base/fs.h"
#include "source/gpu/gpu_device.h"

struct pt_gpu_poller;

/* Starts the thread and waits, at most `patience_ns`, until it has found the GPUs. 0; -ENODATA:
 * there are none, `err` says why; other -errno. If the drivers take longer, the answer is 0 and
 * the first reading comes later, or never. `fs` is copied. */
int pt_gpu_poller_start(struct pt_gpu_poller **poller, const struct pt_fs *fs, int64_t interval_ns,
                        int64_t patience_ns, struct pt_err *err) PT_MUST_CHECK;
/* From the next turn on. */
void pt_gpu_poller_set_interval(struct pt_gpu_poller *poller, int64_t interval_ns);
/* Ends and frees; NULL may be stopped. */
void pt_gpu_poller_stop(struct pt_gpu_poller *poller);

/* Copies the latest complete reading into `r`. False if it is the one that `r` already has, or if
 * there is none yet. */
bool pt_gpu_poller_read(struct pt_gpu_poller *poller, struct pt_gpu_reading *r);

/* Waits until a reading newer than `sequence` is there; false after `patience_ns`. For tests and
 * for those who need a first answer. */
bool pt_gpu_poller_wait(struct pt_gpu_poller *poller, uint64_t sequence, int64_t patience_ns);

#endif
