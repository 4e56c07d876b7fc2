/* collect/disk.c -- block I/O of the machine and of each whole disk, from /proc/diskstats.
 *
 * Partitions, loop and ram devices, and devices built from other disks (device-mapper, md) are left
 * out: the underlying disks already count their bytes. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/diskstats.h"

#include <errno.h>
#include <stdio.h>

#define DISK_COLUMNS(X, t)                                                                         \
    X(t, read_bytes, "vDiskReadBytes", COUNTER, I64, BYTES, 0, "Bytes read", .title = "Disk read", \
      .family = "Disk throughput", .importance = PT_HEADLINE, .words = "storage io")               \
    X(t, write_bytes, "vDiskWriteBytes", COUNTER, I64, BYTES, 0, "Bytes written",                  \
      .title = "Disk written", .family = "Disk throughput", .importance = PT_HEADLINE,             \
      .words = "storage io")                                                                       \
    X(t, reads, "vDiskSuccessfulReads", COUNTER, I64, COUNT, 0, "Reads completed",                 \
      .title = "Disk reads", .family = "Disk operations", .words = "iops")                         \
    X(t, writes, "vDiskSuccessfulWrites", COUNTER, I64, COUNT, 0, "Writes completed",              \
      .title = "Disk writes", .family = "Disk operations", .words = "iops")                        \
    X(t, read_ms, "vDiskReadTime", COUNTER, I64, MILLISECONDS, 0, "Total duration of reads",       \
      .title = "Reads in flight, mean", .family = "Disk requests in flight",                       \
      .form = PT_FORM_NUMBER, .words = "latency queue")                                            \
    X(t, write_ms, "vDiskWriteTime", COUNTER, I64, MILLISECONDS, 0, "Total duration of writes",    \
      .title = "Writes in flight, mean", .family = "Disk requests in flight",                      \
      .form = PT_FORM_NUMBER, .words = "latency queue")                                            \
    X(t, io_ms, "vDiskIOTime", COUNTER, I64, MILLISECONDS, 0,                                      \
      "Time with at least one request pending, summed over the disks",                             \
      .title = "Disks busy, mean number", .form = PT_FORM_NUMBER, .better = PT_LOWER_IS_BETTER,    \
      .importance = PT_HEADLINE, .words = "utilization saturation")                                \
    X(t, in_progress, "vDiskIOInProgress", GAUGE, I64, COUNT, 0, "Requests pending",               \
      .title = "Requests in flight now", .family = "Disk requests in flight",                      \
      .better = PT_LOWER_IS_BETTER, .words = "queue")                                              \
    X(t, sectors_read, "vDiskSectorReads", COUNTER, I64, COUNT, 0, "Sectors of 512 bytes read",    \
      .title = "Sectors read", .family = "Disk sectors", .importance = PT_RAW)                     \
    X(t, sectors_written, "vDiskSectorWrites", COUNTER, I64, COUNT, 0,                             \
      "Sectors of 512 bytes written", .title = "Sectors written", .family = "Disk sectors",        \
      .importance = PT_RAW)                                                                        \
    X(t, merged_reads, "vDiskMergedReads", COUNTER, I64, COUNT, 0, "Reads merged with others",     \
      .title = "Reads merged", .family = "Disk requests merged")                                   \
    X(t, merged_writes, "vDiskMergedWrites", COUNTER, I64, COUNT, 0, "Writes merged with others",  \
      .title = "Writes merged", .family = "Disk requests merged")                                  \
    X(t, weighted_ms, "vDiskWeightedIOTime", COUNTER, I64, MILLISECONDS, 0,                        \
      "Time multiplied by pending requests: its increase per second is the average queue length",  \
      .title = "Requests in flight, mean", .family = "Disk requests in flight",                    \
      .form = PT_FORM_NUMBER, .better = PT_LOWER_IS_BETTER, .words = "queue length")               \
    X(t, discard_bytes, "vDiskDiscardBytes", COUNTER, I64, BYTES, 0, "Bytes discarded",            \
      .title = "Disk discarded", .words = "trim")                                                  \
    X(t, flushes, "vDiskFlushes", COUNTER, I64, COUNT, 0, "Flushes completed",                     \
      .title = "Disk flushes", .words = "fsync")

PT_TABLE(disk, PT_TABLE_MAIN("disk"), "Total of all disks of the machine", DISK_COLUMNS,
         "/proc/diskstats");

#define DRIVE_COLUMNS(X, t)                                                                       \
    X(t, name, "dName", KEY, STRING, NONE, 0, "Name of the disk: sda, nvme0n1", .title = "Disk",  \
      .heading = "DISK", .role = PT_ROLE_NAME, .otel = "system.device")                           \
    X(t, read_bytes, "dReadBytes", COUNTER, I64, BYTES, 0, "Bytes read", .title = "Read",         \
      .heading = "READ", .family = "Disk throughput", .importance = PT_HEADLINE,                  \
      .words = "storage io", .otel = "system.disk.io disk.io.direction=read")                     \
    X(t, write_bytes, "dWriteBytes", COUNTER, I64, BYTES, 0, "Bytes written", .title = "Written", \
      .heading = "WRITE", .family = "Disk throughput", .importance = PT_HEADLINE,                 \
      .words = "storage io", .otel = "system.disk.io disk.io.direction=write")                    \
    X(t, reads, "dSuccessfulReads", COUNTER, I64, COUNT, 0, "Reads completed", .title = "Reads",  \
      .heading = "READS", .family = "Disk operations", .words = "iops",                           \
      .otel = "system.disk.operations {operation} disk.io.direction=read")                        \
    X(t, writes, "dSuccessfulWrites", COUNTER, I64, COUNT, 0, "Writes completed",                 \
      .title = "Writes", .heading = "WRITES", .family = "Disk operations", .words = "iops",       \
      .otel = "system.disk.operations {operation} disk.io.direction=write")                       \
    X(t, read_ms, "dReadTime", COUNTER, I64, MILLISECONDS, 0, "Total duration of reads",          \
      .title = "Reads in flight, mean", .family = "Disk requests in flight",                      \
      .form = PT_FORM_NUMBER, .words = "latency queue",                                           \
      .otel = "system.disk.operation_time disk.io.direction=read")                                \
    X(t, write_ms, "dWriteTime", COUNTER, I64, MILLISECONDS, 0, "Total duration of writes",       \
      .title = "Writes in flight, mean", .family = "Disk requests in flight",                     \
      .form = PT_FORM_NUMBER, .words = "latency queue",                                           \
      .otel = "system.disk.operation_time disk.io.direction=write")                               \
    X(t, io_ms, "dIOTime", COUNTER, I64, MILLISECONDS, 0,                                         \
      "Time with at least one request pending", .title = "Disk busy", .heading = "BUSY",          \
      .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,             \
      .combine = PT_COMBINE_WORST, .words = "utilization saturation",                             \
      .otel = "system.disk.io_time")                                                              \
    X(t, in_progress, "dIOInProgress", GAUGE, I64, COUNT, 0, "Requests pending",                  \
      .title = "Requests in flight now", .heading = "QUEUE", .family = "Disk requests in flight", \
      .better = PT_LOWER_IS_BETTER, .words = "queue")                                             \
    X(t, merged_reads, "dMergedReads", COUNTER, I64, COUNT, 0, "Reads merged with others",        \
      .title = "Reads merged", .family = "Disk requests merged",                                  \
      .otel = "system.disk.merged {operation} disk.io.direction=read")                            \
    X(t, merged_writes, "dMergedWrites", COUNTER, I64, COUNT, 0, "Writes merged with others",     \
      .title = "Writes merged", .family = "Disk requests merged",                                 \
      .otel = "system.disk.merged {operation} disk.io.direction=write")                           \
    X(t, weighted_ms, "dWeightedIOTime", COUNTER, I64, MILLISECONDS, 0,                           \
      "Time multiplied by pending requests", .title = "Requests in flight, mean",                 \
      .family = "Disk requests in flight", .form = PT_FORM_NUMBER, .better = PT_LOWER_IS_BETTER,  \
      .words = "queue length")                                                                    \
    X(t, discard_bytes, "dDiscardBytes", COUNTER, I64, BYTES, 0, "Bytes discarded",               \
      .title = "Discarded", .words = "trim")                                                      \
    X(t, flushes, "dFlushes", COUNTER, I64, COUNT, 0, "Flushes completed", .title = "Flushes",    \
      .heading = "FLUSHES", .words = "fsync")

PT_TABLE(drive, PT_TABLE_PARTS("disk", "disks", "disks"), "Each whole disk", DRIVE_COLUMNS,
         "/proc/diskstats");

/* The columns for a field and its factor; -1 = none. */
static const struct {
    int field, machine, drive, factor;
} places[] = {
    { PT_DISK_READS, disk_reads, drive_reads, 1 },
    { PT_DISK_MERGED_READS, disk_merged_reads, drive_merged_reads, 1 },
    { PT_DISK_SECTORS_READ, disk_sectors_read, -1, 1 },
    { PT_DISK_SECTORS_READ, disk_read_bytes, drive_read_bytes, PT_DISK_SECTOR_BYTES },
    { PT_DISK_READ_MS, disk_read_ms, drive_read_ms, 1 },
    { PT_DISK_WRITES, disk_writes, drive_writes, 1 },
    { PT_DISK_MERGED_WRITES, disk_merged_writes, drive_merged_writes, 1 },
    { PT_DISK_SECTORS_WRITTEN, disk_sectors_written, -1, 1 },
    { PT_DISK_SECTORS_WRITTEN, disk_write_bytes, drive_write_bytes, PT_DISK_SECTOR_BYTES },
    { PT_DISK_WRITE_MS, disk_write_ms, drive_write_ms, 1 },
    { PT_DISK_IN_PROGRESS, disk_in_progress, drive_in_progress, 1 },
    { PT_DISK_IO_MS, disk_io_ms, drive_io_ms, 1 },
    { PT_DISK_WEIGHTED_MS, disk_weighted_ms, drive_weighted_ms, 1 },
    { PT_DISK_SECTORS_DISCARDED, disk_discard_bytes, drive_discard_bytes, PT_DISK_SECTOR_BYTES },
    { PT_DISK_FLUSHES, disk_flushes, drive_flushes, 1 },
};

