/* Operation profiles, against readings of our own and the scripted NVML. */
#include "operation_fixture.h"
#include "own_process.h"
#include "scripted.h"

#include "base/clock.h"
#include "libpitot/energy_use.h"
#include "libpitot/flops_counter.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/span_history.h"
#include "libpitot/machine_usage.h"
#include "libpitot/profiler.h"
#include "inside/probe/probe.h"
#include "inside/region/reader.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MB (1024.0 * 1024)

static double clock_s(clockid_t clock) {
    return (double)pt_clock_ns(clock) / 1e9;
}

static void options_have_their_defaults(void **state) {
    (void)state;
    pt_profiler_options options;
    memset(&options, 0xff, sizeof options);
    pt_profiler_options_init(&options);
    assert_true(options.track_gpu);
    assert_false(options.track_carbon);
    assert_false(options.detailed_memory);
    assert_false(options.estimate_flops);
    assert_true(options.memory_interval == 0.5);
    assert_int_equal(options.size, sizeof options);
}

static void wall_time_is_that_of_the_clock(void **state) {
    (void)state;
    pt_profiler *profiler = plain_profiler();
    double before = clock_s(CLOCK_MONOTONIC);
    pt_operation *op = pt_operation_begin(profiler, "nap");
    double from = clock_s(CLOCK_MONOTONIC);
    usleep(20000);
    double to = clock_s(CLOCK_MONOTONIC);
    pt_operation_end(op, true);
    double after = clock_s(CLOCK_MONOTONIC);
    pt_performance p = get(profiler, NULL);
    assert_string_equal(p.operation, "nap");
    assert_true(p.is_complete);
    assert_false(p.has_failed);
    assert_true(p.timing.wall_time_s >= to - from);
    assert_true(p.timing.wall_time_s <= after - before);
    pt_profiler_free(profiler);
}

static void cpu_time_is_that_of_the_process(void **state) {
    (void)state;
    skip_if_emulated();
    pt_profiler *profiler = plain_profiler();
    volatile double sink = 0;
    double before = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    pt_operation *op = pt_operation_begin(profiler, "burn");
    double from = clock_s(CLOCK_PROCESS_CPUTIME_ID), to;
    do {
        for (int i = 0; i < 100000; i++)
            sink = sink + i;
        to = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    } while (to - from < 0.1);
    pt_operation_end(op, true);
    double after = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    pt_performance p = get(profiler, "burn");
    assert_true(p.timing.cpu_time_s >= to - from - 0.005); /* times are rounded on their way */
    assert_true(p.timing.cpu_time_s <= after - before + 0.005);
    assert_true(fabs(p.timing.user_time_s + p.timing.system_time_s - p.timing.cpu_time_s) < 1e-9);
    assert_true(p.timing.user_time_s > p.timing.system_time_s);
    assert_true(fabs(p.compute.cpu_utilization_percent -
                     100 * p.timing.cpu_time_s / p.timing.wall_time_s) < 1e-6);
    pt_profiler_free(profiler);
}

static void failed_and_running_ones_have_results(void **state) {
    (void)state;
    pt_performance p;
    pt_profiler *profiler = plain_profiler();
    assert_false(pt_profiler_has_results(profiler));
    assert_int_equal(pt_profiler_get(profiler, NULL, &p), -ENOENT);
    pt_operation *op = pt_operation_begin(profiler, "risky");
    assert_true(pt_profiler_has_results(profiler));
    p = get(profiler, "risky");
    assert_false(p.is_complete || p.has_failed);
    double so_far = p.timing.wall_time_s;
    assert_true(so_far > 0);
    pt_operation_end(op, false);
    p = get(profiler, NULL);
    assert_true(p.is_complete && p.has_failed);
    assert_true(p.timing.wall_time_s >= so_far);
    assert_true(p.memory.peak_ram_mb > 0);
    assert_int_equal(pt_profiler_get(profiler, "another", &p), -ENOENT);
    pt_profiler_free(profiler);
}

