/* store/static_cgroup.c -- /proc/self/cgroup names the group, its directories hold the limits:
 *
 *     4:memory:/docker/0123       v1: /sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes
 *     0::/user.slice/x.scope      v2: /sys/fs/cgroup/user.slice/x.scope/memory.max
 */
#include "store/static_cgroup.h"

#include "store/static_field.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* v1 says "no limit" with the largest number of pages it can count. */
#define V1_UNLIMITED (INT64_C(1) << 60)

#define MICRO        INT64_C(1000000)

/* A group as one hierarchy sees it. */
struct group {
    char base[64]; /* the hierarchy's mount, below /sys */
    char path[PATH_MAX];
    bool is_v2;
};

static bool exists(const struct pt_fs *fs, const char *path) {
    return faccessat(fs->sys, path, F_OK, 0) == 0;
}

enum pt_cgroup_layout pt_static_cgroup_layout(const struct pt_fs *fs) {
    if (exists(fs, "fs/cgroup/cgroup.controllers"))
        return PT_CGROUP_V2;
    if (exists(fs, "fs/cgroup/unified/cgroup.controllers"))
        return PT_CGROUP_HYBRID;
    if (exists(fs, "fs/cgroup/memory") || exists(fs, "fs/cgroup/cpu"))
        return PT_CGROUP_V1;
    return PT_CGROUP_NONE;
}

const char *pt_static_cgroup_name(enum pt_cgroup_layout layout) {
    static const char *const names[] = { NULL, "v1", "v2", "hybrid" };
    return names[layout];
}

static bool list_has(struct pt_str list, struct pt_str word) {
    while (list.len > 0) {
        const char *comma = memchr(list.at, ',', list.len);
        size_t n = comma ? (size_t)(comma - list.at) : list.len;
        if (pt_str_eq((struct pt_str){ list.at, n }, word))
            return true;
        list = pt_str_skip(list, n + 1);
    }
    return false;
}

/* Inside a container the path may be the host's while the mount shows only our own group. */
static void set_path(const struct pt_fs *fs, struct group *g, struct pt_str path) {
    char full[PATH_MAX + sizeof g->base];
    pt_str_copy(g->path, sizeof g->path, pt_str_eq(path, PT_STR("/")) ? PT_STR("") : path);
    snprintf(full, sizeof full, "%s%s", g->base, g->path);
    if (!exists(fs, full))
        g->path[0] = 0;
}

/* The hierarchy that has the controller: a v1 line that lists it, else the v2 line. */
static int find_group(const struct pt_fs *fs, struct pt_scan text, const char *controller,
                      struct group *g) {
    bool is_hybrid = pt_static_cgroup_layout(fs) == PT_CGROUP_HYBRID;
    struct pt_str v2_path = PT_STR("");
    struct pt_scan line;
    bool has_v2 = false;
    while (pt_scan_line(&text, &line)) {
        struct pt_str id = pt_scan_until(&line, ':');
        struct pt_str controllers = pt_scan_until(&line, ':');
        if (line.failed)
            continue;
        if (list_has(controllers, pt_str_from(controller))) {
            *g = (struct group){ .is_v2 = false };
            /* "cpu,cpuacct" is one directory of that name, or a link per controller. */
            snprintf(g->base, sizeof g->base, "fs/cgroup/%.*s", (int)controllers.len,
                     controllers.at);
            if (!exists(fs, g->base))
                snprintf(g->base, sizeof g->base, "fs/cgroup/%s", controller);
            set_path(fs, g, pt_scan_rest(&line));
            return 0;
        }
        if (pt_str_eq(id, PT_STR("0")) && controllers.len == 0) {
            v2_path = pt_scan_rest(&line);
            has_v2 = true;
        }
    }
    if (!has_v2)
        return -ENODATA;
    *g = (struct group){ .is_v2 = true };
    pt_str_copy(g->base, sizeof g->base,
                is_hybrid ? PT_STR("fs/cgroup/unified") : PT_STR("fs/cgroup"));
    set_path(fs, g, v2_path);
    return 0;
}

/* Each reads one limit of the group at `directory`; -ENODATA if there is none. */
static int read_max(int directory, const char *file, int64_t *limit) {
    int rc = pt_fs_read_i64(directory, file, limit);
    if (rc)
        return -ENODATA; /* "max" is not a number */
    return *limit >= V1_UNLIMITED || *limit < 0 ? -ENODATA : 0;
}

static int to_micro_cpus(int64_t quota, int64_t period, int64_t *limit) {
    if (quota <= 0 || period <= 0 || quota > INT64_MAX / MICRO)
        return -ENODATA;
    *limit = quota * MICRO / period;
    return 0;
}

/* "150000 100000" or "max 100000" */
static int read_cpu_max(int directory, const char *file, int64_t *limit) {
    char line[64];
    if (pt_fs_read_line(directory, file, line, sizeof line))
        return -ENODATA;
    struct pt_scan s = pt_scan_of(pt_str_from(line));
    int64_t quota = pt_scan_i64(&s), period = pt_scan_i64(&s);
    return s.failed ? -ENODATA : to_micro_cpus(quota, period, limit);
}

