/* inside/preload/cpu_layout.h -- what libpitot-cpu.so and the recorder share besides the records of
 * each process (inside/preload/record_layout.h, kind PT_PRELOAD_CPU): one page that all processes
 * of a command map. They wake the recorder through it, and the recorder ends the sampling. */
#ifndef PT_INSIDE_PRELOAD_CPU_LAYOUT_H
#define PT_INSIDE_PRELOAD_CPU_LAYOUT_H

#include <stdint.h>

#define PT_CPU_DIRECTORY   "PITOT_CPU_FILES"  /* where the files go; without it: off */
#define PT_CPU_PERIOD      "PITOT_CPU_PERIOD" /* nanoseconds of CPU time between samples */
#define PT_CPU_STACK       "PITOT_CPU_STACK"  /* bytes of stack that go with a sample, at most */
#define PT_CPU_FILE_ENDING ".cpu"
#define PT_CPU_BELL        "bell" /* name of the page in the directory */

struct pt_cpu_bell {
    uint32_t rings; /* one more with each sample; a futex */
    uint32_t files; /* that were made so far */
    /* Written by the recorder. */
    uint32_t is_awaited; /* wake it with each sample */
    uint32_t is_over;    /* no more samples are wanted */
    /* Counted by the processes. */
    uint32_t loaded;    /* programs that have the library in them */
    uint32_t taken;     /* that took our signal for themselves: not sampled from then on */
    uint32_t untimed;   /* threads that got no timer */
    uint32_t unwritten; /* samples of processes that could not make a file */
    uint8_t reserved[4096 - 32];
};
_Static_assert(sizeof(struct pt_cpu_bell) == 4096, "ABI");

#endif
