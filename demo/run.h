/* demo/run.h -- the demo workload: writes and reads a model, idles, then serves requests.
 *
 *     model        8 layers x 256, 8 heads (4 KV), 8.0 M weights, 30.5 MiB
 *     weights      written in 0.06 s, read in 0.02 s
 *     load         4.4 s, 2 workers, 16 requests at a time
 *     requests     31 finished, 16 cut off at the end, 0 preempted
 *     prompt            4358 tokens      981.6 tokens/s
 *     generated         2412 tokens      543.3 tokens/s
 *     first token  p50    566.3 ms   p95    999.0 ms   p99   1112.1 ms
 *     inter-token  p50     16.3 ms   p95     34.3 ms   p99     41.7 ms
 */
#ifndef PT_DEMO_RUN_H
#define PT_DEMO_RUN_H

#include "demo/deployment.h"
#include "demo/samples.h"

/* 0 or NULL: the default. */
struct pt_demo_options {
    double seconds;       /* 5, including writing the weights and idling */
    double idle_seconds;  /* before the load: a tenth of `seconds`, at most 1 */
    size_t request_count; /* stop after this many; 0: no limit */
    size_t concurrency;   /* 16 requests at a time, 12 of them running */
    uint64_t seed;        /* of prompts, lengths and sampling */
    struct pt_deployment_options deployment;
};

/* What was measured. */
struct pt_demo_result {
    double load_seconds;
    uint64_t finished_count, cut_count, preemption_count, prompt_count, generated_count;
    struct pt_demo_latency first_token, inter_token;
};

/* Runs and prints; `result` may be NULL. */
int pt_demo_run(const struct pt_demo_options *options, struct pt_out *out,
                struct pt_demo_result *result, struct pt_err *err) PT_MUST_CHECK;

#endif
