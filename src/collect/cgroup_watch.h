/* collect/cgroup_watch.h -- reads one cgroup repeatedly at low cost.
 *
 * Its files stay open while there are spare descriptors. If a group used no CPU since the last
 * read, its other values have not changed, so only its CPU usage is read. Everything is read again
 * when the usage changes or a full read is due. */
#ifndef PT_COLLECT_CGROUP_WATCH_H
#define PT_COLLECT_CGROUP_WATCH_H

#include "source/kernel/cgroup.h"

#include <limits.h>

/* Read times of a watch: those of the files, then these. */
enum {
    PT_WATCH_NETWORK = PT_CGROUP_SOURCE_COUNT,
    PT_WATCH_PROCESSES,
    PT_WATCH_CPUS,
    PT_WATCH_SOURCE_COUNT,
};

/* The tightest limits of a cgroup and its ancestors; `cpus` is that of the nearest group. */
struct pt_cgroup_limits {
    bool has_memory, has_cores, has_cpus;
    int64_t memory, cpus;
    double cores;
};

#define PT_CGROUP_LEVELS 32

/* Shared by all watches. */
struct pt_cgroup_reader {
    const struct pt_fs *fs; /* borrowed */
    struct pt_cgroup_layout layout;
    struct pt_cgroup_walk walk;
    struct pt_cgroup_devices stacked;
    struct pt_text text;
    char host_network[64]; /* Pitot's network namespace, or "" */
    int kept_count, kept_limit;
    bool was_refused; /* the limit of open files is reached */
    /* The ancestors of the group that was read last; siblings share most of them. */
    struct {
        size_t path_length;
        struct pt_cgroup_limits limits;
    } levels[PT_CGROUP_LEVELS];
    int level_count;
    uint32_t level_mounts;
    char level_path[PATH_MAX];
};

int pt_cgroup_reader_open(struct pt_cgroup_reader *r, const struct pt_fs *fs) PT_MUST_CHECK;
void pt_cgroup_reader_close(struct pt_cgroup_reader *r);

struct pt_cgroup_watch {
    char *path, *id, *name; /* `id` is the path if it is not a container; `name` may be NULL */
    const char *runtime;
    char pod_uid[64];
    bool is_clean; /* its texts have no secrets: base/mask.h */
    bool is_entity, is_container, is_recorded;
    bool is_active; /* its usage changed at the last read */
    bool is_gone;
    uint32_t seen;   /* number of the walk that saw it last */
    uint32_t mounts; /* bit set: mounts that have the path */
    /* Of a recorded process: its path in each mount where that is not `path`; NULL: in none. */
    char **mount_paths;
    /* Bit set: mounts in which no other process is in the group. Its usage is read only there. 0:
     * everywhere. */
    uint32_t own_mounts;
    bool is_created; /* by Pitot, for the command: the limits are those of the group above */
    int version;     /* 1, 2, or 0: nowhere */
    uint64_t files;  /* bit set of pt_cgroup_files[]: those to read */
    uint64_t known;  /* those that were read at least once */
    uint32_t full_read_count;
    /* Used by the caller to schedule reads. */
    int64_t due_ns;   /* everything is read again */
    int64_t look_ns;  /* the CPU usage of an idle group is read again */
    int64_t moved_ns; /* when its usage last changed */

    struct pt_cgroup_values values;
    int64_t times_ns[PT_WATCH_SOURCE_COUNT]; /* of the last read; 0 = never */
    struct pt_cgroup_limits tightest;
    bool has_network, has_process_count;
    int64_t process_count, received_bytes, sent_bytes;
    int64_t *cpu_times_ns; /* v1, per CPU */
    size_t cpu_capacity;
    int cpu_count;

    pid_t network_pid; /* the member for reading /proc/PID/net; 0 = none */
    char network[64];  /* its network namespace */
    struct pt_file kept[PT_CGROUP_FILE_COUNT];
};

/* Copies `path` and its `identity`. */
struct pt_cgroup_watch *pt_cgroup_watch_new(struct pt_cgroup_reader *r, struct pt_str path,
                                            const struct pt_cgroup_identity *identity);
void pt_cgroup_watch_free(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r);

/* Makes it the group of a process, which may have other paths in other hierarchies. `members` is
 * its /proc/PID/cgroup; empty: `path` everywhere. */
void pt_cgroup_watch_join(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                          struct pt_scan members);
void pt_cgroup_watch_own(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                         uint32_t own_mounts);
/* Its path in that mount. */
struct pt_str pt_cgroup_watch_path(const struct pt_cgroup_watch *w, int mount);

enum pt_cgroup_effort {
    PT_WATCH_NOTHING,
    PT_WATCH_USAGE,  /* CPU usage, and the rest if that changed */
    PT_WATCH_VALUES, /* all values that change */
    PT_WATCH_ALL,    /* also limits, process count and files that were missing */
};

/* Sets `is_gone` if the cgroup was removed; its values are then invalid. */
void pt_cgroup_watch_read(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                          enum pt_cgroup_effort effort);
/* The cores that a CPU quota allows. */
bool pt_cgroup_cores(const struct pt_cgroup_values *values, double *cores);

/* Forgets the shared limits of ancestors; call it once per tick. */
void pt_cgroup_reader_refresh(struct pt_cgroup_reader *r);
/* Closes the descriptors of a watch. */
void pt_cgroup_watch_rest(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r);

#endif
