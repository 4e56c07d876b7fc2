/* collect/cgroup_watch.h -- one cgroup that is read again and again, and cheaply.
 *
 * Its files stay open as long as there are descriptors to spare. A group that
 * used no CPU since the last look has nothing new to tell, so only its CPU
 * usage is read; everything is read again when that moves or when it is due. */
#ifndef PT_COLLECT_CGROUP_WATCH_H
#define PT_COLLECT_CGROUP_WATCH_H

#include "source/kernel/cgroup.h"

#include <limits.h>

/* Times of a watch: those of the files, then these. */
enum {
    PT_WATCH_NETWORK = PT_CGROUP_SOURCE_COUNT,
    PT_WATCH_PROCESSES,
    PT_WATCH_CPUS,
    PT_WATCH_SOURCE_COUNT,
};

/* The tightest limits of a cgroup and all above it; `cpus` is what the nearest one says. */
struct pt_cgroup_limits {
    bool has_memory, has_cores, has_cpus;
    int64_t memory, cpus;
    double cores;
};

#define PT_CGROUP_LEVELS 32

/* What all watches share. */
struct pt_cgroup_reader {
    const struct pt_fs *fs; /* borrowed */
    struct pt_cgroup_layout layout;
    struct pt_cgroup_walk walk;
    struct pt_cgroup_devices stacked;
    struct pt_text text;
    char host_network[64]; /* our own network namespace, or "" */
    int kept_count, kept_limit;
    bool was_refused; /* the process may not open more files */
    /* The groups above the last one whose limits were read; neighbours share most of them. */
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
    char *path, *id, *name; /* `id` is the path where it is no container; `name` may be NULL */
    const char *runtime;
    char pod_uid[64];
    bool is_entity, is_container, is_recorded;
    bool is_active; /* moved when it was looked at last */
    bool is_gone;
    uint32_t seen;   /* number of the walk that saw it last */
    uint32_t mounts; /* bit set: where the path exists */
    int version;     /* 1, 2, or 0: nowhere */
    uint64_t files;  /* bit set of pt_cgroup_files[]: those to be read here */
    uint64_t known;  /* those that were read at least once */
    uint32_t full_read_count;
    /* For whoever paces the reads. */
    int64_t due_ns;   /* everything is read again */
    int64_t look_ns;  /* a sleeper is looked at again */
    int64_t moved_ns; /* its usage was seen to move last */

    struct pt_cgroup_values values;
    int64_t times_ns[PT_WATCH_SOURCE_COUNT]; /* of the last read; 0 = never */
    struct pt_cgroup_limits tightest;
    bool has_network, has_process_count;
    int64_t process_count, received_bytes, sent_bytes;
    int64_t *cpu_times_ns; /* v1, of each CPU */
    size_t cpu_capacity;
    int cpu_count;

    pid_t network_pid; /* a member whose /proc/PID/net is read; 0 = none */
    char network[64];  /* its network namespace */
    struct pt_file kept[PT_CGROUP_FILE_COUNT];
};

/* `identity` says what `path` is; copies. */
struct pt_cgroup_watch *pt_cgroup_watch_new(struct pt_cgroup_reader *r, struct pt_str path,
                                            const struct pt_cgroup_identity *identity);
void pt_cgroup_watch_free(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r);

enum pt_cgroup_effort {
    PT_WATCH_NOTHING,
    PT_WATCH_USAGE,  /* CPU usage, and the rest if it has moved */
    PT_WATCH_VALUES, /* all that changes */
    PT_WATCH_ALL,    /* limits, process count and files that were missing, too */
};

/* Sets `is_gone` when the cgroup was removed; its values are then void. */
void pt_cgroup_watch_read(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r,
                          enum pt_cgroup_effort effort);
/* Cores a CPU quota allows. */
bool pt_cgroup_cores(const struct pt_cgroup_values *values, double *cores);

/* Forgets the limits of groups above that watches share; call it once a tick. */
void pt_cgroup_reader_refresh(struct pt_cgroup_reader *r);
/* Gives the descriptors of a watch back. */
void pt_cgroup_watch_rest(struct pt_cgroup_watch *w, struct pt_cgroup_reader *r);

#endif
