/* collect/process.c -- processes: one row each, and totals of the machine and the recorded tree.
 *
 * process_read.h says what is read and when. Processes that start and end between two ticks are
 * counted by the events of source/kernel/proc_events.h. */
#include "collect/process_read.h"

#include "base/clock.h"
#include "collect/source.h"
#include "source/kernel/proc_events.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define LIST_PERIOD_NS             PT_NS_PER_SECOND       /* /proc is listed at least this often */
#define LIST_PERIOD_WITH_EVENTS_NS (5 * PT_NS_PER_SECOND) /* if the kernel reports forks */

enum { LISTING, TREE, EVENTS, RECORDS };

#define TOTALS_COLUMNS(X, t)                                                                       \
    X(t, processes, "pNumProcesses", GAUGE, I64, COUNT, LISTING, "Processes",                      \
      .title = "Processes", .family = "Processes", .lasts_s = 15,                                  \
      .otel = "system.process.count {process}")                                                    \
    X(t, threads, "pNumThreadsTotal", GAUGE, I64, COUNT, LISTING, "Threads of all processes",      \
      .title = "Threads", .family = "Threads", .lasts_s = 15)                                      \
    X(t, tree_processes, "pTreeNumProcesses", GAUGE, I64, COUNT, TREE,                             \
      "Processes of the recorded tree", .title = "Processes of the command",                       \
      .family = "Processes", .words = "tree")                                                      \
    X(t, tree_threads, "pTreeNumThreads", GAUGE, I64, COUNT, TREE, "Threads of the recorded tree", \
      .title = "Threads of the command", .family = "Threads", .words = "tree")                     \
    X(t, tree_resident, "pTreeResidentSetSize", GAUGE, I64, BYTES, TREE,                           \
      "Resident memory of the recorded tree; shared pages count in each process",                  \
      .title = "Memory of the command", .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,   \
      .words = "rss resident ram tree")                                                            \
    X(t, tree_cpu, "pTreeCpuTime", COUNTER, I64, NANOSECONDS, TREE,                                \
      "CPU time of the recorded tree; ended processes count as last seen",                         \
      .title = "CPU used by the command, cores", .form = PT_FORM_CORES,                            \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .words = "utilization tree")        \
    X(t, forks, "pForks", COUNTER, I64, COUNT, EVENTS, "Processes started since Pitot started",    \
      .title = "Processes forked", .family = "Processes started and ended", .words = "created")    \
    X(t, execs, "pExecs", COUNTER, I64, COUNT, EVENTS, "Programs started since Pitot started",     \
      .title = "Programs started", .family = "Processes started and ended")                        \
    X(t, exits, "pExits", COUNTER, I64, COUNT, EVENTS, "Processes ended since Pitot started",      \
      .title = "Processes ended", .family = "Processes started and ended")                         \
    X(t, short_lived, "pShortLivedProcesses", COUNTER, I64, COUNT, EVENTS,                         \
      "Processes that ended before any sample saw them", .title = "Short-lived processes")         \
    X(t, events_lost, "pEventsLost", COUNTER, I64, COUNT, EVENTS,                                  \
      "Times the kernel dropped events; if not 0, the process counts are too low",                 \
      .title = "Process events lost", .better = PT_LOWER_IS_BETTER, .importance = PT_RAW)          \
    X(t, short_lived_cpu, "pShortLivedCpuTime", COUNTER, I64, NANOSECONDS, RECORDS,                \
      "CPU time of processes that ended before any sample saw them; sampled by clock ticks, "      \
      "right on average",                                                                          \
      .title = "CPU of short-lived processes, cores", .form = PT_FORM_CORES,                       \
      .better = PT_LOWER_IS_BETTER)

PT_TABLE(process_totals, PT_TABLE_MAIN("processes"), "Processes of the machine", TOTALS_COLUMNS,
         "/proc", "recorded tree", "proc connector", "taskstats");

#define STAT     PT_PROCESS_STAT
#define STATM    PT_PROCESS_STATM
#define IO       PT_PROCESS_IO
#define CLOCK    PT_PROCESS_CLOCK
#define STATUS   PT_PROCESS_STATUS
#define SWITCHES PT_PROCESS_SWITCHES
#define ROLLUP   PT_PROCESS_ROLLUP

