#include "launch/witness.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define ANSWER_MS 1000 /* a starved witness must not cost the command a second signal */

struct question {
    uint32_t serial; /* a late answer is not that to the next question */
    uint32_t signal_number, sender;
};

struct answer {
    uint32_t serial;
    bool is_pending;
};

/* Takes the signal if it is pending. */
static bool take_pending(uint32_t signal_number, uint32_t sender) {
    struct timespec now = { 0, 0 };
    siginfo_t info;
    sigset_t one;
    bool is_found = false;
    sigemptyset(&one);
    sigaddset(&one, (int)signal_number);
    while (sigtimedwait(&one, &info, &now) == (int)signal_number)
        is_found |= info.si_pid == (pid_t)sender;
    return is_found;
}

/* `pkill pitot` and `pkill -f pitot` must not find it: it would look like a signal to many. */
static void take_other_name(void) {
    char *arguments = program_invocation_name, *variables = environ ? environ[0] : NULL;
    if (variables > arguments) /* the kernel puts them one after the other */
        memset(arguments, 0, (size_t)(variables - arguments));
    prctl(PR_SET_NAME, "(signals)");
}

/* Ends with Pitot, however that ends: then nobody holds the other end. */
static void bear_witness(int fd) {
    struct question q;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    take_other_name();
    /* the streams of Pitot end with Pitot */
    syscall(SYS_close_range, 0u, (unsigned)fd - 1, 0u);
    syscall(SYS_close_range, (unsigned)fd + 1, ~0u, 0u);
    while (recv(fd, &q, sizeof q, 0) == sizeof q) {
        struct answer a = { q.serial, take_pending(q.signal_number, q.sender) };
        if (send(fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a)
            break;
    }
    _exit(0);
}

void pt_witness_open(struct pt_witness *w) {
    int ends[2];
    *w = (struct pt_witness){ 0 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return;
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        bear_witness(ends[1]);
    }
    close(ends[1]);
    w->fd = pt_fd_of(ends[0]);
    if (w->pid < 0)
        pt_witness_close(w);
}

static bool ask(struct pt_witness *w, const struct signalfd_siginfo *info) {
    struct question q = { ++w->serial, info->ssi_signo, info->ssi_pid };
    struct answer a;
    struct pollfd p = { .fd = pt_fd_get(w->fd), .events = POLLIN };
    if (send(p.fd, &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof q)
        return false;
    while (poll(&p, 1, ANSWER_MS) > 0 && recv(p.fd, &a, sizeof a, MSG_DONTWAIT) == sizeof a)
        if (a.serial == q.serial)
            return a.is_pending;
    return false;
}

bool pt_witness_saw(struct pt_witness *w, const struct signalfd_siginfo *info, int patience_ms) {
    struct timespec patience = { 0, patience_ms * PT_NS_PER_MS };
    if (!pt_fd_is_open(w->fd))
        return false;
    if (ask(w, info))
        return true;
    if (patience_ms == 0)
        return false;
    nanosleep(&patience, NULL);
    return ask(w, info);
}

/* Whoever waits for any child may have reaped it, and its number may be that of another process. */
static bool is_there(const struct pt_witness *w) {
    return w->pid > 0 && waitpid(w->pid, NULL, WNOHANG) == 0;
}

void pt_witness_continue(const struct pt_witness *w) {
    if (is_there(w))
        kill(w->pid, SIGCONT);
}

void pt_witness_close(struct pt_witness *w) {
    (void)pt_fd_close(&w->fd);
    if (is_there(w)) {
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
    }
    *w = (struct pt_witness){ 0 };
}
