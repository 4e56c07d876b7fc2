/* A program that puts itself into a seccomp sandbox may then be killed for any system call, also
 * for one of ours. So we notice it, write what needs system calls, and are silent from then on. The
 * exported functions do what those of the C library do, because they may be called before that can
 * be looked up. A program that uses the instruction itself is not noticed. */
#include "inside/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void (*pt_preload_before_silence)(void);

/* Of the C library, or of our other library, which must notice it too. */
static long (*next_syscall)(long, ...);

__attribute__((constructor)) static void find_next(void) {
    int error = errno;
    void *found = dlsym(RTLD_NEXT, "syscall");
    memcpy(&next_syscall, &found, sizeof found);
    errno = error;
}

#if defined __x86_64__

static long system_call(long number, const long a[6]) {
    long result;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined __aarch64__

static long system_call(long number, const long a[6]) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = a[4];
    register long x5 __asm__("x5") = a[5];
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#endif

/* Libraries also try impossible sandboxes, to see what the kernel supports. */
static bool begins_sandbox(long number, const long a[6]) {
    if (number == SYS_prctl)
        return a[0] == PR_SET_SECCOMP && (a[1] == SECCOMP_MODE_STRICT || a[2] != 0);
    if (number != SYS_seccomp)
        return false;
    return a[0] == SECCOMP_SET_MODE_STRICT ? a[1] == 0 && a[2] == 0
                                           : a[0] == SECCOMP_SET_MODE_FILTER && a[2] != 0;
}

/* A program that is executed inside the sandbox does not record either: it finds no directory. */
static void empty_variable(const char *name) {
    char *value = secure_getenv(name);
    if (value)
        *value = '\0';
}

static PT_PRELOAD_COLD void go_silent(void) {
    int error = errno;
    if (pt_preload_file.is_off || !pt_preload_directory_variable)
        return;
    if (pt_preload_before_silence)
        pt_preload_before_silence();
    pt_preload_file.is_off = true;
    empty_variable(pt_preload_directory_variable);
    errno = error;
}

static long call(long number, const long a[6]) {
    if (__builtin_expect(begins_sandbox(number, a), 0)) {
        go_silent();
        if (next_syscall)
            return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    long result = system_call(number, a);
    if ((unsigned long)result <= -4096UL)
        return result;
    errno = (int)-result;
    return -1;
}

PT_PRELOAD_EXPORT long syscall(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    return call(number, a);
}

PT_PRELOAD_EXPORT int prctl(int option, ...) {
    long a[6] = { option };
    va_list arguments;
    va_start(arguments, option);
    for (int i = 1; i < 5; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    return (int)call(SYS_prctl, a);
}
