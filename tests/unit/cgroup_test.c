/* Where cgroups are, who is in them, what their paths and files tell. */
#include "test.h"

#include "base/mem.h"
#include "source/kernel/cgroup.h"

#include <errno.h>
#include <unistd.h>

#define ID1 "b29faf21b7eff959f64b4192c34d5d67a707fe8561e9eaa608cb27693fba4242"
#define ID2 "7c3e8f1d2a4b5c6d7e8f9012a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6"
#define UID "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
#define POD "pod0f1e2d3c_4b5a_6978_8796_a5b4c3d2e1f0"

static struct pt_cgroup_values parse(const char *file, int version, const char *text) {
    struct pt_cgroup_values values = { 0 };
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++)
        if (strcmp(pt_cgroup_files[i].name, file) == 0 && pt_cgroup_files[i].version == version)
            pt_cgroup_parse(&pt_cgroup_files[i], pt_scan_of(pt_str_from(text)), NULL, &values);
    return values;
}

static void assert_value(const struct pt_cgroup_values *v, enum pt_cgroup_value value,
                         int64_t expected) {
    assert_true(pt_cgroup_has(v, value));
    assert_true(v->at[value] == expected);
}

static void both_versions_give_the_same_units(void **state) {
    (void)state;
    struct pt_cgroup_values v1 = parse("cpuacct.stat", 1, "user 250\nsystem 71\n");
    int64_t hz = sysconf(_SC_CLK_TCK);
    assert_value(&v1, PT_CGROUP_CPU_USER_CS, 250 * 100 / hz);
    assert_value(&v1, PT_CGROUP_CPU_KERNEL_CS, 71 * 100 / hz);
    struct pt_cgroup_values v2 = parse(
        "cpu.stat", 2, "usage_usec 3210987\nuser_usec 2500000\nsystem_usec 719999\nnice_usec 0\n");
    assert_value(&v2, PT_CGROUP_CPU_TIME_NS, 3210987000);
    assert_value(&v2, PT_CGROUP_CPU_USER_CS, 250);
    assert_value(&v2, PT_CGROUP_CPU_KERNEL_CS, 71);
    assert_false(pt_cgroup_has(&v2, PT_CGROUP_PERIODS));
}

static void no_limit_is_absent(void **state) {
    (void)state;
    static const struct {
        const char *file, *text;
        int version;
        enum pt_cgroup_value value;
    } cases[] = {
        { "memory.max", "max\n", 2, PT_CGROUP_MEMORY_LIMIT },
        { "memory.limit_in_bytes", "9223372036854771712\n", 1, PT_CGROUP_MEMORY_LIMIT },
        { "memory.limit_in_bytes", "9223372036854710272\n", 1, PT_CGROUP_MEMORY_LIMIT },
        { "memory.limit_in_bytes", "9223372036854775807\n", 1, PT_CGROUP_MEMORY_LIMIT },
        { "memory.limit_in_bytes", "18446744073709551615\n", 1, PT_CGROUP_MEMORY_LIMIT },
        { "cpu.cfs_quota_us", "-1\n", 1, PT_CGROUP_QUOTA_US },
        { "cpu.max", "max 100000\n", 2, PT_CGROUP_QUOTA_US },
        { "pids.max", "max\n", 1, PT_CGROUP_PIDS_LIMIT },
        { "memory.high", "", 2, PT_CGROUP_MEMORY_HIGH },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_cgroup_values v = parse(cases[i].file, cases[i].version, cases[i].text);
        assert_false(pt_cgroup_has(&v, cases[i].value));
    }
    struct pt_cgroup_values v = parse("cpu.max", 2, "150000 100000\n");
    assert_value(&v, PT_CGROUP_QUOTA_US, 150000);
    assert_value(&v, PT_CGROUP_PERIOD_US, 100000);
}

static void a_number_that_does_not_fit_is_absent(void **state) {
    (void)state;
    struct pt_cgroup_values v =
        parse("cpu.stat", 2,
              "usage_usec 9223372036854775807\nuser_usec 99999999999999999999\nnr_periods -1\n"
              "nr_throttled 3x\nthrottled_usec 4\n");
    assert_false(pt_cgroup_has(&v, PT_CGROUP_CPU_TIME_NS));
    assert_false(pt_cgroup_has(&v, PT_CGROUP_CPU_USER_CS));
    assert_false(pt_cgroup_has(&v, PT_CGROUP_PERIODS));
    assert_false(pt_cgroup_has(&v, PT_CGROUP_THROTTLED_PERIODS));
    assert_value(&v, PT_CGROUP_THROTTLED_NS, 4000);
}

