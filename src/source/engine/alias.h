/* source/engine/alias.h -- one schema for all inference engines, and each engine's names for it.
 *
 * A field is a number that several engines report under different names. The table of aliases
 * (alias.c) has one line per name: a rename in a new release of an engine is a new line. */
#ifndef PT_SOURCE_ENGINE_ALIAS_H
#define PT_SOURCE_ENGINE_ALIAS_H

#include "base/str.h"

#include <stdint.h>

/* By priority: the first wins if an endpoint has names of several engines (Triton around vLLM). */
enum pt_engine_kind {
    PT_ENGINE_UNKNOWN,
    PT_ENGINE_VLLM, /* and Ray Serve */
    PT_ENGINE_SGLANG,
    PT_ENGINE_TGI,
    PT_ENGINE_TRTLLM,
    PT_ENGINE_LLAMACPP,
    PT_ENGINE_TRITON,
    PT_ENGINE_LMDEPLOY,
    PT_ENGINE_DYNAMO, /* its front end and workers; the workers' engines have names of their own */
    PT_ENGINE_KSERVE,
    PT_ENGINE_LMCACHE, /* usually part of another engine, whose page then has both */
    PT_ENGINE_NIM,
    PT_ENGINE_KIND_COUNT
};

const char *pt_engine_kind_name(enum pt_engine_kind kind);

/* X(constant, name, title, heading, importance of its median, OpenTelemetry name or "", search
 * words). Times are seconds; each has a sum, a count and usually a histogram. */
#define PT_ENGINE_LATENCIES(X)                                                                \
    X(TTFT, "ttft", "Time to first token", "TTFT", PT_HEADLINE,                               \
      "gen_ai.server.time_to_first_token", "ttft prefill latency responsiveness")             \
    X(E2E, "e2e", "Request duration", "E2E", PT_DETAIL, "gen_ai.server.request.duration",     \
      "e2e end to end latency")                                                               \
    X(QUEUE, "queue", "Time in queue", "QUEUE", PT_DETAIL, "", "queue wait latency")          \
    X(INFERENCE, "inference", "Inference time", "INFER", PT_DETAIL, "", "running latency")    \
    X(PREFILL, "prefill", "Prefill time", "PREFILL", PT_DETAIL, "", "prompt latency")         \
    X(DECODE, "decode", "Decode time", "DECODE", PT_DETAIL, "", "generation latency")         \
    X(INTER_TOKEN, "inter_token", "Inter-token latency", "ITL", PT_HEADLINE,                  \
      "gen_ai.server.time_per_output_token", "itl tpot time between tokens per output token") \
    X(TPOT, "tpot", "Time per output token", "TPOT", PT_DETAIL, "", "per request mean")       \
    X(BATCH_PREFILL, "batch_prefill", "Prefill of a batch", "BATCH PF", PT_DETAIL, "",        \
      "forward prompt latency")                                                               \
    X(BATCH_DECODE, "batch_decode", "Decode of a batch", "BATCH DEC", PT_DETAIL, "",          \
      "forward step latency")

/* X(constant, name, rule, should every engine that has a name for it report it, help, meaning as in
 * model/table.h) */
