/* Rows of containers on captured trees, and on cgroups made for the test where allowed. */
#include "capture.h"
#include "tree.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/cgroup_watch.h"
#include "collect/collector.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct pt_collector pt_container_collector;

#define ID1 "b29faf21b7eff959f64b4192c34d5d67a707fe8561e9eaa608cb27693fba4242"
#define ID2 "7c3e8f1d2a4b5c6d7e8f9012a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6"
#define ID3 "1f0e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
#define ID4 "5d41402abc4b2a76b9719d911017c592ae3f9d0c4b5e6f708192a3b4c5d6e7f8"
#define UID "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"

/* A collector that runs on one tree. */
struct run {
    struct pt_fs fs;
    struct pt_target target;
    struct pt_context context;
    void *state;
    struct pt_batch rows[2];
};

static void start_on(struct run *run, const char *proc, const char *sys, const char *root) {
    struct pt_err err;
    assert_int_equal(pt_fs_open(&run->fs, proc, sys, root, &err), 0);
    run->context = (struct pt_context){ .fs = &run->fs,
                                        .target = &run->target,
                                        .interval_ns = PT_NS_PER_SECOND,
                                        .now_ns = pt_mono_ns(),
                                        .fd_budget = 256 };
    run->state = pt_calloc(1, pt_container_collector.state_size);
    for (int i = 0; i < 2; i++)
        pt_batch_init(&run->rows[i], pt_container_collector.tables[i]);
}

static int start(struct run *run, const char *fixture) {
    const char *source = getenv("PITOT_SOURCE");
    char *root = pt_asprintf("%s/tests/fixtures/%s", source ? source : ".", fixture);
    char *proc = pt_asprintf("%s/proc", root), *sys = pt_asprintf("%s/sys", root);
    start_on(run, proc, sys, root);
    pt_free(proc);
    pt_free(sys);
    pt_free(root);
    struct pt_err err;
    return pt_container_collector.open(run->state, &run->context, &err);
}

static void start_live(struct run *run) {
    struct pt_err err;
    start_on(run, "/proc", "/sys", "/");
    if (pt_container_collector.open(run->state, &run->context, &err))
        skip();
    /* A machine full of services must not make these tests wait for their turn. */
    run->context.interval_ns = 1000 * PT_NS_PER_SECOND;
}

static void tick_after(struct run *run, int64_t pause_ns) {
    run->context.now_ns += pause_ns;
    for (int i = 0; i < 2; i++)
        pt_batch_clear(&run->rows[i]);
    assert_int_equal(pt_container_collector.collect(run->state, &run->context, run->rows), 0);
    run->context.tick++;
}

static void stop(struct run *run) {
    pt_container_collector.close(run->state);
    pt_free(run->state);
    for (int i = 0; i < 2; i++)
        pt_batch_release(&run->rows[i]);
    pt_fs_close(&run->fs);
}

static int column_of(const struct pt_batch *b, const char *name) {
    int column = pt_table_find(b->table, name);
    assert_true(column >= 0);
    return column;
}

/* The row of that container or path, or -1. */
static int row_of(const struct run *run, const char *id) {
    const struct pt_batch *b = &run->rows[0];
    for (uint32_t i = 0; i < b->row_count; i++)
        if (pt_str_eq(pt_get_str(b, i, column_of(b, "cId")), pt_str_from(id)))
            return (int)i;
    return -1;
}

static void assert_cell(const struct run *run, const char *id, const char *name, int64_t expected) {
    const struct pt_batch *b = &run->rows[0];
    int row = row_of(run, id), column = column_of(b, name);
    assert_true(row >= 0);
    if (pt_is_null(b, (uint32_t)row, column))
        fail_msg("%s of %s is null", name, id);
    if (pt_get_i64(b, (uint32_t)row, column) != expected)
        fail_msg("%s of %s is %lld, not %lld", name, id,
                 (long long)pt_get_i64(b, (uint32_t)row, column), (long long)expected);
}

static void assert_cores(const struct run *run, const char *id, const char *name, double expected) {
    const struct pt_batch *b = &run->rows[0];
    int row = row_of(run, id), column = column_of(b, name);
    assert_true(row >= 0 && !pt_is_null(b, (uint32_t)row, column));
    assert_true(pt_get_f64(b, (uint32_t)row, column) == expected);
}

static void assert_text(const struct run *run, const char *id, const char *name,
                        const char *expected) {
    const struct pt_batch *b = &run->rows[0];
    int row = row_of(run, id), column = column_of(b, name);
    assert_true(row >= 0 && !pt_is_null(b, (uint32_t)row, column));
    assert_str_eq(pt_get_str(b, (uint32_t)row, column), expected);
}

static void assert_absent(const struct run *run, const char *id, const char *name) {
    const struct pt_batch *b = &run->rows[0];
    int row = row_of(run, id);
    assert_true(row >= 0);
    if (!pt_is_null(b, (uint32_t)row, column_of(b, name)))
        fail_msg("%s of %s is not null", name, id);
}

