/* collect/container.c -- containers, services, jobs and other cgroups.
 *
 * One row per cgroup path that is a container, pod, service or job. Values come from the hierarchy
 * that has the controller, and only if the same path exists there: on a hybrid machine one row may
 * have CPU and another row the memory. The recorded command always has exactly one row, whatever
 * its path is in each hierarchy.
 * Pitot looks for new groups every few seconds; idle groups are read in full only then, and the
 * times of their values show it. */
#include "base/clock.h"
#include "base/log.h"
#include "collect/cgroup_watch.h"
#include "collect/collector.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WALK_PERIOD_NS     (5 * PT_NS_PER_SECOND)
#define RECORDED_PERIOD_NS PT_NS_PER_SECOND
#define DEVICES_PERIOD_NS  (60 * PT_NS_PER_SECOND)
/* A walk may take 1/50 of the time until the next one. */
#define WALK_SHARE 50
/* Idle groups per second that are read in full, and those of which only CPU usage is read. */
#define FULL_READS_PER_S 200
#define LOOKS_PER_S      1000
#define SLEEP_NS         (5 * PT_NS_PER_SECOND)
/* Who is in the cgroup of a --pid is checked this often, if they are not too many. */
#define MEMBERS_PERIOD_NS (5 * PT_NS_PER_SECOND)
#define MEMBERS_MAX       128
#define ANCESTORS_MAX     64

#define CPU               PT_CGROUP_SOURCE_CPU
#define THROTTLING        PT_CGROUP_SOURCE_THROTTLING
#define MEMORY            PT_CGROUP_SOURCE_MEMORY
#define IO                PT_CGROUP_SOURCE_IO
#define PIDS              PT_CGROUP_SOURCE_PIDS
#define PRESSURE          PT_CGROUP_SOURCE_PRESSURE
#define LIMITS            PT_CGROUP_SOURCE_LIMITS
#define NETWORK           PT_WATCH_NETWORK
#define PROCESSES         PT_WATCH_PROCESSES

