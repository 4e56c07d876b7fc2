/* profile/names/jit_dump.h -- names of generated code over time, from the jit-PID.dump of a JIT
 * (the "jitdump" of perf): a header and records, each with a time of CLOCK_MONOTONIC.
 *
 *     header: "DTiJ", version 1, size, machine, 0, pid (u32 each), time, flags (u64)
 *     record: id, size (u32), time (u64), then
 *       0 load: pid, tid (u32), vma, address, size, index (u64), name\0, code
 *       1 move: pid, tid (u32), vma, old address, new address, size, index (u64)
 *
 * A JIT that writes one maps its first page as executable, so that perf events tell of it. */
#ifndef PT_PROFILE_NAMES_JIT_DUMP_H
#define PT_PROFILE_NAMES_JIT_DUMP_H

#include "base/attr.h"
#include "base/str.h"

#include <stdint.h>

/* From then on there is this code. */
struct pt_jit_load {
    int64_t time_ns;
    uint64_t start, size;
    struct pt_str name; /* borrowed from the bytes */
    size_t number;      /* in the file */
};

struct pt_jit_dump {
    struct pt_jit_load *loads; /* by time */
    size_t count, capacity;
};

/* What is whole in the bytes, which are borrowed: the JIT may still be writing. -EBADMSG: they are
 * no dump that can be read (of another byte order, or with times of another clock). */
int pt_jit_dump_parse(struct pt_jit_dump *d, struct pt_str bytes) PT_MUST_CHECK;
void pt_jit_dump_release(struct pt_jit_dump *d);

/* jit-4242.dump, in any directory */
bool pt_jit_dump_is_path(struct pt_str path);

#endif
