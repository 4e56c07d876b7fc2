#include "source/engine/alias.h"

#include "base/attr.h"

#define S(literal) \
    { literal, sizeof(literal) - 1 }

static const struct {
    struct pt_str prefix;
    enum pt_engine_kind kind;
    bool is_part; /* of the names in the table: the engine has no prefix */
} prefixes[] = {
    { S("vllm:"), PT_ENGINE_VLLM },
    { S("ray_vllm_"), PT_ENGINE_VLLM }, /* Ray Serve LLM */
    { S("ray_vllm:"), PT_ENGINE_VLLM }, /* before Ray replaced the colon */
    { S("sglang:"), PT_ENGINE_SGLANG },
    { S("sglang_"), PT_ENGINE_SGLANG }, /* behind collectors that replace the colon */
    { S("tgi_"), PT_ENGINE_TGI },
    { S("trtllm_"), PT_ENGINE_TRTLLM },
    { S("trtllm:"), PT_ENGINE_TRTLLM }, /* older Dynamo */
    { S("llamacpp:"), PT_ENGINE_LLAMACPP },
    { S("llamacpp_"), PT_ENGINE_LLAMACPP }, /* old builds */
    { S("nv_inference_"), PT_ENGINE_TRITON },
    { S("nv_trt_llm_"), PT_ENGINE_TRITON }, /* gauges of the TensorRT-LLM backend */
    { S("nv_llm_"), PT_ENGINE_TRITON },     /* histograms of the same */
    { S("lmdeploy:"), PT_ENGINE_LMDEPLOY },
    { S("dynamo_frontend_"), PT_ENGINE_DYNAMO },
    { S("dynamo_component_"), PT_ENGINE_DYNAMO },
    { S("lmcache:"), PT_ENGINE_LMCACHE },
    { S("request_predict_seconds"), PT_ENGINE_KSERVE, true },
    { S("num_requests_"), PT_ENGINE_NIM, true },
    { S("num_request_max"), PT_ENGINE_NIM, true },
    { S("gpu_cache_usage_perc"), PT_ENGINE_NIM, true },
    { S("prompt_tokens_total"), PT_ENGINE_NIM, true },
    { S("generation_tokens_total"), PT_ENGINE_NIM, true },
    { S("request_success_total"), PT_ENGINE_NIM, true },
    { S("request_failure_total"), PT_ENGINE_NIM, true },
    { S("time_to_first_token_seconds"), PT_ENGINE_NIM, true },
    { S("time_per_output_token_seconds"), PT_ENGINE_NIM, true },
    { S("e2e_request_latency_seconds"), PT_ENGINE_NIM, true },
};

static const char *const kind_names[] = {
    [PT_ENGINE_UNKNOWN] = "unknown", [PT_ENGINE_VLLM] = "vllm",
    [PT_ENGINE_SGLANG] = "sglang",   [PT_ENGINE_TGI] = "tgi",
    [PT_ENGINE_TRTLLM] = "trtllm",   [PT_ENGINE_LLAMACPP] = "llamacpp",
    [PT_ENGINE_TRITON] = "triton",   [PT_ENGINE_LMDEPLOY] = "lmdeploy",
    [PT_ENGINE_DYNAMO] = "dynamo",   [PT_ENGINE_KSERVE] = "kserve",
    [PT_ENGINE_LMCACHE] = "lmcache", [PT_ENGINE_NIM] = "nim",
};

const char *const pt_engine_latency_names[PT_ENGINE_LATENCY_COUNT] = {
#define LATENCY_NAME(constant, name, ...) name,
    PT_ENGINE_LATENCIES(LATENCY_NAME)
};

