#include "collect/cgroup_watch.h"

#include "base/mask.h"
#include "base/attr.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

#define LIMITS_ONLY   (1u << PT_CGROUP_SOURCE_LIMITS)
#define THROTTLING    (1u << PT_CGROUP_SOURCE_THROTTLING)
#define CPU_COUNT_MAX 8192
/* Full reads between searches for missing files and hierarchies. */
#define LOCATE_EVERY 12

int pt_cgroup_reader_open(struct pt_cgroup_reader *r, const struct pt_fs *fs) {
    r->fs = fs;
    int rc = pt_cgroup_layout_open(&r->layout, fs);
    if (rc)
        return rc;
    if (pt_fs_readlink(fs->proc, "self/ns/net", r->host_network, sizeof r->host_network))
        r->host_network[0] = 0;
    pt_cgroup_devices_read(&r->stacked, fs);
    return 0;
}

void pt_cgroup_reader_close(struct pt_cgroup_reader *r) {
    pt_cgroup_layout_close(&r->layout);
    pt_cgroup_walk_release(&r->walk);
    pt_text_release(&r->text);
}

/* The mount in which to open a file of a group, plus one; 0 = none. If v1 has the controller, v2 is
 * not used, unless the path exists in v2 only. */
static int mount_of_file(const struct pt_cgroup_layout *l, uint32_t mounts,
                         const struct pt_cgroup_file *file) {
    int v1 = l->v1_plus_one[file->controller], v2 = l->v2_plus_one;
    bool is_in_v1 = v1 && mounts >> (v1 - 1) & 1;
    if (file->version == 1)
        return is_in_v1 ? v1 : 0;
    return v2 && !is_in_v1 && mounts >> (v2 - 1) & 1 ? v2 : 0;
}

struct pt_str pt_cgroup_watch_path(const struct pt_cgroup_watch *w, int mount) {
    const char *other = w->mount_paths ? w->mount_paths[mount] : NULL;
    return pt_str_from(other ? other : w->path);
}

/* Limits and throttling are those of the group, whoever else is in it. */
static uint32_t mounts_for(const struct pt_cgroup_watch *w, const struct pt_cgroup_file *file) {
    bool is_usage = file->sources & ~(LIMITS_ONLY | THROTTLING);
    return is_usage && w->own_mounts ? w->mounts & w->own_mounts : w->mounts;
}

static bool path_of_file(const struct pt_cgroup_mount *m, struct pt_str path, const char *name,
                         char file[PATH_MAX]) {
    if (!pt_cgroup_relative(m, path, file))
        return false;
    size_t length = strlen(file), needed = strlen(name) + 2;
    if (length + needed > PATH_MAX)
        return false;
    file[length] = '/';
    memcpy(file + length + 1, name, needed - 1);
    return true;
}

static int open_in_mount(const struct pt_cgroup_reader *r, int mount_plus_one, struct pt_str path,
                         const char *name, struct pt_file *opened) {
    char file[PATH_MAX];
    if (!mount_plus_one)
        return -ENOENT;
    const struct pt_cgroup_mount *m = &r->layout.mounts[mount_plus_one - 1];
    if (!path_of_file(m, path, name, file))
        return -ENAMETOOLONG;
    return pt_file_open(opened, m->fd, file);
}

/* All files that can exist in the mounts that have the path. */
static void expect_files(struct pt_cgroup_watch *w, const struct pt_cgroup_reader *r) {
    w->files = 0;
    w->version = 0;
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++) {
        if (!mount_of_file(&r->layout, mounts_for(w, &pt_cgroup_files[i]), &pt_cgroup_files[i]))
            continue;
        w->files |= UINT64_C(1) << i;
        if (w->version != 1)
            w->version = pt_cgroup_files[i].version;
    }
}

static uint32_t plain_mounts(const struct pt_cgroup_watch *w) {
    uint32_t mounts = UINT32_MAX;
    for (int i = 0; w->mount_paths && i < PT_CGROUP_MOUNTS; i++)
        mounts &= w->mount_paths[i] ? ~(1u << i) : UINT32_MAX;
    return mounts;
}

/* None if `path` is gone, whatever else the process is in. */
static uint32_t mounts_with(const struct pt_cgroup_watch *w, const struct pt_cgroup_reader *r) {
    uint32_t mounts = pt_cgroup_locate(&r->layout, pt_str_from(w->path)) & plain_mounts(w);
    for (int i = 0; mounts && w->mount_paths && i < r->layout.mount_count; i++)
        if (w->mount_paths[i])
            mounts |= pt_cgroup_locate(&r->layout, pt_str_from(w->mount_paths[i])) & 1u << i;
    return mounts;
}

