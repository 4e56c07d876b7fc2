/* Does a known amount of something, for the end-to-end tests:
 *
 *     workload burn MS            uses MS of CPU time; prints the microseconds it really used
 *     workload touch MIB          touches that much memory, prints "ready", waits for end of stdin
 *     workload write MIB FILE     writes that much past the page cache; prints "direct" or "fsync"
 *     workload stubborn MARKER    ignores SIGINT and SIGTERM and so does a grandchild; "ready"
 *     workload sleepers N         N children that wait; "ready", ends them at end of stdin
 *     workload threads N          N threads that wait; "ready", ends at end of stdin
 *     workload hogs N             N children that use all CPU time they get; ends like sleepers
 *     workload status             signal mask, ignored signals and limit of open files
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1024UL * 1024)

static long used_us(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static void say(const char *word) {
    puts(word);
    fflush(stdout);
}

static void wait_for_end_of_input(void) {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static int burn(char **arguments) {
    long target_us = strtol(arguments[0], NULL, 10) * 1000;
    while (used_us() < target_us)
        for (volatile int i = 0; i < 10000; i++)
            continue;
    printf("%ld\n", used_us());
    return 0;
}

static int touch(char **arguments) {
    size_t size = strtoul(arguments[0], NULL, 10) * MIB;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memset(memory, 1, size);
    say("ready");
    wait_for_end_of_input();
    return 0;
}

static int open_for_writing(const char *path, bool *is_direct) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
    *is_direct = fd >= 0;
    return fd >= 0 ? fd : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static int write_file(char **arguments) {
    size_t count = strtoul(arguments[0], NULL, 10);
    bool is_direct;
    int fd = open_for_writing(arguments[1], &is_direct);
    void *block = aligned_alloc(4096, MIB);
    if (fd < 0 || !block)
        return 1;
    memset(block, 0x5a, MIB);
    for (size_t i = 0; i < count; i++)
        if (write(fd, block, MIB) != (ssize_t)MIB)
            return 1;
    if (fsync(fd))
        return 1;
    free(block);
    close(fd);
    say(is_direct ? "direct" : "fsync");
    return 0;
}

static void ignore(int signal_number) {
    struct sigaction action = { .sa_handler = SIG_IGN };
    sigaction(signal_number, &action, NULL);
}

static int stubborn(char **arguments) {
    (void)arguments;
    ignore(SIGINT);
    ignore(SIGTERM);
    pid_t child = fork();
    if (child == 0) {
        if (fork() > 0)
            _exit(0);
        setsid();
        for (;;)
            pause();
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return 1;
    say("ready");
    for (;;)
        pause();
}

static int children(long count, bool is_busy) {
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child < 0)
            return 1;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* they end with us, however we end */
            for (;;)
                if (!is_busy)
                    pause();
        }
    }
    say("ready");
    wait_for_end_of_input();
    return 0;
}

static int sleepers(char **arguments) {
    return children(strtol(arguments[0], NULL, 10), false);
}

static int hogs(char **arguments) {
    return children(strtol(arguments[0], NULL, 10), true);
}

static void *rest(void *unused) {
    for (;;)
        pause();
    return unused;
}

static int threads(char **arguments) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    for (long i = strtol(arguments[0], NULL, 10); i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, &small, rest, NULL))
            return 1;
    }
    say("ready");
    wait_for_end_of_input();
    return 0;
}

static int status(char **arguments) {
    (void)arguments;
    sigset_t blocked;
    struct rlimit limit;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int n = 1; n < 65; n++) {
        struct sigaction action;
        bool is_ignored = !sigaction(n, NULL, &action) && action.sa_handler == SIG_IGN;
        if (is_ignored || sigismember(&blocked, n) == 1)
            printf("signal %d%s%s\n", n, is_ignored ? " ignored" : "",
                   sigismember(&blocked, n) == 1 ? " blocked" : "");
    }
    printf("files %lu of %lu\n", (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    return 0;
}

static const struct {
    const char *name;
    int argument_count;
    int (*run)(char **arguments);
} modes[] = {
    { "burn", 1, burn },         { "touch", 1, touch },       { "write", 2, write_file },
    { "stubborn", 1, stubborn }, { "sleepers", 1, sleepers }, { "status", 0, status },
    { "threads", 1, threads },   { "hogs", 1, hogs },
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0 && argc == 2 + modes[i].argument_count)
            return modes[i].run(argv + 2);
    fprintf(stderr, "usage: workload MODE ARGUMENT...; the modes are at the top of workload.c\n");
    return 2;
}