static void the_last_is_what_began_or_ended_last(void **state) {
    (void)state;
    pt_profiler *profiler = plain_profiler();
    pt_operation *outer = pt_operation_begin(profiler, "outer");
    pt_operation *inner = pt_operation_begin(profiler, "inner");
    assert_string_equal(get(profiler, NULL).operation, "inner");
    pt_operation_end(inner, true);
    pt_performance p = get(profiler, NULL);
    assert_true(strcmp(p.operation, "inner") == 0 && p.is_complete);
    pt_operation_end(outer, true);
    p = get(profiler, NULL);
    assert_true(strcmp(p.operation, "outer") == 0 && p.is_complete);
    assert_true(p.timing.wall_time_s >= get(profiler, "inner").timing.wall_time_s);
    pt_profiler_free(profiler);
}

static void many_operations_take_bounded_room(void **state) {
    (void)state;
    const char *names[2000];
    double seconds[2000], sums[2] = { 0, 0 };
    pt_profiler *profiler = plain_profiler();
    for (int i = 0; i < 10000; i++) {
        pt_operation *op = pt_operation_begin(profiler, i % 2 ? "odd" : "even");
        pt_operation_end(op, true);
        sums[i % 2] += get(profiler, NULL).timing.wall_time_s;
    }
    assert_int_equal(pt_profiler_breakdown(profiler, names, seconds, 2000), 2);
    assert_string_equal(names[0], "even");
    assert_string_equal(names[1], "odd");
    assert_true(fabs(seconds[0] - sums[0]) < 1e-9 && fabs(seconds[1] - sums[1]) < 1e-9);
    for (int i = 0; i < 1100; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        pt_operation_end(pt_operation_begin(profiler, name), true);
    }
    assert_int_equal(pt_profiler_breakdown(profiler, NULL, NULL, 0), PT_PROFILER_NAMES + 1);
    assert_int_equal(pt_profiler_breakdown(profiler, names, seconds, 2000), PT_PROFILER_NAMES + 1);
    assert_string_equal(names[PT_PROFILER_NAMES], "(other)");
    assert_true(seconds[PT_PROFILER_NAMES] > 0);
    pt_profiler_free(profiler);
}

static void names_are_cut(void **state) {
    (void)state;
    char name[100];
    memset(name, 'n', sizeof name);
    name[99] = 0;
    pt_profiler *profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, name), true);
    pt_operation_end(pt_operation_begin(profiler, name), true);
    assert_int_equal(pt_profiler_breakdown(profiler, NULL, NULL, 0), 1);
    assert_int_equal(strlen(get(profiler, name).operation), 63);
    pt_operation_end(pt_operation_begin(profiler, NULL), true);
    assert_string_equal(get(profiler, NULL).operation, "operation");
    pt_profiler_free(profiler);
}

static void without_memory_or_profiler_nothing_happens(void **state) {
    (void)state;
    pt_performance p;
    pt_operation *op = pt_operation_begin(NULL, "nothing");
    assert_non_null(op);
    pt_operation_step(op);
    pt_operation_add_flops(op, 1);
    pt_operation_end(op, true);
    pt_operation_end(NULL, true);
    pt_profiler_free(NULL);
    assert_int_equal(pt_profiler_get(NULL, NULL, &p), -ENOENT);
    assert_false(pt_profiler_has_results(NULL));
}

static void abandoned_ones_can_be_ended(void **state) {
    (void)state;
    pt_profiler *profiler = plain_profiler();
    pt_operation *op = pt_operation_begin(profiler, "abandoned");
    pt_profiler_free(profiler);
    pt_operation_step(op);
    pt_operation_end(op, true);
}

static void *run_operations(void *profiler) {
    for (int i = 0; i < 100; i++) {
        pt_performance p;
        pt_operation *outer = pt_operation_begin(profiler, "shared");
        pt_operation *inner = pt_operation_begin(profiler, "inner");
        pt_operation_step(outer);
        pt_operation_add_flops(inner, 1);
        (void)pt_profiler_get(profiler, NULL, &p);
        pt_operation_end(outer, true);
        pt_operation_end(inner, i % 2);
        (void)pt_current_memory_mb();
    }
    return NULL;
}