static void io_is_summed_over_devices_that_are_not_made_of_others(void **state) {
    (void)state;
    struct pt_cgroup_devices stacked = { .at = { { 253, 0 } }, .count = 1 };
    struct pt_cgroup_values v = { 0 };
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++)
        if (strcmp(pt_cgroup_files[i].name, "io.stat") == 0)
            pt_cgroup_parse(
                &pt_cgroup_files[i],
                pt_scan_of(PT_STR("7:0 7:1 8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=7 dios=7\n"
                                  "8:16 rbytes=5 wbytes=6 rios=3 wios=4 dbytes=0 dios=0\n"
                                  "253:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n")),
                &stacked, &v);
    assert_value(&v, PT_CGROUP_READ_BYTES, 15);
    assert_value(&v, PT_CGROUP_WRITE_BYTES, 26);
    assert_value(&v, PT_CGROUP_READS, 4);
    assert_value(&v, PT_CGROUP_WRITES, 6);
    v = parse("blkio.throttle.io_service_bytes_recursive", 1,
              "8:0 Read 100\n8:0 Write 200\n8:0 Sync 300\n8:0 Total 300\n8:16 Read 1\nTotal 301\n");
    assert_value(&v, PT_CGROUP_READ_BYTES, 101);
    assert_value(&v, PT_CGROUP_WRITE_BYTES, 200);
}

static void a_group_without_io_has_read_nothing_but_a_broken_line_says_nothing(void **state) {
    (void)state;
    struct pt_cgroup_values v = parse("io.stat", 2, "");
    assert_value(&v, PT_CGROUP_READ_BYTES, 0);
    v = parse("blkio.throttle.io_service_bytes_recursive", 1, "Total 0\n");
    assert_value(&v, PT_CGROUP_WRITE_BYTES, 0);
    v = parse("io.stat", 2, "8:0 rbytes=1 wby");
    assert_false(pt_cgroup_has(&v, PT_CGROUP_READ_BYTES));
    v = parse("io.stat", 2, "8:0 rbytes=9223372036854775807\n8:1 rbytes=1\n");
    assert_false(pt_cgroup_has(&v, PT_CGROUP_READ_BYTES));
}

static void pressure_totals_are_microseconds(void **state) {
    (void)state;
    struct pt_cgroup_values v = parse("memory.pressure", 2,
                                      "some avg10=1.00 avg60=0.12 avg300=0.05 total=123456\n"
                                      "full avg10=0.00 avg60=0.00 avg300=0.00 total=7890\n");
    assert_value(&v, PT_CGROUP_MEMORY_SOME_US, 123456);
    assert_value(&v, PT_CGROUP_MEMORY_FULL_US, 7890);
    v = parse("cpu.pressure", 2, "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n");
    assert_false(pt_cgroup_has(&v, PT_CGROUP_CPU_FULL_US));
}

static void a_cpu_list_is_a_count(void **state) {
    (void)state;
    struct pt_cgroup_values v = parse("cpuset.cpus.effective", 2, "0-3,8,10-11\n");
    assert_value(&v, PT_CGROUP_CPU_COUNT, 7);
    static const char *const broken[] = { "\n", "", "3-1\n", "0-99999999999\n", "0,\n", "0-3 x\n" };
    for (size_t i = 0; i < PT_COUNT(broken); i++) {
        v = parse("cpuset.cpus.effective", 2, broken[i]);
        assert_false(pt_cgroup_has(&v, PT_CGROUP_CPU_COUNT));
    }
}

static void a_value_that_leaves_its_file_is_forgotten(void **state) {
    (void)state;
    struct pt_cgroup_values v = { 0 };
    const struct pt_cgroup_file *cpu_stat = &pt_cgroup_files[1];
    pt_cgroup_parse(cpu_stat, pt_scan_of(PT_STR("usage_usec 1\nnr_periods 5\n")), NULL, &v);
    assert_value(&v, PT_CGROUP_PERIODS, 5);
    pt_cgroup_parse(cpu_stat, pt_scan_of(PT_STR("usage_usec 2\n")), NULL, &v);
    assert_value(&v, PT_CGROUP_CPU_TIME_NS, 2000);
    assert_false(pt_cgroup_has(&v, PT_CGROUP_PERIODS));
}

