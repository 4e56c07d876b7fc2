/* A program with its own ways with signals, threads and errno, which must not notice the timers of
 * libpitot-cpu.so. The first argument chooses what it does; exit code 3 if all is as it should be,
 * else a number that says where. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#if __has_attribute(noipa)
#define NOINLINE __attribute__((noipa))
#else
#define NOINLINE __attribute__((noinline))
#endif

static volatile uint64_t sink;
static volatile sig_atomic_t received;

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

NOINLINE void burn(int64_t ns);
NOINLINE void burn(int64_t ns) {
    int64_t end_ns = cpu_ns() + ns;
    while (cpu_ns() < end_ns)
        for (int i = 0; i < 20000; i++)
            sink = sink * UINT64_C(6364136223846793005) + 1;
}

static void count(int number) {
    (void)number;
    received = received + 1;
}

/* Of the signals that programs use freely, the one that has a handler; 0: none has. */
static int caught_signal(void) {
    char text[8192], *line;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    line = strstr(text, "SigCgt:");
    uint64_t caught = line ? strtoull(line + 7, NULL, 16) : 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (caught >> (number - 1) & 1)
            return number;
    return 0;
}

/* A handler for every signal that is free: from then on all of them are the program's. */
static int takes(void) {
    struct sigaction mine = { .sa_handler = count }, old;
    burn(100 * MS);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        if (sigaction(number, &mine, &old) || old.sa_handler != SIG_DFL)
            return 10;
    burn(200 * MS);
    if (received != 0)
        return 11;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        raise(number);
    return received == SIGRTMAX - SIGRTMIN + 1 ? 3 : 12;
}

static NOINLINE void *blocked_thread(void *state) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    burn(300 * MS);
    return state;
}

static int blocks(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, blocked_thread, NULL);
    pthread_join(thread, NULL);
    return 3;
}

static int pipe_fds[2];

static void *read_one(void *state) {
    char byte;
    ssize_t *result = state;
    *result = read(pipe_fds[0], &byte, 1);
    return NULL;
}

/* The signal of the timers comes while a thread waits in read(2). */
static int restarts(void) {
    pthread_t thread;
    ssize_t result = 0;
    int number = caught_signal();
    if (number == 0)
        return 20;
    if (pipe(pipe_fds) || pthread_create(&thread, NULL, read_one, &result))
        return 21;
    for (int i = 0; i < 50; i++) {
        pthread_kill(thread, number);
        burn(2 * MS);
    }
    if (write(pipe_fds[1], "x", 1) != 1)
        return 22;
    pthread_join(thread, NULL);
    return result == 1 ? 3 : 23;
}

/* Over and over the same program: a timer that outlived exec would end it. */
static int execs(char **argv) {
    char left[16];
    int count_left = argv[2] ? (int)strtol(argv[2], NULL, 10) : 0;
    burn(3 * MS);
    if (count_left == 0)
        return 3;
    snprintf(left, sizeof left, "%d", count_left - 1);
    char *again[] = { argv[0], argv[1], left, NULL };
    execv(argv[0], again);
    return 30;
}

static int keeps_errno(void) {
    int64_t end_ns = cpu_ns() + 300 * MS;
    errno = 77;
    while (cpu_ns() < end_ns)
        if (errno != 77)
            return 40;
    return 3;
}

static void *short_thread(void *state) {
    burn(MS / 10);
    return state;
}

static int churns(void) {
    pthread_t threads[8];
    for (int round = 0; round < 1000; round++) {
        for (size_t i = 0; i < 8; i++)
            if (pthread_create(&threads[i], NULL, short_thread, NULL))
                return 50;
        for (size_t i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    return 3;
}

static void *spin(void *state) {
    for (;;)
        burn(MS);
    return state;
}

/* A thread that is to end at its next cancellation point, which is none of ours. */
static int cancels(void) {
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, spin, NULL);
    burn(20 * MS);
    pthread_cancel(thread);
    burn(200 * MS);
    if (pthread_tryjoin_np(thread, &result) != EBUSY)
        return 60;
    _exit(3);
}

/* sigwait() for everything gets what was sent, and nothing else. */
static int waits(void) {
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    burn(100 * MS);
    kill(getpid(), SIGUSR1);
    return sigwait(&all, &number) == 0 && number == SIGUSR1 ? 3 : 70;
}

/* Timers of its own go on. */
static int alarms(void) {
    struct sigaction mine = { .sa_handler = count };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
    struct itimerspec when = { { 0, 10 * MS }, { 0, 10 * MS } };
    timer_t timer;
    sigaction(SIGPROF, &mine, NULL);
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) ||
        timer_settime(timer, 0, &when, NULL))
        return 80;
    burn(300 * MS);
    return received > 3 ? 3 : 81;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(void);
    } modes[] = {
        { "takes", takes },       { "blocks", blocks }, { "restarts", restarts },
        { "errno", keeps_errno }, { "churns", churns }, { "cancels", cancels },
        { "waits", waits },       { "alarms", alarms },
    };
    const char *what = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(what, modes[i].name) == 0)
            return modes[i].run();
    return strcmp(what, "execs") == 0 ? execs(argv) : 99;
}
