/* A complete program that measures itself with libpitot: a small service that answers requests.
 *
 *     cc library.c $(pkg-config --cflags --libs pitot) -o library
 *     ./library                  alone: prints its own metrics, health and profile
 *     pitot -f csv -- ./library  the same, and everything is also in the run */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 199309L /* clock_gettime(), for compilers with -std=c11 */
#endif
#include <inttypes.h>
#include <math.h>
#include <pitot/config.h>
#include <pitot/export.h>
#include <pitot/monitor.h>
#include <pitot/operation.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REQUESTS 200
#define TOKENS   16

static double weights[64][64];
static volatile double result; /* so that the work is not optimized away */

/* Some work: a matrix times a vector, once per token. */
static double compute(int rounds) {
    double state[64] = { 1 }, next[64];
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < 64; i++) {
            next[i] = 0;
            for (int j = 0; j < 64; j++)
                next[i] += weights[i][j] * state[j];
        }
        for (int i = 0; i < 64; i++)
            state[i] = tanh(next[i]);
    }
    return state[0];
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void answer(uint64_t id, pt_counter tokens, pt_histogram first_token) {
    PT_SPAN(request, "request"); /* ends with the block, however it is left */
    pt_span_set_request(&request, id);
    pt_request_begin();
    double start = seconds();
    {
        PT_SPAN(span, "prefill");
        pt_span_set_request(&span, id);
        result = compute(8 * TOKENS);
    }
    pt_histogram_record(first_token, seconds() - start);
    {
        PT_SPAN(span, "decode");
        pt_span_set_request(&span, id);
        pt_span_set_work(&span, PT_TOKENS, TOKENS); /* gives it tokens per second */
        result = compute(TOKENS);
        pt_counter_add(tokens, TOKENS);
    }
    pt_request_end();
    pt_record_request(seconds() - start, TOKENS, true);
}

/* The probe of the health check. */
static int probe(void *unused) {
    (void)unused;
    return isfinite(compute(1)) ? 0 : -1;
}

static void print(char *text) {
    if (text)
        puts(text);
    free(text);
}

int main(void) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            weights[i][j] = sin(i * 64 + j) / 8;

    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true; /* everything else has sensible defaults */
    if (pt_configure(&config))
        fputs("measuring is off; the program works all the same\n", stderr);

    pt_counter tokens = pt_counter_new("tokens_total", "", "Tokens generated", "model=\"toy\"");
    pt_histogram first_token =
        pt_histogram_new("first_token_seconds", "s", "Time to the first token", NULL);
    pt_profiler *profiler = pt_profiler_new(NULL);
    pt_monitor *monitor = pt_monitor_new();
    if (!profiler || !monitor)
        return 1;

    pt_operation *serving = pt_operation_begin(profiler, "serving");
    for (uint64_t id = 1; id <= REQUESTS; id++) {
        answer(id, tokens, first_token);
        pt_operation_step(serving);
        pt_operation_add_flops(serving, 9 * TOKENS * pt_flops_matmul(64, 1, 64));
        pt_monitor_record(monitor, "first_token_p50", pt_histogram_quantile(first_token, 0.5), NAN);
        pt_step("request");
    }
    pt_operation_end(serving, true);

    /* The text for /metrics and /health. */
    print(pt_render(PT_PROMETHEUS, NULL));
    pt_health health;
    pt_health_check(&health, probe, NULL);
    print(pt_health_json(&health));

    /* Its own figures at the end. */
    print(pt_monitor_report_json(monitor));
    pt_performance performance;
    char summary[128];
    if (!pt_profiler_get(profiler, "serving", &performance))
        puts(pt_performance_summary(&performance, summary, sizeof summary));
    printf("%" PRIu64 " tokens, %" PRIu64 " records dropped\n", pt_counter_value(tokens),
           pt_dropped());
    pt_write_trace("library-trace.json.gz"); /* opens in ui.perfetto.dev */

    pt_monitor_free(monitor);
    pt_profiler_free(profiler);
    return 0;
}
