/* doctor/doctor_host.c -- checks of what recording the host needs. */
#include "doctor/doctor_finding.h"

#include "base/clock.h"
#include "store/static_cgroup.h"
#include "store/static_machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB INT64_C(1048576)

void pt_check_kernel(const struct pt_fs *fs, struct pt_finding *f) {
    static const char remedy[] = "update to Linux 5.10 or later";
    char release[128];
    if (pt_fs_read_line(fs->proc, "sys/kernel/osrelease", release, sizeof release)) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED, remedy, "version unknown");
        return;
    }
    struct pt_scan s = pt_scan_of(pt_str_from(release));
    int64_t major = pt_scan_i64(&s);
    (void)pt_scan_take(&s, PT_STR("."));
    int64_t minor = pt_scan_i64(&s);
    if (s.failed || major < 5 || (major == 5 && minor < 10))
        pt_finding_bad(f, PT_DOCTOR_LIMITED, remedy, "Linux %s: no pidfd, clone3 or cgroup.kill",
                       release);
    else
        pt_finding_ok(f, "Linux %s", release);
}

static bool count_pid(const char *name, void *state) {
    *(int *)state += isdigit((unsigned char)name[0]) != 0;
    return true;
}

void pt_check_procfs(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const files[] = { "stat", "meminfo" };
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        int rc = pt_doctor_try_read(fs->proc, files[i]);
        if (!rc)
            continue;
        pt_finding_bad(f, PT_DOCTOR_MISSING, "mount -t proc proc /proc, or set --path.procfs",
                       "cannot read %s: %s", files[i], strerror(-rc));
        return;
    }
    int count = 0;
    pt_doctor_each_name(fs->proc, ".", count_pid, &count);
    pt_finding_ok(f, "readable, %d processes", count);
}

void pt_check_output(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    const char *directory = access("profiler-output", F_OK) ? "." : "./profiler-output";
    const char *name = strcmp(directory, ".") == 0 ? "the current directory" : directory;
    struct statvfs space;
    if (access(directory, W_OK | X_OK) || statvfs(directory, &space)) {
        pt_finding_bad(f, PT_DOCTOR_MISSING, "set a writable directory with -o DIR",
                       "cannot write to %s: %s", name, strerror(errno));
        return;
    }
    double free_mib = (double)space.f_bavail * (double)space.f_frsize / (double)MIB;
    if (free_mib < 256)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "free some space, or use another disk with -o DIR",
                       "only %.0f MB free in %s", free_mib, name);
    else
        pt_finding_ok(f, "%s is writable, %.1f GB free", name, free_mib / 1024);
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The files that each tick reads; the median of several rounds. */
void pt_check_tick(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const files[] = { "stat",    "meminfo", "diskstats",
                                         "net/dev", "loadavg", "vmstat" };
    int64_t took_ns[15];
    struct pt_text buffer = { 0 };
    for (size_t round = 0; round < PT_COUNT(took_ns); round++) {
        struct pt_scan text;
        int64_t start_ns = pt_mono_ns();
        for (size_t i = 0; i < PT_COUNT(files); i++)
            (void)!pt_fs_read(fs->proc, files[i], &buffer, &text);
        took_ns[round] = pt_mono_ns() - start_ns;
    }
    pt_text_release(&buffer);
    qsort(took_ns, PT_COUNT(took_ns), sizeof took_ns[0], by_time);
    double micros = (double)took_ns[PT_COUNT(took_ns) / 2] / (double)PT_NS_PER_US;
    if (micros > 10000)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "sample less often: -t 10000",
                       "%.0f us to read the host's files: slow", micros);
    else
        pt_finding_ok(f,
                      "%.0f us to read the host's files: %.4f %% of a CPU at one tick per second",
                      micros, micros / 1e4);
}

void pt_check_clock(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const fast[] = { "tsc", "kvm-clock", "arch_sys_counter",
                                        "hyperv_clocksource_tsc_page" };
    char source[64];
    if (pt_fs_read_line(fs->sys, "devices/system/clocksource/clocksource0/current_clocksource",
                        source, sizeof source)) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "mount -t sysfs sysfs /sys", "unknown: not in /sys");
        return;
    }
    for (size_t i = 0; i < PT_COUNT(fast); i++) {
        if (strcmp(source, fast[i]) == 0) {
            pt_finding_ok(f, "%s, read without a system call", source);
            return;
        }
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED,
                   "if the TSC is reliable, boot with clocksource=tsc tsc=reliable",
                   "%s: each timestamp costs at least a system call", source);
}

