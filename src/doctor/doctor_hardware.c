/* doctor/doctor_hardware.c -- checks of CPU sampling, energy and GPUs. */
#include "doctor/doctor_finding.h"

#include "base/confine.h"
#include "doctor/doctor_probe.h"
#include "gputrace/gpu_tool.h"
#include "profile/run/cpu_sampling.h"
#include "source/gpu/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANY_PROGRAM "sh"
#define KERNEL_KNOB "sudo sysctl kernel.perf_event_paranoid=1"

void pt_check_cpufreq(const struct pt_fs *fs, struct pt_finding *f) {
    int64_t khz;
    int rc = pt_fs_read_i64(fs->sys, "devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", &khz);
    if (rc == 0)
        pt_finding_ok(f, "now %.2f GHz", (double)khz / 1e6);
    else if (pt_doctor_is_guest(fs))
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "none: the host of this virtual machine controls it",
                       "not visible in a virtual machine");
    else
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       "load the CPU frequency driver (acpi-cpufreq, intel_pstate, amd-pstate)",
                       "no cpufreq driver: %s", strerror(-rc));
}

void pt_check_perf(const struct pt_fs *fs, struct pt_finding *f) {
    int64_t level = 0;
    if (pt_finding_is_foreign(fs, f))
        return;
    bool has_level = !pt_fs_read_i64(fs->proc, "sys/kernel/perf_event_paranoid", &level);
    int own = pt_probe_perf_clock(PT_PROBE_OWN_USER);
    if (own == -ENOSYS || own == -ENOENT || !has_level) {
        pt_finding_bad(f, PT_DOCTOR_MISSING, "use a kernel with CONFIG_PERF_EVENTS=y",
                       "not supported by this kernel");
        return;
    }
    if (!pt_probe_perf_clock(PT_PROBE_MACHINE)) {
        pt_finding_ok(f, "whole machine, with kernel frames");
        return;
    }
    const char *what = own                                 ? "not permitted"
                       : pt_probe_perf_clock(PT_PROBE_OWN) ? "own processes, without kernel frames"
                                                           : "own processes, with kernel frames";
    pt_finding_bad(f, own ? PT_DOCTOR_MISSING : PT_DOCTOR_LIMITED,
                   "sudo sysctl kernel.perf_event_paranoid=0", "%s (perf_event_paranoid %lld)",
                   what, (long long)level);
    pt_finding_add_capability(f, "perfmon");
}

void pt_check_pmu(const struct pt_fs *fs, struct pt_finding *f) {
    if (pt_finding_is_foreign(fs, f))
        return;
    int rc = pt_probe_perf_cycles();
    if (rc == 0)
        pt_finding_ok(f, "cycles, instructions, cache misses");
    else if (rc == -EACCES || rc == -EPERM)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "sudo sysctl kernel.perf_event_paranoid=2",
                       "not permitted: %s", strerror(-rc));
    else
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       pt_doctor_is_guest(fs)
                           ? "pass the PMU through on the host (QEMU: -cpu host,pmu=on)"
                           : "use a kernel with the PMU driver of this CPU",
                       "none: sampling uses the clock");
}

/* Hidden addresses read as 0; this is more reliable than the settings. */
void pt_check_kptr(const struct pt_fs *fs, struct pt_finding *f) {
    char line[128];
    int64_t level = 0;
    int rc = pt_fs_read_line(fs->proc, "kallsyms", line, sizeof line);
    struct pt_scan s = pt_scan_of(pt_str_from(rc ? "" : line));
    uint64_t address = pt_scan_hex(&s);
    if (s.failed) {
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "use a kernel with CONFIG_KALLSYMS=y",
                       "no /proc/kallsyms: kernel frames have no symbols");
        return;
    }
    if (address != 0) {
        pt_finding_ok(f, "visible: kernel frames have symbols");
        return;
    }
    (void)!pt_fs_read_i64(fs->proc, "sys/kernel/kptr_restrict", &level);
    pt_finding_bad(f, PT_DOCTOR_LIMITED, level > 0 ? "sudo sysctl kernel.kptr_restrict=0" : "",
                   "hidden (kptr_restrict %lld): kernel frames have no symbols", (long long)level);
    pt_finding_add_capability(f, "syslog");
}

