/* profile/model/profile.h -- a profile of CPU time or memory, from any source: samples, each with
 * its call stack. Samplers fill it, writers read it.
 *
 *     sample -> stack -> frame -> function -> module
 *                 +-> parent stack, up to the root
 *
 * Everything is a number in an array that only grows; PT_PROFILE_NONE means none. Equal entries
 * have equal numbers: samples share stacks, and the stacks already form the call tree. The structs
 * contain no pointers and no padding. {0} is an empty profile. */
#ifndef PT_PROFILE_MODEL_PROFILE_H
#define PT_PROFILE_MODEL_PROFILE_H

#include "base/buf.h"
#include "base/intern.h"

#define PT_PROFILE_NONE        UINT32_MAX
#define PT_PROFILE_VALUES_MAX  8
#define PT_PROFILE_SAMPLES_MAX (4u << 20) /* further samples are counted, not kept */

/* The kind of code of a function; decides colours and views. */
enum pt_profile_kind {
    PT_KIND_UNKNOWN,
    PT_KIND_NATIVE,
    PT_KIND_KERNEL,
    PT_KIND_PYTHON,
    PT_KIND_JIT,    /* named by /tmp/perf-PID.map */
    PT_KIND_MARKER, /* not code: "[truncated]", "[no symbols]" */
    PT_KIND_COUNT
};

/* What a thread did when the sample was taken. */
enum pt_profile_state {
    PT_STATE_ON_CPU,
    PT_STATE_GPU,        /* waits for a GPU: cudaStreamSynchronize */
    PT_STATE_COLLECTIVE, /* waits for other ranks: ncclAllReduce */
    PT_STATE_LOCK,
    PT_STATE_IO,
    PT_STATE_NETWORK,
    PT_STATE_IDLE, /* sleeps, or waits for work */
    PT_STATE_GIL,  /* waits for the lock of a Python interpreter */
    PT_STATE_COUNT
};

/* What is known about the lock of the Python interpreter that a thread was in. */
enum {
    PT_GIL_KNOWN = 1,  /* without it the other flags mean nothing */
    PT_GIL_HELD = 2,   /* by this thread */
    PT_GIL_WANTED = 4, /* some thread waits for it */
    PT_GIL_CONTENDED = PT_GIL_KNOWN | PT_GIL_HELD | PT_GIL_WANTED,
};

/* The unit of a column of values. */
enum pt_profile_unit { PT_PROFILE_SAMPLES, PT_PROFILE_NANOSECONDS, PT_PROFILE_BYTES };

struct pt_profile_module {
    uint32_t path;     /* string: /usr/lib/libc.so.6, [vdso], [kernel] */
    uint32_t build_id; /* string: lower-case hex, or empty */
};

struct pt_profile_function {
    uint32_t name;   /* string, demangled */
    uint32_t module; /* or NONE: Python */
    uint32_t file;   /* string, or empty */
    uint32_t line;   /* first line; 0 = unknown */
    uint32_t kind;   /* enum pt_profile_kind */
};

enum {
    PT_FRAME_INLINED = 1,     /* inlined into its parent frame */
    PT_FRAME_APPROXIMATE = 2, /* of Python: read a moment after the sample */
};

/* A place in a function. Before symbols are looked up, it has only a module and an address; without
 * a symbol it stays like that. */
struct pt_profile_frame {
    uint32_t function; /* or NONE */
    uint32_t module;   /* or NONE */
    uint32_t line;     /* 0 = unknown */
    uint32_t flags;
    /* as in the module's ELF file (symbols, addr2line); for the kernel and JIT code: in memory; for
     * Python: 0 */
    uint64_t address;
};

/* A path from the root: the caller's stack plus one frame. A parent has the smaller number, so one
 * pass over the array in descending order adds children to parents. */
struct pt_profile_stack {
    uint32_t parent; /* or NONE: this frame is the root */
    uint32_t frame;
};

