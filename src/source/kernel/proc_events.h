/* source/kernel/proc_events.h -- process start and exit events from the kernel.
 *
 * Two sockets, both optional: the proc connector reports forks, execs and exits; taskstats reports
 * the CPU time of every exiting thread. They show processes that start and end between two reads of
 * /proc. */
#ifndef PT_SOURCE_KERNEL_PROC_EVENTS_H
#define PT_SOURCE_KERNEL_PROC_EVENTS_H

#include "base/attr.h"
#include "base/fd.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

enum pt_proc_event_kind {
    PT_PROC_FORK, /* `pid` is a new process, `parent` made it */
    PT_PROC_EXEC,
    PT_PROC_EXIT,
    PT_PROC_RECORD, /* a thread of `pid` ended after `cpu_ns` of CPU time */
};

struct pt_proc_event {
    enum pt_proc_event_kind kind;
    pid_t pid, parent;
    int64_t cpu_ns;
    bool is_last; /* RECORD: no thread of the process is left */
};

struct pt_proc_events {
    struct pt_proc_event *at;
    size_t count, capacity;
    uint64_t overflow_count; /* times that the kernel had to drop events */
};

void pt_proc_events_release(struct pt_proc_events *events);

/* {0} is closed. */
struct pt_proc_socket {
    struct pt_fd fd;
    struct pt_proc_inbox *inbox;
    bool (*parse)(struct pt_str message, struct pt_proc_event *event);
};

/* 0 or -errno: -EPERM without CAP_NET_ADMIN; -EOPNOTSUPP in a container, where the kernel sends no
 * events. */
int pt_proc_connector_open(struct pt_proc_socket *s) PT_MUST_CHECK;
int pt_taskstats_open(struct pt_proc_socket *s) PT_MUST_CHECK;
bool pt_proc_socket_is_open(const struct pt_proc_socket *s);
void pt_proc_socket_close(struct pt_proc_socket *s);

/* Appends all that is waiting; never blocks. */
void pt_proc_socket_drain(struct pt_proc_socket *s, struct pt_proc_events *into);

/* Parses one netlink message; false if it is not about a process. */
bool pt_proc_connector_parse(struct pt_str message, struct pt_proc_event *event);
bool pt_taskstats_parse(struct pt_str message, struct pt_proc_event *event);

#endif