#define PROCESS_COLUMNS(X, t)                                                                      \
    X(t, id, "pId", KEY, I64, NONE, STAT, "Process id", .title = "Process id", .heading = "PID",   \
      .role = PT_ROLE_PROCESS, .otel = "process.pid")                                              \
    X(t, start_time, "pStartTime", KEY, I64, MILLISECONDS, STAT,                                   \
      "Start of the process, Unix time; identifies the process together with pId, as ids are "     \
      "reused",                                                                                    \
      .title = "Started", .importance = PT_RAW, .role = PT_ROLE_START)                             \
    X(t, name, "pName", INFO, STRING, NONE, STAT, "Name of the program", .title = "Name",          \
      .heading = "NAME", .role = PT_ROLE_NAME, .words = "program")                                 \
    X(t, command_line, "pCmdline", INFO, STRING, NONE, STAT,                                       \
      "Command line with secrets masked, first 4096 bytes", .title = "Command line",               \
      .role = PT_ROLE_COMMAND, .heading = "COMMAND", .words = "arguments")                         \
    X(t, parent, "pParentId", INFO, I64, NONE, STAT, "Process id of the parent",                   \
      .title = "Parent", .heading = "PPID", .role = PT_ROLE_PARENT, .words = "ppid")               \
    X(t, namespace_id, "pNsPid", INFO, I64, NONE, STATUS,                                          \
      "Process id inside its own (innermost) pid namespace",                                       \
      .title = "Process id in its namespace", .importance = PT_RAW, .words = "container pid")      \
    X(t, user_id, "pUid", INFO, I64, NONE, STATUS, "Real user id", .title = "User id",             \
      .heading = "UID", .words = "owner")                                                          \
    X(t, cgroup, "pCgroup", INFO, STRING, NONE, STATUS, "Control group", .title = "Control group", \
      .words = "container")                                                                        \
    X(t, is_recorded, "pIsRecorded", INFO, I64, NONE, STAT,                                        \
      "1 if it is in the recorded tree: the command or --pid, and all descendants",                \
      .title = "Recorded", .importance = PT_RAW, .role = PT_ROLE_RECORDED)                         \
    X(t, state, "pState", INFO, STRING, NONE, STAT,                                                \
      "R running, S sleeping, D waiting for a device, Z zombie, T stopped, I idle",                \
      .title = "State", .heading = "S")                                                            \
    X(t, threads, "pNumThreads", GAUGE, I64, COUNT, STAT, "Threads", .title = "Threads",           \
      .heading = "THR", .lasts_s = 15, .otel = "process.thread.count {thread}")                    \
    X(t, user, "pCpuTimeUserMode", COUNTER, I64, CENTISECONDS, STAT, "CPU time in user mode",      \
      .title = "CPU, user", .family = "CPU time by mode, cores", .is_stacked = true,               \
      .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .lasts_s = 15,                          \
      .otel = "process.cpu.time cpu.mode=user")                                                    \
    X(t, kernel, "pCpuTimeKernelMode", COUNTER, I64, CENTISECONDS, STAT,                           \
      "CPU time in kernel mode", .title = "CPU, kernel", .family = "CPU time by mode, cores",      \
      .is_stacked = true, .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .lasts_s = 15,      \
      .words = "system sys", .otel = "process.cpu.time cpu.mode=system")                           \
    X(t, children_user, "pChildrenUserMode", COUNTER, I64, CENTISECONDS, STAT,                     \
      "User mode CPU time of ended children it waited for",                                        \
      .title = "CPU of ended children, user", .family = "CPU time of ended children, cores",       \
      .is_stacked = true, .form = PT_FORM_CORES, .importance = PT_RAW, .lasts_s = 15)              \
    X(t, children_kernel, "pChildrenKernelMode", COUNTER, I64, CENTISECONDS, STAT,                 \
      "Kernel mode CPU time of ended children it waited for",                                      \
      .title = "CPU of ended children, kernel", .family = "CPU time of ended children, cores",     \
      .is_stacked = true, .form = PT_FORM_CORES, .importance = PT_RAW, .lasts_s = 15)              \
    X(t, cpu, "pCpuTimeNs", COUNTER, I64, NANOSECONDS, CLOCK, "CPU time of all its threads",       \
      .title = "CPU used, cores", .parts = "CPU time by mode, cores", .heading = "CORES",          \
      .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,              \
      .words = "utilization")                                                                      \
    X(t, voluntary, "pVoluntaryContextSwitches", COUNTER, I64, COUNT, SWITCHES,                    \
      "Context switches in order to wait: of all threads seen in the recorded tree, else of the "  \
      "main "                                                                                      \
      "thread; null above 4096 threads",                                                           \
      .title = "Voluntary context switches", .heading = "SWITCHES", .family = "Context switches",  \
      .lasts_s = 15, .words = "waiting",                                                           \
      .otel = "process.context_switches {context_switch} process.context_switch.type=voluntary")   \
    X(t, nonvoluntary, "pNonvoluntaryContextSwitches", COUNTER, I64, COUNT, SWITCHES,              \
      "Context switches forced by the scheduler: of all threads seen in the recorded tree, else "  \
      "of the main thread; null above 4096 threads",                                               \
      .title = "Involuntary context switches", .family = "Context switches",                       \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15, .words = "preempted",                           \
      .otel = "process.context_switches {context_switch} process.context_switch.type=involuntary") \
    X(t, run_delay, "pRunDelay", COUNTER, I64, NANOSECONDS, SWITCHES,                              \
      "Time its threads were ready to run but waited for a CPU; recorded tree only",               \
      .title = "Threads waiting for a CPU", .form = PT_FORM_NUMBER, .better = PT_LOWER_IS_BETTER,  \
      .lasts_s = 15, .words = "schedstat delay contention")                                        \
    X(t, block_delay, "pBlockIODelays", COUNTER, I64, CENTISECONDS, STAT,                          \
      "Time waiting for block I/O; 0 unless the kernel's delay accounting is on",                  \
      .title = "Waiting for block I/O", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,       \
      .combine = PT_COMBINE_WORST, .lasts_s = 15, .words = "disk delay")                           \
    X(t, minor_faults, "pMinorFaults", COUNTER, I64, COUNT, STAT,                                  \
      "Page faults served without I/O", .title = "Minor page faults", .family = "Page faults",     \
      .lasts_s = 15, .otel = "process.paging.faults {fault} system.paging.fault.type=minor")       \
    X(t, major_faults, "pMajorFaults", COUNTER, I64, COUNT, STAT, "Page faults that needed I/O",   \
      .title = "Major page faults", .heading = "MAJFLT", .family = "Page faults",                  \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15, .words = "disk reads",                          \
      .otel = "process.paging.faults {fault} system.paging.fault.type=major")                      \
    X(t, last_cpu, "pLastCpu", GAUGE, I64, NONE, STAT, "CPU its main thread ran on last",          \
      .title = "CPU it ran on last", .importance = PT_RAW, .combine = PT_COMBINE_NONE,             \
      .lasts_s = 15, .words = "affinity")                                                          \
    X(t, virtual_memory, "pVirtualMemoryBytes", GAUGE, I64, BYTES, STAT, "Address space in use",   \
      .title = "Address space", .heading = "VIRT", .lasts_s = 15, .words = "vsz",                  \
      .otel = "process.memory.virtual")                                                            \
    X(t, resident, "pResidentSetSize", GAUGE, I64, BYTES, STATM, "Memory in RAM",                  \
      .title = "Resident memory", .heading = "RSS", .better = PT_LOWER_IS_BETTER,                  \
      .importance = PT_HEADLINE, .lasts_s = 15, .words = "ram", .otel = "process.memory.usage")    \
    X(t, peak_resident, "pPeakResidentSetSize", GAUGE, I64, BYTES, STATUS, "Peak memory in RAM",   \
      .title = "Peak resident memory", .heading = "PEAK", .better = PT_LOWER_IS_BETTER,            \
      .combine = PT_COMBINE_MAX, .lasts_s = 15, .words = "ram hwm maximum")                        \
    X(t, rss_anon, "pRssAnon", GAUGE, I64, BYTES, STATUS, "Anonymous memory in RAM: heap, stack",  \
      .title = "Anonymous memory", .family = "Resident memory by kind", .is_stacked = true,        \
      .better = PT_LOWER_IS_BETTER, .lasts_s = 15, .words = "heap stack rss")                      \
    X(t, rss_file, "pRssFile", GAUGE, I64, BYTES, STATUS, "Memory in RAM mapped from files",       \
      .title = "Mapped files", .family = "Resident memory by kind", .is_stacked = true,            \
      .lasts_s = 15, .words = "rss mmap")                                                          \
    X(t, rss_shmem, "pRssShmem", GAUGE, I64, BYTES, STATUS, "Shared memory in RAM",                \
      .title = "Shared memory", .family = "Resident memory by kind", .is_stacked = true,           \
      .lasts_s = 15, .words = "rss shm")                                                           \
    X(t, swap, "pSwap", GAUGE, I64, BYTES, STATUS, "Memory swapped out", .title = "Swapped out",   \
      .heading = "SWAP", .better = PT_LOWER_IS_BETTER, .lasts_s = 15)                              \
    X(t, pss, "pPss", GAUGE, I64, BYTES, ROLLUP,                                                   \
      "Memory in RAM, shared pages divided by their users; recorded tree only, every 30 s",        \
      .title = "Proportional memory (PSS)", .heading = "PSS", .better = PT_LOWER_IS_BETTER,        \
      .lasts_s = 90, .words = "ram shared")                                                        \
    X(t, pss_anon, "pPssAnon", GAUGE, I64, BYTES, ROLLUP,                                          \
      "Part of pPss in anonymous memory: heap, stack", .title = "Anonymous memory, proportional",  \
      .family = "Proportional memory by kind", .is_stacked = true, .better = PT_LOWER_IS_BETTER,   \
      .lasts_s = 90, .words = "pss heap")                                                          \
    X(t, pss_file, "pPssFile", GAUGE, I64, BYTES, ROLLUP, "Part of pPss mapped from files",        \
      .title = "Mapped files, proportional", .family = "Proportional memory by kind",              \
      .is_stacked = true, .lasts_s = 90, .words = "pss")                                           \
    X(t, pss_shmem, "pPssShmem", GAUGE, I64, BYTES, ROLLUP, "Part of pPss in shared memory",       \
      .title = "Shared memory, proportional", .family = "Proportional memory by kind",             \
      .is_stacked = true, .lasts_s = 90, .words = "pss")                                           \
    X(t, swap_pss, "pSwapPss", GAUGE, I64, BYTES, ROLLUP,                                          \
      "Memory swapped out, shared pages divided by their users",                                   \
      .title = "Swapped out, proportional", .better = PT_LOWER_IS_BETTER, .lasts_s = 90,           \
      .words = "pss")                                                                              \
    X(t, read_bytes, "pReadBytes", COUNTER, I64, BYTES, IO, "Bytes read from storage",             \
      .title = "Storage read", .heading = "READ", .family = "Storage throughput",                  \
      .importance = PT_HEADLINE, .lasts_s = 15, .words = "disk io",                                \
      .otel = "process.disk.io disk.io.direction=read")                                            \
    X(t, write_bytes, "pWriteBytes", COUNTER, I64, BYTES, IO, "Bytes written to storage",          \
      .title = "Storage written", .heading = "WRITE", .family = "Storage throughput",              \
      .importance = PT_HEADLINE, .lasts_s = 15, .words = "disk io",                                \
      .otel = "process.disk.io disk.io.direction=write")                                           \
    X(t, read_chars, "pReadChars", COUNTER, I64, BYTES, IO, "Bytes read by system calls",          \
      .title = "Read by system calls", .family = "System call throughput", .lasts_s = 15,          \
      .words = "io")                                                                               \
    X(t, write_chars, "pWriteChars", COUNTER, I64, BYTES, IO, "Bytes written by system calls",     \
      .title = "Written by system calls", .family = "System call throughput", .lasts_s = 15,       \
      .words = "io")

