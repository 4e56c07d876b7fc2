/* profile/run/cpu_sampling.h -- chooses the method that samples CPU time: perf events with the
 * kernel or in user code only; timers inside the command's processes; Python frames read from
 * outside. */
#ifndef PT_PROFILE_RUN_CPU_SAMPLING_H
#define PT_PROFILE_RUN_CPU_SAMPLING_H

#include "profile/sample/timer_session.h"
#include "profile/sample/python_session.h"
#include "profile/sample/perf_session.h"

enum pt_cpu_method { PT_CPU_AUTO, PT_CPU_PERF, PT_CPU_TIMER, PT_CPU_PYTHON, PT_CPU_METHODS };

/* "auto", "perf", ...; NULL after the last. */
const char *pt_cpu_method_name(size_t index);
/* -EINVAL with a message: no such method. */
int pt_cpu_method_parse(const char *text, enum pt_cpu_method *method,
                        struct pt_err *err) PT_MUST_CHECK;

struct pt_cpu_sampling_options {
    const struct pt_fs *fs;
    struct pt_perf_options how;
    enum pt_cpu_method method;
    const char *program; /* of a command; NULL: running processes */
};

struct pt_cpu_sampling {
    struct pt_cpu_sampling_options o;
    enum pt_cpu_method method; /* the chosen one; AUTO: none yet */
    bool is_started;
    struct pt_err refused; /* why better methods are not used */
    bool has_kernel;       /* for perf: kernel frames are sampled */
    struct pt_session perf;
    struct pt_timer_session timer;
    struct pt_python_session python;
};

/* For a command, before it is created, because the method changes its environment. 0 or -errno with
 * a message that lists each method and what it lacks. */
int pt_cpu_sampling_choose(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           struct pt_err *err) PT_MUST_CHECK;
void pt_cpu_sampling_prepare(const struct pt_cpu_sampling *s, struct pt_environment *e);
/* Call when the command waits for its exec. */
int pt_cpu_sampling_start(struct pt_cpu_sampling *s, pid_t pid, struct pt_err *err) PT_MUST_CHECK;

/* For running processes with their descendants: chooses a method and starts. */
int pt_cpu_sampling_attach(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           const pid_t *pids, size_t count, struct pt_err *err) PT_MUST_CHECK;

/* CPU time used by its threads so far. */
int64_t pt_cpu_sampling_cpu_ns(const struct pt_cpu_sampling *s);
void pt_cpu_sampling_stop(struct pt_cpu_sampling *s);
/* Call after stop: -ENODATA with a message if nothing could be sampled. */
int pt_cpu_sampling_check(const struct pt_cpu_sampling *s, struct pt_err *err) PT_MUST_CHECK;
/* The recording, for any method. */
struct pt_recording *pt_cpu_sampling_recording(struct pt_cpu_sampling *s);
void pt_cpu_sampling_release(struct pt_cpu_sampling *s);

#endif
