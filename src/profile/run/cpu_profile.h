/* profile/run/cpu_profile.h -- makes a profile of CPU time: of a command from start to end, or of a
 * running process for some time. */
#ifndef PT_PROFILE_RUN_CPU_PROFILE_H
#define PT_PROFILE_RUN_CPU_PROFILE_H

#include "profile/run/cpu_sampling.h"
#include "profile/run/profile_files.h"

struct pt_cpu_profile_options {
    struct pt_fs fs;
    struct pt_perf_options perf;
    enum pt_cpu_method method;
    char *const *command; /* argv, NULL-terminated; or NULL */
    pid_t pid;            /* instead of a command; never signalled or stopped */
    int64_t duration_ns;  /* 0: until the end or a signal */
    int64_t grace_ns;     /* between SIGTERM and SIGKILL, if Pitot ends the command */
    struct pt_profile_files files;
    size_t top_rows;   /* of the table on stderr; 0 = none */
    const char *lines; /* FILE:FUNCTION to print by line too, or NULL */
};

/* Samples, writes the files, prints a summary. Returns the exit code of Pitot. */
int pt_cpu_profile_run(const struct pt_cpu_profile_options *options);

#endif