static void locate(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    bool was_there = w->mounts != 0;
    pt_cgroup_watch_rest(w, r);
    w->mounts = mounts_with(w, r);
    w->is_gone = was_there && !w->mounts;
    w->known = 0;
    w->values.present = 0;
    expect_files(w, r);
}

struct pt_cgroup_watch *pt_cgroup_watch_new(struct pt_cgroup_reader *r, struct pt_str path,
                                            const struct pt_cgroup_identity *identity) {
    struct pt_cgroup_watch *w = pt_calloc(1, sizeof *w);
    w->path = pt_strndup(path);
    w->is_entity = identity->is_entity;
    w->is_container = identity->is_entity && identity->id.len > 0;
    w->id = pt_strndup(w->is_container ? identity->id : path);
    w->name = identity->name.len ? pt_strndup(identity->name) : NULL;
    w->runtime = identity->runtime;
    memcpy(w->pod_uid, identity->pod_uid, sizeof w->pod_uid);
    w->is_clean = pt_mask_is_clean(path) && pt_mask_is_clean(identity->id) &&
                  pt_mask_is_clean(identity->name);
    locate(w, r);
    return w;
}

static void drop_mount_paths(struct pt_cgroup_watch *w) {
    for (int i = 0; w->mount_paths && i < PT_CGROUP_MOUNTS; i++)
        pt_free(w->mount_paths[i]);
    pt_free(w->mount_paths);
    w->mount_paths = NULL;
}

/* The mount of a line of /proc/PID/cgroup, plus one; 0: Pitot does not read that hierarchy. */
static int mount_of_member(const struct pt_cgroup_layout *l, const struct pt_cgroup_member *m) {
    int mount = m->is_v2 ? l->v2_plus_one : 0;
    for (int c = 0; c < PT_CGROUP_CONTROLLER_COUNT && !mount; c++)
        if (m->controllers >> c & 1)
            mount = l->v1_plus_one[c];
    return mount;
}

void pt_cgroup_watch_join(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                          struct pt_scan members) {
    struct pt_cgroup_member member;
    struct pt_scan text = members;
    bool is_same = true, is_plain = true;
    while (pt_cgroup_member_next(&text, &member)) {
        int mount = mount_of_member(&r->layout, &member);
        is_same &= !mount || pt_str_eq(member.path, pt_cgroup_watch_path(w, mount - 1));
        is_plain &= !mount || pt_str_eq(member.path, pt_str_from(w->path));
    }
    if (is_same && is_plain == !w->mount_paths)
        return;
    drop_mount_paths(w);
    text = members;
    while (!is_plain && pt_cgroup_member_next(&text, &member)) {
        int mount = mount_of_member(&r->layout, &member);
        if (!mount || pt_str_eq(member.path, pt_str_from(w->path)))
            continue;
        if (!w->mount_paths)
            w->mount_paths = pt_calloc(PT_CGROUP_MOUNTS, sizeof *w->mount_paths);
        pt_free(w->mount_paths[mount - 1]);
        w->mount_paths[mount - 1] = pt_strndup(member.path);
    }
    locate(w, r);
}

void pt_cgroup_watch_own(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                         uint32_t own_mounts) {
    own_mounts &= w->mounts;
    if (own_mounts == w->own_mounts)
        return;
    w->own_mounts = own_mounts;
    locate(w, r);
}

void pt_cgroup_watch_free(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    pt_cgroup_watch_rest(w, r);
    drop_mount_paths(w);
    pt_free(w->path);
    pt_free(w->id);
    pt_free(w->name);
    pt_free(w->cpu_times_ns);
    pt_free(w);
}

void pt_cgroup_watch_rest(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++) {
        if (!pt_file_is_open(&w->kept[i]))
            continue;
        pt_file_close(&w->kept[i]);
        r->kept_count--;
    }
}

/* A file in the mount that has `file`. */
static int open_of_watch(const struct pt_cgroup_watch *w, const struct pt_cgroup_reader *r,
                         const struct pt_cgroup_file *file, const char *name,
                         struct pt_file *opened) {
    int mount = mount_of_file(&r->layout, mounts_for(w, file), file);
    return mount ? open_in_mount(r, mount, pt_cgroup_watch_path(w, mount - 1), name, opened)
                 : -ENOENT;
}

