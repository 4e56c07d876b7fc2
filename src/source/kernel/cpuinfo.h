/* source/kernel/cpuinfo.h -- the processor, as /proc/cpuinfo describes it. */
#ifndef PT_SOURCE_KERNEL_CPUINFO_H
#define PT_SOURCE_KERNEL_CPUINFO_H

#include "base/scan.h"

/* What is unknown is 0 or empty: no machine has 0 processors. */
struct pt_cpuinfo {
    int processor_count, socket_count, core_count;
    char vendor[32];
    char type[128]; /* "AMD EPYC 7763 64-Core Processor", "Neoverse-N1" */
    uint64_t flags; /* bit i: pt_cpu_flags[i] */
    bool is_x86;
    bool is_guest; /* runs below a hypervisor; known on x86 only */
};

/* The instruction sets that decide how fast inference runs, as the kernel spells them. */
extern const char *const pt_cpu_flags[];
extern const int pt_cpu_flag_count;

void pt_cpuinfo_parse(struct pt_scan text, struct pt_cpuinfo *into);

#endif