PT_TABLE(process, PT_TABLE_ROWS(PROCESSES, "processes", "processes"), "Processes", PROCESS_COLUMNS,
         "/proc/PID/stat", "/proc/PID/statm", "/proc/PID/io", "CPU clock", "/proc/PID/status",
         "/proc/PID/task/TID", "/proc/PID/smaps_rollup");

_Static_assert(PT_COUNT(process_sources) == PT_PROCESS_SOURCES, "a name for each source");

static const uint8_t status_columns[PT_STATUS_COUNT] = {
    [PT_STATUS_UID] = process_user_id,
    [PT_STATUS_NS_PID] = process_namespace_id,
    [PT_STATUS_PEAK_RESIDENT] = process_peak_resident,
    [PT_STATUS_RSS_ANON] = process_rss_anon,
    [PT_STATUS_RSS_FILE] = process_rss_file,
    [PT_STATUS_RSS_SHMEM] = process_rss_shmem,
    [PT_STATUS_SWAP] = process_swap,
};

static const uint8_t rollup_columns[PT_ROLLUP_COUNT] = {
    [PT_ROLLUP_PSS] = process_pss,           [PT_ROLLUP_PSS_ANON] = process_pss_anon,
    [PT_ROLLUP_PSS_FILE] = process_pss_file, [PT_ROLLUP_PSS_SHMEM] = process_pss_shmem,
    [PT_ROLLUP_SWAP_PSS] = process_swap_pss,
};

