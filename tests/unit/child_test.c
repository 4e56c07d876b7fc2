/* The recorded command: barrier, exit codes, and the end of whole trees. */
#include "tree.h"

#include "launch/stopping.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>

/* Everything a command starts inherits the writing end of `alive`: it ends when they all have. */
struct command {
    struct pt_fs fs;
    struct pt_child child;
    sigset_t mask;
    struct rlimit limit;
    int alive;
    char text[256]; /* what came through `alive` */
};

#define ALIVE_FD 9 /* its number in the command */

static void open_command(struct command *c) {
    struct pt_err err = { "" };
    *c = (struct command){ .alive = -1 };
    if (pt_fs_open(&c->fs, "/proc", "/sys", "/", &err))
        fail_msg("%s", err.text);
    sigprocmask(SIG_SETMASK, NULL, &c->mask);
}

static void create_argv(struct command *c, const char *const *argv, const char *cgroup_parent) {
    int ends[2];
    char name[64];
    struct pt_err err = { "" };
    snprintf(name, sizeof name, PT_CHILD_CGROUP_PREFIX "test-%d", (int)getpid());
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(dup2(ends[1], ALIVE_FD), ALIVE_FD);
    struct pt_child_options options = {
        .fs = &c->fs,
        .argv = (char *const *)argv,
        .environment = environ,
        .cgroup_parent = cgroup_parent,
        .cgroup_name = name,
        .signal_mask = &c->mask,
        .descriptor_limit = c->limit.rlim_cur ? &c->limit : NULL,
    };
    if (pt_child_create(&c->child, &options, &err))
        fail_msg("%s", err.text);
    close(ends[1]);
    close(ALIVE_FD);
    c->alive = ends[0];
}

static void create(struct command *c, const char *script, const char *cgroup_parent) {
    const char *const argv[] = { "sh", "-c", script, NULL };
    create_argv(c, argv, cgroup_parent);
}

static void release(struct command *c) {
    struct pt_err err = { "" };
    if (pt_child_release(&c->child, "sh", &err))
        fail_msg("%s", err.text);
}

/* Reads up to a newline or the end; false at the end. */
static bool next_word(struct command *c) {
    size_t length = 0;
    for (char byte; length < sizeof c->text - 1; c->text[length++] = byte) {
        struct pollfd p = { .fd = c->alive, .events = POLLIN };
        assert_int_equal(poll(&p, 1, 60000), 1);
        if (read(c->alive, &byte, 1) != 1 || byte == '\n')
            break;
    }
    c->text[length] = 0;
    return length > 0;
}

static void wait_until_all_are_gone(struct command *c) {
    while (next_word(c))
        ;
}

static int wait_for_end(struct command *c) {
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)c->child.pid, &info, WEXITED | WNOWAIT), 0);
    pt_child_reap(&c->child);
    assert_true(c->child.has_ended);
    pt_child_collect(&c->child);
    return pt_child_exit_code(&c->child);
}

static void close_command(struct command *c) {
    pt_child_close(&c->child);
    close(c->alive);
    pt_fs_close(&c->fs);
    prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

static int exit_code_of(const char *script) {
    struct command c;
    open_command(&c);
    create(&c, script, NULL);
    release(&c);
    int code = wait_for_end(&c);
    close_command(&c);
    return code;
}

/* Pitot's own cgroup in a v2 hierarchy it may write to; skips the test where there is none. */
static const char *own_cgroup(char path[PATH_MAX]) {
    char line[PATH_MAX], point[PATH_MAX] = "", own[PATH_MAX] = "";
    FILE *f = fopen("/proc/self/mounts", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strchr(line, ' '), *type = at ? strchr(at + 1, ' ') : NULL;
        if (type && strncmp(type, " cgroup2 ", 9) == 0)
            pt_str_copy(point, sizeof point, (struct pt_str){ at + 1, (size_t)(type - at - 1) });
    }
    if (f)
        fclose(f);
    f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "0::", 3) == 0)
            pt_str_copy(own, sizeof own, (struct pt_str){ line + 3, strcspn(line + 3, "\n") });
    if (f)
        fclose(f);
    if (!*point || snprintf(path, PATH_MAX, "%s%s", point, own) >= PATH_MAX || access(path, W_OK))
        skip();
    return path;
}