struct expected {
    const char *name;
    int64_t value;
};

static void assert_cells(const struct run *run, const char *id, const struct expected *cells,
                         size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_cell(run, id, cells[i].name, cells[i].value);
}

static void a_v1_container_has_all_its_numbers(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v1-docker"), 0);
    tick_after(&run, 0);
    int64_t hz = sysconf(_SC_CLK_TCK);
    const struct expected cells[] = {
        { "cCgroupVersion", 1 },
        { "cIsRecorded", 0 },
        { "cCpuTime", 3210987654 },
        { "cCpuTimeUserMode", 250 * 100 / hz },
        { "cCpuTimeKernelMode", 71 * 100 / hz },
        { "cMemoryUsed", 524288000 },
        { "cMemoryMaxUsed", 524292096 },
        { "cDiskReadBytes", 4096904 },
        { "cDiskWriteBytes", 8192 },
        { "cDiskReads", 101 },
        { "cDiskWrites", 2 },
        { "cNetworkBytesRecvd", 123456789 },
        { "cNetworkBytesSent", 987654 },
        { "cNumProcessors", 5 },
        { "cNumProcesses", 1 },
        { "cPgFault", 49980 },
        { "cMajorPageFault", 20 },
        { "cWorkingSet", 500000000 },
        { "cMemoryAnon", 400000000 },
        { "cMemoryCached", 104857600 },
        { "cSwapUsed", 8192 },
        { "cMemoryLimit", 536870912 },
        { "cMemoryTightestLimit", 536870912 },
        { "cMemoryLimitHits", 12 },
        { "cOomKills", 1 },
        { "cCpuPeriods", 40 },
        { "cCpuThrottledPeriods", 7 },
        { "cCpuThrottledTime", 123456789 },
        { "cPidsCurrent", 17 },
        { "cPidsLimit", 1000 },
    };
    assert_cells(&run, ID1, cells, PT_COUNT(cells));
    assert_text(&run, ID1, "cRuntime", "docker");
    assert_text(&run, ID1, "cPath", "/docker/" ID1);
    assert_cores(&run, ID1, "cCpuLimit", 1.5);
    assert_cores(&run, ID1, "cCpuTightestLimit", 1);
    assert_absent(&run, ID1, "cCpuPressureSome");
    assert_absent(&run, ID1, "cMemoryHigh");
    stop(&run);
}

static void v1_time_is_told_by_cpu(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v1-docker"), 0);
    tick_after(&run, 0);
    const struct pt_batch *b = &run.rows[1];
    int id = column_of(b, "cId"), cpu = column_of(b, "cCpu"), time = column_of(b, "cCpuTime");
    int64_t sum = 0;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < b->row_count; i++) {
        if (!pt_str_eq(pt_get_str(b, i, id), PT_STR(ID1)))
            continue;
        assert_int_equal(pt_get_i64(b, i, cpu), rows);
        assert_true(pt_get_time(b, i, 0) > 0);
        sum += pt_get_i64(b, i, time);
        rows++;
    }
    assert_int_equal(rows, 2);
    assert_true(sum == 3210987654);
    stop(&run);
}

static void without_a_command_no_group_is_the_recorded_one(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v1-docker"), 0);
    tick_after(&run, 0);
    assert_cell(&run, "/user.slice", "cIsRecorded", 0);
    assert_absent(&run, "/user.slice", "cIsShared");
    assert_cell(&run, "/user.slice", "cCpuTime", 1000000000);
    assert_cell(&run, "/user.slice", "cMemoryUsed", 100000000);
    assert_absent(&run, "/user.slice", "cMemoryLimit");
    assert_absent(&run, "/user.slice", "cMemoryTightestLimit");
    assert_absent(&run, "/user.slice", "cNumProcessors");
    assert_absent(&run, "/user.slice", "cPidsLimit");
    assert_absent(&run, "/user.slice", "cDiskReadBytes");
    assert_absent(&run, "/user.slice", "cNetworkBytesRecvd");
    stop(&run);
}