#define CONTAINER_COLUMNS(X, t)                                                                    \
    X(t, id, "cId", KEY, STRING, NONE, 0, "Container id; cgroup path if it is not a container",    \
      .title = "Container id", .heading = "ID", .otel = "container.id")                            \
    X(t, name, "cName", INFO, STRING, NONE, 0,                                                     \
      "Name of the unit, job or container, if the path contains it", .title = "Name",              \
      .heading = "NAME", .role = PT_ROLE_NAME, .words = "unit job pod")                            \
    X(t, runtime, "cRuntime", INFO, STRING, NONE, 0,                                               \
      "What created it: docker, containerd, systemd, slurm, ..., or cgroup", .title = "Runtime",   \
      .heading = "RUNTIME", .words = "docker containerd kubernetes slurm systemd")                 \
    X(t, pod_uid, "cPodUid", INFO, STRING, NONE, 0, "Kubernetes pod it belongs to",                \
      .title = "Pod", .importance = PT_RAW, .words = "kubernetes")                                 \
    X(t, path, "cPath", INFO, STRING, NONE, 0, "Path in the cgroup hierarchies",                   \
      .title = "Control group", .words = "cgroup")                                                 \
    X(t, version, "cCgroupVersion", INFO, I64, NONE, 0,                                            \
      "1 if any v1 hierarchy has the path, else 2", .title = "Control group version",              \
      .importance = PT_RAW, .words = "cgroup")                                                     \
    X(t, is_recorded, "cIsRecorded", INFO, I64, NONE, 0,                                           \
      "1 if the command, the --pid or the --container is in it, else 0", .title = "Recorded",      \
      .importance = PT_RAW, .role = PT_ROLE_RECORDED)                                              \
    X(t, is_shared, "cIsShared", INFO, I64, NONE, 0,                                               \
      "Of a recorded one: 1 if other processes are in it, too, else 0", .title = "Shared",         \
      .importance = PT_RAW)                                                                        \
    X(t, cpu_time, "cCpuTime", COUNTER, I64, NANOSECONDS, CPU, "CPU time used",                    \
      .title = "CPU used, cores", .heading = "CORES", .form = PT_FORM_CORES,                       \
      .better = PT_LOWER_IS_BETTER, .limit = "cCpuTightestLimit", .importance = PT_HEADLINE,       \
      .lasts_s = 15, .words = "utilization", .otel = "container.cpu.time")                         \
    X(t, cpu_user, "cCpuTimeUserMode", COUNTER, I64, CENTISECONDS, CPU, "CPU time in user mode",   \
      .title = "CPU, user", .family = "CPU time by mode, cores", .is_stacked = true,               \
      .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .lasts_s = 15)                          \
    X(t, cpu_kernel, "cCpuTimeKernelMode", COUNTER, I64, CENTISECONDS, CPU,                        \
      "CPU time in kernel mode", .title = "CPU, kernel", .family = "CPU time by mode, cores",      \
      .is_stacked = true, .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .lasts_s = 15,      \
      .words = "system sys")                                                                       \
    X(t, memory_used, "cMemoryUsed", GAUGE, I64, BYTES, MEMORY,                                    \
      "Memory charged, including page cache", .title = "Memory used", .heading = "MEMORY",         \
      .better = PT_LOWER_IS_BETTER, .limit = "cMemoryTightestLimit", .importance = PT_HEADLINE,    \
      .lasts_s = 15, .words = "ram page cache", .otel = "container.memory.usage")                  \
    X(t, memory_max_used, "cMemoryMaxUsed", GAUGE, I64, BYTES, MEMORY, "Peak memory charged",      \
      .title = "Peak memory", .better = PT_LOWER_IS_BETTER, .limit = "cMemoryTightestLimit",       \
      .combine = PT_COMBINE_MAX, .lasts_s = 15, .words = "ram maximum")                            \
    X(t, disk_read, "cDiskReadBytes", COUNTER, I64, BYTES, IO, "Bytes read from block devices",    \
      .title = "Disk read", .heading = "READ", .family = "Disk throughput", .lasts_s = 15,         \
      .words = "storage io", .otel = "container.disk.io disk.io.direction=read")                   \
    X(t, disk_written, "cDiskWriteBytes", COUNTER, I64, BYTES, IO,                                 \
      "Bytes written to block devices", .title = "Disk written", .heading = "WRITE",               \
      .family = "Disk throughput", .lasts_s = 15, .words = "storage io",                           \
      .otel = "container.disk.io disk.io.direction=write")                                         \
    X(t, network_received, "cNetworkBytesRecvd", COUNTER, I64, BYTES, NETWORK,                     \
      "Bytes received in its network namespace; null in the host's", .title = "Network received",  \
      .heading = "RECEIVED", .family = "Network traffic", .lasts_s = 15, .words = "rx download",   \
      .otel = "container.network.io network.io.direction=receive")                                 \
    X(t, network_sent, "cNetworkBytesSent", COUNTER, I64, BYTES, NETWORK,                          \
      "Bytes sent in its network namespace; null in the host's", .title = "Network sent",          \
      .heading = "SENT", .family = "Network traffic", .lasts_s = 15, .words = "tx upload",         \
      .otel = "container.network.io network.io.direction=transmit")                                \
    X(t, num_processors, "cNumProcessors", GAUGE, I64, COUNT, LIMITS, "CPUs it may run on",        \
      .title = "CPUs it may use", .combine = PT_COMBINE_NONE, .lasts_s = 15,                       \
      .words = "cpuset affinity")                                                                  \
    X(t, num_processes, "cNumProcesses", GAUGE, I64, COUNT, PROCESSES,                             \
      "Processes in it and its descendants", .title = "Processes", .heading = "PROCS",             \
      .lasts_s = 15)                                                                               \
    X(t, minor_faults, "cPgFault", COUNTER, I64, COUNT, MEMORY, "Minor page faults",               \
      .title = "Minor page faults", .family = "Page faults", .lasts_s = 15,                        \
      .otel = "container.paging.faults {fault} system.paging.fault.type=minor")                    \
    X(t, major_faults, "cMajorPageFault", COUNTER, I64, COUNT, MEMORY, "Major page faults",        \
      .title = "Major page faults", .family = "Page faults", .better = PT_LOWER_IS_BETTER,         \
      .lasts_s = 15, .words = "disk reads",                                                        \
      .otel = "container.paging.faults {fault} system.paging.fault.type=major")                    \
    X(t, working_set, "cWorkingSet", GAUGE, I64, BYTES, MEMORY,                                    \
      "Memory charged without inactive page cache", .title = "Working set", .heading = "WSET",     \
      .better = PT_LOWER_IS_BETTER, .limit = "cMemoryTightestLimit", .importance = PT_HEADLINE,    \
      .lasts_s = 15, .words = "ram memory kubernetes", .otel = "container.memory.working_set")     \
    X(t, memory_anon, "cMemoryAnon", GAUGE, I64, BYTES, MEMORY, "Anonymous memory",                \
      .title = "Anonymous memory", .family = "Memory by kind", .is_stacked = true,                 \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15, .words = "heap stack",                          \
      .otel = "container.memory.rss")                                                              \
    X(t, memory_cached, "cMemoryCached", GAUGE, I64, BYTES, MEMORY, "Page cache",                  \
      .title = "Page cache", .family = "Memory by kind", .is_stacked = true, .lasts_s = 15,        \
      .words = "file cache")                                                                       \
    X(t, swap_used, "cSwapUsed", GAUGE, I64, BYTES, MEMORY, "Swap used", .title = "Swap used",     \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15)                                                 \
    X(t, memory_limit, "cMemoryLimit", GAUGE, I64, BYTES, LIMITS,                                  \
      "Memory limit of the cgroup itself; null = none", .title = "Memory limit, own",              \
      .family = "Memory limits", .combine = PT_COMBINE_NONE, .lasts_s = 15)                        \
    X(t, memory_high, "cMemoryHigh", GAUGE, I64, BYTES, LIMITS,                                    \
      "Memory above which it is throttled; null = none", .title = "Memory throttling limit",       \
      .family = "Memory limits", .combine = PT_COMBINE_NONE, .lasts_s = 15,                        \
      .words = "memory.high")                                                                      \
    X(t, memory_tightest, "cMemoryTightestLimit", GAUGE, I64, BYTES, LIMITS,                       \
      "Smallest memory limit of it and its ancestors", .title = "Memory limit in force",           \
      .heading = "MEM LIMIT", .family = "Memory limits", .combine = PT_COMBINE_NONE,               \
      .lasts_s = 15, .words = "tightest")                                                          \
    X(t, limit_hits, "cMemoryLimitHits", COUNTER, I64, COUNT, MEMORY,                              \
      "Times memory reached the limit", .title = "Memory limit reached",                           \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15, .words = "memory.max")                          \
    X(t, oom_events, "cOomEvents", COUNTER, I64, COUNT, MEMORY, "Times it ran out of memory (v2)", \
      .title = "Out of memory", .family = "Out of memory", .better = PT_LOWER_IS_BETTER,           \
      .lasts_s = 15, .words = "oom")                                                               \
    X(t, oom_kills, "cOomKills", COUNTER, I64, COUNT, MEMORY, "Processes killed for memory",       \
      .title = "Out-of-memory kills", .heading = "OOM", .family = "Out of memory",                 \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .lasts_s = 15,                      \
      .words = "oom killer")                                                                       \
    X(t, cpu_limit, "cCpuLimit", GAUGE, F64, COUNT, LIMITS,                                        \
      "CPU quota of the cgroup itself, in CPUs; null = no quota",                                  \
      .title = "CPU quota, own, cores", .family = "CPU quota, cores", .form = PT_FORM_CORES,       \
      .combine = PT_COMBINE_NONE, .lasts_s = 15)                                                   \
    X(t, cpu_tightest, "cCpuTightestLimit", GAUGE, F64, COUNT, LIMITS,                             \
      "Smallest CPU quota of it and its ancestors", .title = "CPU quota in force, cores",          \
      .heading = "CORES LIMIT", .family = "CPU quota, cores", .form = PT_FORM_CORES,               \
      .combine = PT_COMBINE_NONE, .lasts_s = 15, .words = "tightest")                              \
    X(t, cpu_periods, "cCpuPeriods", COUNTER, I64, COUNT, THROTTLING,                              \
      "Quota periods with runnable tasks", .title = "Quota periods",                               \
      .family = "CPU quota periods", .combine = PT_COMBINE_NONE, .lasts_s = 15)                    \
    X(t, cpu_throttled_periods, "cCpuThrottledPeriods", COUNTER, I64, COUNT, THROTTLING,           \
      "Quota periods in which it was throttled", .title = "Quota periods throttled",               \
      .family = "CPU quota periods", .better = PT_LOWER_IS_BETTER, .limit = "cCpuPeriods",         \
      .combine = PT_COMBINE_NONE, .lasts_s = 15, .words = "throttling")                            \
    X(t, cpu_throttled_time, "cCpuThrottledTime", COUNTER, I64, NANOSECONDS, THROTTLING,           \
      "Time throttled, summed over CPUs", .title = "CPU throttled, cores",                         \
      .heading = "CORES THROTTLED", .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER,           \
      .importance = PT_HEADLINE, .lasts_s = 15, .words = "throttling quota")                       \
    X(t, disk_reads, "cDiskReads", COUNTER, I64, COUNT, IO, "Read operations on block devices",    \
      .title = "Disk reads", .family = "Disk operations", .lasts_s = 15, .words = "iops")          \
    X(t, disk_writes, "cDiskWrites", COUNTER, I64, COUNT, IO, "Write operations on block devices", \
      .title = "Disk writes", .family = "Disk operations", .lasts_s = 15, .words = "iops")         \
    X(t, pids_current, "cPidsCurrent", GAUGE, I64, COUNT, PIDS, "Tasks: processes and threads",    \
      .title = "Tasks", .heading = "TASKS", .limit = "cPidsLimit", .lasts_s = 15,                  \
      .words = "threads processes pids")                                                           \
    X(t, pids_limit, "cPidsLimit", GAUGE, I64, COUNT, LIMITS, "Task limit; null = none",           \
      .title = "Task limit", .combine = PT_COMBINE_NONE, .lasts_s = 15, .words = "pids")           \
    X(t, cpu_some, "cCpuPressureSome", COUNTER, I64, MICROSECONDS, PRESSURE,                       \
      "Time at least one task waited for a CPU", .title = "CPU pressure, some tasks",              \
      .family = "CPU pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,               \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi")                                  \
    X(t, cpu_full, "cCpuPressureFull", COUNTER, I64, MICROSECONDS, PRESSURE,                       \
      "Time all tasks waited for a CPU", .title = "CPU pressure, all tasks",                       \
      .family = "CPU pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,               \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi")                                  \
    X(t, memory_some, "cMemoryPressureSome", COUNTER, I64, MICROSECONDS, PRESSURE,                 \
      "Time at least one task waited for memory", .title = "Memory pressure, some tasks",          \
      .family = "Memory pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,            \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi")                                  \
    X(t, memory_full, "cMemoryPressureFull", COUNTER, I64, MICROSECONDS, PRESSURE,                 \
      "Time all tasks waited for memory", .title = "Memory pressure, all tasks",                   \
      .family = "Memory pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,            \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi")                                  \
    X(t, io_some, "cIoPressureSome", COUNTER, I64, MICROSECONDS, PRESSURE,                         \
      "Time at least one task waited for I/O", .title = "I/O pressure, some tasks",                \
      .family = "I/O pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,               \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi disk")                             \
    X(t, io_full, "cIoPressureFull", COUNTER, I64, MICROSECONDS, PRESSURE,                         \
      "Time all tasks waited for I/O", .title = "I/O pressure, all tasks",                         \
      .family = "I/O pressure", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,               \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "psi disk")

