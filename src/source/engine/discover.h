/* source/engine/discover.h -- finds the loopback ports of the recorded tree, or of all processes.
 *
 * Reads the listening sockets of the machine first, and searches the descriptors of processes only
 * when they have changed. */
#ifndef PT_SOURCE_ENGINE_DISCOVER_H
#define PT_SOURCE_ENGINE_DISCOVER_H

#include "source/kernel/pid_list.h"
#include "source/kernel/tcp_listen.h"

#define PT_DISCOVER_PORTS 64

struct pt_discovered_port {
    uint16_t port;
    bool is_ipv6_only;
    pid_t pid; /* of a process that listens there; 0: unknown */
};

/* A port that did not answer as an engine, or has not yet. */
struct pt_suspect {
    uint16_t port;
    bool is_loading; /* it answers that it is not ready */
    int sniffed_count;
    int64_t sniffed_ns; /* the last time; 0: never */
};

/* {0} is empty. */
struct pt_discovery {
    struct pt_tcp_sockets sockets;
    struct pt_pid_list pids;
    struct pt_text text;
    char cgroup[256];      /* of the recorded command only, or "" */
    uint64_t sockets_hash; /* of the last search */
    bool is_eager;         /* asks a new port every second at first */
    pid_t looking_at;
    struct pt_discovered_port ports[PT_DISCOVER_PORTS];
    size_t port_count;
    struct pt_suspect suspects[PT_DISCOVER_PORTS];
    size_t suspect_count;
};

void pt_discovery_release(struct pt_discovery *d);

/* Fills `ports`: those of the processes `roots`, of all their and our descendants, and of the
 * processes in the command's cgroup; without roots, those of every visible process and the usual
 * ports of engines. True if they may have changed. */
bool pt_discovery_look(struct pt_discovery *d, const struct pt_fs *fs, const pid_t *roots,
                       int root_count);

/* How often a port is asked that is loading its model. */
#define PT_DISCOVER_LOADING_NS INT64_C(500000000)

/* Is it time to ask the port whether it is an engine? Counts as asked if so. A server may answer
 * before its engine is ready, so it is asked again at intervals, a limited number of times; one
 * that said so is asked often. */
bool pt_discovery_is_due(struct pt_discovery *d, uint16_t port, int64_t now_ns);
/* Notes whether the port that was just asked is loading. */
void pt_discovery_set_loading(struct pt_discovery *d, uint16_t port, bool is_loading);
/* Is any of the ports loading? */
bool pt_discovery_is_loading(const struct pt_discovery *d);

#endif
