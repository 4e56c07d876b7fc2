#include "kernel/cgroup.h"

#include "base/attr.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const controller_names[PT_CGROUP_CONTROLLER_COUNT] = {
    [PT_CGROUP_CPUACCT] = "cpuacct", [PT_CGROUP_CPU] = "cpu",   [PT_CGROUP_MEMORY] = "memory",
    [PT_CGROUP_BLKIO] = "blkio",     [PT_CGROUP_PIDS] = "pids", [PT_CGROUP_CPUSET] = "cpuset",
};

/* "rw,cpu,cpuacct" to a bit set; words that are no controller of ours are passed over. */
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

/* A v1 machine has /sys/fs/cgroup too: as a plain directory it is no v2 mount. */
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
        /* The kernel says so after the name of a cgroup that was removed under its process. */
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

/* Names of the directories in `fd` go onto the stack of names, each with its terminator. */
static void push_directories(struct pt_cgroup_walk *w, int fd) {
    enum { ENTRIES = 32768 };
    if (!w->entries)
        w->entries = pt_malloc(ENTRIES);
    ssize_t n;
    while ((n = getdents64(fd, w->entries, ENTRIES)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(w->entries + at);
            at += entry->d_reclen;
            bool may_be = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
            if (may_be && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                pt_buf_bytes(&w->names, entry->d_name, strlen(entry->d_name) + 1);
        }
    }
}

struct visitor {
    int (*visit)(void *argument, struct pt_str path, bool is_leaf);
    void *argument;
};

static int walk_below(struct pt_cgroup_walk *w, int fd, const struct visitor *v, int depth);

static int walk_one(struct pt_cgroup_walk *w, int parent, const char *name, const struct visitor *v,
                    int depth) {
    struct stat status;
    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(status.st_mode))
        return 0;
    if (w->count++ >= PT_CGROUP_WALK_COUNT || depth > PT_CGROUP_WALK_DEPTH) {
        w->was_cut = true;
        return 0;
    }
    /* A directory of cgroupfs has two links and one more for each directory in it. */
    bool is_leaf = status.st_nlink == 2;
    struct pt_str path = pt_buf_as_str(&w->path);
    int rc = v->visit(v->argument, path.len ? path : PT_STR("/"), is_leaf);
    if (rc || is_leaf)
        return rc;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    rc = walk_below(w, fd, v, depth);
    close(fd);
    return rc;
}

static int walk_below(struct pt_cgroup_walk *w, int fd, const struct visitor *v, int depth) {
    size_t first = w->names.len, path_length = w->path.len;
    push_directories(w, fd);
    size_t end = w->names.len;
    int rc = 0;
    for (size_t at = first; at < end && !rc;) {
        /* The stack moves when it grows below: the name in the path is the one that stays. */
        size_t length = strlen((const char *)w->names.at + at);
        pt_buf_u8(&w->path, '/');
        pt_buf_bytes(&w->path, w->names.at + at, length + 1);
        w->path.len--;
        char name[NAME_MAX + 1];
        pt_str_copy(name, sizeof name, (struct pt_str){ (char *)w->names.at + at, length });
        rc = walk_one(w, fd, name, v, depth + 1);
        w->path.len = path_length;
        at += length + 1;
    }
    w->names.len = first;
    return rc;
}

int pt_cgroup_walk(struct pt_cgroup_walk *w, const struct pt_cgroup_mount *mount,
                   struct pt_str path,
                   int (*visit)(void *argument, struct pt_str path, bool is_leaf), void *argument) {
    char relative[PATH_MAX];
    w->count = 0;
    w->was_cut = false;
    pt_buf_clear(&w->names);
    pt_buf_clear(&w->path);
    if (!pt_cgroup_relative(mount, path, relative))
        return 0;
    if (!pt_str_eq(path, PT_STR("/")))
        pt_buf_str(&w->path, path);
    return walk_one(w, mount->fd, relative, &(struct visitor){ visit, argument }, 0);
}

void pt_cgroup_walk_release(struct pt_cgroup_walk *w) {
    pt_buf_release(&w->names);
    pt_buf_release(&w->path);
    pt_free(w->entries);
    *w = (struct pt_cgroup_walk){ 0 };
}

/* How well a cgroup fits what somebody typed; the best wins, two equally good do not. */
enum fit { FITS_NOT, FITS_PREFIX, FITS_NAME, FITS_ID };

struct search {
    struct pt_str text;
    enum fit best;
    bool is_ambiguous;
    char *path;
    size_t capacity;
};

static bool is_hex(struct pt_str s) {
    for (size_t i = 0; i < s.len; i++)
        if (!((s.at[i] >= '0' && s.at[i] <= '9') || (s.at[i] >= 'a' && s.at[i] <= 'f')))
            return false;
    return s.len > 0;
}

static bool fits_name(struct pt_str text, struct pt_str name) {
    if (name.len == 0 || !pt_str_starts(name, text))
        return false;
    struct pt_str suffix = pt_str_skip(name, text.len);
    return suffix.len == 0 || pt_str_eq(suffix, PT_STR(".service")) ||
           pt_str_eq(suffix, PT_STR(".scope")) || pt_str_eq(suffix, PT_STR(".slice"));
}

static enum fit fit_of(struct pt_str text, const struct pt_cgroup_identity *identity) {
    if (!identity->is_entity)
        return FITS_NOT;
    if (pt_str_eq(text, identity->id) || pt_str_eq(text, pt_str_from(identity->pod_uid)))
        return identity->id.len && !pt_str_eq(text, identity->id) ? FITS_NOT : FITS_ID;
    if (fits_name(text, identity->name))
        return FITS_NAME;
    return text.len >= 4 && is_hex(text) && pt_str_starts(identity->id, text) ? FITS_PREFIX
                                                                              : FITS_NOT;
}