static void v2_services_and_containers_have_all_their_numbers(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    tick_after(&run, 0);
    const struct expected docker[] = {
        { "cCgroupVersion", 2 },
        { "cCpuTime", 7654321000 },
        { "cCpuTimeUserMode", 700 },
        { "cCpuTimeKernelMode", 65 },
        { "cMemoryUsed", 260000000 },
        { "cMemoryMaxUsed", 268435456 },
        { "cDiskReadBytes", 4196 },
        { "cDiskWriteBytes", 8392 },
        { "cDiskReads", 4 },
        { "cDiskWrites", 6 },
        { "cNetworkBytesRecvd", 900000 },
        { "cNetworkBytesSent", 900 },
        { "cNumProcessors", 2 },
        { "cNumProcesses", 1 },
        { "cPgFault", 59970 },
        { "cMajorPageFault", 30 },
        { "cWorkingSet", 250000000 },
        { "cMemoryAnon", 200000000 },
        { "cMemoryCached", 50000000 },
        { "cSwapUsed", 4096 },
        { "cMemoryLimit", 268435456 },
        { "cMemoryHigh", 200000000 },
        { "cMemoryTightestLimit", 268435456 },
        { "cMemoryLimitHits", 5 },
        { "cOomEvents", 2 },
        { "cOomKills", 1 },
        { "cCpuPeriods", 120 },
        { "cCpuThrottledPeriods", 30 },
        { "cCpuThrottledTime", 456789000 },
        { "cPidsCurrent", 11 },
        { "cCpuPressureSome", 111 },
        { "cCpuPressureFull", 22 },
        { "cMemoryPressureSome", 33 },
        { "cMemoryPressureFull", 44 },
        { "cIoPressureSome", 55 },
        { "cIoPressureFull", 66 },
    };
    assert_cells(&run, ID1, docker, PT_COUNT(docker));
    assert_cores(&run, ID1, "cCpuLimit", 0.5);
    assert_cores(&run, ID1, "cCpuTightestLimit", 0.5);
    assert_absent(&run, ID1, "cPidsLimit");
    static const char nginx[] = "/system.slice/nginx.service";
    assert_text(&run, nginx, "cName", "nginx.service");
    assert_text(&run, nginx, "cRuntime", "systemd");
    assert_absent(&run, nginx, "cMemoryLimit");
    assert_absent(&run, nginx, "cCpuLimit");
    assert_cell(&run, nginx, "cMemoryTightestLimit", 2147483648);
    assert_cores(&run, nginx, "cCpuTightestLimit", 4);
    assert_cell(&run, nginx, "cNumProcessors", 8);
    assert_cell(&run, nginx, "cPidsLimit", 4915);
    assert_absent(&run, nginx, "cNetworkBytesRecvd");
    assert_text(&run, ID2, "cRuntime", "podman");
    assert_cell(&run, ID2, "cNumProcesses", 1);
    assert_cell(&run, ID2, "cNetworkBytesRecvd", 901000);
    assert_absent(&run, ID2, "cMemoryMaxUsed");
    assert_int_equal(row_of(&run, "/system.slice"), -1);
    assert_int_equal(row_of(&run, "/machine.slice/libpod-conmon-" ID2 ".scope"), -1);
    stop(&run);
}

static void the_tightest_limit_may_be_far_above(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    tick_after(&run, 0);
    static const char scope[] =
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-term.scope";
    assert_cell(&run, scope, "cIsRecorded", 0);
    assert_cell(&run, scope, "cMemoryTightestLimit", 8589934592);
    assert_cores(&run, scope, "cCpuTightestLimit", 3);
    assert_cell(&run, scope, "cWorkingSet", 0);
    stop(&run);
}

static const char hybrid_v2[] = "/pitot-0b6c7a52-1111-4222-8333-944455566677";

static void on_a_hybrid_machine_the_command_has_one_row(void **state) {
    (void)state;
    struct run run = { 0 };
    run.target = (struct pt_target){ .pids = { 3846 },
                                     .pid_count = 1,
                                     .own_group = "pitot-0b6c7a52-1111-4222-8333-944455566677" };
    assert_int_equal(start(&run, "cgroup-hybrid"), 0);
    tick_after(&run, 0);
    assert_int_equal(run.rows[0].row_count, 1);
    assert_cell(&run, hybrid_v2, "cIsRecorded", 1);
    assert_cell(&run, hybrid_v2, "cIsShared", 0);
    assert_cell(&run, hybrid_v2, "cCpuTime", 1500000000);
    assert_cell(&run, hybrid_v2, "cCpuTimeUserMode", 100);
    assert_cell(&run, hybrid_v2, "cCpuPressureSome", 7);
    assert_cell(&run, hybrid_v2, "cNumProcesses", 1);
    /* limits of a group hold for everybody in it, its usage is that of all of them */
    assert_cell(&run, hybrid_v2, "cMemoryTightestLimit", 8000000000);
    assert_cell(&run, hybrid_v2, "cNumProcessors", 2);
    assert_absent(&run, hybrid_v2, "cMemoryUsed");
    stop(&run);
}

