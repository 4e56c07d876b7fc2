#include "launch/waiting.h"

#include "launch/outlast.h"
#include "launch/signals.h"
#include "base/clock.h"
#include "base/log.h"

#include <poll.h>
#include <unistd.h>

void pt_waiting_init(struct pt_waiting *w, struct pt_child *child) {
    *w = (struct pt_waiting){ .child = child, .signal_fd = -1, .target_fd = -1 };
    if (child)
        pt_child_init(child);
}

int pt_waiting_open(struct pt_waiting *w, int64_t grace_ns, struct pt_err *err) {
    w->signal_fd = pt_signals_block(w->child != NULL, &w->old_mask, err);
    if (w->signal_fd < 0)
        return w->signal_fd;
    pt_stopping_open(&w->stopping, w->child, grace_ns);
    pt_outlast_set(&w->stopping, w->signal_fd);
    return 0;
}

void pt_waiting_close(struct pt_waiting *w) {
    pt_outlast_set(NULL, -1);
    if (w->signal_fd >= 0)
        close(w->signal_fd);
    if (w->target_fd >= 0)
        close(w->target_fd);
    w->signal_fd = w->target_fd = -1;
    pt_stopping_close(&w->stopping);
    if (w->child)
        pt_child_close(w->child);
    pt_stopping_end_alike(&w->stopping);
}

int pt_waiting_create_command(struct pt_waiting *w, const struct pt_fs *fs, char *const *command,
                              struct pt_environment *environment, struct pt_err *err) {
    struct pt_child_options options = {
        .fs = fs, .argv = command, .environment = environment->at, .signal_mask = &w->old_mask
    };
    int rc = pt_child_create(w->child, &options, err);
    pt_environment_release(environment);
    return rc;
}

static void wait_for_events(struct pt_waiting *w, int64_t end_ns) {
    struct pollfd polled[] = { { .fd = w->signal_fd, .events = POLLIN },
                               { .fd = w->target_fd, .events = POLLIN } };
    int64_t deadline_ns = pt_stopping_deadline(&w->stopping);
    deadline_ns = end_ns && end_ns < deadline_ns ? end_ns : deadline_ns;
    int64_t left_ns = deadline_ns - pt_mono_ns();
    left_ns = left_ns < 0 ? 0 : left_ns < PT_NS_PER_SECOND ? left_ns : PT_NS_PER_SECOND;
    poll(polled, 2, (int)(left_ns / PT_NS_PER_MS) + 1);
    struct signalfd_siginfo info;
    while (read(w->signal_fd, &info, sizeof info) == sizeof info)
        w->must_stop |= pt_stopping_take(&w->stopping, &info);
    int64_t now_ns = pt_mono_ns();
    pt_stopping_escalate(&w->stopping, now_ns);
    bool has_ended = polled[1].revents || (w->child && w->child->has_ended);
    if (has_ended || (end_ns && now_ns >= end_ns))
        w->must_stop = true;
}

void pt_waiting_until_end(struct pt_waiting *w, int64_t duration_ns) {
    int64_t end_ns = duration_ns ? pt_mono_ns() + duration_ns : 0;
    while (!w->must_stop)
        wait_for_events(w, end_ns);
}

void pt_waiting_for_command(struct pt_waiting *w) {
    if (!w->child)
        return;
    pt_stopping_begin(&w->stopping, pt_mono_ns());
    while (!w->child->has_ended)
        wait_for_events(w, 0);
    pt_child_collect(w->child);
}
