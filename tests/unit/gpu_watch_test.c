/* The GPUs as libpitot sees them, against the scripted NVML. */
#include "scripted.h"

#include "base/clock.h"
#include "libpitot/gpu_watch.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#define INTERVAL_NS (100 * PT_NS_PER_MS)

/* Threads of libpitot; a sanitizer may have one of its own. */
static int thread_count(void) {
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *comm = fopen(path, "r");
        if (comm && fgets(name, sizeof name, comm))
            count += strncmp(name, "pitot", 5) == 0;
        if (comm)
            fclose(comm);
    }
    closedir(tasks);
    return count;
}

/* Until there is a reading newer than `time_ns`. */
static struct pt_gpu_now await_reading(int64_t time_ns) {
    struct pt_gpu_now now;
    do
        usleep(1000);
    while (!pt_gpu_watch_read(&now) || now.time_ns <= time_ns);
    return now;
}

static void read_since(const struct pt_gpu_mark *mark, struct pt_gpu_since *since) {
    struct pt_gpu_mark now;
    pt_gpu_watch_mark(&now);
    pt_gpu_watch_between(mark, &now, since);
}

static void start(const char *script) {
    play("PITOT_SCRIPTED_NVML", script);
    pt_gpu_watch_forget();
    assert_int_equal(pt_gpu_watch_start(INTERVAL_NS), 0);
}

static void the_first_gpu_is_read(void **state) {
    (void)state;
    struct pt_gpu_now now;
    start("devices 2\n" SCRIPT_GPU "nvmlDeviceGetUtilizationRates 1 7:7\n");
    assert_true(pt_gpu_watch_read(&now));
    assert_true(now.utilization_percent == 85);
    assert_true(now.memory_total_mb == 81920);
    assert_true(now.memory_used_mb == 20937965568 / 1048576.0);
    assert_true(now.temperature_c == 61);
    assert_true(now.power_w == 512.345);
    assert_true(isnan(now.process_memory_mb)); /* only strangers are listed */
    assert_true(now.time_ns > 0 && now.time_ns <= pt_mono_ns());
    pt_gpu_watch_stop();
    assert_false(pt_gpu_watch_read(&now));
    assert_true(isnan(now.utilization_percent));
}

static void what_is_not_told_is_nan(void **state) {
    (void)state;
    struct pt_gpu_now now;
    start("devices 1\nnvmlDeviceGetName * A\nnvmlDeviceGetTemperature/0 * 50\n");
    assert_true(pt_gpu_watch_read(&now));
    assert_true(now.temperature_c == 50);
    assert_true(isnan(now.utilization_percent) && isnan(now.memory_used_mb));
    assert_true(isnan(now.memory_total_mb) && isnan(now.power_w));
    pt_gpu_watch_stop();
}

static void memory_of_this_process_is_summed(void **state) {
    (void)state;
    char script[8192];
    struct pt_gpu_now now;
    snprintf(script, sizeof script,
             "devices 2\n" SCRIPT_GPU
             "nvmlDeviceGetComputeRunningProcesses_v3 * %d:1073741824:0,4712:5:0\n",
             (int)getpid());
    start(script);
    assert_true(pt_gpu_watch_read(&now));
    /* In a namespace of pids the driver's pid may be anyone's. */
    FILE *kthreadd = fopen("/proc/2/comm", "r");
    char name[32] = "";
    if (kthreadd && fgets(name, sizeof name, kthreadd) && strcmp(name, "kthreadd\n") == 0)
        assert_true(now.process_memory_mb == 2048);
    else
        assert_true(isnan(now.process_memory_mb));
    if (kthreadd)
        fclose(kthreadd);
    pt_gpu_watch_stop();
}

static void averages_are_of_the_readings_since_a_mark(void **state) {
    (void)state;
    struct pt_gpu_mark mark;
    struct pt_gpu_since since;
    start("devices 1\nnvmlDeviceGetName * A\n"
          "nvmlDeviceGetUtilizationRates 0 100:0 10:0 20:0 60:0\n"
          "nvmlDeviceGetTotalEnergyConsumption 0 1000000 1040000 1090000\n");
    pt_gpu_watch_mark(&mark);
    read_since(&mark, &since);
    assert_true(isnan(since.utilization_percent) && isnan(since.power_w)); /* nothing new yet */
    int64_t begin_ns = mark.time_ns;
    int64_t end_ns = await_reading(await_reading(begin_ns).time_ns).time_ns;
    read_since(&mark, &since);
    assert_true(since.utilization_percent == 15 || since.utilization_percent == 30);
    double joules = since.power_w * (double)(end_ns - begin_ns) / 1e9;
    if (since.utilization_percent == 15) /* no third reading has come meanwhile */
        assert_true(fabs(joules - 90) < 1e-6);
    pt_gpu_watch_stop();
}