void pt_check_rapl(const struct pt_fs *fs, struct pt_finding *f) {
    int64_t microjoules;
    int rc = pt_fs_read_i64(fs->sys, "class/powercap/intel-rapl:0/energy_uj", &microjoules);
    if (rc == 0)
        pt_finding_ok(f, "RAPL counters are readable");
    else if (rc == -EACCES)
        pt_finding_bad(f, PT_DOCTOR_MISSING,
                       "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj (until reboot)",
                       "only root can read the RAPL counters");
    else if (pt_doctor_is_guest(fs))
        pt_finding_bad(f, PT_DOCTOR_MISSING,
                       "measure on the host; in a virtual machine energy is only estimated",
                       "no RAPL in a virtual machine");
    else
        pt_finding_bad(f, PT_DOCTOR_MISSING, "sudo modprobe intel_rapl_msr (Intel and AMD)",
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
    pt_doctor_each_name(fs->sys, "bus/pci/devices", count_gpu, &search);
    return search.count;
}

/* Remedies for errors of nvmlInit. */
static const char *nvml_remedy(int code) {
    switch (code) {
    case PT_NVML_DRIVER_NOT_LOADED:
        return "sudo modprobe nvidia; container: --gpus all with the utility capability";
    case PT_NVML_VERSION_MISMATCH:
        return "reboot or reload the nvidia modules: the driver was updated while running";
    case PT_NVML_NO_PERMISSION:
        return "allow the user to read and write /dev/nvidiactl and /dev/nvidia*";
    default:
        return "check the kernel log: sudo dmesg | grep -i nvrm";
    }
}

void pt_check_nvml(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const vendors[] = { "0x10de", NULL };
    int count = count_gpus(fs, vendors);
    struct pt_nvml_diagnosis d = { .load_error = -ENOENT };
    if (fs->is_live)
        pt_nvml_diagnose(&d);
    if (!d.load_error && d.code == PT_NVML_SUCCESS && d.device_count > 0)
        pt_finding_ok(f, "%u, driver %s", d.device_count, d.driver_version);
    else if (count == 0 && (d.load_error || d.code == PT_NVML_SUCCESS))
        pt_finding_ok(f, "none in this machine");
    else if (d.load_error || d.code == PT_NVML_SUCCESS)
        pt_finding_bad(
            f, PT_DOCTOR_MISSING,
            "install the NVIDIA driver; container: --gpus all with the utility capability",
            "%d on the PCI bus, but %s", count, d.load_error ? d.words : "NVML sees none");
    else
        pt_finding_bad(f, PT_DOCTOR_MISSING, nvml_remedy(d.code), "%s (NVML code %d)", d.words,
                       d.code);
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

void pt_check_dri(const struct pt_fs *fs, struct pt_finding *f) {
    static const char *const vendors[] = { "0x1002", "0x8086", NULL };
    struct render_nodes nodes = { .directory = fs->root };
    int count = count_gpus(fs, vendors);
    pt_doctor_each_name(fs->root, "dev/dri", count_render_node, &nodes);
    if (nodes.total > nodes.readable)
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       "sudo usermod -aG render,video $USER, then log in again",
                       "%d of %d render nodes can be opened", nodes.readable, nodes.total);
    else if (nodes.total > 0)
        pt_finding_ok(f, "%d render nodes", nodes.total);
    else if (count == 0)
        pt_finding_ok(f, "none in this machine");
    else
        pt_finding_bad(f, PT_DOCTOR_MISSING,
                       "load the driver (amdgpu, i915, xe); container: --device /dev/dri",
                       "%d on the PCI bus, but nothing in /dev/dri", count);
}

/* The profilers that `pitot gpu` can use. */
void pt_check_gpu_tools(const struct pt_fs *fs, struct pt_finding *f) {
    char list[128] = "", path[PATH_MAX];
    const char *name;
    for (size_t i = 1; (name = pt_gpu_tool_name(i)); i++) {
        const struct pt_gpu_tool *tool = pt_gpu_tool_find(name);
        size_t length = strlen(list);
        if (tool->arguments && fs->is_live && !pt_gpu_tool_locate(tool, path))
            snprintf(list + length, sizeof list - length, "%s%s", length > 0 ? ", " : "", name);
    }
    enum pt_gpu_vendor vendor = pt_gpu_vendor_of(fs);
    if (list[0])
        pt_finding_ok(f, "%s", list);
    else if (vendor == PT_GPU_VENDOR_COUNT)
        pt_finding_ok(f, "none; not needed: there is no NVIDIA or ROCm driver");
    else
        pt_finding_bad(f, PT_DOCTOR_LIMITED,
                       pt_gpu_tool_find(vendor == PT_GPU_AMD ? "rocprofv3" : "nsys")->install,
                       "none for the GPU in this machine");
}

/* Tested on this process: the rules are the same for others of the same user. */
static bool may_read_memory(void) {
    char from = 1, to = 0;
    struct iovec local = { &to, 1 }, remote = { &from, 1 };
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

/* The method that would sample CPU time, and why not a better one. */
static void describe_sampling(const struct pt_cpu_sampling *s, struct pt_finding *f) {
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
    struct pt_cpu_sampling s = { .has_kernel = false };
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
        describe_sampling(&s, f);
    pt_cpu_sampling_release(&s);
}

static void try_seal(void *state) {
    (void)state;
    int rc = pt_confine_seal();
    pt_confine_send(0, (struct pt_str){ (const char *)&rc, sizeof rc });
}

/* The process that reads memory and files of profiled programs. */
void pt_check_confined(const struct pt_fs *fs, struct pt_finding *f) {
    struct pt_confine_options o = { .name = "(doctor)", .run = try_seal, .directory = -1 };
    struct pt_confined helper;
    struct pt_buf answer = { 0 };
    struct pt_err err;
    uint32_t kind;
    int sealed = 0;
    if (pt_finding_is_foreign(fs, f))
        return;
    int rc = pt_confined_start(&helper, &o, &err);
    if (!rc)
        rc = pt_confined_receive(&helper, &kind, &answer, &err);
    if (!rc && answer.len == sizeof sealed)
        memcpy(&sealed, answer.at, sizeof sealed);
    if (rc)
        pt_finding_bad(f, PT_DOCTOR_MISSING, "profiles need it", "%s", err.text);
    else if (sealed)
        pt_finding_bad(f, PT_DOCTOR_LIMITED, "permit seccomp(2) in the sandbox around Pitot",
                       "a process of its own, without a filter of system calls (seccomp: %s)",
                       strerror(-sealed));
    else
        pt_finding_ok(f, "profiled programs are read in a process without network and writing");
    pt_confined_close(&helper);
    pt_buf_release(&answer);
}