/* Since the collector was opened. */
struct event_counts {
    int64_t forks, execs, exits, short_lived, short_lived_cpu_ns;
};

struct tick_totals {
    int64_t processes, threads, tree_processes, tree_threads, tree_cpu_ns;
    struct pt_total tree_resident;
};

struct state {
    struct pt_process_reader reader;
    struct pt_pid_list listed;
    int proc; /* /proc, open for listing */
    struct pt_file loadavg;
    int64_t last_pid, list_due_ns;
    bool has_seen_tree;

    struct pt_proc_socket connector, taskstats;
    struct pt_proc_events events;
    struct event_counts counts;
    struct tick_totals totals;

    int64_t page_bytes, ticks_per_second;
    int64_t boot_ms; /* Unix time; 0: unknown */
};

/* Unix time of boot; read once, so that start times do not change when the clock is set. */
static int64_t boot_time_ms(const struct pt_fs *fs, struct pt_text *buffer) {
    if (fs->is_live)
        return (pt_wall_ns() - pt_clock_ns(CLOCK_BOOTTIME)) / PT_NS_PER_MS;
    struct pt_scan text, line;
    if (pt_fs_read(fs->proc, "stat", buffer, &text))
        return 0;
    while (pt_scan_line(&text, &line)) {
        if (!pt_scan_take(&line, PT_STR("btime ")))
            continue;
        int64_t seconds = pt_scan_i64(&line), ms;
        return line.failed || __builtin_mul_overflow(seconds, 1000, &ms) ? 0 : ms;
    }
    return 0;
}

