/* A program that puts itself into a sandbox and then goes on computing and allocating:
 *
 *     sandboxed none|strict|filter|filter-syscall|threads|child|exec|descriptors|chroot|user
 *
 * In the sandboxes of seccomp every system call but write and exit kills it (of "child" also those
 * of fork, of "exec" only unusual ones). It needs none: its memory is there before. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS      256
#define BLOCK_BYTES (64u << 10)

static void *blocks[BLOCKS];
static volatile uint64_t sum;

static void allocate(void) {
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < BLOCKS; i++)
            blocks[i] = malloc(BLOCK_BYTES);
        for (int i = 0; i < BLOCKS; i++)
            free(blocks[i]);
    }
}

static void compute(void) {
    for (uint64_t i = 0; i < 150000000; i++)
        sum += i * i;
}

static uint32_t has_begun, must_end, has_ended;

static void *compute_on(void *none) {
    __atomic_store_n(&has_begun, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&must_end, __ATOMIC_RELAXED))
        for (uint64_t i = 0; i < 1000000; i++)
            sum += i * i;
    __atomic_store_n(&has_ended, 1, __ATOMIC_RELAXED);
    for (;;)
        continue;
    return none;
}

static int set_filter(long flags, int with_syscall, int allows_fork) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allows_fork ? SYS_clone : SYS_write, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allows_fork ? SYS_wait4 : SYS_write, 3, 0),
        /* fork of glibc 2.41 */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allows_fork ? SYS_rt_sigprocmask : SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allows_fork ? SYS_set_robust_list : SYS_write, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return with_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)
                        : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What a program needs to start is allowed; what only a preloaded library needs is not. */
static int execute_again(char *program) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog filter = { sizeof code / sizeof *code, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return -1;
    return execl(program, program, "none", (char *)NULL);
}

static int filter_threads(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, compute_on, NULL))
        return -1;
    while (!__atomic_load_n(&has_begun, __ATOMIC_RELAXED)) /* its start needs system calls */
        continue;
    return set_filter(SECCOMP_FILTER_FLAG_TSYNC, 1, 0);
}

static int enter(const char *sandbox, char *program) {
    if (strcmp(sandbox, "strict") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (strncmp(sandbox, "filter", 6) == 0)
        return set_filter(0, sandbox[6] == '-', 0);
    if (strcmp(sandbox, "child") == 0)
        return set_filter(0, 0, 1);
    if (strcmp(sandbox, "threads") == 0)
        return filter_threads();
    if (strcmp(sandbox, "exec") == 0)
        return execute_again(program);
    if (strcmp(sandbox, "descriptors") == 0)
        return close_range(3, ~0u, 0);
    if (strcmp(sandbox, "chroot") == 0)
        return chroot("/var/empty") && chroot("/proc/self/fdinfo") ? -1 : chdir("/");
    if (strcmp(sandbox, "user") == 0)
        return setgid(65534) || setuid(65534) ? -1 : 0;
    return 0;
}

static void say(const char *text) {
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

int main(int argc, char **argv) {
    const char *sandbox = argc > 1 ? argv[1] : "none";
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    allocate();
    compute();
    if (enter(sandbox, argv[0]))
        return 99;
    allocate();
    compute();
    if (strcmp(sandbox, "strict") == 0) {
        say("done\n");
        syscall(SYS_exit, 7);
    }
    if (strcmp(sandbox, "child") == 0) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            allocate();
            compute();
            say("child\n");
            _exit(0);
        }
        if (waitpid(pid, &status, 0) != pid || status != 0)
            _exit(98);
    }
    if (strcmp(sandbox, "threads") == 0) {
        __atomic_store_n(&must_end, 1, __ATOMIC_RELAXED);
        while (!__atomic_load_n(&has_ended, __ATOMIC_RELAXED))
            continue;
    }
    say("done\n");
    exit(7);
}
