#include "store/static_machine.h"

#include "base/clock.h"
#include "base/mem.h"
#include "store/static_field.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define SECTOR_BYTES 512 /* unit of /sys/block/DISK/size for every disk */

/* "32K", "8192K", "1M" as in cache/index0/size. */
static int parse_size(struct pt_str text, int64_t *bytes) {
    static const char suffixes[] = "KMG";
    struct pt_scan s = pt_scan_of(text);
    int64_t size = pt_scan_i64(&s);
    const char *suffix = s.at < s.end ? strchr(suffixes, *s.at) : NULL;
    int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (s.failed || size < 0 || size > INT64_MAX >> shift)
        return -EINVAL;
    *bytes = size << shift;
    return 0;
}

static int read_cache_size(const struct pt_fs *fs, const char *level, const char *type,
                           int64_t *bytes) {
    static const char directory[] = "devices/system/cpu/cpu0/cache";
    char path[128], found[64];
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "%s/index%d/level", directory, i);
        if (pt_fs_read_line(fs->sys, path, found, sizeof found))
            return -ENODATA;
        if (strcmp(found, level) != 0)
            continue;
        snprintf(path, sizeof path, "%s/index%d/type", directory, i);
        if (pt_fs_read_line(fs->sys, path, found, sizeof found) || strcmp(found, type) != 0)
            continue;
        snprintf(path, sizeof path, "%s/index%d/size", directory, i);
        int rc = pt_fs_read_line(fs->sys, path, found, sizeof found);
        return rc ? rc : parse_size(pt_str_from(found), bytes);
    }
    return -ENODATA;
}

void pt_static_put_caches(struct pt_json *j, const struct pt_fs *fs) {
    static const struct {
        const char *key, *level, *type;
    } caches[] = {
        { "L1d", "1", "Data" },
        { "L1i", "1", "Instruction" },
        { "L2", "2", "Unified" },
        { "L3", "3", "Unified" },
    };
    pt_json_object(j, "vCpuCache");
    for (size_t i = 0; i < PT_COUNT(caches); i++) {
        int64_t bytes;
        if (read_cache_size(fs, caches[i].level, caches[i].type, &bytes))
            pt_json_null(j, caches[i].key);
        else
            pt_json_i64(j, caches[i].key, bytes);
    }
    pt_json_end(j);
}

/* "10 21": how far the memory of each node is. */
static void put_distances(struct pt_json *j, int node) {
    char line[1024];
    if (pt_fs_read_line(node, "distance", line, sizeof line)) {
        pt_json_null(j, "distances");
        return;
    }
    struct pt_scan s = pt_scan_of(pt_str_from(line));
    pt_json_array(j, "distances");
    for (int64_t d = pt_scan_i64(&s); !s.failed; d = pt_scan_i64(&s))
        pt_json_i64(j, NULL, d);
    pt_json_end(j);
}

static void put_node(struct pt_json *j, int number, int node) {
    struct pt_text buffer = { 0 };
    struct pt_scan meminfo;
    int64_t bytes;
    pt_json_object(j, NULL);
    pt_json_i64(j, "node", number);
    pt_static_line(j, "cpus", node, "cpulist");
    int rc = pt_fs_read(node, "meminfo", &buffer, &meminfo);
    if (!rc)
        rc = pt_static_find_kib(meminfo, PT_STR(" MemTotal:"), &bytes);
    if (rc)
        pt_json_null(j, "memory_bytes");
    else
        pt_json_i64(j, "memory_bytes", bytes);
    put_distances(j, node);
    pt_json_end(j);
    pt_text_release(&buffer);
}

