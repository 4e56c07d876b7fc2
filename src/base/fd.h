/* base/fd.h -- an owned file descriptor. {0} is not open, although 0 is a valid descriptor, so a
 * struct that contains one may be zeroed. */
#ifndef PT_BASE_FD_H
#define PT_BASE_FD_H

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

struct pt_fd {
    int number_plus_one; /* private to the functions below */
};

/* Takes ownership; not open if `number` is negative. */
static inline struct pt_fd pt_fd_of(int number) {
    return (struct pt_fd){ number < 0 ? 0 : number + 1 };
}

static inline bool pt_fd_is_open(struct pt_fd fd) {
    return fd.number_plus_one > 0;
}

/* The descriptor number for system calls; -1 if it is not open. */
static inline int pt_fd_get(struct pt_fd fd) {
    return fd.number_plus_one - 1;
}

/* Does nothing if it is not open. 0 or -errno. */
static inline int pt_fd_close(struct pt_fd *fd) {
    int rc = pt_fd_is_open(*fd) && close(pt_fd_get(*fd)) ? -errno : 0;
    *fd = (struct pt_fd){ 0 };
    return rc;
}

#endif