static int search_visit(void *argument, struct pt_str path, bool is_leaf) {
    (void)is_leaf;
    struct search *search = argument;
    struct pt_cgroup_identity identity;
    pt_cgroup_identify(path, &identity);
    enum fit fit = fit_of(search->text, &identity);
    if (fit == FITS_NOT || fit < search->best)
        return 0;
    if (fit == search->best && !pt_str_eq(path, pt_str_from(search->path)))
        search->is_ambiguous = true;
    if (fit > search->best) {
        search->best = fit;
        search->is_ambiguous = path.len >= search->capacity;
        pt_str_copy(search->path, search->capacity, path);
    }
    return 0;
}

static int find_in(const struct pt_cgroup_layout *l, struct pt_str text, char *path,
                   size_t capacity) {
    pt_str_copy(path, capacity, text);
    if (text.at[0] == '/')
        return text.len < capacity && pt_cgroup_locate(l, text) ? 0 : -ENOENT;
    struct search search = { .text = text, .path = path, .capacity = capacity };
    struct pt_cgroup_walk walk = { 0 };
    for (int i = 0; i < l->mount_count; i++)
        pt_cgroup_walk(&walk, &l->mounts[i], pt_str_from(l->mounts[i].root), search_visit, &search);
    pt_cgroup_walk_release(&walk);
    if (search.best == FITS_NOT)
        return -ENOENT;
    return search.is_ambiguous ? -ENOTUNIQ : 0;
}

int pt_cgroup_find(const struct pt_fs *fs, struct pt_str text, char *path, size_t capacity) {
    struct pt_cgroup_layout layout;
    path[0] = 0;
    if (text.len == 0)
        return -ENOENT;
    int rc = pt_cgroup_layout_open(&layout, fs);
    if (!rc)
        rc = find_in(&layout, text, path, capacity);
    if (rc)
        path[0] = 0;
    pt_cgroup_layout_close(&layout);
    return rc == -ENODATA ? -ENOENT : rc;
}

struct pid_list {
    const struct pt_cgroup_mount *mount;
    struct pt_text *text;
    pid_t *pids;
    int count, capacity;
};

static int pids_visit(void *argument, struct pt_str path, bool is_leaf) {
    (void)is_leaf;
    struct pid_list *list = argument;
    char file[PATH_MAX];
    struct pt_scan text, line;
    if (!pt_cgroup_relative(list->mount, path, file) || strlen(file) + 14 > sizeof file)
        return 0;
    memcpy(file + strlen(file), "/cgroup.procs", 14);
    if (pt_fs_read(list->mount->fd, file, list->text, &text))
        return 0;
    while (pt_scan_line(&text, &line)) {
        int64_t pid = pt_scan_i64(&line);
        /* 0 is a process outside of our PID namespace. */
        if (line.failed || pid <= 0 || pid > INT_MAX)
            continue;
        if (list->count < list->capacity)
            list->pids[list->count] = (pid_t)pid;
        list->count++;
    }
    return 0;
}

/* On hybrid machines the path may be in a hierarchy where nobody has joined it:
 * the first with members is taken, v2 before v1. */
int pt_cgroup_layout_pids(const struct pt_cgroup_layout *l, struct pt_str path,
                          struct pt_cgroup_walk *walk, struct pt_text *text, pid_t *pids,
                          int capacity) {
    uint32_t mounts = pt_cgroup_locate(l, path);
    if (!mounts)
        return -ENOENT;
    for (int version = 2; version >= 1; version--) {
        for (int i = 0; i < l->mount_count; i++) {
            if (!(mounts >> i & 1) || l->mounts[i].version != version)
                continue;
            struct pid_list list = {
                .mount = &l->mounts[i], .text = text, .pids = pids, .capacity = capacity
            };
            pt_cgroup_walk(walk, list.mount, path, pids_visit, &list);
            if (list.count > 0)
                return list.count;
        }
    }
    return 0;
}

int pt_cgroup_pids(const struct pt_fs *fs, const char *path, pid_t *pids, int capacity) {
    struct pt_cgroup_layout layout;
    struct pt_cgroup_walk walk = { 0 };
    struct pt_text text = { 0 };
    int rc = pt_cgroup_layout_open(&layout, fs);
    if (!rc)
        rc = pt_cgroup_layout_pids(&layout, pt_str_from(path), &walk, &text, pids, capacity);
    pt_cgroup_layout_close(&layout);
    pt_cgroup_walk_release(&walk);
    pt_text_release(&text);
    return rc == -ENODATA ? -ENOENT : rc;
}

static struct pt_str best_path(const struct pt_str *paths, int count) {
    for (int i = 0; i < count; i++) {
        struct pt_cgroup_identity identity;
        pt_cgroup_identify(paths[i], &identity);
        if (identity.is_entity)
            return paths[i];
    }
    return paths[0];
}

int pt_cgroup_of_pid(const struct pt_fs *fs, pid_t pid, char *path, size_t capacity) {
    char file[32];
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    struct pt_str paths[PT_CGROUP_PATHS];
    path[0] = 0;
    snprintf(file, sizeof file, "%d/cgroup", (int)pid);
    int rc = pt_fs_read(fs->proc, file, &buffer, &text);
    int count = rc ? 0 : pt_cgroup_paths(text, paths);
    if (count > 0)
        pt_str_copy(path, capacity, best_path(paths, count));
    pt_text_release(&buffer);
    return rc ? rc : (count ? 0 : -ENOENT);
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
    int fd = openat(fs->sys, "block", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            add_stacked(stacked, fs, entry->d_name);
    closedir(directory);
}
