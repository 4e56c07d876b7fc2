#include "launch/outlast.h"

#include "base/clock.h"
#include "base/mem.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_EVERY_MS 100 /* another thread may have read the signal of the command's end */

static int signal_fd = -1;

static void say(const char *text) {
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Another thread may wait for the command too, so it is not reaped here. */
static bool has_ended(const struct pt_child *c, int *code) {
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT))
        *code = pt_child_exit_code(c); /* reaped */
    else if (info.si_pid)
        *code = info.si_status + (info.si_code == CLD_EXITED ? 0 : 128);
    else
        return false;
    return true;
}

static int outlast(void *state) {
    struct pt_stopping *s = state;
    struct pollfd polled = { .fd = signal_fd, .events = POLLIN };
    struct signalfd_siginfo info;
    int code = 0;
    if (!s->child || s->child->pid <= 0 || s->child->barrier_fd >= 0)
        return PT_EXIT_OWN_FAILURE; /* a command that waits for its start ends with Pitot */
    if (!has_ended(s->child, &code))
        say("pitot: warning: recording has ended; waiting for the command to exit\n");
    while (!has_ended(s->child, &code)) {
        poll(&polled, 1, LOOK_EVERY_MS);
        while (read(signal_fd, &info, sizeof info) == sizeof info)
            (void)pt_stopping_take(s, &info);
        pt_stopping_escalate(s, pt_mono_ns());
    }
    if (s->child->cgroup_path[0])
        rmdir(s->child->cgroup_path);
    for (int i = 0; i < s->child->controller_count; i++)
        rmdir(s->child->controllers[i].path);
    return code ? code : PT_EXIT_OWN_FAILURE;
}

void pt_outlast_set(struct pt_stopping *stopping, int fd) {
    signal_fd = fd;
    pt_mem_set_last_resort(stopping ? outlast : NULL, stopping);
}
