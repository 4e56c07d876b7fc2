#include "base/thread.h"

#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
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

int pt_thread_hurry(void) {
    struct sched_param none = { 0 };
    struct rlimit limit;
    if (sched_getscheduler(0) == SCHED_BATCH || sched_getscheduler(0) == SCHED_IDLE)
        (void)sched_setscheduler(0, SCHED_OTHER, &none); /* those wait longer after waking up */
    if (!setpriority(PRIO_PROCESS, 0, MOST_URGENT))
        return 0;
    int rc = -errno;
    /* a limit of 25 permits a nice value of -5 */
    bool is_within = !getrlimit(RLIMIT_NICE, &limit) && limit.rlim_cur <= 40 &&
                     20 - (int)limit.rlim_cur < getpriority(PRIO_PROCESS, 0);
    return is_within && !setpriority(PRIO_PROCESS, 0, 20 - (int)limit.rlim_cur) ? 0 : rc;
}