static void a_process_alone_in_its_groups_owns_their_numbers(void **state) {
    (void)state;
    struct run run = { 0 };
    run.target = (struct pt_target){ .pids = { 3846 }, .pid_count = 1 };
    assert_int_equal(start(&run, "cgroup-hybrid"), 0);
    for (int i = 0; i < 3; i++) {
        tick_after(&run, i * 3 * PT_NS_PER_SECOND);
        assert_int_equal(run.rows[0].row_count, 1);
        assert_cell(&run, hybrid_v2, "cIsRecorded", 1);
        assert_cell(&run, hybrid_v2, "cIsShared", 0);
        assert_cell(&run, hybrid_v2, "cCgroupVersion", 1);
        assert_cell(&run, hybrid_v2, "cCpuTime", 1500000000);
        assert_cell(&run, hybrid_v2, "cMemoryUsed", 4153344);
        assert_cell(&run, hybrid_v2, "cMemoryTightestLimit", 8000000000);
        assert_absent(&run, hybrid_v2, "cMemoryLimit");
    }
    stop(&run);
}

static void a_service_is_shared_unless_all_its_processes_are_recorded(void **state) {
    (void)state;
    static const char nginx[] = "/system.slice/nginx.service";
    struct run run = { .target = { .pids = { 800 }, .pid_count = 1 } };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    tick_after(&run, 0);
    assert_cell(&run, nginx, "cIsRecorded", 1);
    assert_cell(&run, nginx, "cIsShared", 0);
    stop(&run);
    /* another process is recorded: this one only has the same cgroup */
    run = (struct run){ .target = { .pids = { 801 }, .pid_count = 1 } };
    struct tree tree;
    tree_make(&tree);
    tree_put(&tree, "proc/801/cgroup", "0::/a.service\n");
    tree_put(&tree, "proc/800/stat",
             "800 (nginx) S 1 800 800 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 "
             "0 500 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
    tree_put(&tree, "proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_put(&tree, "sys/fs/cgroup/cgroup.controllers", "cpu\n");
    tree_put(&tree, "sys/fs/cgroup/a.service/cpu.stat", "usage_usec 5\n");
    tree_put(&tree, "sys/fs/cgroup/a.service/cgroup.procs", "800\n801\n");
    char *proc = pt_asprintf("%s/proc", tree.root), *sys = pt_asprintf("%s/sys", tree.root);
    start_on(&run, proc, sys, tree.root);
    struct pt_err err;
    assert_int_equal(pt_container_collector.open(run.state, &run.context, &err), 0);
    tick_after(&run, 0);
    assert_cell(&run, "/a.service", "cIsRecorded", 1);
    assert_cell(&run, "/a.service", "cIsShared", 1);
    assert_cell(&run, "/a.service", "cCpuTime", 5000);
    /* it ends: now the recorded one is alone */
    tree_put(&tree, "sys/fs/cgroup/a.service/cgroup.procs", "801\n");
    tick_after(&run, 6 * PT_NS_PER_SECOND);
    assert_cell(&run, "/a.service", "cIsShared", 0);
    stop(&run);
    pt_free(proc);
    pt_free(sys);
    tree_remove(&tree);
}

static void a_command_in_no_group_gets_the_row_of_the_root(void **state) {
    (void)state;
    struct run run = { 0 };
    run.target = (struct pt_target){ .pids = { 77 }, .pid_count = 1 };
    assert_int_equal(start(&run, "cgroup-hybrid"), 0);
    tick_after(&run, 0);
    assert_int_equal(run.rows[0].row_count, 1);
    assert_cell(&run, "/", "cIsRecorded", 1);
    assert_cell(&run, "/", "cIsShared", 1);
    assert_cell(&run, "/", "cCpuTime", 72000000000);
    assert_cell(&run, "/", "cMemoryUsed", 1000000000);
    assert_cell(&run, "/", "cNumProcessors", 2);
    stop(&run);
}

static void inside_a_container_its_own_row_has_its_id(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-inside"), 0);
    tick_after(&run, 0);
    assert_int_equal(run.rows[0].row_count, 1);
    assert_text(&run, ID3, "cRuntime", "docker");
    assert_text(&run, ID3, "cPath", "/");
    assert_cell(&run, ID3, "cIsRecorded", 0);
    assert_cell(&run, ID3, "cMemoryLimit", 1073741824);
    assert_cores(&run, ID3, "cCpuTightestLimit", 1.5);
    stop(&run);
}

static void kubernetes_pods_and_containers_are_rows(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-kubernetes-v1"), 0);
    tick_after(&run, 0);
    assert_text(&run, ID1, "cPodUid", UID);
    assert_text(&run, ID1, "cRuntime", "kubernetes");
    assert_cell(&run, ID1, "cMemoryTightestLimit", 104857600);
    assert_cell(&run, "/kubepods/burstable/pod" UID, "cMemoryLimit", 104857600);
    assert_absent(&run, ID2, "cMemoryTightestLimit");
    stop(&run);
    run = (struct run){ 0 };
    assert_int_equal(start(&run, "cgroup-kubernetes-v2"), 0);
    tick_after(&run, 0);
    assert_text(&run, ID1, "cRuntime", "containerd");
    assert_text(&run, ID1, "cPodUid", UID);
    assert_cell(&run, ID1, "cMemoryTightestLimit", 134217728);
    assert_cores(&run, ID1, "cCpuTightestLimit", 2);
    assert_text(&run, ID2, "cRuntime", "cri-o");
    /* Two pods, two containers and the kubelet; no slices, no conmon. */
    assert_int_equal(run.rows[0].row_count, 5);
    stop(&run);
}

static void slurm_jobs_and_lxc_containers_are_rows(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-slurm"), 0);
    tick_after(&run, 0);
    static const char task[] = "/slurm/uid_1000/job_42/step_0/task_0";
    assert_text(&run, "/slurm/uid_1000/job_42", "cName", "job_42");
    assert_text(&run, "/slurm/uid_1000/job_42/step_batch", "cName", "job_42/step_batch");
    assert_text(&run, "/system.slice/slurmstepd.scope/job_43/step_0", "cRuntime", "slurm");
    assert_cell(&run, task, "cIsRecorded", 0);
    assert_cell(&run, task, "cCpuTime", 36000000000);
    stop(&run);
    run = (struct run){ 0 };
    assert_int_equal(start(&run, "cgroup-lxc"), 0);
    tick_after(&run, 0);
    assert_text(&run, "web", "cRuntime", "lxc");
    assert_text(&run, "101", "cRuntime", "lxc");
    assert_int_equal(row_of(&run, "/lxc.monitor.web"), -1);
    stop(&run);
}

static void broken_files_leave_null_cells(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-odd"), 0);
    tick_after(&run, 0);
    static const char odd[] = "/odd.service";
    static const char *const unknown[] = {
        "cCpuTime",     "cCpuTimeUserMode", "cCpuTimeKernelMode", "cCpuPeriods",
        "cMemoryUsed",  "cMemoryMaxUsed",   "cMemoryAnon",        "cWorkingSet",
        "cPgFault",     "cDiskReadBytes",   "cDiskWriteBytes",    "cPidsCurrent",
        "cCpuLimit",    "cNumProcessors",   "cCpuPressureFull",   "cMemoryPressureSome",
        "cMemoryLimit", "cOomEvents",       "cNetworkBytesSent",  "cIoPressureSome",
    };
    for (size_t i = 0; i < PT_COUNT(unknown); i++)
        assert_absent(&run, odd, unknown[i]);
    assert_cell(&run, odd, "cMemoryCached", 12);
    assert_cell(&run, odd, "cCpuThrottledTime", 4000);
    assert_cell(&run, odd, "cMemoryLimitHits", 1);
    assert_cell(&run, odd, "cCpuPressureSome", 12);
    assert_cell(&run, odd, "cNumProcesses", 1);
    assert_cell(&run, "/empty.service", "cCgroupVersion", 2);
    assert_absent(&run, "/empty.service", "cCpuTime");
    stop(&run);
}

static void a_machine_without_cgroups_switches_the_collector_off(void **state) {
    (void)state;
    struct run run = { 0 };
    struct pt_err err;
    start_on(&run, "/dev", "/dev", "/dev");
    assert_int_equal(pt_container_collector.open(run.state, &run.context, &err), -ENODATA);
    stop(&run);
}

static void the_container_that_was_asked_for_is_recorded(void **state) {
    (void)state;
    struct run run = { .target = { .container = "b29faf21b7ef" } };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    tick_after(&run, 0);
    assert_cell(&run, ID1, "cIsRecorded", 1);
    assert_cell(&run, ID2, "cIsRecorded", 0);
    assert_int_equal(row_of(&run, "/user.slice/user-1000.slice/user@1000.service/app.slice/"
                                  "app-term.scope") >= 0,
                     1);
    stop(&run);
}

static int64_t time_of(const struct run *run, const char *id, const char *name) {
    const struct pt_batch *b = &run->rows[0];
    int row = row_of(run, id);
    assert_true(row >= 0);
    return pt_get_time(b, (uint32_t)row, b->table->columns[column_of(b, name)].source);
}

static void a_sleeper_keeps_the_time_of_its_last_read(void **state) {
    (void)state;
    static const char recorded[] = "/system.slice/nginx.service";
    struct run run = { .target = { .pids = { 800 }, .pid_count = 1 } };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    tick_after(&run, 0);
    int64_t cpu = time_of(&run, ID1, "cCpuTime"), memory = time_of(&run, ID1, "cMemoryUsed");
    int64_t recorded_memory = time_of(&run, recorded, "cMemoryUsed");
    assert_true(cpu > 0 && memory > 0);
    tick_after(&run, PT_NS_PER_SECOND);
    assert_true(time_of(&run, ID1, "cCpuTime") > cpu);
    assert_true(time_of(&run, ID1, "cMemoryUsed") == memory);
    assert_cell(&run, ID1, "cMemoryUsed", 260000000);
    assert_true(time_of(&run, recorded, "cMemoryUsed") > recorded_memory);
    tick_after(&run, 5 * PT_NS_PER_SECOND);
    assert_true(time_of(&run, ID1, "cMemoryUsed") > memory);
    stop(&run);
}

static void few_descriptors_are_enough(void **state) {
    (void)state;
    struct run run = { .target = { .pids = { 800 }, .pid_count = 1 } };
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    run.context.fd_budget = 3;
    tick_after(&run, 0);
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 8; i++)
        tick_after(&run, PT_NS_PER_SECOND);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_in_range(after, before, before + 3);
    assert_cell(&run, ID1, "cCpuTime", 7654321000);
    assert_cell(&run, ID1, "cIoPressureFull", 66);
    close(before);
    close(after);
    stop(&run);
}

static void a_quota_is_as_many_cores_as_its_part_of_a_period(void **state) {
    (void)state;
    struct pt_cgroup_values v = { 0 };
    double cores = -1;
    v.at[PT_CGROUP_QUOTA_US] = 50000;
    v.at[PT_CGROUP_PERIOD_US] = 100000;
    assert_false(pt_cgroup_cores(&v, &cores)); /* neither is known */
    v.present |= UINT64_C(1) << PT_CGROUP_QUOTA_US;
    assert_false(pt_cgroup_cores(&v, &cores));
    v.present = UINT64_C(1) << PT_CGROUP_PERIOD_US;
    assert_false(pt_cgroup_cores(&v, &cores));
    v.present |= UINT64_C(1) << PT_CGROUP_QUOTA_US;
    v.at[PT_CGROUP_PERIOD_US] = 0;
    assert_false(pt_cgroup_cores(&v, &cores));
    assert_true(cores == -1);
    v.at[PT_CGROUP_PERIOD_US] = 1;
    assert_true(pt_cgroup_cores(&v, &cores));
    assert_true(cores == 50000);
    v.at[PT_CGROUP_PERIOD_US] = 100000;
    assert_true(pt_cgroup_cores(&v, &cores));
    assert_true(cores == 0.5);
}

static int count_descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(d);
    while (readdir(d))
        count++;
    closedir(d);
    return count;
}

