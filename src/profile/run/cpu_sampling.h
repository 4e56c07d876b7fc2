/* profile/run/cpu_sampling.h -- chooses the method that samples CPU time: perf events with the
 * kernel or in user code only; timers inside the command's processes; Python frames read from
 * outside. Sampling, unwinding and symbols are the work of a helper process. */
#ifndef PT_PROFILE_RUN_CPU_SAMPLING_H
#define PT_PROFILE_RUN_CPU_SAMPLING_H

#include "profile/run/profile_helper.h"
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
    const char *program;  /* of a command; NULL: running processes */
    char *const *command; /* its argv, for the title of the profile; NULL: the processes */
};

struct pt_cpu_sampling {
    struct pt_cpu_sampling_options o;
    enum pt_cpu_method method; /* the chosen one; AUTO: none yet */
    struct pt_err refused;     /* why better methods are not used */
    bool has_kernel;           /* for perf: kernel frames are sampled */
    struct pt_profile_helper helper;
    /* in the helper; the files of `timer` are made before */
    struct pt_session perf;
    struct pt_timer_session timer;
    struct pt_python_session python;
};

/* For a command, before it is created, because the method changes its environment. 0 or -errno with
 * a message that lists each method and what it lacks. */
int pt_cpu_sampling_choose(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           struct pt_err *err) PT_MUST_CHECK;
void pt_cpu_sampling_prepare(const struct pt_cpu_sampling *s, struct pt_environment *e);
/* Call when the command waits for its exec, and before there are threads: this starts a process. */
int pt_cpu_sampling_start(struct pt_cpu_sampling *s, pid_t pid, struct pt_err *err) PT_MUST_CHECK;

/* For running processes with their descendants: chooses a method and starts, before there are
 * threads. */
int pt_cpu_sampling_attach(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           const pid_t *pids, size_t count, struct pt_err *err) PT_MUST_CHECK;

void pt_cpu_sampling_release(struct pt_cpu_sampling *s);

#endif