#define CONTAINER_CPU_COLUMNS(X, t)                                                                \
    X(t, id, "cId", KEY, STRING, NONE, 0, "Container id or cgroup path, as in .containers",        \
      .title = "Container id", .heading = "ID", .role = PT_ROLE_NAME)                              \
    X(t, cpu, "cCpu", KEY, I64, NONE, 0, "CPU number", .title = "CPU", .heading = "CPU")           \
    X(t, usage, "cCpuTime", COUNTER, I64, NANOSECONDS, 0, "CPU time on this CPU (cgroup v1 only)", \
      .title = "CPU used, cores", .heading = "CORES", .form = PT_FORM_CORES,                       \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .lasts_s = 15,                      \
      .words = "utilization")

PT_TABLE(container, PT_TABLE_FILE("containers", "containers"),
         "Containers, services, jobs and the cgroups of the recorded command", CONTAINER_COLUMNS,
         "cpu", "throttling", "memory", "io", "pids", "pressure", "limits", "network", "processes");
PT_TABLE(container_cpu, PT_TABLE_PARTS("container", "container_cpus", NULL),
         "CPU time of containers and the recorded command, per CPU", CONTAINER_CPU_COLUMNS,
         "cpuacct.usage_percpu");

_Static_assert(PT_COUNT(container_sources) == PT_WATCH_CPUS, "a time for each source of a watch");