static void threads_may_do_all_of_it(void **state) {
    (void)state;
    pthread_t threads[4];
    double seconds[2];
    pt_profiler_options options = plain();
    options.detailed_memory = options.track_carbon = true;
    options.memory_interval = 0.01;
    pt_profiler *profiler = pt_profiler_new(&options);
    double before = clock_s(CLOCK_MONOTONIC);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_operations, profiler), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    double wall_s = clock_s(CLOCK_MONOTONIC) - before;
    assert_int_equal(pt_profiler_breakdown(profiler, NULL, seconds, 2), 2);
    assert_true(seconds[0] > 0 && seconds[0] <= 4 * wall_s);
    pt_profiler_free(profiler);
}

static void use_in_child(pt_profiler *profiler, pt_operation *op) {
    pt_performance p;
    pt_operation_step(op);
    bool is_right = pt_profiler_get(profiler, "open", &p) == -ENOENT;
    pt_operation_end(op, true);
    is_right &= pt_profiler_get(profiler, "open", &p) == -ENOENT;
    is_right &= pt_profiler_get(profiler, "before", &p) == 0;
    op = pt_operation_begin(profiler, "child");
    is_right &= fabs(pt_current_memory_mb() - own_rss_mb()) < 4;
    pt_operation_end(op, true);
    is_right &= pt_profiler_get(profiler, NULL, &p) == 0 && p.is_complete &&
                p.timing.cpu_time_s >= 0 && strcmp(p.operation, "child") == 0;
    pt_profiler_free(profiler);
    _exit(is_right ? 0 : 1);
}

static void a_fork_in_the_middle_is_survived(void **state) {
    (void)state;
    pt_profiler *profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, "before"), true);
    pt_operation *op = pt_operation_begin(profiler, "open");
    pid_t child = fork();
    if (child == 0)
        use_in_child(profiler, op);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pt_operation_end(op, true);
    assert_true(get(profiler, "open").is_complete);
    pt_profiler_free(profiler);
}

static bool must_stop;

static void *run_until_stopped(void *profiler) {
    while (!__atomic_load_n(&must_stop, __ATOMIC_RELAXED)) {
        pt_operation *op = pt_operation_begin(profiler, "thread");
        pt_operation_step(op);
        pt_operation_end(op, true);
    }
    return NULL;
}

/* Whatever a thread is at, no lock stays taken in the child. */
static void forks_at_any_time_are_survived(void **state) {
    (void)state;
    pthread_t threads[2];
    pt_profiler_options options;
    play("PITOT_SCRIPTED_NVML", "devices 1\n" SCRIPT_GPU);
    pt_gpu_watch_forget();
    pt_profiler_options_init(&options);
    options.memory_interval = 0.01;
    options.detailed_memory = options.track_carbon = true;
    pt_profiler *profiler = pt_profiler_new(&options);
    must_stop = false;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_until_stopped, profiler), 0);
    for (int i = 0; i < 100; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            pt_operation_end(pt_operation_begin(profiler, "child"), true);
            pt_profiler_free(profiler);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    __atomic_store_n(&must_stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pt_profiler_free(profiler);
}

static void start_gpu(const char *script) {
    play("PITOT_SCRIPTED_NVML", script);
    pt_gpu_watch_forget();
}

static void the_gpu_is_tracked(void **state) {
    (void)state;
    struct pt_gpu_now now;
    pt_profiler_options options;
    start_gpu("devices 1\nstep_ms 1000000\nnvmlDeviceGetName * A\n"
              "nvmlDeviceGetUtilizationRates * 78:40\n"
              "nvmlDeviceGetTotalEnergyConsumption * 5000\n"
              "nvmlDeviceGetMemoryInfo * 8589934592:4294967296:4294967296\n");
    pt_profiler_options_init(&options);
    options.memory_interval = 0.1;
    pt_profiler *profiler = pt_profiler_new(&options);
    assert_true(pt_current_gpu_memory() == 0.5);
    pt_operation *op = pt_operation_begin(profiler, "gpu");
    int64_t begin_ns = pt_mono_ns();
    do
        usleep(1000);
    while (!pt_gpu_watch_read(&now) || now.time_ns <= begin_ns);
    pt_operation_end(op, true);
    pt_performance p = get(profiler, NULL);
    assert_true(p.compute.gpu_utilization_percent == 78);
    assert_true(p.memory.peak_gpu_mb == 4096);
    char line[128];
    assert_non_null(strstr(pt_performance_summary(&p, line, sizeof line), "s, GPU Util: 78%"));
    pt_profiler_free(profiler);
}

static void without_gpu_tracking_there_is_none(void **state) {
    (void)state;
    start_gpu("devices 1\n" SCRIPT_GPU);
    pt_profiler *profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, "cpu"), true);
    pt_performance p = get(profiler, NULL);
    assert_true(isnan(p.memory.peak_gpu_mb) && isnan(p.compute.gpu_utilization_percent));
    pt_profiler_free(profiler);
}

