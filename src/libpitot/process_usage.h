/* libpitot/process_usage.h -- what this process has used so far.
 *
 *     /proc/self/status    VmHWM:  15234 kB    the most that was ever resident, until it is reset
 *                          VmRSS:  13508 kB
 *     /proc/self/io        read_bytes: 4096    from and to block devices */
#ifndef PT_LIBPITOT_PROCESS_USAGE_H
#define PT_LIBPITOT_PROCESS_USAGE_H

#include "libpitot/kernel_text.h"

/* Unknown values are NAN. Times are of all threads, without children. */
struct pt_process_usage {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    double user_s, system_s;
    double ram_mb, highest_ram_mb; /* resident: now, and the most ever */
    double disk_read_mb, disk_write_mb;
};

void pt_process_usage_read(struct pt_process_usage *u, struct pt_kernel_text *buffer);

/* Resident memory alone, which is much cheaper to ask for; NAN. Keeps errno. */
double pt_process_ram_mb(void);

/* Makes the most ever that of now (VmHWM). False: the kernel does not do it. Takes 5 us, also with
 * a gigabyte resident. */
bool pt_process_reset_highest(void);

#endif
