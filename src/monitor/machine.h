/* monitor/machine.h -- CPU and memory of the machine, and memory of this process, from inside it.
 *
 * Reads into buffers on the stack: allocates nothing, leaves errno alone. */
#ifndef PT_MONITOR_MACHINE_H
#define PT_MONITOR_MACHINE_H

#include "base/attr.h"
#include "base/scan.h"

/* Ticks of all CPUs since the machine started. */
struct pt_machine_cpu {
    int64_t busy, total;
};

struct pt_machine_memory {
    int64_t total_bytes;
    int64_t used_bytes;      /* total - free - buffers - cached - reclaimable, as psutil's `used` */
    int64_t available_bytes; /* what new work can take without swapping */
};

/* The first line of /proc/stat, and /proc/meminfo. 0 or -EINVAL. */
int pt_machine_parse_cpu(struct pt_scan text, struct pt_machine_cpu *cpu) PT_MUST_CHECK;
int pt_machine_parse_memory(struct pt_scan text, struct pt_machine_memory *memory) PT_MUST_CHECK;

/* 0 or -errno. */
int pt_machine_read_cpu(struct pt_machine_cpu *cpu) PT_MUST_CHECK;
int pt_machine_read_memory(struct pt_machine_memory *memory) PT_MUST_CHECK;
/* Percent between two readings; NAN if no time has passed. */
double pt_machine_cpu_percent(const struct pt_machine_cpu *from, const struct pt_machine_cpu *to);

/* Resident memory of this process, now and at most; NAN: not known. */
double pt_machine_own_bytes(void);
double pt_machine_own_peak_bytes(void);

#endif
