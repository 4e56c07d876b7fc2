/* Timers on the CPU clocks of threads. The kernel deletes them at exec, and fork does not inherit
 * them. */
#include "inside/preload/cpu_preload.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TIMERS_MAX 4096 /* threads at a time */

/* CPU clock of a thread; Linux */
#define OTHER_THREAD(tid) ((clockid_t)(~(uint32_t)(tid) << 3 | 6))
#define ENDED             UINT64_MAX

struct timer {
    uint32_t number; /* kernel timer id plus one; UINT32_MAX: being created; 0: free */
    pid_t tid;
    uint64_t began_ns; /* CPU time of its thread at the start */
    uint64_t due_ns;   /* end of the next period that is not recorded yet, or ENDED */
};

static struct timer timers[TIMERS_MAX];
static uint32_t timers_used; /* slots from here on were never used */
static pid_t owner;
static PT_PRELOAD_TLS uint32_t own_slot; /* plus one */

static uint32_t claim_slot(void) {
    for (uint32_t i = 0; i < TIMERS_MAX; i++) {
        uint32_t none = 0;
        if (__atomic_load_n(&timers[i].number, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&timers[i].number, &none, UINT32_MAX, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return i + 1;
    }
    return 0;
}

/* Only the thread that takes the id out deletes the timer, so no other timer is deleted by mistake.
 */
static void delete_timer(uint32_t slot) {
    uint32_t timer = __atomic_exchange_n(&timers[slot].number, 0, __ATOMIC_RELAXED);
    if (timer != 0 && timer != UINT32_MAX)
        syscall(SYS_timer_delete, (int)timer - 1);
}

static void note_slot(uint32_t slot) {
    uint32_t used = __atomic_load_n(&timers_used, __ATOMIC_RELAXED);
    while (used <= slot && !__atomic_compare_exchange_n(&timers_used, &used, slot + 1, false,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* The elapsed periods that were not taken yet. The handler of a thread and the thread that ends the
 * process may call this at the same time: each period goes to one of them. */
static uint64_t take_periods(struct timer *t, uint64_t now_ns, bool is_last) {
    uint64_t due = __atomic_load_n(&t->due_ns, __ATOMIC_RELAXED), periods, next;
    do {
        if (due == ENDED)
            return 0;
        periods = now_ns < due ? 0 : (now_ns - due) / pt_cpu.period_ns + 1;
        next = is_last ? ENDED : due + periods * pt_cpu.period_ns;
    } while (!__atomic_compare_exchange_n(&t->due_ns, &due, next, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return periods;
}

uint64_t pt_cpu_take_periods(void) {
    uint64_t now_ns = (uint64_t)pt_preload_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return own_slot ? take_periods(&timers[own_slot - 1], now_ns, false) : 0;
}

static uint64_t tick_ns(void) {
    struct timespec resolution = { 0 };
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution);
    return (uint64_t)resolution.tv_nsec;
}

static uint64_t random_of(uint64_t seed) {
    uint64_t z =
        seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)pt_preload_clock_ns(CLOCK_MONOTONIC);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The kernel checks such timers only at its tick. Many short threads and programs see at most one
 * tick in their life: for correct shares, that tick must be a sample as often as any other, with
 * the probability tick / period. */
static uint64_t first_gap(uint64_t seed) {
    uint64_t at = random_of(seed) % pt_cpu.period_ns;
    return at <= tick_ns() ? 1 : at;
}

static bool start_timer(uint32_t slot) {
    struct timer *t = &timers[slot];
    pid_t tid = (pid_t)syscall(SYS_gettid);
    uint64_t first = first_gap((uint64_t)tid);
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = pt_cpu_signal() };
    uint64_t period = pt_cpu.period_ns;
    struct itimerspec when = {
        .it_value = { (time_t)(first / 1000000000), (long)(first % 1000000000) },
        .it_interval = { (time_t)(period / 1000000000), (long)(period % 1000000000) },
    };
    int timer;
    event.sigev_value.sival_ptr = &pt_cpu_signature;
    event._sigev_un._tid = tid;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer))
        return false;
    t->tid = tid;
    t->began_ns = (uint64_t)pt_preload_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    __atomic_store_n(&t->due_ns, t->began_ns + first, __ATOMIC_RELAXED);
    note_slot(slot);
    __atomic_store_n(&t->number, (uint32_t)timer + 1, __ATOMIC_SEQ_CST);
    /* the signal may have been given up in the meantime */
    if (pt_cpu_signal() && !syscall(SYS_timer_settime, timer, 0, &when, NULL))
        return true;
    delete_timer(slot);
    return false;
}

void pt_cpu_arm(void) {
    if (!pt_cpu_signal() || __atomic_load_n(&pt_cpu.bell->is_over, __ATOMIC_RELAXED))
        return;
    owner = getpid();
    uint32_t slot = claim_slot();
    if (slot == 0 || !start_timer(slot - 1)) {
        if (slot)
            __atomic_store_n(&timers[slot - 1].number, 0, __ATOMIC_RELAXED);
        pt_cpu_count(&pt_cpu.bell->untimed);
        return;
    }
    own_slot = slot;
    /* the thread may have inherited a mask that blocks everything */
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, pt_cpu_signal());
    (void)pt_cpu_next()->thread_mask(SIG_UNBLOCK, &ours, NULL);
}

/* On a busy machine, a thread may miss kernel ticks for a long time: its CPU time since the last
 * one is recorded here. A thread that used less than one tick is left to chance, see first_gap().
 */
static void write_rest(struct timer *t) {
    uint32_t number = __atomic_load_n(&t->number, __ATOMIC_ACQUIRE);
    if (number == 0 || number == UINT32_MAX)
        return;
    int64_t now_ns = pt_preload_clock_ns(OTHER_THREAD(t->tid));
    if (now_ns <= 0 || (uint64_t)now_ns < t->began_ns + tick_ns())
        return;
    uint64_t periods = take_periods(t, (uint64_t)now_ns, true);
    if (periods > 0)
        pt_cpu_write_rest(t->tid, periods);
}

void pt_cpu_disarm(void) {
    if (own_slot) {
        write_rest(&timers[own_slot - 1]);
        delete_timer(own_slot - 1);
    }
    own_slot = 0;
}

void pt_cpu_forget_timers(void) {
    memset(timers, 0, timers_used * sizeof *timers);
    timers_used = 0;
    own_slot = 0;
}

bool pt_cpu_is_owner(void) {
    return owner == getpid();
}

void pt_cpu_end_all(void) {
    uint32_t used = __atomic_load_n(&timers_used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used; i++)
        write_rest(&timers[i]);
}

void pt_cpu_disarm_all(void) {
    pt_cpu_end_all();
    uint32_t used = __atomic_load_n(&timers_used, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used; i++)
        delete_timer(i);
}