static void the_exit_code_is_the_commands_own(void **state) {
    (void)state;
    assert_int_equal(exit_code_of("exit 0"), 0);
    assert_int_equal(exit_code_of("exit 7"), 7);
    assert_int_equal(exit_code_of("exit 255"), 255);
    assert_int_equal(exit_code_of("kill -KILL $$"), 128 + SIGKILL);
    assert_int_equal(exit_code_of("kill -TERM $$"), 128 + SIGTERM);
}

static void check_cannot_run(const char *file, int expected, const char *words) {
    struct command c;
    struct pt_err err = { "" };
    const char *const argv[] = { file, NULL };
    open_command(&c);
    create_argv(&c, argv, NULL);
    assert_int_equal(pt_child_release(&c.child, file, &err), expected);
    assert_non_null(strstr(err.text, words));
    wait_for_end(&c);
    close_command(&c);
}

static void a_command_that_cannot_be_run_says_why(void **state) {
    (void)state;
    check_cannot_run("/no/such/command", -ENOENT, "/no/such/command: command not found");
    check_cannot_run("pitot-no-such-command", -ENOENT, "command not found");
    check_cannot_run("/etc/passwd", -EACCES, "Permission denied");
    check_cannot_run("/", -EACCES, "Permission denied");
}

static bool is_running(pid_t pid, const char *executable) {
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    return strcmp(target, executable) == 0;
}

/* S in /proc/PID/stat: it waits for the barrier, as there is nothing else it could wait for. */
static void wait_until_it_sleeps(pid_t pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (char state = 0; state != 'S'; sched_yield()) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, line, sizeof line - 1);
        close(fd);
        line[n > 0 ? n : 0] = 0;
        char *end = strrchr(line, ')');
        assert_non_null(end);
        state = end[2];
    }
}

static void the_command_does_not_run_before_it_is_released(void **state) {
    (void)state;
    skip_if_emulated(); /* /proc/PID/exe is the emulator */
    struct command c;
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    open_command(&c);
    create(&c, "echo ran >&9", NULL);
    wait_until_it_sleeps(c.child.pid);
    assert_true(is_running(c.child.pid, self));
    struct pollfd p = { .fd = c.alive, .events = POLLIN };
    assert_int_equal(poll(&p, 1, 0), 0);
    release(&c);
    assert_true(next_word(&c));
    assert_string_equal(c.text, "ran");
    assert_int_equal(wait_for_end(&c), 0);
    close_command(&c);
}

/* A recorder that dies while the command waits: we inherit the command and see it end. */
static void the_command_ends_unrun_if_the_recorder_dies_first(void **state) {
    (void)state;
    skip_if_emulated(); /* no sub-reapers */
    int pids[2], status;
    pid_t command_pid = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L), 0);
    assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
    pid_t recorder = fork();
    if (recorder == 0) {
        struct command c;
        open_command(&c);
        create(&c, "exit 3", NULL);
        wait_until_it_sleeps(c.child.pid);
        _exit(write(pids[1], &c.child.pid, sizeof c.child.pid) != sizeof c.child.pid);
    }
    assert_int_equal(read(pids[0], &command_pid, sizeof command_pid), sizeof command_pid);
    assert_int_equal(waitpid(recorder, &status, 0), recorder);
    assert_int_equal(waitpid(command_pid, &status, 0), command_pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125);
    prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L);
    close(pids[0]);
    close(pids[1]);
}

