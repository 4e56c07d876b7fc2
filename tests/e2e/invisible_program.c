/* What programs do that a recorder could disturb; tests/e2e/invisible.py runs it with and without
 * Pitot. Each way of life is a function; its lines on stdout are what is compared. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0))) static void say(const char *format, int number) {
    char line[128];
    int length = snprintf(line, sizeof line, format, number);
    (void)!write(STDOUT_FILENO, line, (size_t)length);
}

static void set_all(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    if (!handler) {
        action.sa_flags = 0;
        action.sa_handler = SIG_IGN;
    }
    for (int number = 1; number <= SIGRTMAX; number++)
        sigaction(number, &action, NULL); /* fails for a few */
}

/* The first byte of a line on stdin, without a restart. */
static int next_byte(void) {
    char byte, other;
    ssize_t n;
    while ((n = read(STDIN_FILENO, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (n != 1)
        return EOF;
    for (other = byte; other != '\n' && (n = read(STDIN_FILENO, &other, 1)) != 0;)
        if (n < 0 && errno != EINTR)
            break;
    return byte;
}

static void name_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    say("signal %d\n", number);
    if (info->si_code == SI_QUEUE)
        say("value %d\n", info->si_value.sival_int);
}

static int handles(void) {
    set_all(name_signal);
    say("ready\n", 0);
    return next_byte() == 'q' ? 3 : 4;
}

static int ignores(void) {
    set_all(NULL);
    say("ready\n", 0);
    return next_byte() == 'q' ? 3 : 4;
}

static int waits(void) {
    say("ready %d\n", getpid());
    while (pause())
        continue;
    return 1;
}

static int reads(void) {
    say("ready\n", 0);
    int byte = next_byte();
    say("read %d\n", byte);
    return 5;
}

/* Who tells it that the terminal is gone, until SIGUSR2. The standard streams are gone, too. */
static int is_hung_up(void) {
    siginfo_t info;
    sigset_t awaited;
    FILE *log = fopen("log", "w");
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGHUP);
    sigaddset(&awaited, SIGUSR2);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    say("ready\n", 0);
    while (log && sigwaitinfo(&awaited, &info) == SIGHUP)
        fprintf(log, "%s\n",
                info.si_code == SI_KERNEL  ? "kernel"
                : info.si_pid == getsid(0) ? "shell"
                                           : "another");
    return log && fclose(log) == 0 ? 3 : 4;
}

static int stops_itself(void) {
    say("ready %d\n", getpid());
    kill(getpid(), SIGSTOP);
    say("continued\n", 0);
    return 6;
}

static void note_alarm(int number) {
    say("alarm %d\n", number);
}

static int sets_timers(void) {
    struct sigaction action = { .sa_handler = note_alarm };
    struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
    struct itimerspec soon_too = { { 0, 0 }, { 0, 20000000 } };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 5 };
    sigset_t all, none;
    timer_t timer;
    set_all(NULL);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (number == SIGALRM || number == SIGRTMIN + 5)
            sigaction(number, &action, NULL);
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    sigsuspend(&none);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon_too, NULL))
        return 1;
    sigsuspend(&none);
    return 7;
}

static int dies_of_alarm(void) {
    ualarm(20000, 0);
    while (pause())
        continue;
    return 1;
}

static int has_children(void) {
    int sum = 0, status;
    for (int i = 0; i < 200; i++)
        if (fork() == 0)
            _exit(i % 7);
    while (wait(&status) > 0)
        sum += WEXITSTATUS(status);
    say("sum %d\n", sum);
    return sum % 256;
}

static int uses_vfork(void) {
    const char *const argv[] = { "sh", "-c", "exit 9", NULL };
    int status;
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/sh", (char *const *)argv);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status) + 1;
}

/* Its orphan is its child again. */
static int adopts(void) {
    int was = -1, status, ends[2];
    prctl(PR_GET_CHILD_SUBREAPER, &was, 0L, 0L, 0L);
    say("was a subreaper: %d\n", was);
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    if (pipe(ends))
        return 1;
    if (fork() == 0) {
        if (fork() == 0) {
            char byte;
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) == 0 ? 12 : 1); /* once its parent has ended */
        }
        _exit(11);
    }
    close(ends[0]);
    wait(&status);
    say("child %d\n", WEXITSTATUS(status));
    close(ends[1]);
    wait(&status);
    say("orphan %d\n", WEXITSTATUS(status));
    return 8;
}

static int has_a_child_that_dies_with_it(void) {
    int number = -1, ends[2], ready[2];
    char byte;
    prctl(PR_GET_PDEATHSIG, &number, 0L, 0L, 0L);
    say("death signal %d\n", number);
    if (pipe(ends) || pipe(ready))
        return 1;
    pid_t middle = fork();
    if (middle == 0) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L);
            (void)!write(ready[1], "r", 1);
            for (;;)
                pause();
        }
        (void)!read(ready[0], &byte, 1);
        _exit(0);
    }
    close(ends[1]);
    waitpid(middle, NULL, 0);
    say("all are gone: %d\n", read(ends[0], &byte, 1) == 0);
    return 2;
}