/* Values that go into a column unchanged. */
static const struct {
    enum pt_cgroup_value value;
    int column;
} value_columns[] = {
    { PT_CGROUP_CPU_TIME_NS, container_cpu_time },
    { PT_CGROUP_CPU_USER_CS, container_cpu_user },
    { PT_CGROUP_CPU_KERNEL_CS, container_cpu_kernel },
    { PT_CGROUP_PERIODS, container_cpu_periods },
    { PT_CGROUP_THROTTLED_PERIODS, container_cpu_throttled_periods },
    { PT_CGROUP_THROTTLED_NS, container_cpu_throttled_time },
    { PT_CGROUP_MEMORY_USED, container_memory_used },
    { PT_CGROUP_MEMORY_PEAK, container_memory_max_used },
    { PT_CGROUP_MEMORY_ANON, container_memory_anon },
    { PT_CGROUP_MEMORY_CACHED, container_memory_cached },
    { PT_CGROUP_SWAP_USED, container_swap_used },
    { PT_CGROUP_MAJOR_FAULTS, container_major_faults },
    { PT_CGROUP_OOM_EVENTS, container_oom_events },
    { PT_CGROUP_OOM_KILLS, container_oom_kills },
    { PT_CGROUP_MEMORY_LIMIT_HITS, container_limit_hits },
    { PT_CGROUP_READ_BYTES, container_disk_read },
    { PT_CGROUP_WRITE_BYTES, container_disk_written },
    { PT_CGROUP_READS, container_disk_reads },
    { PT_CGROUP_WRITES, container_disk_writes },
    { PT_CGROUP_PIDS_CURRENT, container_pids_current },
    { PT_CGROUP_CPU_SOME_US, container_cpu_some },
    { PT_CGROUP_CPU_FULL_US, container_cpu_full },
    { PT_CGROUP_MEMORY_SOME_US, container_memory_some },
    { PT_CGROUP_MEMORY_FULL_US, container_memory_full },
    { PT_CGROUP_IO_SOME_US, container_io_some },
    { PT_CGROUP_IO_FULL_US, container_io_full },
    { PT_CGROUP_MEMORY_LIMIT, container_memory_limit },
    { PT_CGROUP_MEMORY_HIGH, container_memory_high },
    { PT_CGROUP_PIDS_LIMIT, container_pids_limit },
};

