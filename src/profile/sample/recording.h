/* profile/sample/recording.h -- what is being sampled: processes, what they have mapped, their
 * threads; turns records of perf events into samples of a profile without names. One thread. */
#ifndef PT_PROFILE_SAMPLE_RECORDING_H
#define PT_PROFILE_SAMPLE_RECORDING_H

#include "profile/names/kernel_names.h"
#include "profile/sample/perf_record.h"
#include "profile/sample/python_process.h"
#include "profile/unwind/space.h"

#include <sys/types.h>

#define PT_RECORDING_SPACES_MAX  4096
#define PT_RECORDING_THREADS_MAX 65536
#define PT_RECORDING_DEPTH_MAX   512
#define PT_RECORDING_FRAMES_MAX  (PT_RECORDING_DEPTH_MAX + PT_PERF_KERNEL_MAX + 1)

/* A thread, and the stack of its last sample: in a profile of waiting what it left the CPU in. */
struct pt_recording_thread {
    int32_t pid, tid;
    uint32_t name;       /* string of the profile */
    uint32_t thread;     /* of the profile, or NONE until it has a sample */
    int64_t out_ns;      /* since when it waits; 0 = it does not */
    uint32_t last_stack; /* number, and whether there is one */
    bool has_last;
    uint32_t last_gil;
};

/* The way from a place in memory to its caller, as found before. */
struct pt_recording_step {
    uint64_t pc;
    int32_t pid;
    uint32_t version; /* of what is mapped */
    uint32_t frame;   /* of the profile */
    bool is_python_eval;
    bool is_generated; /* code of no file */
    bool is_read;      /* and whether it has a rule is known */
    struct pt_unwind_rule rule;
};

/* A stack of the profile and its frame. */
struct pt_recording_path {
    uint32_t frame, stack;
};

/* A place in Python's code, and its frames in the profile: known for certain, and not. */
struct pt_recording_python {
    uint32_t code, instruction;
    uint32_t frames[2];
};

/* The file in which the JIT of a process says what it made. */
struct pt_recording_dump {
    int32_t pid;
    char *path;
};

struct pt_recording {
    struct pt_profile profile;
    struct pt_images images;
    struct pt_kernel_names kernel_names;
    size_t prepared_count;      /* frames whose names will be found fast */
    struct pt_pythons *pythons; /* borrowed; NULL: no frames of Python */
    bool is_off_cpu;
    int64_t period_ns;
    struct pt_space *spaces;
    size_t space_count, space_capacity;
    struct pt_recording_thread *threads;
    size_t thread_count, thread_capacity;
    struct pt_intern space_index, thread_index;
    struct pt_recording_dump *dumps;
    size_t dump_count, dump_capacity;
    uint32_t kernel_module, truncated_frame, lost_frame, unseen_frame;
    uint32_t bare_frame;                /* what stands for a sample without frames, or NONE */
    struct pt_recording_python *places; /* of Python */
    size_t place_count, place_capacity;
    struct pt_intern place_index;
    struct pt_recording_step *steps; /* by a hash of the address, one for each */
    uint32_t version;                /* changes with whatever is mapped anywhere */
    /* Of the sample that is being unwound; leaf first. */
    uint32_t frames[PT_RECORDING_FRAMES_MAX];
    bool is_eval[PT_RECORDING_FRAMES_MAX];
    size_t frame_count;
    uint32_t gil;                /* PT_GIL_* */
    bool is_hurried, needs_file; /* no file may be read; but one has to be */
    /* Of the sample before, root first. */
    struct pt_recording_path path[PT_RECORDING_FRAMES_MAX];
    size_t path_count;
};

/* Borrows `fs` and `pythons`. */
void pt_recording_init(struct pt_recording *r, const struct pt_fs *fs, struct pt_pythons *pythons,
                       bool is_off_cpu, int64_t period_ns);
void pt_recording_release(struct pt_recording *r);

/* A process that already runs: what it has mapped, and its threads' names. False: it does not run
 * any more. */
bool pt_recording_add_process(struct pt_recording *r, int32_t pid);
/* Its threads' names alone. */
void pt_recording_add_names(struct pt_recording *r, int32_t pid);
/* What it has mapped, as lines of /proc/PID/maps. */
void pt_recording_add_maps(struct pt_recording *r, int32_t pid, struct pt_scan lines);

/* `next` is the record behind it if that has frames of Python, else NULL. */
void pt_recording_take(struct pt_recording *r, const struct pt_perf_record *record,
                       const struct pt_perf_record *next);

/* Where the JIT of that process wrote its dump (profile/names/jit_dump.h), or NULL. */
const char *pt_recording_jit_dump(const struct pt_recording *r, int32_t pid);

/* A sample without Python whose places are all known, so that no file has to be read. False:
 * nothing was done; pt_recording_take() does it. */
bool pt_recording_take_known(struct pt_recording *r, const struct pt_perf_record *record);

/* A stack that was walked elsewhere: addresses inside of each call, leaf first, then a marker if it
 * is not whole (or NONE), and the entries of Python that belong to it. Its number. */
uint32_t pt_recording_stack(struct pt_recording *r, int32_t pid, const uint64_t *addresses,
                            size_t count, uint32_t marker, struct pt_str python);

/* Nothing more comes: what still waits has waited until `now_ns`. */
void pt_recording_end(struct pt_recording *r, int64_t now_ns);

/* After that: looks up the names, and what threads waited for. `command` is its argv, or NULL; then
 * it is a profile of the processes `pids`. */
void pt_recording_finish(struct pt_recording *r, char *const *command, const pid_t *pids,
                         size_t count);

#endif