static void loopback_is_left_out_of_the_network(void **state) {
    (void)state;
    struct pt_scan text = pt_scan_of(PT_STR("Inter-| Receive\n face |bytes\n"
                                            "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
                                            "  eth0:1296 10 0 0 0 0 0 0 840 9 0 0 0 0 0 0\n"
                                            "  eth1: 4 1 0 0 0 0 0 0 60 9 0 0 0 0 0 0\n"));
    int64_t in, out;
    assert_int_equal(pt_cgroup_parse_net_dev(text, &in, &out), 0);
    assert_true(in == 1300 && out == 900);
    assert_int_equal(pt_cgroup_parse_net_dev(pt_scan_of(PT_STR("a\nb\neth0: 1 2\n")), &in, &out),
                     -EINVAL);
}

static void check_identity(const char *path, const char *runtime, const char *id, const char *name,
                           const char *pod_uid, bool is_entity) {
    struct pt_cgroup_identity identity;
    pt_cgroup_identify(pt_str_from(path), &identity);
    assert_string_equal(identity.runtime, runtime);
    assert_str_eq(identity.id, id);
    assert_str_eq(identity.name, name);
    assert_string_equal(identity.pod_uid, pod_uid);
    assert_int_equal(identity.is_entity, is_entity);
}

static void paths_tell_the_container(void **state) {
    (void)state;
    check_identity("/docker/" ID1, "docker", ID1, "", "", true);
    check_identity("/system.slice/docker-" ID1 ".scope", "docker", ID1, "", "", true);
    check_identity("/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" ID1 ".scope",
                   "docker", ID1, "", "", true);
    check_identity("/default/" ID1, "containerd", ID1, "", "", true);
    check_identity("/default/redis", "containerd", "redis", "redis", "", true);
    check_identity("/system.slice/nerdctl-" ID1 ".scope", "containerd", ID1, "", "", true);
    check_identity("/machine.slice/libpod-" ID1 ".scope", "podman", ID1, "", "", true);
    check_identity("/libpod_parent/libpod-" ID1, "podman", ID1, "", "", true);
    check_identity("/machine.slice/libpod-conmon-" ID1 ".scope", "cgroup", "", "", "", false);
    check_identity("/ecs/0a1b2c3d4e5f/" ID1, "ecs", ID1, "0a1b2c3d4e5f", "", true);
    check_identity("/lxc.payload.web", "lxc", "web", "web", "", true);
    check_identity("/lxc/web", "lxc", "web", "web", "", true);
    check_identity("/lxc.monitor.web", "cgroup", "", "", "", false);
    check_identity("/machine.slice/machine-deb.scope", "machine", "deb", "deb", "", true);
}

static void kubernetes_paths_tell_the_pod(void **state) {
    (void)state;
    check_identity("/kubepods/burstable/pod" UID, "kubernetes", "", "", UID, true);
    check_identity("/kubepods/burstable/pod" UID "/" ID1, "kubernetes", ID1, "", UID, true);
    check_identity("/kubepods/pod" UID "/" ID1, "kubernetes", ID1, "", UID, true);
    check_identity("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-" POD
                   ".slice/cri-containerd-" ID1 ".scope",
                   "containerd", ID1, "", UID, true);
    check_identity("/kubepods.slice/kubepods-" POD ".slice/crio-" ID1 ".scope", "cri-o", ID1, "",
                   UID, true);
    check_identity("/kubepods.slice/kubepods-" POD ".slice/crio-conmon-" ID1 ".scope", "kubernetes",
                   "", "", UID, false);
    check_identity("/system.slice/containerd.service/kubepods-burstable-" POD
                   ".slice:cri-containerd:" ID1,
                   "containerd", ID1, "", UID, true);
    check_identity("/kubepods", "cgroup", "", "", "", false);
    check_identity("/kubepods.slice/kubepods-burstable.slice", "cgroup", "", "", "", false);
}

static void paths_tell_services_and_jobs(void **state) {
    (void)state;
    check_identity("/system.slice/nginx.service", "systemd", "", "nginx.service", "", true);
    check_identity("/user.slice/user-1000.slice/session-3.scope", "systemd", "", "session-3.scope",
                   "", true);
    check_identity("/user.slice/user-1000.slice", "systemd", "", "user-1000.slice", "", true);
    check_identity("/system.slice", "cgroup", "", "", "", false);
    check_identity("/slurm/uid_1000/job_42", "slurm", "", "job_42", "", true);
    check_identity("/slurm/uid_1000/job_42/step_0/task_0", "slurm", "", "job_42/step_0", "", false);
    check_identity("/system.slice/slurmstepd.scope/job_42/step_batch/user", "slurm", "",
                   "job_42/step_batch", "", false);
    check_identity("/x/job_42/step_0", "cgroup", "", "", "", false);
}

