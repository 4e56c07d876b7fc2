#include "launch/stopping.h"

#include "base/clock.h"
#include "base/log.h"

#define GRACE_NS  (2 * PT_NS_PER_SECOND) /* from the first signal to SIGKILL */
#define REMIND_NS PT_NS_PER_SECOND       /* SIGTERM for a command that ignored SIGINT */

/* A signal of the terminal has already reached the command: it is in the same process group. */
static void forward(const struct pt_stopping *s, const struct signalfd_siginfo *info) {
    if (info->ssi_code != SI_KERNEL)
        pt_child_signal(s->child, (int)info->ssi_signo);
}

static void kill_all(struct pt_stopping *s) {
    pt_child_kill_tree(s->child);
    s->has_killed = true;
}

bool pt_stopping_take(struct pt_stopping *s, const struct signalfd_siginfo *info) {
    bool has_command = s->child && !s->child->has_ended;
    switch (info->ssi_signo) {
    case SIGCHLD:
        if (s->child)
            pt_child_reap(s->child);
        return false;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        if (!has_command)
            return true;
        if (s->asked_ns) {
            kill_all(s);
        } else {
            s->asked_ns = pt_mono_ns();
            s->has_reminded = info->ssi_signo == SIGTERM;
            forward(s, info);
        }
        return false;
    default:
        if (has_command)
            forward(s, info);
        return false;
    }
}

static bool must_escalate(const struct pt_stopping *s) {
    return s->asked_ns && !s->has_killed && !s->is_patient;
}

void pt_stopping_escalate(struct pt_stopping *s, int64_t now_ns) {
    if (!must_escalate(s) || s->child->has_ended)
        return;
    if (!s->has_reminded && now_ns - s->asked_ns >= REMIND_NS) {
        pt_child_signal(s->child, SIGTERM);
        s->has_reminded = true;
    }
    if (now_ns - s->asked_ns >= GRACE_NS) {
        pt_log(PT_LOG_WARNING,
               "the command did not end within 2 s; killing it and all processes it started");
        kill_all(s);
    }
}

int64_t pt_stopping_deadline(const struct pt_stopping *s) {
    if (!must_escalate(s))
        return INT64_MAX;
    return s->asked_ns + (s->has_reminded ? GRACE_NS : REMIND_NS);
}
