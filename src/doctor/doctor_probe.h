/* doctor/doctor_probe.h -- tests what the kernel permits. All return 0 or -errno, without
 * traces. */
#ifndef PT_DOCTOR_DOCTOR_PROBE_H
#define PT_DOCTOR_DOCTOR_PROBE_H

#include "base/fs.h"

enum pt_probe_scope { PT_PROBE_OWN_USER, PT_PROBE_OWN, PT_PROBE_MACHINE };

/* Samples by the cpu-clock: this process without the kernel, this process, all CPUs. */
int pt_probe_perf_clock(enum pt_probe_scope scope) PT_MUST_CHECK;
/* Counts cycles of this process; -ENOENT: there is no PMU. */
int pt_probe_perf_cycles(void) PT_MUST_CHECK;
/* Process events; -ETIMEDOUT: the kernel does not send them to this namespace. */
int pt_probe_proc_events(void) PT_MUST_CHECK;
/* Accounting of a process over generic netlink. */
int pt_probe_taskstats(void) PT_MUST_CHECK;
/* Creates and removes a cgroup below Pitot's own in the v2 hierarchy. */
int pt_probe_child_cgroup(const struct pt_fs *fs, const char *base) PT_MUST_CHECK;

#endif
