/* libpitot/machine_load.h -- only the CPU and memory of the machine.
 *
 * Reads into buffers on the stack: allocates nothing, keeps errno. */
#ifndef PT_LIBPITOT_MACHINE_LOAD_H
#define PT_LIBPITOT_MACHINE_LOAD_H

#include "libpitot/machine_usage.h"

struct pt_machine_memory {
    int64_t total_bytes;
    int64_t used_bytes;      /* total - free - buffers - cached - reclaimable, as psutil's `used` */
    int64_t available_bytes; /* available to new work without swapping */
};

/* Text of /proc/meminfo. 0 or -EINVAL. */
int pt_machine_parse_memory(struct pt_scan text, struct pt_machine_memory *memory) PT_MUST_CHECK;

/* 0 or -errno. Of the usage only the ticks are set, NAN if unknown. */
int pt_machine_read_memory(struct pt_machine_memory *memory) PT_MUST_CHECK;
void pt_machine_read_ticks(struct pt_machine_usage *usage);

#endif
