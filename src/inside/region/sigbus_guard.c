#include "inside/region/sigbus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#define MAPPINGS_MAX 1024

/* Read by the handler at any time: `at` is written last and cleared first. */
static struct {
    uintptr_t at;
    size_t size;
} mappings[MAPPINGS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;

/* Acquire: paired with the release in pt_sigbus_guard_add(). */
static uintptr_t start_of(size_t index) {
    return __atomic_load_n(&mappings[index].at, __ATOMIC_ACQUIRE);
}

static int make_zero(uintptr_t at, size_t size) {
    void *to = (void *)at;
    void *got = mmap(to, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return got == MAP_FAILED ? -errno : 0;
}

/* The access is retried after the handler. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    int saved_errno = errno;
    uintptr_t fault = (uintptr_t)info->si_addr;
    for (size_t i = 0; i < MAPPINGS_MAX; i++) {
        uintptr_t at = start_of(i);
        if (at && fault >= at && fault - at < mappings[i].size &&
            !make_zero(at, mappings[i].size)) {
            errno = saved_errno;
            return;
        }
    }
    sigaction(number, &previous, NULL);
    errno = saved_errno;
}

/* The program may have installed its own handler since. */
static int install(void) {
    struct sigaction now,
        action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    if (sigaction(SIGBUS, NULL, &now))
        return -errno;
    if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_bus_error)
        return 0;
    previous = now;
    return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

static int add(uintptr_t at, size_t size) {
    for (size_t i = 0; i < MAPPINGS_MAX; i++)
        if (!start_of(i)) {
            mappings[i].size = size;
            /* Release: a handler that sees the address sees the size. */
            __atomic_store_n(&mappings[i].at, at, __ATOMIC_RELEASE);
            return 0;
        }
    return -ENOSPC;
}

int pt_sigbus_guard_add(void *at, size_t size) {
    pthread_mutex_lock(&lock);
    int rc = install();
    if (!rc)
        rc = add((uintptr_t)at, size);
    pthread_mutex_unlock(&lock);
    return rc;
}

void pt_sigbus_guard_remove(const void *at) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MAPPINGS_MAX; i++)
        if (start_of(i) == (uintptr_t)at)
            __atomic_store_n(&mappings[i].at, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}
