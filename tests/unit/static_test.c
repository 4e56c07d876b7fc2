/* The static file: known answers on two small trees, valid on foreign trees and on this machine. */
#include "capture.h"
#include "json_text.h"
#include "tree.h"

#include "base/attr.h"
#include "source/kernel/cpuinfo.h"
#include "store/static_field.h"
#include "store/static_info.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>

/* Argument vectors hold text that may be changed. */
#define WORD(text) ((char[]){ text })
#define HIDDEN     "zq9hidden"

static char *const own_argv[] = { WORD("pitot"), WORD("-t"),        WORD("100"),  WORD("--"),
                                  WORD("vllm"),  WORD("--api-key"), WORD(HIDDEN), NULL };
static char *const command[] = { WORD("vllm"), WORD("serve"),    WORD("a b"), WORD("--api-key"),
                                 WORD(HIDDEN), WORD("--port=1"), NULL };
static char *const environment[] = {
    WORD("HOME=/root"),
    WORD("HF_TOKEN=" HIDDEN),
    WORD("HF_HOME=/cache"),
    WORD("CUDA_VISIBLE_DEVICES=0,1"),
    WORD("PYTHONPATH=/a"),
    WORD("VLLM_API_KEY=" HIDDEN),
    WORD("LD_PRELOAD=libx.so"),
    WORD("LD_PRELOADED=1"),
    WORD("HF_ENDPOINT=http://u:" HIDDEN "@h/"),
    WORD("AWS_SECRET_ACCESS_KEY=" HIDDEN),
    NULL,
};
static const char *const collectors[] = { "cpu", "mem", NULL };
static const char *const formats[] = { "parquet", NULL };
static const char *const tags[] = { "model=old", "model=m=1", "token=" HIDDEN, "flag", NULL };

static const struct pt_static_options example = {
    .uuid = "2f1e0c4a-0000-4000-8000-000000000001",
    .start_wall_ns = INT64_C(1700000123456789012),
    .interval_ns = 100000000,
    .own_argv = own_argv,
    .command = command,
    .working_directory = "/srv",
    .environment = environment,
    .collectors = collectors,
    .formats = formats,
    .tags = tags,
};

static char *written(const char *proc, const char *sys, const char *root,
                     struct pt_static_options options) {
    struct pt_fs fs;
    struct pt_err err = { "" };
    struct pt_out out;
    if (pt_fs_open(&fs, proc, sys, root, &err))
        fail_msg("%s", err.text);
    options.fs = &fs;
    memory_open(&out);
    pt_static_write(&out, &options);
    pt_fs_close(&fs);
    return memory_text(&out);
}

static json_t *read_fixture(const char *name, struct pt_static_options options) {
    char proc[PATH_MAX], sys[PATH_MAX], root[PATH_MAX];
    const char *source = getenv("PITOT_SOURCE");
    snprintf(proc, sizeof proc, "%s/tests/fixtures/%s/proc", source, name);
    snprintf(sys, sizeof sys, "%s/tests/fixtures/%s/sys", source, name);
    snprintf(root, sizeof root, "%s/tests/fixtures/%s/root", source, name);
    char *text = written(proc, sys, root, options);
    json_t *json = parsed(text);
    pt_free(text);
    return json;
}

static void a_server_is_described_exactly(void **state) {
    (void)state;
    json_t *j = read_fixture("static-x86", example);
    assert_text(j, "uuid", example.uuid);
    assert_text(j, "vId", "4c4c4544-0042-3510-8051-b4c04f4d4e33");
    assert_number(j, "start_time", 1700000123456.0);
    assert_text(j, "host.hostname", "gpu-node-7");
    assert_text(j, "host.kernel", "6.1.0-18-amd64");
    assert_number(j, "host.boot_time", 1700000000);
    assert_number(j, "host.vNumProcessors", 4);
    assert_text(j, "host.vCpuType", "Intel(R) Xeon(R) Platinum 8480+");
    assert_number(j, "host.vCpuCache.L1d", 48 * 1024);
    assert_number(j, "host.vCpuCache.L1i", 32 * 1024);
    assert_number(j, "host.vCpuCache.L2", 2048 * 1024);
    assert_number(j, "host.vCpuCache.L3", 107520 * 1024);
    assert_number(j, "host.vMemoryTotalBytes", 527951872.0 * 1024);
    assert_number(j, "host.vSwapTotalBytes", 8388604.0 * 1024);
    assert_memory_equal(json_string_value(at(j, "host.vKernelInfo")), "Linux version 6.1.0", 19);
    assert_null_at(j, "nvidia.gDriverVersion");
    assert_int_equal(json_array_size(at(j, "nvidia.gpus")), 0);
    json_decref(j);
}

