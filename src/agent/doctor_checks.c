/* The checks of `pitot doctor`, in the order they are printed. */
#include "agent/doctor.h"

#include "agent/doctor_probe.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kernel/cpuinfo.h"
#include "store/static_cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB           INT64_C(1048576)
#define PTRACE_REMEDY "run as root, or: sudo setcap cap_sys_ptrace+ep $(command -v pitot)"
#define NETLINK_REMEDY \
    "run as root on the host, or: sudo setcap cap_net_admin+ep $(command -v pitot)"

static void set_ok(struct pt_finding *f, const char *format, ...) PT_PRINTF(2, 3);
static void set_bad(struct pt_finding *f, enum pt_doctor_state state, const char *remedy,
                    const char *format, ...) PT_PRINTF(4, 5);

static void set_ok(struct pt_finding *f, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->found, sizeof f->found, format, args);
    va_end(args);
    f->state = PT_DOCTOR_OK;
}

static void set_bad(struct pt_finding *f, enum pt_doctor_state state, const char *remedy,
                    const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->found, sizeof f->found, format, args);
    va_end(args);
    f->state = state;
    pt_str_copy(f->remedy, sizeof f->remedy, pt_str_from(remedy));
}

/* What needs a system call cannot be tried on a copy of another machine's files. */
static bool is_foreign(const struct pt_fs *fs, struct pt_finding *f) {
    if (!fs->is_live)
        set_bad(f, PT_DOCTOR_LIMITED, "run pitot doctor on that machine, with its own /proc",
                "not tried: /proc is not this machine's own");
    return !fs->is_live;
}

/* 0 if the file can be read to its end, else -errno. */
static int try_read(int directory, const char *path) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int rc = pt_fs_read(directory, path, &buffer, &text);
    pt_text_release(&buffer);
    return rc;
}

static bool is_guest(const struct pt_fs *fs) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    struct pt_cpuinfo cpu = { 0 };
    if (!pt_fs_read(fs->proc, "cpuinfo", &buffer, &text))
        pt_cpuinfo_parse(text, &cpu);
    pt_text_release(&buffer);
    return cpu.is_guest;
}

/* Calls `visit` with each name until it returns false. -errno if there is no such directory. */
static int each_name(int directory, const char *path, bool (*visit)(const char *name, void *state),
                     void *state) {
    int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    DIR *entries = fdopendir(fd);
    if (!entries) {
        close(fd);
        return -ENOMEM;
    }
    struct dirent *entry = readdir(entries);
    while (entry && (entry->d_name[0] == '.' || visit(entry->d_name, state)))
        entry = readdir(entries);
    closedir(entries);
    return 0;
}

static void check_kernel(const struct pt_fs *fs, struct pt_finding *f) {
    static const char remedy[] = "update to Linux 5.10 or later";
    char release[128];
    if (pt_fs_read_line(fs->proc, "sys/kernel/osrelease", release, sizeof release)) {
        set_bad(f, PT_DOCTOR_LIMITED, remedy, "version unknown");
        return;
    }
    struct pt_scan s = pt_scan_of(pt_str_from(release));
    int64_t major = pt_scan_i64(&s);
    (void)pt_scan_take(&s, PT_STR("."));
    int64_t minor = pt_scan_i64(&s);
    if (s.failed || major < 5 || (major == 5 && minor < 10))
        set_bad(f, PT_DOCTOR_LIMITED, remedy, "Linux %s: no pidfd, clone3 or cgroup.kill", release);
    else
        set_ok(f, "Linux %s", release);
}

static bool count_pid(const char *name, void *state) {
    *(int *)state += isdigit((unsigned char)name[0]) != 0;
    return true;
}

static void check_procfs(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const files[] = { "stat", "meminfo" };
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        int rc = try_read(fs->proc, files[i]);
        if (!rc)
            continue;
        set_bad(f, PT_DOCTOR_MISSING, "mount -t proc proc /proc, or name it with --path.procfs",
                "cannot read %s: %s", files[i], strerror(-rc));
        return;
    }
    int count = 0;
    (void)!each_name(fs->proc, ".", count_pid, &count);
    set_ok(f, "readable, %d processes", count);
}

