#include "store/static_info.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mask.h"
#include "source/kernel/cpuinfo.h"
#include "store/static_cgroup.h"
#include "store/static_field.h"
#include "store/static_machine.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Variables that change how inference runs; a name ending in * is a prefix. */
static const char *const environment_names[] = {
    "CUDA_*",    "NCCL_*",   "OMP_*",          "MKL_*",   "OPENBLAS_*", "VLLM_*",  "TORCH_*",
    "PYTORCH_*", "HF_*",     "TRANSFORMERS_*", "PYTHON*", "RAY_*",      "SLURM_*", "KUBERNETES_*",
    "PITOT_*",   "NVIDIA_*", "ROCR_*",         "HIP_*",   "LD_PRELOAD",
};

struct writer {
    struct pt_json *j;
    const struct pt_fs *fs;
    struct pt_text buffer;
    struct pt_cpuinfo cpu;
};

/* Reads a file of /proc; empty text if it cannot be. */
static struct pt_scan read_proc(struct writer *w, const char *path) {
    struct pt_scan text;
    if (pt_fs_read(w->fs->proc, path, &w->buffer, &text))
        return pt_scan_of(PT_STR(""));
    return text;
}

static void put_count(struct writer *w, const char *key, int count) {
    if (count > 0)
        pt_json_i64(w->j, key, count);
    else
        pt_json_null(w->j, key);
}

/* The firmware's id of the machine; containers and ordinary users see only the second. */
static void put_machine_id(struct writer *w) {
    char line[128];
    int rc = pt_fs_read_line(w->fs->sys, "class/dmi/id/product_uuid", line, sizeof line);
    if (rc || !line[0])
        rc = pt_fs_read_line(w->fs->root, "etc/machine-id", line, sizeof line);
    pt_static_text(w->j, "vId", pt_str_from(rc ? "" : line));
}

static void put_boot_time(struct writer *w) {
    struct pt_scan text = read_proc(w, "stat"), line;
    while (pt_scan_line(&text, &line)) {
        if (!pt_scan_take(&line, PT_STR("btime ")))
            continue;
        int64_t seconds = pt_scan_i64(&line);
        if (line.failed)
            break;
        pt_json_i64(w->j, "boot_time", seconds);
        return;
    }
    pt_json_null(w->j, "boot_time");
}

/* Counts the lines "cpu0", "cpu1" of /proc/stat, for machines without CPU numbers in cpuinfo. */
static int count_in_stat(struct writer *w) {
    struct pt_scan text = read_proc(w, "stat"), line;
    int count = 0;
    while (pt_scan_line(&text, &line)) {
        if (pt_scan_take(&line, PT_STR("cpu")) && line.at < line.end && *line.at != ' ')
            count++;
    }
    return count;
}

static void put_meminfo(struct writer *w, const char *key, struct pt_str name) {
    int64_t bytes;
    if (pt_static_find_kib(read_proc(w, "meminfo"), name, &bytes))
        pt_json_null(w->j, key);
    else
        pt_json_i64(w->j, key, bytes);
}

static void put_host(struct writer *w) {
    struct pt_json *j = w->j;
    int count = w->cpu.processor_count;
    pt_json_object(j, "host");
    pt_static_line(j, "hostname", w->fs->proc, "sys/kernel/hostname");
    pt_static_line(j, "kernel", w->fs->proc, "sys/kernel/osrelease");
    put_boot_time(w);
    pt_static_line(j, "boot_id", w->fs->proc, "sys/kernel/random/boot_id");
    put_count(w, "vNumProcessors", count > 0 ? count : count_in_stat(w));
    pt_static_text(j, "vCpuType", pt_str_from(w->cpu.type));
    pt_static_put_caches(j, w->fs);
    pt_static_line(j, "vKernelInfo", w->fs->proc, "version");
    put_meminfo(w, "vMemoryTotalBytes", PT_STR("MemTotal:"));
    put_meminfo(w, "vSwapTotalBytes", PT_STR("SwapTotal:"));
    pt_json_end(j);
}