struct pt_profile_thread {
    int32_t pid, tid;
    uint32_t name;    /* string */
    uint32_t process; /* string: name of the main thread */
};

struct pt_profile_sample {
    int64_t time_ns; /* CLOCK_MONOTONIC, like the rows of a run */
    uint32_t thread; /* or NONE */
    uint32_t stack;  /* or NONE: nothing could be read */
    uint16_t cpu;    /* UINT16_MAX = unknown */
    uint16_t state;  /* enum pt_profile_state */
    uint32_t gil;    /* PT_GIL_*; 0: not in Python, or unknown */
};

/* A column: each sample has one value of each type. The first type is shown by default. */
struct pt_profile_value_type {
    const char *name;          /* "cpu", "live", "allocated": static */
    enum pt_profile_unit unit; /* values are integers in this unit */
};

/* For a heap profile, in which a sample is everything that was allocated from one stack. */
struct pt_profile_heap_meta {
    int64_t taken, thinned;             /* allocations sampled; of these, at a reduced rate */
    int64_t processes, unknown_pythons; /* and those with a Python that could not be read */
    int64_t allocated_error, peak_error, live_error; /* standard errors, in bytes */
    int64_t peak_bytes, peak_ns;                     /* the highest sum of live bytes, and when */
    int64_t lost_frees, untracked, lost_stacks;
};

/* How far the samples can be trusted. Counts that were not measured are -1. */
struct pt_profile_meta {
    const char *title;        /* "cpu", "off-cpu", "heap": static */
    char method[160];         /* "perf: cpu-clock, user and kernel, 32 KiB stacks" */
    char command[1024];       /* the command line, or "pid 4242" */
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t start_wall_ns;    /* Unix time of start_ns */
    int64_t rate_hz;          /* requested; 0 = not sampled by time */
    int64_t period_ns;        /* of one sample; 0 = not sampled by time */
    int64_t lost;             /* samples the kernel or a full queue dropped */
    /* stacks that reached the root; that the stack copy was too short for */
    int64_t rooted, truncated;
    int64_t unwound; /* all user stacks that were unwound */
    /* samples inside Python; of these, merged with certainty */
    int64_t python_wanted, python_matched;
    int64_t gil_known, gil_held; /* of these, with known GIL state; with the GIL held */
    int64_t gil_contended;       /* held while other threads waited for it */
    int64_t dropped;             /* beyond PT_PROFILE_SAMPLES_MAX */
    int64_t own_cpu_ns;          /* CPU time used for sampling, without symbols */
    /* CPU time counted by the kernel in the same period; -1 = not sampled by time */
    int64_t counted_ns;
    int64_t unnamed; /* 1: saved during sampling; frames have only addresses */
    struct pt_profile_heap_meta heap;
};

/* A value over time; for memory, the live bytes at the end of each step. */
#define PT_PROFILE_STEPS_MAX 256
struct pt_profile_timeline {
    int64_t start_ns, step_ns; /* CLOCK_MONOTONIC */
    int64_t values[PT_PROFILE_STEPS_MAX];
    size_t count;
};

/* A stack with live memory that grew from the beginning to the end. */
struct pt_profile_growth {
    uint32_t stack, reserved;
    int64_t slope, slope_error; /* in the unit of the first column, per second */
    int64_t bytes, count;       /* live near the end */
};

#define PT_PROFILE_ARRAY(type)  \
    struct {                    \
        type *at;               \
        size_t count, capacity; \
        struct pt_intern index; \
    }

struct pt_profile_text {
    uint32_t offset, len;
};