static void check_hidepid(const struct pt_fs *fs, struct pt_finding *f) {
    int rc = try_read(fs->proc, "1/stat");
    if (rc)
        set_bad(f, PT_DOCTOR_LIMITED, "sudo mount -o remount,hidepid=0 /proc, or: " PTRACE_REMEDY,
                "only our own: process 1 is hidden (%s)", strerror(-rc));
    else
        set_ok(f, "visible");
}

static void check_output(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    bool exists = access("profiler-output", F_OK) == 0;
    const char *directory = exists ? "./profiler-output" : ".";
    struct statvfs space;
    if (access(directory, W_OK | X_OK)) {
        set_bad(f, PT_DOCTOR_MISSING, "name a directory you may write to with -o DIR",
                "cannot write to %s: %s", exists ? directory : "the current directory",
                strerror(errno));
        return;
    }
    int64_t free_mib =
        statvfs(directory, &space)
            ? -1
            : (int64_t)((double)space.f_bavail * (double)space.f_frsize / (double)MIB);
    if (free_mib >= 0 && free_mib < 256)
        set_bad(f, PT_DOCTOR_LIMITED, "make room, or name another disk with -o DIR",
                "only %lld MB free", (long long)free_mib);
    else
        set_ok(f, "%s is writable, %.1f GB free", exists ? directory : "current directory",
               (double)free_mib / 1024);
}

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The files that every tick reads; the middle of several rounds. */
static void check_tick(const struct pt_fs *fs, struct pt_finding *f) {
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
        set_bad(f, PT_DOCTOR_LIMITED, "sample less often: -t 10000",
                "%.0f us to read the host's files: slow", micros);
    else
        set_ok(f, "%.0f us to read the host's files, %.4f %% of a CPU at one per second", micros,
               micros / 1e4);
}

static void check_clock(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const fast[] = { "tsc", "kvm-clock", "arch_sys_counter",
                                        "hyperv_clocksource_tsc_page" };
    char source[64];
    if (pt_fs_read_line(fs->sys, "devices/system/clocksource/clocksource0/current_clocksource",
                        source, sizeof source)) {
        set_bad(f, PT_DOCTOR_LIMITED, "mount -t sysfs sysfs /sys", "unknown: /sys does not say");
        return;
    }
    for (size_t i = 0; i < PT_COUNT(fast); i++) {
        if (strcmp(source, fast[i]) == 0) {
            set_ok(f, "%s, read without a system call", source);
            return;
        }
    }
    set_bad(f, PT_DOCTOR_LIMITED, "if the TSC is sound, boot with clocksource=tsc tsc=reliable",
            "%s: each time stamp costs a system call or more", source);
}

static void check_memory(const struct pt_fs *fs, struct pt_finding *f) {
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
        set_bad(f, PT_DOCTOR_LIMITED, "update to Linux 3.14 or later",
                "how much is available is not known");
    else if (kib < 64 * 1024)
        set_bad(f, PT_DOCTOR_LIMITED, "free some, or record to a disk and not to a tmpfs",
                "only %lld MB available", (long long)kib / 1024);
    else
        set_ok(f, "%.1f GB available", (double)kib / 1024 / 1024);
}

static void check_nofile(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) {
        set_bad(f, PT_DOCTOR_LIMITED, "ulimit -n 65536", "unknown: %s", strerror(errno));
        return;
    }
    long long soft = (long long)limit.rlim_cur, hard = (long long)limit.rlim_max;
    if (limit.rlim_max != RLIM_INFINITY && hard < 4096)
        set_bad(f, PT_DOCTOR_LIMITED, "ulimit -Hn 65536 as root, or LimitNOFILE= in the service",
                "%lld, at most %lld: files of busy processes are opened again each time", soft,
                hard);
    else
        set_ok(f, "%lld, can be raised to %lld", soft, hard);
}