static void put_nvidia(struct writer *w) {
    pt_json_object(w->j, "nvidia");
    pt_json_null(w->j, "gDriverVersion");
    pt_json_null(w->j, "gCudaVersion");
    pt_json_array(w->j, "gpus");
    pt_json_end(w->j);
    pt_json_end(w->j);
}

static void put_cpu(struct writer *w) {
    struct pt_json *j = w->j;
    pt_static_text(j, "cpu_vendor", pt_str_from(w->cpu.vendor));
    put_count(w, "cpu_sockets", w->cpu.socket_count);
    put_count(w, "cpu_cores", w->cpu.core_count);
    pt_static_line(j, "cpu_governor", w->fs->sys,
                   "devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (w->cpu.processor_count == 0) {
        pt_json_null(j, "cpu_flags");
        return;
    }
    pt_json_array(j, "cpu_flags");
    for (int i = 0; i < pt_cpu_flag_count; i++) {
        if (w->cpu.flags >> i & 1)
            pt_json_text(j, NULL, pt_cpu_flags[i]);
    }
    pt_json_end(j);
}

/* arm64 has no flag for it; a device tree may have an entry. */
static void put_is_guest(struct writer *w) {
    if (w->cpu.is_guest || faccessat(w->fs->proc, "device-tree/hypervisor", F_OK, 0) == 0)
        pt_json_bool(w->j, "hypervisor", true);
    else if (w->cpu.is_x86)
        pt_json_bool(w->j, "hypervisor", false);
    else
        pt_json_null(w->j, "hypervisor");
}

/* The marks that container runtimes leave. */
static const char *container_by_file(const struct pt_fs *fs) {
    static const struct {
        const char *path, *name;
    } marks[] = {
        { "var/run/secrets/kubernetes.io", "kubernetes" },
        { ".dockerenv", "docker" },
        { "run/.containerenv", "podman" },
    };
    for (size_t i = 0; i < PT_COUNT(marks); i++) {
        if (faccessat(fs->root, marks[i].path, F_OK, 0) == 0)
            return marks[i].name;
    }
    return NULL;
}

static const char *container_by_cgroup(struct writer *w) {
    static const struct {
        const char *part, *name;
    } marks[] = {
        { "kubepods", "kubernetes" },   { "docker", "docker" }, { "libpod", "podman" },
        { "containerd", "containerd" }, { "lxc", "lxc" },
    };
    struct pt_scan cgroup = read_proc(w, "self/cgroup");
    struct pt_str text = pt_scan_rest(&cgroup);
    for (size_t i = 0; i < PT_COUNT(marks); i++) {
        if (memmem(text.at, text.len, marks[i].part, strlen(marks[i].part)))
            return marks[i].name;
    }
    return NULL;
}

static void put_virtualisation(struct writer *w) {
    const char *container = container_by_file(w->fs);
    pt_json_object(w->j, "virtualisation");
    put_is_guest(w);
    pt_static_line(w->j, "vendor", w->fs->sys, "class/dmi/id/sys_vendor");
    pt_static_line(w->j, "product", w->fs->sys, "class/dmi/id/product_name");
    pt_json_text(w->j, "container", container ? container : container_by_cgroup(w));
    pt_json_end(w->j);
}

