#include "launch/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

int pt_signals_watch(const int *signals, size_t count, sigset_t *old_mask, struct pt_err *err) {
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < count; i++)
        sigaddset(&mask, signals[i]);
    sigprocmask(SIG_BLOCK, &mask, old_mask);
    int fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? pt_fail(err, -errno, "cannot watch signals: %s", strerror(errno)) : fd;
}

int pt_signals_block(sigset_t *old_mask, struct pt_err *err) {
    const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD };
    return pt_signals_watch(handled, PT_COUNT(handled), old_mask, err);
}

void pt_signals_ignore(void) {
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}