struct off_disks {
    const struct pt_fs *fs;
    char name[64]; /* the first one that does not count */
};

static bool find_off_disk(const char *name, void *state) {
    struct off_disks *off = state;
    char path[320];
    int64_t is_on;
    snprintf(path, sizeof path, "block/%s/queue/iostats", name);
    if (pt_fs_read_i64(off->fs->sys, path, &is_on) || is_on)
        return true;
    pt_str_copy(off->name, sizeof off->name, pt_str_from(name));
    return false;
}

static void check_diskstats(const struct pt_fs *fs, struct pt_finding *f) {
    struct off_disks off = { .fs = fs };
    int rc = try_read(fs->proc, "diskstats");
    if (rc) {
        set_bad(f, PT_DOCTOR_MISSING, "a kernel with CONFIG_PROC_FS and CONFIG_BLOCK",
                "cannot read diskstats: %s", strerror(-rc));
        return;
    }
    (void)!each_name(fs->sys, "block", find_off_disk, &off);
    if (!off.name[0]) {
        set_ok(f, "counted");
        return;
    }
    set_bad(f, PT_DOCTOR_LIMITED, "", "switched off for %s", off.name);
    snprintf(f->remedy, sizeof f->remedy, "echo 1 | sudo tee /sys/block/%s/queue/iostats",
             off.name);
}

static void check_pressure(const struct pt_fs *fs, struct pt_finding *f) {
    int rc = try_read(fs->proc, "pressure/cpu");
    if (rc == 0)
        set_ok(f, "cpu, memory, io");
    else if (rc == -EOPNOTSUPP)
        set_bad(f, PT_DOCTOR_MISSING, "boot with psi=1 on the kernel's command line",
                "built in, but switched off");
    else
        set_bad(f, PT_DOCTOR_MISSING, "a kernel (4.20 or later) with CONFIG_PSI=y",
                "no /proc/pressure: %s", strerror(-rc));
}

static void check_cgroup(const struct pt_fs *fs, struct pt_finding *f) {
    enum pt_cgroup_layout layout = pt_static_cgroup_layout(fs);
    if (layout == PT_CGROUP_NONE)
        set_bad(f, PT_DOCTOR_MISSING, "mount -t cgroup2 none /sys/fs/cgroup",
                "nothing at /sys/fs/cgroup: no container metrics");
    else
        set_ok(f, "%s", pt_static_cgroup_name(layout));
}

static void check_own_cgroup(const struct pt_fs *fs, struct pt_finding *f) {
    enum pt_cgroup_layout layout = pt_static_cgroup_layout(fs);
    if (is_foreign(fs, f))
        return;
    if (layout != PT_CGROUP_V2 && layout != PT_CGROUP_HYBRID) {
        set_bad(f, PT_DOCTOR_LIMITED,
                "boot with systemd.unified_cgroup_hierarchy=1, or: mount -t cgroup2 none "
                "/sys/fs/cgroup/unified",
                "no v2 hierarchy: the command's tree is followed by parent process");
        return;
    }
    int rc = pt_probe_child_cgroup(fs, layout == PT_CGROUP_V2 ? "fs/cgroup" : "fs/cgroup/unified");
    if (rc)
        set_bad(f, PT_DOCTOR_LIMITED,
                "run as root, or: systemd-run --user --scope -p Delegate=yes pitot ...",
                "cannot make one (%s): the command's tree is followed by parent process",
                strerror(-rc));
    else
        set_ok(f, "the command can get its own: exact totals of its whole tree");
}

