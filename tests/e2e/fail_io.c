/* A preloaded library in which one call on a file fails, in the program called FAIL_IO_IN: the
 * FAIL_IO_ATth of those below, with the error FAIL_IO_WITH (a number; 0: half of it is written). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static long left = -1; /* -1: none fails */
static int error;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FAIL_IO_IN"), *at = getenv("FAIL_IO_AT"),
               *with = getenv("FAIL_IO_WITH");
    if (name && at && with && strcmp(name, program_invocation_short_name) == 0) {
        left = strtol(at, NULL, 10);
        error = (int)strtol(with, NULL, 10);
    }
}

static bool is_file(int fd) {
    struct stat st;
    return !fstat(fd, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static bool fails(void) {
    return __atomic_load_n(&left, __ATOMIC_RELAXED) > 0 &&
           __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) == 0;
}

/* What a failed call returns, or -2 if it is to be made with half the size. */
static long failed(void) {
    errno = error;
    return error ? -1 : -2;
}

EXPORTED ssize_t write(int fd, const void *bytes, size_t n) {
    long rc = is_file(fd) && fails() ? failed() : 0;
    return rc == -1 ? -1 : syscall(SYS_write, fd, bytes, rc == -2 ? (n + 1) / 2 : n);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset) {
    long rc = is_file(fd) && fails() ? failed() : 0;
    return rc == -1 ? -1 : syscall(SYS_pwrite64, fd, bytes, rc == -2 ? (n + 1) / 2 : n, offset);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int count) {
    long rc = is_file(fd) && fails() ? failed() : 0;
    return rc == -1 ? -1 : syscall(SYS_writev, fd, parts, rc == -2 ? 1 : count);
}

EXPORTED ssize_t read(int fd, void *into, size_t n) {
    long rc = is_file(fd) && fails() ? failed() : 0;
    return rc == -1 ? -1 : syscall(SYS_read, fd, into, rc == -2 ? (n + 1) / 2 : n);
}

EXPORTED ssize_t pread(int fd, void *into, size_t n, off_t offset) {
    long rc = is_file(fd) && fails() ? failed() : 0;
    return rc == -1 ? -1 : syscall(SYS_pread64, fd, into, rc == -2 ? (n + 1) / 2 : n, offset);
}

EXPORTED int ftruncate(int fd, off_t size) {
    return fails() && failed() == -1 ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

EXPORTED int rename(const char *from, const char *to) {
    return fails() && failed() == -1 ? -1
                                     : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORTED int close(int fd) {
    bool is_failed = is_file(fd) && fails() && failed() == -1;
    int saved_errno = errno, rc = (int)syscall(SYS_close, fd);
    if (is_failed)
        errno = saved_errno;
    return is_failed ? -1 : rc;
}

static int open_at(int directory, const char *path, int flags, mode_t mode) {
    if (fails() && failed() == -1)
        return -1;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

EXPORTED int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_at(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat(int directory, const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_at(directory, path, flags, mode);
}