static bool may_keep(const struct pt_cgroup_reader *r, const struct pt_cgroup_watch *w,
                     const struct pt_cgroup_file *file) {
    if (r->was_refused || r->kept_count >= r->kept_limit || file->sources == LIMITS_ONLY)
        return false;
    /* The last quarter of descriptors is for recorded and active groups. */
    return w->is_recorded || w->is_active || r->kept_count < r->kept_limit / 4 * 3;
}

static int read_file(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r, int index,
                     struct pt_scan *text) {
    const struct pt_cgroup_file *file = &pt_cgroup_files[index];
    if (pt_file_is_open(&w->kept[index]))
        return pt_file_read(&w->kept[index], &r->text, text);
    struct pt_file opened = { 0 };
    bool is_above =
        w->is_created && file->version == 1 && file->keys[0].value == PT_CGROUP_MEMORY_LIMIT_HITS;
    int rc = open_of_watch(w, r, file, is_above ? "../memory.failcnt" : file->name, &opened);
    if (rc)
        return rc;
    rc = pt_file_read(&opened, &r->text, text);
    if (rc || !may_keep(r, w, file)) {
        pt_file_close(&opened);
        return rc;
    }
    w->kept[index] = opened;
    r->kept_count++;
    return 0;
}

static void update_file(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r, int index) {
    const struct pt_cgroup_file *file = &pt_cgroup_files[index];
    struct pt_scan text;
    int64_t now_ns = pt_mono_ns();
    int rc = read_file(w, r, index, &text);
    /* A file has disappeared, or the cgroup of a descriptor was removed (ENODEV). If the path still
     * exists (a restarted service), its files are opened again. */
    if (rc == -ENODEV || (rc == -ENOENT && w->known >> index & 1)) {
        locate(w, r);
        rc = w->is_gone ? rc : read_file(w, r, index, &text);
    }
    if (rc) {
        pt_cgroup_forget(file, &w->values);
        r->was_refused |= rc == -EMFILE || rc == -ENFILE;
        if (rc != -EMFILE && rc != -ENFILE)
            w->files &= ~(UINT64_C(1) << index);
        return;
    }
    w->known |= UINT64_C(1) << index;
    pt_cgroup_parse(file, text, &r->stacked, &w->values);
    for (int s = 0; s < PT_CGROUP_SOURCE_COUNT; s++)
        if (file->sources >> s & 1)
            w->times_ns[s] = now_ns;
}

static bool is_needed(const struct pt_cgroup_watch *w, int index) {
    const struct pt_cgroup_file *file = &pt_cgroup_files[index];
    return w->files >> index & 1 && !(file->is_fallback && w->files >> (index - 1) & 1);
}

/* Reads the first file of the group: its CPU usage, or its memory if it has no CPU controller. True
 * if the number changed. */
static bool update_usage(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r, int *index) {
    for (*index = 0; *index < PT_CGROUP_FILE_COUNT && !w->is_gone; ++*index) {
        if (!is_needed(w, *index))
            continue;
        enum pt_cgroup_value value = pt_cgroup_files[*index].keys[0].value;
        int64_t before = w->values.at[value];
        bool was_known = pt_cgroup_has(&w->values, value);
        update_file(w, r, *index);
        if (w->files >> *index & 1)
            return !was_known || before != w->values.at[value];
    }
    return false;
}

static void update_files(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r, int after,
                         bool limits) {
    for (int i = after + 1; i < PT_CGROUP_FILE_COUNT && !w->is_gone; i++)
        if (is_needed(w, i) && (pt_cgroup_files[i].sources == LIMITS_ONLY) == limits)
            update_file(w, r, i);
}

static void update_cpus(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    if (!w->is_container && !w->is_recorded)
        return;
    struct pt_file opened = { 0 };
    struct pt_scan text;
    int64_t now_ns = pt_mono_ns();
    w->cpu_count = 0;
    if (open_of_watch(w, r, &pt_cgroup_files[0], "cpuacct.usage_percpu", &opened))
        return;
    int count = pt_file_read(&opened, &r->text, &text)
                    ? 0
                    : pt_cgroup_parse_percpu(text, w->cpu_times_ns, (int)w->cpu_capacity);
    pt_file_close(&opened);
    if (count < 0 || count > CPU_COUNT_MAX)
        return;
    if ((size_t)count > w->cpu_capacity) {
        pt_grow(&w->cpu_times_ns, &w->cpu_capacity, (size_t)count, sizeof *w->cpu_times_ns);
        count = pt_cgroup_parse_percpu(text, w->cpu_times_ns, count);
    }
    w->cpu_count = count;
    w->times_ns[PT_WATCH_CPUS] = now_ns;
}

