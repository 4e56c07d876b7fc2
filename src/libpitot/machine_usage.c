#include "libpitot/machine_usage.h"

#include "base/attr.h"
#include "base/clock.h"
#include "source/kernel/cpu_times.h"
#include "source/kernel/diskstats.h"
#include "source/kernel/netdev.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define BYTES_PER_MB (1024.0 * 1024)
#define FIRST_LINE   4096 /* of /proc/stat only the line of all CPUs is needed */
#define FILE_LIMIT   (4u << 20)

static const char stat_path[] = "/proc/stat", memory_path[] = "/proc/meminfo",
                  disks_path[] = "/proc/diskstats", network_path[] = "/proc/net/dev",
                  device_format[] = "/sys/class/net/%.*s/device";

void pt_machine_scan_cpu(struct pt_machine_usage *u, struct pt_scan text) {
    struct pt_cpu_times times;
    u->busy_ticks = u->total_ticks = NAN;
    if (!pt_cpu_times_next(&text, &times) || times.cpu != -1 ||
        !pt_fields_has(times.present, PT_CPU_IDLE))
        return;
    double busy = 0, idle = 0;
    for (int i = 0; i <= PT_CPU_STEAL; i++) { /* guest time is included in user time */
        double ticks = pt_fields_has(times.present, i) ? (double)times.ticks[i] : 0;
        if (i == PT_CPU_IDLE || i == PT_CPU_IOWAIT)
            idle += ticks;
        else
            busy += ticks;
    }
    u->busy_ticks = busy;
    u->total_ticks = busy + idle;
}

void pt_machine_scan_memory(struct pt_machine_usage *u, struct pt_scan text) {
    int64_t total, available;
    u->memory_percent = u->memory_mb = NAN;
    if (!pt_kernel_text_find(text, PT_STR("MemTotal:"), &total) || total <= 0)
        return;
    u->memory_mb = (double)total / 1024;
    if (pt_kernel_text_find(text, PT_STR("MemAvailable:"), &available))
        u->memory_percent = (double)(total - available) / (double)total * 100;
}

void pt_machine_scan_disks(struct pt_machine_usage *u, struct pt_scan text) {
    struct pt_scan line;
    u->disk_count = 0;
    while (pt_scan_line(&text, &line) && u->disk_count < PT_MACHINE_DISKS) {
        struct pt_disk_stats stats;
        struct pt_str name = pt_diskstats_name(&line);
        if (line.failed || !pt_disk_name_is_whole(name))
            continue;
        pt_diskstats_fields(&line, &stats);
        if (!pt_fields_has(stats.present, PT_DISK_IO_MS))
            continue;
        struct pt_machine_disk *disk = &u->disks[u->disk_count++];
        pt_str_copy(disk->name, sizeof disk->name, name);
        disk->busy_ms = stats.fields[PT_DISK_IO_MS];
    }
}

static double bytes_of(const struct pt_net_stats *stats) {
    static const int fields[] = { PT_NET_RX_BYTES, PT_NET_TX_BYTES };
    double bytes = 0;
    for (size_t i = 0; i < PT_COUNT(fields); i++)
        if (pt_fields_has(stats->present, fields[i]))
            bytes += (double)stats->fields[fields[i]];
    return bytes;
}

void pt_machine_scan_network(struct pt_machine_usage *u, struct pt_scan text,
                             bool (*counts)(struct pt_str name)) {
    struct pt_net_stats stats;
    double all = 0, counted = 0;
    bool has_counted = false;
    while (pt_netdev_next(&text, &stats)) {
        if (pt_str_eq(stats.name, PT_STR("lo")))
            continue;
        all += bytes_of(&stats);
        if (!counts(stats.name))
            continue;
        has_counted = true;
        counted += bytes_of(&stats);
    }
    u->network_bytes = has_counted ? counted : all;
}

static bool has_device(struct pt_str name) {
    char path[128];
    snprintf(path, sizeof path, device_format, (int)name.len, name.at);
    return access(path, F_OK) == 0;
}

void pt_machine_usage_read(struct pt_machine_usage *u, struct pt_kernel_text *buffer) {
    struct pt_scan text;
    *u = (struct pt_machine_usage){ .network_bytes = NAN, .disk_count = -1 };
    (void)!pt_kernel_text_read(buffer, stat_path, FIRST_LINE, &text);
    pt_machine_scan_cpu(u, text);
    (void)!pt_kernel_text_read(buffer, memory_path, FILE_LIMIT, &text);
    pt_machine_scan_memory(u, text);
    if (!pt_kernel_text_read(buffer, disks_path, FILE_LIMIT, &text))
        pt_machine_scan_disks(u, text);
    if (!pt_kernel_text_read(buffer, network_path, FILE_LIMIT, &text))
        pt_machine_scan_network(u, text, has_device);
    u->time_ns = pt_mono_ns();
}

static double grown(double from, double to) {
    return to >= from ? to - from : NAN; /* also if one is NAN */
}

double pt_machine_cpu_percent(const struct pt_machine_usage *from,
                              const struct pt_machine_usage *to) {
    double total = grown(from->total_ticks, to->total_ticks);
    double busy = grown(from->busy_ticks, to->busy_ticks);
    return total > 0 ? fmin(busy / total * 100, 100) : NAN; /* idle time may decrease slightly */
}

double pt_machine_busy_seconds(const struct pt_machine_usage *from,
                               const struct pt_machine_usage *to) {
    return grown(from->busy_ticks, to->busy_ticks) / (double)sysconf(_SC_CLK_TCK);
}

static const struct pt_machine_disk *find_disk(const struct pt_machine_usage *u, const char *name) {
    for (int i = 0; i < u->disk_count; i++)
        if (strcmp(u->disks[i].name, name) == 0)
            return &u->disks[i];
    return NULL;
}

double pt_machine_disk_percent(const struct pt_machine_usage *from,
                               const struct pt_machine_usage *to) {
    double ms = (double)(to->time_ns - from->time_ns) / (double)PT_NS_PER_MS, highest = NAN;
    if (ms <= 0)
        return NAN;
    for (int i = 0; i < to->disk_count; i++) {
        const struct pt_machine_disk *before = find_disk(from, to->disks[i].name);
        if (!before || to->disks[i].busy_ms < before->busy_ms)
            continue;
        double percent = (double)(to->disks[i].busy_ms - before->busy_ms) / ms * 100;
        highest = fmax(highest, fmin(percent, 100)); /* NAN is not a maximum */
    }
    return highest;
}

double pt_machine_network_mb(const struct pt_machine_usage *from,
                             const struct pt_machine_usage *to) {
    return grown(from->network_bytes, to->network_bytes) / BYTES_PER_MB;
}