struct container_state {
    struct pt_cgroup_reader reader;
    struct pt_cgroup_watch **watches; /* the first `sorted_count` are sorted by path */
    size_t watch_count, watch_capacity, sorted_count;
    int64_t next_walk_ns, next_recorded_ns, next_devices_ns, next_members_ns;
    uint32_t walk_number;
    bool has_warned;
    char container_path[PATH_MAX]; /* of --container, or "" */
    /* Our own identity if our cgroup path is "/". */
    struct pt_cgroup_identity self;
    char self_id[65], self_name[256];
};

static int compare_path(const void *key, const void *element) {
    const struct pt_str *path = key;
    const struct pt_cgroup_watch *const *watch = element;
    int order = strncmp(path->at, (*watch)->path, path->len);
    return order ? order : -((*watch)->path[path->len] != 0);
}

static int compare_watches(const void *a, const void *b) {
    const struct pt_cgroup_watch *const *first = a, *const *second = b;
    return strcmp((*first)->path, (*second)->path);
}

static void sort_watches(struct container_state *s) {
    if (s->sorted_count < s->watch_count)
        qsort(s->watches, s->watch_count, sizeof *s->watches, compare_watches);
    s->sorted_count = s->watch_count;
}

static struct pt_cgroup_watch *find_watch(const struct container_state *s, struct pt_str path) {
    struct pt_cgroup_watch **found = NULL;
    if (s->sorted_count)
        found = bsearch(&path, s->watches, s->sorted_count, sizeof *s->watches, compare_path);
    return found ? *found : NULL;
}

/* Appends; the caller sorts before the next search. */
static struct pt_cgroup_watch *add_watch(struct container_state *s, struct pt_str path,
                                         const struct pt_cgroup_identity *identity) {
    pt_grow(&s->watches, &s->watch_capacity, s->watch_count + 1, sizeof(void *));
    struct pt_cgroup_watch *w = pt_cgroup_watch_new(&s->reader, path, identity);
    s->watches[s->watch_count++] = w;
    return w;
}

static void identify(const struct container_state *s, struct pt_str path,
                     struct pt_cgroup_identity *identity) {
    if (path.len == 1)
        *identity = s->self;
    else
        pt_cgroup_identify(path, identity);
}

static int walk_visit(void *argument, struct pt_str path, bool is_leaf) {
    (void)is_leaf;
    struct container_state *s = argument;
    struct pt_cgroup_watch *w = find_watch(s, path);
    if (!w) {
        struct pt_cgroup_identity identity;
        identify(s, path, &identity);
        if (!identity.is_entity)
            return 0;
        w = add_watch(s, path, &identity);
    }
    w->seen = s->walk_number;
    return 0;
}

static bool is_walked(const struct pt_cgroup_layout *l, int mount) {
    if (l->v2_plus_one == mount + 1)
        return true;
    for (int c = 0; c < PT_CGROUP_CONTROLLER_COUNT; c++)
        if (l->v1_plus_one[c] == mount + 1)
            return true;
    return false;
}

static void walk_mounts(struct container_state *s) {
    struct pt_cgroup_walk *walk = &s->reader.walk;
    s->walk_number++;
    for (int i = 0; i < s->reader.layout.mount_count; i++) {
        const struct pt_cgroup_mount *m = &s->reader.layout.mounts[i];
        if (!is_walked(&s->reader.layout, i))
            continue;
        /* A walk visits each path once, so new ones are sorted in at its end. */
        pt_cgroup_walk(walk, m, pt_str_from(m->root), walk_visit, s);
        sort_watches(s);
        if (walk->was_cut && !s->has_warned)
            pt_log(PT_LOG_WARNING, "more than %d cgroups or %d levels in %s; some are not recorded",
                   PT_CGROUP_WALK_COUNT, PT_CGROUP_WALK_DEPTH, m->point);
        s->has_warned |= walk->was_cut;
    }
}

static void remove_gone(struct container_state *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->watch_count; i++) {
        if (s->watches[i]->is_gone)
            pt_cgroup_watch_free(s->watches[i], &s->reader);
        else
            s->watches[kept++] = s->watches[i];
    }
    s->watch_count = s->sorted_count = kept;
}

static void discover(struct container_state *s, const struct pt_context *context) {
    int64_t start_ns = pt_mono_ns();
    walk_mounts(s);
    for (size_t i = 0; i < s->watch_count; i++)
        if (s->watches[i]->seen != s->walk_number && !s->watches[i]->is_recorded)
            s->watches[i]->is_gone = true;
    remove_gone(s);
    int64_t pause_ns = (pt_mono_ns() - start_ns) * WALK_SHARE;
    s->next_walk_ns = context->now_ns + (pause_ns > WALK_PERIOD_NS ? pause_ns : WALK_PERIOD_NS);
    if (context->now_ns < s->next_devices_ns)
        return;
    pt_cgroup_devices_read(&s->reader.stacked, context->fs);
    s->next_devices_ns = context->now_ns + DEVICES_PERIOD_NS;
}