static void its_parts_are_listed(void **state) {
    (void)state;
    json_t *j = read_fixture("static-x86", example);
    assert_text(j, "cpu_vendor", "GenuineIntel");
    assert_number(j, "cpu_sockets", 2);
    assert_number(j, "cpu_cores", 4);
    assert_text(j, "cpu_governor", "performance");
    assert_int_equal(json_array_size(at(j, "cpu_flags")), 10);
    assert_text(j, "cpu_flags.9", "amx_bf16");
    assert_text(j, "thp", "madvise");
    assert_number(j, "swappiness", 60);
    assert_text(j, "os", "Debian GNU/Linux 12 (bookworm)");
    assert_text(j, "architecture", "x86_64");
    assert_text(j, "kernel_command_line",
                "BOOT_IMAGE=/vmlinuz-6.1.0-18-amd64 root=/dev/nvme0n1p2 ro quiet "
                "luks.passphrase=*** mitigations=off");
    assert_int_equal(json_array_size(at(j, "numa")), 2);
    assert_text(j, "numa.1.cpus", "2-3");
    assert_number(j, "numa.1.memory_bytes", 263975936.0 * 1024);
    assert_number(j, "numa.1.distances.0", 21);
    assert_int_equal(json_array_size(at(j, "disks")), 2);
    assert_text(j, "disks.0.model", "SAMSUNG MZQL23T8HCLS-00A07");
    assert_number(j, "disks.0.size_bytes", 7501476528.0 * 512);
    assert_true(json_is_false(at(j, "disks.0.is_rotational")));
    assert_text(j, "disks.1.scheduler", "mq-deadline");
    assert_null_at(j, "disks.1.model");
    assert_text(j, "interfaces.0.driver", "ice");
    assert_number(j, "interfaces.0.speed_mbit", 25000);
    assert_null_at(j, "interfaces.1.speed_mbit");
    assert_true(json_is_true(at(j, "interfaces.2.is_virtual")));
    assert_text(j, "clock.source", "tsc");
    assert_null_at(j, "clock.resolution_ns");
    assert_true(json_is_false(at(j, "virtualisation.hypervisor")));
    assert_text(j, "virtualisation.product", "PowerEdge R760xa");
    assert_null_at(j, "virtualisation.container");
    json_decref(j);
}

/* Every field; expected.json says what the files of the tree say. */
static void every_field_of_a_tree_is_as_expected(void **state) {
    (void)state;
    static const char *const names[] = { "static-x86", "static-arm64" };
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        char path[PATH_MAX];
        json_error_t error;
        snprintf(path, sizeof path, "%s/tests/fixtures/%s/expected.json", getenv("PITOT_SOURCE"),
                 names[i]);
        json_t *expected = json_load_file(path, 0, &error), *j = read_fixture(names[i], example);
        if (!expected)
            fail_msg("%s: %s", path, error.text);
        json_object_del(at(j, "pitot"), "version");
        if (!json_equal(j, expected)) {
            json_dumpf(j, stderr, JSON_INDENT(2));
            fail_msg("%s has other fields than those above", path);
        }
        json_decref(expected);
        json_decref(j);
    }
}

static void the_tightest_limit_of_all_groups_applies(void **state) {
    (void)state;
    json_t *j = read_fixture("static-x86", example);
    assert_text(j, "cgroup.version", "v2");
    assert_text(j, "cgroup.paths.v2", "/user.slice/job.scope");
    assert_number(j, "cgroup.limits.cpus", 2.5);
    assert_number(j, "cgroup.limits.memory_bytes", 68719476736.0);
    assert_null_at(j, "cgroup.limits.memory_high_bytes");
    assert_number(j, "cgroup.limits.pids", 10813);
    assert_text(j, "cgroup.limits.cpuset_cpus", "0-1");
    json_decref(j);
}