static void without_a_gpu_nothing_is_made_up(void **state) {
    (void)state;
    setenv("PITOT_NVML", "/nonexistent.so", 1);
    pt_gpu_watch_forget();
    pt_profiler *profiler = pt_profiler_new(NULL);
    pt_operation_end(pt_operation_begin(profiler, "cpu"), true);
    pt_performance p = get(profiler, NULL);
    assert_true(isnan(p.memory.peak_gpu_mb) && isnan(p.compute.gpu_utilization_percent));
    assert_true(isnan(pt_current_gpu_memory()));
    pt_profiler_free(profiler);
    unsetenv("PITOT_NVML");
}

static struct pt_scan scan_of(const char *text) {
    return pt_scan_of(pt_str_from(text));
}

static bool is_card(struct pt_str name) {
    return pt_str_eq(name, PT_STR("eth0"));
}

static bool is_none(struct pt_str name) {
    (void)name;
    return false;
}

static void the_machine_is_what_its_files_say(void **state) {
    (void)state;
    struct pt_machine_usage a = { .time_ns = 0 }, b = { .time_ns = 2 * PT_NS_PER_SECOND };
    pt_machine_scan_cpu(&a, scan_of("cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 1 1 1\n"));
    pt_machine_scan_cpu(&b, scan_of("cpu  140 5 120 800 110 10 10 5 90 0\ncpu0 1 1 1 1\n"));
    assert_true(fabs(pt_machine_cpu_percent(&a, &b) - 100.0 * 90 / 200) < 1e-9);
    assert_true(fabs(pt_machine_busy_seconds(&a, &b) - 90.0 / (double)sysconf(_SC_CLK_TCK)) < 1e-9);
    pt_machine_scan_memory(&b, scan_of("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n"));
    assert_true(b.memory_percent == 75);
    pt_machine_scan_disks(&a, scan_of("8 0 sda 1 0 1 1 1 0 1 1 0 1000 1\n"
                                      "8 1 sda1 1 0 1 1 1 0 1 1 0 0 1\n"
                                      "8 16 sdb 1 0 1 1 1 0 1 1 0 50 1\n"));
    pt_machine_scan_disks(&b, scan_of("8 0 sda 1 0 1 1 1 0 1 1 0 1500 1\n"
                                      "8 1 sda1 1 0 1 1 1 0 1 1 0 1999 1\n"
                                      "8 32 sdc 1 0 1 1 1 0 1 1 0 2000 1\n"
                                      "8 16 sdb 1 0 1 1 1 0 1 1 0 250 1\n"));
    assert_true(fabs(pt_machine_disk_percent(&a, &b) - 25) < 1e-9);
    const char *before = "x|y|z\n f|b|c\n lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n"
                         "eth0: 1048576 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                         "veth1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    const char *after = "x|y|z\n f|b|c\n lo: 99999999 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n"
                        "eth0: 3145728 0 0 0 0 0 0 0 1048576 0 0 0 0 0 0 0\n"
                        "veth1: 1048576 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    pt_machine_scan_network(&a, scan_of(before), is_card);
    pt_machine_scan_network(&b, scan_of(after), is_card);
    assert_true(pt_machine_network_mb(&a, &b) == 3);
    pt_machine_scan_network(&a, scan_of(before), is_none);
    pt_machine_scan_network(&b, scan_of(after), is_none);
    assert_true(pt_machine_network_mb(&a, &b) == 4);
}