#define PT_ENGINE_FIELDS(X)                                                                        \
    X(REQUESTS_RUNNING, "system_requests_running", GAUGE, true, "Requests being processed",        \
      .title = "Requests running", .heading = "RUNNING", .family = "Requests in the engine",       \
      .importance = PT_HEADLINE, .words = "batch concurrency active")                              \
    X(REQUESTS_WAITING, "system_requests_waiting", GAUGE, true, "Requests in the queue",           \
      .title = "Requests waiting", .heading = "WAITING", .family = "Requests in the engine",       \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .words = "queue pending")           \
    X(REQUEST_CAPACITY, "system_requests_capacity", GAUGE, false,                                  \
      "Requests that can be processed at once: slots, largest batch", .title = "Request capacity", \
      .words = "slots parallel max num seqs batch limit")                                          \
    X(SLEEP_STATE, "system_engine_sleep_state", LEVEL, false,                                      \
      "0 awake, 1 weights offloaded, 2 weights discarded", .title = "Sleep state",                 \
      .combine = PT_COMBINE_MAX)                                                                   \
    X(PREEMPTIONS, "system_preemptions_total", COUNTER, false,                                     \
      "Requests preempted to free KV cache", .title = "Preemptions", .better = PT_LOWER_IS_BETTER, \
      .words = "evicted recompute kv cache full")                                                  \
    X(BUSY, "system_busy_s_total", TIME, false, "Time spent on requests",                          \
      .title = "Requests in work, mean", .form = PT_FORM_NUMBER, .words = "busy utilization")      \
    X(REQUESTS_WAITING_CAPACITY, "system_requests_waiting_capacity", GAUGE, false,                 \
      "Requests that wait for room in the batch or in the KV cache",                               \
      .title = "Waiting for capacity", .family = "Waiting by reason",                              \
      .better = PT_LOWER_IS_BETTER, .words = "queue reason")                                       \
    X(REQUESTS_WAITING_DEFERRED, "system_requests_waiting_deferred", GAUGE, false,                 \
      "Requests that wait for something else: a transfer, a grammar, an adapter",                  \
      .title = "Waiting, deferred", .family = "Waiting by reason", .better = PT_LOWER_IS_BETTER,   \
      .words = "queue reason")                                                                     \
    X(REQUESTS_GRAMMAR, "system_requests_grammar", GAUGE, false,                                   \
      "Requests that wait for their grammar", .title = "Waiting for a grammar",                    \
      .better = PT_LOWER_IS_BETTER, .words = "structured output queue")                            \
    X(REQUESTS_PAUSED, "system_requests_paused", GAUGE, false, "Requests paused",                  \
      .title = "Requests paused", .better = PT_LOWER_IS_BETTER)                                    \
    X(REQUESTS_TRANSFER, "system_requests_transfer", GAUGE, false,                                 \
      "Requests in the queues between prefill and decode workers",                                 \
      .title = "Requests in transfer", .better = PT_LOWER_IS_BETTER,                               \
      .words = "disaggregated bootstrap prealloc inflight queue")                                  \
    X(FORWARD, "system_forward_s_total", TIME, false, "Time in the forward passes of the model",   \
      .title = "Forward passes, mean", .form = PT_FORM_NUMBER,                                     \
      .words = "busy execution utilization")                                                       \
    X(ITERATIONS, "system_iterations_total", COUNTER, false, "Steps of the engine",                \
      .title = "Engine steps", .words = "iterations batches decode calls")                         \
    X(ITERATION_TOKENS, "system_iteration_tokens_total", COUNTER, false,                           \
      "Tokens processed in the steps of the engine", .title = "Tokens of engine steps",            \
      .words = "iteration batch size")                                                             \
    X(LORA_USED, "lora_slots_used", GAUGE, false, "Places for LoRA adapters in use",               \
      .title = "LoRA slots used", .family = "LoRA slots", .limit = "lora_slots",                   \
      .words = "adapter")                                                                          \
    X(LORA_SLOTS, "lora_slots", GAUGE, false, "Places for LoRA adapters", .title = "LoRA slots",   \
      .family = "LoRA slots", .words = "adapter")                                                  \
    X(KV_USAGE, "cache_kv_usage_percent", RATIO, true, "Fraction of the KV cache in use, 0 to 1",  \
      .title = "KV cache used", .heading = "KV", .combine = PT_COMBINE_MAX,                        \
      .importance = PT_HEADLINE, .words = "gpu cache blocks memory")                               \
    X(PREFIX_HITS, "cache_prefix_hits", COUNTER, false, "Prompt tokens found in the prefix cache", \
      .title = "Prefix cache hits", .family = "Prefix cache", .better = PT_HIGHER_IS_BETTER,       \
      .limit = "cache_prefix_queries", .words = "hit rate reuse")                                  \
    X(PREFIX_QUERIES, "cache_prefix_queries", COUNTER, false,                                      \
      "Prompt tokens looked up in the prefix cache", .title = "Prefix cache lookups",              \
      .family = "Prefix cache", .words = "hit rate reuse")                                         \
    X(EXTERNAL_HITS, "cache_external_hits", COUNTER, false,                                        \
      "Prompt tokens found in a cache outside the engine", .title = "External cache hits",         \
      .family = "External cache", .better = PT_HIGHER_IS_BETTER,                                   \
      .limit = "cache_external_queries", .words = "lmcache connector hit rate")                    \
    X(EXTERNAL_QUERIES, "cache_external_queries", COUNTER, false,                                  \
      "Prompt tokens looked up in a cache outside the engine", .title = "External cache lookups",  \
      .family = "External cache", .words = "lmcache connector hit rate")                           \
    X(OFFLOAD_HITS, "cache_offload_hits", COUNTER, false,                                          \
      "Prompt tokens found in CPU memory or on disk", .title = "Offloaded cache hits",             \
      .better = PT_HIGHER_IS_BETTER, .words = "host storage tier hicache")                         \
    X(HOST_TOKENS, "cache_host_tokens", GAUGE, false, "Tokens of the KV cache in CPU memory",      \
      .title = "KV cache in CPU memory", .family = "KV cache in CPU memory",                       \
      .limit = "cache_host_capacity", .words = "offload tier hicache")                             \
    X(HOST_CAPACITY, "cache_host_capacity", GAUGE, false,                                          \
      "Tokens that the KV cache in CPU memory can hold", .title = "KV cache in CPU memory, size",  \
      .family = "KV cache in CPU memory", .words = "offload tier hicache")                         \
    X(HIT_BLOCKS, "cache_prefix_hit_blocks", COUNTER, false, "Blocks found in the prefix cache",   \
      .title = "Prefix cache hits, blocks", .family = "Prefix cache, blocks",                      \
      .better = PT_HIGHER_IS_BETTER, .limit = "cache_prefix_query_blocks",                         \
      .words = "hit rate reuse")                                                                   \
    X(QUERY_BLOCKS, "cache_prefix_query_blocks", COUNTER, false,                                   \
      "Blocks looked up in the prefix cache", .title = "Prefix cache lookups, blocks",             \
      .family = "Prefix cache, blocks", .words = "hit rate reuse")                                 \
    X(MULTIMODAL_HITS, "cache_multimodal_hits", COUNTER, false,                                    \
      "Multimodal items found in the cache", .title = "Multimodal cache hits",                     \
      .family = "Multimodal cache", .better = PT_HIGHER_IS_BETTER,                                 \
      .limit = "cache_multimodal_queries", .words = "image audio hit rate")                        \
    X(MULTIMODAL_QUERIES, "cache_multimodal_queries", COUNTER, false,                              \
      "Multimodal items looked up in the cache", .title = "Multimodal cache lookups",              \
      .family = "Multimodal cache", .words = "image audio hit rate")                               \
    X(REQUESTS_FINISHED, "requests_finished_total", COUNTER, true,                                 \
      "Requests finished, for any reason", .title = "Requests finished", .heading = "REQ/S",       \
      .better = PT_HIGHER_IS_BETTER, .importance = PT_HEADLINE, .words = "throughput qps rps")     \
    X(REQUESTS_FAILED, "requests_failed_total", COUNTER, false,                                    \
      "Requests aborted, rejected or failed", .title = "Requests failed",                          \
      .better = PT_LOWER_IS_BETTER, .words = "aborted errors rejected")                            \
    X(REQUESTS_CORRUPTED, "requests_corrupted_total", COUNTER, false, "Requests with NaN logits",  \
      .title = "Requests corrupted", .better = PT_LOWER_IS_BETTER, .words = "nan errors")          \
    X(TOKENS_PROMPT, "tokens_prompt_total", COUNTER, true, "Prompt tokens processed",              \
      .title = "Prompt tokens", .heading = "PROMPT/S", .family = "Tokens",                         \
      .better = PT_HIGHER_IS_BETTER, .words = "throughput prefill input")                          \
    X(TOKENS_GENERATION, "tokens_generation_total", COUNTER, true, "Tokens generated",             \
      .title = "Tokens generated", .heading = "TOK/S", .family = "Tokens",                         \
      .better = PT_HIGHER_IS_BETTER, .importance = PT_HEADLINE,                                    \
      .words = "throughput decode output tokens per second")                                       \
    X(TOKENS_CACHED, "tokens_prompt_cached_total", COUNTER, false,                                 \
      "Prompt tokens taken from a cache instead of being processed",                               \
      .title = "Prompt tokens cached", .better = PT_HIGHER_IS_BETTER, .words = "prefix reuse")     \
    X(DRAFTS, "spec_drafts_total", COUNTER, false, "Drafts of speculative decoding",               \
      .title = "Drafts", .words = "speculative decoding")                                          \
    X(DRAFTED, "spec_drafted_tokens_total", COUNTER, false,                                        \
      "Tokens drafted by speculative decoding", .title = "Tokens drafted",                         \
      .family = "Speculative decoding", .words = "speculative decoding")                           \
    X(ACCEPTED, "spec_accepted_tokens_total", COUNTER, false, "Drafted tokens that were accepted", \
      .title = "Drafted tokens accepted", .family = "Speculative decoding",                        \
      .better = PT_HIGHER_IS_BETTER, .limit = "spec_drafted_tokens_total",                         \
      .words = "acceptance rate speculative decoding")                                             \
    X(TRANSFER_BYTES, "kv_transfer_bytes_total", BYTES, false,                                     \
      "Bytes of KV cache moved between workers", .title = "KV cache transferred",                  \
      .words = "nixl mooncake disaggregated")                                                      \
    X(TRANSFER_FAILURES, "kv_transfer_failures_total", COUNTER, false,                             \
      "Transfers of KV cache that failed", .title = "KV transfers failed",                         \
      .better = PT_LOWER_IS_BETTER, .words = "nixl mooncake disaggregated")                        \
    X(FLOPS, "estimated_flops_per_gpu", COUNTER, false,                                            \
      "Floating-point operations per GPU, as the engine estimates them",                           \
      .title = "Estimated FLOPs per GPU", .importance = PT_RAW, .words = "mfu utilization")        \
    X(READ_BYTES, "estimated_read_bytes_per_gpu", BYTES, false,                                    \
      "Bytes read from GPU memory per GPU, as the engine estimates them",                          \
      .title = "Estimated bytes read per GPU", .importance = PT_RAW, .words = "mbu bandwidth")     \
    X(WRITE_BYTES, "estimated_write_bytes_per_gpu", BYTES, false,                                  \
      "Bytes written to GPU memory per GPU, as the engine estimates them",                         \
      .title = "Estimated bytes written per GPU", .importance = PT_RAW, .words = "mbu bandwidth")

