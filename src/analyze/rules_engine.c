/* analyze/rules_engine.c -- inference engines: queue, KV cache, batch, prefill, client, workers. */
#include "analyze/straggler.h"
#include "analyze/verdict.h"
#include "derive/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define S(name)     PT_FIGURE_##name

#define WORKERS_MAX 64

struct worker {
    const char *key;
    double pace, rate; /* seconds between tokens; tokens per second */
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
    int table = pt_field_table(w->schema, PT_FIELD_ENGINE_TOKENS);
    const struct pt_entity *e;
    size_t count = 0;
    for (size_t place = 0;
         table >= 0 && count < WORKERS_MAX && (e = pt_windows_next(w, table, &place));) {
        struct worker worker = {
            .key = e->key,
            .pace = mean_series(
                pt_windows_series(w, e, pt_fields[PT_FIELD_ENGINE_INTER_TOKEN_P50].column),
                s->count),
            .rate = mean_series(pt_windows_series(w, e, pt_fields[PT_FIELD_ENGINE_TOKENS].column),
                                s->count),
        };
        double running = mean_series(
            pt_windows_series(w, e, pt_fields[PT_FIELD_ENGINE_RUNNING].column), s->count);
        if (worker.pace > 0 && worker.rate > 0 && running >= 1)
            workers[count++] = worker;
    }
    return count;
}

/* The slowest of several engines takes much longer per token than the median engine and generates
 * fewer tokens. */
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
        .title = "Queue-bound: requests arrive faster than the engine serves them",
        .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 },
                       { S(ENGINE_QUEUE_SHARE), '>', 0.2, 0.5 } } },
                   { { { S(ENGINE_WAITING), '>', 2, 16 },
                       { S(ENGINE_RUNNING), '>', 1 },
                       { S(ENGINE_TTFT_P50), '>', 0.5, 2 } } },
                   /* engines without latencies */
                   { { { S(ENGINE_WAITING), '>', 2, 8 }, { S(ENGINE_QUEUE_RATIO), '>', 1, 4 } } } },
        /* an engine that generates nothing is stuck or starting, not too small */
        .against = { { S(ENGINE_TOKENS), '<', 1 } },
        .advice =
            "Add capacity or reduce load: another replica, a larger --max-num-seqs where memory "
            "allows, admission control in front of the engine. Users no longer wait for the time "
            "spent in the queue.",
    },
    {
        .id = "kv-cache-full",
        .title = "KV cache full: requests are preempted",
        .forms = { { { { S(ENGINE_KV), '>', 0.9, 0.98 }, { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                   { { { S(ENGINE_KV), '>', 0.95, 0.99 }, { S(ENGINE_WAITING), '>', 1, 8 } } } },
        .against = { { S(ENGINE_TOKENS), '<', 1 }, { S(ENGINE_WAITING), '<', 0.5 } },
        .advice =
            "Make the cache larger: higher --gpu-memory-utilization, shorter --max-model-len, "
            "--kv-cache-dtype fp8, more tensor parallelism; or run fewer requests at once "
            "(--max-num-seqs). Preempted work is then no longer done twice.",
        .explains = { "queue-bound", "gpu-memory-full" },
    },
    {
        .id = "prefill-interference",
        .title = "Prefill interference: long prompts interrupt the generation of other requests",
        .forms = { { { { S(ENGINE_TOKEN_SPREAD), '>', 4, 10 },
                       { S(ENGINE_PREFILL_SHARE), '>', 0.2, 0.5 },
                       { S(ENGINE_RUNNING), '>', 1 } } },
                   { { { S(ENGINE_PREFILL_BUSY), '>', 0.4, 0.7 },
                       { S(ENGINE_RUNNING), '>', 1 },
                       { S(ENGINE_TOKENS), '>', 1 } } } },
        .against = { { S(OWN_CPU_PRESSURE), '>', 0.5 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(ENGINE_PREEMPTIONS), '>', 0 } },
        .advice =
            "Use smaller prefill steps: --enable-chunked-prefill with a lower "
            "--max-num-batched-tokens, --enable-prefix-caching, or prefill on other GPUs "
            "(disaggregated). The p99 between tokens approaches the median; the first token may "
            "take longer.",
    },
    {
        .id = "batch-too-small",
        .title = "Batch limit too small: requests queue while capacity is free",
        .forms = { { { { S(ENGINE_WAITING), '>', 1, 4 },
                       { S(ENGINE_RUNNING), '<', 9, 5 },
                       { S(ENGINE_RUNNING), '>', 0.5 },
                       { S(ENGINE_KV), '<', 0.5, 0.25 } } },
                   { { { S(ENGINE_WAITING), '>', 1, 4 },
                       { S(ENGINE_RUNNING), '<', 9, 5 },
                       { S(ENGINE_BATCH_SHARE), '>', 0.9, 0.98 } } } },
        .against = { { S(ENGINE_PREEMPTIONS), '>', 0 },
                     { S(GPU_TENSOR), '>', 0.6 },
                     { S(CPU_BUSY), '>', 0.9 } },
        .advice =
            "Run more requests at once: raise --max-num-seqs (or the engine's batch size) until "
            "the KV cache or the latency limit is reached. Decoding reads the weights once per "
            "batch, so throughput grows almost linearly with the batch size.",
        .explains = { "queue-bound" },
    },
    {
        .id = "client-limited",
        .title = "Client-limited: the engine is waiting for requests",
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
            "Increase the load: raise the client's concurrency or request rate, or check what is "
            "between client and engine (gateway, tokenizer, network). Throughput grows with the "
            "load until another resource is full. To save cost, use a smaller machine.",
    },
    {
        .id = "straggler",
        .title = "Straggler: one worker is slower than the others",
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
                "operation all ranks wait for the slowest, so the slowest rank spends the shortest "
                "time in it: rank.pace is then inverted.",
        /* other reasons to be slow at times, which can affect one worker more than the others */
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(ENGINE_PREEMPTIONS), '>', 0 } },
        .advice =
            "Inspect that worker: clocks, temperature, PCIe link, neighbours and NUMA node; send "
            "it less work until it is fixed. Where all workers wait for the slowest, all become "
            "as fast as the others.",
    },
    { 0 },
};
