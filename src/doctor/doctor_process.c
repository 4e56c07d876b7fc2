/* doctor/doctor_process.c -- checks of what can be recorded about processes and cgroups. */
#include "doctor/doctor_finding.h"

#include "doctor/doctor_probe.h"
#include "store/static_cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>

void pt_check_hidepid(const struct pt_fs *fs, struct pt_finding *f) {
    int rc = pt_doctor_try_read(fs->proc, "1/stat");
    if (!rc) {
        pt_finding_ok(f, "visible");
        return;
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED, "sudo mount -o remount,hidepid=0 /proc",
                   "hidden: only own processes are visible (%s)", strerror(-rc));
    pt_finding_add_capability(f, "sys_ptrace");
}

void pt_check_own_cgroup(const struct pt_fs *fs, struct pt_finding *f) {
    enum pt_cgroup_layout layout = pt_static_cgroup_layout(fs);
    if (pt_finding_is_foreign(fs, f))
        return;
    if (layout != PT_CGROUP_V2 && layout != PT_CGROUP_HYBRID) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       "boot with systemd.unified_cgroup_hierarchy=1, or: mount -t cgroup2 none "
                       "/sys/fs/cgroup/unified",
                       "no v2 hierarchy: Pitot follows parent processes instead");
        return;
    }
    int rc = pt_probe_child_cgroup(fs, layout == PT_CGROUP_V2 ? "fs/cgroup" : "fs/cgroup/unified");
    if (rc)
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       "run as root, or: systemd-run --user --scope -p Delegate=yes pitot ...",
                       "not permitted (%s): Pitot follows parent processes instead", strerror(-rc));
    else
        pt_finding_ok(f, "permitted: exact totals of the command's process tree");
}

void pt_check_proc_events(const struct pt_fs *fs, struct pt_finding *f) {
    if (pt_finding_is_foreign(fs, f))
        return;
    int rc = pt_probe_proc_events();
    if (rc == 0)
        pt_finding_ok(f, "process starts and exits are reported");
    else if (rc == -EPROTONOSUPPORT || rc == -ECONNREFUSED)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "use a kernel with CONFIG_PROC_EVENTS=y",
                       "not supported by this kernel");
    else if (rc == -ETIMEDOUT)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "run on the host, not in a container",
                       "the kernel does not report to this pid namespace");
    else
        pt_finding_denied(f, PT_DOCTOR_MISSING, "net_admin", rc);
}

void pt_check_taskstats(const struct pt_fs *fs, struct pt_finding *f) {
    if (pt_finding_is_foreign(fs, f))
        return;
    int rc = pt_probe_taskstats();
    if (rc == 0)
        pt_finding_ok(f, "accounting of processes that exit between two ticks");
    else if (rc == -ENOENT || rc == -EPROTONOSUPPORT)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "use a kernel with CONFIG_TASKSTATS=y",
                       "not supported by this kernel");
    else
        pt_finding_denied(f, PT_DOCTOR_MISSING, "net_admin", rc);
}

static int try_open(int directory, const char *path) {
    struct pt_file file = { 0 };
    int rc = pt_file_open(&file, directory, path);
    pt_file_close(&file);
    return rc;
}

/* Counts the processes with a readable file. */
struct reach {
    const struct pt_fs *fs;
    const char *file;
    int (*try)(int directory, const char *path);
    int total, allowed;
};

static bool reach_process(const char *name, void *state) {
    struct reach *reach = state;
    char path[300];
    if (!isdigit((unsigned char)name[0]))
        return true;
    snprintf(path, sizeof path, "%s/%s", name, reach->file);
    int rc = reach->try(reach->fs->proc, path);
    /* exited, or a kernel thread without memory */
    if (rc && rc != -EACCES && rc != -EPERM)
        return true;
    reach->total++;
    reach->allowed += rc == 0;
    return true;
}

/* "CapEff:	000001ffffffffff" of our own status. */
static bool has_capability(const struct pt_fs *fs, int number) {
    struct pt_text buffer = { 0 };
    struct pt_scan text, line;
    uint64_t effective = 0;
    int rc = pt_fs_read(fs->proc, "self/status", &buffer, &text);
    while (!rc && pt_scan_line(&text, &line)) {
        if (pt_scan_take(&line, PT_STR("CapEff:")))
            effective = pt_scan_hex(&line);
    }
    pt_text_release(&buffer);
    return effective >> number & 1;
}

/* As pt_thread_hurry() sees it: the limit is 20 minus the lowest nice value. */
void pt_check_priority(const struct pt_fs *fs, struct pt_finding *f) {
    struct rlimit limit = { 0 };
    if (pt_finding_is_foreign(fs, f))
        return;
    bool is_within = !getrlimit(RLIMIT_NICE, &limit) &&
                     (limit.rlim_cur == RLIM_INFINITY ||
                      20 - (int)limit.rlim_cur < getpriority(PRIO_PROCESS, 0));
    if (has_capability(fs, CAP_SYS_NICE) || is_within) {
        pt_finding_ok(f, "raised: samples stay on time under load");
        return;
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED, "run as root, or raise the limit of nice (ulimit -e)",
                   "not permitted to raise it: samples may be late under load");
    pt_finding_add_capability(f, "sys_nice");
}

static void report_reach(struct reach *reach, const char *kernel_remedy, struct pt_finding *f) {
    char own[64];
    snprintf(own, sizeof own, "self/%s", reach->file);
    int rc = reach->try(reach->fs->proc, own);
    if (rc) {
        pt_finding_bad(f, PT_DOCTOR_MISSING, kernel_remedy, "no /proc/PID/%s: %s", reach->file,
                       strerror(-rc));
        return;
    }
    pt_doctor_each_name(reach->fs->proc, ".", reach_process, reach);
    if (reach->allowed == reach->total) {
        pt_finding_ok(f, "readable for all processes");
        return;
    }
    if (has_capability(reach->fs, CAP_SYS_PTRACE)) {
        pt_finding_ok(f, "readable for %d of %d processes, the others are protected",
                      reach->allowed, reach->total);
        return;
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED, "", "readable for %d of %d processes", reach->allowed,
                   reach->total);
    pt_finding_add_capability(f, "sys_ptrace");
}

void pt_check_process_io(const struct pt_fs *fs, struct pt_finding *f) {
    struct reach reach = { .fs = fs, .file = "io", .try = pt_doctor_try_read };
    report_reach(&reach, "use a kernel with CONFIG_TASK_IO_ACCOUNTING=y", f);
}

/* Permissions are checked at open; reading takes a millisecond or more per process. */
void pt_check_smaps(const struct pt_fs *fs, struct pt_finding *f) {
    struct reach reach = { .fs = fs, .file = "smaps_rollup", .try = try_open };
    report_reach(&reach, "use Linux 4.14 or later with CONFIG_PROC_PAGE_MONITOR=y", f);
}