/* Where no descriptor is left, all that are kept are given back, and none is kept from then on. */
static void without_descriptors_all_are_given_back(void **state) {
    (void)state;
    struct run run = { .target = { .pids = { 800 }, .pid_count = 1 } };
    struct rlimit limit, low;
    assert_int_equal(start(&run, "cgroup-v2-systemd"), 0);
    int at_start = count_descriptors();
    tick_after(&run, 0);
    int kept = count_descriptors() - at_start;
    assert_true(kept > 10);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = 3; /* of those that are opened from now on */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    tick_after(&run, 60 * PT_NS_PER_SECOND);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(count_descriptors(), at_start);
    for (int i = 0; i < 30; i++)
        tick_after(&run, 10 * PT_NS_PER_SECOND);
    assert_int_equal(count_descriptors(), at_start);
    assert_cell(&run, ID1, "cCpuTime", 7654321000);
    stop(&run);
}

static void a_steady_tick_allocates_nothing(void **state) {
    (void)state;
    struct run run = { 0 };
    assert_int_equal(start(&run, "cgroup-v1-docker"), 0);
    for (int i = 0; i < 12; i++)
        tick_after(&run, PT_NS_PER_SECOND);
    uint64_t before = pt_mem_allocation_count();
    for (int i = 0; i < 12; i++)
        tick_after(&run, PT_NS_PER_SECOND);
    assert_true(pt_mem_allocation_count() == before);
    stop(&run);
}

