#include "base/thread.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/resource.h>

#define MOST_URGENT (-20)

/* A blocked fault signal ends the program even if there is a handler
 * (inside/region/sigbus_guard.h). */
static sigset_t all_but_faults(void) {
    static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP };
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < PT_COUNT(faults); i++)
        sigdelset(&set, faults[i]);
    return set;
}

int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *state) {
    sigset_t blocked = all_but_faults(), old;
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
