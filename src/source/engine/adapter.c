#include "source/engine/adapter.h"

#include "base/json_walk.h"
#include "base/scan.h"

#include <stdio.h>
#include <stdlib.h>

#define KIND(name) (1u << PT_ENGINE_##name)
#define OPENAI                                                                                   \
    (KIND(VLLM) | KIND(SGLANG) | KIND(TRTLLM) | KIND(LLAMACPP) | KIND(LMDEPLOY) | KIND(DYNAMO) | \
     KIND(NIM))

const struct pt_engine_page pt_engine_pages[PT_PAGE_COUNT] = {
    [PT_PAGE_MODELS] = { "/v1/models", OPENAI, false, "model, context length, parameters, bytes",
                         NULL },
    [PT_PAGE_VERSION] = { "/version", KIND(VLLM) | KIND(TRTLLM), false, "version", NULL },
    [PT_PAGE_SERVER_INFO] = { "/get_server_info", KIND(SGLANG), false,
                              "version, parallelism, batch and cache limits, data types", NULL },
    [PT_PAGE_TGI_INFO] = { "/info", KIND(TGI), false, "model, version, batch limits", NULL },
    [PT_PAGE_PROPS] = { "/props", KIND(LLAMACPP), false, "model file, version, slots, context",
                        NULL },
    [PT_PAGE_SLOTS] = { "/slots", KIND(LLAMACPP), true,
                        "requests running, tokens of running requests, KV cache",
                        "keeps a server with --sleep-idle-seconds awake; Pitot then asks it only "
                        "while /metrics says that requests run" },
};

const char *pt_engine_metrics_effect(enum pt_engine_kind kind) {
    return kind == PT_ENGINE_LLAMACPP
               ? "every read of /metrics restarts the averages prompt_tokens_seconds and "
                 "predicted_tokens_seconds"
               : NULL;
}

/* Members that describe the engine. Without a key: the name of the model. */
static const struct {
    enum pt_engine_page_id page;
    const char *path, *key;
} members[] = {
    { PT_PAGE_MODELS, "data.0.id", NULL },
    { PT_PAGE_MODELS, "data.0.max_model_len", "max_model_len" },
    { PT_PAGE_MODELS, "data.0.meta.n_ctx", "slot_context" },
    { PT_PAGE_MODELS, "data.0.meta.n_ctx_train", "trained_context" },
    { PT_PAGE_MODELS, "data.0.meta.n_params", "model_parameters" },
    { PT_PAGE_MODELS, "data.0.meta.size", "model_bytes" },
    { PT_PAGE_MODELS, "data.0.meta.ftype", "model_type" },
    { PT_PAGE_VERSION, "version", "version" },
    { PT_PAGE_SERVER_INFO, "served_model_name", NULL },
    { PT_PAGE_SERVER_INFO, "model_path", NULL },
    { PT_PAGE_SERVER_INFO, "version", "version" },
    { PT_PAGE_SERVER_INFO, "tp_size", "tp_size" },
    { PT_PAGE_SERVER_INFO, "dp_size", "dp_size" },
    { PT_PAGE_SERVER_INFO, "pp_size", "pp_size" },
    { PT_PAGE_SERVER_INFO, "ep_size", "ep_size" },
    { PT_PAGE_SERVER_INFO, "dtype", "dtype" },
    { PT_PAGE_SERVER_INFO, "quantization", "quantization" },
    { PT_PAGE_SERVER_INFO, "kv_cache_dtype", "kv_cache_dtype" },
    { PT_PAGE_SERVER_INFO, "context_length", "max_model_len" },
    { PT_PAGE_SERVER_INFO, "max_total_num_tokens", "max_total_num_tokens" },
    { PT_PAGE_SERVER_INFO, "chunked_prefill_size", "chunked_prefill_size" },
    { PT_PAGE_SERVER_INFO, "mem_fraction_static", "mem_fraction_static" },
    { PT_PAGE_SERVER_INFO, "speculative_algorithm", "speculative_algorithm" },
    { PT_PAGE_TGI_INFO, "model_id", NULL },
    { PT_PAGE_TGI_INFO, "version", "version" },
    { PT_PAGE_TGI_INFO, "model_dtype", "dtype" },
    { PT_PAGE_TGI_INFO, "max_total_tokens", "max_model_len" },
    { PT_PAGE_TGI_INFO, "max_batch_total_tokens", "max_batch_total_tokens" },
    { PT_PAGE_PROPS, "model_alias", NULL },
    { PT_PAGE_PROPS, "model_path", "model_path" },
    { PT_PAGE_PROPS, "model_ftype", "model_type" },
    { PT_PAGE_PROPS, "build_info", "version" },
    { PT_PAGE_PROPS, "default_generation_settings.n_ctx", "slot_context" },
};

