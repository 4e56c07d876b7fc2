#include "source/kernel/tcp_listen.h"

#include "base/mem.h"
#include "source/kernel/tcp_diag.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Addresses are words in the byte order of the machine: 127.0.0.1 is 0100007F. */
static bool reaches_loopback(struct pt_str address) {
    static const struct pt_str any[] = {
        { "00000000", 8 },
        { "00000000000000000000000000000000", 32 },
        { "00000000000000000000000001000000", 32 }, /* ::1 */
        { "0000000000000000FFFF00000100007F", 32 }, /* ::ffff:127.0.0.1 */
    };
    for (size_t i = 0; i < PT_COUNT(any); i++)
        if (pt_str_eq(address, any[i]))
            return true;
    return address.len == 8 && pt_str_ends(address, PT_STR("7F"));
}

bool pt_tcp_listen_next(struct pt_scan *text, bool is_ipv6, struct pt_tcp_socket *socket) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        pt_scan_until(&line, ':');
        pt_scan_blanks(&line);
        struct pt_str address = pt_scan_until(&line, ':');
        uint64_t port = pt_scan_hex(&line);
        pt_scan_skip(&line, 1);
        uint64_t state = pt_scan_hex(&line);
        pt_scan_skip(&line, 5);
        uint64_t inode = pt_scan_u64(&line);
        if (line.failed || state != TCP_LISTEN || port > UINT16_MAX)
            continue;
        *socket =
            (struct pt_tcp_socket){ inode, (uint16_t)port, is_ipv6, reaches_loopback(address) };
        return true;
    }
    return false;
}

static int compare_inodes(const void *a, const void *b) {
    uint64_t x = ((const struct pt_tcp_socket *)a)->inode;
    uint64_t y = ((const struct pt_tcp_socket *)b)->inode;
    return x < y ? -1 : x > y;
}

static int read_files(struct pt_tcp_sockets *s, const struct pt_fs *fs, pid_t pid,
                      struct pt_text *text) {
    static const char *const files[] = { "tcp", "tcp6" };
    int rc = -ENOENT;
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        char path[48];
        struct pt_scan scan;
        if (pid > 0)
            snprintf(path, sizeof path, "%d/net/%s", (int)pid, files[i]);
        else
            snprintf(path, sizeof path, "net/%s", files[i]);
        if (pt_fs_read(fs->proc, path, text, &scan))
            continue;
        struct pt_tcp_socket socket;
        while (pt_tcp_listen_next(&scan, i == 1, &socket)) {
            pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
            s->at[s->count++] = socket;
        }
        rc = 0;
    }
    return rc;
}

int pt_tcp_sockets_read(struct pt_tcp_sockets *s, const struct pt_fs *fs, pid_t pid,
                        struct pt_text *text) {
    s->count = 0;
    int rc = fs->is_live && pid == 0 ? pt_tcp_diag_read(s) : -ENOSYS;
    if (rc) {
        s->count = 0;
        rc = read_files(s, fs, pid, text);
    }
    if (s->count > 0)
        qsort(s->at, s->count, sizeof *s->at, compare_inodes);
    return rc;
}

void pt_tcp_sockets_release(struct pt_tcp_sockets *s) {
    pt_free(s->at);
    *s = (struct pt_tcp_sockets){ 0 };
}

static bool socket_inode(int directory, const char *name, uint64_t *inode) {
    char target[64];
    if (pt_fs_readlink(directory, name, target, sizeof target))
        return false;
    struct pt_scan s = pt_scan_of(pt_str_from(target));
    if (!pt_scan_take(&s, PT_STR("socket:[")))
        return false;
    *inode = pt_scan_u64(&s);
    return !s.failed;
}

int pt_tcp_sockets_of(const struct pt_tcp_sockets *s, const struct pt_fs *fs, pid_t pid,
                      void (*visit)(void *user, const struct pt_tcp_socket *socket), void *user) {
    char path[32];
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    DIR *directory = pt_fs_list(fs->proc, path);
    if (!directory)
        return -errno;
    for (struct dirent *e; (e = readdir(directory));) {
        uint64_t inode;
        if (e->d_name[0] == '.' || !socket_inode(dirfd(directory), e->d_name, &inode))
            continue;
        struct pt_tcp_socket wanted = { .inode = inode };
        const struct pt_tcp_socket *socket =
            s->count > 0 ? bsearch(&wanted, s->at, s->count, sizeof *s->at, compare_inodes) : NULL;
        if (socket)
            visit(user, socket);
    }
    closedir(directory);
    return 0;
}
