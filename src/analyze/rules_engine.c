/* analyze/rules_engine.c -- inference engines: queue, KV cache, batch, prefill, client, workers. */
#include "analyze/straggler.h"
#include "analyze/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define S(name)     PT_SIGNAL_##name

#define WORKERS_MAX 64

struct worker {
    const char *key;
    double pace, rate; /* seconds between tokens; tokens a second */
};

static double mean_series(const struct pt_window_series *s, size_t count) {
    double sum = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        double value = pt_series_at(s, i);
        if (!isnan(value)) {
            sum += value;
            known++;
        }
    }
    return known > 0 ? sum / known : NAN;
}

static int by_pace(const void *a, const void *b) {
    double x = ((const struct worker *)a)->pace, y = ((const struct worker *)b)->pace;
    return (x > y) - (x < y);
}

static size_t find_workers(const struct pt_signals *s, struct worker workers[WORKERS_MAX]) {
    const struct pt_windows *w = s->windows;
    int table = pt_schema_find(w->schema, "engines");
    const struct pt_entity *e;
    size_t count = 0;
    for (size_t place = 0;
         table >= 0 && count < WORKERS_MAX && (e = pt_windows_next(w, table, &place));) {
        struct worker worker = {
            .key = e->key,
            .pace = mean_series(pt_windows_series(w, e, "latency_inter_token_s_p50"), s->count),
            .rate = mean_series(pt_windows_series(w, e, "tokens_generation_total"), s->count),
        };
        double running = mean_series(pt_windows_series(w, e, "system_requests_running"), s->count);
        if (worker.pace > 0 && worker.rate > 0 && running >= 1)
            workers[count++] = worker;
    }
    return count;
}

/* The slowest of several engines is much slower per token than the middle one, and makes less. */
static bool find_straggler(const struct pt_rule *rule, const struct pt_signals *s,
                           struct pt_verdict *v) {
    struct worker workers[WORKERS_MAX];
    size_t count = find_workers(s, workers);
    if (count == 0)
        return false;
    qsort(workers, count, sizeof *workers, by_pace);
    const struct worker *slowest = &workers[count - 1], *middle = &workers[(count - 1) / 2];
    double slower = slowest->pace / middle->pace, less = slowest->rate / middle->rate;
    struct pt_facts facts;
    pt_facts_init(&facts);
    facts.values[S(WORKER_COUNT)] = (double)count;
    facts.values[S(WORKER_PACE)] = slower;
    facts.values[S(WORKER_RATE)] = less;
    if (!pt_form_holds(&rule->forms[PT_STRAGGLER_WORKERS], &facts))
        return false;
    v->share = 1;
    v->confidence = pt_straggler_confidence(&rule->forms[PT_STRAGGLER_WORKERS], slower);
    v->signals[v->signal_count++] = (struct pt_verdict_signal){
        .signal = S(WORKER_PACE), .value = slower, .from = 0, .to = s->seconds
    };
    v->signals[v->signal_count++] = (struct pt_verdict_signal){
        .signal = S(WORKER_RATE), .value = less, .from = 0, .to = s->seconds
    };
    snprintf(v->entity, sizeof v->entity, "%s", slowest->key);
    return true;
}

