#include "serve/activation.h"

#include "base/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_FD 3

static int64_t number_in(const char *variable) {
    const char *text = getenv(variable);
    struct pt_scan s = pt_scan_of(pt_str_from(text ? text : ""));
    int64_t number = pt_scan_i64(&s);
    return s.failed || s.at != s.end ? 0 : number;
}

int pt_activation_take(struct pt_fd *socket, struct pt_err *err) {
    int64_t count = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;
    *socket = (struct pt_fd){ 0 };
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (count <= 0)
        return 0;
    if (count > 1)
        return pt_fail(err, -EINVAL, "systemd passed %d sockets, only one is supported",
                       (int)count);
    int flags = fcntl(FIRST_FD, F_GETFL);
    if (flags < 0 || fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) ||
        fcntl(FIRST_FD, F_SETFL, flags | O_NONBLOCK))
        return pt_fail(err, -errno, "LISTEN_FDS does not name an open socket");
    *socket = pt_fd_of(FIRST_FD);
    return 0;
}
