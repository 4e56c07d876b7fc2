/* doctor/doctor_finding.h -- functions that checks share, and the list of checks. */
#ifndef PT_DOCTOR_DOCTOR_FINDING_H
#define PT_DOCTOR_DOCTOR_FINDING_H

#include "doctor/doctor.h"
#include "base/module.h"

/* The text of a finding; a bad one comes with a remedy. */
void pt_finding_ok(struct pt_finding *f, const char *format, ...) PT_PRINTF(2, 3);
void pt_finding_bad(struct pt_finding *f, enum pt_doctor_state state, const char *remedy,
                    const char *format, ...) PT_PRINTF(4, 5);
/* A missing capability ("net_admin"); `rc` is the -errno of the attempt. */
void pt_finding_denied(struct pt_finding *f, enum pt_doctor_state state, const char *capability,
                       int rc);
/* Appends to the remedy how to get a capability. */
void pt_finding_add_capability(struct pt_finding *f, const char *name);
/* For checks that need system calls, on files copied from another machine: not tested. */
bool pt_finding_is_foreign(const struct pt_fs *fs, struct pt_finding *f);

/* 0 if the file can be read to its end, else -errno. */
int pt_doctor_try_read(int directory, const char *path) PT_MUST_CHECK;
/* Calls `visit` with each name until it returns false; a missing directory has no names. */
void pt_doctor_each_name(int directory, const char *path,
                         bool (*visit)(const char *name, void *state), void *state);
/* Whether this is a virtual machine. */
bool pt_doctor_is_guest(const struct pt_fs *fs);

void pt_check_kernel(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_procfs(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_output(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_tick(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_clock(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_memory(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_nofile(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_hidepid(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_process_io(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_smaps(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_priority(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_proc_events(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_taskstats(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_diskstats(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_pressure(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_cgroup(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_own_cgroup(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_cpufreq(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_perf(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_cpu_profile(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_confined(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_pmu(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_kptr(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_rapl(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_nvml(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_dri(const struct pt_fs *fs, struct pt_finding *f);
void pt_check_gpu_tools(const struct pt_fs *fs, struct pt_finding *f);

#endif
