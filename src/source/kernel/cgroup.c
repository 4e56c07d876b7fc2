#include "source/kernel/cgroup.h"

#include "base/attr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static const char *const controller_names[PT_CGROUP_CONTROLLER_COUNT] = {
    [PT_CGROUP_CPUACCT] = "cpuacct", [PT_CGROUP_CPU] = "cpu",   [PT_CGROUP_MEMORY] = "memory",
    [PT_CGROUP_BLKIO] = "blkio",     [PT_CGROUP_PIDS] = "pids", [PT_CGROUP_CPUSET] = "cpuset",
};

/* Converts "rw,cpu,cpuacct" to a bit set; skips words that are not a known controller. */
static uint32_t controllers_of(struct pt_str list) {
    uint32_t controllers = 0;
    while (list.len > 0) {
        const char *comma = memchr(list.at, ',', list.len);
        struct pt_str word = { list.at, comma ? (size_t)(comma - list.at) : list.len };
        for (unsigned i = 0; i < PT_COUNT(controller_names); i++)
            if (controller_names[i] && pt_str_eq(word, pt_str_from(controller_names[i])))
                controllers |= 1u << i;
        list = pt_str_skip(list, word.len + 1);
    }
    return controllers;
}

static bool is_octal_escape(struct pt_str s, size_t i) {
    return s.at[i] == '\\' && i + 3 < s.len && s.at[i + 1] >= '0' && s.at[i + 1] <= '3' &&
           s.at[i + 2] >= '0' && s.at[i + 2] <= '7' && s.at[i + 3] >= '0' && s.at[i + 3] <= '7';
}

/* mountinfo writes blanks as \040; copies. */
static char *unescape(struct pt_str s) {
    char *text = pt_malloc(s.len + 1);
    size_t length = 0;
    for (size_t i = 0; i < s.len; i++) {
        text[length++] = s.at[i];
        if (!is_octal_escape(s, i))
            continue;
        text[length - 1] =
            (char)((s.at[i + 1] - '0') << 6 | (s.at[i + 2] - '0') << 3 | (s.at[i + 3] - '0'));
        i += 3;
    }
    text[length] = 0;
    return text;
}

struct mountinfo_line {
    struct pt_str root, point, type, options;
};

static bool mountinfo_next(struct pt_scan *text, struct mountinfo_line *m) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        pt_scan_skip(&line, 3);
        m->root = pt_scan_word(&line);
        m->point = pt_scan_word(&line);
        pt_scan_skip(&line, 1);
        while (!line.failed && !pt_str_eq(pt_scan_word(&line), PT_STR("-")))
            continue;
        m->type = pt_scan_word(&line);
        pt_scan_skip(&line, 1);
        m->options = pt_scan_word(&line);
        if (!line.failed)
            return true;
    }
    return false;
}

static void add_mount(struct pt_cgroup_layout *l, struct pt_cgroup_mount mount) {
    if (l->mount_count < PT_CGROUP_MOUNTS) {
        l->mounts[l->mount_count++] = mount;
        return;
    }
    pt_free(mount.point);
    pt_free(mount.root);
}

/* Of several mounts of one hierarchy the one that shows most: the shortest root. */
static bool shows_more(const struct pt_cgroup_layout *l, int mount, int than_plus_one) {
    return !than_plus_one ||
           strlen(l->mounts[mount].root) < strlen(l->mounts[than_plus_one - 1].root);
}

static void choose_owners(struct pt_cgroup_layout *l) {
    memset(l->v1_plus_one, 0, sizeof l->v1_plus_one);
    l->v2_plus_one = 0;
    for (int i = 0; i < l->mount_count; i++) {
        if (l->mounts[i].version == 2 && shows_more(l, i, l->v2_plus_one))
            l->v2_plus_one = i + 1;
        for (int c = 0; c < PT_CGROUP_CONTROLLER_COUNT; c++)
            if (l->mounts[i].controllers >> c & 1 && shows_more(l, i, l->v1_plus_one[c]))
                l->v1_plus_one[c] = i + 1;
    }
}

void pt_cgroup_layout_parse(struct pt_cgroup_layout *l, struct pt_scan mountinfo) {
    *l = (struct pt_cgroup_layout){ 0 };
    struct mountinfo_line m;
    while (mountinfo_next(&mountinfo, &m)) {
        bool is_v2 = pt_str_eq(m.type, PT_STR("cgroup2"));
        if (!is_v2 && !pt_str_eq(m.type, PT_STR("cgroup")))
            continue;
        add_mount(l, (struct pt_cgroup_mount){ .point = unescape(m.point),
                                               .root = unescape(m.root),
                                               .version = is_v2 ? 2 : 1,
                                               .controllers = is_v2 ? 0 : controllers_of(m.options),
                                               .fd = -1 });
    }
    choose_owners(l);
}

