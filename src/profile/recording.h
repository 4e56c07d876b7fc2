/* profile/recording.h -- what is being sampled: processes, what they have mapped, their threads;
 * turns records of perf events into samples of a profile without names. One thread. */
#ifndef PT_PROFILE_RECORDING_H
#define PT_PROFILE_RECORDING_H

#include "profile/perf_record.h"
#include "profile/python.h"
#include "profile/space.h"

#define PT_RECORDING_SPACES_MAX  4096
#define PT_RECORDING_THREADS_MAX 65536
#define PT_RECORDING_DEPTH_MAX   512
#define PT_RECORDING_FRAMES_MAX  (PT_RECORDING_DEPTH_MAX + PT_PERF_KERNEL_MAX + 1)

/* A thread, and in a profile of waiting what it left the CPU in. */
struct pt_recording_thread {
    int32_t pid, tid;
    uint32_t name;   /* string of the profile */
    uint32_t thread; /* of the profile, or NONE until it has a sample */
    int64_t out_ns;  /* since when it waits; 0 = it does not */
    uint32_t out_stack;
    uint32_t out_gil;
};

/* A place in Python's code, and its frames in the profile: known for certain, and not. */
struct pt_recording_python {
    uint32_t code, instruction;
    uint32_t frames[2];
};

struct pt_recording {
    struct pt_profile profile;
    struct pt_images images;
    struct pt_pythons *pythons; /* borrowed; NULL: no frames of Python */
    bool is_off_cpu;
    int64_t period_ns;
    struct pt_space *spaces;
    size_t space_count, space_capacity;
    struct pt_recording_thread *threads;
    size_t thread_count, thread_capacity;
    struct pt_intern space_index, thread_index;
    uint32_t kernel_module, truncated_frame, lost_frame;
    struct pt_recording_python *places; /* of Python */
    size_t place_count, place_capacity;
    struct pt_intern place_index;
    /* Of the sample that is being unwound; leaf first. */
    uint32_t frames[PT_RECORDING_FRAMES_MAX];
    bool is_eval[PT_RECORDING_FRAMES_MAX];
    size_t frame_count;
    uint32_t gil; /* PT_GIL_* */
};

/* Borrows `fs` and `pythons`. */
void pt_recording_init(struct pt_recording *r, const struct pt_fs *fs, struct pt_pythons *pythons,
                       bool is_off_cpu, int64_t period_ns);
void pt_recording_release(struct pt_recording *r);

/* A process that already runs: what it has mapped, and its threads' names. */
void pt_recording_add_process(struct pt_recording *r, int32_t pid);

/* `next` is the record behind it if that has frames of Python, else NULL. */
void pt_recording_take(struct pt_recording *r, const struct pt_perf_record *record,
                       const struct pt_perf_record *next);

/* A stack that was walked elsewhere: addresses inside of each call, leaf first, then a marker if it
 * is not whole (or NONE), and the entries of Python that belong to it. Its number. */
uint32_t pt_recording_stack(struct pt_recording *r, int32_t pid, const uint64_t *addresses,
                            size_t count, uint32_t marker, struct pt_str python);

/* Nothing more comes: what still waits has waited until `now_ns`. */
void pt_recording_end(struct pt_recording *r, int64_t now_ns);

#endif
