/* profile/sample/perf_session.h -- sampling with perf events: one thread empties the rings, one
 * unwinds the samples into a profile. */
#ifndef PT_PROFILE_SAMPLE_PERF_SESSION_H
#define PT_PROFILE_SAMPLE_PERF_SESSION_H

#include "profile/sample/perf_event.h"
#include "profile/sample/raw_queue.h"
#include "profile/sample/record_order.h"
#include "profile/sample/recording.h"

#include "source/kernel/pid_list.h"

struct pt_session {
    struct pt_perf perf;
    struct pt_recording recording;
    struct pt_pythons pythons;
    struct pt_buf python_entries, scratch; /* of the thread that empties the rings */
    struct pt_raw_queue queue;
    struct pt_record_order order;
    pthread_t drain, worker;
    int64_t drain_cpu_ns, worker_cpu_ns; /* used by the threads for samples, set at their end */
    int64_t names_cpu_ns;                /* used by the worker for symbols */
    int poll_fd, stop_fd;
    int poll_ms; /* polling interval of the rings */
    bool is_running;
};

/* Takes over the events of `perf`, which were opened with these options. `running` lists the
 * sampled processes that already run. 0 or -errno; it must be released in both cases.
 */
int pt_session_start(struct pt_session *s, struct pt_perf *perf, const struct pt_fs *fs,
                     const struct pt_perf_options *o, const struct pt_pid_list *running,
                     struct pt_err *err) PT_MUST_CHECK;
/* CPU time used by its threads so far, while they run. */
int64_t pt_session_cpu_ns(const struct pt_session *s);
/* Ends sampling; the profile of `recording` is then complete, but without symbols. */
void pt_session_stop(struct pt_session *s);
void pt_session_release(struct pt_session *s);

#endif
