#include "launch/child.h"

#include "base/clock.h"
#include "base/confine.h"
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
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_ROUNDS 50
#define UUID_LENGTH 36

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

/* In the child, between clone and exec: only async-signal-safe calls. The kernel may take many
 * milliseconds to move a process, in which Pitot prepares the recording. */
static void run_command(const struct pt_child *c, const struct pt_child_options *o, int barrier,
                        int error_fd) {
    char go;
    unsigned joined = 0;
    for (int i = 0; i < c->controller_count; i++)
        joined |= (unsigned)(write(c->controllers[i].procs_fd, "0", 1) == 1) << i;
    (void)!write(error_fd, &joined, sizeof joined);
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

/* Removes a directory and those below it. A cgroup with a process in it stays. */
static void remove_directories(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            remove_directories(dirfd(d), e->d_name);
    if (d)
        closedir(d);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* Of a command that was recorded: the prefix and a uuid. Others may use the prefix, too. */
static bool is_of_recording(const char *name) {
    size_t prefix = sizeof PT_CHILD_CGROUP_PREFIX - 1;
    return strncmp(name, PT_CHILD_CGROUP_PREFIX, prefix) == 0 &&
           strlen(name + prefix) == UUID_LENGTH &&
           strspn(name + prefix, "0123456789abcdef-") == UUID_LENGTH;
}

/* A recorder holds a lock on the cgroup of its command as long as it lives. A killed one leaves the
 * cgroup behind, and nobody locks it. */
static void remove_forgotten(const char *parent) {
    DIR *d = opendir(parent);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_of_recording(e->d_name))
            continue;
        int fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
            remove_directories(dirfd(d), e->d_name);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

/* Processes that the command left running move to Pitot's own cgroup. */
static void move_survivors(const char *cgroup) {
    struct pt_text text = { 0 };
    struct pt_scan members, line;
    char path[600];
    snprintf(path, sizeof path, "%s/../cgroup.procs", cgroup);
    int parent = open(path, O_WRONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
    if (parent >= 0 && !pt_fs_read(AT_FDCWD, path, &text, &members))
        while (pt_scan_line(&members, &line))
            (void)!write(parent, line.at, (size_t)(line.end - line.at));
    if (parent >= 0)
        close(parent);
    pt_text_release(&text);
}

static void close_fd(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void drop_cgroup(char *path, int *fd) {
    for (int round = 0; path[0] && rmdir(path) && round < 10; round++) {
        if (errno != EBUSY)
            break;
        move_survivors(path);
        usleep(1000); /* a killed process leaves its cgroup a moment later */
    }
    path[0] = 0;
    close_fd(fd);
}

/* Another recorder may remove it before it is locked. */
static int make_locked(const char *path) {
    for (int tries = 0; tries < 10; tries++) {
        if (mkdir(path, 0755))
            return -errno;
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
            flock(fd, LOCK_EX); /* it is being removed */
        if (fd >= 0 && access(path, F_OK) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -EBUSY;
}

static void make_cgroup(const char *parent, const char *name, char path[512], int *fd) {
    if (!parent)
        return;
    remove_forgotten(parent);
    *fd = snprintf(path, 512, "%s/%s", parent, name) >= 512 ? -ENAMETOOLONG : make_locked(path);
    if (*fd >= 0)
        return;
    pt_log(PT_LOG_DEBUG, "cannot create a cgroup for the command: %s: %s", path, strerror(-*fd));
    *fd = -1;
    path[0] = 0;
}

/* A v1 controller takes a process that exists: the child, before it runs the command. */
static void make_controllers(struct pt_child *c, const struct pt_child_options *o) {
    for (int i = 0; i < PT_CHILD_CONTROLLERS && o->controller_parents[i]; i++) {
        char *path = c->controllers[c->controller_count].path, file[600];
        int *fd = &c->controllers[c->controller_count].fd;
        make_cgroup(o->controller_parents[i], o->cgroup_name, path, fd);
        if (!path[0])
            continue;
        snprintf(file, sizeof file, "%s/cgroup.procs", path);
        int procs = open(file, O_WRONLY | O_CLOEXEC);
        if (procs < 0) {
            drop_cgroup(path, fd);
            continue;
        }
        c->controllers[c->controller_count++].procs_fd = procs;
    }
}

static pid_t create_process(struct pt_child *c) {
    pid_t pid = clone_process(c->cgroup_fd, &c->pid_fd);
    if (pid < 0 && c->cgroup_fd >= 0) {
        drop_cgroup(c->cgroup_path, &c->cgroup_fd);
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
    *c = (struct pt_child){ .pid_fd = -1, .barrier_fd = -1, .error_fd = -1, .cgroup_fd = -1 };
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
    make_cgroup(o->cgroup_parent, o->cgroup_name, c->cgroup_path, &c->cgroup_fd);
    make_controllers(c, o);
    c->pid = create_process(c);
    if (c->pid == 0) {
        close(barrier[1]);
        run_command(c, o, barrier[0], failure[1]);
    }
    for (int i = 0; i < c->controller_count; i++)
        close_fd(&c->controllers[i].procs_fd);
    /* Without a cgroup, orphans of the command must become children of Pitot to be found. */
    if (!c->cgroup_path[0])
        c->is_subreaper = prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L) == 0;
    int rc = c->pid < 0 ? pt_fail(err, -errno, "cannot create a process: %s", strerror(errno)) : 0;
    close(barrier[0]);
    close(failure[1]);
    c->barrier_fd = barrier[1];
    c->error_fd = failure[0];
    return rc;
}

bool pt_child_join(struct pt_child *c) {
    unsigned joined = 0;
    int made = c->controller_count;
    if (!c->has_joined) {
        if (read(c->error_fd, &joined, sizeof joined) != sizeof joined)
            joined = 0; /* it was killed */
        c->controller_count = 0;
        for (int i = 0; i < made; i++) {
            if (joined >> i & 1)
                c->controllers[c->controller_count++] = c->controllers[i];
            else
                drop_cgroup(c->controllers[i].path, &c->controllers[i].fd);
        }
        c->has_joined = true;
    }
    return c->cgroup_path[0] || c->controller_count > 0;
}

int pt_child_release(struct pt_child *c, const char *command, struct pt_err *err) {
    int error = 0;
    (void)pt_child_join(c);
    ssize_t written = write(c->barrier_fd, "g", 1);
    close_fd(&c->barrier_fd);
    ssize_t n = written == 1 ? read(c->error_fd, &error, sizeof error) : 0;
    close_fd(&c->error_fd);
    if (n != sizeof error)
        return 0;
    return pt_fail(err, -error, "cannot run %s: %s", command,
                   error == ENOENT ? "command not found" : strerror(error));
}

static void add_usage(struct pt_child *c, const struct rusage *u) {
    c->reaped_cpu_ns += (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * PT_NS_PER_SECOND +
                        (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* Not a subreaper: then only helpers of Pitot are left to be waited for. */
static void reap_other(struct pt_child *c, pid_t pid) {
    struct rusage usage;
    if (wait4(pid, NULL, WNOHANG, &usage) == pid && c->is_subreaper)
        add_usage(c, &usage);
}

void pt_child_reap(struct pt_child *c) {
    siginfo_t info;
    while (!c->has_ended) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == 0)
            return;
        if (info.si_pid == c->pid)
            c->has_ended = true;
        else if (!pt_confined_reap(info.si_pid))
            reap_other(c, info.si_pid);
    }
}

void pt_child_collect(struct pt_child *c) {
    if (!c->has_ended || c->is_collected)
        return;
    c->is_collected = wait4(c->pid, &c->wait_status, 0, &c->usage) == c->pid;
    if (c->is_collected)
        add_usage(c, &c->usage);
}

void pt_child_signal(struct pt_child *c, int signal_number) {
    if (c->has_ended || c->pid <= 0)
        return;
    if (c->pid_fd < 0 || syscall(SYS_pidfd_send_signal, c->pid_fd, signal_number, NULL, 0))
        kill(c->pid, signal_number);
}

void pt_child_queue_signal(const struct pt_child *c, int signal_number, union sigval value) {
    if (!c->has_ended && c->pid > 0)
        sigqueue(c->pid, signal_number, value);
}

int pt_child_take_stop(const struct pt_child *c) {
    siginfo_t info = { .si_pid = 0 };
    int number = 0;
    while (c->pid > 0 && !c->has_ended &&
           !waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WCONTINUED | WNOHANG) && info.si_pid) {
        number = info.si_code == CLD_STOPPED ? info.si_status : 0;
        info.si_pid = 0;
    }
    return number;
}

bool pt_child_ignores(const struct pt_child *c, int signal_number) {
    struct pt_text text = { 0 };
    struct pt_scan status, line;
    char path[32];
    uint64_t ignored = 0;
    snprintf(path, sizeof path, "%d/status", (int)c->pid);
    if (c->fs->is_live && !pt_fs_read(c->fs->proc, path, &text, &status))
        while (pt_scan_line(&status, &line))
            if (pt_scan_take(&line, PT_STR("SigIgn:"))) {
                pt_scan_blanks(&line);
                ignored = pt_scan_hex(&line);
            }
    pt_text_release(&text);
    return ignored >> (signal_number - 1) & 1;
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
    snprintf(path, sizeof path, "%s/cgroup.procs",
             c->cgroup_path[0] ? c->cgroup_path : c->controllers[0].path);
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
        if (!pt_confined_reap(pids.at[i]) && is_live_descendant(fs, pids.at[i], root, &text))
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
        if (c->cgroup_path[0] || c->controller_count > 0)
            found = kill_members(c);
        if (!c->cgroup_path[0] && c->fs->is_live)
            found += kill_below(c->fs, c->is_subreaper ? getpid() : c->pid);
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
    drop_cgroup(c->cgroup_path, &c->cgroup_fd);
    for (int i = 0; i < c->controller_count; i++)
        drop_cgroup(c->controllers[i].path, &c->controllers[i].fd);
    c->controller_count = 0;
}