static bool read_network_name(const struct pt_cgroup_reader *r, pid_t pid, char name[64]) {
    char path[32];
    snprintf(path, sizeof path, "%d/ns/net", (int)pid);
    return pt_fs_readlink(r->fs->proc, path, name, 64) == 0;
}

/* Not kept open: that would keep the container's network namespace alive. */
static void update_network(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    char path[32], name[64];
    struct pt_scan text;
    w->has_network = false;
    if (!w->network_pid)
        return;
    int64_t now_ns = pt_mono_ns();
    snprintf(path, sizeof path, "%d/net/dev", (int)w->network_pid);
    if (!read_network_name(r, w->network_pid, name) || strcmp(name, w->network) != 0 ||
        pt_fs_read(r->fs->proc, path, &r->text, &text)) {
        w->network_pid = 0;
        return;
    }
    w->has_network = pt_cgroup_parse_net_dev(text, &w->received_bytes, &w->sent_bytes) == 0;
    w->times_ns[PT_WATCH_NETWORK] = now_ns;
}

/* A member in its own network namespace; in the host's namespace the counters are the host's. */
static void pick_network_pid(struct pt_cgroup_watch *w, const struct pt_cgroup_reader *r,
                             const pid_t *pids, int count) {
    for (int i = 0; i < count && !w->network_pid && r->host_network[0]; i++)
        if (read_network_name(r, pids[i], w->network) && strcmp(w->network, r->host_network) != 0)
            w->network_pid = pids[i];
}

static void update_processes(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    pid_t pids[4];
    int64_t now_ns = pt_mono_ns();
    int count = pt_cgroup_layout_pids(&r->layout, w->mounts & plain_mounts(w), pt_str_from(w->path),
                                      &r->walk, &r->text, pids, (int)PT_COUNT(pids));
    w->has_process_count = count >= 0;
    w->process_count = count;
    w->times_ns[PT_WATCH_PROCESSES] = now_ns;
    if (count > 0)
        pick_network_pid(w, r, pids, count < (int)PT_COUNT(pids) ? count : (int)PT_COUNT(pids));
}

bool pt_cgroup_cores(const struct pt_cgroup_values *v, double *cores) {
    if (!pt_cgroup_has(v, PT_CGROUP_QUOTA_US) || !pt_cgroup_has(v, PT_CGROUP_PERIOD_US) ||
        v->at[PT_CGROUP_PERIOD_US] <= 0)
        return false;
    *cores = (double)v->at[PT_CGROUP_QUOTA_US] / (double)v->at[PT_CGROUP_PERIOD_US];
    return true;
}

static void tighten(struct pt_cgroup_limits *limits, const struct pt_cgroup_values *own) {
    int64_t memory = own->at[PT_CGROUP_MEMORY_LIMIT];
    if (pt_cgroup_has(own, PT_CGROUP_MEMORY_LIMIT) &&
        (!limits->has_memory || memory < limits->memory)) {
        limits->has_memory = true;
        limits->memory = memory;
    }
    double cores;
    if (pt_cgroup_cores(own, &cores) && (!limits->has_cores || cores < limits->cores)) {
        limits->has_cores = true;
        limits->cores = cores;
    }
    if (pt_cgroup_has(own, PT_CGROUP_CPU_COUNT)) {
        limits->has_cpus = true;
        limits->cpus = own->at[PT_CGROUP_CPU_COUNT];
    }
}

static void read_limits(struct pt_cgroup_reader *r, struct pt_str path, uint32_t mounts,
                        struct pt_cgroup_values *values) {
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++) {
        const struct pt_cgroup_file *file = &pt_cgroup_files[i];
        struct pt_file opened = { 0 };
        struct pt_scan text;
        if (file->sources != LIMITS_ONLY || file->controller == PT_CGROUP_PIDS ||
            open_in_mount(r, mount_of_file(&r->layout, mounts, file), path, file->name, &opened))
            continue;
        if (!pt_file_read(&opened, &r->text, &text))
            pt_cgroup_parse(file, text, NULL, values);
        pt_file_close(&opened);
    }
}

void pt_cgroup_reader_refresh(struct pt_cgroup_reader *r) {
    r->level_count = 0;
}

