/* Runs a command that may not use some system calls, which fail with EPERM, as in many containers:
 *
 *     forbid perf_event_open process_vm_readv -- COMMAND ARGUMENT...
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    { "perf_event_open", SYS_perf_event_open },
    { "process_vm_readv", SYS_process_vm_readv },
    { "seccomp", SYS_seccomp },
    { "timer_create", SYS_timer_create },
};

static int forbid(const char *name) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof code / sizeof *code, code };
        if (strcmp(name, calls[i].name) == 0)
            return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
    return -1;
}

int main(int argc, char **argv) {
    int i = 1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return 99;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (forbid(argv[i])) {
            fprintf(stderr, "cannot forbid %s: %s\n", argv[i], strerror(errno));
            return 99;
        }
    if (i + 1 >= argc)
        return 99;
    execvp(argv[i + 1], argv + i + 1);
    return 99;
}
