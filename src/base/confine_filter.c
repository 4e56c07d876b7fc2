#include "base/confine_filter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define ALLOW          SECCOMP_RET_ALLOW
#define REFUSE(error)  (SECCOMP_RET_ERRNO | (error))
#define WRITING        (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))
#define PERF_IOCTLS    ('$' << 8)
#define IOCTL_KIND     0xff00
#define ANY            0, 0, 0
#define ITS_OWN        0 /* process id */
#define CALLS_MAX      128
#define STEPS_PER_CALL 6
#define STEPS_AROUND   8
#define X32_FIRST      0x40000000u

/* What to do with a system call if the bits `mask` of one argument have a value. The first line
 * that fits counts; a call without one ends the process. */
static const struct {
    uint32_t number;
    unsigned argument;
    uint32_t mask, value;
    uint32_t action;
} calls[] = {
    /* what samples need */
    { SYS_process_vm_readv, ANY, ALLOW },
    { SYS_futex, ANY, ALLOW },
    { SYS_read, ANY, ALLOW },
    { SYS_pread64, ANY, ALLOW },
    { SYS_epoll_pwait, ANY, ALLOW },
    { SYS_ppoll, ANY, ALLOW },
    { SYS_write, ANY, ALLOW }, /* nothing that it can open is writable */
    { SYS_clock_gettime, ANY, ALLOW },
    { SYS_ioctl, 1, IOCTL_KIND, PERF_IOCTLS, ALLOW },
    { SYS_ioctl, ANY, REFUSE(ENOTTY) },
    /* files, for reading */
    { SYS_openat, 2, WRITING, O_RDONLY, ALLOW },
    { SYS_close, ANY, ALLOW },
    { SYS_lseek, ANY, ALLOW },
    { SYS_readv, ANY, ALLOW },
    { SYS_preadv, ANY, ALLOW },
    { SYS_fstat, ANY, ALLOW },
    { SYS_newfstatat, ANY, ALLOW },
    { SYS_statx, ANY, ALLOW },
    { SYS_getdents64, ANY, ALLOW },
    { SYS_readlinkat, ANY, ALLOW },
    { SYS_faccessat, ANY, ALLOW },
    { SYS_faccessat2, ANY, ALLOW },
    { SYS_getcwd, ANY, ALLOW },
    { SYS_dup, ANY, ALLOW },
    { SYS_fcntl, 1, ~3u, 0, ALLOW }, /* F_DUPFD, F_GETFD, F_SETFD, F_GETFL */
    { SYS_fcntl, 1, ~0u, F_DUPFD_CLOEXEC, ALLOW },
    { SYS_fcntl, 1, ~0u, F_SETLK, ALLOW }, /* SQLite, to read */
    { SYS_fcntl, 1, ~0u, F_GETLK, ALLOW },
    { SYS_memfd_create, ANY, ALLOW }, /* small ones, by RLIMIT_FSIZE */
    /* its pipes and its door */
    { SYS_pwrite64, ANY, ALLOW },
    { SYS_writev, ANY, ALLOW },
    { SYS_sendmsg, ANY, ALLOW },
    { SYS_recvmsg, ANY, ALLOW },
    { SYS_eventfd2, ANY, ALLOW },
    { SYS_epoll_create1, ANY, ALLOW },
    { SYS_epoll_ctl, ANY, ALLOW },
    { SYS_timerfd_create, ANY, ALLOW },
    { SYS_timerfd_settime, ANY, ALLOW },
    /* memory that is not code */
    { SYS_mmap, 2, PROT_EXEC, 0, ALLOW },
    { SYS_mmap, ANY, REFUSE(EPERM) }, /* a library that would be loaded */
    { SYS_mprotect, 2, PROT_EXEC, 0, ALLOW },
    { SYS_munmap, ANY, ALLOW },
    { SYS_mremap, ANY, ALLOW },
    { SYS_madvise, ANY, ALLOW },
    { SYS_brk, ANY, ALLOW },
    /* threads, not processes; clone has its flags in a register, clone3 in memory */
    { SYS_clone, 0, CLONE_THREAD, CLONE_THREAD, ALLOW },
    { SYS_clone3, ANY, REFUSE(ENOSYS) },
    { SYS_set_robust_list, ANY, ALLOW },
    { SYS_rseq, ANY, ALLOW },
    { SYS_membarrier, ANY, ALLOW },
    { SYS_exit, ANY, ALLOW },
    { SYS_exit_group, ANY, ALLOW },
    { SYS_sched_yield, ANY, ALLOW },
    { SYS_sched_getaffinity, ANY, ALLOW },
    { SYS_sched_getscheduler, ANY, ALLOW },
    { SYS_sched_setscheduler, 0, ~0u, 0, ALLOW }, /* its own */
    { SYS_getpriority, ANY, ALLOW },
    { SYS_setpriority, 1, ~0u, 0, ALLOW },
    { SYS_prlimit64, 2, ~0u, 0, REFUSE(EPERM) }, /* to read a limit */
    { SYS_prctl, 0, ~0u, PR_SET_NAME, ALLOW },
    { SYS_prctl, ANY, REFUSE(EPERM) },
    /* signals to itself; whether a process lives */
    { SYS_rt_sigaction, ANY, ALLOW },
    { SYS_rt_sigprocmask, ANY, ALLOW },
    { SYS_rt_sigreturn, ANY, ALLOW },
    { SYS_sigaltstack, ANY, ALLOW },
    { SYS_kill, 1, ~0u, 0, ALLOW },
    { SYS_tgkill, 0, ~0u, ITS_OWN, ALLOW },
    { SYS_restart_syscall, ANY, ALLOW },
    /* itself and the time */
    { SYS_getpid, ANY, ALLOW },
    { SYS_getppid, ANY, ALLOW },
    { SYS_gettid, ANY, ALLOW },
    { SYS_getuid, ANY, ALLOW },
    { SYS_geteuid, ANY, ALLOW },
    { SYS_getgid, ANY, ALLOW },
    { SYS_getegid, ANY, ALLOW },
    { SYS_getrusage, ANY, ALLOW },
    { SYS_sysinfo, ANY, ALLOW },
    { SYS_uname, ANY, ALLOW },
    { SYS_getrandom, ANY, ALLOW },
    { SYS_gettimeofday, ANY, ALLOW },
    { SYS_nanosleep, ANY, ALLOW },
    { SYS_clock_nanosleep, ANY, ALLOW },
    { SYS_clock_getres, ANY, ALLOW },
#if defined(__x86_64__)
    /* older forms of the same */
    { SYS_epoll_wait, ANY, ALLOW },
    { SYS_poll, ANY, ALLOW },
    { SYS_open, 1, WRITING, O_RDONLY, ALLOW },
    { SYS_stat, ANY, ALLOW },
    { SYS_lstat, ANY, ALLOW },
    { SYS_readlink, ANY, ALLOW },
    { SYS_access, ANY, ALLOW },
    { SYS_pause, ANY, ALLOW },
    { SYS_time, ANY, ALLOW },
#endif
};