struct pt_profile {
    struct pt_profile_meta meta;
    struct pt_profile_value_type types[PT_PROFILE_VALUES_MAX];
    size_t type_count;
    struct pt_buf bytes; /* of the strings, one after another */
    PT_PROFILE_ARRAY(struct pt_profile_text) strings;
    PT_PROFILE_ARRAY(struct pt_profile_module) modules;
    PT_PROFILE_ARRAY(struct pt_profile_function) functions;
    PT_PROFILE_ARRAY(struct pt_profile_frame) frames;
    PT_PROFILE_ARRAY(struct pt_profile_stack) stacks;
    PT_PROFILE_ARRAY(struct pt_profile_thread) threads;
    PT_PROFILE_ARRAY(struct pt_profile_sample) samples; /* roughly in the order of time */
    PT_PROFILE_ARRAY(int64_t) values;                   /* type_count per sample */
    struct pt_profile_timeline timeline;                /* may have no steps */
    PT_PROFILE_ARRAY(struct pt_profile_growth) growth;  /* fastest first */
};

void pt_profile_init(struct pt_profile *p, const struct pt_profile_value_type *types, size_t count);
void pt_profile_release(struct pt_profile *p);

/* Each returns the number of an entry, which is added if it is new. */
uint32_t pt_profile_string(struct pt_profile *p, struct pt_str text);
uint32_t pt_profile_module(struct pt_profile *p, struct pt_profile_module module);
uint32_t pt_profile_function(struct pt_profile *p, struct pt_profile_function function);
uint32_t pt_profile_frame(struct pt_profile *p, struct pt_profile_frame frame);
/* A frame that is not code: "[stack cut short]". */
uint32_t pt_profile_marker(struct pt_profile *p, struct pt_str name);
/* `parent` may be NONE. */
uint32_t pt_profile_stack(struct pt_profile *p, uint32_t parent, uint32_t frame);
/* A thread that changes its name is another thread. */
uint32_t pt_profile_thread(struct pt_profile *p, struct pt_profile_thread thread);
/* `values` has type_count elements. False: PT_PROFILE_SAMPLES_MAX is reached; the sample was only
 * counted. */
bool pt_profile_sample(struct pt_profile *p, const struct pt_profile_sample *sample,
                       const int64_t *values);

/* Sets the command line: its words separated by blanks, as many as fit. */
void pt_profile_set_command(struct pt_profile_meta *meta, char *const *command);

void pt_profile_growth(struct pt_profile *p, const struct pt_profile_growth *growth);

/* The text of a string; valid until the next string is added. */
static inline struct pt_str pt_profile_text(const struct pt_profile *p, uint32_t string) {
    struct pt_profile_text t = p->strings.at[string];
    if (t.len == 0)
        return PT_STR(""); /* there may be no bytes yet */
    return (struct pt_str){ (const char *)p->bytes.at + t.offset, t.len };
}

static inline int64_t pt_profile_value(const struct pt_profile *p, size_t sample, size_t type) {
    return p->values.at[sample * p->type_count + type];
}

enum pt_profile_kind pt_profile_frame_kind(const struct pt_profile *p, uint32_t frame);

/* The name of a file without its directories. */
struct pt_str pt_profile_base_name(struct pt_str path);

/* The name of a frame: its function, else "libc.so.6+0x1f2a0", else "0x7f01"; never empty. Writes
 * into `buffer` only if there is no function. */
#define PT_PROFILE_NAME_BYTES 320
struct pt_str pt_profile_frame_name(const struct pt_profile *p, uint32_t frame,
                                    char buffer[PT_PROFILE_NAME_BYTES]);

/* "libc.so.6+0x1f2a0"; `module` may be NONE. Writes into `buffer`. */
struct pt_str pt_profile_address_name(const struct pt_profile *p, uint32_t module, uint64_t address,
                                      char buffer[PT_PROFILE_NAME_BYTES]);

/* "native", "kernel", ...; "on-cpu", "gpu", ...; "samples", "nanoseconds", "bytes". */
const char *pt_profile_kind_name(enum pt_profile_kind kind);
const char *pt_profile_state_name(enum pt_profile_state state);
const char *pt_profile_unit_name(enum pt_profile_unit unit);

#endif
