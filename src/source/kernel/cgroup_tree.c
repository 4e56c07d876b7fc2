/* Walks the cgroup tree: descendants of a path, the path for a name, and members. */
#include "source/kernel/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* How well a cgroup matches a name; the best match wins, two equal ones are ambiguous. */
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

/* On hybrid machines the path may have no members in one hierarchy: uses the first hierarchy with
 * members, v2 before v1. */
int pt_cgroup_layout_pids(const struct pt_cgroup_layout *l, uint32_t mounts, struct pt_str path,
                          struct pt_cgroup_walk *walk, struct pt_text *text, pid_t *pids,
                          int capacity) {
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
        rc = pt_cgroup_layout_pids(&layout, pt_cgroup_locate(&layout, pt_str_from(path)),
                                   pt_str_from(path), &walk, &text, pids, capacity);
    pt_cgroup_layout_close(&layout);
    pt_cgroup_walk_release(&walk);
    pt_text_release(&text);
    return rc == -ENODATA ? -ENOENT : rc;
}