static void a_group_inside_a_container_is_not_the_container(void **state) {
    (void)state;
    check_identity("/docker/" ID1 "/init", "docker", ID1, "", "", false);
    check_identity("/docker/" ID1 "/docker/" ID2, "docker", ID2, "", "", true);
    check_identity("/", "cgroup", "", "", "", false);
    check_identity("", "cgroup", "", "", "", false);
    check_identity("/process_api/268292268f444364f8f61a3293fc6039", "cgroup", "", "", "", false);
    check_identity("/docker/" ID1 "f", "cgroup", "", "", "", false);
}

static void inside_a_container_the_mounts_tell_who_it_is(void **state) {
    (void)state;
    struct pt_cgroup_identity identity;
    pt_cgroup_identify_self(
        pt_scan_of(PT_STR("638 600 254:1 /var/lib/docker/containers/" ID1
                          "/hostname /etc/hostname rw,relatime - ext4 /dev/vda1 rw\n")),
        PT_STR("web-1"), &identity);
    assert_string_equal(identity.runtime, "docker");
    assert_str_eq(identity.id, ID1);
    assert_true(identity.is_entity);

    pt_cgroup_identify_self(
        pt_scan_of(PT_STR("1 0 0:50 / / rw - overlay overlay rw\n"
                          "638 600 8:1 /var/lib/kubelet/pods/" UID
                          "/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
                          "639 600 8:1 /var/lib/kubelet/pods/" UID
                          "/containers/vllm/1c2d3e4f /dev/termination-log rw - ext4 /dev/a rw\n")),
        PT_STR("vllm-0"), &identity);
    assert_string_equal(identity.runtime, "kubernetes");
    assert_string_equal(identity.pod_uid, UID);
    assert_str_eq(identity.name, "vllm");
    assert_true(identity.is_entity);

    struct pt_scan overlay = pt_scan_of(PT_STR("1 0 0:50 / / rw - overlay overlay rw\n"));
    pt_cgroup_identify_self(overlay, PT_STR("1f0e2d3c4b5a"), &identity);
    assert_str_eq(identity.id, "1f0e2d3c4b5a");
    pt_cgroup_identify_self(overlay, PT_STR("workstation"), &identity);
    assert_false(identity.is_entity);
}

static void a_host_that_runs_containers_is_none(void **state) {
    (void)state;
    struct pt_cgroup_identity identity;
    pt_cgroup_identify_self(pt_scan_of(PT_STR("25 1 8:2 / / rw - ext4 /dev/sda2 rw\n"
                                              "99 25 0:50 / /var/lib/docker/overlay2/" ID1
                                              "/merged rw - overlay overlay rw\n"
                                              "98 25 0:51 / /var/lib/docker/containers/" ID1
                                              "/mounts/shm rw - tmpfs shm rw\n")),
                            PT_STR("1f0e2d3c4b5a"), &identity);
    assert_false(identity.is_entity);
}

static void mountinfo_tells_who_holds_a_controller(void **state) {
    (void)state;
    struct pt_cgroup_layout l;
    pt_cgroup_layout_parse(
        &l, pt_scan_of(PT_STR(
                "31 23 0:28 / /sys/fs/cgroup rw shared:9 master:2 - tmpfs tmpfs rw\n"
                "33 31 0:30 /docker/x /mnt/other\\040place rw - cgroup cgroup rw,cpu,cpuacct\n"
                "34 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 - cgroup cgroup rw,cpu,cpuacct"
                "\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
                "short line\n"
                "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n")));
    assert_int_equal(l.mount_count, 4);
    assert_string_equal(l.mounts[0].point, "/mnt/other place");
    assert_int_equal(l.v1_plus_one[PT_CGROUP_CPU], 2);
    assert_int_equal(l.v1_plus_one[PT_CGROUP_CPUACCT], 2);
    assert_int_equal(l.v1_plus_one[PT_CGROUP_MEMORY], 0);
    assert_int_equal(l.v2_plus_one, 4);
    pt_cgroup_layout_close(&l);
}