/* Below: cgroups of this machine. */

static void write_text(const char *directory, const char *file, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(write(fd, text, strlen(text)) > 0);
    close(fd);
}

static int64_t read_number(const char *directory, const char *file, const char *key) {
    char path[512], word[128];
    long long value = -1;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    if (!key)
        assert_int_equal(fscanf(f, "%lld", &value), 1);
    else
        while (fscanf(f, "%127s %lld", word, &value) == 2 && strcmp(word, key) != 0)
            continue;
    fclose(f);
    return value;
}

/* What a test has made; its teardown removes it whatever happened. */
static struct {
    char directory[256], path[64];
    pid_t child;
} made;

static bool make_group(const char *mount) {
    char procs[256];
    snprintf(procs, sizeof procs, "%s/cgroup.procs", mount);
    snprintf(made.path, sizeof made.path, "/pitot-test-%d.service", (int)getpid());
    snprintf(made.directory, sizeof made.directory, "%s%s", mount, made.path);
    return access(procs, W_OK) == 0 && mkdir(made.directory, 0755) == 0;
}

static int remove_made(void **state) {
    (void)state;
    if (made.child > 0) {
        kill(made.child, SIGKILL);
        waitpid(made.child, NULL, 0);
    }
    made.child = 0;
    /* The kernel lets go of a process a little after it was waited for. */
    for (int i = 0; i < 100 && made.directory[0] && rmdir(made.directory) && errno == EBUSY; i++)
        usleep(10000);
    made.directory[0] = 0;
    return 0;
}

