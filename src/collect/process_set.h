/* collect/process_set.h -- the processes known from one tick to the next.
 *
 * A process is its pid and its start time: pids are used again. The set is
 * sorted by pid, as /proc is, so that a listing is merged in one pass. It also
 * knows the recorded tree: a process once in it stays in it, whoever its parent is. */
#ifndef PT_COLLECT_PROCESS_SET_H
#define PT_COLLECT_PROCESS_SET_H

#include "base/buf.h"
#include "collect/collector.h"
#include "collect/file_pool.h"
#include "collect/thread_switches.h"
#include "source/kernel/pid.h"
#include "source/kernel/pid_list.h"

/* Where values come from; the sources of the table of processes, in this order. */
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
    bool is_new;           /* seen for the first time in this tick */
    bool is_gone;          /* leaves the set at the end of this tick */
    bool has_no_io;        /* may not be read; not tried again */
    bool ran_since_status; /* since its slower files were read */

    int64_t times[PT_PROCESS_SOURCES]; /* of the last reading; 0: the values are unknown */
    struct pt_pid_stat stat;           /* its name points to `name` */
    char name[64];
    int64_t resident_pages, cpu_ns;
    int64_t counted_cpu_ns; /* its part of the last total of the tree */
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
    uint64_t seen_roots; /* bits of target->pids: a later process of that pid is no root */
    struct pt_process_pids offspring; /* forked by the recorded tree, not yet in a listing */
    struct pt_process_pids left, left_before; /* left the set in this tick and in the one before */
    int64_t ended_cpu_ns; /* last seen CPU time of the recorded processes that left */
};

void pt_process_set_release(struct pt_process_set *set, struct pt_file_pool *pool);

struct pt_process *pt_process_set_find(const struct pt_process_set *set, pid_t pid); /* or NULL */

/* A tick is: begin, merge and mark what is new, read, sweep. */
void pt_process_set_begin(struct pt_process_set *set);
/* Takes in the pids of a listing, or of forks: newcomers become `is_new` and, if
 * the listing is one of all processes, those not listed `is_gone`. Returns how
 * many are new. */
size_t pt_process_set_merge(struct pt_process_set *set, const struct pt_pid_list *listed,
                            bool is_all);
/* Decides whether newcomers belong to the recorded tree. */
void pt_process_set_mark(struct pt_process_set *set, const struct pt_target *target);
/* Another process has this one's pid now: forgets all but the pid. */
void pt_process_set_renew(struct pt_process_set *set, struct pt_process *p,
                          struct pt_file_pool *pool);
void pt_process_set_sweep(struct pt_process_set *set, struct pt_file_pool *pool);

/* Is it in the set, or did it leave in this tick or the one before? */
bool pt_process_set_had(const struct pt_process_set *set, pid_t pid);
/* Is it in the recorded tree, as far as the set and the forks heard of say? */
bool pt_process_set_is_recorded(const struct pt_process_set *set, pid_t pid);

/* Remembers who forked whom: a child is known as recorded even if its parent is
 * gone when the child is first seen. */
void pt_process_set_hear_fork(struct pt_process_set *set, pid_t parent, pid_t child);
void pt_process_set_hear_exit(struct pt_process_set *set, pid_t pid);
/* Events were lost, so pids may have changed hands. */
void pt_process_set_forget_forks(struct pt_process_set *set);

/* Is it in the container that is recorded? */
bool pt_process_is_in_container(const struct pt_process *p, const struct pt_target *target);

/* CPU time in nanoseconds, by the finest clock that could be read; -1: unknown. */
int64_t pt_process_cpu_ns(const struct pt_process *p);

#endif
