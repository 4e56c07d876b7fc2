/* source/kernel/cgroup_file.h -- the files of a cgroup, v1 and v2, as numbers.
 *
 * pt_cgroup_files[] says for each file which controller it belongs to, how its
 * text looks and which values it holds; pt_cgroup_parse() reads any of them:
 *
 *     cpu.stat (v2)            usage_usec 72736944
 *     memory.max               max
 *     cpu.max                  50000 100000
 *     io.stat                  8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0
 *     blkio.throttle.io_...    8:0 Read 4096
 *     cpu.pressure             some avg10=0.00 avg60=0.00 avg300=0.00 total=1234
 *     cpuset.cpus.effective    0-3,8
 *
 * "max", v1's huge numbers and -1 mean no limit: the value is absent. */
#ifndef PT_SOURCE_KERNEL_CGROUP_FILE_H
#define PT_SOURCE_KERNEL_CGROUP_FILE_H

#include "base/scan.h"

/* v1 has a hierarchy for each (or for several); v2 has one for all. */
enum pt_cgroup_controller {
    PT_CGROUP_CPUACCT,
    PT_CGROUP_CPU,
    PT_CGROUP_MEMORY,
    PT_CGROUP_BLKIO,
    PT_CGROUP_PIDS,
    PT_CGROUP_CPUSET,
    PT_CGROUP_CORE, /* what every v2 group has: pressure */
    PT_CGROUP_CONTROLLER_COUNT,
};

enum pt_cgroup_value {
    PT_CGROUP_CPU_TIME_NS,
    PT_CGROUP_CPU_USER_CS,
    PT_CGROUP_CPU_KERNEL_CS,
    PT_CGROUP_PERIODS,
    PT_CGROUP_THROTTLED_PERIODS,
    PT_CGROUP_THROTTLED_NS,
    PT_CGROUP_MEMORY_USED,
    PT_CGROUP_MEMORY_PEAK,
    PT_CGROUP_MEMORY_ANON,
    PT_CGROUP_MEMORY_CACHED,
    PT_CGROUP_MEMORY_INACTIVE_FILE,
    PT_CGROUP_SWAP_USED,
    PT_CGROUP_FAULTS, /* minor and major */
    PT_CGROUP_MAJOR_FAULTS,
    PT_CGROUP_OOM_EVENTS,
    PT_CGROUP_OOM_KILLS,
    PT_CGROUP_MEMORY_LIMIT_HITS,
    PT_CGROUP_READ_BYTES,
    PT_CGROUP_WRITE_BYTES,
    PT_CGROUP_READS,
    PT_CGROUP_WRITES,
    PT_CGROUP_PIDS_CURRENT,
    PT_CGROUP_CPU_SOME_US,
    PT_CGROUP_CPU_FULL_US,
    PT_CGROUP_MEMORY_SOME_US,
    PT_CGROUP_MEMORY_FULL_US,
    PT_CGROUP_IO_SOME_US,
    PT_CGROUP_IO_FULL_US,
    PT_CGROUP_MEMORY_LIMIT,
    PT_CGROUP_MEMORY_HIGH,
    PT_CGROUP_QUOTA_US,
    PT_CGROUP_PERIOD_US,
    PT_CGROUP_PIDS_LIMIT,
    PT_CGROUP_CPU_COUNT,
    PT_CGROUP_VALUE_COUNT,
};

_Static_assert(PT_CGROUP_VALUE_COUNT <= 64, "presence is one word");

struct pt_cgroup_values {
    uint64_t present; /* bit set of enum pt_cgroup_value */
    int64_t at[PT_CGROUP_VALUE_COUNT];
};

static inline bool pt_cgroup_has(const struct pt_cgroup_values *v, enum pt_cgroup_value value) {
    return v->present >> value & 1;
}

/* What is read at one moment and shares a time. */
enum pt_cgroup_source {
    PT_CGROUP_SOURCE_CPU,
    PT_CGROUP_SOURCE_THROTTLING,
    PT_CGROUP_SOURCE_MEMORY,
    PT_CGROUP_SOURCE_IO,
    PT_CGROUP_SOURCE_PIDS,
    PT_CGROUP_SOURCE_PRESSURE,
    PT_CGROUP_SOURCE_LIMITS,
    PT_CGROUP_SOURCE_COUNT,
};

enum pt_cgroup_format {
    PT_CGROUP_FLAT,       /* "key number" lines */
    PT_CGROUP_SINGLE,     /* one number or "max" */
    PT_CGROUP_QUOTA,      /* two numbers on one line, the first perhaps "max" */
    PT_CGROUP_DEVICES_V1, /* "8:0 Read number" lines, summed over the devices */
    PT_CGROUP_DEVICES_V2, /* "8:0 key=number ..." lines, summed over the devices */
    PT_CGROUP_PRESSURE,   /* "some ... total=number" lines */
    PT_CGROUP_CPU_LIST,   /* 0-3,8 as a count */
};

#define PT_CGROUP_KEYS 7

/* value = number * multiply / divide; divide 0 means ticks of USER_HZ per second. */
struct pt_cgroup_key {
    const char *text; /* NULL ends the list; "" where the file has no keys */
    enum pt_cgroup_value value;
    int64_t multiply, divide;
};

struct pt_cgroup_file {
    const char *name;
    int version;
    enum pt_cgroup_controller controller;
    enum pt_cgroup_format format;
    uint32_t sources; /* bit set of enum pt_cgroup_source */
    bool is_fallback; /* read only where the file before it in the table is missing */
    struct pt_cgroup_key keys[PT_CGROUP_KEYS];
};

/* CPU usage first, then memory usage: the first file of a group shows whether it is active. */
#define PT_CGROUP_FILE_COUNT 34
extern const struct pt_cgroup_file pt_cgroup_files[PT_CGROUP_FILE_COUNT];

/* Block devices built from others (device-mapper, RAID, loop): the underlying device counts their
 * bytes too. */
#define PT_CGROUP_DEVICES 256
struct pt_cgroup_devices {
    struct {
        uint32_t major, minor;
    } at[PT_CGROUP_DEVICES];
    int count;
};

/* Clears the values of `file`, then sets those in `text`. `stacked` devices are left out of sums;
 * NULL: none. */
void pt_cgroup_parse(const struct pt_cgroup_file *file, struct pt_scan text,
                     const struct pt_cgroup_devices *stacked, struct pt_cgroup_values *into);
void pt_cgroup_forget(const struct pt_cgroup_file *file, struct pt_cgroup_values *values);

/* cpuacct.usage_percpu: nanoseconds of each possible CPU. Returns how many there are
 * (perhaps more than `capacity`), or -EINVAL. */
int pt_cgroup_parse_percpu(struct pt_scan text, int64_t *times_ns, int capacity);

/* /proc/PID/net/dev: bytes of all interfaces but loopback. 0 or -EINVAL. */
int pt_cgroup_parse_net_dev(struct pt_scan text, int64_t *received, int64_t *sent);

/* "major:minor" in sum files and /sys/block/NAME/dev. */
bool pt_cgroup_parse_device(struct pt_str text, uint32_t *major, uint32_t *minor);

#endif