static_assert(PT_COUNT(calls) <= CALLS_MAX, "more calls than CALLS_MAX");

struct program {
    struct sock_filter steps[CALLS_MAX * STEPS_PER_CALL + STEPS_AROUND];
    unsigned short count;
};

static void add(struct program *p, unsigned code, unsigned yes, unsigned no, uint32_t value) {
    p->steps[p->count++] =
        (struct sock_filter){ (unsigned short)code, (uint8_t)yes, (uint8_t)no, value };
}

static void load(struct program *p, size_t offset) {
    add(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void build(struct program *p) {
    load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    add(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
    add(p, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_FIRST);
    add(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    for (size_t i = 0; i < PT_COUNT(calls); i++) {
        bool is_plain = calls[i].mask == 0;
        add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, is_plain ? 1 : 5, calls[i].number);
        if (!is_plain) { /* arguments are little-endian; the flags are in their lower half */
            load(p, offsetof(struct seccomp_data, args) + 8 * calls[i].argument);
            add(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, calls[i].mask);
            bool is_own = calls[i].number == SYS_tgkill;
            add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, is_own ? (uint32_t)getpid() : calls[i].value);
        }
        add(p, BPF_RET | BPF_K, 0, 0, calls[i].action);
        if (!is_plain)
            load(p, offsetof(struct seccomp_data, nr));
    }
    add(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
}

int pt_confine_filter(void) {
    struct program p = { .count = 0 };
    build(&p);
    struct sock_fprog program = { p.count, p.steps };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L))
        return -errno;
    /* otherwise older kernels slow down all threads against attacks between branches */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
        return -errno;
    return 0;
}