/* Which lines of the file are whole disks, learnt once: a line up to the end of the name does not
 * change while the device exists. */
struct known_line {
    char start[64];
    uint8_t start_len;
    bool is_disk;
};

struct disk_state {
    struct pt_file file;
    struct known_line *lines;
    size_t line_capacity;
};

static void disk_close(void *state) {
    struct disk_state *s = state;
    pt_file_close(&s->file);
    pt_free(s->lines);
}

/* A partition has no directory in /sys/block; without /sys the name decides. */
static bool is_whole_disk(const struct pt_context *context, struct pt_str name) {
    if (faccessat(context->fs->sys, "block", F_OK, 0) != 0)
        return pt_disk_name_is_whole(name);
    char path[96];
    int n = snprintf(path, sizeof path, "block/%.*s", (int)name.len, name.at);
    for (int i = sizeof "block"; i < n && i < (int)sizeof path; i++)
        if (path[i] == '/')
            path[i] = '!'; /* cciss/c0d0 */
    return !pt_disk_name_is_virtual(name) && faccessat(context->fs->sys, path, F_OK, 0) == 0;
}

static struct known_line *known_line(struct disk_state *s, size_t number) {
    size_t before = s->line_capacity;
    pt_grow(&s->lines, &s->line_capacity, number + 1, sizeof *s->lines);
    if (s->line_capacity > before)
        memset(s->lines + before, 0, (s->line_capacity - before) * sizeof *s->lines);
    return &s->lines[number];
}