static int process_open(void *memory, const struct pt_context *context, struct pt_err *err) {
    struct state *s = memory;
    s->proc = openat(context->fs->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->proc < 0)
        return pt_fail(err, -errno, "cannot list processes: %s", strerror(errno));
    s->page_bytes = sysconf(_SC_PAGESIZE);
    s->ticks_per_second = sysconf(_SC_CLK_TCK);
    s->boot_ms = boot_time_ms(context->fs, &s->reader.pool.text);
    s->last_pid = -1;
    if (!context->fs->is_live)
        return 0;
    /* The collector works without any of these, with fewer values. */
    (void)!pt_file_open(&s->loadavg, context->fs->proc, "loadavg");
    (void)!pt_proc_connector_open(&s->connector);
    (void)!pt_taskstats_open(&s->taskstats);
    return 0;
}

static void process_close(void *memory) {
    struct state *s = memory;
    pt_process_reader_release(&s->reader);
    pt_pid_list_release(&s->listed);
    pt_proc_events_release(&s->events);
    pt_proc_socket_close(&s->connector);
    pt_proc_socket_close(&s->taskstats);
    pt_file_close(&s->loadavg);
    if (s->proc > 0)
        close(s->proc);
}

/* "0.20 0.18 0.12 1/80 11206": the last word is the most recent pid. -1: unknown. */
static int64_t read_last_pid(struct state *s) {
    struct pt_scan text;
    if (pt_file_read(&s->loadavg, &s->reader.pool.text, &text))
        return -1;
    pt_scan_skip(&text, 4);
    int64_t pid = pt_scan_i64(&text);
    return text.failed ? -1 : pid;
}

/* If the kernel assigned no pid, there is no new process; ended ones are noticed when they are
 * read. */