static int is_a_daemon(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            int null = open("/dev/null", O_RDWR), end = open("daemon-may-end", O_RDONLY);
            for (int fd = 0; fd < 3; fd++)
                dup2(null, fd);
            char byte;
            (void)!read(end, &byte, 1); /* a FIFO: ends when the test opens and closes it */
            int file = open("daemon-was-here", O_WRONLY | O_CREAT, 0600);
            (void)!write(file, "yes", 3);
            _exit(0);
        }
        _exit(0);
    }
    wait(NULL);
    say("has a daemon\n", 0);
    return 3;
}

static int changes_groups(void) {
    say("setpgid %d\n", setpgid(0, 0));
    say("leads its group %d\n", getpgrp() == getpid());
    pid_t pid = fork();
    if (pid == 0) {
        say("setsid %d\n", setsid() == getpid());
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return 0;
}

static int shows_state(void) {
    struct rlimit limit;
    cpu_set_t cpus;
    sigset_t set;
    int number = 0;
    for (int i = 0; i < RLIM_NLIMITS; i++)
        if (!getrlimit((__rlimit_resource_t)i, &limit))
            printf("limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
                   (unsigned long long)limit.rlim_max);
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("cpus %d policy %d nice %d umask %o\n", CPU_COUNT(&cpus), sched_getscheduler(0),
           getpriority(PRIO_PROCESS, 0), (unsigned)umask(0));
    printf("io priority %ld personality none\n", syscall(SYS_ioprio_get, 1, 0));
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction action;
        if (!sigaction(i, NULL, &action))
            printf("%d%s%s ", i, action.sa_handler == SIG_IGN ? "i" : "",
                   sigismember(&set, i) ? "b" : "");
    }
    prctl(PR_GET_PDEATHSIG, &number, 0L, 0L, 0L);
    printf("\ndumpable %d privileges %d seccomp %d slack %d secure %d death %d\n",
           prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L),
           prctl(PR_GET_SECCOMP), prctl(PR_GET_TIMERSLACK), prctl(PR_GET_SECUREBITS), number);
    return 0;
}

static int lists_descriptors(void) {
    char path[64], target[256];
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0)
            continue;
        target[n] = 0;
        target[strcspn(target, "[")] = 0; /* the number of a pipe */
        printf("%d %s flags %x\n", fd, target, (unsigned)fcntl(fd, F_GETFL));
    }
    return 0;
}

static int closes_everything(void) {
    say("before\n", 0);
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    return write(STDOUT_FILENO, "after\n", 6) < 0 && errno == EBADF ? 21 : 22;
}

static int writes_to_a_closed_pipe(void) {
    while (write(STDOUT_FILENO, "more\n", 5) == 5)
        continue;
    return 1;
}

static void note_size(int number) {
    struct winsize size = { 0 };
    ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
    say("signal %d\n", number);
    say("columns %d\n", size.ws_col);
}

static int watches_size(void) {
    struct sigaction action = { .sa_handler = note_size };
    sigaction(SIGWINCH, &action, NULL);
    say("ready\n", 0);
    return next_byte() == 'q' ? 3 : 4;
}

static int uses_raw_mode(bool restores) {
    struct termios old, raw;
    char byte;
    if (tcgetattr(STDIN_FILENO, &old))
        return 1;
    raw = old;
    cfmakeraw(&raw);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    say("\033[?1049hready\r\n", 0); /* the alternate screen */
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return 2;
    say("key %d\r\n\033[?1049l", byte);
    if (restores)
        tcsetattr(STDIN_FILENO, TCSANOW, &old);
    return 4;
}

static int restores_raw_mode(void) {
    return uses_raw_mode(true);
}

static int leaves_raw_mode(void) {
    return uses_raw_mode(false);
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    { "handles", handles },
    { "ignores", ignores },
    { "waits", waits },
    { "reads", reads },
    { "hung-up", is_hung_up },
    { "stops-itself", stops_itself },
    { "sets-timers", sets_timers },
    { "dies-of-alarm", dies_of_alarm },
    { "has-children", has_children },
    { "uses-vfork", uses_vfork },
    { "adopts", adopts },
    { "dies-with-parent", has_a_child_that_dies_with_it },
    { "daemon", is_a_daemon },
    { "groups", changes_groups },
    { "state", shows_state },
    { "descriptors", lists_descriptors },
    { "closes-everything", closes_everything },
    { "closed-pipe", writes_to_a_closed_pipe },
    { "size", watches_size },
    { "raw", restores_raw_mode },
    { "left-raw", leaves_raw_mode },
};

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0) {
            int code = ways[i].run();
            fflush(stdout);
            return code;
        }
    return 99;
}