static void a_path_never_leads_out_of_its_mount(void **state) {
    (void)state;
    char whole[] = "/", part[] = "/docker/x", above[] = "/..";
    char relative[4096];
    struct pt_cgroup_mount m = { .root = whole };
    assert_true(pt_cgroup_relative(&m, PT_STR("/"), relative));
    assert_string_equal(relative, ".");
    assert_true(pt_cgroup_relative(&m, PT_STR("/a/b"), relative));
    assert_string_equal(relative, "a/b");
    assert_false(pt_cgroup_relative(&m, PT_STR("/../a"), relative));
    m.root = part;
    assert_true(pt_cgroup_relative(&m, PT_STR("/docker/x/y"), relative));
    assert_string_equal(relative, "y");
    assert_false(pt_cgroup_relative(&m, PT_STR("/docker/xy"), relative));
    assert_false(pt_cgroup_relative(&m, PT_STR("/"), relative));
    m.root = above;
    assert_true(pt_cgroup_relative(&m, PT_STR("/../a"), relative));
    assert_string_equal(relative, "a");
}

static void a_process_has_a_path_for_each_hierarchy(void **state) {
    (void)state;
    struct pt_str paths[PT_CGROUP_PATHS];
    int n = pt_cgroup_paths(pt_scan_of(PT_STR("9:name=systemd:/ignored\n4:memory:/a:b\n"
                                              "3:cpu,cpuacct:/\n2:freezer:/f\n1:pids:/a:b\n"
                                              "0::/pitot-1 (deleted)\n")),
                            paths);
    assert_int_equal(n, 2);
    assert_str_eq(paths[0], "/pitot-1");
    assert_str_eq(paths[1], "/a:b");
    n = pt_cgroup_paths(pt_scan_of(PT_STR("1:name=systemd:/s.service\n0::/\n")), paths);
    assert_int_equal(n, 1);
    assert_str_eq(paths[0], "/s.service");
    n = pt_cgroup_paths(pt_scan_of(PT_STR("3:cpu:/\n0::/\n")), paths);
    assert_int_equal(n, 1);
    assert_str_eq(paths[0], "/");
    assert_int_equal(pt_cgroup_paths(pt_scan_of(PT_STR("rubbish\n1:2\n")), paths), 0);
}

static struct pt_fs open_fixture(const char *name) {
    struct pt_fs fs;
    struct pt_err err;
    const char *source = getenv("PITOT_SOURCE");
    char *root = pt_asprintf("%s/tests/fixtures/%s", source ? source : ".", name);
    char *proc = pt_asprintf("%s/proc", root), *sys = pt_asprintf("%s/sys", root);
    assert_int_equal(pt_fs_open(&fs, proc, sys, root, &err), 0);
    pt_free(proc);
    pt_free(sys);
    pt_free(root);
    return fs;
}

static void a_container_is_found_by_what_people_type(void **state) {
    (void)state;
    struct pt_fs fs = open_fixture("cgroup-v2-systemd");
    char path[256];
    static const char docker[] = "/system.slice/docker-" ID1 ".scope";
    assert_int_equal(pt_cgroup_find(&fs, PT_STR(ID1), path, sizeof path), 0);
    assert_string_equal(path, docker);
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("b29f"), path, sizeof path), 0);
    assert_string_equal(path, docker);
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("b29"), path, sizeof path), -ENOENT);
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("nginx"), path, sizeof path), 0);
    assert_string_equal(path, "/system.slice/nginx.service");
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("/machine.slice"), path, sizeof path), 0);
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("/nowhere"), path, sizeof path), -ENOENT);
    assert_int_equal(pt_cgroup_find(&fs, PT_STR(""), path, sizeof path), -ENOENT);
    pt_fs_close(&fs);
}

static void two_that_match_are_not_one(void **state) {
    (void)state;
    struct pt_fs fs = open_fixture("cgroup-lxc");
    char path[256];
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("ssh"), path, sizeof path), -ENOTUNIQ);
    assert_string_equal(path, "");
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("web"), path, sizeof path), 0);
    assert_string_equal(path, "/lxc.payload.web");
    pt_fs_close(&fs);
}

static void jobs_and_pods_are_found(void **state) {
    (void)state;
    struct pt_fs fs = open_fixture("cgroup-slurm");
    char path[256];
    assert_int_equal(pt_cgroup_find(&fs, PT_STR("job_42"), path, sizeof path), 0);
    assert_string_equal(path, "/slurm/uid_1000/job_42");
    pt_fs_close(&fs);
    fs = open_fixture("cgroup-kubernetes-v2");
    assert_int_equal(pt_cgroup_find(&fs, PT_STR(UID), path, sizeof path), 0);
    assert_non_null(strstr(path, "kubepods-burstable-" POD ".slice"));
    assert_null(strstr(path, ".scope"));
    pt_fs_close(&fs);
}

