/* doctor/doctor_probe.h -- tries what the kernel allows. All return 0 or -errno, leave no trace. */
#ifndef PT_DOCTOR_DOCTOR_PROBE_H
#define PT_DOCTOR_DOCTOR_PROBE_H

#include "base/fs.h"

enum pt_probe_scope { PT_PROBE_OWN_USER, PT_PROBE_OWN, PT_PROBE_MACHINE };

/* Samples by the cpu-clock: of ourselves outside of the kernel, of ourselves, of all CPUs. */
int pt_probe_perf_clock(enum pt_probe_scope scope) PT_MUST_CHECK;
/* Counts cycles of ourselves; -ENOENT: there is no PMU. */
int pt_probe_perf_cycles(void) PT_MUST_CHECK;
/* Births and deaths of processes; -ETIMEDOUT: the kernel does not talk to this namespace. */
int pt_probe_proc_events(void) PT_MUST_CHECK;
/* Accounting of a process over generic netlink. */
int pt_probe_taskstats(void) PT_MUST_CHECK;
/* Makes a group below ours in the v2 hierarchy and removes it. */
int pt_probe_child_cgroup(const struct pt_fs *fs, const char *base) PT_MUST_CHECK;

#endif