static void what_files_do_not_say_is_nan(void **state) {
    (void)state;
    struct pt_machine_usage a = { .disk_count = -1 }, b = { .time_ns = 1, .disk_count = -1 };
    a.network_bytes = b.network_bytes = NAN;
    pt_machine_scan_cpu(&a, scan_of(""));
    pt_machine_scan_cpu(&b, scan_of("intr 5\n"));
    pt_machine_scan_memory(&b, scan_of("MemFree: 5 kB\n"));
    assert_true(isnan(pt_machine_cpu_percent(&a, &b)));
    assert_true(isnan(b.memory_percent));
    assert_true(isnan(pt_machine_disk_percent(&a, &b)));
    assert_true(isnan(pt_machine_network_mb(&a, &b)));
}

static void the_live_machine_is_in_range(void **state) {
    (void)state;
    skip_if_emulated();
    pt_profiler *profiler = plain_profiler();
    double wrote_before = own_value("/proc/self/io", "write_bytes:");
    pt_operation *op = pt_operation_begin(profiler, "write");
    double from = own_value("/proc/self/io", "write_bytes:");
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    char *block = calloc(1, 8 << 20);
    if (fd >= 0) {
        assert_int_equal(write(fd, block, 8 << 20), 8 << 20);
        fsync(fd);
        close(fd);
    }
    free(block);
    double to = own_value("/proc/self/io", "write_bytes:");
    pt_operation_end(op, true);
    double wrote_after = own_value("/proc/self/io", "write_bytes:");
    pt_performance p = get(profiler, NULL);
    if (!isnan(to)) {
        assert_true(p.system.disk_write_mb * MB >= to - from);
        assert_true(p.system.disk_write_mb * MB <= wrote_after - wrote_before);
    }
    assert_true(p.system.memory_percent > 0 && p.system.memory_percent < 100);
    assert_true(isnan(p.system.cpu_percent) ||
                (p.system.cpu_percent >= 0 && p.system.cpu_percent <= 100));
    assert_true(isnan(p.system.network_io_mb) || p.system.network_io_mb >= 0);
    pt_profiler_free(profiler);
}

static void flops_are_counted_by_formulas(void **state) {
    (void)state;
    double linear = pt_flops_matmul(32, 512, 784) + pt_flops_matmul(32, 10, 512);
    assert_true(linear == 26017792);
    assert_true(pt_flops_matmul(128, 128, 128) == 4194304);
    /* 64 channels of 3, 7x7, 112x112 out: the first layer of ResNet-50 */
    assert_true(pt_flops_conv2d(1, 64, 112, 112, 3, 7, 7) == 236027904);
    assert_true(pt_flops_attention(2, 128, 256, 512) == 4.0 * 2 * 128 * 256 * 512);
    assert_true(pt_flops_transformer_token(7e9, 32, 4096, 2048) == 14e9 + 4.0 * 32 * 4096 * 2048);
}

static void flops_that_are_added_are_tagged(void **state) {
    (void)state;
    pt_profiler_options options = plain();
    options.estimate_flops = true;
    pt_profiler *profiler = pt_profiler_new(&options);
    pt_operation *op = pt_operation_begin(profiler, "flops");
    pt_operation_add_flops(op, 26000000);
    pt_operation_add_flops(op, 17792);
    pt_operation_add_flops(op, NAN);
    pt_operation_end(op, true);
    pt_performance p = get(profiler, NULL);
    assert_true(p.compute.estimated_flops == 26017792);
    assert_int_equal(p.compute.flops_source, PT_FLOPS_ANALYTICAL);
    assert_true(p.compute.flops_per_second == 26017792 / p.timing.wall_time_s);
    pt_operation_end(pt_operation_begin(profiler, "unknown"), true);
    p = get(profiler, NULL);
    assert_int_equal(p.compute.flops_source == PT_FLOPS_NONE, isnan(p.compute.estimated_flops));
    pt_profiler_free(profiler);
    profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, "off"), true);
    p = get(profiler, NULL);
    assert_true(isnan(p.compute.estimated_flops) && isnan(p.compute.flops_per_second));
    assert_int_equal(p.compute.flops_source, PT_FLOPS_NONE);
    pt_profiler_free(profiler);
}