static bool is_quiet(struct state *s) {
    int64_t before = s->last_pid;
    s->last_pid = read_last_pid(s);
    return s->last_pid >= 0 && s->last_pid == before;
}

static void apply_event(struct pt_process_set *set, const struct pt_proc_event *e) {
    if (e->kind == PT_PROC_FORK)
        pt_process_set_note_fork(set, e->parent, e->pid);
    struct pt_process *p = e->kind == PT_PROC_EXEC ? pt_process_set_find(set, e->pid) : NULL;
    if (p)
        pt_process_note_exec(p);
}

/* Called after listing: then the events include the exit of every process that is no longer listed.
 * False if events were lost. */
static bool apply_events(struct state *s) {
    uint64_t overflows = s->events.overflow_count;
    s->events.count = 0;
    pt_proc_socket_drain(&s->connector, &s->events);
    pt_proc_socket_drain(&s->taskstats, &s->events);
    bool is_complete = s->events.overflow_count == overflows;
    if (!is_complete)
        pt_process_set_forget_forks(&s->reader.set);
    for (size_t i = 0; i < s->events.count; i++)
        apply_event(&s->reader.set, &s->events.at[i]);
    return is_complete;
}

static void list_forks(struct state *s) {
    s->listed.count = 0;
    for (size_t i = 0; i < s->events.count; i++)
        if (s->events.at[i].kind == PT_PROC_FORK)
            pt_pid_list_add(&s->listed, s->events.at[i].pid);
    pt_pid_list_sort(&s->listed);
}

/* New processes are read before the others: parents decide who belongs to the recorded tree. */
static void read_new_processes(struct state *s, const struct pt_context *context) {
    struct pt_process_set *set = &s->reader.set;
    for (size_t i = 0; i < set->known.count; i++)
        if (set->known.at[i]->is_new)
            pt_process_read(&s->reader, context, set->known.at[i]);
    pt_process_set_mark(set, context->target);
}

/* Listing /proc costs a third as much as reading stat: it is done only now and then if the kernel
 * reports forks, and not at all if no pid was assigned. */
static int find_processes(struct state *s, const struct pt_context *context) {
    bool has_events = pt_proc_socket_is_open(&s->connector),
         is_due = context->now_ns >= s->list_due_ns;
    bool is_listed = is_due || (!has_events && !is_quiet(s));
    int rc = is_listed ? pt_pid_list_read(&s->listed, s->proc) : 0;
    bool is_complete = apply_events(s);
    if (rc)
        return rc;
    if (is_listed)
        s->list_due_ns =
            context->now_ns + (has_events ? LIST_PERIOD_WITH_EVENTS_NS : LIST_PERIOD_NS);
    else
        list_forks(s);
    if (!is_complete)
        s->list_due_ns = 0;
    if (pt_process_set_merge(&s->reader.set, &s->listed, is_listed) > 0)
        read_new_processes(s, context);
    return 0;
}

static void count_record(struct state *s, const struct pt_proc_event *e) {
    struct pt_process_set *set = &s->reader.set;
    if (pt_process_set_had(set, e->pid))
        return;
    s->counts.short_lived_cpu_ns += e->cpu_ns;
    if (pt_process_set_is_recorded(set, e->pid) || pt_process_set_is_recorded(set, e->parent))
        set->ended_cpu_ns += e->cpu_ns;
}

/* Called at the end of the tick, when all processes of this tick are known. */
static void count_events(struct state *s) {
    for (size_t i = 0; i < s->events.count; i++) {
        const struct pt_proc_event *e = &s->events.at[i];
        bool is_exit = e->kind == PT_PROC_EXIT;
        s->counts.forks += e->kind == PT_PROC_FORK;
        s->counts.execs += e->kind == PT_PROC_EXEC;
        s->counts.exits += is_exit;
        s->counts.short_lived += is_exit && !pt_process_set_had(&s->reader.set, e->pid);
        if (e->kind == PT_PROC_RECORD)
            count_record(s, e);
    }
    for (size_t i = 0; i < s->events.count; i++)
        if (s->events.at[i].kind == PT_PROC_EXIT)
            pt_process_set_note_exit(&s->reader.set, s->events.at[i].pid);
}

static void set_product(struct pt_batch *row, int column, int64_t a, int64_t b) {
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        pt_set_i64(row, column, product);
}

