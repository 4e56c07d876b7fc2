/* profile/sample/recording.h -- the sampled processes, their mappings and threads; converts records
 * of perf events to samples of a profile without symbols. One thread. */
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

/* A thread and the stack of its last sample; in an off-CPU profile, the stack in which it left the
 * CPU. */
struct pt_recording_thread {
    int32_t pid, tid;
    uint32_t name;       /* string in the profile */
    uint32_t thread;     /* in the profile; NONE until it has a sample */
    int64_t out_ns;      /* start of its wait; 0 = not waiting */
    uint32_t last_stack; /* valid if `has_last` */
    bool has_last;
    uint32_t last_gil;
};

/* How to get from an address to its caller, as found before. */
struct pt_recording_step {
    uint64_t pc;
    int32_t pid;
    uint32_t version; /* of the mappings */
    uint32_t frame;   /* in the profile */
    bool is_python_eval;
    bool is_generated; /* code without a file */
    bool is_read;      /* and was searched for a rule */
    struct pt_unwind_rule rule;
};

/* A stack of the profile and its frame. */
struct pt_recording_path {
    uint32_t frame, stack;
};

/* An instruction of Python code and its frames in the profile: certain and approximate. */
struct pt_recording_python {
    uint32_t code, instruction;
    uint32_t frames[2];
};

/* The file in which the JIT of a process lists its code. */
struct pt_recording_dump {
    int32_t pid;
    char *path;
};

struct pt_recording {
    struct pt_profile profile;
    struct pt_images images;
    struct pt_kernel_names kernel_names;
    size_t prepared_count;      /* frames with symbols already loaded */
    struct pt_pythons *pythons; /* borrowed; NULL: no Python frames */
    bool is_off_cpu;
    int64_t period_ns;
    struct pt_space *spaces;
    size_t space_count, space_capacity;
    size_t ended_count; /* spaces of processes that have ended */
    struct pt_recording_thread *threads;
    size_t thread_count, thread_capacity;
    struct pt_intern space_index, thread_index;
    struct pt_recording_dump *dumps;
    size_t dump_count, dump_capacity;
    uint32_t kernel_module, truncated_frame, lost_frame, unseen_frame;
    uint32_t bare_frame;                /* frame for samples without frames, or NONE */
    struct pt_recording_python *places; /* in Python code */
    size_t place_count, place_capacity;
    struct pt_intern place_index;
    struct pt_recording_step *steps; /* a cache indexed by a hash of the address */
    uint32_t version;                /* changes with every mapping of any process */
    /* The current sample, leaf first. */
    uint32_t frames[PT_RECORDING_FRAMES_MAX];
    bool is_eval[PT_RECORDING_FRAMES_MAX];
    size_t frame_count;
    uint32_t gil;                /* PT_GIL_* */
    bool is_hurried, needs_file; /* no file may be read; but one would have to be */
    /* The previous sample, root first. */
    struct pt_recording_path path[PT_RECORDING_FRAMES_MAX];
    size_t path_count;
};

/* Borrows `fs` and `pythons`. */
void pt_recording_init(struct pt_recording *r, const struct pt_fs *fs, struct pt_pythons *pythons,
                       bool is_off_cpu, int64_t period_ns);
void pt_recording_release(struct pt_recording *r);

/* Adds a running process: its mappings and the names of its threads. False: it no longer runs. */
bool pt_recording_add_process(struct pt_recording *r, int32_t pid);
/* Adds only the names of its threads. */
void pt_recording_add_names(struct pt_recording *r, int32_t pid);
/* Adds its mappings, from lines of /proc/PID/maps. */
void pt_recording_add_maps(struct pt_recording *r, int32_t pid, struct pt_scan lines);

/* `next` is the following record if it has Python frames, else NULL. */
void pt_recording_take(struct pt_recording *r, const struct pt_perf_record *record,
                       const struct pt_perf_record *next);

/* The mappings of a process, or NULL: unknown. Valid until the next record. */
struct pt_space *pt_recording_space(struct pt_recording *r, int32_t pid);

/* The path of the process's JIT dump (profile/names/jit_dump.h), or NULL. */
const char *pt_recording_jit_dump(const struct pt_recording *r, int32_t pid);

/* Takes a sample without Python if all its addresses are known, so that no file must be read.
 * False: nothing was done; use pt_recording_take(). */
bool pt_recording_take_known(struct pt_recording *r, const struct pt_perf_record *record);

/* Returns the number of a stack that was unwound elsewhere: addresses inside each call instruction,
 * leaf first, then a marker if it is incomplete (or NONE), and its Python entries. */
uint32_t pt_recording_stack(struct pt_recording *r, int32_t pid, const uint64_t *addresses,
                            size_t count, uint32_t marker, struct pt_str python);

/* No more records follow: threads that still wait have waited until `now_ns`. */
void pt_recording_end(struct pt_recording *r, int64_t now_ns);

/* After that: resolves symbols and what threads waited for. `command` is an argv, or NULL for a
 * profile of the processes `pids`. */
void pt_recording_finish(struct pt_recording *r, char *const *command, const pid_t *pids,
                         size_t count);

/* Marks threads that wait for the lock of a Python interpreter: "[GIL wait]" replaces the frames of
 * the C library and the kernel. For an off-CPU profile, after symbols are resolved and samples
 * classified. */
void pt_gil_wait_mark(struct pt_profile *p);

#endif