static void a_small_container_has_nulls_and_no_zeros(void **state) {
    (void)state;
    json_t *j = read_fixture("static-arm64", example);
    assert_text(j, "vId", "ec2b0e6ab1d54d3a9c6c7c0d5c4e1f2a");
    assert_text(j, "host.vCpuType", "Neoverse-V1");
    assert_text(j, "cpu_vendor", "ARM");
    assert_number(j, "host.vNumProcessors", 2);
    assert_null_at(j, "host.boot_time");
    assert_number(j, "host.vCpuCache.L1d", 65536);
    assert_null_at(j, "host.vCpuCache.L2");
    assert_null_at(j, "host.vKernelInfo");
    assert_number(j, "host.vSwapTotalBytes", 0);
    assert_null_at(j, "cpu_sockets");
    assert_null_at(j, "cpu_governor");
    assert_null_at(j, "thp");
    assert_null_at(j, "architecture");
    assert_null_at(j, "interfaces.0.speed_mbit");
    assert_text(j, "os", "Amazon Linux 2");
    assert_true(json_is_true(at(j, "virtualisation.hypervisor")));
    assert_text(j, "virtualisation.container", "kubernetes");
    assert_text(j, "cgroup.version", "hybrid");
    assert_number(j, "cgroup.limits.memory_bytes", 2147483648.0);
    assert_number(j, "cgroup.limits.cpus", 0.5);
    assert_null_at(j, "cgroup.limits.pids");
    json_decref(j);
}

static void the_command_is_there_without_its_secrets(void **state) {
    (void)state;
    json_t *j = read_fixture("static-x86", example);
    assert_int_equal(json_array_size(at(j, "command.argv")), 6);
    assert_text(j, "command.argv.2", "a b");
    assert_text(j, "command.argv.4", "***");
    assert_text(j, "command.cwd", "/srv");
    json_t *variables = at(j, "command.environment");
    assert_int_equal(json_object_size(variables), 7);
    assert_text(variables, "HF_TOKEN", "***");
    assert_text(variables, "VLLM_API_KEY", "***");
    assert_text(variables, "HF_ENDPOINT", "http://u:***@h/");
    assert_text(variables, "CUDA_VISIBLE_DEVICES", "0,1");
    assert_text(variables, "LD_PRELOAD", "libx.so");
    assert_text(j, "tags.model", "m=1");
    assert_text(j, "tags.token", "***");
    assert_text(j, "tags.flag", "");
    assert_text(j, "pitot.command_line", "pitot -t 100 -- vllm --api-key ***");
    assert_text(j, "pitot.version", PITOT_VERSION);
    assert_number(j, "pitot.interval_ms", 100);
    assert_text(j, "pitot.collectors.1", "mem");
    assert_text(j, "pitot.formats.0", "parquet");
    json_decref(j);
}

static void without_a_command_there_is_null(void **state) {
    (void)state;
    struct pt_static_options options = { .uuid = "u" };
    json_t *j = read_fixture("static-x86", options);
    assert_null_at(j, "command");
    assert_null_at(j, "pitot.command_line");
    assert_int_equal(json_object_size(at(j, "tags")), 0);
    json_decref(j);
}

static void check_rank(char *const *variables, int64_t rank, int64_t world_size, const char *from) {
    struct pt_static_options options = example;
    options.own_environment = variables;
    json_t *j = read_fixture("static-x86", options);
    assert_number(j, "rank.number", (double)rank);
    if (world_size >= 0)
        assert_number(j, "rank.world_size", (double)world_size);
    else
        assert_null_at(j, "rank.world_size");
    assert_text(j, "rank.from", from);
    json_decref(j);
}

static void variables_that_change_inference_are_kept(void **state) {
    (void)state;
    char *const kept[] = {
        WORD("CUDA_X=1"),     WORD("NCCL_X=1"),         WORD("OMP_X=1"),      WORD("MKL_X=1"),
        WORD("OPENBLAS_X=1"), WORD("VLLM_X=1"),         WORD("TORCH_X=1"),    WORD("PYTORCH_X=1"),
        WORD("HF_X=1"),       WORD("TRANSFORMERS_X=1"), WORD("PYTHONX=1"),    WORD("RAY_X=1"),
        WORD("SLURM_X=1"),    WORD("KUBERNETES_X=1"),   WORD("PITOT_X=1"),    WORD("NVIDIA_X=1"),
        WORD("ROCR_X=1"),     WORD("HIP_X=1"),          WORD("LD_PRELOAD=1"), NULL,
    };
    char *const left_out[] = { WORD("CUDA=1"), WORD("XCUDA_X=1"), WORD("LD_PRELOA=1"),
                               WORD("PATH=1"), WORD("=1"),        NULL };
    struct pt_static_options options = example;
    options.environment = kept;
    json_t *j = read_fixture("static-x86", options);
    assert_int_equal(json_object_size(at(j, "command.environment")), PT_COUNT(kept) - 1);
    json_decref(j);
    options.environment = left_out;
    j = read_fixture("static-x86", options);
    assert_int_equal(json_object_size(at(j, "command.environment")), 0);
    json_decref(j);
}

