/* profile/sample/python_session.h -- sampling if only memory may be read: at every tick, the Python
 * frames of each running thread that has used a period of CPU time since its last sample are read
 * from outside. Native code is not visible. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_SESSION_H
#define PT_PROFILE_SAMPLE_PYTHON_SESSION_H

#include "source/kernel/pid_list.h"
#include "profile/sample/perf_event.h"
#include "profile/sample/recording.h"

struct pt_python_watched_process;
struct pt_python_watched_thread;

struct pt_python_session {
    struct pt_recording recording;
    struct pt_pythons pythons;
    struct pt_buf entries, again; /* a stack that is read twice */
    struct pt_pid_list roots;
    struct pt_python_watched_process *processes;
    size_t process_count, process_capacity;
    struct pt_python_watched_thread *threads;
    size_t thread_count, thread_capacity;
    int64_t looked_ns; /* last search for processes and threads */
    int64_t period_ns;
    pthread_t sampler;
    int64_t sampler_cpu_ns; /* at its end */
    int timer_fd, stop_fd;
    bool is_opened, is_running;
    bool has_begun;  /* threads found from now on are new */
    bool saw_python; /* at least one process */
    int64_t late_ns; /* CPU time of such processes before they were detected */
};

/* `pids` are running processes, or a command that waits for its exec; descendants are sampled too.
 * 0 or -errno with a message: permission is missing, or no running process is Python. */
int pt_python_session_start(struct pt_python_session *s, const struct pt_fs *fs,
                            const struct pt_perf_options *o, const pid_t *pids, size_t count,
                            bool is_command, struct pt_err *err) PT_MUST_CHECK;
int64_t pt_python_session_cpu_ns(const struct pt_python_session *s);
void pt_python_session_stop(struct pt_python_session *s);
/* Call after stop: -ENODATA with a message if there was no Python. */
int pt_python_session_check(const struct pt_python_session *s, struct pt_err *err) PT_MUST_CHECK;
void pt_python_session_release(struct pt_python_session *s);

#endif
