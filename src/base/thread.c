#include "base/thread.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/resource.h>

#define MOST_URGENT (-20)

int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *state) {
    /* A blocked fault signal ends the program even if there is a handler
     * (inside/region/sigbus_guard.h). */
    static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP };
    sigset_t blocked, old;
    sigfillset(&blocked);
    for (size_t i = 0; i < PT_COUNT(faults); i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    int rc = pthread_create(thread, NULL, run, state);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -rc;
}

int64_t pt_thread_cpu_ns(pthread_t thread) {
    clockid_t clock;
    return pthread_getcpuclockid(thread, &clock) ? 0 : pt_clock_ns(clock);
}

void pt_thread_hurry(void) {
    (void)setpriority(PRIO_PROCESS, 0, MOST_URGENT);
}