/* The fields; after those of the list, the sum and the count of each latency. */
enum pt_engine_field {
#define PT_ENGINE_FIELD_(constant, ...) PT_ENGINE_##constant,
#define PT_ENGINE_PAIR_(constant, ...)  PT_ENGINE_##constant##_SUM, PT_ENGINE_##constant##_COUNT,
    PT_ENGINE_FIELDS(PT_ENGINE_FIELD_) PT_ENGINE_LATENCIES(PT_ENGINE_PAIR_) PT_ENGINE_FIELD_COUNT
};

enum pt_engine_latency {
#define PT_ENGINE_LATENCY_(constant, ...) PT_ENGINE_##constant,
    PT_ENGINE_LATENCIES(PT_ENGINE_LATENCY_) PT_ENGINE_LATENCY_COUNT
};

static inline enum pt_engine_field pt_engine_sum_of(enum pt_engine_latency latency) {
    return (enum pt_engine_field)(PT_ENGINE_TTFT_SUM + 2 * (int)latency);
}

static inline enum pt_engine_field pt_engine_count_of(enum pt_engine_latency latency) {
    return (enum pt_engine_field)(PT_ENGINE_TTFT_COUNT + 2 * (int)latency);
}

/* How the labelled series of an engine, and several engines, are combined into one number. */
enum pt_engine_rule {
    PT_ENGINE_GAUGE,   /* sum */
    PT_ENGINE_COUNTER, /* sum */
    PT_ENGINE_TIME,    /* sum; a counter of seconds */
    PT_ENGINE_BYTES,   /* sum; a counter of bytes */
    PT_ENGINE_RATIO,   /* maximum: the fullest */
    PT_ENGINE_LEVEL,   /* maximum */
};