static void set_cs(const struct state *s, struct pt_batch *row, int column, int64_t ticks) {
    int64_t hundredfold;
    if (!__builtin_mul_overflow(ticks, 100, &hundredfold))
        pt_set_i64(row, column, hundredfold / s->ticks_per_second);
}

static void emit_stat(const struct state *s, struct pt_batch *row, const struct pt_process *p) {
    const struct pt_pid_stat *stat = &p->stat;
    pt_set_i64(row, process_parent, stat->parent);
    pt_set_str(row, process_state, (struct pt_str){ &stat->state, 1 });
    pt_set_i64(row, process_threads, stat->threads);
    set_cs(s, row, process_user, stat->user_ticks);
    set_cs(s, row, process_kernel, stat->kernel_ticks);
    set_cs(s, row, process_children_user, stat->children_user_ticks);
    set_cs(s, row, process_children_kernel, stat->children_kernel_ticks);
    if (stat->block_delay_ticks >= 0)
        set_cs(s, row, process_block_delay, stat->block_delay_ticks);
    pt_set_i64(row, process_minor_faults, stat->minor_faults);
    pt_set_i64(row, process_major_faults, stat->major_faults);
    if (stat->last_cpu >= 0)
        pt_set_i64(row, process_last_cpu, stat->last_cpu);
    pt_set_i64(row, process_virtual_memory, stat->virtual_bytes);
}

static void emit_values(struct pt_batch *row, const struct pt_pid_values *values,
                        const uint8_t *columns, int count) {
    for (int i = 0; i < count; i++)
        if (columns[i] && pt_pid_has(values, i))
            pt_set_i64(row, columns[i], values->at[i]);
}

/* The reader has masked it: base/mask.h. */
static void emit_text(struct pt_batch *row, int column, const struct pt_buf *text) {
    if (text->len > 0)
        pt_set_masked(row, column, pt_buf_as_str(text));
}

static void emit_identity(const struct state *s, struct pt_batch *row, const struct pt_process *p) {
    pt_set_i64(row, process_id, p->pid);
    pt_set_i64(row, process_is_recorded, p->is_recorded);
    emit_text(row, process_command_line, &p->command_line);
    emit_text(row, process_cgroup, &p->cgroup);
    if (!p->has_start)
        return;
    int64_t ms;
    if (s->boot_ms && !__builtin_mul_overflow(p->stat.start_ticks, 1000, &ms) &&
        !__builtin_add_overflow(ms / s->ticks_per_second, s->boot_ms, &ms))
        pt_set_i64(row, process_start_time, ms);
    pt_set_str(row, process_name, p->stat.name);
}

static void emit(const struct state *s, struct pt_batch *row, const struct pt_process *p) {
    pt_batch_add_row(row);
    for (int i = 0; i < PT_PROCESS_SOURCES; i++)
        pt_set_time(row, i, p->times[i]);
    emit_identity(s, row, p);
    if (p->times[STAT])
        emit_stat(s, row, p);
    if (p->times[STATM])
        set_product(row, process_resident, p->resident_pages, s->page_bytes);
    if (p->times[IO]) {
        pt_set_i64(row, process_read_bytes, p->io.read_bytes);
        pt_set_i64(row, process_write_bytes, p->io.write_bytes);
        pt_set_i64(row, process_read_chars, p->io.read_chars);
        pt_set_i64(row, process_write_chars, p->io.write_chars);
    }
    if (p->times[CLOCK])
        pt_set_i64(row, process_cpu, p->cpu_ns);
    if (p->times[STATUS])
        emit_values(row, &p->status, status_columns, PT_STATUS_COUNT);
    if (p->times[ROLLUP])
        emit_values(row, &p->rollup, rollup_columns, PT_ROLLUP_COUNT);
    if (p->times[SWITCHES]) {
        pt_set_i64(row, process_voluntary, p->switches.voluntary);
        pt_set_i64(row, process_nonvoluntary, p->switches.nonvoluntary);
        if (p->is_recorded && !p->switches.lacks_run_delay)
            pt_set_i64(row, process_run_delay, p->switches.run_delay_ns);
    }
}

