/* A program whose functions use known amounts of CPU time, by its own clock, and print them: what a
 * profile of it must show. The first argument chooses what it does.
 *
 *     share three_quarters 300000000
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#if __has_attribute(noipa)
#define NOINLINE __attribute__((noipa))
#else
#define NOINLINE __attribute__((noinline))
#endif
#define KEPT(call) /* not a tail call: something is left to do behind it */ \
    do {                                                                    \
        call;                                                               \
        sink++;                                                             \
    } while (0)

static volatile uint64_t sink;
static int64_t unit_ns = 100 * MS;

void burn(int64_t cpu_ns);

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static NOINLINE void work(void) {
    uint64_t x = sink;
    for (int i = 0; i < 20000; i++)
        x = x * UINT64_C(6364136223846793005) + 1;
    sink = x;
}

/* Uses that much CPU time of this thread. */
NOINLINE void burn(int64_t cpu_ns) {
    int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        work();
    sink++;
}

static void say(const char *name, int64_t cpu_ns) {
    printf("share %s %" PRId64 "\n", name, cpu_ns);
    fflush(stdout);
}

static NOINLINE void three_quarters(void) {
    KEPT(burn(3 * unit_ns));
}

static NOINLINE void one_quarter(void) {
    KEPT(burn(unit_ns));
}

static void do_shares(void) {
    KEPT(three_quarters());
    KEPT(one_quarter());
    say("three_quarters", 3 * unit_ns);
    say("one_quarter", unit_ns);
}

static NOINLINE void recurse(int depth) {
    if (depth == 0)
        KEPT(burn(3 * unit_ns));
    else
        KEPT(recurse(depth - 1));
}

static void do_recursion(void) {
    KEPT(recurse(39));
}

static NOINLINE void last_called(int64_t cpu_ns) {
    KEPT(burn(cpu_ns));
}

/* Jumps: it is no longer on the stack while the other runs. */
static NOINLINE void jumps_away(int64_t cpu_ns) {
    sink += 3;
    last_called(cpu_ns);
}

static void do_tail_call(void) {
    KEPT(jumps_away(3 * unit_ns));
}

static void handler(int signal_number) {
    (void)signal_number;
    KEPT(burn(3 * unit_ns));
}

static NOINLINE void interrupted(void) {
    KEPT(raise(SIGUSR1));
}

static void do_signal(void) {
    struct sigaction action = { .sa_handler = handler };
    sigaction(SIGUSR1, &action, NULL);
    KEPT(interrupted());
}

static NOINLINE void called_back(void) {
    KEPT(burn(3 * unit_ns));
}

static void do_dlopen(const char *plugin) {
    void *library = dlopen(plugin, RTLD_NOW);
    void (*run)(void (*)(void)) = NULL;
    void *symbol = library ? dlsym(library, "plugin_run") : NULL;
    memcpy(&run, &symbol, sizeof run);
    if (run)
        KEPT(run(called_back));
}

static NOINLINE void *busy_thread(void *units) {
    pthread_setname_np(pthread_self(), *(int *)units == 2 ? "two-units" : "one-unit");
    KEPT(burn(*(int *)units * unit_ns));
    return NULL;
}

static void do_threads(void) {
    pthread_t threads[2];
    int units[] = { 2, 1 };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, busy_thread, &units[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static NOINLINE void in_child(void) {
    KEPT(burn(2 * unit_ns));
}

static NOINLINE void in_parent(void) {
    KEPT(burn(unit_ns));
}

static void do_fork(void) {
    pid_t pid = fork();
    if (pid == 0) {
        KEPT(in_child());
        _exit(0);
    }
    KEPT(in_parent());
    waitpid(pid, NULL, 0);
}

/* The child ends in the memory of its parent, which goes on. */
static void do_vfork(void) {
    KEPT(in_parent());
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    KEPT(in_parent());
}

/* More arguments than registers and a variable with large alignment: the compiler keeps the frame
 * address in a register of its own while it aligns the stack. It is left twice: the outer one is
 * found only if the frame pointer that the inner one saved is. */
static NOINLINE void realigned(int a, int b, int c, int d, int e, int f, int g, int64_t cpu_ns) {
    volatile char buffer[256] __attribute__((aligned(64)));
    buffer[a + b + c + d + e + f] = (char)g;
    if (g > 6)
        KEPT(realigned(a, b, c, d, e, f, g - 1, cpu_ns));
    else
        KEPT(burn(cpu_ns));
    sink += (uint64_t)buffer[g];
}

static void do_realigned(void) {
    KEPT(realigned(1, 2, 3, 4, 5, 6, 7, 3 * unit_ns));
}

static inline __attribute__((always_inline)) void was_inlined(void) {
    uint64_t x = sink;
    for (int i = 0; i < 20000; i++)
        x = x * UINT64_C(6364136223846793005) + 1;
    sink = x;
}

static NOINLINE void inlines(void) {
    int64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 3 * unit_ns;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        was_inlined();
}

static NOINLINE void waits(void) {
    int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    struct timespec pause = { .tv_nsec = 20 * MS };
    for (int i = 0; i < 10; i++)
        nanosleep(&pause, NULL);
    say("waits", clock_ns(CLOCK_MONOTONIC) - start_ns);
}

/* Until somebody closes its standard input; says when it has begun. */
static void do_until_told(void) {
    char byte;
    pthread_t thread;
    unit_ns = INT64_C(3600) * 1000 * MS;
    int units = 1;
    pthread_create(&thread, NULL, busy_thread, &units);
    say("begun", 0);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    _exit(5);
}

/* Together almost as large as what is copied of a stack. */
static NOINLINE void large_frame(int depth) {
    volatile char room[1024];
    memset((char *)room, depth, sizeof room);
    if (depth > 1)
        KEPT(large_frame(depth - 1));
    else
        KEPT(burn(15 * unit_ns));
    sink += (uint64_t)room[depth];
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "shares") == 0)
        do_shares();
    else if (strcmp(what, "recursion") == 0)
        do_recursion();
    else if (strcmp(what, "large-stack") == 0)
        KEPT(large_frame(26));
    else if (strcmp(what, "tail-call") == 0)
        do_tail_call();
    else if (strcmp(what, "signal") == 0)
        do_signal();
    else if (strcmp(what, "dlopen") == 0 && argc > 2)
        do_dlopen(argv[2]);
    else if (strcmp(what, "threads") == 0)
        do_threads();
    else if (strcmp(what, "fork") == 0)
        do_fork();
    else if (strcmp(what, "vfork") == 0)
        do_vfork();
    else if (strcmp(what, "realigned") == 0)
        do_realigned();
    else if (strcmp(what, "inlines") == 0)
        KEPT(inlines());
    else if (strcmp(what, "waits") == 0)
        KEPT(waits());
    else if (strcmp(what, "until-told") == 0)
        do_until_told();
    return 3;
}