/* A captured tree may have no mountinfo: the places every distribution uses. */
static void guess_mounts(struct pt_cgroup_layout *l) {
    static const struct {
        const char *point, *controllers;
    } places[] = {
        { "/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct" },
        { "/sys/fs/cgroup/cpu", "cpu" },
        { "/sys/fs/cgroup/cpuacct", "cpuacct" },
        { "/sys/fs/cgroup/cpuset", "cpuset" },
        { "/sys/fs/cgroup/memory", "memory" },
        { "/sys/fs/cgroup/blkio", "blkio" },
        { "/sys/fs/cgroup/pids", "pids" },
        { "/sys/fs/cgroup/unified", NULL },
        { "/sys/fs/cgroup", NULL },
    };
    for (size_t i = 0; i < PT_COUNT(places); i++) {
        const char *controllers = places[i].controllers;
        struct pt_str list = pt_str_from(controllers ? controllers : "");
        add_mount(l, (struct pt_cgroup_mount){ .point = pt_strdup(places[i].point),
                                               .root = pt_strdup("/"),
                                               .version = controllers ? 1 : 2,
                                               .controllers = controllers_of(list),
                                               .fd = -1 });
    }
}

static int open_mount(struct pt_cgroup_mount *m, const struct pt_fs *fs) {
    struct pt_str point = pt_str_from(m->point);
    bool in_sys = pt_str_starts(point, PT_STR("/sys/"));
    const char *relative = m->point + (in_sys ? 5 : 1);
    m->fd = openat(in_sys ? fs->sys : fs->root, relative, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return m->fd < 0 ? -errno : 0;
}

static void release_mount(struct pt_cgroup_mount *m) {
    if (m->fd >= 0)
        close(m->fd);
    pt_free(m->point);
    pt_free(m->root);
}

/* A v1 machine also has /sys/fs/cgroup, but as a plain directory, not a v2 mount. */
static bool is_plain_directory(const struct pt_cgroup_mount *m) {
    return m->version == 2 && faccessat(m->fd, "cgroup.controllers", F_OK, 0) &&
           faccessat(m->fd, "cgroup.procs", F_OK, 0) && faccessat(m->fd, "cpu.stat", F_OK, 0);
}

static void open_mounts(struct pt_cgroup_layout *l, const struct pt_fs *fs) {
    int kept = 0;
    for (int i = 0; i < l->mount_count; i++) {
        struct pt_cgroup_mount *m = &l->mounts[i];
        if (open_mount(m, fs) || is_plain_directory(m))
            release_mount(m);
        else
            l->mounts[kept++] = *m;
    }
    l->mount_count = kept;
    choose_owners(l);
}

int pt_cgroup_layout_open(struct pt_cgroup_layout *l, const struct pt_fs *fs) {
    struct pt_text buffer = { 0 };
    struct pt_scan mountinfo;
    /* In a container that sees the host's files elsewhere our own mounts are the wrong ones. */
    int rc = fs->is_live ? -ENOENT : pt_fs_read(fs->proc, "1/mountinfo", &buffer, &mountinfo);
    if (rc)
        rc = pt_fs_read(fs->proc, "self/mountinfo", &buffer, &mountinfo);
    pt_cgroup_layout_parse(l, rc ? pt_scan_of(PT_STR("")) : mountinfo);
    pt_text_release(&buffer);
    open_mounts(l, fs);
    if (l->mount_count == 0) {
        guess_mounts(l);
        open_mounts(l, fs);
    }
    return l->mount_count ? 0 : -ENODATA;
}

void pt_cgroup_layout_close(struct pt_cgroup_layout *l) {
    for (int i = 0; i < l->mount_count; i++)
        release_mount(&l->mounts[i]);
    *l = (struct pt_cgroup_layout){ 0 };
}

bool pt_cgroup_component_next(struct pt_str *rest, struct pt_str *component) {
    while (rest->len > 0 && rest->at[0] == '/')
        *rest = pt_str_skip(*rest, 1);
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    *component = (struct pt_str){ rest->at, slash ? (size_t)(slash - rest->at) : rest->len };
    *rest = pt_str_skip(*rest, component->len);
    return component->len > 0;
}

/* ".." would lead out of the mount. */
static bool climbs(struct pt_str path) {
    struct pt_str component;
    while (pt_cgroup_component_next(&path, &component))
        if (pt_str_eq(component, PT_STR("..")))
            return true;
    return false;
}

bool pt_cgroup_relative(const struct pt_cgroup_mount *m, struct pt_str path, char *relative) {
    struct pt_str root = pt_str_from(m->root);
    if (pt_str_eq(root, PT_STR("/")))
        root.len = 0;
    if (!pt_str_starts(path, root))
        return false;
    struct pt_str below = pt_str_skip(path, root.len);
    if (below.len > 0 && below.at[0] != '/')
        return false;
    while (below.len > 0 && below.at[0] == '/')
        below = pt_str_skip(below, 1);
    if (climbs(below) || below.len >= PATH_MAX || memchr(below.at, 0, below.len))
        return false;
    pt_str_copy(relative, PATH_MAX, below.len ? below : PT_STR("."));
    return true;
}

uint32_t pt_cgroup_locate(const struct pt_cgroup_layout *l, struct pt_str path) {
    char relative[PATH_MAX];
    uint32_t found = 0;
    for (int i = 0; i < l->mount_count; i++) {
        const struct pt_cgroup_mount *m = &l->mounts[i];
        if (pt_cgroup_relative(m, path, relative) && faccessat(m->fd, relative, F_OK, 0) == 0)
            found |= 1u << i;
    }
    return found;
}

bool pt_cgroup_member_next(struct pt_scan *text, struct pt_cgroup_member *member) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        (void)pt_scan_until(&line, ':');
        struct pt_str list = pt_scan_until(&line, ':'), path = pt_scan_rest(&line);
        if (line.failed || path.len == 0 || path.at[0] != '/')
            continue;
        /* The kernel appends this if the cgroup was removed while the process was in it. */
        if (pt_str_ends(path, PT_STR(" (deleted)")))
            path.len -= sizeof " (deleted)" - 1;
        *member = (struct pt_cgroup_member){ .path = path,
                                             .controllers = controllers_of(list),
                                             .is_v2 = list.len == 0,
                                             .is_named = pt_str_starts(list, PT_STR("name=")) };
        return true;
    }
    return false;
}

