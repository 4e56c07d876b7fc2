#include "libpitot/ticker.h"

#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#define ENTRY_COUNT 64
#define STACK_SIZE  (256 * 1024)

struct entry {
    pt_tick_function *call; /* NULL: free */
    void *arg;
    int64_t interval_ns, next_ns;
    int id;
};

/* All guarded by the lock, which is not held during a call. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* CLOCK_MONOTONIC */
static struct entry entries[ENTRY_COUNT];
static int entry_count, last_id, running_id;
static bool is_prepared, has_thread;
static int64_t cpu_ns; /* of the thread, as of its last turn */

static struct entry *find_earliest(void) {
    struct entry *earliest = NULL;
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].call && (!earliest || entries[i].next_ns < earliest->next_ns))
            earliest = &entries[i];
    return earliest;
}

/* Late functions are not called twice. */
static void call_entry(struct entry *entry, int64_t now_ns) {
    pt_tick_function *call = entry->call;
    void *arg = entry->arg;
    entry->next_ns += entry->interval_ns;
    if (entry->next_ns <= now_ns)
        entry->next_ns = now_ns + entry->interval_ns;
    running_id = entry->id;
    pthread_mutex_unlock(&lock);
    call(arg);
    pthread_mutex_lock(&lock);
    running_id = 0;
    pthread_cond_broadcast(&changed);
}

static void *run(void *unused) {
    (void)unused;
    int64_t before_ns = 0;
    pthread_mutex_lock(&lock);
    for (struct entry *next; (next = find_earliest());) {
        int64_t now_ns = pt_mono_ns();
        if (next->next_ns > now_ns) {
            struct timespec t = { .tv_sec = next->next_ns / PT_NS_PER_SECOND,
                                  .tv_nsec = next->next_ns % PT_NS_PER_SECOND };
            pthread_cond_timedwait(&changed, &lock, &t);
        } else {
            call_entry(next, now_ns);
        }
        struct timespec t = { 0 };
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        int64_t so_far_ns = t.tv_sec * PT_NS_PER_SECOND + t.tv_nsec;
        cpu_ns += so_far_ns - before_ns;
        before_ns = so_far_ns;
    }
    has_thread = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&lock);
}

static void prepare_condition(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
}

static void after_fork_in_child(void) {
    has_thread = false;
    running_id = 0;
    cpu_ns = 0;
    prepare_condition(); /* its waiters are the parent's */
    pthread_mutex_unlock(&lock);
}

static int make_thread(void) {
    if (has_thread || entry_count == 0)
        return 0;
    if (!is_prepared)
        return -ENOMEM;
    sigset_t all, old;
    sigfillset(&all);
    pthread_attr_t attr;
    pthread_t thread;
    int rc = pthread_attr_init(&attr);
    if (rc)
        return -rc;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&thread, &attr, run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc)
        return -rc;
    pthread_setname_np(thread, "pitot");
    has_thread = true;
    return 0;
}

static int add(pt_tick_function *call, void *arg, int64_t interval_ns) {
    int at = 0;
    while (at < ENTRY_COUNT && entries[at].call)
        at++;
    if (at == ENTRY_COUNT)
        return -ENOSPC;
    entries[at] = (struct entry){ call, arg, interval_ns, pt_mono_ns() + interval_ns, ++last_id };
    entry_count++;
    int rc = make_thread();
    if (rc) {
        entries[at] = (struct entry){ 0 };
        entry_count--;
        return rc;
    }
    pthread_cond_broadcast(&changed);
    return last_id;
}

int pt_ticker_add(pt_tick_function *call, void *arg, int64_t interval_ns) {
    pthread_mutex_lock(&lock);
    int id = add(call, arg, interval_ns);
    pthread_mutex_unlock(&lock);
    return id;
}

static struct entry *find(int id) {
    for (int i = 0; i < ENTRY_COUNT; i++)
        if (entries[i].call && entries[i].id == id)
            return &entries[i];
    return NULL;
}

void pt_ticker_remove(int id) {
    pthread_mutex_lock(&lock);
    struct entry *entry = find(id);
    if (entry) {
        *entry = (struct entry){ 0 };
        entry_count--;
        pthread_cond_broadcast(&changed);
    }
    while (id > 0 && running_id == id)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void pt_ticker_set_interval(int id, int64_t interval_ns) {
    pthread_mutex_lock(&lock);
    struct entry *entry = find(id);
    if (entry) {
        entry->interval_ns = interval_ns;
        entry->next_ns = pt_mono_ns() + interval_ns;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

void pt_ticker_wake(void) {
    pthread_mutex_lock(&lock);
    (void)make_thread();
    pthread_mutex_unlock(&lock);
}

int64_t pt_ticker_cpu_ns(void) {
    pthread_mutex_lock(&lock);
    int64_t ns = cpu_ns;
    pthread_mutex_unlock(&lock);
    return ns;
}

/* At load: a fork must not copy the lock while it is held. */
__attribute__((constructor(101))) static void prepare(void) {
    prepare_condition();
    is_prepared = !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}
