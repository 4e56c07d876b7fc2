/* libpitot/process_usage.h -- resources used by this process so far.
 *
 *     /proc/self/status    VmHWM:  15234 kB    peak resident memory, until it is reset
 *                          VmRSS:  13508 kB
 *     /proc/self/io        read_bytes: 4096    from and to block devices */
#ifndef PT_LIBPITOT_PROCESS_USAGE_H
#define PT_LIBPITOT_PROCESS_USAGE_H

#include "libpitot/kernel_text.h"

/* Unknown values are NAN. Times are of all threads, without children. */
struct pt_process_usage {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    double user_s, system_s;
    double ram_mb, highest_ram_mb; /* resident: current, and peak */
    double disk_read_mb, disk_write_mb;
};

void pt_process_usage_read(struct pt_process_usage *u, struct pt_kernel_text *buffer);

/* Resident memory only, which is much cheaper to read; NAN: unknown. Keeps errno. */
double pt_process_ram_mb(void);

/* Resets the peak (VmHWM) to the current value. False: the kernel does not support it. Takes 5 us,
 * also with a gigabyte resident. */
bool pt_process_reset_highest(void);

#endif