static void hardware_counts_or_is_absent(void **state) {
    (void)state;
    struct pt_flops_counter counter;
    volatile double product = 1;
    int rc = pt_flops_counter_open(&counter);
    for (int i = 0; i < 1000000; i++)
        product = product * 1.0000001;
    double flops = pt_flops_counter_read(&counter);
    if (rc)
        assert_true(isnan(flops));
    else
        assert_true(flops >= 1e6 && flops < 1e8);
    pt_flops_counter_close(&counter);
    assert_true(pt_flops_scale(100, 20, 10) == 200); /* counted half of the time */
    assert_true(isnan(pt_flops_scale(0, 20, 0)));
    assert_true(pt_flops_scale(0, 0, 0) == 0);
}

static struct pt_energy_basis known_machine(void) {
    struct pt_energy_basis b = { .cpu_type = "AMD EPYC 7763 64-Core Processor", .region = "DE" };
    b.cpu_sockets = (struct pt_given){ true, 1 };
    b.memory_bytes = (struct pt_given){ true, 64.0 * 1024 * MB };
    return b;
}

static void energy_is_the_part_of_the_process(void **state) {
    (void)state;
    struct pt_energy_basis basis = known_machine();
    /* Half of the busy time of a machine that is half busy: 280 W x 0.85 / 2, and 24 W of memory
     * of which an eighth is in use. */
    struct pt_energy_inputs in = { .wall_s = 10,
                                   .cpu_s = 5,
                                   .busy_s = 10,
                                   .cpu_percent = 50,
                                   .rapl_joules = NAN,
                                   .gpu_power_w = NAN,
                                   .ram_mb = 8 * 1024,
                                   .memory_mb = 64 * 1024 };
    pt_performance p = { 0 };
    pt_energy_use_estimate(&basis, &in, &p);
    assert_true(fabs(p.energy.energy_joules - (280 * 0.85 / 2 * 10 + 24.0 / 8 * 10)) < 1e-6);
    assert_int_equal(p.energy.source, PT_ENERGY_MODELLED);
    assert_true(p.energy.error_low_percent > 50 && p.energy.error_high_percent > 30);
    assert_true(fabs(p.energy.carbon_grams - p.energy.energy_joules / 3.6e6 * 381) < 1e-9);
    assert_true(p.energy.carbon_error_high_percent > p.energy.error_high_percent);
    in.rapl_joules = 1000;
    in.gpu_power_w = 250;
    pt_energy_use_estimate(&basis, &in, &p);
    assert_true(fabs(p.energy.energy_joules - (1000 / 2.0 + 2500)) < 1e-6);
    assert_int_equal(p.energy.source, PT_ENERGY_MEASURED);
    assert_true(fabs(p.energy.error_low_percent - 5) < 1e-6);
}

static void energy_of_an_operation_is_told(void **state) {
    (void)state;
    skip_if_emulated();
    pt_profiler_options options = plain();
    options.track_carbon = true;
    setenv("PITOT_CARBON_REGION", "FR", 1);
    pt_profiler *profiler = pt_profiler_new(&options);
    unsetenv("PITOT_CARBON_REGION");
    pt_operation *op = pt_operation_begin(profiler, "work");
    give_mb(take_mb(64), 64);
    pt_operation_end(op, true);
    pt_performance p = get(profiler, NULL);
    assert_true(p.energy.energy_joules > 0);
    assert_int_not_equal(p.energy.source, PT_ENERGY_NONE);
    assert_true(fabs(p.energy.carbon_grams - p.energy.energy_joules / 3.6e6 * 56) < 1e-9);
    pt_profiler_free(profiler);
    profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, "off"), true);
    p = get(profiler, NULL);
    assert_true(isnan(p.energy.energy_joules) && isnan(p.energy.carbon_grams));
    assert_int_equal(p.energy.source, PT_ENERGY_NONE);
    pt_profiler_free(profiler);
}

static void assert_summary(const pt_performance *p, const char *expected) {
    char line[128];
    assert_string_equal(pt_performance_summary(p, line, sizeof line), expected);
}

