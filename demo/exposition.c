#include "demo/exposition.h"

#include "base/clock.h"
#include "demo/kv.h"

#include <inttypes.h>

#define LABELS "engine=\"0\",model_name=\"" PT_DEMO_MODEL_NAME "\""

static const struct {
    const char *name, *help;
    size_t member; /* of the statistics */
} histograms[] = {
    { "time_to_first_token_seconds", "Histogram of time to first token in seconds.",
      offsetof(struct pt_engine_stats, first_token) },
    { "inter_token_latency_seconds", "Histogram of inter-token latency in seconds.",
      offsetof(struct pt_engine_stats, inter_token) },
    { "e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.",
      offsetof(struct pt_engine_stats, e2e) },
    { "request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.",
      offsetof(struct pt_engine_stats, queue) },
    { "request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.",
      offsetof(struct pt_engine_stats, inference) },
    { "request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.",
      offsetof(struct pt_engine_stats, prefill) },
    { "request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.",
      offsetof(struct pt_engine_stats, decode) },
};

const char *pt_finish_name(enum pt_finish finish) {
    static const char *const names[] = { "stop", "length", "abort" };
    return names[finish];
}

static void write_head(struct pt_out *out, const char *name, const char *type, const char *help) {
    pt_out_printf(out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, type);
}

static void write_value(struct pt_out *out, double value) {
    pt_out_char(out, ' ');
    pt_out_f64(out, value);
    pt_out_char(out, '\n');
}

static void write_scalars(struct pt_out *out, const struct pt_engine_stats *s) {
    const struct {
        const char *name, *type, *help;
        double value;
    } scalars[] = {
        { "num_requests_running", "gauge", "Number of requests in model execution batches.",
          (double)s->running },
        { "num_requests_waiting", "gauge", "Number of requests waiting to be processed.",
          (double)s->waiting },
        { "kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.",
          s->kv_usage },
        { "num_preemptions_total", "counter", "Cumulative number of preemption from the engine.",
          (double)s->preemptions },
        { "prompt_tokens_total", "counter", "Number of prefill tokens processed.",
          (double)s->prompt_tokens },
        { "generation_tokens_total", "counter", "Number of generation tokens processed.",
          (double)s->generation_tokens },
    };
    for (size_t i = 0; i < PT_COUNT(scalars); i++) {
        write_head(out, scalars[i].name, scalars[i].type, scalars[i].help);
        pt_out_printf(out, "vllm:%s{" LABELS "}", scalars[i].name);
        write_value(out, scalars[i].value);
    }
}

static void write_finished(struct pt_out *out, const uint64_t finished[PT_FINISH_COUNT]) {
    write_head(out, "request_success_total", "counter",
               "Count of successfully processed requests.");
    for (int i = 0; i < PT_FINISH_COUNT; i++) {
        pt_out_printf(out,
                      "vllm:request_success_total{engine=\"0\",finished_reason=\"%s\","
                      "model_name=\"" PT_DEMO_MODEL_NAME "\"}",
                      pt_finish_name((enum pt_finish)i));
        write_value(out, (double)finished[i]);
    }
}

/* 0.3 and 1.0, as Python writes them. */
static void write_edge(struct pt_out *out, int64_t edge_ms) {
    pt_out_f64(out, (double)edge_ms / 1000);
    if (edge_ms % 1000 == 0)
        pt_out_text(out, ".0");
}

static void write_histogram(struct pt_out *out, const char *name,
                            const struct pt_latency_histogram *l) {
    uint64_t count = 0;
    for (size_t i = 0; i < l->scale->edge_count; i++) {
        count += l->buckets[i];
        pt_out_printf(out, "vllm:%s_bucket{engine=\"0\",le=\"", name);
        write_edge(out, l->scale->edges_ms[i]);
        pt_out_printf(out, "\",model_name=\"" PT_DEMO_MODEL_NAME "\"} %" PRIu64 "\n", count);
    }
    pt_out_printf(out,
                  "vllm:%s_bucket{engine=\"0\",le=\"+Inf\",model_name=\"" PT_DEMO_MODEL_NAME
                  "\"} %" PRIu64 "\n",
                  name, l->count);
    pt_out_printf(out, "vllm:%s_count{" LABELS "} %" PRIu64 "\n", name, l->count);
    pt_out_printf(out, "vllm:%s_sum{" LABELS "}", name);
    write_value(out, (double)l->sum_ns / (double)PT_NS_PER_SECOND);
}

void pt_exposition_write(struct pt_out *out, const struct pt_engine_stats *stats,
                         size_t block_count) {
    write_scalars(out, stats);
    write_finished(out, stats->finished);
    for (size_t i = 0; i < PT_COUNT(histograms); i++) {
        const void *latency = (const char *)stats + histograms[i].member;
        write_head(out, histograms[i].name, "histogram", histograms[i].help);
        write_histogram(out, histograms[i].name, latency);
    }
    write_head(out, "cache_config_info", "gauge", "Information of the LLMEngine CacheConfig");
    pt_out_printf(out,
                  "vllm:cache_config_info{block_size=\"%d\",cache_dtype=\"float32\","
                  "enable_prefix_caching=\"False\",engine=\"0\",num_gpu_blocks=\"%zu\"} 1\n",
                  PT_KV_BLOCK, block_count);
}
