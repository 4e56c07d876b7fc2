#include "source/kernel/cgroup_file.h"

#include <errno.h>
#include <unistd.h>

/* v1 says "no limit" by a number near 2^63 that depends on the page size. */
#define NO_LIMIT     (INT64_C(1) << 62)

#define CPU_LIST_MAX (1u << 20)

#define CPU          (1u << PT_CGROUP_SOURCE_CPU)
#define THROTTLING   (1u << PT_CGROUP_SOURCE_THROTTLING)
#define MEMORY       (1u << PT_CGROUP_SOURCE_MEMORY)
#define IO           (1u << PT_CGROUP_SOURCE_IO)
#define PIDS         (1u << PT_CGROUP_SOURCE_PIDS)
#define PRESSURE     (1u << PT_CGROUP_SOURCE_PRESSURE)
#define LIMITS       (1u << PT_CGROUP_SOURCE_LIMITS)

/* clang-format off */
const struct pt_cgroup_file pt_cgroup_files[PT_CGROUP_FILE_COUNT] = {
    { "cpuacct.usage", 1, PT_CGROUP_CPUACCT, PT_CGROUP_SINGLE, CPU, false, {
        { "", PT_CGROUP_CPU_TIME_NS, 1, 1 } } },
    { "cpu.stat", 2, PT_CGROUP_CPUACCT, PT_CGROUP_FLAT, CPU | THROTTLING, false, {
        { "usage_usec", PT_CGROUP_CPU_TIME_NS, 1000, 1 },
        { "user_usec", PT_CGROUP_CPU_USER_CS, 1, 10000 },
        { "system_usec", PT_CGROUP_CPU_KERNEL_CS, 1, 10000 },
        { "nr_periods", PT_CGROUP_PERIODS, 1, 1 },
        { "nr_throttled", PT_CGROUP_THROTTLED_PERIODS, 1, 1 },
        { "throttled_usec", PT_CGROUP_THROTTLED_NS, 1000, 1 } } },
    { "memory.usage_in_bytes", 1, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_MEMORY_USED, 1, 1 } } },
    { "memory.current", 2, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_MEMORY_USED, 1, 1 } } },
    { "cpuacct.stat", 1, PT_CGROUP_CPUACCT, PT_CGROUP_FLAT, CPU, false, {
        { "user", PT_CGROUP_CPU_USER_CS, 100, 0 },
        { "system", PT_CGROUP_CPU_KERNEL_CS, 100, 0 } } },
    { "cpu.stat", 1, PT_CGROUP_CPU, PT_CGROUP_FLAT, THROTTLING, false, {
        { "nr_periods", PT_CGROUP_PERIODS, 1, 1 },
        { "nr_throttled", PT_CGROUP_THROTTLED_PERIODS, 1, 1 },
        { "throttled_time", PT_CGROUP_THROTTLED_NS, 1, 1 } } },
    { "memory.stat", 1, PT_CGROUP_MEMORY, PT_CGROUP_FLAT, MEMORY, false, {
        { "total_rss", PT_CGROUP_MEMORY_ANON, 1, 1 },
        { "total_cache", PT_CGROUP_MEMORY_CACHED, 1, 1 },
        { "total_inactive_file", PT_CGROUP_MEMORY_INACTIVE_FILE, 1, 1 },
        { "total_swap", PT_CGROUP_SWAP_USED, 1, 1 },
        { "total_pgfault", PT_CGROUP_FAULTS, 1, 1 },
        { "total_pgmajfault", PT_CGROUP_MAJOR_FAULTS, 1, 1 } } },
    { "memory.stat", 2, PT_CGROUP_MEMORY, PT_CGROUP_FLAT, MEMORY, false, {
        { "anon", PT_CGROUP_MEMORY_ANON, 1, 1 },
        { "file", PT_CGROUP_MEMORY_CACHED, 1, 1 },
        { "inactive_file", PT_CGROUP_MEMORY_INACTIVE_FILE, 1, 1 },
        { "pgfault", PT_CGROUP_FAULTS, 1, 1 },
        { "pgmajfault", PT_CGROUP_MAJOR_FAULTS, 1, 1 } } },
    { "memory.max_usage_in_bytes", 1, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_MEMORY_PEAK, 1, 1 } } },
    { "memory.peak", 2, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_MEMORY_PEAK, 1, 1 } } },
    { "memory.swap.current", 2, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_SWAP_USED, 1, 1 } } },
    { "memory.oom_control", 1, PT_CGROUP_MEMORY, PT_CGROUP_FLAT, MEMORY, false, {
        { "oom_kill", PT_CGROUP_OOM_KILLS, 1, 1 } } },
    { "memory.failcnt", 1, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, MEMORY, false, {
        { "", PT_CGROUP_MEMORY_LIMIT_HITS, 1, 1 } } },
    { "memory.events", 2, PT_CGROUP_MEMORY, PT_CGROUP_FLAT, MEMORY, false, {
        { "max", PT_CGROUP_MEMORY_LIMIT_HITS, 1, 1 },
        { "oom", PT_CGROUP_OOM_EVENTS, 1, 1 },
        { "oom_kill", PT_CGROUP_OOM_KILLS, 1, 1 } } },
    { "blkio.throttle.io_service_bytes_recursive", 1, PT_CGROUP_BLKIO, PT_CGROUP_DEVICES_V1, IO,
      false, {
        { "Read", PT_CGROUP_READ_BYTES, 1, 1 },
        { "Write", PT_CGROUP_WRITE_BYTES, 1, 1 } } },
    { "blkio.throttle.io_service_bytes", 1, PT_CGROUP_BLKIO, PT_CGROUP_DEVICES_V1, IO, true, {
        { "Read", PT_CGROUP_READ_BYTES, 1, 1 },
        { "Write", PT_CGROUP_WRITE_BYTES, 1, 1 } } },
    { "blkio.throttle.io_serviced_recursive", 1, PT_CGROUP_BLKIO, PT_CGROUP_DEVICES_V1, IO, false, {
        { "Read", PT_CGROUP_READS, 1, 1 },
        { "Write", PT_CGROUP_WRITES, 1, 1 } } },
    { "blkio.throttle.io_serviced", 1, PT_CGROUP_BLKIO, PT_CGROUP_DEVICES_V1, IO, true, {
        { "Read", PT_CGROUP_READS, 1, 1 },
        { "Write", PT_CGROUP_WRITES, 1, 1 } } },
    { "io.stat", 2, PT_CGROUP_BLKIO, PT_CGROUP_DEVICES_V2, IO, false, {
        { "rbytes", PT_CGROUP_READ_BYTES, 1, 1 },
        { "wbytes", PT_CGROUP_WRITE_BYTES, 1, 1 },
        { "rios", PT_CGROUP_READS, 1, 1 },
        { "wios", PT_CGROUP_WRITES, 1, 1 } } },
    { "pids.current", 1, PT_CGROUP_PIDS, PT_CGROUP_SINGLE, PIDS, false, {
        { "", PT_CGROUP_PIDS_CURRENT, 1, 1 } } },
    { "pids.current", 2, PT_CGROUP_PIDS, PT_CGROUP_SINGLE, PIDS, false, {
        { "", PT_CGROUP_PIDS_CURRENT, 1, 1 } } },
    { "cpu.pressure", 2, PT_CGROUP_CORE, PT_CGROUP_PRESSURE, PRESSURE, false, {
        { "some", PT_CGROUP_CPU_SOME_US, 1, 1 },
        { "full", PT_CGROUP_CPU_FULL_US, 1, 1 } } },
    { "memory.pressure", 2, PT_CGROUP_CORE, PT_CGROUP_PRESSURE, PRESSURE, false, {
        { "some", PT_CGROUP_MEMORY_SOME_US, 1, 1 },
        { "full", PT_CGROUP_MEMORY_FULL_US, 1, 1 } } },
    { "io.pressure", 2, PT_CGROUP_CORE, PT_CGROUP_PRESSURE, PRESSURE, false, {
        { "some", PT_CGROUP_IO_SOME_US, 1, 1 },
        { "full", PT_CGROUP_IO_FULL_US, 1, 1 } } },
    { "memory.limit_in_bytes", 1, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_MEMORY_LIMIT, 1, 1 } } },
    { "memory.max", 2, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_MEMORY_LIMIT, 1, 1 } } },
    { "memory.high", 2, PT_CGROUP_MEMORY, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_MEMORY_HIGH, 1, 1 } } },
    { "cpu.cfs_quota_us", 1, PT_CGROUP_CPU, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_QUOTA_US, 1, 1 } } },
    { "cpu.cfs_period_us", 1, PT_CGROUP_CPU, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_PERIOD_US, 1, 1 } } },
    { "cpu.max", 2, PT_CGROUP_CPU, PT_CGROUP_QUOTA, LIMITS, false, {
        { "", PT_CGROUP_QUOTA_US, 1, 1 },
        { "", PT_CGROUP_PERIOD_US, 1, 1 } } },
    { "pids.max", 1, PT_CGROUP_PIDS, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_PIDS_LIMIT, 1, 1 } } },
    { "pids.max", 2, PT_CGROUP_PIDS, PT_CGROUP_SINGLE, LIMITS, false, {
        { "", PT_CGROUP_PIDS_LIMIT, 1, 1 } } },
    { "cpuset.effective_cpus", 1, PT_CGROUP_CPUSET, PT_CGROUP_CPU_LIST, LIMITS, false, {
        { "", PT_CGROUP_CPU_COUNT, 1, 1 } } },
    { "cpuset.cpus.effective", 2, PT_CGROUP_CPUSET, PT_CGROUP_CPU_LIST, LIMITS, false, {
        { "", PT_CGROUP_CPU_COUNT, 1, 1 } } },
};
/* clang-format on */