static const char *v2_mount(void) {
    return access("/sys/fs/cgroup/unified/cgroup.procs", F_OK) == 0 ? "/sys/fs/cgroup/unified"
                                                                    : "/sys/fs/cgroup";
}

static void start_busy_child(void) {
    int ready[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(ready[0], &byte, 1) != 1)
            _exit(1);
        for (volatile unsigned long i = 0;; i++)
            ;
    }
    made.child = child;
    char text[16];
    snprintf(text, sizeof text, "%d", (int)child);
    write_text(made.directory, "cgroup.procs", text);
    assert_int_equal(write(ready[1], "x", 1), 1);
    close(ready[0]);
    close(ready[1]);
}

static void wait_for(const char *directory, const char *file, const char *key, int64_t least) {
    int64_t deadline_ns = pt_mono_ns() + 10 * PT_NS_PER_SECOND;
    while (read_number(directory, file, key) < least && pt_mono_ns() < deadline_ns)
        usleep(20000);
}

static void throttling_of_a_real_group_is_seen(void **state) {
    (void)state;
    if (!make_group("/sys/fs/cgroup/cpu"))
        skip();
    write_text(made.directory, "cpu.cfs_period_us", "20000");
    write_text(made.directory, "cpu.cfs_quota_us", "5000");
    start_busy_child();
    wait_for(made.directory, "cpu.stat", "nr_throttled", 5);

    struct run run = { 0 };
    start_live(&run);
    int64_t before = read_number(made.directory, "cpu.stat", "nr_throttled");
    tick_after(&run, 0);
    int64_t after = read_number(made.directory, "cpu.stat", "nr_throttled");
    int row = row_of(&run, made.path);
    assert_true(row >= 0);
    int64_t seen =
        pt_get_i64(&run.rows[0], (uint32_t)row, column_of(&run.rows[0], "cCpuThrottledPeriods"));
    assert_true(before >= 5 && before <= seen && seen <= after);
    assert_cores(&run, made.path, "cCpuLimit", 0.25);
    assert_cores(&run, made.path, "cCpuTightestLimit", 0.25);
    assert_cell(&run, made.path, "cNumProcesses", 1);
    stop(&run);
}

static void cpu_time_of_a_real_group_is_exact_and_it_vanishes_at_once(void **state) {
    (void)state;
    if (!make_group(v2_mount()))
        skip();
    start_busy_child();
    wait_for(made.directory, "cpu.stat", "usage_usec", 200000);

    struct run run = { .target = { .pids = { made.child }, .pid_count = 1 } };
    start_live(&run);
    for (int i = 0; i < 2; i++) {
        int64_t before = read_number(made.directory, "cpu.stat", "usage_usec");
        tick_after(&run, PT_NS_PER_SECOND);
        int64_t after = read_number(made.directory, "cpu.stat", "usage_usec");
        int row = row_of(&run, made.path);
        assert_true(row >= 0);
        int64_t ns = pt_get_i64(&run.rows[0], (uint32_t)row, column_of(&run.rows[0], "cCpuTime"));
        assert_true(before * 1000 <= ns && ns <= after * 1000);
        assert_cell(&run, made.path, "cIsRecorded", 1);
    }
    remove_made(NULL);
    tick_after(&run, PT_NS_PER_MS);
    assert_int_equal(row_of(&run, made.path), -1);
    stop(&run);
}

static void a_group_that_is_made_later_appears(void **state) {
    (void)state;
    struct run run = { 0 };
    start_live(&run);
    tick_after(&run, 0);
    if (!make_group(v2_mount())) {
        stop(&run);
        skip();
    }
    tick_after(&run, 600 * PT_NS_PER_SECOND);
    assert_cell(&run, made.path, "cCpuTime", 0);
    assert_cell(&run, made.path, "cNumProcesses", 0);
    /* Removed and made again between two ticks: its files are opened again. */
    assert_int_equal(rmdir(made.directory), 0);
    assert_int_equal(mkdir(made.directory, 0755), 0);
    tick_after(&run, PT_NS_PER_MS);
    assert_cell(&run, made.path, "cCpuTime", 0);
    stop(&run);
}

