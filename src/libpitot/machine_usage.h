/* libpitot/machine_usage.h -- resources used on the machine so far, and the difference of two
 * readings.
 *
 * Network bytes count once: if there are interfaces backed by a device, only those count, because
 * bridges and the host's ends of containers pass the same bytes again. Otherwise, in a container,
 * all count except loopback. */
#ifndef PT_LIBPITOT_MACHINE_USAGE_H
#define PT_LIBPITOT_MACHINE_USAGE_H

#include "libpitot/kernel_text.h"

#define PT_MACHINE_DISKS 32 /* further ones are ignored */

struct pt_machine_disk {
    char name[32];
    int64_t busy_ms;
};

/* Unknown values are NAN. */
struct pt_machine_usage {
    int64_t time_ns;                  /* CLOCK_MONOTONIC */
    double busy_ticks, total_ticks;   /* of all CPUs; waiting for a disk is not busy */
    double memory_percent, memory_mb; /* used and total */
    double network_bytes;             /* both directions */
    struct pt_machine_disk disks[PT_MACHINE_DISKS];
    int disk_count; /* -1: unknown */
};

void pt_machine_usage_read(struct pt_machine_usage *u, struct pt_kernel_text *buffer);

/* Parts of it, from the text of /proc/stat, meminfo, diskstats and net/dev. `counts` returns
 * whether an interface counts; it is never called for loopback. */
void pt_machine_scan_cpu(struct pt_machine_usage *u, struct pt_scan text);
void pt_machine_scan_memory(struct pt_machine_usage *u, struct pt_scan text);
void pt_machine_scan_disks(struct pt_machine_usage *u, struct pt_scan text);
void pt_machine_scan_network(struct pt_machine_usage *u, struct pt_scan text,
                             bool (*counts)(struct pt_str name));

/* Between two readings; NAN if one of them is NAN, or a counter decreased. */
double pt_machine_cpu_percent(const struct pt_machine_usage *from,
                              const struct pt_machine_usage *to);
double pt_machine_busy_seconds(const struct pt_machine_usage *from,
                               const struct pt_machine_usage *to);
/* Of the busiest disk among those present in both. */
double pt_machine_disk_percent(const struct pt_machine_usage *from,
                               const struct pt_machine_usage *to);
double pt_machine_network_mb(const struct pt_machine_usage *from,
                             const struct pt_machine_usage *to);

#endif