void pt_cgroup_forget(const struct pt_cgroup_file *file, struct pt_cgroup_values *values) {
    for (const struct pt_cgroup_key *key = file->keys; key->text; key++)
        values->present &= ~(UINT64_C(1) << key->value);
}

/* A number that is negative or too large once scaled is unknown. */
static void set(struct pt_cgroup_values *into, const struct pt_cgroup_key *key, int64_t number) {
    int64_t divide = key->divide ? key->divide : sysconf(_SC_CLK_TCK), scaled;
    if (number < 0 || divide <= 0 || __builtin_mul_overflow(number, key->multiply, &scaled))
        return;
    into->at[key->value] = scaled / divide;
    into->present |= UINT64_C(1) << key->value;
}

static const struct pt_cgroup_key *find_key(const struct pt_cgroup_file *file, struct pt_str text) {
    for (const struct pt_cgroup_key *key = file->keys; key->text; key++)
        if (pt_str_eq(pt_str_from(key->text), text))
            return key;
    return NULL;
}

static bool at_end(struct pt_scan *line) {
    pt_scan_blanks(line);
    return line->at == line->end;
}

static void parse_flat(const struct pt_cgroup_file *file, struct pt_scan text,
                       struct pt_cgroup_values *into) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        const struct pt_cgroup_key *key = find_key(file, pt_scan_word(&line));
        int64_t number = key ? pt_scan_i64(&line) : 0;
        if (key && !line.failed && at_end(&line))
            set(into, key, number);
    }
}