static void launchers_say_which_rank_it_is(void **state) {
    (void)state;
    check_rank((char *[]){ WORD("RANK=3"), WORD("WORLD_SIZE=8"), NULL }, 3, 8, "RANK");
    check_rank((char *[]){ WORD("RANK=3"), WORD("SLURM_PROCID=5"), NULL }, 5, -1, "SLURM_PROCID");
    check_rank((char *[]){ WORD("SLURM_PROCID=5"), WORD("PITOT_RANK=0"), NULL }, 0, -1,
               "PITOT_RANK");
    check_rank((char *[]){ WORD("PITOT_RANK=x"), WORD("OMPI_COMM_WORLD_RANK=2"),
                           WORD("OMPI_COMM_WORLD_SIZE=4"), NULL },
               2, 4, "OMPI_COMM_WORLD_RANK");
    check_rank(
        (char *[]){ WORD("RANK=0"), WORD("PITOT_WORLD_SIZE=2"), WORD("SLURM_NTASKS=3"), NULL }, 0,
        2, "RANK");
    check_rank((char *[]){ WORD("RANKS=9"), WORD("RANK=-1"), WORD("RANK=1x"), WORD("RANK=7"),
                           WORD("SLURM_NTASKS=16"), NULL },
               7, 16, "RANK");
    json_t *j = read_fixture("static-x86", example);
    assert_null_at(j, "rank");
    json_decref(j);
}