/* How many requests run at once. */
static const struct {
    enum pt_engine_page_id page;
    const char *path;
} capacities[] = {
    { PT_PAGE_PROPS, "total_slots" },
    { PT_PAGE_SERVER_INFO, "max_running_requests" },
    { PT_PAGE_SERVER_INFO, "internal_states.0.max_running_requests" },
    { PT_PAGE_TGI_INFO, "max_concurrent_requests" },
};

/* Options of command lines that describe an engine; `key` is what they are called here. */
static const struct {
    enum pt_engine_kind kind;
    const char *option, *key;
    bool is_flag, is_capacity;
} options[] = {
    { PT_ENGINE_VLLM, "--max-num-seqs", "max_num_seqs", .is_capacity = true },
    { PT_ENGINE_VLLM, "--max-model-len", "max_model_len" },
    { PT_ENGINE_VLLM, "--max-num-batched-tokens", "max_num_batched_tokens" },
    { PT_ENGINE_VLLM, "--gpu-memory-utilization", "gpu_memory_utilization" },
    { PT_ENGINE_VLLM, "--tensor-parallel-size", "tp_size" },
    { PT_ENGINE_VLLM, "-tp", "tp_size" },
    { PT_ENGINE_VLLM, "--pipeline-parallel-size", "pp_size" },
    { PT_ENGINE_VLLM, "-pp", "pp_size" },
    { PT_ENGINE_VLLM, "--data-parallel-size", "dp_size" },
    { PT_ENGINE_VLLM, "-dp", "dp_size" },
    { PT_ENGINE_VLLM, "--dtype", "dtype" },
    { PT_ENGINE_VLLM, "--quantization", "quantization" },
    { PT_ENGINE_VLLM, "-q", "quantization" },
    { PT_ENGINE_VLLM, "--kv-cache-dtype", "kv_cache_dtype" },
    { PT_ENGINE_VLLM, "--enforce-eager", "enforce_eager", .is_flag = true },
    { PT_ENGINE_SGLANG, "--max-running-requests", "max_running_requests", .is_capacity = true },
    { PT_ENGINE_SGLANG, "--tp-size", "tp_size" },
    { PT_ENGINE_SGLANG, "--tp", "tp_size" },
    { PT_ENGINE_SGLANG, "--dp-size", "dp_size" },
    { PT_ENGINE_SGLANG, "--dp", "dp_size" },
    { PT_ENGINE_SGLANG, "--mem-fraction-static", "mem_fraction_static" },
    { PT_ENGINE_SGLANG, "--chunked-prefill-size", "chunked_prefill_size" },
    { PT_ENGINE_TRTLLM, "--max_batch_size", "max_batch_size", .is_capacity = true },
    { PT_ENGINE_TRTLLM, "--max_num_tokens", "max_num_tokens" },
    { PT_ENGINE_TRTLLM, "--tp_size", "tp_size" },
    { PT_ENGINE_TRTLLM, "--kv_cache_free_gpu_memory_fraction", "kv_cache_memory_fraction" },
    { PT_ENGINE_TGI, "--max-concurrent-requests", "max_concurrent_requests", .is_capacity = true },
    { PT_ENGINE_TGI, "--max-batch-total-tokens", "max_batch_total_tokens" },
    { PT_ENGINE_TGI, "--quantize", "quantization" },
    { PT_ENGINE_LLAMACPP, "--threads", "threads" },
    { PT_ENGINE_LLAMACPP, "-t", "threads" },
    { PT_ENGINE_LLAMACPP, "--threads-batch", "threads_batch" },
    { PT_ENGINE_LLAMACPP, "-tb", "threads_batch" },
    { PT_ENGINE_LLAMACPP, "--ctx-size", "context" },
    { PT_ENGINE_LLAMACPP, "-c", "context" },
    { PT_ENGINE_LLAMACPP, "--parallel", "parallel" },
    { PT_ENGINE_LLAMACPP, "-np", "parallel" },
    { PT_ENGINE_LLAMACPP, "--batch-size", "batch_size" },
    { PT_ENGINE_LLAMACPP, "-b", "batch_size" },
    { PT_ENGINE_LLAMACPP, "--ubatch-size", "ubatch_size" },
    { PT_ENGINE_LLAMACPP, "-ub", "ubatch_size" },
    { PT_ENGINE_LLAMACPP, "--gpu-layers", "gpu_layers" },
    { PT_ENGINE_LLAMACPP, "--n-gpu-layers", "gpu_layers" },
    { PT_ENGINE_LLAMACPP, "-ngl", "gpu_layers" },
    { PT_ENGINE_LLAMACPP, "--cache-type-k", "cache_type_k" },
    { PT_ENGINE_LLAMACPP, "-ctk", "cache_type_k" },
    { PT_ENGINE_LLAMACPP, "--cache-type-v", "cache_type_v" },
    { PT_ENGINE_LLAMACPP, "-ctv", "cache_type_v" },
    { PT_ENGINE_LLAMACPP, "--flash-attn", "flash_attention" },
    { PT_ENGINE_LLAMACPP, "-fa", "flash_attention" },
    { PT_ENGINE_LLAMACPP, "--kv-unified", "kv_unified", .is_flag = true },
    { PT_ENGINE_LLAMACPP, "-kvu", "kv_unified", .is_flag = true },
    { PT_ENGINE_LLAMACPP, "--sleep-idle-seconds", "sleep_idle_seconds" },
};