static void add_totals(struct state *s, struct pt_process *p) {
    struct tick_totals *t = &s->totals;
    int64_t threads = p->times[STAT] ? p->stat.threads : 1, resident = 0;
    t->processes++;
    t->threads += threads;
    if (!p->is_recorded)
        return;
    t->tree_processes++;
    t->tree_threads += threads;
    bool is_known =
        p->times[STATM] && !__builtin_mul_overflow(p->resident_pages, s->page_bytes, &resident);
    pt_total_add(&t->tree_resident, is_known, resident);
    int64_t cpu_ns = pt_process_cpu_ns(p);
    if (cpu_ns >= 0)
        p->counted_cpu_ns = cpu_ns;
    t->tree_cpu_ns += p->counted_cpu_ns;
}

static void visit(struct state *s, const struct pt_context *context, struct pt_process *p,
                  struct pt_batch *rows) {
    const struct pt_target *target = context->target;
    if (p->is_gone)
        return;
    /* who is in a container is read from each process */
    if (target->is_tree_only && !target->container[0] && !p->is_recorded) {
        s->totals.processes++;
        return;
    }
    if (!p->is_new) {
        pt_process_read(&s->reader, context, p);
        if (p->is_gone)
            return;
        if (p->is_new)
            pt_process_set_mark(&s->reader.set, target);
    }
    pt_process_read_slow(&s->reader, context, p);
    p->is_recorded |= pt_process_is_in_container(p, target);
    if (p->is_recorded || !target->is_tree_only)
        emit(s, rows, p);
    add_totals(s, p);
}

static void emit_totals(struct state *s, const struct pt_context *context, struct pt_batch *row) {
    const struct tick_totals *t = &s->totals;
    const struct event_counts *n = &s->counts;
    pt_batch_add_row(row);
    pt_set_time(row, LISTING, context->now_ns);
    pt_set_i64(row, process_totals_processes, t->processes);
    if (!context->target->is_tree_only)
        pt_set_i64(row, process_totals_threads, t->threads);
    s->has_seen_tree |= t->tree_processes > 0;
    if (s->has_seen_tree) {
        pt_set_time(row, TREE, context->now_ns);
        pt_set_i64(row, process_totals_tree_processes, t->tree_processes);
        pt_set_i64(row, process_totals_tree_threads, t->tree_threads);
        if (t->tree_processes == 0)
            pt_set_i64(row, process_totals_tree_resident, 0);
        else
            pt_total_set(&t->tree_resident, row, process_totals_tree_resident);
        pt_set_i64(row, process_totals_tree_cpu, t->tree_cpu_ns + s->reader.set.ended_cpu_ns);
    }
    if (pt_proc_socket_is_open(&s->connector)) {
        pt_set_time(row, EVENTS, context->now_ns);
        pt_set_i64(row, process_totals_forks, n->forks);
        pt_set_i64(row, process_totals_execs, n->execs);
        pt_set_i64(row, process_totals_exits, n->exits);
        pt_set_i64(row, process_totals_short_lived, n->short_lived);
        pt_set_i64(row, process_totals_events_lost, (int64_t)s->events.overflow_count);
    }
    if (pt_proc_socket_is_open(&s->taskstats)) {
        pt_set_time(row, RECORDS, context->now_ns);
        pt_set_i64(row, process_totals_short_lived_cpu, n->short_lived_cpu_ns);
    }
}

static int process_collect(void *memory, const struct pt_context *context, struct pt_batch *rows) {
    struct state *s = memory;
    struct pt_process_set *set = &s->reader.set;
    s->totals = (struct tick_totals){ 0 };
    pt_process_reader_begin(&s->reader, context);
    int rc = find_processes(s, context);
    if (rc)
        return rc;
    for (size_t i = 0; i < set->known.count; i++)
        visit(s, context, set->known.at[i], &rows[1]);
    pt_process_set_sweep(set, &s->reader.pool);
    count_events(s);
    s->reader.tree_count = s->totals.tree_processes;
    emit_totals(s, context, &rows[0]);
    return 0;
}

const struct pt_collector pt_process_collector = {
    .name = "processes",
    .help = "every process, and the tree of the recorded command",
    .is_optional = true,
    .knows_tree = true,
    .tables = { &process_totals_table, &process_table },
    .state_size = sizeof(struct state),
    .open = process_open,
    .collect = process_collect,
    .close = process_close,
};