static void check_proc_events(const struct pt_fs *fs, struct pt_finding *f) {
    if (is_foreign(fs, f))
        return;
    int rc = pt_probe_proc_events();
    if (rc == 0)
        set_ok(f, "births and deaths of processes are heard");
    else if (rc == -EPROTONOSUPPORT || rc == -ECONNREFUSED)
        set_bad(f, PT_DOCTOR_MISSING, "a kernel with CONFIG_PROC_EVENTS=y", "not in this kernel");
    else if (rc == -ETIMEDOUT)
        set_bad(f, PT_DOCTOR_MISSING, "run on the host, not in a container",
                "the kernel does not tell this pid namespace");
    else
        set_bad(f, PT_DOCTOR_MISSING, NETLINK_REMEDY, "%s", strerror(-rc));
}

static void check_taskstats(const struct pt_fs *fs, struct pt_finding *f) {
    if (is_foreign(fs, f))
        return;
    int rc = pt_probe_taskstats();
    if (rc == 0)
        set_ok(f, "accounting of processes that end between two ticks");
    else if (rc == -ENOENT || rc == -EPROTONOSUPPORT)
        set_bad(f, PT_DOCTOR_MISSING, "a kernel with CONFIG_TASKSTATS=y", "not in this kernel");
    else
        set_bad(f, PT_DOCTOR_MISSING, NETLINK_REMEDY, "%s", strerror(-rc));
}

static void check_process_io(const struct pt_fs *fs, struct pt_finding *f) {
    int rc = try_read(fs->proc, "1/io");
    if (rc == 0)
        set_ok(f, "of all processes");
    else if (rc == -EACCES || rc == -EPERM)
        set_bad(f, PT_DOCTOR_LIMITED, PTRACE_REMEDY, "of our own processes only");
    else
        set_bad(f, PT_DOCTOR_MISSING, "a kernel with CONFIG_TASK_IO_ACCOUNTING=y", "%s",
                strerror(-rc));
}

static void check_smaps(const struct pt_fs *fs, struct pt_finding *f) {
    int own = try_read(fs->proc, "self/smaps_rollup");
    int other = try_read(fs->proc, "1/smaps_rollup");
    if (own)
        set_bad(f, PT_DOCTOR_MISSING, "Linux 4.14 or later with CONFIG_PROC_PAGE_MONITOR=y", "%s",
                strerror(-own));
    else if (other)
        set_bad(f, PT_DOCTOR_LIMITED, PTRACE_REMEDY, "of our own processes only");
    else
        set_ok(f, "of all processes");
}

