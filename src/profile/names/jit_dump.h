/* profile/names/jit_dump.h -- names of generated code over time, from the jit-PID.dump of a JIT
 * (perf's "jitdump"): a header and records, each with a time of CLOCK_MONOTONIC.
 *
 *     header: "DTiJ", version 1, size, machine, 0, pid (u32 each), time, flags (u64)
 *     record: id, size (u32), time (u64), then
 *       0 load: pid, tid (u32), vma, address, size, index (u64), name\0, code
 *       1 move: pid, tid (u32), vma, old address, new address, size, index (u64)
 *
 * A JIT that writes a dump maps its first page as executable, so that perf events report it. */
#ifndef PT_PROFILE_NAMES_JIT_DUMP_H
#define PT_PROFILE_NAMES_JIT_DUMP_H

#include "base/attr.h"
#include "base/str.h"

#include <stdint.h>

/* Code that exists from that time on. */
struct pt_jit_load {
    int64_t time_ns;
    uint64_t start, size;
    struct pt_str name; /* borrowed from the bytes */
    size_t number;      /* position in the file */
};

struct pt_jit_dump {
    struct pt_jit_load *loads; /* sorted by time */
    size_t count, capacity;
};

/* Parses the complete records in the bytes, which are borrowed: the JIT may still be writing.
 * -EBADMSG: not a supported dump (another byte order, or times of another clock). */
int pt_jit_dump_parse(struct pt_jit_dump *d, struct pt_str bytes) PT_MUST_CHECK;
void pt_jit_dump_release(struct pt_jit_dump *d);

/* jit-4242.dump, in any directory */
bool pt_jit_dump_is_path(struct pt_str path);

#endif