static int read_cpu_quota(int directory, const char *file, int64_t *limit) {
    int64_t quota, period;
    if (pt_fs_read_i64(directory, file, &quota) ||
        pt_fs_read_i64(directory, "cpu.cfs_period_us", &period))
        return -ENODATA;
    return to_micro_cpus(quota, period, limit);
}

struct source {
    const char *file; /* NULL: this version has no such limit */
    int (*read)(int directory, const char *file, int64_t *limit);
};

static const struct limit {
    const char *key, *controller;
    bool is_micro; /* read in millionths */
    struct source v1, v2;
} limits[] = {
    { "cpus", "cpu", true, { "cpu.cfs_quota_us", read_cpu_quota }, { "cpu.max", read_cpu_max } },
    { "memory_bytes",
      "memory",
      false,
      { "memory.limit_in_bytes", read_max },
      { "memory.max", read_max } },
    { "memory_high_bytes", "memory", false, { NULL }, { "memory.high", read_max } },
    { "swap_bytes", "memory", false, { NULL }, { "memory.swap.max", read_max } },
    { "pids", "pids", false, { "pids.max", read_max }, { "pids.max", read_max } },
};

static int read_one(const struct pt_fs *fs, const struct group *g, const struct source *source,
                    int64_t *limit) {
    char path[PATH_MAX + sizeof g->base];
    snprintf(path, sizeof path, "%s%s", g->base, g->path);
    int directory = openat(fs->sys, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -ENODATA;
    int rc = source->read(directory, source->file, limit);
    close(directory);
    return rc;
}

/* From the group up to the root of the hierarchy. */
static int read_tightest(const struct pt_fs *fs, struct group g, const struct source *source,
                         int64_t *tightest) {
    int found = -ENODATA;
    for (;;) {
        int64_t limit;
        if (!read_one(fs, &g, source, &limit) && (found || limit < *tightest)) {
            *tightest = limit;
            found = 0;
        }
        char *slash = strrchr(g.path, '/');
        if (!slash)
            return found;
        *slash = 0;
    }
}

static void put_limit(struct pt_json *j, const struct pt_fs *fs, struct pt_scan text,
                      const struct limit *limit) {
    struct group g;
    int64_t value = 0;
    int rc = find_group(fs, text, limit->controller, &g);
    const struct source *source = !rc && g.is_v2 ? &limit->v2 : &limit->v1;
    if (!rc)
        rc = source->file ? read_tightest(fs, g, source, &value) : -ENODATA;
    if (rc)
        pt_json_null(j, limit->key);
    else if (limit->is_micro)
        pt_json_f64(j, limit->key, (double)value / (double)MICRO);
    else
        pt_json_i64(j, limit->key, value);
}

static void put_cpuset(struct pt_json *j, const struct pt_fs *fs, struct pt_scan text) {
    static const struct {
        const char *key, *v1, *v2;
    } sets[] = {
        { "cpuset_cpus", "cpuset.cpus", "cpuset.cpus.effective" },
        { "cpuset_mems", "cpuset.mems", "cpuset.mems.effective" },
    };
    struct group g = { 0 };
    bool has_group = !find_group(fs, text, "cpuset", &g);
    for (size_t i = 0; i < PT_COUNT(sets); i++) {
        char path[PATH_MAX + 128];
        snprintf(path, sizeof path, "%s%s/%s", g.base, g.path, g.is_v2 ? sets[i].v2 : sets[i].v1);
        if (has_group)
            pt_static_line(j, sets[i].key, fs->sys, path);
        else
            pt_json_null(j, sets[i].key);
    }
}

static void put_paths(struct pt_json *j, struct pt_scan text) {
    struct pt_scan line;
    pt_json_object(j, "paths");
    while (pt_scan_line(&text, &line)) {
        char key[128];
        (void)pt_scan_until(&line, ':');
        struct pt_str controllers = pt_scan_until(&line, ':');
        if (line.failed)
            continue;
        pt_str_copy(key, sizeof key, controllers.len > 0 ? controllers : PT_STR("v2"));
        pt_json_str(j, key, pt_scan_rest(&line));
    }
    pt_json_end(j);
}

void pt_static_put_cgroup(struct pt_json *j, const struct pt_fs *fs) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    pt_json_object(j, "cgroup");
    pt_json_text(j, "version", pt_static_cgroup_name(pt_static_cgroup_layout(fs)));
    int rc = pt_fs_read(fs->proc, "self/cgroup", &buffer, &text);
    if (rc)
        text = pt_scan_of(PT_STR(""));
    put_paths(j, text);
    pt_json_object(j, "limits");
    for (size_t i = 0; i < PT_COUNT(limits); i++)
        put_limit(j, fs, text, &limits[i]);
    put_cpuset(j, fs, text);
    pt_json_end(j);
    pt_json_end(j);
    pt_text_release(&buffer);
}
