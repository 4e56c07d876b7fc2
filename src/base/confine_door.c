#include "base/confine_door.h"

#include "base/thread.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>

#define MEMORIES_KEPT 64

enum request_kind { REQUEST_OPEN, REQUEST_UNLINK, REQUEST_MEMORY, REQUEST_FETCH };

struct request {
    enum request_kind kind;
    int32_t pid;
    char name[NAME_MAX + 1];
};

/* In a helper. */
static struct {
    bool is_used, reads_memory;
    int socket;
    pthread_mutex_t lock;
} door = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* In a helper: memory of processes, by process id modulo the size. */
static struct {
    pthread_mutex_t lock;
    struct opened {
        pid_t pid;
        struct pt_fd fd;
    } at[MEMORIES_KEPT];
} memory = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* One message with at most one descriptor. */
union passed {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
};

static bool pass(int socket, int answer, int fd) {
    union passed passed = { .header = { .cmsg_len = CMSG_LEN(sizeof fd),
                                        .cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS } };
    struct iovec bytes = { &answer, sizeof answer };
    struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };
    if (fd >= 0) {
        memcpy(CMSG_DATA(&passed.header), &fd, sizeof fd);
        m.msg_control = &passed;
        m.msg_controllen = sizeof passed;
    }
    return sendmsg(socket, &m, MSG_NOSIGNAL) == sizeof answer;
}

static int take_passed(int socket) {
    union passed passed;
    int answer = -EIO, fd;
    struct iovec bytes = { &answer, sizeof answer };
    struct msghdr m = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &passed, .msg_controllen = sizeof passed
    };
    if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != sizeof answer)
        return -EIO;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&m);
    if (answer < 0 || !header)
        return answer;
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

static int open_here(int directory, const char *name) {
    int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Only names in the directory of the door. */
static bool is_proper(const struct request *r) {
    return memchr(r->name, 0, sizeof r->name) && r->name[0] && !strchr(r->name, '/') &&
           strcmp(r->name, ".") != 0 && strcmp(r->name, "..") != 0;
}

static int open_memory(int proc, pid_t pid) {
    char path[32];
    snprintf(path, sizeof path, "%d/mem", (int)pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* A descriptor or -errno. */
static int serve(const struct pt_confined *c, const struct request *r) {
    if (r->kind == REQUEST_MEMORY)
        return c->proc > 0 && r->pid > 0 ? open_memory(c->proc, r->pid) : -EPERM;
    if (!is_proper(r))
        return -EINVAL;
    if (r->kind == REQUEST_FETCH) {
        int fd = c->fetch ? c->fetch(c->fetch_arg, r->name) : -1;
        return fd < 0 ? -ENOENT : fd;
    }
    if (c->directory < 0)
        return -EINVAL;
    if (r->kind == REQUEST_OPEN)
        return open_here(c->directory, r->name);
    return unlinkat(c->directory, r->name, 0) ? -errno : -ENODATA;
}

void *pt_confine_porter(void *confined) {
    const struct pt_confined *c = confined;
    struct request r;
    int socket = pt_fd_get(c->door);
    bool is_passed = true;
    pt_thread_hurry(); /* a process may end before its file is open */
    while (is_passed && recv(socket, &r, sizeof r, 0) == sizeof r) {
        int fd = serve(c, &r);
        is_passed = pass(socket, fd < 0 ? fd : 0, fd);
        if (fd >= 0)
            close(fd);
    }
    return NULL;
}

void pt_confine_use_door(int socket, bool reads_memory) {
    door.is_used = true;
    door.socket = socket;
    door.reads_memory = reads_memory;
}

static int ask(enum request_kind kind, pid_t pid, const char *name) {
    struct request r = { .kind = kind, .pid = pid };
    if (strlen(name) >= sizeof r.name)
        return -ENAMETOOLONG;
    pt_str_copy(r.name, sizeof r.name, pt_str_from(name));
    struct iovec bytes = { &r, sizeof r };
    struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };
    /* one question at a time: answers have no number */
    pthread_mutex_lock(&door.lock);
    int rc = sendmsg(door.socket, &m, MSG_NOSIGNAL) == sizeof r ? take_passed(door.socket) : -EIO;
    pthread_mutex_unlock(&door.lock);
    return rc;
}

int pt_confine_open(int directory, const char *name) {
    return door.is_used ? ask(REQUEST_OPEN, 0, name) : open_here(directory, name);
}

void pt_confine_unlink(int directory, const char *name) {
    if (door.is_used)
        (void)ask(REQUEST_UNLINK, 0, name);
    else
        (void)unlinkat(directory, name, 0);
}

int pt_confine_fetch(const char *name) {
    return ask(REQUEST_FETCH, 0, name);
}

static ssize_t read_pieces(int fd, const struct iovec *local, const struct iovec *remote,
                           size_t count) {
    ssize_t done = 0;
    for (size_t i = 0; i < count; i++) {
        ssize_t n = pread(fd, local[i].iov_base, local[i].iov_len, (off_t)remote[i].iov_base);
        done += n > 0 ? n : 0;
        if (n != (ssize_t)local[i].iov_len)
            break;
    }
    if (done > 0)
        return done;
    errno = EFAULT;
    return -1;
}

/* A descriptor is of the program that the process ran when it was opened: it reads nothing after
 * an exec. */
static ssize_t read_through_door(pid_t pid, const struct iovec *local, const struct iovec *remote,
                                 size_t count) {
    pthread_mutex_lock(&memory.lock);
    struct opened *o = &memory.at[(size_t)pid % PT_COUNT(memory.at)];
    ssize_t n = -1;
    for (int tries = 0; tries < 2 && n < 0; tries++) {
        if (o->pid != pid || tries > 0) {
            (void)pt_fd_close(&o->fd);
            int fd = ask(REQUEST_MEMORY, pid, "");
            *o = (struct opened){ .pid = pid, .fd = pt_fd_of(fd) };
            errno = fd < 0 ? -fd : 0;
        }
        if (pt_fd_is_open(o->fd))
            n = read_pieces(pt_fd_get(o->fd), local, remote, count);
    }
    pthread_mutex_unlock(&memory.lock);
    return n;
}

ssize_t pt_confine_read(pid_t pid, const struct iovec *local, const struct iovec *remote,
                        size_t count) {
    ssize_t n = process_vm_readv(pid, local, count, remote, count, 0);
    if (n >= 0 || errno != EPERM || !door.reads_memory)
        return n;
    return read_through_door(pid, local, remote, count);
}
