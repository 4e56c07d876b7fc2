/* The parsers of the machine's files on any bytes: they end, stay inside the text, and what they
 * call a number is one. */
#include "source/kernel/cpu_times.h"
#include "source/kernel/diskstats.h"
#include "source/kernel/keyed.h"
#include "source/kernel/netdev.h"
#include "source/kernel/psi.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(uint32_t present, const int64_t *fields, int count) {
    assert(count == 32 || present >> count == 0);
    for (int i = 0; i < count; i++)
        assert(!pt_fields_has(present, i) || fields[i] >= 0);
}

static void check_stat(struct pt_str input) {
    struct pt_scan text = pt_scan_of(input);
    struct pt_cpu_times times;
    while (pt_cpu_times_next(&text, &times)) {
        assert(times.cpu >= -1);
        check_fields(times.present, times.ticks, PT_CPU_TIME_COUNT);
    }
    assert(text.at <= text.end);
    assert(!pt_str_starts(pt_scan_rest(&text), PT_STR("cpu")));
}

static void check_loadavg(struct pt_str input) {
    struct pt_loadavg load;
    if (pt_loadavg_parse(pt_scan_of(input), &load) == 0)
        assert(load.one >= 0 && load.five >= 0 && load.fifteen >= 0);
}

/* What was learnt from one half must not mislead in the other. */
static void check_keyed(struct pt_str input) {
    struct pt_str half = { input.at, input.len / 2 };
    struct pt_keyed learnt = { 0 }, fresh = { 0 };
    int64_t values[PT_STAT_COUNTER_COUNT], again[PT_STAT_COUNTER_COUNT];
    bool is_present[PT_STAT_COUNTER_COUNT], is_again[PT_STAT_COUNTER_COUNT];
    pt_keyed_read(&fresh, pt_stat_keys, PT_STAT_COUNTER_COUNT, pt_scan_of(input), values,
                  is_present);
    pt_keyed_read(&fresh, pt_stat_keys, PT_STAT_COUNTER_COUNT, pt_scan_of(input), again, is_again);
    for (int i = 0; i < PT_STAT_COUNTER_COUNT; i++) {
        assert(is_present[i] == is_again[i]);
        assert(!is_present[i] || (values[i] == again[i] && values[i] >= 0));
    }
    pt_keyed_read(&learnt, pt_stat_keys, PT_STAT_COUNTER_COUNT, pt_scan_of(half), values,
                  is_present);
    pt_keyed_read(&learnt, pt_stat_keys, PT_STAT_COUNTER_COUNT,
                  pt_scan_of(pt_str_skip(input, half.len)), values, is_present);
}

static void check_diskstats(struct pt_str input) {
    struct pt_scan text = pt_scan_of(input), line;
    while (pt_scan_line(&text, &line)) {
        struct pt_disk_stats stats;
        struct pt_str name = pt_diskstats_name(&line);
        assert(line.failed == (name.len == 0));
        if (line.failed)
            continue;
        assert(!pt_disk_name_is_whole(name) || !pt_disk_name_is_virtual(name));
        pt_diskstats_fields(&line, &stats);
        check_fields(stats.present, stats.fields, PT_DISK_FIELD_COUNT);
    }
}

static void check_netdev(struct pt_str input) {
    struct pt_scan text = pt_scan_of(input);
    struct pt_net_stats stats;
    while (pt_netdev_next(&text, &stats)) {
        assert(stats.name.len > 0 && stats.name.at >= input.at);
        check_fields(stats.present, stats.fields, PT_NET_FIELD_COUNT);
    }
    assert(text.at == text.end);
}

static void check_pressure(struct pt_str input) {
    struct pt_pressure pressure;
    pt_pressure_parse(pt_scan_of(input), &pressure);
    assert(!pressure.some.is_present || pressure.some.total_us >= 0);
    assert(!pressure.full.is_present || pressure.full.total_us >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str input = { (const char *)data, size };
    check_stat(input);
    check_loadavg(input);
    check_keyed(input);
    check_diskstats(input);
    check_netdev(input);
    check_pressure(input);
    return 0;
}