static void parse_numbers(const struct pt_cgroup_file *file, struct pt_scan text,
                          struct pt_cgroup_values *into) {
    struct pt_scan line;
    if (!pt_scan_line(&text, &line))
        return;
    for (const struct pt_cgroup_key *key = file->keys; key->text; key++) {
        struct pt_str word = pt_scan_word(&line);
        struct pt_scan s = pt_scan_of(word);
        int64_t number = pt_scan_i64(&s);
        if (!line.failed && !s.failed && s.at == s.end && number < NO_LIMIT)
            set(into, key, number);
    }
}

bool pt_cgroup_parse_device(struct pt_str text, uint32_t *major, uint32_t *minor) {
    struct pt_scan s = pt_scan_of(text);
    uint64_t first = pt_scan_u64(&s);
    bool has_colon = pt_scan_take(&s, PT_STR(":"));
    uint64_t second = pt_scan_u64(&s);
    if (s.failed || !has_colon || s.at != s.end || first > UINT32_MAX || second > UINT32_MAX)
        return false;
    *major = (uint32_t)first;
    *minor = (uint32_t)second;
    return true;
}

/* Sums over devices: one bad number spoils the sum, so the total is set only at the end. */
struct sums {
    const struct pt_cgroup_file *file;
    const struct pt_cgroup_devices *stacked;
    int64_t totals[PT_CGROUP_KEYS];
    bool is_counted; /* the device of the words that follow */
    bool failed;
};

static bool sums_device(struct sums *sums, struct pt_str word) {
    uint32_t major, minor;
    if (!pt_cgroup_parse_device(word, &major, &minor))
        return false;
    const struct pt_cgroup_devices *stacked = sums->stacked;
    sums->is_counted = true;
    for (int i = 0; stacked && i < stacked->count; i++)
        if (stacked->at[i].major == major && stacked->at[i].minor == minor)
            sums->is_counted = false;
    return true;
}

static void sums_add(struct sums *sums, struct pt_str name, struct pt_str number) {
    const struct pt_cgroup_key *key = find_key(sums->file, name);
    if (!key || !sums->is_counted)
        return;
    struct pt_scan s = pt_scan_of(number);
    int64_t value = pt_scan_i64(&s), *total = &sums->totals[key - sums->file->keys];
    if (s.failed || s.at != s.end || value < 0 || __builtin_add_overflow(*total, value, total))
        sums->failed = true;
}

/* Some kernels print devices without numbers and without a newline between them: "7:0 7:1 8:0
 * rbytes=...". So a device applies to all words up to the next device, across lines. */
static void sum_devices_v2(struct sums *sums, struct pt_scan text) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        while (!at_end(&line)) {
            struct pt_str word = pt_scan_word(&line);
            const char *equals = memchr(word.at, '=', word.len);
            size_t split = equals ? (size_t)(equals - word.at) : word.len;
            if (equals)
                sums_add(sums, (struct pt_str){ word.at, split }, pt_str_skip(word, split + 1));
            else if (!sums_device(sums, word))
                sums->failed = true;
        }
    }
}

