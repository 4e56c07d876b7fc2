/* collect/process_set.h -- the processes known from one tick to the next.
 *
 * A process is identified by its pid and start time, because pids are reused. The set is sorted by
 * pid, like /proc, so that a listing is merged in one pass. It also knows the recorded tree: a
 * process in the tree stays in it, whatever its parent is later. */
#ifndef PT_COLLECT_PROCESS_SET_H
#define PT_COLLECT_PROCESS_SET_H

#include "base/buf.h"
#include "collect/collector.h"
#include "collect/file_pool.h"
#include "collect/thread_switches.h"
#include "source/kernel/pid.h"
#include "source/kernel/pid_list.h"

/* The sources of the process table, in this order. */
enum pt_process_source {
    PT_PROCESS_STAT,
    PT_PROCESS_STATM,
    PT_PROCESS_IO,
    PT_PROCESS_CLOCK,
    PT_PROCESS_STATUS,
    PT_PROCESS_SWITCHES,
    PT_PROCESS_ROLLUP,
    PT_PROCESS_SOURCES
};

struct pt_process {
    pid_t pid;
    bool is_recorded;
    bool has_start;        /* stat.start_ticks is known */
    bool is_new;           /* first seen in this tick */
    bool is_gone;          /* is removed at the end of this tick */
    bool has_no_io;        /* permission denied; not tried again */
    bool ran_since_status; /* when its slower files were read */
    bool ran_since_switches;

    int64_t times[PT_PROCESS_SOURCES]; /* of the last reading; 0: the values are unknown */
    struct pt_pid_stat stat;           /* stat.name points to `name` */
    char name[64];
    int64_t resident_pages, cpu_ns;
    int64_t counted_cpu_ns; /* its share of the last total of the tree */
    struct pt_pid_io io;
    struct pt_pid_values status, rollup;
    struct pt_switches switches;
    struct pt_buf command_line, cgroup;

    int64_t full_due_ns, status_due_ns, switches_due_ns, command_due_ns, rollup_due_ns;
    struct pt_thread_switches threads;
    struct pt_file_slot files;
    struct pt_process *next_free;
};

struct pt_process_array {
    struct pt_process **at;
    size_t count, capacity;
};

struct pt_process_pids {
    pid_t *at; /* ascending */
    size_t count, capacity;
};

struct pt_process_set {
    struct pt_process_array known, next;
    struct pt_process *free;
    uint64_t seen_roots; /* bits of target->pids: a later process with that pid is not a root */
    struct pt_process_pids offspring;         /* forked by the recorded tree, not yet listed */
    struct pt_process_pids left, left_before; /* removed in this tick and in the previous one */
    int64_t ended_cpu_ns; /* last seen CPU time of the recorded processes that ended */
};

void pt_process_set_release(struct pt_process_set *set, struct pt_file_pool *pool);

struct pt_process *pt_process_set_find(const struct pt_process_set *set, pid_t pid); /* or NULL */

/* The order of calls in a tick: begin, merge, mark, read, sweep. */
void pt_process_set_begin(struct pt_process_set *set);
/* Merges the pids of a listing or of forks: new processes become `is_new`. If the listing is
 * complete, processes that are not in it become `is_gone`. Returns the number of new ones. */
size_t pt_process_set_merge(struct pt_process_set *set, const struct pt_pid_list *listed,
                            bool is_all);
/* Decides which new processes belong to the recorded tree. */
void pt_process_set_mark(struct pt_process_set *set, const struct pt_target *target);
/* Another process now has this pid: forgets everything but the pid. */
void pt_process_set_renew(struct pt_process_set *set, struct pt_process *p,
                          struct pt_file_pool *pool);
void pt_process_set_sweep(struct pt_process_set *set, struct pt_file_pool *pool);

/* True if it is in the set, or was removed in this tick or the previous one. */
bool pt_process_set_had(const struct pt_process_set *set, pid_t pid);
/* True if it is in the recorded tree, according to the set and the reported forks. */
bool pt_process_set_is_recorded(const struct pt_process_set *set, pid_t pid);

/* Remembers a fork: a child is known as recorded even if its parent has ended when the child is
 * first seen. */
void pt_process_set_note_fork(struct pt_process_set *set, pid_t parent, pid_t child);
void pt_process_set_note_exit(struct pt_process_set *set, pid_t pid);
/* Call it if events were lost: other processes may now have the known pids. */
void pt_process_set_forget_forks(struct pt_process_set *set);

/* True if it is in the recorded container. */
bool pt_process_is_in_container(const struct pt_process *p, const struct pt_target *target);

/* CPU time in nanoseconds, from the finest clock that could be read; -1: unknown. */
int64_t pt_process_cpu_ns(const struct pt_process *p);

#endif
