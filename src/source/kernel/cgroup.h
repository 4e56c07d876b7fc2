/* source/kernel/cgroup.h -- cgroup mounts, members of cgroups, and what their paths mean.
 *
 * A machine has one v2 hierarchy, a v1 hierarchy for each controller or set of controllers, or both
 * (hybrid). Here a cgroup is a *path*: /docker/<id> is one cgroup even if it is a directory in six
 * hierarchies. */
#ifndef PT_SOURCE_KERNEL_CGROUP_H
#define PT_SOURCE_KERNEL_CGROUP_H

#include "base/buf.h"
#include "base/fs.h"
#include "source/kernel/cgroup_file.h"

#define PT_CGROUP_MOUNTS 24

/* A line of /proc/self/mountinfo:
 *
 *     35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
 */
struct pt_cgroup_mount {
    char *point;          /* /sys/fs/cgroup/memory */
    char *root;           /* what of the hierarchy is seen there; "/" = all */
    int version;          /* 1 or 2 */
    uint32_t controllers; /* v1: bit set of enum pt_cgroup_controller; 0 = others or a name */
    int fd;               /* O_PATH directory, or -1 */
};

/* {0} is empty and may be closed. */
struct pt_cgroup_layout {
    struct pt_cgroup_mount mounts[PT_CGROUP_MOUNTS];
    int mount_count;
    /* Index of the v1 mount that has the controller, plus one; 0 = no v1 mount has it. */
    int v1_plus_one[PT_CGROUP_CONTROLLER_COUNT];
    int v2_plus_one;
};

/* Pure: the mounts of a mountinfo text, unopened. Release with pt_cgroup_layout_close(). */
void pt_cgroup_layout_parse(struct pt_cgroup_layout *layout, struct pt_scan mountinfo);
/* Reads mountinfo and opens the mounts below the roots of `fs`. Without mountinfo the usual mount
 * points are tried. -ENODATA: there is no cgroup file system. */
int pt_cgroup_layout_open(struct pt_cgroup_layout *layout, const struct pt_fs *fs) PT_MUST_CHECK;
void pt_cgroup_layout_close(struct pt_cgroup_layout *layout);

/* The directory of a cgroup below a mount, for openat(); "." for its root. False: not
 * visible there. `relative` holds PATH_MAX bytes. */
bool pt_cgroup_relative(const struct pt_cgroup_mount *mount, struct pt_str path, char *relative);
/* Bit set of the mounts (opened) that have this path. */
uint32_t pt_cgroup_locate(const struct pt_cgroup_layout *layout, struct pt_str path);

/* One line of /proc/PID/cgroup: "4:memory:/docker/<id>", "0::/init.scope". */
struct pt_cgroup_member {
    struct pt_str path;
    uint32_t controllers; /* as above; 0 for v2, names and others */
    bool is_v2, is_named;
};

bool pt_cgroup_member_next(struct pt_scan *text, struct pt_cgroup_member *member);

/* The distinct paths other than "/" in a /proc/PID/cgroup, v2 first, then the controllers Pitot
 * reads; if there are none, those of named hierarchies; if all are "/", that one.
 * Borrows the text; returns how many. */
#define PT_CGROUP_PATHS 16
int pt_cgroup_paths(struct pt_scan text, struct pt_str paths[PT_CGROUP_PATHS]);

/* Takes the next component off the front of a path; false at its end. */
bool pt_cgroup_component_next(struct pt_str *rest, struct pt_str *component);

/* What a path means. Strings borrow the path. */
struct pt_cgroup_identity {
    const char *runtime; /* docker, containerd, ..., systemd, slurm, lxc, or cgroup */
    struct pt_str id;    /* of the container; empty: no container */
    struct pt_str name;  /* unit, job or container name; empty: the path has none */
    char pod_uid[64];    /* with dashes, or "" */
    bool is_entity;      /* the path itself is the container, pod, service or job */
};

void pt_cgroup_identify(struct pt_str path, struct pt_cgroup_identity *identity);
/* Inside a container with a cgroup namespace the path is "/": the mounts of the container identify
 * it, or a host name of twelve hex digits. Strings borrow both texts; `is_entity` is false if this
 * is not a container. */
void pt_cgroup_identify_self(struct pt_scan mountinfo, struct pt_str hostname,
                             struct pt_cgroup_identity *identity);

/* Memory of a walk, kept for the next one. {0} is empty. */
#define PT_CGROUP_WALK_DEPTH 12
#define PT_CGROUP_WALK_COUNT 20000
struct pt_cgroup_walk {
    struct pt_buf names, path;
    char *entries;
    int count;
    bool was_cut; /* there is more than the two bounds above allow */
};

/* Calls `visit` for `path` and every cgroup below it in one mount, parents first, names as the
 * kernel gives them; stops at the first non-zero answer and returns it. `is_leaf`: there is nothing
 * below. Unreadable directories are skipped. */
int pt_cgroup_walk(struct pt_cgroup_walk *walk, const struct pt_cgroup_mount *mount,
                   struct pt_str path,
                   int (*visit)(void *argument, struct pt_str path, bool is_leaf), void *argument);
void pt_cgroup_walk_release(struct pt_cgroup_walk *walk);

/* The path for a path, a container id, its first four or more hex digits, or a name ("web",
 * "nginx" for nginx.service). -ENOENT; -ENOTUNIQ: several match. */
int pt_cgroup_find(const struct pt_fs *fs, struct pt_str text, char *path,
                   size_t capacity) PT_MUST_CHECK;
/* Lists the processes in the cgroup and its descendants. Returns their number (possibly more than
 * `capacity`), or -ENOENT: there is no such cgroup. */
int pt_cgroup_pids(const struct pt_fs *fs, const char *path, pid_t *pids, int capacity);

/* The same with an open layout and the `mounts` that have the path; `text` is a buffer to
 * read into. */
int pt_cgroup_layout_pids(const struct pt_cgroup_layout *layout, uint32_t mounts,
                          struct pt_str path, struct pt_cgroup_walk *walk, struct pt_text *text,
                          pid_t *pids, int capacity);

/* Reads /sys/block for devices that are built from others. */
void pt_cgroup_devices_read(struct pt_cgroup_devices *stacked, const struct pt_fs *fs);

#endif
