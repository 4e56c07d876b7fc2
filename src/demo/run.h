/* demo/run.h -- the demo workload: a model is written, read, stands idle and then serves requests.
 *
 *     model        8 layers x 384, 8 heads (4 KV), 13.2 M weights, 50.4 MiB
 *     weights      written in 0.21 s, read in 0.04 s
 *     load         4.6 s, 2 workers, 12 requests at a time, 71 finished, 3 preempted
 *     prompt         9,120 tokens   1,982.6 tokens/s
 *     generated      4,470 tokens     971.7 tokens/s
 *     first token  p50   101.2 ms   p95   240.9 ms
 *     inter-token  p50     7.9 ms   p95    31.0 ms
 */
#ifndef PT_DEMO_RUN_H
#define PT_DEMO_RUN_H

#include "base/out.h"
#include "demo/weights.h"

/* 0 or NULL is the default of each. */
struct pt_demo_options {
    double seconds;        /* 5, with writing the weights and standing idle */
    double idle_seconds;   /* before the load: a tenth of `seconds`, at most 1 */
    size_t request_count;  /* no limit: stop after so many */
    size_t worker_count;   /* one for each CPU this process may use, 2 to 8 */
    size_t concurrency;    /* 16 requests at a time, 12 of them running */
    uint64_t seed;         /* of prompts, lengths and sampling */
    const char *directory; /* of the weights: $TMPDIR or /var/tmp, which is on a disk */
    const struct pt_model_config *model; /* pt_model_config_default */
};

/* What was measured. */
struct pt_demo_result {
    double write_seconds, read_seconds, load_seconds;
    uint64_t finished_count, cut_count, preemption_count, prompt_count, generated_count;
    int64_t first_token_p50_ns, first_token_p95_ns, inter_token_p50_ns, inter_token_p95_ns;
};

/* Runs and prints; `result` may be NULL. */
int pt_demo_run(const struct pt_demo_options *options, struct pt_out *out,
                struct pt_demo_result *result, struct pt_err *err) PT_MUST_CHECK;

#endif
