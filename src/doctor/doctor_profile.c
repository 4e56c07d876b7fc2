/* doctor/doctor_profile.c -- checks which method would sample CPU time, and why not a better
 * one. */
#include "doctor/doctor_finding.h"

#include "profile/run/cpu_sampling.h"

#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANY_PROGRAM "sh"
#define KERNEL_KNOB "sudo sysctl kernel.perf_event_paranoid=1"

/* Tested on this process: the rules are the same for others of the same user. */
static bool may_read_memory(void) {
    char from = 1, to = 0;
    struct iovec local = { &to, 1 }, remote = { &from, 1 };
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

static void describe(const struct pt_cpu_sampling *s, struct pt_finding *f) {
    bool can_read = may_read_memory();
    if (s->method == PT_CPU_TIMER) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED, s->refused.text,
                       "timers inside commands, without kernel frames; running processes: %s",
                       can_read ? "Python frames only" : "nothing");
        return;
    }
    if (s->method == PT_CPU_PYTHON) {
        pt_finding_bad(f, can_read ? PT_DOCTOR_LIMITED : PT_DOCTOR_MISSING, s->refused.text,
                       can_read ? "Python frames only"
                                : "not possible: process_vm_readv is not permitted either");
        return;
    }
    if (s->has_kernel) {
        pt_finding_ok(f, "perf events, with kernel frames");
        return;
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED, KERNEL_KNOB, "perf events, without kernel frames");
    pt_finding_add_capability(f, "perfmon");
}

void pt_check_cpu_profile(const struct pt_fs *fs, struct pt_finding *f) {
    struct pt_cpu_sampling s = { .is_started = false };
    struct pt_err err;
    struct pt_cpu_sampling_options o = {
        .fs = fs,
        .how = { .rate_hz = 99, .stack_bytes = 8 << 10, .wants_python = true },
        .program = ANY_PROGRAM
    };
    if (pt_finding_is_foreign(fs, f))
        return;
    if (pt_elf_check(&err))
        pt_finding_bad(f, PT_DOCTOR_MISSING, "apt install libdw1", "%s", err.text);
    else if (pt_cpu_sampling_choose(&s, &o, &err))
        pt_finding_bad(f, PT_DOCTOR_MISSING, s.refused.text, "sampling is not possible");
    else
        describe(&s, f);
    pt_cpu_sampling_release(&s);
}