static void check_cpufreq(const struct pt_fs *fs, struct pt_finding *f) {
    int64_t khz;
    int rc = pt_fs_read_i64(fs->sys, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", &khz);
    if (rc == 0)
        set_ok(f, "now %.2f GHz", (double)khz / 1e6);
    else if (is_guest(fs))
        set_bad(f, PT_DOCTOR_LIMITED, "none: the host of this virtual machine sets the clock",
                "not visible in a virtual machine");
    else
        set_bad(f, PT_DOCTOR_LIMITED,
                "load the driver of the CPU (acpi-cpufreq, intel_pstate, amd-pstate)",
                "no cpufreq driver: %s", strerror(-rc));
}

static void check_perf(const struct pt_fs *fs, struct pt_finding *f) {
    static const char remedy[] = "sudo sysctl kernel.perf_event_paranoid=0, or: sudo setcap "
                                 "cap_perfmon+ep $(command -v pitot); container: --cap-add PERFMON";
    int64_t level = 0;
    if (is_foreign(fs, f))
        return;
    bool has_level = !pt_fs_read_i64(fs->proc, "sys/kernel/perf_event_paranoid", &level);
    int own = pt_probe_perf_clock(PT_PROBE_OWN_USER);
    if (own == -ENOSYS || own == -ENOENT || !has_level)
        set_bad(f, PT_DOCTOR_MISSING, "a kernel with CONFIG_PERF_EVENTS=y", "not in this kernel");
    else if (own)
        set_bad(f, PT_DOCTOR_MISSING, remedy, "not allowed (perf_event_paranoid %lld): %s",
                (long long)level, strerror(-own));
    else if (pt_probe_perf_clock(PT_PROBE_OWN))
        set_bad(f, PT_DOCTOR_LIMITED, remedy,
                "our own processes, without the kernel (perf_event_paranoid %lld)",
                (long long)level);
    else if (pt_probe_perf_clock(PT_PROBE_MACHINE))
        set_bad(f, PT_DOCTOR_LIMITED, remedy,
                "our own processes, with the kernel (perf_event_paranoid %lld)", (long long)level);
    else
        set_ok(f, "whole machine, with the kernel");
}

static void check_pmu(const struct pt_fs *fs, struct pt_finding *f) {
    if (is_foreign(fs, f))
        return;
    int rc = pt_probe_perf_cycles();
    if (rc == 0)
        set_ok(f, "cycles, instructions, cache misses");
    else if (rc == -EACCES || rc == -EPERM)
        set_bad(f, PT_DOCTOR_LIMITED, "sudo sysctl kernel.perf_event_paranoid=2", "not allowed: %s",
                strerror(-rc));
    else
        set_bad(f, PT_DOCTOR_LIMITED,
                is_guest(fs) ? "let the host pass the PMU through (QEMU: -cpu host,pmu=on)"
                             : "a kernel with the PMU driver of this CPU",
                "none: sampling goes by the clock");
}

/* Addresses read as 0 when they are hidden; that is the answer, whatever the knobs say. */
static void check_kptr(const struct pt_fs *fs, struct pt_finding *f) {
    char line[128];
    int64_t level = 0;
    int rc = pt_fs_read_line(fs->proc, "kallsyms", line, sizeof line);
    struct pt_scan s = pt_scan_of(pt_str_from(rc ? "" : line));
    uint64_t address = pt_scan_hex(&s);
    bool has_level = !pt_fs_read_i64(fs->proc, "sys/kernel/kptr_restrict", &level);
    if (!s.failed && address != 0)
        set_ok(f, "visible: kernel frames get names");
    else if (s.failed)
        set_bad(f, PT_DOCTOR_LIMITED, "a kernel with CONFIG_KALLSYMS=y",
                "no /proc/kallsyms: kernel frames have no names");
    else
        set_bad(f, PT_DOCTOR_LIMITED,
                "sudo sysctl kernel.kptr_restrict=0, or: sudo setcap cap_syslog+ep $(command -v "
                "pitot)",
                "hidden%s: kernel frames have no names",
                has_level && level > 1 ? " (kptr_restrict 2)" : "");
}

static void check_rapl(const struct pt_fs *fs, struct pt_finding *f) {
    int64_t microjoules;
    int rc = pt_fs_read_i64(fs->sys, "class/powercap/intel-rapl:0/energy_uj", &microjoules);
    if (rc == 0)
        set_ok(f, "RAPL counters are readable");
    else if (rc == -EACCES)
        set_bad(f, PT_DOCTOR_MISSING,
                "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj (until reboot)",
                "RAPL counters are for root only");
    else if (is_guest(fs))
        set_bad(f, PT_DOCTOR_MISSING, "measure on the host; here energy can only be estimated",
                "no RAPL in a virtual machine");
    else
        set_bad(f, PT_DOCTOR_MISSING, "sudo modprobe intel_rapl_msr (Intel and AMD)",
                "no RAPL counters");
}

struct gpu_search {
    const struct pt_fs *fs;
    const char *const *vendors; /* PCI ids; NULL at the end */
    int count;
};

/* PCI class 0x03....: display and 3D controllers. */
static bool count_gpu(const char *name, void *state) {
    struct gpu_search *search = state;
    char path[320], line[32];
    snprintf(path, sizeof path, "bus/pci/devices/%s/class", name);
    if (pt_fs_read_line(search->fs->sys, path, line, sizeof line) || strncmp(line, "0x03", 4) != 0)
        return true;
    snprintf(path, sizeof path, "bus/pci/devices/%s/vendor", name);
    if (pt_fs_read_line(search->fs->sys, path, line, sizeof line))
        return true;
    for (const char *const *vendor = search->vendors; *vendor; vendor++)
        search->count += strcmp(line, *vendor) == 0;
    return true;
}

static int count_gpus(const struct pt_fs *fs, const char *const *vendors) {
    struct gpu_search search = { .fs = fs, .vendors = vendors };
    (void)!each_name(fs->sys, "bus/pci/devices", count_gpu, &search);
    return search.count;
}

static void check_nvml(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const vendors[] = { "0x10de", NULL };
    int count = count_gpus(fs, vendors);
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        set_ok(f, "libnvidia-ml.so.1 loads, %d on the PCI bus", count);
    else if (count == 0)
        set_ok(f, "none in this machine");
    else
        set_bad(f, PT_DOCTOR_MISSING,
                "install the NVIDIA driver; container: --gpus all with the utility capability",
                "%d on the PCI bus, but libnvidia-ml.so.1 does not load", count);
    if (library)
        dlclose(library);
}

struct render_nodes {
    int directory, total, readable;
};

static bool count_render_node(const char *name, void *state) {
    struct render_nodes *nodes = state;
    char path[300];
    if (strncmp(name, "renderD", 7) != 0)
        return true;
    snprintf(path, sizeof path, "dev/dri/%s", name);
    nodes->total++;
    nodes->readable += faccessat(nodes->directory, path, R_OK | W_OK, AT_EACCESS) == 0;
    return true;
}

static void check_dri(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const vendors[] = { "0x1002", "0x8086", NULL };
    struct render_nodes nodes = { .directory = fs->root };
    int count = count_gpus(fs, vendors);
    (void)!each_name(fs->root, "dev/dri", count_render_node, &nodes);
    if (nodes.total > nodes.readable)
        set_bad(f, PT_DOCTOR_LIMITED, "sudo usermod -aG render,video $USER, then log in again",
                "%d of %d render nodes may be opened", nodes.readable, nodes.total);
    else if (nodes.total > 0)
        set_ok(f, "%d render nodes", nodes.total);
    else if (count == 0)
        set_ok(f, "none in this machine");
    else
        set_bad(f, PT_DOCTOR_MISSING,
                "load the driver (amdgpu, i915, xe); container: --device /dev/dri",
                "%d on the PCI bus, but nothing in /dev/dri", count);
}

const struct pt_check pt_doctor_checks[] = {
    { "kernel", "Kernel", check_kernel, false },
    { "procfs", "/proc", check_procfs, true },
    { "output", "Output directory", check_output, true },
    { "tick", "Time of a tick", check_tick, false },
    { "clock", "Clock source", check_clock, false },
    { "memory", "Memory", check_memory, false },
    { "nofile", "Open files", check_nofile, false },
    { "hidepid", "Other processes", check_hidepid, false },
    { "process_io", "I/O of processes", check_process_io, false },
    { "smaps", "PSS of processes", check_smaps, false },
    { "proc_events", "Process events", check_proc_events, false },
    { "taskstats", "Exit accounting", check_taskstats, false },
    { "diskstats", "Disk counters", check_diskstats, false },
    { "pressure", "Pressure (PSI)", check_pressure, false },
    { "cgroup", "Control groups", check_cgroup, false },
    { "own_cgroup", "Group per command", check_own_cgroup, false },
    { "cpufreq", "CPU frequency", check_cpufreq, false },
    { "perf", "CPU sampling (perf)", check_perf, false },
    { "pmu", "Hardware counters", check_pmu, false },
    { "kptr", "Kernel symbols", check_kptr, false },
    { "rapl", "Energy of CPU", check_rapl, false },
    { "nvml", "NVIDIA GPUs", check_nvml, false },
    { "dri", "AMD and Intel GPUs", check_dri, false },
};
const int pt_doctor_check_count = (int)PT_COUNT(pt_doctor_checks);
