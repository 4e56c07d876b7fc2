/* Keeps our signal separate from those of the program. It is an unused signal: masks never block
 * it, sigwait() never returns it, and the program sees the action it has set itself. If the program
 * sets its own handler for this signal, it gets it and is no longer sampled. */
#include "inside/preload/cpu_preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static struct pt_cpu_next next;
static struct sigaction apparent; /* the program's action for our signal */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    { "pthread_create", offsetof(struct pt_cpu_next, create) },
    { "sigaction", offsetof(struct pt_cpu_next, action) },
    { "signal", offsetof(struct pt_cpu_next, handler) },
    { "pthread_sigmask", offsetof(struct pt_cpu_next, thread_mask) },
    { "sigprocmask", offsetof(struct pt_cpu_next, mask) },
    { "sigwait", offsetof(struct pt_cpu_next, wait) },
    { "sigwaitinfo", offsetof(struct pt_cpu_next, wait_info) },
    { "sigtimedwait", offsetof(struct pt_cpu_next, wait_timed) },
};

/* Other libraries may be initialized before us. */
const struct pt_cpu_next *pt_cpu_next(void) {
    if (next.wait_timed)
        return &next;
    int error = errno;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(RTLD_NEXT, functions[i].name);
        memcpy((uint8_t *)&next + functions[i].offset, &function, sizeof function);
    }
    errno = error;
    return &next;
}

static bool is_handler(const struct sigaction *a) {
    return a->sa_flags & SA_SIGINFO || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* All signals are blocked while a sample is written, also those of the C library: a thread that is
 * cancelled in between would leave an incomplete record. */
bool pt_cpu_take_signal(void) {
    struct sigaction there, ours = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    ours.sa_sigaction = pt_cpu_handle;
    memset(&ours.sa_mask, 0xff, sizeof ours.sa_mask);
    for (int number = SIGRTMAX - 2; number > SIGRTMIN; number--)
        if (!pt_cpu_next()->action(number, NULL, &there) && !is_handler(&there) &&
            there.sa_handler == SIG_DFL && !pt_cpu_next()->action(number, &ours, NULL)) {
            __atomic_store_n(&pt_cpu.signal_number, number, __ATOMIC_RELAXED);
            return true;
        }
    return false;
}

/* Ignoring a signal discards pending ones. */
void pt_cpu_give_up(uint32_t *reason) {
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    int number = __atomic_exchange_n(&pt_cpu.signal_number, 0, __ATOMIC_SEQ_CST);
    if (number == 0)
        return;
    pt_cpu_disarm_all();
    (void)pt_cpu_next()->action(number, &ignore, NULL);
    pt_cpu_count(reason);
}

PT_PRELOAD_EXPORT int sigaction(int number, const struct sigaction *restrict new,
                                struct sigaction *restrict old) {
    if (number == 0 || number != pt_cpu_signal())
        return pt_cpu_next()->action(number, new, old);
    struct sigaction was = apparent;
    int rc = 0;
    if (new &&is_handler(new)) {
        pt_cpu_give_up(&pt_cpu.bell->taken);
        rc = pt_cpu_next()->action(number, new, NULL);
    } else if (new) {
        apparent = *new;
    }
    if (old)
        *old = was;
    return rc;
}

/* Under another name, because the headers declare a different type. */
typedef void (*pt_cpu_handler)(int);
pt_cpu_handler pt_cpu_set_handler(int number, pt_cpu_handler handler) __asm__("signal");

PT_PRELOAD_EXPORT pt_cpu_handler pt_cpu_set_handler(int number, pt_cpu_handler handler) {
    struct sigaction new = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
    if (number == 0 || number != pt_cpu_signal())
        return pt_cpu_next()->handler(number, handler);
    return sigaction(number, &new, &old) ? SIG_ERR : old.sa_handler;
}

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy) {
    int number = pt_cpu_signal();
    if (!set || number == 0)
        return set;
    *copy = *set;
    sigdelset(copy, number);
    return copy;
}

PT_PRELOAD_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set,
                                      sigset_t *restrict old) {
    sigset_t copy;
    return pt_cpu_next()->thread_mask(how, without_ours(set, &copy), old);
}

PT_PRELOAD_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    sigset_t copy;
    return pt_cpu_next()->mask(how, without_ours(set, &copy), old);
}

PT_PRELOAD_EXPORT int sigwait(const sigset_t *restrict set, int *restrict number) {
    sigset_t copy;
    return pt_cpu_next()->wait(without_ours(set, &copy), number);
}

PT_PRELOAD_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info) {
    sigset_t copy;
    return pt_cpu_next()->wait_info(without_ours(set, &copy), info);
}

PT_PRELOAD_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                                   const struct timespec *restrict timeout) {
    sigset_t copy;
    return pt_cpu_next()->wait_timed(without_ours(set, &copy), info, timeout);
}