void pt_check_memory(const struct pt_fs *fs, struct pt_finding *f) {
    struct pt_text buffer = { 0 };
    struct pt_scan text, line;
    int64_t kib = -1;
    int rc = pt_fs_read(fs->proc, "meminfo", &buffer, &text);
    while (!rc && kib < 0 && pt_scan_line(&text, &line)) {
        if (pt_scan_take(&line, PT_STR("MemAvailable:")))
            kib = pt_scan_i64(&line);
    }
    pt_text_release(&buffer);
    if (kib < 0)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "update to Linux 3.14 or later",
                       "available memory is unknown");
    else if (kib < 64 * 1024)
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       "free some memory, or record to a disk instead of a tmpfs",
                       "only %lld MB available", (long long)kib / 1024);
    else
        pt_finding_ok(f, "%.1f GB available", (double)kib / 1024 / 1024);
}

void pt_check_nofile(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "ulimit -n 65536", "unknown: %s", strerror(errno));
        return;
    }
    long long soft = (long long)limit.rlim_cur, hard = (long long)limit.rlim_max;
    if (limit.rlim_max != RLIM_INFINITY && hard < 4096)
        pt_finding_bad(
            f, PT_DOCTOR_LIMITED, "ulimit -Hn 65536 as root, or LimitNOFILE= in the service",
            "%lld, at most %lld: files of busy processes are reopened at each tick", soft, hard);
    else if (soft < hard)
        pt_finding_ok(f, "%lld, can be raised to %lld", soft, hard);
    else
        pt_finding_ok(f, "%lld", soft);
}

struct off_disks {
    const struct pt_fs *fs;
    char name[64]; /* the first disk with statistics off */
};

static bool find_off_disk(const char *name, void *state) {
    struct off_disks *off = state;
    char path[320];
    int64_t is_on;
    snprintf(path, sizeof path, "block/%s/queue/iostats", name);
    if (!pt_static_is_whole_disk(name) || pt_fs_read_i64(off->fs->sys, path, &is_on) || is_on)
        return true;
    pt_str_copy(off->name, sizeof off->name, pt_str_from(name));
    return false;
}

void pt_check_diskstats(const struct pt_fs *fs, struct pt_finding *f) {
    struct off_disks off = { .fs = fs };
    int rc = pt_doctor_try_read(fs->proc, "diskstats");
    if (rc) {
        pt_finding_bad(f, PT_DOCTOR_MISSING, "use a kernel with CONFIG_PROC_FS and CONFIG_BLOCK",
                       "cannot read diskstats: %s", strerror(-rc));
        return;
    }
    pt_doctor_each_name(fs->sys, "block", find_off_disk, &off);
    if (!off.name[0]) {
        pt_finding_ok(f, "counted");
        return;
    }
    pt_finding_bad(f, PT_DOCTOR_LIMITED, "", "switched off for %s", off.name);
    snprintf(f->remedy, sizeof f->remedy, "echo 1 | sudo tee /sys/block/%s/queue/iostats",
             off.name);
}

void pt_check_pressure(const struct pt_fs *fs, struct pt_finding *f) {
    int rc = pt_doctor_try_read(fs->proc, "pressure/cpu");
    if (rc == 0)
        pt_finding_ok(f, "cpu, memory, io");
    else if (rc == -EOPNOTSUPP)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "boot with psi=1 on the kernel command line",
                       "compiled in, but switched off");
    else
        pt_finding_bad(f, PT_DOCTOR_MISSING, "use a kernel (4.20 or later) with CONFIG_PSI=y",
                       "no /proc/pressure: %s", strerror(-rc));
}

void pt_check_cgroup(const struct pt_fs *fs, struct pt_finding *f) {
    enum pt_cgroup_layout layout = pt_static_cgroup_layout(fs);
    if (layout == PT_CGROUP_NONE)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "mount -t cgroup2 none /sys/fs/cgroup",
                       "/sys/fs/cgroup is empty: no container metrics");
    else
        pt_finding_ok(f, "%s", pt_static_cgroup_name(layout));
}
