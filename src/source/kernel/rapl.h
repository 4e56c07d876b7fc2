/* source/kernel/rapl.h -- energy counters of the processor, from the powercap tree (Intel and AMD):
 *
 *     class/powercap/intel-rapl:0/name                   package-0
 *     class/powercap/intel-rapl:0/energy_uj              183215763211
 *     class/powercap/intel-rapl:0/max_energy_range_uj    262143328850
 *     class/powercap/intel-rapl:0:1/name                 dram
 *     class/powercap/intel-rapl:1/name                   psys
 *
 * package includes core and uncore, psys includes package; dram is separate from package.
 * intel-rapl-mmio counts the same package a second time and is left out. Since Linux 5.10 only root
 * may read. */
#ifndef PT_SOURCE_KERNEL_RAPL_H
#define PT_SOURCE_KERNEL_RAPL_H

#include "base/fs.h"

/* Turns a counter that wraps at its range into one that does not. {0} has seen no value. */
struct pt_rapl_counter {
    uint64_t range_uj; /* 0: unknown, so a counter that fell was reset */
    uint64_t raw_uj, total_uj;
    int64_t seen_ns;
    bool has_seen;
};

/* The total after reading `raw_uj` at `now_ns`. It starts as the first value read. A lower value is
 * a wrap of the counter if the resulting power is possible; otherwise the counter was reset (driver
 * reloaded, suspend) and the total falls to `raw_uj`. */
uint64_t pt_rapl_counter_see(struct pt_rapl_counter *c, uint64_t raw_uj, int64_t now_ns);

struct pt_rapl_zone {
    char domain[48]; /* "package-0", "dram-0", "core-0", "psys" */
    char path[64];   /* of energy_uj, below sysfs */
    struct pt_file file;
    struct pt_rapl_counter counter;
    int status; /* of the last read: 0 or -errno; -EACCES: for root only */
};

struct pt_rapl {
    struct pt_rapl_zone *zones; /* by zone number */
    size_t zone_count, zone_capacity;
    struct pt_text text;
};

/* "intel-rapl:0" is zone 0 with part -1, "intel-rapl:0:1" is part 1 of it. False for all other
 * names, "intel-rapl" and "intel-rapl-mmio:0" among them. */
bool pt_rapl_zone_parse(struct pt_str name, int *zone, int *part);

/* Finds the zones; reads no counter. -ENODATA: this machine has none. */
int pt_rapl_open(struct pt_rapl *r, const struct pt_fs *fs) PT_MUST_CHECK;
void pt_rapl_close(struct pt_rapl *r);

/* Reads the counter of a zone; the result is also kept as its status. */
int pt_rapl_read(struct pt_rapl *r, struct pt_rapl_zone *zone, const struct pt_fs *fs,
                 int64_t now_ns);

#endif