const struct pt_engine_field_info pt_engine_fields[PT_ENGINE_FIELD_COUNT] = {
#define FIELD_INFO(constant, name, rule, is_expected, help, ...) \
    { name, PT_ENGINE_##rule, is_expected, help },
#define LATENCY_INFO(constant, name, ...)                                                    \
    { "latency_" name "_s_sum", PT_ENGINE_COUNTER, false, "Seconds, summed over requests" }, \
        { "latency_" name "_s_count", PT_ENGINE_COUNTER, false, "Number of values in the sum" },
    PT_ENGINE_FIELDS(FIELD_INFO) PT_ENGINE_LATENCIES(LATENCY_INFO)
};

#define SCALED(factor_, engine, shape_, rank_, name_, target_)                                \
    .kind = PT_ENGINE_##engine, .shape = PT_ENGINE_##shape_, .rank = rank_, .name = S(name_), \
    .target = PT_ENGINE_##target_, .factor = factor_
#define ROW(...)             SCALED(1, __VA_ARGS__)
#define ONLY(label_, value_) .label = S(label_), .label_value = S(value_)

/* Rows of one engine are contiguous, and so are rows of one name. Rank 0 is the preferred name.
 * Version ranges are those in which the name was seen. */
static const struct pt_engine_alias aliases[] = {
    { ROW(VLLM, PLAIN, 0, "num_requests_running", REQUESTS_RUNNING) },
    { ROW(VLLM, PLAIN, 0, "num_requests_waiting", REQUESTS_WAITING) },
    { ROW(VLLM, PLAIN, 0, "num_requests_waiting_by_reason", REQUESTS_WAITING_CAPACITY),
      ONLY("reason", "capacity") },
    { ROW(VLLM, PLAIN, 0, "num_requests_waiting_by_reason", REQUESTS_WAITING_DEFERRED),
      ONLY("reason", "deferred") },
    { ROW(VLLM, PLAIN, 0, "kv_cache_usage_perc", KV_USAGE) },  /* 0.9.2 on */
    { ROW(VLLM, PLAIN, 1, "gpu_cache_usage_perc", KV_USAGE) }, /* 0.2.3 to 0.11.2 */
    { SCALED(0, VLLM, PLAIN, 0, "engine_sleep_state", SLEEP_STATE),
      ONLY("sleep_state", "awake") }, /* 0.10.2 on: 1 for the current state */
    { ROW(VLLM, PLAIN, 0, "engine_sleep_state", SLEEP_STATE),
      ONLY("sleep_state", "weights_offloaded") },
    { SCALED(2, VLLM, PLAIN, 0, "engine_sleep_state", SLEEP_STATE),
      ONLY("sleep_state", "discard_all") },
    { ROW(VLLM, TOTAL, 0, "num_preemptions", PREEMPTIONS) },
    { ROW(VLLM, TOTAL, 0, "prefix_cache_hits", PREFIX_HITS) },           /* 0.9.2 on */
    { ROW(VLLM, TOTAL, 1, "gpu_prefix_cache_hits", PREFIX_HITS) },       /* 0.7.3 to 0.11.2 */
    { ROW(VLLM, TOTAL, 0, "prefix_cache_queries", PREFIX_QUERIES) },     /* 0.9.2 on */
    { ROW(VLLM, TOTAL, 1, "gpu_prefix_cache_queries", PREFIX_QUERIES) }, /* 0.7.3 to 0.11.2 */
    { ROW(VLLM, TOTAL, 0, "mm_cache_hits", MULTIMODAL_HITS) },
    { ROW(VLLM, TOTAL, 0, "mm_cache_queries", MULTIMODAL_QUERIES) },
    { ROW(VLLM, TOTAL, 0, "external_prefix_cache_hits", EXTERNAL_HITS) },
    { ROW(VLLM, TOTAL, 0, "external_prefix_cache_queries", EXTERNAL_QUERIES) },
    { ROW(VLLM, TOTAL, 0, "prompt_tokens_cached", TOKENS_CACHED) },
    { ROW(VLLM, TOTAL, 0, "admission_rejections", REQUESTS_FAILED) },
    { ROW(VLLM, TOTAL, 0, "spec_decode_num_drafts", DRAFTS) },
    { ROW(VLLM, TOTAL, 0, "spec_decode_num_draft_tokens", DRAFTED) },
    { ROW(VLLM, TOTAL, 0, "spec_decode_num_accepted_tokens", ACCEPTED) },
    { ROW(VLLM, PLAIN, 0, "iteration_tokens_total_sum", ITERATION_TOKENS) },
    { ROW(VLLM, PLAIN, 0, "iteration_tokens_total_count", ITERATIONS) },
    { ROW(VLLM, PLAIN, 0, "nixl_bytes_transferred_sum", TRANSFER_BYTES) },
    { ROW(VLLM, PLAIN, 0, "mooncake_bytes_transferred_sum", TRANSFER_BYTES) },
    { ROW(VLLM, TOTAL, 0, "nixl_num_failed_transfers", TRANSFER_FAILURES) },
    { ROW(VLLM, TOTAL, 0, "mooncake_num_failed_transfers", TRANSFER_FAILURES) },
    { ROW(VLLM, TOTAL, 0, "estimated_flops_per_gpu", FLOPS) },
    { ROW(VLLM, TOTAL, 0, "estimated_read_bytes_per_gpu", READ_BYTES) },
    { ROW(VLLM, TOTAL, 0, "estimated_write_bytes_per_gpu", WRITE_BYTES) },
    { ROW(VLLM, TOTAL, 0, "request_success", REQUESTS_FINISHED) }, /* including aborted requests */
    { ROW(VLLM, TOTAL, 0, "request_success", REQUESTS_FAILED), ONLY("finished_reason", "abort") },
    { ROW(VLLM, TOTAL, 0, "request_success", REQUESTS_FAILED), ONLY("finished_reason", "error") },
    { ROW(VLLM, TOTAL, 0, "corrupted_requests", REQUESTS_CORRUPTED) },
    { ROW(VLLM, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) },
    { ROW(VLLM, TOTAL, 0, "generation_tokens", TOKENS_GENERATION) },
    { ROW(VLLM, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(VLLM, HISTOGRAM, 0, "e2e_request_latency_seconds", E2E) },
    { ROW(VLLM, HISTOGRAM, 0, "request_queue_time_seconds", QUEUE) }, /* 0.6.4 on */
    { ROW(VLLM, HISTOGRAM, 0, "request_inference_time_seconds", INFERENCE) },
    { ROW(VLLM, HISTOGRAM, 0, "request_prefill_time_seconds", PREFILL) },
    { ROW(VLLM, HISTOGRAM, 0, "request_decode_time_seconds", DECODE) },
    { ROW(VLLM, HISTOGRAM, 0, "inter_token_latency_seconds", INTER_TOKEN) },   /* 0.10.2 on */
    { ROW(VLLM, HISTOGRAM, 1, "time_per_output_token_seconds", INTER_TOKEN) }, /* 0.3.1-0.14.1 */
    { ROW(VLLM, HISTOGRAM, 0, "request_time_per_output_token_seconds", TPOT) },

    { ROW(SGLANG, PLAIN, 0, "num_running_reqs", REQUESTS_RUNNING) },
    { ROW(SGLANG, PLAIN, 1, "num_requests_running", REQUESTS_RUNNING) }, /* the first releases */
    { ROW(SGLANG, PLAIN, 1, "num_requests_waiting", REQUESTS_WAITING) },
    { ROW(SGLANG, PLAIN, 0, "num_grammar_queue_reqs", REQUESTS_GRAMMAR) },
    { ROW(SGLANG, PLAIN, 0, "num_paused_reqs", REQUESTS_PAUSED) },
    { ROW(SGLANG, PLAIN, 0, "num_prefill_bootstrap_queue_reqs", REQUESTS_TRANSFER) },
    { ROW(SGLANG, PLAIN, 0, "num_prefill_inflight_queue_reqs", REQUESTS_TRANSFER) },
    { ROW(SGLANG, PLAIN, 0, "num_decode_prealloc_queue_reqs", REQUESTS_TRANSFER) },
    { ROW(SGLANG, PLAIN, 0, "num_decode_transfer_queue_reqs", REQUESTS_TRANSFER) },
    { ROW(SGLANG, PLAIN, 0, "num_queue_reqs", REQUESTS_WAITING) },
    { ROW(SGLANG, PLAIN, 0, "token_usage", KV_USAGE) },
    { ROW(SGLANG, TOTAL, 0, "num_retracted_requests", PREEMPTIONS) }, /* late 2025 on */
    { ROW(SGLANG, TOTAL, 0, "cached_tokens", PREFIX_HITS) },          /* by source, which adds up */
    { ROW(SGLANG, TOTAL, 0, "cached_tokens", TOKENS_CACHED) },
    { ROW(SGLANG, TOTAL, 0, "cached_tokens", OFFLOAD_HITS), ONLY("cache_source", "host") },
    { ROW(SGLANG, TOTAL, 0, "cached_tokens", OFFLOAD_HITS), ONLY("cache_source", "storage") },
    { ROW(SGLANG, PLAIN, 0, "hicache_host_used_tokens", HOST_TOKENS) },
    { ROW(SGLANG, PLAIN, 0, "hicache_host_total_tokens", HOST_CAPACITY) },
    { ROW(SGLANG, TOTAL, 0, "num_aborted_requests", REQUESTS_FAILED) },
    { ROW(SGLANG, PLAIN, 0, "lora_pool_slots_used", LORA_USED) },
    { ROW(SGLANG, TOTAL, 0, "lora_pool_slots", LORA_SLOTS) },
    { ROW(SGLANG, TOTAL, 0, "spec_verify_calls", DRAFTS) },
    { ROW(SGLANG, TOTAL, 0, "forward_execution_seconds", FORWARD) },
    { SCALED(1e6, SGLANG, PLAIN, 0, "kv_transfer_total_mb_sum", TRANSFER_BYTES) },
    { ROW(SGLANG, TOTAL, 0, "num_transfer_failed_reqs", TRANSFER_FAILURES) },
    { ROW(SGLANG, TOTAL, 0, "estimated_flops_per_gpu", FLOPS) },
    { ROW(SGLANG, TOTAL, 0, "estimated_read_bytes_per_gpu", READ_BYTES) },
    { ROW(SGLANG, TOTAL, 0, "estimated_write_bytes_per_gpu", WRITE_BYTES) },
    { ROW(SGLANG, TOTAL, 0, "num_requests", REQUESTS_FINISHED) }, /* mid 2025 on */
    { ROW(SGLANG, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) },
    { ROW(SGLANG, TOTAL, 0, "generation_tokens", TOKENS_GENERATION) },
    { ROW(SGLANG, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(SGLANG, HISTOGRAM, 0, "e2e_request_latency_seconds", E2E) },
    { ROW(SGLANG, HISTOGRAM, 0, "queue_time_seconds", QUEUE) },
    { ROW(SGLANG, HISTOGRAM, 0, "per_stage_req_latency_seconds", PREFILL),
      ONLY("stage", "prefill_forward") },
    { ROW(SGLANG, HISTOGRAM, 0, "per_stage_req_latency_seconds", DECODE),
      ONLY("stage", "decode_loop") },
    { ROW(SGLANG, HISTOGRAM, 1, "per_stage_req_latency_seconds", DECODE),
      ONLY("stage", "decode_forward") },
    { ROW(SGLANG, HISTOGRAM, 0, "inter_token_latency_seconds", INTER_TOKEN) },   /* 0.4.6 on */
    { ROW(SGLANG, HISTOGRAM, 1, "time_per_output_token_seconds", INTER_TOKEN) }, /* to 2025 */
    { ROW(SGLANG, HISTOGRAM, 0, "request_time_per_output_token_seconds", TPOT) },

    { ROW(TGI, PLAIN, 0, "batch_current_size", REQUESTS_RUNNING) },
    { ROW(TGI, PLAIN, 0, "queue_size", REQUESTS_WAITING) },
    { ROW(TGI, TOTAL, 0, "request_success", REQUESTS_FINISHED) },
    { ROW(TGI, TOTAL, 0, "request_failure", REQUESTS_FINISHED) },
    { ROW(TGI, TOTAL, 0, "request_failure", REQUESTS_FAILED) },
    { ROW(TGI, PLAIN, 0, "request_input_length_sum", TOKENS_PROMPT) },
    { ROW(TGI, PLAIN, 0, "request_generated_tokens_sum", TOKENS_GENERATION) },
    { ROW(TGI, HISTOGRAM, 0, "request_duration", E2E) },
    { ROW(TGI, HISTOGRAM, 0, "request_queue_duration", QUEUE) },
    { ROW(TGI, HISTOGRAM, 0, "request_inference_duration", INFERENCE) },
    { ROW(TGI, HISTOGRAM, 0, "batch_forward_duration", BATCH_PREFILL), ONLY("method", "prefill") },
    { ROW(TGI, HISTOGRAM, 0, "batch_forward_duration", BATCH_DECODE), ONLY("method", "decode") },
    { ROW(TGI, HISTOGRAM, 0, "request_mean_time_per_token_duration", INTER_TOKEN) }, /* means */
    { ROW(TGI, HISTOGRAM, 0, "request_mean_time_per_token_duration", TPOT) },

    { ROW(TRTLLM, PLAIN, 0, "num_requests_running", REQUESTS_RUNNING) },
    { ROW(TRTLLM, PLAIN, 0, "num_requests_waiting", REQUESTS_WAITING) },
    { ROW(TRTLLM, PLAIN, 0, "kv_cache_utilization", KV_USAGE) },
    { ROW(TRTLLM, TOTAL, 0, "kv_cache_reused_blocks", HIT_BLOCKS) }, /* not tokens */
    { ROW(TRTLLM, TOTAL, 0, "kv_cache_reused_blocks", QUERY_BLOCKS) },
    { ROW(TRTLLM, TOTAL, 0, "kv_cache_missed_blocks", QUERY_BLOCKS) },
    { ROW(TRTLLM, TOTAL, 0, "request_success", REQUESTS_FINISHED) },
    { ROW(TRTLLM, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) }, /* 1.2 on */
    { ROW(TRTLLM, TOTAL, 0, "generation_tokens", TOKENS_GENERATION) },
    { ROW(TRTLLM, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(TRTLLM, HISTOGRAM, 0, "e2e_request_latency_seconds", E2E) },
    { ROW(TRTLLM, HISTOGRAM, 0, "request_queue_time_seconds", QUEUE) },
    { ROW(TRTLLM, HISTOGRAM, 0, "request_inference_time_seconds", INFERENCE) },
    { ROW(TRTLLM, HISTOGRAM, 0, "request_prefill_time_seconds", PREFILL) },
    { ROW(TRTLLM, HISTOGRAM, 0, "request_decode_time_seconds", DECODE) },
    { ROW(TRTLLM, HISTOGRAM, 0, "inter_token_latency_seconds", INTER_TOKEN) },
    { ROW(TRTLLM, HISTOGRAM, 1, "time_per_output_token_seconds", INTER_TOKEN) },

    { ROW(LLAMACPP, PLAIN, 0, "requests_processing", REQUESTS_RUNNING) },
    { ROW(LLAMACPP, PLAIN, 0, "requests_deferred", REQUESTS_WAITING) },
    { ROW(LLAMACPP, PLAIN, 0, "kv_cache_usage_ratio", KV_USAGE) }, /* to mid 2025 */
    { ROW(LLAMACPP, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) },   /* without cached tokens */
    { ROW(LLAMACPP, TOTAL, 0, "tokens_predicted", TOKENS_GENERATION) },
    { ROW(LLAMACPP, TOTAL, 0, "prompt_tokens_cached", TOKENS_CACHED) }, /* 2026 on */
    { ROW(LLAMACPP, TOTAL, 0, "prompt_tokens_cached", PREFIX_HITS) },
    { ROW(LLAMACPP, TOTAL, 0, "prompt_seconds", BATCH_PREFILL_SUM) }, /* no count, no histogram */
    { ROW(LLAMACPP, TOTAL, 0, "prompt_seconds", BUSY) },
    { ROW(LLAMACPP, TOTAL, 0, "tokens_predicted_seconds", DECODE_SUM) },
    { ROW(LLAMACPP, TOTAL, 0, "tokens_predicted_seconds", BUSY) },
    { ROW(LLAMACPP, TOTAL, 0, "n_decode", ITERATIONS) },
    { ROW(LLAMACPP, TOTAL, 0, "spec_decode_num_drafts", DRAFTS) }, /* 2026 on */
    { ROW(LLAMACPP, TOTAL, 0, "spec_decode_num_draft_tokens", DRAFTED) },
    { ROW(LLAMACPP, TOTAL, 0, "spec_decode_num_accepted_tokens", ACCEPTED) },

    { ROW(TRITON, PLAIN, 0, "request_metrics", REQUESTS_RUNNING), ONLY("request_type", "active") },
    { ROW(TRITON, PLAIN, 0, "request_metrics", REQUESTS_WAITING), ONLY("request_type", "waiting") },
    { ROW(TRITON, PLAIN, 1, "pending_request_count", REQUESTS_WAITING) },
    { ROW(TRITON, PLAIN, 0, "kv_cache_block_metrics", KV_USAGE),
      ONLY("kv_cache_block_type", "fraction") }, /* 2024 on */
    { ROW(TRITON, TOTAL, 0, "request_success", REQUESTS_FINISHED) },
    { ROW(TRITON, TOTAL, 0, "request_success", E2E_COUNT) },
    { ROW(TRITON, TOTAL, 0, "request_success", QUEUE_COUNT) },
    { ROW(TRITON, TOTAL, 0, "request_failure", REQUESTS_FINISHED) },
    { ROW(TRITON, TOTAL, 0, "request_failure", REQUESTS_FAILED) },
    { SCALED(1e-6, TRITON, TOTAL, 0, "request_duration_us", E2E_SUM) },
    { SCALED(1e-6, TRITON, TOTAL, 0, "queue_duration_us", QUEUE_SUM) },
    { SCALED(1e-6, TRITON, TOTAL, 0, "compute_infer_duration_us", INFERENCE_SUM) },
    { SCALED(1e-3, TRITON, HISTOGRAM, 0, "first_response_histogram_ms", TTFT) },
    { ROW(TRITON, PLAIN, 0, "input_token_len_sum", TOKENS_PROMPT) },
    { ROW(TRITON, PLAIN, 0, "output_token_len_sum", TOKENS_GENERATION) },

    { ROW(LMDEPLOY, PLAIN, 0, "num_requests_running", REQUESTS_RUNNING) },
    { ROW(LMDEPLOY, PLAIN, 0, "num_requests_waiting", REQUESTS_WAITING) },
    { ROW(LMDEPLOY, PLAIN, 0, "gpu_cache_usage_perc", KV_USAGE) },
    { ROW(LMDEPLOY, TOTAL, 0, "request_success", REQUESTS_FINISHED) },
    { ROW(LMDEPLOY, PLAIN, 0, "num_requests_failed", REQUESTS_FAILED) },
    { ROW(LMDEPLOY, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) },
    { ROW(LMDEPLOY, TOTAL, 0, "cached_tokens", TOKENS_CACHED) },
    { ROW(LMDEPLOY, TOTAL, 0, "cached_tokens", PREFIX_HITS) },
    { ROW(LMDEPLOY, TOTAL, 0, "generation_tokens", TOKENS_GENERATION) },
    { ROW(LMDEPLOY, PLAIN, 0, "iteration_tokens_total_sum", ITERATION_TOKENS) },
    { ROW(LMDEPLOY, PLAIN, 0, "iteration_tokens_total_count", ITERATIONS) },
    { ROW(LMDEPLOY, TOTAL, 0, "spec_decode_num_drafts", DRAFTS) },
    { ROW(LMDEPLOY, TOTAL, 0, "spec_decode_num_draft_tokens", DRAFTED) },
    { ROW(LMDEPLOY, TOTAL, 0, "spec_decode_num_accepted_tokens", ACCEPTED) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "e2e_request_latency_seconds", E2E) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "request_queue_time_seconds", QUEUE) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "request_inference_time_seconds", INFERENCE) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "request_prefill_time_seconds", PREFILL) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "request_decode_time_seconds", DECODE) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "iter_token_latency", INTER_TOKEN) },
    { ROW(LMDEPLOY, HISTOGRAM, 0, "time_per_output_token_seconds", TPOT) },

    { ROW(DYNAMO, PLAIN, 0, "active_requests", REQUESTS_RUNNING) }, /* 1.0 on */
    { ROW(DYNAMO, PLAIN, 1, "inflight_requests", REQUESTS_RUNNING) },
    { ROW(DYNAMO, PLAIN, 0, "queued_requests", REQUESTS_WAITING) },
    { ROW(DYNAMO, PLAIN, 0, "model_max_num_seqs", REQUEST_CAPACITY) },
    { ROW(DYNAMO, PLAIN, 0, "gpu_cache_usage_percent", KV_USAGE) },         /* workers */
    { ROW(DYNAMO, PLAIN, 1, "kvstats_gpu_cache_usage_percent", KV_USAGE) }, /* before 1.0 */
    { ROW(DYNAMO, TOTAL, 0, "requests", REQUESTS_FINISHED) },
    { ROW(DYNAMO, TOTAL, 0, "failures", REQUESTS_FAILED) },
    { ROW(DYNAMO, TOTAL, 0, "model_rejection", REQUESTS_FAILED) },
    { ROW(DYNAMO, TOTAL, 0, "output_tokens", TOKENS_GENERATION) },
    { ROW(DYNAMO, PLAIN, 1, "output_sequence_tokens_sum", TOKENS_GENERATION) },
    { ROW(DYNAMO, PLAIN, 0, "input_sequence_tokens_sum", TOKENS_PROMPT) },
    { ROW(DYNAMO, PLAIN, 0, "cached_tokens_sum", TOKENS_CACHED) },
    { ROW(DYNAMO, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(DYNAMO, HISTOGRAM, 0, "request_duration_seconds", E2E) },
    { ROW(DYNAMO, HISTOGRAM, 0, "inter_token_latency_seconds", INTER_TOKEN) },

    { ROW(KSERVE, HISTOGRAM, 0, "request_predict_seconds", INFERENCE) },

    { ROW(LMCACHE, TOTAL, 1, "num_hit_tokens", EXTERNAL_HITS) },
    { ROW(LMCACHE, TOTAL, 1, "num_requested_tokens", EXTERNAL_QUERIES) },

    { ROW(NIM, PLAIN, 0, "num_requests_running", REQUESTS_RUNNING) },
    { ROW(NIM, PLAIN, 0, "num_requests_waiting", REQUESTS_WAITING) },
    { ROW(NIM, PLAIN, 0, "num_request_max", REQUEST_CAPACITY) },
    { ROW(NIM, PLAIN, 0, "gpu_cache_usage_perc", KV_USAGE) },
    { ROW(NIM, TOTAL, 0, "request_success", REQUESTS_FINISHED) },
    { ROW(NIM, TOTAL, 0, "request_failure", REQUESTS_FAILED) },
    { ROW(NIM, TOTAL, 0, "prompt_tokens", TOKENS_PROMPT) },
    { ROW(NIM, TOTAL, 0, "generation_tokens", TOKENS_GENERATION) },
    { ROW(NIM, HISTOGRAM, 0, "time_to_first_token_seconds", TTFT) },
    { ROW(NIM, HISTOGRAM, 0, "e2e_request_latency_seconds", E2E) },
    { ROW(NIM, HISTOGRAM, 0, "time_per_output_token_seconds", INTER_TOKEN) },
};

