#include "launch/stopping.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAME_REQUEST_NS (100 * PT_NS_PER_MS)
#define IN_A_ROW_NS     (5 * PT_NS_PER_SECOND) /* between two Ctrl+C that mean the end */
#define WITNESS_MS      20                     /* for senders that go from process to process */

static bool has_terminal(void) {
    int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void find_ignored(sigset_t *ignored) {
    struct sigaction action;
    sigemptyset(ignored);
    for (int number = 1; number < NSIG; number++)
        if (!sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN)
            sigaddset(ignored, number);
}

void pt_stopping_open(struct pt_stopping *s, struct pt_child *child, int64_t grace_ns) {
    *s = (struct pt_stopping){ .child = child, .grace_ns = grace_ns };
    find_ignored(&s->ignored);
    if (!child)
        return;
    s->had_terminal = has_terminal();
    pt_witness_open(&s->witness);
}

void pt_stopping_close(struct pt_stopping *s) {
    pt_witness_close(&s->witness);
}

static bool is_from_kernel(const struct signalfd_siginfo *info) {
    return info->ssi_code == SI_KERNEL;
}

static bool is_stop(int number) {
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* A background job of a script ignores the keys of the terminal, and a job of nohup its end. */
static bool is_ignored(const struct pt_stopping *s, const struct signalfd_siginfo *info) {
    int number = (int)info->ssi_signo;
    return sigismember(&s->ignored, number) && (is_from_kernel(info) || number == SIGHUP);
}

/* The kernel tells the group of a terminal; of its loss it tells only the leader of the session. */
static bool has_reached_command(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    if (is_from_kernel(info))
        return info->ssi_signo != SIGHUP || getsid(0) != getpid();
    return pt_witness_saw(&s->witness, info, is_stop((int)info->ssi_signo) ? WITNESS_MS : 0);
}

/* Also if it is ignored by inheritance: the command may handle it. */
static void forward(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    if (info->ssi_signo == SIGCONT)
        pt_witness_continue(&s->witness);
    if (is_from_kernel(info) && info->ssi_signo < 64)
        s->from_terminal |= UINT64_C(1) << info->ssi_signo;
    if (has_reached_command(s, info))
        return;
    if (info->ssi_code == SI_QUEUE)
        pt_child_queue_signal(s->child, (int)info->ssi_signo,
                              (union sigval){ .sival_ptr = (void *)(uintptr_t)info->ssi_ptr });
    else
        pt_child_signal(s->child, (int)info->ssi_signo);
}

static void kill_all(struct pt_stopping *s) {
    pt_child_kill_tree(s->child);
    s->deadline_ns = 0;
}

/* timeout(1) sends its signal to its child, then to its group: that is one request. */
static bool is_same_request(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    bool is_same = s->asked_number == info->ssi_signo && s->asked_sender == info->ssi_pid &&
                   !is_from_kernel(info) && pt_mono_ns() - s->asked_ns < SAME_REQUEST_NS;
    s->asked_number = info->ssi_signo;
    s->asked_sender = info->ssi_pid;
    return is_same;
}

static void count_request(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    int64_t now_ns = pt_mono_ns();
    if (is_from_kernel(info) && now_ns - s->asked_ns > IN_A_ROW_NS)
        s->asked_count = 0;
    s->asked_ns = now_ns;
    s->asked_count++;
    if (s->asked_count == 2) {
        pt_log(PT_LOG_WARNING,
               "asked the command (process %d) to end by SIGTERM; one more signal kills it and all "
               "processes it started",
               (int)s->child->pid);
        if (info->ssi_signo != SIGTERM)
            pt_child_signal(s->child, SIGTERM);
    } else if (s->asked_count > 2) {
        pt_log(PT_LOG_WARNING, "killing the command and all processes it started");
        kill_all(s);
    }
}

/* Nobody is left who could ask a second time. */
static void note_hangup(struct pt_stopping *s) {
    if (s->had_terminal && !has_terminal() && !s->deadline_ns && !s->has_sent_terminate &&
        !pt_child_ignores(s->child, SIGHUP))
        s->deadline_ns = pt_mono_ns() + s->grace_ns;
}

/* To the shell, the job is Pitot. Continues here after fg or bg. */
static void stop_alike(int number) {
    sigset_t one, old, pending;
    sigemptyset(&one);
    sigaddset(&one, number);
    if (!sigpending(&pending) && sigismember(&pending, SIGCONT))
        return;             /* it has been continued already */
    kill(getpid(), number); /* one with that of the terminal, if that is still pending */
    sigprocmask(SIG_UNBLOCK, &one, &old);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void see_child(struct pt_stopping *s) {
    pt_child_reap(s->child);
    int number = pt_child_take_stop(s->child);
    if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        stop_alike(number);
}

bool pt_stopping_take(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD && s->child)
        see_child(s); /* whoever sent it: that of the kernel may have become one with it */
    if (number == SIGCHLD && info->ssi_code != SI_USER)
        return false;
    if (!s->child || s->child->has_ended)
        return is_stop(number) && !is_ignored(s, info);
    pid_t sender = is_from_kernel(info) ? 0 : (pid_t)info->ssi_pid;
    if (sender == getpid() || sender == s->child->pid)
        return false; /* SIGPIPE of a write of ours; what the command tells its parent or group */
    bool is_request = (number == SIGINT || number == SIGTERM) && !is_ignored(s, info);
    if (is_request && is_same_request(s, info))
        return false;
    forward(s, info);
    if (is_request)
        count_request(s, info);
    else if (number == SIGHUP && !is_ignored(s, info))
        note_hangup(s);
    return false;
}

void pt_stopping_begin(struct pt_stopping *s, int64_t now_ns) {
    if (s->has_sent_terminate || !s->child || s->child->has_ended)
        return;
    pt_child_signal(s->child, SIGTERM);
    s->has_sent_terminate = true;
    s->deadline_ns = now_ns + s->grace_ns;
}

void pt_stopping_escalate(struct pt_stopping *s, int64_t now_ns) {
    if (!s->deadline_ns || now_ns < s->deadline_ns || s->child->has_ended)
        return;
    if (!s->has_sent_terminate) {
        pt_stopping_begin(s, now_ns);
        return;
    }
    pt_log(PT_LOG_WARNING,
           "the command did not end within %.3g s of SIGTERM (see --grace); killing it and all "
           "processes it started",
           (double)s->grace_ns / PT_NS_PER_SECOND);
    kill_all(s);
}

int64_t pt_stopping_deadline(const struct pt_stopping *s) {
    return s->deadline_ns ? s->deadline_ns : INT64_MAX;
}

void pt_stopping_end_alike(const struct pt_stopping *s) {
    if (!s->child || !s->child->is_collected || !WIFSIGNALED(s->child->wait_status))
        return;
    int number = WTERMSIG(s->child->wait_status);
    if (number >= 64 || !(s->from_terminal >> number & 1))
        return;
    const struct rlimit no_core = { 0, 0 };
    const struct sigaction action = { .sa_handler = SIG_DFL };
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    setrlimit(RLIMIT_CORE, &no_core);
    sigaction(number, &action, NULL);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}
