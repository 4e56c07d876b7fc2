#include "kernel/diskstats.h"

struct pt_str pt_diskstats_name(struct pt_scan *line) {
    pt_scan_i64(line);
    pt_scan_i64(line);
    return pt_scan_word(line);
}

void pt_diskstats_fields(struct pt_scan *line, struct pt_disk_stats *stats) {
    stats->field_count = 0;
    while (stats->field_count < PT_DISK_FIELD_COUNT) {
        int64_t value = pt_scan_i64(line);
        if (line->failed)
            return;
        stats->fields[stats->field_count++] = value;
    }
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* nvme0n1p2, mmcblk0p1: a disk's name ends in a digit, so a p stands between. */
static bool has_partition_suffix(struct pt_str name) {
    size_t i = name.len;
    while (i > 0 && is_digit(name.at[i - 1]))
        i--;
    return i > 1 && i < name.len && name.at[i - 1] == 'p' && is_digit(name.at[i - 2]);
}

bool pt_disk_name_is_whole(struct pt_str name) {
    static const struct pt_str none[] = { { "loop", 4 }, { "ram", 3 }, { "zram", 4 },
                                          { "dm-", 3 },  { "md", 2 },  { "fd", 2 },
                                          { "sr", 2 },   { "nbd", 3 }, { "drbd", 4 } };
    static const struct pt_str digits_end_disk[] = {
        { "nvme", 4 }, { "mmcblk", 6 }, { "pmem", 4 }, { "rbd", 3 }, { "dasd", 4 }
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (pt_str_starts(name, none[i]))
            return false;
    for (size_t i = 0; i < sizeof digits_end_disk / sizeof *digits_end_disk; i++)
        if (pt_str_starts(name, digits_end_disk[i]))
            return !has_partition_suffix(name);
    return name.len > 0 && !is_digit(name.at[name.len - 1]);
}