static void sum_devices_v1(struct sums *sums, struct pt_scan text) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        struct pt_str device = pt_scan_word(&line), name = pt_scan_word(&line);
        if (line.failed || pt_str_eq(device, PT_STR("Total")))
            continue;
        if (sums_device(sums, device))
            sums_add(sums, name, pt_scan_word(&line));
        else
            sums->failed = true;
    }
}

static void parse_devices(const struct pt_cgroup_file *file, struct pt_scan text,
                          const struct pt_cgroup_devices *stacked, struct pt_cgroup_values *into) {
    struct sums sums = { .file = file, .stacked = stacked };
    if (file->format == PT_CGROUP_DEVICES_V1)
        sum_devices_v1(&sums, text);
    else
        sum_devices_v2(&sums, text);
    for (int i = 0; file->keys[i].text && !sums.failed; i++)
        set(into, &file->keys[i], sums.totals[i]);
}

static void parse_pressure(const struct pt_cgroup_file *file, struct pt_scan text,
                           struct pt_cgroup_values *into) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        const struct pt_cgroup_key *key = find_key(file, pt_scan_word(&line));
        while (key && !at_end(&line)) {
            struct pt_str word = pt_scan_word(&line);
            struct pt_scan s = pt_scan_of(word);
            if (!pt_scan_take(&s, PT_STR("total=")))
                continue;
            int64_t number = pt_scan_i64(&s);
            if (!s.failed && s.at == s.end)
                set(into, key, number);
        }
    }
}

static void parse_cpu_list(const struct pt_cgroup_file *file, struct pt_scan text,
                           struct pt_cgroup_values *into) {
    struct pt_scan line;
    if (!pt_scan_line(&text, &line) || at_end(&line))
        return;
    int64_t count = 0;
    do {
        uint64_t first = pt_scan_u64(&line), last = first;
        if (pt_scan_take(&line, PT_STR("-")))
            last = pt_scan_u64(&line);
        if (line.failed || last < first || last >= CPU_LIST_MAX)
            return;
        count += (int64_t)(last - first + 1);
    } while (pt_scan_take(&line, PT_STR(",")));
    if (at_end(&line))
        set(into, &file->keys[0], count);
}

void pt_cgroup_parse(const struct pt_cgroup_file *file, struct pt_scan text,
                     const struct pt_cgroup_devices *stacked, struct pt_cgroup_values *into) {
    pt_cgroup_forget(file, into);
    if (text.failed)
        return;
    switch (file->format) {
    case PT_CGROUP_FLAT:
        parse_flat(file, text, into);
        break;
    case PT_CGROUP_SINGLE:
    case PT_CGROUP_QUOTA:
        parse_numbers(file, text, into);
        break;
    case PT_CGROUP_DEVICES_V1:
    case PT_CGROUP_DEVICES_V2:
        parse_devices(file, text, stacked, into);
        break;
    case PT_CGROUP_PRESSURE:
        parse_pressure(file, text, into);
        break;
    case PT_CGROUP_CPU_LIST:
        parse_cpu_list(file, text, into);
        break;
    }
}

int pt_cgroup_parse_percpu(struct pt_scan text, int64_t *times_ns, int capacity) {
    struct pt_scan line;
    if (text.failed || !pt_scan_line(&text, &line))
        return -EINVAL;
    int count = 0;
    for (; !at_end(&line); count++) {
        int64_t time = pt_scan_i64(&line);
        if (line.failed || time < 0)
            return -EINVAL;
        if (count < capacity)
            times_ns[count] = time;
    }
    return count;
}

/*   eth0: 1296 10 0 0 0 0 0 0 840 9 0 0 0 0 0 0   (bytes received first, sent ninth) */
int pt_cgroup_parse_net_dev(struct pt_scan text, int64_t *received, int64_t *sent) {
    struct pt_scan line;
    *received = *sent = 0;
    if (text.failed || !pt_scan_line(&text, &line) || !pt_scan_line(&text, &line))
        return -EINVAL;
    while (pt_scan_line(&text, &line)) {
        struct pt_scan name = pt_scan_of(pt_scan_until(&line, ':'));
        int64_t in = pt_scan_i64(&line);
        pt_scan_skip(&line, 7);
        int64_t out = pt_scan_i64(&line);
        if (line.failed)
            return -EINVAL;
        if (pt_str_eq(pt_scan_word(&name), PT_STR("lo")))
            continue;
        if (__builtin_add_overflow(*received, in, received) ||
            __builtin_add_overflow(*sent, out, sent))
            return -EINVAL;
    }
    return 0;
}