const struct pt_rule pt_rules_engine[] = {
    {
        .id = "queue-bound",
        .title = "Requests arrive faster than the engine works them off",
        .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 },
                       { S(ENGINE_QUEUE_SHARE), '>', 0.2, 0.5 } } },
                   { { { S(ENGINE_WAITING), '>', 2, 16 },
                       { S(ENGINE_RUNNING), '>', 1 },
                       { S(ENGINE_TTFT), '>', 0.5, 2 } } } },
        /* an engine that makes nothing is stuck or starting, not too small */
        .against = { { S(ENGINE_TOKENS), '<', 1 } },
        .advice = "More capacity or fewer requests: another replica, larger --max-num-seqs where "
                  "memory allows, admission control in front. Queue time is what a user would no "
                  "longer wait.",
    },
    {
        .id = "kv-cache-full",
        .title = "The KV cache is full: requests are stopped and started again",
        .forms = { { { { S(ENGINE_KV), '>', 0.9, 0.98 }, { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                   { { { S(ENGINE_KV), '>', 0.95, 0.99 }, { S(ENGINE_WAITING), '>', 1, 8 } } } },
        .against = { { S(ENGINE_TOKENS), '<', 1 }, { S(ENGINE_WAITING), '<', 0.5 } },
        .advice = "Room for the cache: higher --gpu-memory-utilization, shorter --max-model-len, "
                  "--kv-cache-dtype fp8, more tensor parallelism, or fewer at a time "
                  "(--max-num-seqs). Work that was preempted is no longer done twice.",
        .explains = { "queue-bound", "gpu-memory-full" },
    },
    {
        .id = "prefill-interference",
        .title = "Long prompts interrupt the generation of others",
        .forms = { { { { S(ENGINE_TOKEN_SPREAD), '>', 4, 10 },
                       { S(ENGINE_PREFILL_SHARE), '>', 0.2, 0.5 },
                       { S(ENGINE_RUNNING), '>', 1 } } } },
        .against = { { S(OWN_CPU_PRESSURE), '>', 0.5 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(ENGINE_PREEMPTIONS), '>', 0 } },
        .advice =
            "Smaller steps of prefill: --enable-chunked-prefill with a lower "
            "--max-num-batched-tokens, --enable-prefix-caching, or prefill on other GPUs "
            "(disaggregated). The p99 between tokens comes near the median; the first token may "
            "take longer.",
    },
    {
        .id = "batch-too-small",
        .title = "Requests wait although there is room for more at a time",
        .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 },
                       { S(ENGINE_RUNNING), '<', 9, 5 },
                       { S(ENGINE_RUNNING), '>', 0.5 },
                       { S(ENGINE_KV), '<', 0.5, 0.25 } } } },
        .against = { { S(ENGINE_PREEMPTIONS), '>', 0 },
                     { S(GPU_TENSOR), '>', 0.6 },
                     { S(CPU_BUSY), '>', 0.9 } },
        .advice =
            "Let more run at a time: raise --max-num-seqs (or the engine's batch size) until the "
            "KV cache or the latency limit is reached. Decoding reads the weights once for "
            "the whole batch, so throughput grows nearly with it.",
        .explains = { "queue-bound" },
    },
    {
        .id = "client-limited",
        .title = "The engine waits for requests",
        .forms = { { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                       { S(ENGINE_RUNNING), '<', 1, 0.3 },
                       { S(CPU_BUSY), '<', 0.6, 0.3 } } },
                   { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                       { S(ENGINE_RUNNING), '<', 1, 0.3 },
                       { S(GPU_UTIL), '<', 0.5, 0.2 } } },
                   { { { S(ENGINE_WAITING), '<', 0.5, 0.1 },
                       { S(ENGINE_RUNNING), '<', 1, 0.3 },
                       { S(OWN_CPU_SHARE), '<', 0.4, 0.1 } } } },
        .against = { { S(OWN_CPU_PRESSURE), '>', 0.5 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "More load: raise the concurrency or the rate of the client, or look at what is "
            "between it and the engine (gateway, tokenizer, network). Throughput grows with the "
            "load until something else is full. To save, use a smaller machine.",
    },
    {
        .id = "straggler",
        .title = "One worker is slower than the others",
        .evaluate = find_straggler,
        .looks_at = S(ENGINE_TOKENS),
        .forms = { [PT_STRAGGLER_WORKERS] = { { { S(WORKER_PACE), PT_AT_LEAST, 1.3, 2 },
                                                { S(WORKER_RATE), '<', 0.85 },
                                                { S(WORKER_COUNT), PT_AT_LEAST, 3 } } },
                   [PT_STRAGGLER_RANKS] = { { { S(RANK_PACE), PT_AT_LEAST, 1.1, 1.5 },
                                              { S(RANK_EXCESS), PT_AT_LEAST, 0.5 },
                                              { S(RANK_STEPS), PT_AT_LEAST,
                                                PT_STRAGGLER_STEPS_MIN } } } },
        .note = "The second form is for the ranks of a [merged run](MERGE.md). In a collective "
                "operation, where all ranks wait for the slowest, the slowest one is there for the "
                "shortest time: rank.pace is then inverted.",
        /* other reasons to be slow now and then, which may meet one worker more than the others */
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(ENGINE_PREEMPTIONS), '>', 0 } },
        .advice =
            "Look at that worker alone: its clocks, temperature, PCIe link, neighbours and NUMA "
            "node; until it is well send it less. Where all wait for the slowest, all become "
            "as fast as the others.",
    },
    { 0 },
};