static void a_signal_reaches_the_command(void **state) {
    (void)state;
    struct command c;
    open_command(&c);
    create(&c, "trap 'kill $!; exit 42' USR1; echo ready >&9; while :; do sleep 100 & wait; done",
           NULL);
    release(&c);
    assert_true(next_word(&c));
    pt_child_signal(&c.child, SIGUSR1);
    assert_int_equal(wait_for_end(&c), 42);
    pt_child_signal(&c.child, SIGUSR1); /* it has ended: nobody is signalled */
    wait_until_all_are_gone(&c);
    close_command(&c);
}

static void what_an_ended_command_left_running_is_found_and_ended(void **state) {
    (void)state;
    skip_if_emulated(); /* no sub-reapers */
    struct command c;
    open_command(&c);
    create(&c, "sleep 100 & exit 5", NULL);
    release(&c);
    assert_int_equal(wait_for_end(&c), 5);
    pt_child_kill_tree(&c.child);
    wait_until_all_are_gone(&c);
    close_command(&c);
}

static void mask_and_limits_are_what_pitot_was_started_with(void **state) {
    (void)state;
    struct command c;
    sigset_t blocked;
    open_command(&c);
    getrlimit(RLIMIT_NOFILE, &c.limit);
    c.limit.rlim_cur = 123;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    create(&c, "ulimit -n >&9; grep SigBlk /proc/self/status >&9", NULL);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    release(&c);
    assert_true(next_word(&c));
    assert_string_equal(c.text, "123");
    assert_true(next_word(&c));
    assert_string_equal(c.text, "SigBlk:\t0000000000000000");
    assert_int_equal(wait_for_end(&c), 0);
    close_command(&c);
}

/* A daemon in a session of its own, started twice removed, and a command that stays. */
static const char daemon_script[] =
    "(setsid sh -c '(sleep 100 &) ; exec sleep 100' &) ; echo ready >&9; exec sleep 100";

static void check_kill_tree(const char *cgroup_parent) {
    struct command c;
    open_command(&c);
    create(&c, daemon_script, cgroup_parent);
    release(&c);
    assert_true(next_word(&c));
    pt_child_kill_tree(&c.child);
    wait_until_all_are_gone(&c);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    char path[PATH_MAX];
    pt_str_copy(path, sizeof path, pt_str_from(c.child.cgroup_path));
    assert_int_equal(*path != 0, cgroup_parent != NULL);
    close_command(&c);
    if (*path)
        assert_int_equal(access(path, F_OK), -1);
}

static void without_a_cgroup_the_whole_tree_is_found_and_ended(void **state) {
    (void)state;
    skip_if_emulated(); /* no sub-reapers */
    check_kill_tree(NULL);
}

static void with_a_cgroup_the_whole_tree_is_ended_and_the_cgroup_removed(void **state) {
    (void)state;
    skip_if_emulated(); /* no clone3 */
    char parent[PATH_MAX];
    check_kill_tree(own_cgroup(parent));
}

/* As process 1, which is what Pitot is as the entry point of a container. */
static int kill_as_process_one(void) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("proc", "/proc", "proc", 0, NULL))
        return 77;
    check_kill_tree(NULL);
    return 0;
}

