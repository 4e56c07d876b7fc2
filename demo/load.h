/* demo/load.h -- a bounded load of streamed completions on a server of this machine, and its
 * statistics.
 *
 *     load         5.0 s, 16 requests at a time
 *     requests     42 finished, 16 cut off at the end, 0 failed
 *     prompt            4358 tokens      871.6 tokens/s
 *     generated         2412 tokens      482.4 tokens/s
 *     first token  p50    566.3 ms   p95    999.0 ms   p99   1112.1 ms
 *     inter-token  p50     16.3 ms   p95     34.3 ms   p99     41.7 ms
 *     end to end   p50   1203.9 ms   p95   2870.5 ms   p99   3012.2 ms
 *
 * It reads the events of demo/completion.h. */
#ifndef PT_DEMO_LOAD_H
#define PT_DEMO_LOAD_H

#include "demo/samples.h"

/* 0: the default of a number. */
struct pt_load_options {
    const char *url;      /* http://127.0.0.1:PORT or unix:PATH */
    size_t request_count; /* no limit */
    size_t concurrency;   /* 16 */
    double seconds;       /* 5, or no limit if the requests are counted */
    uint64_t seed;        /* of prompts, lengths and sampling */
    size_t context;       /* of the model: that of pt_model_config_default */
};

struct pt_load_result {
    double seconds;
    uint64_t finished_count, cut_count, failed_count;
    uint64_t prompt_count; /* tokens, of requests that finished */
    uint64_t generated_count;
    struct pt_demo_latency first_token, inter_token, e2e;
};

/* Runs on the calling thread. -EINVAL for an address that is not of this machine; the error of the
 * first request if none got an answer. */
int pt_load_run(const struct pt_load_options *options, struct pt_load_result *result,
                struct pt_err *err) PT_MUST_CHECK;

void pt_load_print(const struct pt_load_options *options, const struct pt_load_result *result,
                   struct pt_out *out);

#endif