static void no_secret_is_anywhere_in_the_file_of_this_machine(void **state) {
    (void)state;
    char *text = written("/proc", "/sys", "/", example);
    json_t *j = parsed(text);
    assert_null(strstr(text, HIDDEN));
    char host[256];
    assert_int_equal(gethostname(host, sizeof host), 0);
    assert_text(j, "host.hostname", host);
    assert_number(j, "host.vNumProcessors", (double)sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(json_is_string(at(j, "host.vKernelInfo")));
    struct utsname name;
    assert_int_equal(uname(&name), 0);
    if (!is_emulated()) /* the kernel is that of another machine */
        assert_text(j, "architecture", name.machine);
    char libc[64];
    snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
    assert_text(j, "libc", libc);
    assert_true(json_integer_value(at(j, "clock.resolution_ns")) > 0);
    json_decref(j);
    pt_free(text);
}

/* Trees with a few files of a real /proc and nothing of /sys. */
static void foreign_trees_give_valid_files(void **state) {
    (void)state;
    static const struct {
        const char *proc, *processor;
        int processors, cores;
    } cases[] = {
        { OURS "captured-vm/proc", "Intel(R) Xeon(R) Processor", 2, 2 },
        { THEIRS "procfs/prometheus-procfs/proc", "Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", 8,
          4 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char proc[PATH_MAX];
        if (!find_capture(cases[i].proc, proc))
            continue;
        char *text = written(proc, proc, proc, example);
        json_t *j = parsed(text);
        assert_number(j, "host.vNumProcessors", cases[i].processors);
        assert_text(j, "host.vCpuType", cases[i].processor);
        assert_number(j, "cpu_cores", cases[i].cores);
        assert_null_at(j, "vId");
        assert_null_at(j, "host.hostname");
        assert_null_at(j, "cgroup.version");
        json_decref(j);
        pt_free(text);
    }
}

static void odd_processor_texts_leave_fields_empty(void **state) {
    (void)state;
    struct pt_cpuinfo info;
    pt_cpuinfo_parse(pt_scan_of(PT_STR("")), &info);
    assert_int_equal(info.processor_count, 0);
    assert_int_equal(info.type[0], 0);
    pt_cpuinfo_parse(pt_scan_of(PT_STR("processor : x\nprocessor\nphysical id : 9999\n"
                                       "cpu cores : 99999999999999999999\n: :\n"
                                       "CPU implementer : 0x99\nCPU part : 0x123\n")),
                     &info);
    assert_int_equal(info.processor_count, 0);
    assert_int_equal(info.socket_count, 0);
    assert_int_equal(info.core_count, 0);
    assert_string_equal(info.type, "ARM implementer 0x99 part 0x123");
    pt_cpuinfo_parse(pt_scan_of(PT_STR("processor : 0\nprocessors : 1\nmodel name suffix : x\n")),
                     &info);
    assert_int_equal(info.processor_count, 1);
    assert_string_equal(info.type, "");
}

static void sizes_in_kib_are_bytes_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t bytes;
    } cases[] = {
        { "Other: 7 kB\nMemTotal:       5 kB\n", 0, 5120 },
        { "MemTotal: 0 kB\n", 0, 0 },
        { "MemTotal: 9007199254740991 kB\n", 0, 9007199254740991 * 1024 },
        { "MemTotal: 9007199254740992 kB\n", -EINVAL, -1 },
        { "MemTotal: -1 kB\n", -EINVAL, -1 },
        { "MemTotal: many\n", -EINVAL, -1 },
        { "Other: 7 kB\n", -ENODATA, -1 },
        { "", -ENODATA, -1 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        int64_t bytes = -1;
        struct pt_scan text = pt_scan_of(pt_str_from(cases[i].text));
        assert_int_equal(pt_static_find_kib(text, PT_STR("MemTotal:"), &bytes), cases[i].rc);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

/* A machine of one processor and without /proc/stat; nothing says whether it is virtual. */
static void one_processor_is_counted(void **state) {
    (void)state;
    struct tree t;
    char proc[PATH_MAX], sys[PATH_MAX];
    tree_make(&t);
    tree_put(&t, "proc/cpuinfo", "processor\t: 0\n");
    tree_directory(&t, "sys");
    snprintf(proc, sizeof proc, "%s", tree_path(&t, "proc"));
    snprintf(sys, sizeof sys, "%s", tree_path(&t, "sys"));
    char *text = written(proc, sys, sys, example);
    json_t *j = parsed(text);
    assert_number(j, "host.vNumProcessors", 1);
    assert_null_at(j, "virtualisation.hypervisor");
    json_decref(j);
    pt_free(text);
    tree_put(&t, "proc/cpuinfo", "\n"); /* those of /proc/stat, if there are none */
    tree_put(&t, "proc/stat", "cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 7\n");
    text = written(proc, sys, sys, example);
    j = parsed(text);
    assert_number(j, "host.vNumProcessors", 2);
    json_decref(j);
    pt_free(text);
    tree_remove(&t);
}

/* A quota that cannot be is not a limit. */
static void odd_quotas_are_not_limits(void **state) {
    (void)state;
    static const struct {
        const char *quota;
        double cpus; /* 0: none */
    } cases[] = { { "150000 100000\n", 1.5 },
                  { "max 100000\n", 0 },
                  { "100000 0\n", 0 },
                  { "0 100000\n", 0 },
                  { "-1 100000\n", 0 },
                  { "100000 -1\n", 0 },
                  { "100000\n", 0 },
                  { "\n", 0 },
                  { "1 1\n", 1 },
                  { "9223372036854775807 1\n", 0 } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct tree t;
        char proc[PATH_MAX], sys[PATH_MAX];
        tree_make(&t);
        tree_put(&t, "proc/self/cgroup", "0::/group\n");
        tree_put(&t, "sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        tree_put(&t, "sys/fs/cgroup/group/cpu.max", cases[i].quota);
        snprintf(proc, sizeof proc, "%s", tree_path(&t, "proc"));
        snprintf(sys, sizeof sys, "%s", tree_path(&t, "sys"));
        char *text = written(proc, sys, sys, example);
        json_t *j = parsed(text);
        if (cases[i].cpus > 0)
            assert_number(j, "cgroup.limits.cpus", cases[i].cpus);
        else
            assert_null_at(j, "cgroup.limits.cpus");
        json_decref(j);
        pt_free(text);
        tree_remove(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(one_processor_is_counted, "C130: one processor is counted"),
        PT_TEST(odd_quotas_are_not_limits, "C131: a quota that cannot be is not a limit"),
        PT_TEST(a_server_is_described_exactly, "C020 C130: a server is described exactly"),
        PT_TEST(its_parts_are_listed, "C130: its parts are listed"),
        PT_TEST(every_field_of_a_tree_is_as_expected,
                "C130 C133: every field of two trees is as expected"),
        PT_TEST(variables_that_change_inference_are_kept,
                "C020: variables that change inference are kept, others are not"),
        PT_TEST(the_tightest_limit_of_all_groups_applies,
                "C130: the tightest limit of all groups applies"),
        PT_TEST(a_small_container_has_nulls_and_no_zeros,
                "C130 C133: a small container has nulls and no zeros"),
        PT_TEST(the_command_is_there_without_its_secrets,
                "C020: the command is there without its secrets"),
        PT_TEST(without_a_command_there_is_null, "C002: without a command there is null"),
        PT_TEST(launchers_say_which_rank_it_is, "launchers say which rank it is"),
        PT_TEST(no_secret_is_anywhere_in_the_file_of_this_machine,
                "C020: no secret is anywhere in the file of this machine"),
        PT_TEST(foreign_trees_give_valid_files, "C133: foreign trees give valid files"),
        PT_TEST(sizes_in_kib_are_bytes_or_refused, "C130: sizes that cannot be are refused"),
        PT_TEST(odd_processor_texts_leave_fields_empty, "odd processor texts leave fields empty"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