const char *pt_engine_kind_name(enum pt_engine_kind kind) {
    return kind_names[kind];
}

const struct pt_engine_alias *pt_engine_aliases(size_t *count) {
    *count = PT_COUNT(aliases);
    return aliases;
}

static enum pt_engine_kind split_prefix(struct pt_str name, struct pt_str *rest) {
    for (size_t i = 0; i < PT_COUNT(prefixes); i++)
        if (name.len > 0 && name.at[0] == prefixes[i].prefix.at[0] &&
            pt_str_starts(name, prefixes[i].prefix)) {
            *rest = prefixes[i].is_part ? name : pt_str_skip(name, prefixes[i].prefix.len);
            return prefixes[i].kind;
        }
    return PT_ENGINE_UNKNOWN;
}

static bool is_row(const struct pt_engine_alias *a, enum pt_engine_kind kind, struct pt_str name,
                   bool is_histogram) {
    return a->kind == kind && (a->shape == PT_ENGINE_HISTOGRAM) == is_histogram &&
           pt_str_eq(a->name, name);
}

static bool find_rows(struct pt_engine_route *r, struct pt_str name, bool is_histogram) {
    size_t i = 0;
    while (i < PT_COUNT(aliases) && aliases[i].kind != r->kind)
        i++;
    while (i < PT_COUNT(aliases) && aliases[i].kind == r->kind &&
           !is_row(&aliases[i], r->kind, name, is_histogram))
        i++;
    if (i == PT_COUNT(aliases) || aliases[i].kind != r->kind)
        return false;
    r->aliases = &aliases[i];
    while (i < PT_COUNT(aliases) && is_row(&aliases[i], r->kind, name, is_histogram)) {
        r->alias_count++;
        i++;
    }
    return true;
}