static void put_kernel_command_line(struct writer *w) {
    struct pt_scan text = read_proc(w, "cmdline");
    struct pt_buf line = { 0 };
    struct pt_mask_words words = { 0 };
    for (struct pt_str word = pt_scan_word(&text); !text.failed; word = pt_scan_word(&text)) {
        if (line.len > 0)
            pt_buf_u8(&line, ' ');
        pt_mask_word(&line, word, &words);
    }
    pt_static_text(w->j, "kernel_command_line", pt_buf_as_str(&line));
    pt_buf_release(&line);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void put_os(struct writer *w) {
    static const char *const paths[] = { "etc/os-release", "usr/lib/os-release" };
    struct pt_scan text = { 0 }, line;
    struct pt_str name = PT_STR("");
    int rc = -1;
    for (size_t i = 0; i < PT_COUNT(paths) && rc; i++)
        rc = pt_fs_read(w->fs->root, paths[i], &w->buffer, &text);
    while (!rc && pt_scan_line(&text, &line)) {
        if (!pt_scan_take(&line, PT_STR("PRETTY_NAME=")))
            continue;
        (void)pt_scan_take(&line, PT_STR("\""));
        name = pt_scan_rest(&line);
        if (pt_str_ends(name, PT_STR("\"")))
            name.len--;
    }
    pt_static_text(w->j, "os", name);
}

static void put_libc(struct writer *w) {
    char version[64];
    size_t n = w->fs->is_live ? confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) : 0;
    pt_json_text(w->j, "libc", n > 0 && n <= sizeof version ? version : NULL);
}

/* The kernel has a file for it since 6.1. */
static void put_architecture(struct writer *w) {
    struct utsname name;
    char line[64];
    if (!pt_fs_read_line(w->fs->proc, "sys/kernel/arch", line, sizeof line))
        pt_static_text(w->j, "architecture", pt_str_from(line));
    else
        pt_json_text(w->j, "architecture",
                     w->fs->is_live && uname(&name) == 0 ? name.machine : NULL);
}

static void put_system(struct writer *w) {
    put_os(w);
    put_libc(w);
    put_architecture(w);
    put_kernel_command_line(w);
    pt_static_choice(w->j, "thp", w->fs->sys, "kernel/mm/transparent_hugepage/enabled");
    pt_static_count(w->j, "swappiness", w->fs->proc, "sys/vm/swappiness");
    put_virtualisation(w);
}

static void put_masked_line(struct writer *w, const char *key, char *const *argv) {
    struct pt_buf line = { 0 };
    if (argv)
        pt_mask_argv(&line, argv);
    pt_static_text(w->j, key, pt_buf_as_str(&line));
    pt_buf_release(&line);
}

static void put_names(struct writer *w, const char *key, const char *const *names) {
    pt_json_array(w->j, key);
    for (; names && *names; names++)
        pt_json_text(w->j, NULL, *names);
    pt_json_end(w->j);
}

static void put_pitot(struct writer *w, const struct pt_static_options *o) {
    pt_json_object(w->j, "pitot");
    pt_json_text(w->j, "version", PITOT_VERSION);
    put_masked_line(w, "command_line", o->own_argv);
    pt_json_f64(w->j, "interval_ms", (double)o->interval_ns / (double)PT_NS_PER_MS);
    put_names(w, "collectors", o->collectors);
    put_names(w, "formats", o->formats);
    pt_json_end(w->j);
}

static bool matters(struct pt_str name) {
    for (size_t i = 0; i < PT_COUNT(environment_names); i++) {
        struct pt_str known = pt_str_from(environment_names[i]);
        bool is_prefix = pt_str_ends(known, PT_STR("*"));
        known.len -= is_prefix;
        if (is_prefix ? pt_str_starts(name, known) : pt_str_eq(name, known))
            return true;
    }
    return false;
}

static bool is_named(struct pt_str name) {
    return name.len > 0;
}

/* "name=value" as a member of the object that is being written. */
static void put_pair(struct writer *w, const char *pair) {
    const char *sign = strchrnul(pair, '=');
    struct pt_str name = { pair, (size_t)(sign - pair) };
    char *key = pt_strndup(name);
    pt_json_text(w->j, key, *sign ? sign + 1 : "");
    pt_free(key);
}

static struct pt_str name_of(const char *pair) {
    return (struct pt_str){ pair, strcspn(pair, "=") };
}

/* Given twice: the last one counts, and an object has each name once. */
static bool is_overridden(const char *const *pair) {
    for (const char *const *later = pair + 1; *later; later++) {
        if (pt_str_eq(name_of(*later), name_of(*pair)))
            return true;
    }
    return false;
}

