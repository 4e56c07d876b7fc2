/* profile/sample/perf_record.h -- parses records of perf events, as the kernel writes them into a
 * ring.
 *
 * All events of Pitot request the same fields (PT_PERF_SAMPLE_TYPE), so there is one layout. */
#ifndef PT_PROFILE_SAMPLE_PERF_RECORD_H
#define PT_PROFILE_SAMPLE_PERF_RECORD_H

#include "base/attr.h"
#include "base/str.h"

#include <linux/perf_event.h>
#include <stdint.h>

#define PT_PERF_SAMPLE_TYPE                                                                       \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | \
     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

#define PT_PERF_RECORD_MAX   65536 /* the size field has 16 bits */
#define PT_PERF_BUILD_ID_MAX 20
#define PT_PERF_KERNEL_MAX   128 /* frames */

/* Pitot's own record after a sample: the Python frames at that time
 * (profile/sample/python_process.h). */
#define PT_PERF_RECORD_PYTHON 0x80000000u

enum pt_perf_kind {
    PT_PERF_SAMPLE,
    PT_PERF_MMAP,
    PT_PERF_COMM,
    PT_PERF_FORK,
    PT_PERF_EXIT,
    PT_PERF_LOST,
    PT_PERF_SWITCH,
    PT_PERF_PYTHON,
    PT_PERF_OTHER,
};

struct pt_perf_sample {
    uint64_t ip, period;
    uint64_t missed;                     /* preceding periods without a sample of their own */
    uint64_t kernel[PT_PERF_KERNEL_MAX]; /* leaf first */
    size_t kernel_count;
    bool is_rest; /* not a sample, but the CPU time its thread has used since the previous one */
    bool has_registers;
    uint64_t registers[64]; /* in the order of the requested mask, lowest bit first */
    const uint8_t *stack;   /* from the stack pointer up; borrowed */
    size_t stack_size;
};

struct pt_perf_mmap {
    uint64_t start, length, file_offset;
    bool is_executable;
    struct pt_str path; /* borrowed */
    uint8_t build_id[PT_PERF_BUILD_ID_MAX];
    size_t build_id_size; /* 0: not reported */
};

struct pt_perf_record {
    enum pt_perf_kind kind;
    int32_t pid, tid;
    int64_t time_ns;
    uint32_t cpu;
    bool is_certain; /* for Python without native frames: read twice with the same result */
    union {
        struct pt_perf_sample sample;
        struct pt_perf_mmap mmap;
        struct {
            struct pt_str name; /* borrowed */
            bool is_exec;
        } comm;
        int32_t parent_pid; /* for a fork; equal to pid: a new thread */
        uint64_t lost_count;
        struct {
            bool is_out, is_preempted;
        } change;
        struct pt_str python;
    };
};

/* `record` is one complete record with its header, aligned to 8. False: malformed.
 */
bool pt_perf_record_parse(const uint8_t *record, size_t size, unsigned register_count,
                          struct pt_perf_record *into);

/* Only the time; 0 if there is none. */
int64_t pt_perf_record_time(const uint8_t *record, size_t size);

#endif