static void without_energy_counter_power_is_summed(void **state) {
    (void)state;
    struct pt_gpu_mark mark;
    struct pt_gpu_since since;
    start("devices 1\nnvmlDeviceGetName * A\nnvmlDeviceGetPowerUsage * 250000\n");
    pt_gpu_watch_mark(&mark);
    await_reading(mark.time_ns);
    read_since(&mark, &since);
    assert_true(fabs(since.power_w - 250) < 1e-9);
    pt_gpu_watch_stop();
}

static void starts_are_counted(void **state) {
    (void)state;
    struct pt_gpu_now now;
    start("devices 1\n" SCRIPT_GPU);
    assert_int_equal(pt_gpu_watch_start(PT_NS_PER_SECOND), 0);
    pt_gpu_watch_stop();
    assert_true(pt_gpu_watch_read(&now));
    pt_gpu_watch_stop();
    assert_false(pt_gpu_watch_read(&now));
    pt_gpu_watch_stop(); /* one too many does nothing */
    assert_int_equal(pt_gpu_watch_start(INTERVAL_NS), 0);
    assert_true(pt_gpu_watch_read(&now));
    pt_gpu_watch_stop();
}

/* A thread that has ended is listed a moment longer. */
static void await_threads(void) {
    while (thread_count() > 0)
        usleep(1000);
}

static void without_a_gpu_no_thread_stays(void **state) {
    (void)state;
    struct pt_gpu_now now;
    play("PITOT_SCRIPTED_NVML", "");
    setenv("PITOT_NVML", "/nonexistent.so", 1);
    pt_gpu_watch_forget();
    await_threads();
    assert_int_equal(pt_gpu_watch_start(INTERVAL_NS), -ENODATA);
    await_threads(); /* the kernel may still be at it; if one stays this never ends */
    assert_false(pt_gpu_watch_read(&now));
    play("PITOT_SCRIPTED_NVML", "devices 1\n" SCRIPT_GPU);
    assert_int_equal(pt_gpu_watch_start(INTERVAL_NS), -ENODATA); /* not searched again at once */
}

static void a_child_sees_no_gpu(void **state) {
    (void)state;
    struct pt_gpu_now now;
    start("devices 1\n" SCRIPT_GPU);
    pid_t child = fork();
    if (child == 0) {
        bool is_right = !pt_gpu_watch_read(&now) && isnan(now.power_w);
        pt_gpu_watch_stop();
        is_right = is_right && pt_gpu_watch_start(INTERVAL_NS) == -ENODATA;
        _exit(is_right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(pt_gpu_watch_read(&now));
    pt_gpu_watch_stop();
}

static void *start_and_stop(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct pt_gpu_now now;
        struct pt_gpu_mark mark;
        struct pt_gpu_since since;
        if (pt_gpu_watch_start(INTERVAL_NS))
            return NULL;
        (void)pt_gpu_watch_read(&now);
        pt_gpu_watch_mark(&mark);
        read_since(&mark, &since);
        pt_gpu_watch_stop();
    }
    return (void *)start_and_stop;
}

static void threads_may_start_and_stop(void **state) {
    (void)state;
    pthread_t threads[4];
    start("devices 1\n" SCRIPT_GPU);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, start_and_stop, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
    pt_gpu_watch_stop();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(the_first_gpu_is_read, "C289: the first GPU is read, with the time of it"),
        PT_TEST(what_is_not_told_is_nan, "what a GPU does not tell is not a number"),
        PT_TEST(memory_of_this_process_is_summed, "C288: memory of this process, on all GPUs"),
        PT_TEST(averages_are_of_the_readings_since_a_mark,
                "C306: means are of the readings since a mark"),
        PT_TEST(without_energy_counter_power_is_summed, "without a counter of energy power counts"),
        PT_TEST(starts_are_counted, "watching lasts from the first start to the last stop"),
        PT_TEST(without_a_gpu_no_thread_stays, "without a GPU no thread stays"),
        PT_TEST(a_child_sees_no_gpu, "a child made by fork sees no GPU and does not hang"),
        PT_TEST(threads_may_start_and_stop, "threads may start and stop at will"),
    };
    return cmocka_run_group_tests_name("gpu_watch", tests, NULL, stop_playing);
}
