/* inside/preload/cpu_preload.h -- the parts of libpitot-cpu.so, which samples a program by timers
 * inside it if perf events are forbidden. Each thread has a timer on its CPU clock; its signal
 * handler copies registers and stack into the ring of the process. Unwinding happens in the
 * recorder.
 *
 *     cpu_preload.c  its life: start, fork, threads
 *     cpu_sample.c   the signal handler: the file of the process, a sample
 *     cpu_timer.c    timers of threads
 *     cpu_signals.c  the functions that replace those of the C library, so that the program
 *                    neither sees nor loses our signal
 *     exit.c, mapping.c, maps.c, record_ring.c, sandbox.c, this_thread.c
 *                    shared with libpitot-heap.so (inside/preload/heap_preload.h) */
#ifndef PT_INSIDE_PRELOAD_CPU_PRELOAD_H
#define PT_INSIDE_PRELOAD_CPU_PRELOAD_H

#include "inside/preload/cpu_layout.h"
#include "inside/preload/preload.h"

#include <pthread.h>
#include <signal.h>

struct pt_cpu {
    struct pt_cpu_bell *bell; /* NULL: sampling is off */
    uint64_t period_ns;
    int signal_number; /* 0: none, the program owns all signals */
};
extern struct pt_cpu pt_cpu;

static inline int pt_cpu_signal(void) {
    return __atomic_load_n(&pt_cpu.signal_number, __ATOMIC_RELAXED);
}

static inline void pt_cpu_count(uint32_t *counter) {
    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* cpu_sample.c. False: fork cannot be detected on this system. */
bool pt_cpu_sample_prepare(void);
/* The handler, and the value by which it recognizes our timers. */
void pt_cpu_handle(int number, siginfo_t *info, void *context);
extern char pt_cpu_signature;
/* Waits until no thread is in the handler; call it when there are no timers any more. */
void pt_cpu_await_handlers(void);
/* Writes periods of a thread that will get no sample. */
void pt_cpu_write_rest(pid_t tid, uint64_t periods);

/* cpu_timer.c. Start and delete the timer of the calling thread. */
void pt_cpu_arm(void);
void pt_cpu_disarm(void);
/* The periods of CPU time that the calling thread has used since its last sample; each is returned
 * once. */
uint64_t pt_cpu_take_periods(void);
/* In a child after fork, which does not inherit timers. */
void pt_cpu_forget_timers(void);
/* False: this is a vfork child, which shares the memory of its parent. */
bool pt_cpu_is_owner(void);
/* At process end: writes what its threads have used since their last samples. */
void pt_cpu_end_all(void);
/* Same, and deletes all timers. */
void pt_cpu_disarm_all(void);

/* cpu_signals.c */
struct pt_cpu_next {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*action)(int, const struct sigaction *, struct sigaction *);
    void (*(*handler)(int, void (*)(int)))(int);
    int (*thread_mask)(int, const sigset_t *, sigset_t *);
    int (*mask)(int, const sigset_t *, sigset_t *);
    int (*wait)(const sigset_t *, int *);
    int (*wait_info)(const sigset_t *, siginfo_t *);
    int (*wait_timed)(const sigset_t *, siginfo_t *, const struct timespec *);
};
/* The functions that ours replace. */
const struct pt_cpu_next *pt_cpu_next(void);
/* Finds an unused signal and installs our handler. */
bool pt_cpu_take_signal(void);
/* Ends the sampling of this program, which is counted as `reason` of the bell. */
void pt_cpu_give_up(uint32_t *reason);

#endif
