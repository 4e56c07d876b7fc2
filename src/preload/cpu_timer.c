/* Timers on the CPU clocks of threads. They go by themselves at exec and are not inherited by
 * fork. */
#include "preload/cpu.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TIMERS_MAX 4096 /* threads at a time */

/* By slot: number of the kernel plus one. */
static uint32_t timers[TIMERS_MAX];
static PT_HEAP_TLS uint32_t own_slot; /* plus one */

static uint32_t claim_slot(void) {
    for (uint32_t i = 0; i < TIMERS_MAX; i++) {
        uint32_t none = 0;
        if (__atomic_load_n(&timers[i], __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&timers[i], &none, UINT32_MAX, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return i + 1;
    }
    return 0;
}

/* Whoever takes the number out deletes it: nobody deletes the timer of another by its number. */
static void delete_timer(uint32_t slot) {
    uint32_t timer = __atomic_exchange_n(&timers[slot], 0, __ATOMIC_RELAXED);
    if (timer != 0 && timer != UINT32_MAX)
        syscall(SYS_timer_delete, (int)timer - 1);
}

static uint64_t random_of(uint64_t seed) {
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)pt_heap_clock_ns(CLOCK_MONOTONIC);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The kernel looks at such timers at its tick only. Most threads of some programs, and most
 * programs of a script, see none or one in their life: for the shares to be right that one has to
 * be a sample as often as any other, with the chance tick / period. */
static uint64_t first_gap(uint64_t seed) {
    struct timespec resolution = { 0 };
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    uint64_t tick = (uint64_t)resolution.tv_nsec, at = random_of(seed) % pt_cpu.period_ns;
    return at <= tick ? 1 : at;
}

static struct itimerspec first_and_next(uint64_t seed) {
    uint64_t period = pt_cpu.period_ns, first = first_gap(seed);
    return (struct itimerspec){
        .it_value = { (time_t)(first / 1000000000), (long)(first % 1000000000) },
        .it_interval = { (time_t)(period / 1000000000), (long)(period % 1000000000) },
    };
}

static bool start_timer(uint32_t slot) {
    pid_t tid = (pid_t)syscall(SYS_gettid);
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = pt_cpu_signal() };
    struct itimerspec when = first_and_next((uint64_t)tid);
    int timer;
    event.sigev_value.sival_ptr = &pt_cpu_signature;
    event._sigev_un._tid = tid;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return false;
    __atomic_store_n(&timers[slot], (uint32_t)timer + 1, __ATOMIC_SEQ_CST);
    /* the signal may have been given up meanwhile */
    if (pt_cpu_signal() && !syscall(SYS_timer_settime, timer, 0, &when, NULL))
        return true;
    delete_timer(slot);
    return false;
}

/* A thread may have been given a mask that blocks everything. */
static void let_signal_in(void) {
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, pt_cpu_signal());
    (void)pt_cpu_next()->thread_mask(SIG_UNBLOCK, &ours, NULL);
}

void pt_cpu_arm(void) {
    if (!pt_cpu_signal() || __atomic_load_n(&pt_cpu.bell->is_over, __ATOMIC_RELAXED))
        return;
    uint32_t slot = claim_slot();
    if (slot == 0 || !start_timer(slot - 1)) {
        if (slot)
            __atomic_store_n(&timers[slot - 1], 0, __ATOMIC_RELAXED);
        pt_cpu_count(&pt_cpu.bell->untimed);
        return;
    }
    own_slot = slot;
    let_signal_in();
}

void pt_cpu_disarm(void) {
    if (own_slot)
        delete_timer(own_slot - 1);
    own_slot = 0;
}

void pt_cpu_forget_timers(void) {
    memset(timers, 0, sizeof timers);
    own_slot = 0;
}

void pt_cpu_disarm_all(void) {
    for (uint32_t i = 0; i < TIMERS_MAX; i++)
        delete_timer(i);
}