/* Consumes the start of the line; true if it is a disk. */
static bool take_start(struct disk_state *s, const struct pt_context *context, size_t number,
                       struct pt_scan *line, struct pt_str *name) {
    struct known_line *known = known_line(s, number);
    struct pt_str rest = pt_scan_rest(line), start = { known->start, known->start_len };
    if (start.len > 0 && pt_str_starts(rest, start) && rest.len > start.len &&
        rest.at[start.len] == ' ') {
        line->at += start.len;
    } else {
        *name = pt_diskstats_name(line);
        size_t length = (size_t)(line->at - rest.at);
        if (line->failed || length >= sizeof known->start)
            return false;
        memcpy(known->start, rest.at, length);
        known->start_len = (uint8_t)length;
        known->is_disk = is_whole_disk(context, *name);
    }
    const char *name_start = line->at;
    while (name_start > rest.at && name_start[-1] != ' ')
        name_start--;
    *name = (struct pt_str){ name_start, (size_t)(line->at - name_start) };
    return known->is_disk;
}

static void add_disk(const struct pt_disk_stats *stats, struct pt_total *totals,
                     struct pt_batch *drives) {
    for (size_t i = 0; i < PT_COUNT(places); i++) {
        int64_t value = 0;
        bool is_known =
            pt_fields_has(stats->present, places[i].field) &&
            !__builtin_mul_overflow(stats->fields[places[i].field], places[i].factor, &value);
        pt_total_add(&totals[i], is_known, value);
        if (is_known && places[i].drive >= 0)
            pt_set_i64(drives, places[i].drive, value);
    }
}

static int disk_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct disk_state *s = state;
    struct pt_batch *machine = &rows[0], *drives = &rows[1];
    struct pt_total totals[PT_COUNT(places)] = { 0 };
    struct pt_scan text, line;
    int rc = pt_file_read_kept(&s->file, context->fs->proc, "diskstats", context->text, &text);
    if (rc)
        return rc == -ENOENT ? -ENODATA : rc;

    int64_t now_ns = pt_mono_ns();
    for (size_t number = 0; pt_scan_line(&text, &line); number++) {
        struct pt_str name;
        if (!take_start(s, context, number, &line, &name))
            continue;
        struct pt_disk_stats stats;
        pt_diskstats_fields(&line, &stats);
        pt_batch_add_row(drives);
        pt_set_time(drives, 0, now_ns);
        pt_set_str(drives, drive_name, name);
        add_disk(&stats, totals, drives);
    }
    pt_batch_add_row(machine);
    pt_set_time(machine, 0, now_ns);
    for (size_t i = 0; i < PT_COUNT(places); i++)
        pt_total_set(&totals[i], machine, places[i].machine);
    return 0;
}

const struct pt_collector pt_disk_collector = {
    .name = "disk",
    .help = "block I/O; machine and each disk",
    .keep = PT_KEEP_LAST,
    .tables = { &disk_table, &drive_table },
    .state_size = sizeof(struct disk_state),
    .collect = disk_collect,
    .close = disk_close,
};