static void members_are_those_of_all_groups_below(void **state) {
    (void)state;
    struct pt_fs fs = open_fixture("cgroup-v2-systemd");
    pid_t pids[8];
    assert_int_equal(pt_cgroup_pids(&fs, "/machine.slice", pids, 8), 1);
    assert_int_equal(pids[0], 901);
    assert_int_equal(pt_cgroup_pids(&fs, "/", pids, 2), 4);
    assert_int_equal(pt_cgroup_pids(&fs, "/nowhere", pids, 8), -ENOENT);
    pt_fs_close(&fs);
    fs = open_fixture("cgroup-hybrid");
    assert_int_equal(pt_cgroup_pids(&fs, "/process_api/268292268f444364f8f61a3293fc6039", pids, 8),
                     1);
    pt_fs_close(&fs);
}

static void captured_trees_without_mountinfo_are_understood(void **state) {
    (void)state;
    char *sys = pt_asprintf("%s/tests/fixtures/cgroup-v1-docker/sys", getenv("PITOT_SOURCE"));
    struct pt_fs fs;
    struct pt_err err;
    struct pt_cgroup_layout l;
    assert_int_equal(pt_fs_open(&fs, "/dev", sys, "/dev", &err), 0);
    assert_int_equal(pt_cgroup_layout_open(&l, &fs), 0);
    assert_int_equal(l.v2_plus_one, 0);
    assert_true(l.v1_plus_one[PT_CGROUP_CPUACCT] == l.v1_plus_one[PT_CGROUP_CPU]);
    assert_true(l.v1_plus_one[PT_CGROUP_MEMORY] > 0);
    pt_cgroup_layout_close(&l);
    pt_fs_close(&fs);
    pt_free(sys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(both_versions_give_the_same_units,
                "C086 C087 C088: v1 and v2 give the same units of CPU time"),
        PT_TEST(no_limit_is_absent, "C089: no limit is absent, however the kernel writes it"),
        PT_TEST(a_number_that_does_not_fit_is_absent,
                "C086: a number that does not fit or is broken is absent"),
        PT_TEST(io_is_summed_over_devices_that_are_not_made_of_others,
                "C091 C092: I/O is summed over devices that are not made of others"),
        PT_TEST(a_group_without_io_has_read_nothing_but_a_broken_line_says_nothing,
                "C091 C092: a group without I/O has read 0 bytes, a broken line is unknown"),
        PT_TEST(pressure_totals_are_microseconds, "pressure totals are microseconds"),
        PT_TEST(a_cpu_list_is_a_count, "C099: a CPU list is a count"),
        PT_TEST(a_value_that_leaves_its_file_is_forgotten,
                "a value that leaves its file is forgotten"),
        PT_TEST(loopback_is_left_out_of_the_network,
                "C093 C094: loopback is left out of a container's network"),
        PT_TEST(paths_tell_the_container, "C084: paths tell the container"),
        PT_TEST(kubernetes_paths_tell_the_pod, "C084: Kubernetes paths tell the pod"),
        PT_TEST(paths_tell_services_and_jobs, "C084: paths tell services and jobs"),
        PT_TEST(a_group_inside_a_container_is_not_the_container,
                "C084: a group inside a container is not the container"),
        PT_TEST(inside_a_container_the_mounts_tell_who_it_is,
                "C084: inside a container the mounts tell who it is"),
        PT_TEST(a_host_that_runs_containers_is_none, "C084: a host that runs containers is none"),
        PT_TEST(mountinfo_tells_who_holds_a_controller,
                "C095 C096 C098: mountinfo tells who holds a controller"),
        PT_TEST(a_path_never_leads_out_of_its_mount, "a path never leads out of its mount"),
        PT_TEST(a_process_has_a_path_for_each_hierarchy,
                "C097: a process has a path for each hierarchy"),
        PT_TEST(a_container_is_found_by_what_people_type,
                "a container is found by id, prefix, name and path"),
        PT_TEST(two_that_match_are_not_one, "a name that two services have finds none"),
        PT_TEST(jobs_and_pods_are_found, "jobs and pods are found by name and uid"),
        PT_TEST(members_are_those_of_all_groups_below,
                "the members of a group are those of all groups below"),
        PT_TEST(captured_trees_without_mountinfo_are_understood,
                "C095: a captured tree without mountinfo is understood"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
