/* Start and end of sampling in a program, its threads and its children. */
#include "inside/preload/cpu_preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_PERIOD_NS UINT64_C(10101010)
#define DEFAULT_STACK     (32u << 10)
#define STARTS            256 /* threads being started at the same time */

struct pt_cpu pt_cpu;

static pthread_key_t at_exit;
static bool has_key;

/* A thread between pthread_create() and its first instruction. */
struct start {
    uint32_t is_used;
    void *(*run)(void *);
    void *argument;
};
static struct start starts[STARTS];

static struct start *claim_start(void) {
    for (size_t i = 0; i < STARTS; i++)
        if (!__atomic_exchange_n(&starts[i].is_used, 1, __ATOMIC_ACQUIRE))
            return &starts[i];
    return NULL;
}

static void release_start(struct start *s) {
    /* Release: the next claimer may write. */
    __atomic_store_n(&s->is_used, 0, __ATOMIC_RELEASE);
}

/* Timers are limited: a thread must delete its own. */
static void begin_thread(void) {
    pt_cpu_arm();
    if (has_key)
        pthread_setspecific(at_exit, &pt_cpu);
}

static void end_thread(void *value) {
    (void)value;
    int error = errno;
    pt_cpu_disarm();
    errno = error;
}

/* The last call is a jump, so that this function does not appear in the thread's stack. */
static void *run_thread(void *state) {
    struct start *s = state;
    void *(*run)(void *) = s->run;
    void *argument = s->argument;
    release_start(s);
    begin_thread();
    return run(argument);
}

PT_PRELOAD_EXPORT int pthread_create(pthread_t *restrict thread,
                                     const pthread_attr_t *restrict attr, void *(*run)(void *),
                                     void *restrict argument) {
    struct start *s = pt_cpu_signal() ? claim_start() : NULL;
    if (!s)
        return pt_cpu_next()->create(thread, attr, run, argument);
    s->run = run;
    s->argument = argument;
    int rc = pt_cpu_next()->create(thread, attr, run_thread, s);
    if (rc)
        release_start(s);
    return rc;
}

static void start_child(void) {
    int error = errno;
    pt_cpu_forget_timers();
    if (pt_cpu_signal())
        pt_cpu_arm();
    errno = error;
}

static void end_process(void) {
    if (pt_cpu_is_owner())
        pt_cpu_end_all();
}

static void stop_for_sandbox(void) {
    pt_cpu_give_up(&pt_cpu.bell->sandboxed);
    pt_cpu_await_handlers();
}

static bool open_bell(void) {
    int fd = pt_preload_open(PT_CPU_BELL);
    if (fd < 0)
        return false;
    pt_cpu.bell = pt_preload_map_part(fd, NULL, 0, sizeof *pt_cpu.bell);
    close(fd);
    return pt_cpu.bell;
}

__attribute__((constructor)) static void start(void) {
    int error = errno;
    if (pt_preload_find_directory(PT_CPU_DIRECTORY) && open_bell()) {
        uint64_t stack = pt_preload_number(secure_getenv(PT_CPU_STACK), DEFAULT_STACK);
        pt_cpu.period_ns = pt_preload_number(secure_getenv(PT_CPU_PERIOD), DEFAULT_PERIOD_NS);
        pt_preload_file.stack_bytes =
            (uint32_t)(stack < PT_PRELOAD_STACK_MAX ? stack & ~UINT64_C(15) : PT_PRELOAD_STACK_MAX);
        pt_preload_before_end = end_process;
        pt_preload_before_silence = stop_for_sandbox;
        pt_cpu_count(&pt_cpu.bell->loaded);
        has_key = !pthread_key_create(&at_exit, end_thread);
        if (pt_cpu_sample_prepare() && !pthread_atfork(NULL, NULL, start_child) &&
            pt_cpu_take_signal())
            begin_thread();
    }
    errno = error;
}