struct recorded {
    struct container_state *state;
    struct pt_cgroup_watch *watches[PT_TARGET_PIDS + 1];
    int count;
};

/* NULL: it is already there. */
static struct pt_cgroup_watch *add_recorded(struct recorded *recorded, struct pt_str path) {
    struct container_state *s = recorded->state;
    struct pt_cgroup_watch *w = find_watch(s, path);
    for (int i = 0; i < recorded->count; i++)
        if (recorded->watches[i] == w)
            return NULL;
    if (!w) {
        struct pt_cgroup_identity identity;
        identify(s, path, &identity);
        w = add_watch(s, path, &identity);
        w->seen = s->walk_number;
        sort_watches(s);
    }
    recorded->watches[recorded->count++] = w;
    return w;
}

static bool is_of_tree(struct container_state *s, const struct pt_context *context, pid_t pid) {
    struct pt_pid_stat stat;
    for (int depth = 0; pid > 0 && depth < ANCESTORS_MAX; depth++) {
        for (int i = 0; i < context->target->pid_count; i++)
            if (context->target->pids[i] == pid)
                return true;
        if (pt_pid_read_stat(context->fs->proc, pid, &s->reader.text, &stat))
            return false;
        pid = (pid_t)stat.parent;
    }
    return false;
}

/* Is the recorded process alone there, with its descendants? */
static bool is_own(struct container_state *s, const struct pt_context *context,
                   const struct pt_cgroup_watch *w, int mount) {
    pid_t pids[MEMBERS_MAX];
    struct pt_str path = pt_cgroup_watch_path(w, mount),
                  name = pt_str_from(context->target->own_group);
    if (name.len > 0)
        return pt_str_ends(path, name) && path.len > name.len &&
               path.at[path.len - name.len - 1] == '/';
    if (path.len == 1)
        return false;
    int count = pt_cgroup_layout_pids(&s->reader.layout, 1u << mount, path, &s->reader.walk,
                                      &s->reader.text, pids, MEMBERS_MAX);
    bool is_alone = count > 0 && count <= MEMBERS_MAX;
    for (int i = 0; i < count && is_alone; i++)
        is_alone = is_of_tree(s, context, pids[i]);
    return is_alone;
}

static void add_recorded_of(struct recorded *recorded, const struct pt_context *context,
                            pid_t pid) {
    struct pt_str paths[PT_CGROUP_PATHS];
    struct pt_scan text;
    struct container_state *s = recorded->state;
    char file[32];
    snprintf(file, sizeof file, "%d/cgroup", (int)pid);
    if (pt_fs_read(context->fs->proc, file, &s->reader.text, &text) ||
        pt_cgroup_paths(text, paths) == 0)
        return;
    struct pt_cgroup_watch *w = add_recorded(recorded, paths[0]);
    if (!w)
        return;
    pt_cgroup_watch_join(w, &s->reader, text);
    if (w->is_recorded && context->now_ns < s->next_members_ns)
        return;
    uint32_t own = 0;
    for (int i = 0; i < s->reader.layout.mount_count; i++)
        if (w->mounts >> i & 1 && is_own(s, context, w, i))
            own |= 1u << i;
    w->is_created = own && context->target->own_group[0];
    pt_cgroup_watch_own(w, &s->reader, own);
}

/* Pitot's own groups have a row, but they are not what is recorded. */
static void keep_own(struct recorded *own, const struct pt_context *context) {
    struct pt_str paths[PT_CGROUP_PATHS];
    struct pt_scan text;
    if (pt_fs_read(context->fs->proc, "self/cgroup", &own->state->reader.text, &text))
        return;
    for (int i = pt_cgroup_paths(text, paths); i > 0; i--) {
        struct pt_cgroup_watch *w = add_recorded(own, paths[i - 1]);
        if (w)
            w->is_entity = true;
    }
}

static void find_container(struct container_state *s, const struct pt_context *context) {
    struct pt_str text = pt_str_from(context->target->container);
    bool is_known = s->container_path[0] && find_watch(s, pt_str_from(s->container_path));
    if (text.len == 0 || is_known)
        return;
    if (pt_cgroup_find(context->fs, text, s->container_path, sizeof s->container_path))
        s->container_path[0] = 0;
}

