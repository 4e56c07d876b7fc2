/* inside/preload/cpu_layout.h -- what libpitot-cpu.so and the recorder share besides the records of
 * each process (inside/preload/record_layout.h, kind PT_PRELOAD_CPU): one page that all processes
 * of a command map. Through it they wake the recorder, and the recorder ends sampling. */
#ifndef PT_INSIDE_PRELOAD_CPU_LAYOUT_H
#define PT_INSIDE_PRELOAD_CPU_LAYOUT_H

#include <stdint.h>

#define PT_CPU_DIRECTORY   "PITOT_CPU_FILES"  /* directory of the files; unset: off */
#define PT_CPU_PERIOD      "PITOT_CPU_PERIOD" /* nanoseconds of CPU time between samples */
#define PT_CPU_STACK       "PITOT_CPU_STACK"  /* maximum bytes of stack per sample */
#define PT_CPU_FILE_SUFFIX ".cpu"
#define PT_CPU_BELL        "bell" /* name of the page in the directory */

struct pt_cpu_bell {
    uint32_t rings; /* incremented by each sample; a futex */
    uint32_t files; /* created so far */
    /* Written by the recorder. */
    uint32_t is_awaited; /* wake the recorder at each sample */
    uint32_t is_over;    /* sampling has ended */
    /* Counted by the processes. */
    uint32_t loaded;    /* programs that have loaded the library */
    uint32_t taken;     /* programs that use our signal themselves: not sampled afterwards */
    uint32_t untimed;   /* threads without a timer */
    uint32_t unwritten; /* samples of processes that could not create a file */
    uint32_t sandboxed; /* programs that have entered a seccomp sandbox: not sampled afterwards */
    uint8_t reserved[4096 - 36];
};
_Static_assert(sizeof(struct pt_cpu_bell) == 4096, "ABI");

#endif