static void the_summary_is_one_line(void **state) {
    (void)state;
    pt_performance p = { .memory.peak_ram_mb = 2457.6,
                         .timing.wall_time_s = 45.2,
                         .compute.gpu_utilization_percent = 78 };
    char cut[10];
    setlocale(LC_ALL, "de_DE.UTF-8"); /* has no effect where it is missing */
    assert_summary(&p, "Peak RAM: 2.4 GB, Wall Time: 45.2s, GPU Util: 78%");
    p.compute.gpu_utilization_percent = NAN;
    assert_summary(&p, "Peak RAM: 2.4 GB, Wall Time: 45.2s");
    p.memory.peak_ram_mb = 1023.94;
    assert_summary(&p, "Peak RAM: 1023.9 MB, Wall Time: 45.2s");
    p.memory.peak_ram_mb = 1023.96;
    assert_summary(&p, "Peak RAM: 1.0 GB, Wall Time: 45.2s");
    p.memory.peak_ram_mb = p.timing.wall_time_s = NAN;
    assert_summary(&p, "Peak RAM: unknown, Wall Time: unknown");
    assert_string_equal(pt_performance_summary(&p, cut, sizeof cut), "Peak RAM:");
    setlocale(LC_ALL, "C");
}

static const char *const json_keys[][12] = {
    { "memory", "initial_ram_mb", "peak_ram_mb", "final_ram_mb", "is_peak_exact", "peak_gpu_mb",
      "memory_leak_detected", "growth_mb_per_step", "growth_mb_per_second", "growth_error_mb",
      "steps" },
    { "timing", "wall_time_s", "cpu_time_s", "user_time_s", "system_time_s" },
    { "compute", "estimated_flops", "flops_per_second", "flops_source", "gpu_utilization_percent",
      "cpu_utilization_percent" },
    { "system", "cpu_percent", "memory_percent", "disk_io_percent", "network_io_mb", "disk_read_mb",
      "disk_write_mb" },
    { "energy", "energy_joules", "error_low_percent", "error_high_percent", "carbon_grams",
      "carbon_error_low_percent", "carbon_error_high_percent", "source" },
};

static json_t *parse(const pt_performance *p) {
    char *text = pt_performance_json(p);
    assert_non_null(text);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    free(text);
    return json;
}

static void the_json_has_all_figures(void **state) {
    (void)state;
    pt_profiler *profiler = plain_profiler();
    pt_operation *op = pt_operation_begin(profiler, "a \"name\"\n");
    pt_operation_add_flops(op, 5);
    pt_operation_end(op, false);
    pt_performance p = get(profiler, NULL);
    json_t *json = parse(&p);
    assert_string_equal(json_string_value(json_object_get(json, "operation")), "a \"name\"\n");
    assert_true(json_is_true(json_object_get(json, "has_failed")));
    assert_int_equal(json_object_size(json), 8);
    for (size_t i = 0; i < PT_COUNT(json_keys); i++) {
        json_t *section = json_object_get(json, json_keys[i][0]);
        size_t count = 0;
        while (json_keys[i][count + 1])
            assert_non_null(json_object_get(section, json_keys[i][++count]));
        assert_int_equal(json_object_size(section), count);
    }
    json_t *memory = json_object_get(json, "memory"), *compute = json_object_get(json, "compute");
    json_t *timing = json_object_get(json, "timing");
    assert_true(json_is_null(json_object_get(memory, "memory_leak_detected")));
    assert_true(json_is_null(json_object_get(memory, "peak_gpu_mb")));
    assert_true(json_number_value(json_object_get(memory, "peak_ram_mb")) == p.memory.peak_ram_mb);
    assert_true(json_number_value(json_object_get(timing, "wall_time_s")) == p.timing.wall_time_s);
    assert_string_equal(json_string_value(json_object_get(compute, "flops_source")), "analytical");
    json_decref(json);
    p.memory.memory_leak_detected = PT_LEAK_YES;
    json = parse(&p);
    memory = json_object_get(json, "memory");
    assert_true(json_is_true(json_object_get(memory, "memory_leak_detected")));
    json_decref(json);
    pt_profiler_free(profiler);
}

static void errno_stays(void **state) {
    (void)state;
    pt_performance p;
    errno = 77;
    pt_profiler_options options = plain();
    options.estimate_flops = options.track_carbon = options.detailed_memory = true;
    pt_profiler *profiler = pt_profiler_new(&options);
    pt_operation *op = pt_operation_begin(profiler, "errno");
    pt_operation_step(op);
    (void)pt_profiler_get(profiler, NULL, &p);
    pt_operation_end(op, true);
    free(pt_performance_json(&p));
    (void)pt_current_memory_mb();
    (void)pt_current_gpu_memory();
    pt_profiler_free(profiler);
    assert_int_equal(errno, 77);
}

