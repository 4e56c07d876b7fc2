/* bench/process_bench.c -- CPU time per tick of the process collector, compared with
 * bare reads of the same files.
 *
 *     bare     pread of stat, statm and io of every process on kept descriptors, nothing parsed
 *     full     a tick that reads all of them, as if all had run since the last
 *     listed   the same if the kernel does not report forks and /proc is listed at every tick
 *     tick     a tick as on a live machine, where most processes sleep
 *
 * The four run in separate processes (the descriptors of all would not fit in one) and alternate;
 * each figure is the minimum of all rounds. */
#include "base/clock.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "source/kernel/pid_list.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS       15
#define SLEEPERS_MAX 5000

extern const struct pt_collector pt_process_collector;

struct job {
    struct pt_fs fs;
    struct pt_target target;
    struct pt_thinning thinning;
    struct pt_context context;
    struct pt_batch rows[2];
    void *state;
    struct pt_file *files; /* of the bare reading */
    size_t file_count, process_count;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void collector_open(struct job *job) {
    job->context = (struct pt_context){ .fs = &job->fs,
                                        .target = &job->target,
                                        .thinning = &job->thinning,
                                        .interval_ns = PT_NS_PER_SECOND,
                                        .fd_budget = 3 * (SLEEPERS_MAX + 1000) };
    job->state = pt_calloc(1, pt_process_collector.state_size);
    for (int i = 0; i < 2; i++)
        pt_batch_init(&job->rows[i], pt_process_collector.tables[i]);
    if (pt_process_collector.open(job->state, &job->context, NULL))
        fail("open");
}

/* Time goes on by a second from tick to tick, as it does at -t 1000. */
static void collector_tick(struct job *job) {
    job->context.now_ns = PT_NS_PER_SECOND * (int64_t)(job->context.tick++ + 1000);
    for (int i = 0; i < 2; i++)
        pt_batch_clear(&job->rows[i]);
    if (pt_process_collector.collect(job->state, &job->context, job->rows))
        fail("collect");
    job->process_count = job->rows[1].row_count;
}

/* Of a tree that is not the machine's own, the CPU clocks are not looked at. */
static void full_open(struct job *job) {
    collector_open(job);
    job->fs.is_live = false;
}

static void listed_open(struct job *job) {
    job->fs.is_live = false;
    collector_open(job);
}

static void bare_open(struct job *job) {
    static const char *const names[] = { "stat", "statm", "io" };
    struct pt_pid_list pids = { 0 };
    int proc = openat(job->fs.proc, ".", O_RDONLY | O_DIRECTORY);
    if (proc < 0 || pt_pid_list_read(&pids, proc))
        fail("list");
    job->files = pt_calloc(3 * pids.count, sizeof *job->files);
    job->process_count = pids.count;
    for (size_t i = 0; i < 3 * pids.count; i++) {
        char path[48];
        snprintf(path, sizeof path, "%d/%s", pids.at[i / 3], names[i % 3]);
        if (pt_file_open(&job->files[job->file_count], job->fs.proc, path) == 0)
            job->file_count++;
    }
}

static void bare_tick(struct job *job) {
    char text[8192];
    for (size_t i = 0; i < job->file_count; i++)
        if (pread(pt_fd_get(job->files[i].fd), text, sizeof text, 0) < 0)
            continue; /* gone */
}

static const struct kind {
    const char *name;
    void (*open)(struct job *job);
    void (*tick)(struct job *job);
} kinds[] = {
    { "bare", bare_open, bare_tick },
    { "full", full_open, collector_tick },
    { "listed", listed_open, collector_tick },
    { "tick", collector_open, collector_tick },
};

struct worker {
    pid_t pid;
    int orders, answers;
    double best_us;
};

struct answer {
    double cpu_us;
    size_t process_count;
};

/* A round for each byte that comes in. */
static void work(const struct kind *kind, int orders, int answers) {
    struct job job = { 0 };
    struct pt_err err;
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (pt_fs_open(&job.fs, "/proc", "/sys", "/", &err))
        fail(err.text);
    kind->open(&job);
    for (int i = 0; i < 3; i++)
        kind->tick(&job);
    while (read(orders, &byte, 1) == 1) {
        int64_t start = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        kind->tick(&job);
        struct answer a = { (double)(pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1e3,
                            job.process_count };
        if (write(answers, &a, sizeof a) != sizeof a)
            break;
    }
    _exit(0);
}

static void worker_start(struct worker *w, const struct kind *kind) {
    int orders[2], answers[2];
    if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
        fail("pipe");
    w->pid = fork();
    if (w->pid < 0)
        fail("fork");
    if (w->pid == 0) {
        close(orders[1]);
        work(kind, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    *w = (struct worker){ w->pid, orders[1], answers[0], 1e18 };
}

static size_t worker_round(struct worker *w) {
    struct answer a;
    if (write(w->orders, "x", 1) != 1 || read(w->answers, &a, sizeof a) != sizeof a)
        fail("worker");
    if (a.cpu_us < w->best_us)
        w->best_us = a.cpu_us;
    return a.process_count;
}

static void worker_stop(struct worker *w) {
    close(w->orders);
    close(w->answers);
    kill(w->pid, SIGKILL); /* those started later hold its pipes too */
    waitpid(w->pid, NULL, 0);
}

static void measure(void) {
    struct worker workers[PT_COUNT(kinds)];
    size_t n = 0;
    for (size_t i = 0; i < PT_COUNT(kinds); i++)
        worker_start(&workers[i], &kinds[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < PT_COUNT(kinds); i++)
            n = worker_round(&workers[i]);
    double each = (double)n;
    printf("| %zu processes, every file read: us per process | %.2f us | %.2f us | %.2f | <= 1.25 "
           "|\n",
           n, workers[1].best_us / each, workers[0].best_us / each,
           workers[1].best_us / workers[0].best_us);
    printf("| the same, /proc listed at every tick too | %.2f us | %.2f us | %.2f | |\n",
           workers[2].best_us / each, workers[0].best_us / each,
           workers[2].best_us / workers[0].best_us);
    printf(
        "| %zu mostly sleeping processes at 1 Hz | %.2f %% of one core | | | < 4 %% at 5,000 |\n",
        n, workers[3].best_us / 1e4);
    for (size_t i = 0; i < PT_COUNT(kinds); i++)
        worker_stop(&workers[i]);
}

static pid_t sleeper_start(void) {
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

int main(void) {
    static const int counts[] = { 0, 100, 1000, SLEEPERS_MAX };
    static pid_t sleepers[SLEEPERS_MAX];
    struct rlimit files;
    int count = 0;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    for (size_t i = 0; i < PT_COUNT(counts); i++) {
        while (count < counts[i])
            sleepers[count++] = sleeper_start();
        measure();
        fflush(stdout);
    }
    for (int i = 0; i < count; i++)
        kill(sleepers[i], SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 0;
}