/* After the command has ended its groups stay recorded, for the last sample. */
static void find_recorded(struct container_state *s, const struct pt_context *context) {
    const struct pt_target *target = context->target;
    struct recorded recorded = { .state = s };
    struct pt_str container = pt_str_from(s->container_path);
    for (int i = 0; i < target->pid_count && !target->container[0]; i++)
        add_recorded_of(&recorded, context, target->pids[i]);
    if (context->now_ns >= s->next_members_ns)
        s->next_members_ns = context->now_ns + MEMBERS_PERIOD_NS;
    if (container.len && pt_cgroup_locate(&s->reader.layout, container))
        pt_cgroup_watch_own(add_recorded(&recorded, container), &s->reader, UINT32_MAX);
    if (target->pid_count == 0 && !target->container[0])
        keep_own(&(struct recorded){ .state = s }, context);
    s->next_recorded_ns = context->now_ns + RECORDED_PERIOD_NS;
    if (recorded.count == 0)
        return;
    for (size_t i = 0; i < s->watch_count; i++)
        s->watches[i]->is_recorded = false;
    for (int i = 0; i < recorded.count; i++)
        recorded.watches[i]->is_recorded = true;
    for (size_t i = 0; i < s->watch_count; i++)
        if (!s->watches[i]->is_recorded &&
            (s->watches[i]->mount_paths || s->watches[i]->own_mounts)) {
            pt_cgroup_watch_join(s->watches[i], &s->reader, pt_scan_of(PT_STR("")));
            pt_cgroup_watch_own(s->watches[i], &s->reader, 0);
        }
    for (size_t i = 0; i < s->watch_count; i++)
        if (!s->watches[i]->is_recorded && !s->watches[i]->is_entity)
            s->watches[i]->is_gone = true;
    remove_gone(s);
}

static void set_text(struct pt_batch *rows, const struct pt_cgroup_watch *w, int column,
                     const char *text) {
    if (text && text[0])
        (w->is_clean ? pt_set_masked : pt_set_str)(rows, column, pt_str_from(text));
}

static void set_derived(struct pt_batch *rows, const struct pt_cgroup_watch *w) {
    const struct pt_cgroup_values *v = &w->values;
    double cores;
    if (pt_cgroup_has(v, PT_CGROUP_MEMORY_USED) &&
        pt_cgroup_has(v, PT_CGROUP_MEMORY_INACTIVE_FILE)) {
        int64_t used = v->at[PT_CGROUP_MEMORY_USED], idle = v->at[PT_CGROUP_MEMORY_INACTIVE_FILE];
        pt_set_i64(rows, container_working_set, used > idle ? used - idle : 0);
    }
    if (pt_cgroup_has(v, PT_CGROUP_FAULTS) && pt_cgroup_has(v, PT_CGROUP_MAJOR_FAULTS) &&
        v->at[PT_CGROUP_FAULTS] >= v->at[PT_CGROUP_MAJOR_FAULTS])
        pt_set_i64(rows, container_minor_faults,
                   v->at[PT_CGROUP_FAULTS] - v->at[PT_CGROUP_MAJOR_FAULTS]);
    if (pt_cgroup_cores(v, &cores))
        pt_set_f64(rows, container_cpu_limit, cores);
    if (w->tightest.has_cores)
        pt_set_f64(rows, container_cpu_tightest, w->tightest.cores);
    if (w->tightest.has_memory)
        pt_set_i64(rows, container_memory_tightest, w->tightest.memory);
    if (w->tightest.has_cpus)
        pt_set_i64(rows, container_num_processors, w->tightest.cpus);
    if (w->has_process_count)
        pt_set_i64(rows, container_num_processes, w->process_count);
    if (w->has_network) {
        pt_set_i64(rows, container_network_received, w->received_bytes);
        pt_set_i64(rows, container_network_sent, w->sent_bytes);
    }
}

static void add_row(struct pt_batch *rows, const struct pt_cgroup_watch *w) {
    pt_batch_add_row(rows);
    set_text(rows, w, container_id, w->id);
    set_text(rows, w, container_name, w->name);
    set_text(rows, w, container_runtime, w->runtime);
    set_text(rows, w, container_pod_uid, w->pod_uid);
    set_text(rows, w, container_path, w->path);
    if (w->version)
        pt_set_i64(rows, container_version, w->version);
    pt_set_i64(rows, container_is_recorded, w->is_recorded);
    if (w->is_recorded)
        pt_set_i64(rows, container_is_shared, w->own_mounts == 0);
    for (int i = 0; i < container_table.source_count; i++)
        pt_set_time(rows, i, w->times_ns[i]);
    for (size_t i = 0; i < PT_COUNT(value_columns); i++)
        if (pt_cgroup_has(&w->values, value_columns[i].value))
            pt_set_i64(rows, value_columns[i].column, w->values.at[value_columns[i].value]);
    set_derived(rows, w);
}

static void add_cpu_rows(struct pt_batch *rows, const struct pt_cgroup_watch *w) {
    for (int i = 0; i < w->cpu_count; i++) {
        pt_batch_add_row(rows);
        pt_set_time(rows, 0, w->times_ns[PT_WATCH_CPUS]);
        set_text(rows, w, container_cpu_id, w->id);
        pt_set_i64(rows, container_cpu_cpu, i);
        pt_set_i64(rows, container_cpu_usage, w->cpu_times_ns[i]);
    }
}