static void process_one_finds_the_tree_too(void **state) {
    (void)state;
    skip_if_emulated(); /* no sub-reapers */
    int status;
    pid_t outer = fork();
    if (outer == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS))
            _exit(77);
        pid_t one = fork();
        if (one == 0)
            _exit(kill_as_process_one());
        waitpid(one, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    assert_int_equal(waitpid(outer, &status, 0), outer);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* not allowed to make namespaces */
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Kernels before 5.14: a directory without cgroup.kill stands for their cgroup. */
static void without_cgroup_kill_the_members_are_ended(void **state) {
    (void)state;
    struct command c;
    struct tree tree;
    char members[64];
    int status;
    tree_make(&tree);
    pid_t member = fork();
    if (member == 0)
        for (;;)
            pause();
    snprintf(members, sizeof members, "0\n%d\n", (int)member);
    tree_put(&tree, "cgroup.procs", members);
    open_command(&c);
    create(&c, "exec sleep 100", NULL);
    release(&c);
    pt_str_copy(c.child.cgroup_path, sizeof c.child.cgroup_path, pt_str_from(tree.root));
    pt_child_kill_tree(&c.child);
    c.child.cgroup_path[0] = 0;
    assert_int_equal(waitpid(member, &status, 0), member);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    close_command(&c);
    tree_remove(&tree);
}

static void another_proc_is_not_asked_whom_to_kill(void **state) {
    (void)state;
    struct command c;
    struct pt_err err = { "" };
    struct tree tree;
    char stat[128];
    int status;
    tree_make(&tree);
    pid_t bystander = fork();
    if (bystander == 0)
        for (;;)
            pause();
    char name[64];
    snprintf(name, sizeof name, "proc/%d/stat", (int)bystander);
    snprintf(stat, sizeof stat, "%d (x) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0\n",
             (int)bystander, (int)getpid());
    tree_put(&tree, name, stat); /* it looks like a child of ours, and in that tree it is */
    open_command(&c);
    pt_fs_close(&c.fs);
    assert_int_equal(pt_fs_open(&c.fs, tree_path(&tree, "proc"), "/sys", "/", &err), 0);
    create(&c, "exec sleep 100", NULL);
    release(&c);
    pt_child_kill_tree(&c.child);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    assert_int_equal(waitpid(bystander, &status, WNOHANG), 0); /* alive */
    kill(bystander, SIGKILL);
    waitpid(bystander, &status, 0);
    close_command(&c);
    tree_remove(&tree);
}

static void cgroup_of(const char *pid, char *into, size_t capacity) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/cgroup", pid);
    FILE *f = fopen(path, "r");
    into[0] = 0;
    while (f && fgets(into, (int)capacity, f) && strncmp(into, "0::", 3) != 0)
        ;
    if (f)
        fclose(f);
}

static void what_the_command_left_running_moves_out_of_its_cgroup(void **state) {
    (void)state;
    skip_if_emulated(); /* no clone3 */
    struct command c;
    char parent[PATH_MAX], path[PATH_MAX], own[PATH_MAX], its[PATH_MAX];
    own_cgroup(parent);
    open_command(&c);
    create(&c, "sleep 100 & echo $! >&9", parent);
    release(&c);
    assert_true(next_word(&c));
    assert_int_equal(wait_for_end(&c), 0);
    pt_str_copy(path, sizeof path, pt_str_from(c.child.cgroup_path));
    cgroup_of("self", own, sizeof own);
    cgroup_of(c.text, its, sizeof its);
    assert_string_not_equal(own, its);
    pt_child_close(&c.child);
    assert_int_equal(access(path, F_OK), -1);
    cgroup_of(c.text, its, sizeof its);
    assert_string_equal(own, its);
    kill((pid_t)strtol(c.text, NULL, 10), SIGKILL);
    wait_until_all_are_gone(&c);
    close_command(&c);
}

/* Names of the cgroups of recordings. */
#define GROUP(last_digit) "pitot-3f2a0000-0000-4000-8000-00000000000" last_digit
#define FORGOTTEN         GROUP("1")
#define NESTED            GROUP("2")
#define LOCKED            GROUP("3")
#define IN_USE            GROUP("4")

/* The parent is not a cgroup at all: the kernel refuses, and the command runs without one. */
static void a_cgroup_that_cannot_be_used_is_done_without(void **state) {
    (void)state;
    struct command c;
    struct tree tree;
    tree_make(&tree);
    const char *const names[] = { FORGOTTEN, NESTED "/x/y", LOCKED,
                                  IN_USE,    "other",       "pitot-of-somebody" };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        tree_directory(&tree, names[i]);
    tree_put(&tree, IN_USE "/process", ""); /* it cannot be removed */
    int locked = open(tree_path(&tree, LOCKED), O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(locked, LOCK_EX), 0); /* its recorder lives */
    open_command(&c);
    create(&c, "exit 5", tree.root);
    assert_string_equal(c.child.cgroup_path, "");
    assert_true(c.child.is_subreaper || is_emulated()); /* else orphans could not be found */
    release(&c);
    assert_int_equal(wait_for_end(&c), 5);
    close_command(&c);
    assert_int_equal(access(tree_path(&tree, FORGOTTEN), F_OK), -1);
    assert_int_equal(access(tree_path(&tree, NESTED), F_OK), -1);
    assert_int_equal(access(tree_path(&tree, LOCKED), F_OK), 0);
    assert_int_equal(access(tree_path(&tree, IN_USE), F_OK), 0);
    close(locked);
    assert_int_equal(access(tree_path(&tree, "other"), F_OK), 0);
    assert_int_equal(access(tree_path(&tree, "pitot-of-somebody"), F_OK), 0);
    tree_remove(&tree);
}