static bool has_key(const struct pt_engine_facts *facts, const char *key) {
    size_t length = strlen(key);
    const char *at = facts->text;
    while (strncmp(at, key, length) != 0 || at[length] != '=') {
        at = strstr(at, ", ");
        if (!at)
            return false;
        at += 2;
    }
    return true;
}

void pt_engine_facts_add(struct pt_engine_facts *facts, const char *key, struct pt_str value) {
    size_t used = strlen(facts->text);
    bool is_plain = value.len > 0 && value.len < 256;
    for (size_t i = 0; i < value.len; i++)
        is_plain &= (unsigned char)value.at[i] >= ' ' && !strchr(",\"\\", value.at[i]);
    if (!is_plain || has_key(facts, key))
        return;
    int n = snprintf(facts->text + used, sizeof facts->text - used, "%s%s=%.*s", used ? ", " : "",
                     key, (int)value.len, value.at);
    if (n < 0 || used + (size_t)n >= sizeof facts->text)
        facts->text[used] = 0;
}

static double number_of(struct pt_str text) {
    struct pt_scan scan = pt_scan_of(text);
    double number = pt_scan_f64(&scan);
    return scan.failed || scan.at != scan.end ? 0 : number;
}

struct page_reader {
    enum pt_engine_page_id page;
    struct pt_engine_facts *facts;
};

static void take_member(void *arg, const char *path, struct pt_json_value value) {
    struct page_reader *r = arg;
    if (value.kind == PT_JSON_NULL)
        return;
    for (size_t i = 0; i < PT_COUNT(members); i++) {
        if (members[i].page != r->page || strcmp(members[i].path, path) != 0)
            continue;
        if (members[i].key)
            pt_engine_facts_add(r->facts, members[i].key, value.text);
        else if (!r->facts->model[0])
            pt_str_copy(r->facts->model, sizeof r->facts->model, value.text);
    }
    for (size_t i = 0; i < PT_COUNT(capacities); i++)
        if (capacities[i].page == r->page && strcmp(capacities[i].path, path) == 0 &&
            number_of(value.text) > 0)
            r->facts->request_capacity = number_of(value.text);
    if (r->page == PT_PAGE_PROPS && strcmp(path, "is_sleeping") == 0)
        r->facts->is_sleeping = pt_str_eq(value.text, PT_STR("true"));
}

int pt_engine_page_read(enum pt_engine_page_id page, struct pt_str body,
                        struct pt_engine_facts *facts) {
    struct page_reader reader = { page, facts };
    return pt_json_walk(body, take_member, &reader);
}

/* The next word; false at the end. */
static bool next_word(struct pt_scan *words, struct pt_str *word) {
    if (words->at >= words->end)
        return false;
    *word = pt_scan_until(words, 0);
    if (words->failed) { /* the last one is cut */
        *word = pt_scan_rest(words);
        words->at = words->end;
    }
    return true;
}

static void take_option(struct pt_engine_facts *facts, enum pt_engine_kind kind, struct pt_str word,
                        const struct pt_scan *rest) {
    size_t name_len = 0;
    while (name_len < word.len && word.at[name_len] != '=')
        name_len++;
    struct pt_str name = { word.at, name_len }, value = pt_str_skip(word, name_len + 1);
    struct pt_scan following = *rest;
    for (size_t i = 0; i < PT_COUNT(options); i++) {
        if (options[i].kind != kind || !pt_str_eq(pt_str_from(options[i].option), name))
            continue;
        if (options[i].is_flag)
            value = PT_STR("1");
        else if (name_len == word.len && !next_word(&following, &value))
            return;
        pt_engine_facts_add(facts, options[i].key, value);
        if (options[i].is_capacity && number_of(value) > 0)
            facts->request_capacity = number_of(value);
        return;
    }
}

void pt_engine_facts_add_arguments(struct pt_engine_facts *facts, enum pt_engine_kind kind,
                                   struct pt_str words) {
    struct pt_scan scan = pt_scan_of(words);
    struct pt_str word;
    while (next_word(&scan, &word))
        if (word.len > 1 && word.at[0] == '-')
            take_option(facts, kind, word, &scan);
    facts->may_sleep = has_key(facts, "sleep_idle_seconds");
    /* without a number of slots, llama-server chooses it and lets them share the cache */
    facts->has_one_cache = has_key(facts, "kv_unified") || !has_key(facts, "parallel");
}
