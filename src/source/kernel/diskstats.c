#include "source/kernel/diskstats.h"

struct pt_str pt_diskstats_name(struct pt_scan *line) {
    pt_scan_i64(line);
    pt_scan_i64(line);
    return pt_scan_word(line);
}

void pt_diskstats_fields(struct pt_scan *line, struct pt_disk_stats *stats) {
    stats->present = pt_fields_scan(line, stats->fields, PT_DISK_FIELD_COUNT);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* nvme0n1p2, mmcblk0p1: the name of the disk ends in a digit, so a p separates the partition. */
static bool has_partition_suffix(struct pt_str name) {
    size_t i = name.len;
    while (i > 0 && is_digit(name.at[i - 1]))
        i--;
    return i > 1 && i < name.len && name.at[i - 1] == 'p' && is_digit(name.at[i - 2]);
}

static bool starts_with_any(struct pt_str name, const char *const *prefixes) {
    for (; *prefixes; prefixes++)
        if (pt_str_starts(name, pt_str_from(*prefixes)))
            return true;
    return false;
}

bool pt_disk_name_is_virtual(struct pt_str name) {
    static const char *const prefixes[] = { "loop", "ram",    "zram", "dm-", "md", "drbd",
                                            "zd",   "bcache", "fd",   "sr",  NULL };
    return starts_with_any(name, prefixes);
}

bool pt_disk_name_is_whole(struct pt_str name) {
    static const char *const end_in_digits[] = { "nvme", "mmcblk", "pmem", "nbd",
                                                 "rbd",  "cciss/", NULL };
    if (name.len == 0 || pt_disk_name_is_virtual(name))
        return false;
    if (starts_with_any(name, end_in_digits))
        return !has_partition_suffix(name);
    return !is_digit(name.at[name.len - 1]);
}