/* As signalfd(2) tells it; from a process, or by a key of the terminal. */
static bool take_signal(struct pt_stopping *s, int number, bool is_from_terminal) {
    struct signalfd_siginfo info = { .ssi_signo = (uint32_t)number,
                                     .ssi_code = is_from_terminal ? SI_KERNEL : SI_USER };
    return pt_stopping_take(s, &info);
}

/* Says each signal it gets, and goes on. */
static void start_stubborn(struct command *c) {
    open_command(c);
    create(c,
           "trap 'echo INT >&9' INT; trap 'echo TERM >&9' TERM; trap 'echo USR2 >&9' USR2;"
           "echo ready >&9; while :; do sleep 0.01 9>&-; done",
           NULL);
    release(c);
    next_word(c);
    assert_string_equal(c->text, "ready");
}

/* As if the last request were that old. */
static void let_pass(struct pt_stopping *s, int64_t ns) {
    s->asked_ns -= ns;
}

static void the_second_request_adds_sigterm_the_third_kills(void **state) {
    (void)state;
    struct command c;
    start_stubborn(&c);
    struct pt_stopping s = { .child = &c.child };
    assert_false(take_signal(&s, SIGUSR2, false));
    next_word(&c);
    assert_string_equal(c.text, "USR2");
    assert_int_equal(s.asked_count, 0);
    assert_false(take_signal(&s, SIGINT, false));
    next_word(&c);
    assert_string_equal(c.text, "INT");
    take_signal(&s, SIGINT, false); /* at once, by the same sender: the same request */
    assert_int_equal(s.asked_count, 1);
    let_pass(&s, 3600 * PT_NS_PER_SECOND);
    pt_stopping_escalate(&s, INT64_MAX);
    assert_int_equal(pt_stopping_deadline(&s), INT64_MAX); /* time alone does nothing */
    take_signal(&s, SIGINT, false);
    next_word(&c);
    assert_string_equal(c.text, "INT");
    next_word(&c);
    assert_string_equal(c.text, "TERM");
    let_pass(&s, PT_NS_PER_SECOND);
    take_signal(&s, SIGINT, false);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    assert_false(take_signal(&s, SIGCHLD, false));
    assert_true(take_signal(&s, SIGINT, false)); /* nothing is left that could end */
    close_command(&c);
}

static void a_key_is_not_forwarded_and_counts_only_in_a_row(void **state) {
    (void)state;
    struct command c;
    start_stubborn(&c);
    struct pt_stopping s = { .child = &c.child };
    for (int i = 0; i < 9; i++) { /* an interpreter, where Ctrl+C does not mean the end */
        take_signal(&s, SIGINT, true);
        assert_int_equal(s.asked_count, 1);
        let_pass(&s, 3600 * PT_NS_PER_SECOND);
    }
    take_signal(&s, SIGINT, true);
    take_signal(&s, SIGINT, true);
    next_word(&c);
    assert_string_equal(c.text, "TERM"); /* and no INT before it */
    take_signal(&s, SIGINT, true);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    close_command(&c);
}