static int add_path(struct pt_str *paths, int count, struct pt_str path) {
    for (int i = 0; i < count; i++)
        if (pt_str_eq(paths[i], path))
            return count;
    if (path.len <= 1 || count == PT_CGROUP_PATHS)
        return count;
    paths[count] = path;
    return count + 1;
}

int pt_cgroup_paths(struct pt_scan text, struct pt_str paths[PT_CGROUP_PATHS]) {
    enum { V2, CONTROLLERS, NAMED, ROUNDS };
    int count = 0;
    bool has_root = false;
    for (int round = V2; round < ROUNDS && !(round == NAMED && count > 0); round++) {
        struct pt_scan s = text;
        struct pt_cgroup_member member;
        while (pt_cgroup_member_next(&s, &member)) {
            has_root |= member.path.len == 1;
            if (round == V2 ? member.is_v2
                            : (round == NAMED ? member.is_named : member.controllers != 0))
                count = add_path(paths, count, member.path);
        }
    }
    if (count == 0 && has_root)
        paths[count++] = PT_STR("/");
    return count;
}

static bool is_empty_directory(int directory, const char *path) {
    int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return true;
    _Alignas(struct dirent64) char entries[4096];
    int count = 0;
    ssize_t n = getdents64(fd, entries, sizeof entries);
    for (ssize_t at = 0; at < n; count++)
        at += ((const struct dirent64 *)(const void *)(entries + at))->d_reclen;
    close(fd);
    return count <= 2;
}

static void add_stacked(struct pt_cgroup_devices *stacked, const struct pt_fs *fs,
                        const char *name) {
    char path[NAME_MAX + 32], device[32];
    snprintf(path, sizeof path, "block/%s/slaves", name);
    bool is_loop = pt_str_starts(pt_str_from(name), PT_STR("loop"));
    if (stacked->count == PT_CGROUP_DEVICES || (!is_loop && is_empty_directory(fs->sys, path)))
        return;
    snprintf(path, sizeof path, "block/%s/dev", name);
    if (pt_fs_read_line(fs->sys, path, device, sizeof device))
        return;
    if (pt_cgroup_parse_device(pt_str_from(device), &stacked->at[stacked->count].major,
                               &stacked->at[stacked->count].minor))
        stacked->count++;
}

void pt_cgroup_devices_read(struct pt_cgroup_devices *stacked, const struct pt_fs *fs) {
    stacked->count = 0;
    DIR *directory = pt_fs_list(fs->sys, "block");
    if (!directory)
        return;
    const struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            add_stacked(stacked, fs, entry->d_name);
    closedir(directory);
}
