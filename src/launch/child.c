#include "launch/child.h"

#include "base/log.h"
#include "source/kernel/pid.h"
#include "source/kernel/pid_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORGOTTEN_AFTER_S 60
#define KILL_ROUNDS       50

static pid_t clone_process(int cgroup_fd, int *pid_fd) {
    struct clone_args args = { .exit_signal = SIGCHLD };
    args.flags = CLONE_PIDFD;
    args.pidfd = (uintptr_t)pid_fd;
    if (cgroup_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)cgroup_fd;
    }
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* In the child, between clone and exec: only async-signal-safe calls. */
static void run_command(const struct pt_child_options *o, int barrier, int error_fd) {
    char go;
    if (read(barrier, &go, 1) != 1)
        _exit(125); /* the recorder failed or died: the command must not run unrecorded */
    sigprocmask(SIG_SETMASK, o->signal_mask, NULL);
    if (o->descriptor_limit)
        setrlimit(RLIMIT_NOFILE, o->descriptor_limit);
    execvpe(o->argv[0], o->argv, o->environment);
    int error = errno;
    (void)!write(error_fd, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

/* A killed recorder leaves the cgroup of its command behind. Only an empty one can be removed; one
 * that is also older than a while does not belong to a recorder that is just starting. */
static void remove_forgotten(const char *parent) {
    DIR *d = opendir(parent);
    time_t now = time(NULL);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (strncmp(e->d_name, PT_CHILD_CGROUP_PREFIX, sizeof PT_CHILD_CGROUP_PREFIX - 1) == 0 &&
            !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
            now - st.st_mtime > FORGOTTEN_AFTER_S)
            (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
}

/* Processes that the command left running move to Pitot's own cgroup. */
static void move_survivors(const struct pt_child *c) {
    struct pt_text text = { 0 };
    struct pt_scan members, line;
    char path[600];
    snprintf(path, sizeof path, "%s/../cgroup.procs", c->cgroup_path);
    int parent = open(path, O_WRONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/cgroup.procs", c->cgroup_path);
    if (parent >= 0 && !pt_fs_read(AT_FDCWD, path, &text, &members))
        while (pt_scan_line(&members, &line))
            (void)!write(parent, line.at, (size_t)(line.end - line.at));
    if (parent >= 0)
        close(parent);
    pt_text_release(&text);
}

static void drop_cgroup(struct pt_child *c) {
    for (int round = 0; c->cgroup_path[0] && rmdir(c->cgroup_path) && round < 10; round++) {
        if (errno != EBUSY)
            break;
        move_survivors(c);
        usleep(1000); /* a killed process leaves its cgroup a moment later */
    }
    c->cgroup_path[0] = 0;
}

static int make_cgroup(struct pt_child *c, const struct pt_child_options *o) {
    if (!o->cgroup_parent)
        return -1;
    remove_forgotten(o->cgroup_parent);
    int n =
        snprintf(c->cgroup_path, sizeof c->cgroup_path, "%s/%s", o->cgroup_parent, o->cgroup_name);
    int rc = n >= (int)sizeof c->cgroup_path ? -ENAMETOOLONG
             : mkdir(c->cgroup_path, 0755)   ? -errno
                                             : 0;
    if (rc) {
        pt_log(PT_LOG_DEBUG, "cannot create a cgroup for the command: %s: %s", c->cgroup_path,
               strerror(-rc));
        c->cgroup_path[0] = 0;
        return -1;
    }
    int fd = open(c->cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        drop_cgroup(c);
    return fd;
}

static pid_t create_process(struct pt_child *c, int cgroup_fd) {
    pid_t pid = clone_process(cgroup_fd, &c->pid_fd);
    if (pid < 0 && cgroup_fd >= 0) {
        drop_cgroup(c);
        pid = clone_process(-1, &c->pid_fd);
    }
    if (pid >= 0)
        return pid;
    /* kernels before 5.7, and seccomp filters that refuse clone3 */
    pid = fork();
    if (pid > 0)
        c->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return pid;
}

void pt_child_init(struct pt_child *c) {
    *c = (struct pt_child){ .pid_fd = -1, .barrier_fd = -1, .error_fd = -1 };
}

int pt_child_create(struct pt_child *c, const struct pt_child_options *o, struct pt_err *err) {
    pt_child_init(c);
    c->fs = o->fs;
    int barrier[2], failure[2];
    if (pipe2(barrier, O_CLOEXEC))
        return pt_fail(err, -errno, "cannot create a pipe: %s", strerror(errno));
    if (pipe2(failure, O_CLOEXEC)) {
        close(barrier[0]);
        close(barrier[1]);
        return pt_fail(err, -errno, "cannot create a pipe: %s", strerror(errno));
    }
    int cgroup_fd = make_cgroup(c, o);
    c->pid = create_process(c, cgroup_fd);
    if (c->pid == 0) {
        close(barrier[1]);
        run_command(o, barrier[0], failure[1]);
    }
    /* Without a cgroup, orphans of the command must become children of Pitot to be found. */
    if (!c->cgroup_path[0])
        c->is_subreaper = prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0;
    int rc = c->pid < 0 ? pt_fail(err, -errno, "cannot create a process: %s", strerror(errno)) : 0;
    if (cgroup_fd >= 0)
        close(cgroup_fd);
    close(barrier[0]);
    close(failure[1]);
    c->barrier_fd = barrier[1];
    c->error_fd = failure[0];
    return rc;
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int pt_child_release(struct pt_child *c, const char *command, struct pt_err *err) {
    int error = 0;
    ssize_t written = write(c->barrier_fd, "g", 1);
    close_fd(&c->barrier_fd);
    ssize_t n = written == 1 ? read(c->error_fd, &error, sizeof error) : 0;
    close_fd(&c->error_fd);
    if (n != sizeof error)
        return 0;
    return pt_fail(err, -error, "cannot run %s: %s", command,
                   error == ENOENT ? "command not found" : strerror(error));
}

void pt_child_reap(struct pt_child *c) {
    siginfo_t info;
    while (!c->has_ended) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            return;
        if (info.si_pid == c->pid)
            c->has_ended = true;
        else
            waitpid(info.si_pid, NULL, WNOHANG);
    }
}

void pt_child_collect(struct pt_child *c) {
    if (c->has_ended && !c->is_collected)
        c->is_collected = wait4(c->pid, &c->wait_status, 0, &c->usage) == c->pid;
}

void pt_child_signal(struct pt_child *c, int signal_number) {
    if (c->has_ended || c->pid <= 0)
        return;
    if (c->pid_fd < 0 || syscall(SYS_pidfd_send_signal, c->pid_fd, signal_number, NULL, 0))
        kill(c->pid, signal_number);
}

/* Since Linux 5.14. */
static bool kill_cgroup(const struct pt_child *c) {
    char path[600];
    if (!c->cgroup_path[0])
        return false;
    snprintf(path, sizeof path, "%s/cgroup.kill", c->cgroup_path);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, "1", 1) == 1;
    if (fd >= 0)
        close(fd);
    return done;
}

static int kill_members(const struct pt_child *c) {
    struct pt_text text = { 0 };
    struct pt_scan members, line;
    char path[600];
    int found = 0;
    snprintf(path, sizeof path, "%s/cgroup.procs", c->cgroup_path);
    if (!pt_fs_read(AT_FDCWD, path, &text, &members))
        while (pt_scan_line(&members, &line)) {
            int64_t pid = pt_scan_i64(&line);
            if (!line.failed && pid > 1) /* 0: in another namespace */
                found += kill((pid_t)pid, SIGKILL) == 0;
        }
    pt_text_release(&text);
    return found;
}

/* A zombie counts as gone. */
static bool is_live_descendant(const struct pt_fs *fs, pid_t pid, pid_t ancestor,
                               struct pt_text *text) {
    struct pt_pid_stat stat;
    for (int depth = 0; pid > 0 && depth < 1000; depth++) {
        if (pt_pid_read_stat(fs->proc, pid, text, &stat) || (depth == 0 && stat.state == 'Z'))
            return false;
        pid = (pid_t)stat.parent;
        if (pid == ancestor)
            return true;
    }
    return false;
}

static int kill_below(const struct pt_fs *fs, pid_t root) {
    struct pt_pid_list pids = { 0 };
    struct pt_text text = { 0 };
    int found = 0, proc = openat(fs->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = proc >= 0 && !pt_pid_list_read(&pids, proc) ? pids.count : 0;
    for (size_t i = 0; i < count; i++)
        if (is_live_descendant(fs, pids.at[i], root, &text))
            found += kill(pids.at[i], SIGKILL) == 0;
    if (proc >= 0)
        close(proc);
    pt_text_release(&text);
    pt_pid_list_release(&pids);
    return found;
}

void pt_child_kill_tree(struct pt_child *c) {
    if (c->pid <= 0)
        return;
    /* A tree that forks while it is being killed needs another round. Process ids from a /proc that
     * is not our own may belong to another namespace: they must not be killed. */
    int found = kill_cgroup(c) ? 0 : 1;
    for (int round = 0; found > 0 && round < KILL_ROUNDS; round++) {
        found = 0;
        if (c->cgroup_path[0])
            found = kill_members(c);
        else if (c->fs->is_live)
            found = kill_below(c->fs, c->is_subreaper ? getpid() : c->pid);
        if (found > 0)
            usleep(2000);
    }
    pt_child_signal(c, SIGKILL);
}

int pt_child_exit_code(const struct pt_child *c) {
    if (WIFSIGNALED(c->wait_status))
        return 128 + WTERMSIG(c->wait_status);
    return WEXITSTATUS(c->wait_status);
}

int pt_child_failure_code(int rc) {
    return rc == -ENOENT ? PT_EXIT_NOT_FOUND : PT_EXIT_CANNOT_RUN;
}

void pt_child_close(struct pt_child *c) {
    close_fd(&c->barrier_fd);
    close_fd(&c->error_fd);
    close_fd(&c->pid_fd);
    drop_cgroup(c);
}