static void hangup_and_quit_are_forwarded_and_never_counted(void **state) {
    (void)state;
    struct command c;
    open_command(&c);
    create(&c,
           "trap 'echo HUP >&9' HUP; trap 'echo QUIT >&9' QUIT; echo ready >&9;"
           "while :; do sleep 0.01 9>&-; done",
           NULL);
    release(&c);
    next_word(&c);
    struct pt_stopping s = { .child = &c.child };
    for (int i = 0; i < 5; i++) {
        take_signal(&s, SIGHUP, false); /* a server reads its settings again */
        next_word(&c);
        assert_string_equal(c.text, "HUP");
        take_signal(&s, SIGQUIT, false); /* Java prints its threads */
        next_word(&c);
        assert_string_equal(c.text, "QUIT");
    }
    assert_int_equal(s.asked_count, 0);
    pt_child_kill_tree(&c.child);
    wait_for_end(&c);
    close_command(&c);
}

static void what_was_ignored_at_the_start_is_not_a_request(void **state) {
    (void)state;
    struct command c;
    start_stubborn(&c);
    struct pt_stopping s = { .child = &c.child, .had_terminal = true };
    sigemptyset(&s.ignored);
    sigaddset(&s.ignored, SIGINT);
    sigaddset(&s.ignored, SIGHUP);
    for (int i = 0; i < 5; i++)
        take_signal(&s, SIGINT, true);
    take_signal(&s, SIGHUP, true);
    assert_int_equal(s.asked_count, 0);
    assert_int_equal(pt_stopping_deadline(&s), INT64_MAX);
    s.child = NULL;
    assert_false(take_signal(&s, SIGHUP, false)); /* nohup */
    assert_false(take_signal(&s, SIGINT, true));
    assert_true(take_signal(&s, SIGINT, false)); /* kill -INT of a background job */
    pt_child_kill_tree(&c.child);
    wait_for_end(&c);
    close_command(&c);
}

static void a_stop_that_pitot_begins_has_a_grace_time(void **state) {
    (void)state;
    struct command c;
    start_stubborn(&c);
    struct pt_stopping s = { .child = &c.child, .grace_ns = 7 };
    pt_stopping_begin(&s, 1000);
    next_word(&c);
    assert_string_equal(c.text, "TERM");
    assert_int_equal(pt_stopping_deadline(&s), 1007);
    pt_stopping_begin(&s, 1005); /* once */
    pt_stopping_escalate(&s, 1006);
    assert_int_equal(pt_stopping_deadline(&s), 1007);
    pt_stopping_escalate(&s, 1007);
    assert_int_equal(wait_for_end(&c), 128 + SIGKILL);
    assert_int_equal(pt_stopping_deadline(&s), INT64_MAX);
    close_command(&c);
}