/* What one tick may read of groups that are neither active nor recorded: with thousands of groups
 * they take turns. */
struct pace {
    int64_t now_ns, look_pause_ns;
    int64_t full_reads_left, looks_left;
};

static struct pace pace_of(const struct container_state *s, const struct pt_context *context) {
    int64_t count = (int64_t)s->watch_count;
    return (struct pace){
        .now_ns = context->now_ns,
        .look_pause_ns = count * PT_NS_PER_SECOND / LOOKS_PER_S,
        .full_reads_left = 1 + FULL_READS_PER_S * context->interval_ns / PT_NS_PER_SECOND,
        .looks_left = 1 + LOOKS_PER_S * context->interval_ns / PT_NS_PER_SECOND,
    };
}

static enum pt_cgroup_effort effort_for(struct pt_cgroup_watch *w, struct pace *pace) {
    if (pace->now_ns >= w->due_ns && (w->is_recorded || pace->full_reads_left > 0)) {
        w->due_ns = pace->now_ns + (w->is_recorded ? RECORDED_PERIOD_NS : WALK_PERIOD_NS);
        pace->full_reads_left -= !w->is_recorded;
        return PT_WATCH_ALL;
    }
    if (w->is_recorded)
        return PT_WATCH_VALUES;
    if (w->moved_ns && pace->now_ns - w->moved_ns < SLEEP_NS)
        return PT_WATCH_USAGE;
    if (pace->now_ns < w->look_ns || pace->looks_left <= 0)
        return PT_WATCH_NOTHING;
    w->look_ns = pace->now_ns + pace->look_pause_ns;
    pace->looks_left--;
    return PT_WATCH_USAGE;
}

/* Idle groups close their descriptors when descriptors are scarce. */
static void share_descriptors(struct container_state *s) {
    if (s->reader.kept_count < s->reader.kept_limit / 4 * 3)
        return;
    for (size_t i = 0; i < s->watch_count; i++)
        if (!s->watches[i]->is_active && !s->watches[i]->is_recorded)
            pt_cgroup_watch_rest(s->watches[i], &s->reader);
}

static int container_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct container_state *s = state;
    s->reader.kept_limit = context->fd_budget;
    pt_cgroup_reader_refresh(&s->reader);
    bool is_walk_due = context->now_ns >= s->next_walk_ns;
    if (is_walk_due)
        find_container(s, context);
    if (context->now_ns >= s->next_recorded_ns)
        find_recorded(s, context);
    if (is_walk_due) {
        share_descriptors(s);
        discover(s, context);
    }
    struct pace pace = pace_of(s, context);
    bool was_refused = s->reader.was_refused;
    for (size_t i = 0; i < s->watch_count; i++) {
        struct pt_cgroup_watch *w = s->watches[i];
        pt_cgroup_watch_read(w, &s->reader, effort_for(w, &pace));
        if (w->is_active)
            w->moved_ns = context->now_ns;
        if (w->is_gone)
            continue;
        add_row(&rows[0], w);
        add_cpu_rows(&rows[1], w);
    }
    remove_gone(s);
    if (s->reader.was_refused && !was_refused)
        for (size_t i = 0; i < s->watch_count; i++)
            pt_cgroup_watch_rest(s->watches[i], &s->reader);
    return 0;
}

/* Copies the strings: the identity borrows them. */
static void identify_self(struct container_state *s, const struct pt_fs *fs) {
    char hostname[65];
    struct pt_scan mountinfo;
    if (pt_fs_read_line(fs->proc, "sys/kernel/hostname", hostname, sizeof hostname))
        hostname[0] = 0;
    if (pt_fs_read(fs->proc, "self/mountinfo", &s->reader.text, &mountinfo))
        mountinfo = pt_scan_of(PT_STR(""));
    pt_cgroup_identify_self(mountinfo, pt_str_from(hostname), &s->self);
    s->self.id = pt_str_from(pt_str_copy(s->self_id, sizeof s->self_id, s->self.id));
    s->self.name = pt_str_from(pt_str_copy(s->self_name, sizeof s->self_name, s->self.name));
}

static int container_open(void *state, const struct pt_context *context, struct pt_err *err) {
    (void)err;
    struct container_state *s = state;
    int rc = pt_cgroup_reader_open(&s->reader, context->fs);
    if (!rc)
        identify_self(s, context->fs);
    return rc;
}

static void container_close(void *state) {
    struct container_state *s = state;
    for (size_t i = 0; i < s->watch_count; i++)
        pt_cgroup_watch_free(s->watches[i], &s->reader);
    pt_free(s->watches);
    pt_cgroup_reader_close(&s->reader);
}

const struct pt_collector pt_container_collector = {
    .name = "containers",
    .help = "containers, services, jobs and the cgroups of the recorded command",
    .tables = { &container_table, &container_cpu_table },
    .state_size = sizeof(struct container_state),
    .open = container_open,
    .collect = container_collect,
    .close = container_close,
};
