/* tests/unit/short_io.h -- the program's pread(2) and pwrite(2), which do what the kernel may do at
 * any time: move fewer bytes than asked for, be interrupted, fail. One file per program includes
 * this; the program then calls these instead of those of the C library. */
#ifndef PT_TEST_SHORT_IO_H
#define PT_TEST_SHORT_IO_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    size_t most;         /* bytes per call; 0: as many as asked for */
    bool is_interrupted; /* every other call is */
    bool is_called;      /* before the call that is not interrupted */
    int failing_call;    /* fails: 1 is the next one; 0: none */
} short_io;

/* 0, or the error of this call. */
static int short_io_error(void) {
    if (short_io.is_interrupted && (short_io.is_called = !short_io.is_called))
        return EINTR;
    if (short_io.failing_call > 0 && --short_io.failing_call == 0)
        return EIO;
    return 0;
}

static size_t short_io_size(size_t n) {
    return short_io.most > 0 && n > short_io.most ? short_io.most : n;
}

ssize_t pread(int fd, void *into, size_t n, off_t at) {
    errno = short_io_error();
    return errno ? -1 : syscall(SYS_pread64, fd, into, short_io_size(n), at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    errno = short_io_error();
    return errno ? -1 : syscall(SYS_pwrite64, fd, from, short_io_size(n), at);
}

#endif