static void put_pairs(struct writer *w, const char *key, const char *const *pairs,
                      bool (*is_wanted)(struct pt_str name)) {
    pt_json_object(w->j, key);
    for (; pairs && *pairs; pairs++) {
        if (is_wanted(name_of(*pairs)) && !is_overridden(pairs))
            put_pair(w, *pairs);
    }
    pt_json_end(w->j);
}

static void put_command(struct writer *w, const struct pt_static_options *o) {
    if (!o->command) {
        pt_json_null(w->j, "command");
        return;
    }
    struct pt_buf word = { 0 };
    struct pt_mask_words words = { 0 };
    pt_json_object(w->j, "command");
    pt_json_array(w->j, "argv");
    for (char *const *argument = o->command; *argument; argument++) {
        pt_buf_clear(&word);
        pt_mask_word(&word, pt_str_from(*argument), &words);
        pt_json_str(w->j, NULL, pt_buf_as_str(&word));
    }
    pt_json_end(w->j);
    pt_json_text(w->j, "cwd", o->working_directory);
    put_pairs(w, "environment", (const char *const *)o->environment, matters);
    pt_json_end(w->j);
    pt_buf_release(&word);
}

/* Value of the first of these variables that is a number, and its name; NULL if none is. */
static const char *find_number(char *const *environment, const char *const *names, int64_t *value) {
    for (; *names; names++)
        for (char *const *pair = environment; pair && *pair; pair++) {
            struct pt_scan text = pt_scan_of(pt_str_from(*pair));
            if (!pt_scan_take(&text, pt_str_from(*names)) || !pt_scan_take(&text, PT_STR("=")))
                continue;
            *value = pt_scan_i64(&text);
            if (!text.failed && text.at == text.end && *value >= 0)
                return *names;
        }
    return NULL;
}

/* The rank of this process, from the variables that launchers set. */
static void put_rank(struct writer *w, const struct pt_static_options *o) {
    static const char *const ranks[] = { "PITOT_RANK", "SLURM_PROCID", "RANK",
                                         "OMPI_COMM_WORLD_RANK", NULL };
    static const char *const sizes[] = { "PITOT_WORLD_SIZE", "SLURM_NTASKS", "WORLD_SIZE",
                                         "OMPI_COMM_WORLD_SIZE", NULL };
    int64_t rank, size;
    const char *from = find_number(o->own_environment, ranks, &rank);
    if (!from) {
        pt_json_null(w->j, "rank");
        return;
    }
    pt_json_object(w->j, "rank");
    pt_json_i64(w->j, "number", rank);
    if (find_number(o->own_environment, sizes, &size))
        pt_json_i64(w->j, "world_size", size);
    else
        pt_json_null(w->j, "world_size");
    pt_json_text(w->j, "from", from);
    pt_json_end(w->j);
}

void pt_static_write(struct pt_out *out, const struct pt_static_options *o) {
    struct pt_json j = { .out = out, .indent = 2, .mask = pt_mask_value };
    struct writer w = { .j = &j, .fs = o->fs };
    pt_cpuinfo_parse(read_proc(&w, "cpuinfo"), &w.cpu);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "uuid", o->uuid);
    put_machine_id(&w);
    pt_json_i64(&j, "start_time", o->start_wall_ns / PT_NS_PER_MS);
    put_host(&w);
    put_rank(&w, o);
    if (o->put_gpus)
        o->put_gpus(&j, o->gpus);
    else
        put_nvidia(&w);
    if (o->put_engines)
        o->put_engines(&j, o->engines);
    put_cpu(&w);
    put_system(&w);
    pt_static_put_devices(&j, o->fs);
    pt_static_put_cgroup(&j, o->fs);
    put_pitot(&w, o);
    put_command(&w, o);
    put_pairs(&w, "tags", o->tags, is_named);
    pt_json_end(&j);
    pt_text_release(&w.buffer);
}
