/* A program that uses all of libpitot again and again, whatever the answers are, and ends with 0.
 *
 *     library-rounds ROUNDS [PAUSE]     PAUSE milliseconds after each */
#include <math.h>
#include <pitot/config.h>
#include <pitot/export.h>
#include <pitot/monitor.h>
#include <pitot/operation.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMES 40

static void record(int seed) {
    char name[32], labels[32];
    snprintf(name, sizeof name, "metric_%d", seed % NAMES);
    snprintf(labels, sizeof labels, "part=\"%d\"", seed % 3);
    pt_counter counter = pt_counter_new(name, "", "Counted", labels);
    snprintf(name, sizeof name, "gauge_%d", seed % NAMES);
    pt_gauge gauge = pt_gauge_new(name, "By", "Measured", NULL);
    snprintf(name, sizeof name, "seconds_%d", seed % 8);
    pt_histogram histogram = pt_histogram_new(name, "s", "Timed", NULL);
    for (int i = 1; i < 20; i++) {
        PT_SPAN(outer, "outer");
        pt_span_set_request(&outer, (uint64_t)seed);
        pt_name text = 0;
        pt_span inner = pt_span_begin(pt_name_once(&text, name));
        pt_span_set_work(&inner, PT_TOKENS, i);
        pt_counter_add(counter, 1);
        pt_gauge_set(gauge, i);
        pt_gauge_add(gauge, 1);
        pt_histogram_record(histogram, i * 1e-3);
        pt_histogram_record(histogram, 0);
        pt_span_end(&inner);
    }
    pt_counter_value(counter);
    pt_gauge_value(gauge);
    pt_histogram_quantile(histogram, 0.9);
}

static void *run_thread(void *seed) {
    for (int i = 0; i < 4; i++)
        record(*(int *)seed + i);
    return NULL;
}

static int probe(void *unused) {
    (void)unused;
    return 0;
}

static void observe(int round) {
    static pt_profiler *profiler;
    static pt_monitor *monitor;
    static pt_timing timings[64];
    static pt_throughput throughputs[64];
    pt_memory_sample memory[8];
    pt_regression regressions[4];
    pt_overhead overhead;
    pt_performance performance;
    pt_gpu_metrics gpu;
    pt_system_metrics machine;
    pt_alert alerts[4];
    pt_health health;
    char summary[128];
    double values[8], times[8];

    if (!profiler)
        profiler = pt_profiler_new(NULL);
    if (!monitor)
        monitor = pt_monitor_new();
    pt_operation *operation = profiler ? pt_operation_begin(profiler, "round") : NULL;
    if (operation) {
        pt_operation_step(operation);
        pt_operation_add_flops(operation, 1e6);
        pt_operation_end(operation, true);
        if (!pt_profiler_get(profiler, "round", &performance)) {
            pt_performance_summary(&performance, summary, sizeof summary);
            free(pt_performance_json(&performance));
        }
    }
    pt_request_begin();
    pt_record_request(0.01, 10, round % 3 != 0);
    pt_request_end();
    pt_step("round");
    if (monitor) {
        pt_monitor_record(monitor, "value", round, NAN);
        pt_monitor_values(monitor, "value", times, values, 8);
        pt_monitor_gpu(monitor, &gpu);
        pt_monitor_system(monitor, &machine);
        pt_monitor_check(monitor, alerts, 4);
        free(pt_monitor_report_json(monitor));
    }
    pt_health_check(&health, probe, NULL);
    free(pt_health_json(&health));
    for (int format = PT_PROMETHEUS; format <= PT_JSON; format++)
        free(pt_render((enum pt_exposition_format)format, NULL));
    pt_recent_timings(timings, 64);
    pt_recent_throughputs(throughputs, 64);
    pt_recent_memory(memory, 8);
    pt_regressions(regressions, 4);
    pt_overhead_get(&overhead);
    pt_dropped();
    pt_write_trace("/dev/null");
    pt_histogram histogram = pt_histogram_new("seconds_1", "s", "Timed", NULL);
    pt_histogram_set_buckets(histogram, (const double[]){ 0.01, 0.1 }, 2);
    pt_tensorboard *board = pt_tensorboard_open("board");
    if (board) {
        pt_tensorboard_scalar(board, "round", round, round);
        pt_tensorboard_histogram(board, "seconds", round, histogram);
        pt_tensorboard_metrics(board, round);
        pt_tensorboard_close(board);
    }
}

static void fork_child(int round) {
    pid_t child = fork();
    if (child == 0) {
        record(round);
        free(pt_render(PT_PROMETHEUS, NULL));
        _exit(0);
    }
    int status = 0;
    if (child > 0 && (waitpid(child, &status, 0) != child || status)) {
        fprintf(stderr, "library-rounds: a child ended with status %d\n", status);
        exit(2);
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    int pause_ms = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true;
    pt_configure(&config);
    pt_start(NULL);
    for (int round = 0; round < rounds; round++) {
        pthread_t threads[2];
        int seeds[2] = { round, round + 7 }, started = 0;
        while (started < 2 && !pthread_create(&threads[started], NULL, run_thread, &seeds[started]))
            started++;
        record(round + 3);
        observe(round);
        while (started > 0)
            pthread_join(threads[--started], NULL);
        if (round % 8 == 1)
            fork_child(round);
        poll(NULL, 0, pause_ms);
    }
    return 0;
}