struct pt_engine_field_info {
    const char *name; /* latency_ttft_s_sum */
    enum pt_engine_rule rule;
    bool is_expected;
    const char *help;
};

extern const struct pt_engine_field_info pt_engine_fields[PT_ENGINE_FIELD_COUNT];
extern const char *const pt_engine_latency_names[PT_ENGINE_LATENCY_COUNT]; /* ttft */

enum pt_engine_shape {
    PT_ENGINE_PLAIN,     /* the exact name */
    PT_ENGINE_TOTAL,     /* with or without _total */
    PT_ENGINE_HISTOGRAM, /* with _sum, _count, _bucket */
};

struct pt_engine_alias {
    uint8_t kind, shape;
    uint8_t rank;   /* of the names found for a target, only those with the lowest rank are used */
    uint8_t target; /* a field; of a histogram, the latency */
    struct pt_str name;               /* without the engine's prefix */
    double factor;                    /* converts to the unit of the target */
    struct pt_str label, label_value; /* only series with this label; empty: all series */
};

/* What the name of a series says. */
enum pt_engine_part { PT_ENGINE_VALUE, PT_ENGINE_SUM, PT_ENGINE_COUNT, PT_ENGINE_BUCKET };

struct pt_engine_route {
    enum pt_engine_kind kind; /* from the prefix; PT_ENGINE_UNKNOWN: not an engine's */
    enum pt_engine_part part;
    uint8_t rank_offset;                   /* x_total has priority over x */
    bool is_info;                          /* x_info: its labels describe the engine */
    struct pt_str family;                  /* the name without prefix */
    const struct pt_engine_alias *aliases; /* alias_count rows of that name */
    int alias_count;
};

struct pt_engine_route pt_engine_route_of(struct pt_str name);

static inline bool pt_engine_is_counter(enum pt_engine_field field) {
    enum pt_engine_rule rule = pt_engine_fields[field].rule;
    return rule == PT_ENGINE_COUNTER || rule == PT_ENGINE_TIME || rule == PT_ENGINE_BYTES;
}

/* Does any release of this engine have a name for the field? */
bool pt_engine_has_alias(enum pt_engine_kind kind, enum pt_engine_field field);

/* For tests of the table. */
const struct pt_engine_alias *pt_engine_aliases(size_t *count);

#endif