static int open_below(int directory, const char *parent, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", parent, name);
    return openat(directory, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void put_numa(struct pt_json *j, const struct pt_fs *fs) {
    static const char directory[] = "devices/system/node";
    struct pt_static_names names = { 0 };
    pt_static_names_read(&names, fs->sys, directory);
    pt_json_array(j, "numa");
    for (size_t i = 0; i < names.count; i++) {
        struct pt_scan s = pt_scan_of(pt_str_from(names.at[i]));
        int64_t number = pt_scan_take(&s, PT_STR("node")) ? pt_scan_i64(&s) : -1;
        int node = s.failed || number < 0 ? -1 : open_below(fs->sys, directory, names.at[i]);
        if (node < 0)
            continue;
        put_node(j, (int)number, node);
        close(node);
    }
    pt_json_end(j);
    pt_static_names_release(&names);
}

bool pt_static_is_whole_disk(const char *name) {
    static const char *const others[] = { "loop", "ram", "zram", "dm-", "md", "sr", "fd" };
    for (size_t i = 0; i < PT_COUNT(others); i++) {
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    }
    return true;
}

static void put_disk(struct pt_json *j, const char *name, int disk) {
    int64_t sectors = 0, is_rotational;
    bool has_size = !pt_fs_read_i64(disk, "size", &sectors) && sectors >= 0 &&
                    sectors <= INT64_MAX / SECTOR_BYTES;
    /* unused network block devices and empty card readers */
    if (has_size && sectors == 0)
        return;
    pt_json_object(j, NULL);
    pt_json_text(j, "name", name);
    pt_static_line(j, "model", disk, "device/model");
    if (has_size)
        pt_json_i64(j, "size_bytes", sectors * SECTOR_BYTES);
    else
        pt_json_null(j, "size_bytes");
    if (pt_fs_read_i64(disk, "queue/rotational", &is_rotational))
        pt_json_null(j, "is_rotational");
    else
        pt_json_bool(j, "is_rotational", is_rotational != 0);
    pt_static_choice(j, "scheduler", disk, "queue/scheduler");
    pt_json_end(j);
}

static void put_disks(struct pt_json *j, const struct pt_fs *fs) {
    struct pt_static_names names = { 0 };
    pt_static_names_read(&names, fs->sys, "block");
    pt_json_array(j, "disks");
    for (size_t i = 0; i < names.count; i++) {
        int disk =
            pt_static_is_whole_disk(names.at[i]) ? open_below(fs->sys, "block", names.at[i]) : -1;
        if (disk < 0)
            continue;
        put_disk(j, names.at[i], disk);
        close(disk);
    }
    pt_json_end(j);
    pt_static_names_release(&names);
}

static void put_interface(struct pt_json *j, const char *name, int interface) {
    char driver[512] = "";
    const char *base = NULL;
    if (!pt_fs_readlink(interface, "device/driver", driver, sizeof driver)) {
        base = strrchr(driver, '/');
        base = base ? base + 1 : driver;
    }
    pt_json_object(j, NULL);
    pt_json_text(j, "name", name);
    pt_static_count(j, "mtu_bytes", interface, "mtu");
    pt_static_count(j, "speed_mbit", interface, "speed");
    pt_json_text(j, "driver", base);
    pt_json_bool(j, "is_virtual", faccessat(interface, "device", F_OK, AT_SYMLINK_NOFOLLOW) != 0);
    pt_json_end(j);
}

static void put_interfaces(struct pt_json *j, const struct pt_fs *fs) {
    struct pt_static_names names = { 0 };
    pt_static_names_read(&names, fs->sys, "class/net");
    pt_json_array(j, "interfaces");
    for (size_t i = 0; i < names.count; i++) {
        int interface = open_below(fs->sys, "class/net", names.at[i]);
        if (interface < 0)
            continue; /* bonding_masters is a file */
        put_interface(j, names.at[i], interface);
        close(interface);
    }
    pt_json_end(j);
    pt_static_names_release(&names);
}

static void put_clock(struct pt_json *j, const struct pt_fs *fs) {
    struct timespec resolution;
    long ticks = sysconf(_SC_CLK_TCK);
    pt_json_object(j, "clock");
    pt_static_line(j, "source", fs->sys,
                   "devices/system/clocksource/clocksource0/current_clocksource");
    if (ticks > 0)
        pt_json_i64(j, "ticks_per_second", ticks);
    else
        pt_json_null(j, "ticks_per_second");
    if (fs->is_live && clock_getres(CLOCK_MONOTONIC, &resolution) == 0)
        pt_json_i64(j, "resolution_ns", resolution.tv_sec * PT_NS_PER_SECOND + resolution.tv_nsec);
    else
        pt_json_null(j, "resolution_ns");
    pt_json_end(j);
}

void pt_static_put_devices(struct pt_json *j, const struct pt_fs *fs) {
    put_numa(j, fs);
    put_disks(j, fs);
    put_interfaces(j, fs);
    put_clock(j, fs);
}