static void an_operation_is_a_span_too(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-operation-XXXXXX", path[300], name[256];
    struct pt_region region;
    struct pt_history_span spans[8];
    uint64_t next;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(pt_start(directory), 0);
    pt_profiler *profiler = plain_profiler();
    pt_operation_end(pt_operation_begin(profiler, "spanned"), true);
    pt_operation_end(pt_operation_begin(profiler, "spanned"), true);
    pt_profiler_free(profiler);
    assert_true(pt_history_region(&region));
    assert_int_equal(pt_history_read(0, spans, 8, &next), 2);
    pt_region_copy_name(&region, spans[0].name, name);
    assert_string_equal(name, "spanned");
    assert_int_equal(spans[0].name, spans[1].name);
    pt_region_close(&region);
    pt_stop();
    DIR *files = opendir(directory);
    for (struct dirent *f = readdir(files); f; f = readdir(files)) {
        snprintf(path, sizeof path, "%s/%s", directory, f->d_name);
        unlink(path);
    }
    closedir(files);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(options_have_their_defaults,
                "C272 C273 C274 C275 C277: options have the defaults of the document"),
        PT_TEST(wall_time_is_that_of_the_clock,
                "C278 C279 C300: an operation has the wall time of the clock"),
        PT_TEST(cpu_time_is_that_of_the_process,
                "C301 C302 C303 C307: CPU time is that of the process"),
        PT_TEST(failed_and_running_ones_have_results,
                "C284 C286: failed and running operations have results"),
        PT_TEST(the_last_is_what_began_or_ended_last,
                "C279 C280: the last operation is the one that began or ended last"),
        PT_TEST(many_operations_take_bounded_room,
                "C283 C285: 10,000 operations, and more names than fit"),
        PT_TEST(names_are_cut, "C280: long names are cut and still found"),
        PT_TEST(without_memory_or_profiler_nothing_happens, "without a profiler nothing crashes"),
        PT_TEST(abandoned_ones_can_be_ended, "an operation may outlive its profiler"),
        PT_TEST(threads_may_do_all_of_it, "C285: several threads share a profiler"),
        PT_TEST(a_fork_in_the_middle_is_survived, "a fork in the middle leaves both alive"),
        PT_TEST(forks_at_any_time_are_survived, "forks while threads measure leave no lock taken"),
        PT_TEST(the_gpu_is_tracked,
                "C272 C282 C288 C289 C297 C306: memory and utilisation of the GPU"),
        PT_TEST(without_gpu_tracking_there_is_none, "C294: without GPU tracking there is none"),
        PT_TEST(without_a_gpu_nothing_is_made_up, "C294: without a GPU nothing is made up"),
        PT_TEST(the_machine_is_what_its_files_say,
                "C308 C309 C310 C311: CPU, memory, disk and network of the machine"),
        PT_TEST(what_files_do_not_say_is_nan, "what the kernel does not say is not a number"),
        PT_TEST(the_live_machine_is_in_range, "C308 C309: bytes of a file, and the live machine"),
        PT_TEST(flops_are_counted_by_formulas, "C292: formulas count what is known of them"),
        PT_TEST(flops_that_are_added_are_tagged,
                "C277 C292 C304 C305: work that the program names, and its rate"),
        PT_TEST(hardware_counts_or_is_absent, "C277: hardware counts, or is not a number"),
        PT_TEST(energy_is_the_part_of_the_process,
                "C290: energy is the part of the process, with its range"),
        PT_TEST(energy_of_an_operation_is_told, "C273 C290: energy and carbon of an operation"),
        PT_TEST(the_summary_is_one_line, "C313: the summary is one line"),
        PT_TEST(the_json_has_all_figures, "C312: the JSON has all figures"),
        PT_TEST(errno_stays, "errno stays as it was"),
        PT_TEST(an_operation_is_a_span_too, "C278: an operation is a span too"),
    };
    return cmocka_run_group_tests_name("operation", tests, NULL, stop_playing);
}
