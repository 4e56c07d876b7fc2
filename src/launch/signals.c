#include "launch/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

static int watch(const sigset_t *mask, sigset_t *old_mask, struct pt_err *err) {
    sigprocmask(SIG_BLOCK, mask, old_mask);
    int fd = signalfd(-1, mask, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? pt_fail(err, -errno, "cannot watch signals: %s", strerror(errno)) : fd;
}

int pt_signals_watch(const int *signals, size_t count, sigset_t *old_mask, struct pt_err *err) {
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < count; i++)
        sigaddset(&mask, signals[i]);
    return watch(&mask, old_mask, err);
}

int pt_signals_block(bool has_command, sigset_t *old_mask, struct pt_err *err) {
    const int own[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD };
    /* A failure of Pitot's own code must end it, and debuggers need theirs. */
    const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    if (!has_command)
        return pt_signals_watch(own, PT_COUNT(own), old_mask, err);
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < PT_COUNT(faults); i++)
        sigdelset(&mask, faults[i]);
    return watch(&mask, old_mask, err);
}

void pt_signals_ignore(void) {
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}
