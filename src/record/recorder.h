/* record/recorder.h -- the life of a run, from the first sample to the finished files. */
#ifndef PT_RECORD_RECORDER_H
#define PT_RECORD_RECORDER_H

#include "record/blackbox.h"
#include "profile/run/cpu_sampling.h"
#include "runs/export.h"
#include "gputrace/gpu_tool.h"
#include "sampler/sampler.h"
#include "analyze/energy_basis.h"
#include "push/push_settings.h"

struct pt_recorder_options {
    const char *directory;
    int64_t interval_ns;
    int64_t duration_ns; /* 0: until the command ends or a signal comes */
    int64_t grace_ns;    /* between SIGTERM and SIGKILL, if Pitot ends the command */
    struct pt_export_formats formats;
    bool is_enabled[PT_SAMPLER_COLLECTORS];
    bool may_add_processes; /* those of --pid or --container: the user did not choose collectors */
    double max_overhead;    /* share of one CPU; 0 = no governor */
    struct pt_fs fs;
    pid_t pids[PT_TARGET_PIDS]; /* --pid */
    int pid_count;
    struct pt_engine_options engines;
    const char *container; /* --container, or NULL */
    int64_t cpu_hz;        /* --cpu: sampling rate of the CPU profile; 0 = none */
    enum pt_cpu_method cpu_method;
    bool wants_heap;          /* --heap: profile the command's memory */
    uint64_t heap_mean_bytes; /* 0: every allocation */
    bool heap_counts_mmap, heap_wants_python;
    const struct pt_gpu_tool *gpu_tool; /* runs the command; or NULL */
    const char *gpu_tool_path;
    size_t gpu_rows;           /* rows per table in its summary */
    const char *alerts;        /* file of alert rules; NULL: the defaults */
    const char *alert_command; /* shell command for alerts that fire or clear; or NULL */
    struct pt_blackbox_options blackbox;
    const char *const *tags; /* "key=value" */
    size_t tag_count;
    char *const *command;          /* argv, NULL-terminated; or NULL */
    char *const *own_argv;         /* Pitot's own command line */
    struct pt_energy_basis energy; /* assumptions of the user */
    struct pt_push_options push;   /* receivers of samples */
    bool is_quiet;
    bool wants_report; /* write the HTML report at the end */
};

/* Records, exports and prints the summary. Returns the exit code of the process. */
int pt_recorder_run(const struct pt_recorder_options *options);

#endif