static struct pt_str without(struct pt_str name, struct pt_str suffix) {
    return (struct pt_str){ name.at, name.len - suffix.len };
}

struct pt_engine_route pt_engine_route_of(struct pt_str name) {
    static const struct {
        struct pt_str suffix;
        enum pt_engine_part part;
    } parts[] = {
        { S("_bucket"), PT_ENGINE_BUCKET },
        { S("_sum"), PT_ENGINE_SUM },
        { S("_count"), PT_ENGINE_COUNT },
    };
    struct pt_engine_route r = { 0 };
    r.kind = split_prefix(name, &r.family);
    if (r.kind == PT_ENGINE_UNKNOWN)
        return r;
    r.is_info = pt_str_ends(r.family, PT_STR("_info"));
    if (pt_str_ends(r.family, PT_STR("_total")) &&
        find_rows(&r, without(r.family, PT_STR("_total")), false))
        return r;
    for (size_t i = 0; i < PT_COUNT(parts); i++)
        if (pt_str_ends(r.family, parts[i].suffix) &&
            find_rows(&r, without(r.family, parts[i].suffix), true)) {
            r.part = parts[i].part;
            return r;
        }
    r.rank_offset = find_rows(&r, r.family, false);
    return r;
}

static bool feeds(const struct pt_engine_alias *a, enum pt_engine_field field) {
    if (a->shape != PT_ENGINE_HISTOGRAM)
        return a->target == field;
    return pt_engine_sum_of(a->target) == field || pt_engine_count_of(a->target) == field;
}

bool pt_engine_has_alias(enum pt_engine_kind kind, enum pt_engine_field field) {
    for (size_t i = 0; i < PT_COUNT(aliases); i++)
        if (aliases[i].kind == kind && feeds(&aliases[i], field))
            return true;
    return false;
}
