#include "agent/child.h"

#include "base/log.h"
#include "base/scan.h"

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
#include <unistd.h>

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

/* Kernels before 5.7, and seccomp filters that refuse clone3. */
static pid_t fork_process(int *pid_fd) {
    pid_t pid = fork();
    if (pid > 0)
        *pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return pid;
}

static void reset_signals(const sigset_t *mask) {
    struct sigaction standard = { .sa_handler = SIG_DFL };
    const int changed[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < PT_COUNT(changed); i++) {
        struct sigaction current;
        if (!sigaction(changed[i], NULL, &current) && current.sa_handler != SIG_IGN)
            sigaction(changed[i], &standard, NULL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
}

/* In the child, between clone and exec: only async-signal-safe calls. */
static void run_command(const struct pt_child_options *o, int barrier, int error_fd) {
    char go;
    if (read(barrier, &go, 1) != 1)
        _exit(125); /* the recorder gave up or died: the command must not run unseen */
    reset_signals(o->signal_mask);
    if (o->descriptor_limit)
        setrlimit(RLIMIT_NOFILE, o->descriptor_limit);
    execvpe(o->argv[0], o->argv, o->environment);
    int error = errno;
    (void)!write(error_fd, &error, sizeof error);
    _exit(error == ENOENT ? 127 : 126);
}

static int make_cgroup(struct pt_child *c, const struct pt_child_options *o) {
    if (!o->cgroup_parent)
        return -1;
    snprintf(c->cgroup_path, sizeof c->cgroup_path, "%s/%s", o->cgroup_parent, o->cgroup_name);
    if (mkdir(c->cgroup_path, 0755)) {
        pt_log(PT_LOG_DEBUG, "no cgroup of its own for the command: %s: %s", c->cgroup_path,
               strerror(errno));
        c->cgroup_path[0] = 0;
        return -1;
    }
    return open(c->cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What the command left running goes back to where the command would have been. */
static void move_survivors(const struct pt_child *c) {
    char path[600], pid[32];
    snprintf(path, sizeof path, "%s/cgroup.procs", c->cgroup_path);
    FILE *members = fopen(path, "re");
    snprintf(path, sizeof path, "%s/../cgroup.procs", c->cgroup_path);
    int parent = open(path, O_WRONLY | O_CLOEXEC);
    while (members && parent >= 0 && fgets(pid, sizeof pid, members))
        (void)!write(parent, pid, strlen(pid));
    if (members)
        fclose(members);
    if (parent >= 0)
        close(parent);
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

static pid_t create_process(struct pt_child *c, int cgroup_fd) {
    pid_t pid = clone_process(cgroup_fd, &c->pid_fd);
    if (pid < 0 && cgroup_fd >= 0) {
        drop_cgroup(c);
        pid = clone_process(-1, &c->pid_fd);
    }
    return pid < 0 ? fork_process(&c->pid_fd) : pid;
}

int pt_child_create(struct pt_child *c, const struct pt_child_options *o, struct pt_err *err) {
    *c = (struct pt_child){ .pid_fd = -1, .barrier_fd = -1, .error_fd = -1 };
    int barrier[2], failure[2];
    if (pipe2(barrier, O_CLOEXEC))
        return pt_fail(err, -errno, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(failure, O_CLOEXEC)) {
        close(barrier[0]);
        close(barrier[1]);
        return pt_fail(err, -errno, "cannot make a pipe: %s", strerror(errno));
    }
    int cgroup_fd = make_cgroup(c, o);
    /* Without a cgroup, orphans of the command must come to us to be found again. */
    if (cgroup_fd < 0)
        c->is_subreaper = prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0;
    c->pid = create_process(c, cgroup_fd);
    if (c->pid == 0) {
        close(barrier[1]);
        run_command(o, barrier[0], failure[1]);
    }
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
    int status;
    pid_t pid;
    struct rusage usage;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid != c->pid)
            continue;
        c->has_ended = true;
        c->wait_status = status;
        c->usage = usage;
    }
}

void pt_child_signal(struct pt_child *c, int signal_number) {
    if (c->has_ended || c->pid <= 0)
        return;
    if (c->pid_fd < 0 || syscall(SYS_pidfd_send_signal, c->pid_fd, signal_number, NULL, 0))
        kill(c->pid, signal_number);
}

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

static pid_t parent_of(pid_t pid) {
    char path[32], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = 0;
    char *end = strrchr(line, ')');
    if (!end)
        return 0;
    struct pt_scan s = pt_scan_of(pt_str_from(end + 1));
    pt_scan_skip(&s, 1);
    return (pid_t)pt_scan_i64(&s);
}

static bool is_descendant(pid_t pid, pid_t ancestor) {
    for (int depth = 0; pid > 1 && depth < 1000; depth++) {
        if (pid == ancestor)
            return true;
        pid = parent_of(pid);
    }
    return false;
}

static int kill_below(pid_t root) {
    DIR *proc = opendir("/proc");
    int found = 0;
    for (struct dirent *e; proc && (e = readdir(proc));) {
        struct pt_scan s = pt_scan_of(pt_str_from(e->d_name));
        pid_t pid = (pid_t)pt_scan_u64(&s);
        if (!s.failed && pid != getpid() && is_descendant(pid, root))
            found += kill(pid, SIGKILL) == 0;
    }
    if (proc)
        closedir(proc);
    return found;
}

/* Without a cgroup: a tree that forks while it is being killed needs another round. */
static void kill_descendants(const struct pt_child *c) {
    for (int round = 0; round < 5; round++) {
        if (kill_below(c->is_subreaper ? getpid() : c->pid) == 0)
            return;
        usleep(2000);
    }
}

void pt_child_kill_tree(struct pt_child *c) {
    if (c->pid <= 0)
        return;
    if (!kill_cgroup(c))
        kill_descendants(c);
    pt_child_signal(c, SIGKILL);
}

int pt_child_exit_code(const struct pt_child *c) {
    if (WIFSIGNALED(c->wait_status))
        return 128 + WTERMSIG(c->wait_status);
    return WEXITSTATUS(c->wait_status);
}

void pt_child_close(struct pt_child *c) {
    close_fd(&c->barrier_fd);
    close_fd(&c->error_fd);
    close_fd(&c->pid_fd);
    drop_cgroup(c);
}
