/* source/kernel/diskstats.h -- /proc/diskstats, a line per block device:
 *
 *     8       0 sda 25353092 34367663 1003337964 18492232 27734305 18 34532938 6523748 0 3452 99
 *
 * Kernels 4.18 and 5.5 added fields for discards and flushes at the end. */
#ifndef PT_SOURCE_KERNEL_DISKSTATS_H
#define PT_SOURCE_KERNEL_DISKSTATS_H

#include "source/kernel/fields.h"

enum pt_disk_field {
    PT_DISK_READS,
    PT_DISK_MERGED_READS,
    PT_DISK_SECTORS_READ,
    PT_DISK_READ_MS,
    PT_DISK_WRITES,
    PT_DISK_MERGED_WRITES,
    PT_DISK_SECTORS_WRITTEN,
    PT_DISK_WRITE_MS,
    PT_DISK_IN_PROGRESS,
    PT_DISK_IO_MS,
    PT_DISK_WEIGHTED_MS,
    PT_DISK_DISCARDS,
    PT_DISK_MERGED_DISCARDS,
    PT_DISK_SECTORS_DISCARDED,
    PT_DISK_DISCARD_MS,
    PT_DISK_FLUSHES,
    PT_DISK_FLUSH_MS,
    PT_DISK_FIELD_COUNT
};

/* The kernel counts sectors of 512 bytes for every disk. */
#define PT_DISK_SECTOR_BYTES 512

struct pt_disk_stats {
    uint32_t present; /* bit i: fields[i] is known */
    int64_t fields[PT_DISK_FIELD_COUNT];
};

/* Steps over major, minor and name; the name, or empty with line->failed. */
struct pt_str pt_diskstats_name(struct pt_scan *line);
/* The numbers that follow the name. */
void pt_diskstats_fields(struct pt_scan *line, struct pt_disk_stats *stats);

/* True for devices that are not disks or would count twice: loop, ram, devices built from other
 * disks (device-mapper, md), and removable media (CD, floppy). */
bool pt_disk_name_is_virtual(struct pt_str name);
/* True if the name is that of a disk, neither virtual nor a partition. */
bool pt_disk_name_is_whole(struct pt_str name);

#endif
