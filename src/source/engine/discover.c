#include "source/engine/discover.h"

#include "base/clock.h"
#include "base/mem.h"
#include "source/kernel/pid.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const uint16_t usual_ports[] = { 8000, 8002, 8080, 30000 };

#define TREE_DEPTH     64
#define SNIFF_AGAIN_NS (10 * PT_NS_PER_SECOND)
#define SNIFF_TIMES    30
#define EAGER_TIMES    5

void pt_discovery_release(struct pt_discovery *d) {
    pt_tcp_sockets_release(&d->sockets);
    pt_pid_list_release(&d->pids);
    pt_text_release(&d->text);
    *d = (struct pt_discovery){ 0 };
}

static void add_port(struct pt_discovery *d, uint16_t port, bool is_ipv6) {
    for (size_t i = 0; i < d->port_count; i++)
        if (d->ports[i].port == port) {
            d->ports[i].is_ipv6_only &= is_ipv6;
            return;
        }
    if (d->port_count < PT_DISCOVER_PORTS)
        d->ports[d->port_count++] = (struct pt_discovered_port){ port, is_ipv6, d->looking_at };
}

static void add_socket(void *user, const struct pt_tcp_socket *socket) {
    if (socket->is_reachable_on_loopback)
        add_port(user, socket->port, socket->is_ipv6);
}

/* Our own children belong to the recorded command: orphans are reparented to us. */
static bool is_below(struct pt_discovery *d, const struct pt_fs *fs, pid_t pid, const pid_t *roots,
                     int root_count) {
    struct pt_pid_stat stat;
    for (int depth = 0; pid > 0 && depth < TREE_DEPTH; depth++) {
        if (pid == getpid())
            return true;
        for (int i = 0; i < root_count; i++)
            if (roots[i] == pid)
                return true;
        pid = pt_pid_read_stat(fs->proc, pid, &d->text, &stat) ? 0 : (pid_t)stat.parent;
    }
    return false;
}

/* The cgroup of a process; empty if unknown. */
static struct pt_str cgroup_of(struct pt_discovery *d, const struct pt_fs *fs, pid_t pid) {
    char path[32];
    struct pt_scan scan;
    struct pt_str cgroup;
    snprintf(path, sizeof path, "%d/cgroup", (int)pid);
    if (pt_fs_read(fs->proc, path, &d->text, &scan) || pt_pid_parse_cgroup(scan, &cgroup))
        return PT_STR("");
    return cgroup;
}

static bool is_recorded(struct pt_discovery *d, const struct pt_fs *fs, pid_t pid,
                        const pid_t *roots, int root_count) {
    return is_below(d, fs, pid, roots, root_count) ||
           (d->cgroup[0] && pt_str_starts(cgroup_of(d, fs, pid), pt_str_from(d->cgroup)));
}

/* A process in another network namespace is not on our loopback interface. */
static bool shares_network(const struct pt_fs *fs, pid_t pid) {
    char path[32], ours[64], theirs[64];
    snprintf(path, sizeof path, "%d/ns/net", (int)pid);
    return pt_fs_readlink(fs->proc, "self/ns/net", ours, sizeof ours) ||
           pt_fs_readlink(fs->proc, path, theirs, sizeof theirs) || strcmp(ours, theirs) == 0;
}

static void look_at_processes(struct pt_discovery *d, const struct pt_fs *fs, const pid_t *roots,
                              int root_count) {
    int proc = openat(fs->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = proc >= 0 && !pt_pid_list_read(&d->pids, proc) ? d->pids.count : 0;
    if (proc >= 0)
        close(proc);
    if (root_count > 0) {
        /* A command usually gets its own cgroup, /.../pitot-4f1e..., which also holds its orphaned
         * processes. Any other cgroup may hold unrelated processes. */
        pt_str_copy(d->cgroup, sizeof d->cgroup, cgroup_of(d, fs, roots[0]));
        const char *last = strrchr(d->cgroup, '/');
        if (!last || strncmp(last, "/pitot-", 7) != 0)
            d->cgroup[0] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        pid_t pid = d->pids.at[i];
        if (pid == getpid() || (root_count > 0 && !is_recorded(d, fs, pid, roots, root_count)) ||
            !shares_network(fs, pid))
            continue;
        d->looking_at = pid;
        (void)pt_tcp_sockets_of(&d->sockets, fs, pid, add_socket, d);
    }
    d->looking_at = 0;
}

bool pt_discovery_look(struct pt_discovery *d, const struct pt_fs *fs, const pid_t *roots,
                       int root_count) {
    if (pt_tcp_sockets_read(&d->sockets, fs, 0, &d->text))
        return false;
    uint64_t hash = d->sockets.count + 1;
    for (size_t i = 0; i < d->sockets.count; i++)
        hash = (hash ^ d->sockets.at[i].inode ^ (uint64_t)d->sockets.at[i].port << 48) *
               UINT64_C(0x9e3779b97f4a7c15);
    if (hash == d->sockets_hash)
        return false;
    d->sockets_hash = hash;
    d->port_count = 0;
    look_at_processes(d, fs, roots, root_count);
    for (size_t i = 0; root_count == 0 && i < PT_COUNT(usual_ports); i++)
        for (size_t k = 0; k < d->sockets.count; k++)
            if (d->sockets.at[k].port == usual_ports[i])
                add_socket(d, &d->sockets.at[k]);
    return true;
}

static struct pt_suspect *suspect_of(struct pt_discovery *d, uint16_t port) {
    for (size_t i = 0; i < d->suspect_count; i++)
        if (d->suspects[i].port == port)
            return &d->suspects[i];
    struct pt_suspect *place = &d->suspects[0];
    if (d->suspect_count < PT_DISCOVER_PORTS)
        place = &d->suspects[d->suspect_count++];
    else /* the least recently asked */
        for (size_t i = 1; i < d->suspect_count; i++)
            if (d->suspects[i].sniffed_ns < place->sniffed_ns)
                place = &d->suspects[i];
    *place = (struct pt_suspect){ .port = port };
    return place;
}

bool pt_discovery_is_due(struct pt_discovery *d, uint16_t port, int64_t now_ns) {
    struct pt_suspect *suspect = suspect_of(d, port);
    bool is_new = d->is_eager && suspect->sniffed_count < EAGER_TIMES;
    int64_t period_ns = suspect->is_loading ? PT_DISCOVER_LOADING_NS
                        : is_new            ? PT_NS_PER_SECOND
                                            : SNIFF_AGAIN_NS;
    if ((suspect->sniffed_count >= SNIFF_TIMES && !suspect->is_loading) ||
        (suspect->sniffed_count > 0 && now_ns - suspect->sniffed_ns < period_ns))
        return false;
    suspect->sniffed_count += !suspect->is_loading;
    suspect->sniffed_ns = now_ns;
    return true;
}

void pt_discovery_set_loading(struct pt_discovery *d, uint16_t port, bool is_loading) {
    suspect_of(d, port)->is_loading = is_loading;
}

bool pt_discovery_is_loading(const struct pt_discovery *d) {
    for (size_t i = 0; i < d->suspect_count; i++)
        for (size_t k = 0; k < d->port_count; k++)
            if (d->suspects[i].is_loading && d->suspects[i].port == d->ports[k].port)
                return true;
    return false;
}