static void a_captured_docker_host_is_read(void **state) {
    (void)state;
    static const struct {
        const char *root, *id;
        pid_t pid;
        int64_t cpu_time_ns;
    } cases[] = {
        { OURS "captured-docker", ID4, 12946, 476257169 },
        { THEIRS "cgroup/elastic-docker", ID1, 985, 95996653175 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char root[PATH_MAX];
        if (!find_capture(cases[i].root, root))
            continue;
        char *proc = pt_asprintf("%s/proc", root), *sys = pt_asprintf("%s/sys", root);
        struct run run = { .target = { .pids = { cases[i].pid }, .pid_count = 1 } };
        struct pt_err err;
        start_on(&run, proc, sys, root);
        assert_int_equal(pt_container_collector.open(run.state, &run.context, &err), 0);
        tick_after(&run, 0);
        assert_text(&run, cases[i].id, "cRuntime", "docker");
        assert_cell(&run, cases[i].id, "cIsRecorded", 1);
        assert_cell(&run, cases[i].id, "cCpuTime", cases[i].cpu_time_ns);
        stop(&run);
        pt_free(proc);
        pt_free(sys);
    }
}

/* The limits that the container was started with, and what it had used of them. */
static void a_captured_container_has_its_limits(void **state) {
    (void)state;
    struct run run = { .target = { .pids = { 12946 }, .pid_count = 1 } };
    assert_int_equal(start(&run, "captured-docker"), 0);
    tick_after(&run, 0);
    assert_cores(&run, ID4, "cCpuLimit", 0.5);
    assert_cell(&run, ID4, "cCpuThrottledPeriods", 3);
    assert_cell(&run, ID4, "cMemoryUsed", 8929280);
    assert_cell(&run, ID4, "cMemoryLimit", 67108864);
    assert_cell(&run, ID4, "cMemoryMaxUsed", 10301440);
    assert_cell(&run, ID4, "cNumProcesses", 1);
    stop(&run);
}

#define LIVE_TEST(function, sentence) \
    { sentence, function, NULL, remove_made, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_v1_container_has_all_its_numbers,
                "C084 C085 C086 C087 C088 C089 C090 C091 C092 C093 C094 C095 C099: a v1 container "
                "has all its numbers"),
        PT_TEST(v1_time_is_told_by_cpu, "C099: v1 tells the time by CPU"),
        PT_TEST(without_a_command_no_group_is_the_recorded_one,
                "C097: without a command no group is the recorded one; Pitot's own has a row"),
        PT_TEST(v2_services_and_containers_have_all_their_numbers,
                "C084 C085 C086 C087 C088 C089 C090 C091 C092 C093 C094 C096 C099: v2 services and "
                "containers have all their numbers"),
        PT_TEST(the_tightest_limit_may_be_far_above, "C096: the tightest limit may be far above"),
        PT_TEST(on_a_hybrid_machine_the_command_has_one_row,
                "C095 C096 C328: on a hybrid machine exactly one row is that of the command"),
        PT_TEST(a_process_alone_in_its_groups_owns_their_numbers,
                "a process alone in its groups owns the numbers of all hierarchies"),
        PT_TEST(a_service_is_shared_unless_all_its_processes_are_recorded,
                "a cgroup is shared unless all its processes are recorded"),
        PT_TEST(a_command_in_no_group_gets_the_row_of_the_root,
                "C097: a command in no group gets the row of the root"),
        PT_TEST(inside_a_container_its_own_row_has_its_id,
                "C084 C097: inside a container its own row has its id"),
        PT_TEST(kubernetes_pods_and_containers_are_rows,
                "C084 C097: Kubernetes pods and containers are rows"),
        PT_TEST(slurm_jobs_and_lxc_containers_are_rows,
                "C084 C097: Slurm jobs and LXC containers are rows"),
        PT_TEST(broken_files_leave_null_cells, "C086 C089: broken files leave null cells"),
        PT_TEST(a_machine_without_cgroups_switches_the_collector_off,
                "a machine without cgroups switches the collector off"),
        PT_TEST(the_container_that_was_asked_for_is_recorded,
                "the container that was asked for is the recorded one"),
        PT_TEST(a_sleeper_keeps_the_time_of_its_last_read,
                "a group that sleeps keeps the time of its last read"),
        PT_TEST(few_descriptors_are_enough, "few descriptors are enough"),
        PT_TEST(a_quota_is_as_many_cores_as_its_part_of_a_period,
                "C096: a quota is as many cores as its part of a period"),
        PT_TEST(without_descriptors_all_are_given_back,
                "without descriptors all that are kept are given back"),
        PT_TEST(a_steady_tick_allocates_nothing, "a steady tick allocates nothing"),
        LIVE_TEST(throttling_of_a_real_group_is_seen,
                  "C095 C098: throttling of a real v1 group is seen"),
        LIVE_TEST(
            cpu_time_of_a_real_group_is_exact_and_it_vanishes_at_once,
            "C086 C096 C098: CPU time of a real v2 group is exact; once removed it has no row"),
        LIVE_TEST(a_group_that_is_made_later_appears, "C097: a group that is made later appears"),
        PT_TEST(a_captured_docker_host_is_read, "C086 C095: a captured docker host is read"),
        PT_TEST(a_captured_container_has_its_limits,
                "C089 C090 C095: a captured container has its limits"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