/* Keeps the levels that are also ancestors of `path`. */
static void pop_levels(struct pt_cgroup_reader *r, struct pt_str path, uint32_t mounts) {
    if (r->level_mounts != mounts)
        r->level_count = 0;
    r->level_mounts = mounts;
    while (r->level_count > 0) {
        size_t length = r->levels[r->level_count - 1].path_length;
        bool is_above = length < path.len && memcmp(r->level_path, path.at, length) == 0 &&
                        (length == 1 || path.at[length] == '/');
        if (is_above)
            return;
        r->level_count--;
    }
}

static void push_level(struct pt_cgroup_reader *r, struct pt_str path) {
    struct pt_cgroup_values own = { 0 };
    struct pt_cgroup_limits limits = { 0 };
    if (r->level_count > 0)
        limits = r->levels[r->level_count - 1].limits;
    read_limits(r, path, r->level_mounts, &own);
    tighten(&limits, &own);
    r->levels[r->level_count].path_length = path.len;
    r->levels[r->level_count++].limits = limits;
    memcpy(r->level_path, path.at, path.len);
}

/* The tightest limits of all ancestors of `path`: "/", "/a" and "/a/b" for "/a/b/c". */
static struct pt_cgroup_limits limits_above(struct pt_cgroup_reader *r, struct pt_str path,
                                            uint32_t mounts) {
    pop_levels(r, path, mounts);
    size_t known = r->level_count ? r->levels[r->level_count - 1].path_length : 0;
    if (known == 0 && path.len > 1)
        push_level(r, (struct pt_str){ path.at, 1 });
    for (size_t i = known < 2 ? 1 : known + 1; i < path.len; i++)
        if (path.at[i] == '/' && i < sizeof r->level_path && r->level_count < PT_CGROUP_LEVELS)
            push_level(r, (struct pt_str){ path.at, i });
    return r->level_count ? r->levels[r->level_count - 1].limits : (struct pt_cgroup_limits){ 0 };
}

/* The tightest limits of a path, which these mounts have, and its ancestors. */
static struct pt_cgroup_limits limits_of(struct pt_cgroup_reader *r, struct pt_str path,
                                         uint32_t mounts, const struct pt_cgroup_values *own) {
    struct pt_cgroup_limits limits = limits_above(r, path, mounts);
    int v1 = r->layout.v1_plus_one[PT_CGROUP_CPUSET];
    /* A v2 group without the controller runs on the CPUs of its parent; in v1 an empty list means
     * that nothing may run there. */
    if (v1 && mounts >> (v1 - 1) & 1)
        limits.has_cpus = false;
    tighten(&limits, own);
    return limits;
}

static void update_limits(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r) {
    update_files(w, r, -1, true);
    if (w->is_gone)
        return;
    if (!w->mount_paths)
        w->tightest = limits_of(r, pt_str_from(w->path), w->mounts, &w->values);
    else
        w->tightest = (struct pt_cgroup_limits){ 0 };
    for (int i = 0; w->mount_paths && i < r->layout.mount_count; i++) {
        struct pt_str path = pt_cgroup_watch_path(w, i);
        struct pt_cgroup_values own = { 0 };
        if (!(w->mounts >> i & 1))
            continue;
        read_limits(r, path, 1u << i, &own);
        struct pt_cgroup_limits limits = limits_of(r, path, 1u << i, &own);
        if (limits.has_memory && (!w->tightest.has_memory || limits.memory < w->tightest.memory))
            w->tightest.has_memory = true, w->tightest.memory = limits.memory;
        if (limits.has_cores && (!w->tightest.has_cores || limits.cores < w->tightest.cores))
            w->tightest.has_cores = true, w->tightest.cores = limits.cores;
        if (limits.has_cpus)
            w->tightest.has_cpus = true, w->tightest.cpus = limits.cpus;
    }
    w->times_ns[PT_CGROUP_SOURCE_LIMITS] = pt_mono_ns();
}

void pt_cgroup_watch_read(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                          enum pt_cgroup_effort effort) {
    int usage_file;
    if (effort == PT_WATCH_NOTHING)
        return;
    /* Controllers can be enabled and hierarchies joined later: search again. */
    if (effort == PT_WATCH_ALL && ++w->full_read_count % LOCATE_EVERY == 0) {
        if (mounts_with(w, r) == w->mounts)
            expect_files(w, r);
        else
            locate(w, r);
    }
    w->is_active = update_usage(w, r, &usage_file);
    if (!w->is_active && effort == PT_WATCH_USAGE)
        return;
    update_files(w, r, usage_file, false);
    update_cpus(w, r);
    if (effort == PT_WATCH_ALL) {
        update_limits(w, r);
        update_processes(w, r);
    }
    update_network(w, r);
}