/* A process without a terminal that had one. */
static void after_the_loss_of_the_terminal_grace_comes_before_sigterm(void **state) {
    (void)state;
    struct command c;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        start_stubborn(&c);
        struct pt_stopping s = { .child = &c.child, .grace_ns = 7, .had_terminal = true };
        take_signal(&s, SIGHUP, false); /* it is not handled: the command ends */
        assert_true(s.deadline_ns > 0);
        int64_t lost_ns = s.deadline_ns;
        s.has_sent_terminate = false;
        pt_stopping_escalate(&s, lost_ns);
        assert_true(s.has_sent_terminate);
        assert_int_equal(pt_stopping_deadline(&s), lost_ns + 7);
        assert_int_equal(wait_for_end(&c), 128 + SIGHUP);
        close_command(&c);
        open_command(&c);
        create(&c, "trap '' HUP; echo ready >&9; sleep 100", NULL);
        release(&c);
        next_word(&c);
        s = (struct pt_stopping){ .child = &c.child, .grace_ns = 7, .had_terminal = true };
        take_signal(&s, SIGHUP, false); /* `pitot -- nohup ...` */
        assert_int_equal(pt_stopping_deadline(&s), INT64_MAX);
        pt_child_kill_tree(&c.child);
        wait_for_end(&c);
        close_command(&c);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void the_command_itself_cannot_ask(void **state) {
    (void)state;
    struct command c;
    start_stubborn(&c);
    struct pt_stopping s = { .child = &c.child };
    struct signalfd_siginfo info = { .ssi_signo = SIGTERM,
                                     .ssi_code = SI_USER,
                                     .ssi_pid = (uint32_t)c.child.pid };
    assert_false(pt_stopping_take(&s, &info)); /* kill 0 */
    assert_int_equal(s.asked_count, 0);
    take_signal(&s, SIGUSR2, false);
    next_word(&c);
    assert_string_equal(c.text, "USR2"); /* and no TERM before it */
    pt_child_kill_tree(&c.child);
    wait_for_end(&c);
    close_command(&c);
}

static void without_a_command_a_signal_is_for_pitot(void **state) {
    (void)state;
    struct pt_stopping s = { 0 };
    assert_true(take_signal(&s, SIGHUP, false));
    assert_true(take_signal(&s, SIGQUIT, true));
    assert_false(take_signal(&s, SIGCHLD, false));
    assert_false(take_signal(&s, SIGWINCH, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(the_exit_code_is_the_commands_own,
                "C014: the exit code is the command's own, or 128 + signal"),
        PT_TEST(a_command_that_cannot_be_run_says_why,
                "C015: a command that cannot be run says why"),
        PT_TEST(the_command_does_not_run_before_it_is_released,
                "C003: the command does not run before it is released"),
        PT_TEST(the_command_ends_unrun_if_the_recorder_dies_first,
                "the command ends unrun if the recorder dies first"),
        PT_TEST(a_signal_reaches_the_command, "C017: a signal reaches the command"),
        PT_TEST(the_second_request_adds_sigterm_the_third_kills,
                "C016 C017: the second request to stop adds SIGTERM, the third kills; time alone "
                "does nothing"),
        PT_TEST(a_key_is_not_forwarded_and_counts_only_in_a_row,
                "C321: a key of the terminal is not forwarded, and counts only in a row"),
        PT_TEST(hangup_and_quit_are_forwarded_and_never_counted,
                "C321: SIGHUP and SIGQUIT are forwarded and never counted"),
        PT_TEST(what_was_ignored_at_the_start_is_not_a_request,
                "C321: a signal that was ignored at the start is not a request to stop"),
        PT_TEST(a_stop_that_pitot_begins_has_a_grace_time,
                "C017 C321: a stop that Pitot begins has a grace time"),
        PT_TEST(after_the_loss_of_the_terminal_grace_comes_before_sigterm,
                "C321: after the loss of the terminal the grace time comes before SIGTERM too"),
        PT_TEST(the_command_itself_cannot_ask,
                "C321: what the command sends to its group or parent is not a request"),
        PT_TEST(without_a_command_a_signal_is_for_pitot,
                "C002: without a command a signal is for Pitot"),
        PT_TEST(what_an_ended_command_left_running_is_found_and_ended,
                "C017: what an ended command left running is found and ended"),
        PT_TEST(mask_and_limits_are_what_pitot_was_started_with,
                "C013: signal mask and limits are what Pitot was started with"),
        PT_TEST(without_a_cgroup_the_whole_tree_is_found_and_ended,
                "C017: without a cgroup the whole tree is found and ended"),
        PT_TEST(with_a_cgroup_the_whole_tree_is_ended_and_the_cgroup_removed,
                "C017: with a cgroup the whole tree is ended and the cgroup removed"),
        PT_TEST(process_one_finds_the_tree_too, "C017: process 1 finds the tree too"),
        PT_TEST(without_cgroup_kill_the_members_are_ended,
                "C017: without cgroup.kill the members of the cgroup are ended"),
        PT_TEST(another_proc_is_not_asked_whom_to_kill, "another /proc is not asked whom to kill"),
        PT_TEST(what_the_command_left_running_moves_out_of_its_cgroup,
                "what the command left running moves out of its cgroup, which is removed"),
        PT_TEST(a_cgroup_that_cannot_be_used_is_done_without,
                "a cgroup that cannot be used is done without; forgotten ones are removed"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
