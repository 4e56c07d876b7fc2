/* What a scrape costs: Pitot's parser against getline + strtok_r + strtod on the same exposition,
 * made here as vLLM 0.11 makes it under load: two engines, counters, _created and histograms. */
#include "bench.h"

#include "base/buf.h"
#include "source/engine/promtext.h"
#include "source/engine/reading.h"

#include <stdarg.h>
#include <stdlib.h>

#define ENGINES "engine=\"%d\",model_name=\"meta-llama/Llama-3.1-8B-Instruct\""

static struct pt_buf exposition;

static void append(const char *format, ...) PT_PRINTF(1, 2);
static void append(const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pt_buf_bytes(&exposition, line, (size_t)n);
}

static void make_gauge(const char *name, double value) {
    append("# HELP vllm:%s Number of requests or part of the cache.\n# TYPE vllm:%s gauge\n", name,
           name);
    for (int engine = 0; engine < 2; engine++)
        append("vllm:%s{" ENGINES "} %.17g\n", name, engine, value / (engine + 3));
}

static void make_counter(const char *name, double value) {
    append("# HELP vllm:%s_total Cumulative number of what the name says.\n", name);
    append("# TYPE vllm:%s_total counter\n", name);
    for (int engine = 0; engine < 2; engine++)
        append("vllm:%s_total{" ENGINES "} %.1f\n", name, engine, value * (engine + 1));
    append("# TYPE vllm:%s_created gauge\n", name);
    for (int engine = 0; engine < 2; engine++)
        append("vllm:%s_created{" ENGINES "} 1.7%d26839813016397e+09\n", name, engine, engine);
}

static void make_histogram(const char *name, const char *const *edges) {
    append("# HELP vllm:%s Histogram of a latency or a number of tokens.\n", name);
    append("# TYPE vllm:%s histogram\n", name);
    for (int engine = 0; engine < 2; engine++) {
        double events = 0;
        for (int i = 0; edges[i]; i++)
            append("vllm:%s_bucket{engine=\"%d\",le=\"%s\",model_name=\"meta-llama/"
                   "Llama-3.1-8B-Instruct\"} %.1f\n",
                   name, engine, edges[i], events += 37.0 * i * (engine + 1));
        append("vllm:%s_count{" ENGINES "} %.1f\n", name, engine, events);
        append("vllm:%s_sum{" ENGINES "} %.17g\n", name, engine, events * 0.313267230987);
    }
}

static void make_exposition(void) {
    static const char *const ttft[] = { "0.001", "0.005", "0.01",  "0.02",   "0.04", "0.06",
                                        "0.08",  "0.1",   "0.25",  "0.5",    "0.75", "1.0",
                                        "2.5",   "5.0",   "7.5",   "10.0",   "20.0", "40.0",
                                        "80.0",  "160.0", "640.0", "2560.0", "+Inf", NULL };
    static const char *const itl[] = { "0.01", "0.025", "0.05", "0.075", "0.1",  "0.15", "0.2",
                                       "0.3",  "0.4",   "0.5",  "0.75",  "1.0",  "2.5",  "5.0",
                                       "7.5",  "10.0",  "20.0", "40.0",  "80.0", "+Inf", NULL };
    static const char *const e2e[] = { "0.3",   "0.5",    "0.8",    "1.0",   "1.5",   "2.0",
                                       "2.5",   "5.0",    "10.0",   "15.0",  "20.0",  "30.0",
                                       "40.0",  "50.0",   "60.0",   "120.0", "240.0", "480.0",
                                       "960.0", "1920.0", "7680.0", "+Inf",  NULL };
    static const char *const gauges[] = { "num_requests_running", "num_requests_waiting",
                                          "kv_cache_usage_perc" };
    static const char *const counters[] = { "prefix_cache_queries", "prefix_cache_hits",
                                            "num_preemptions",      "prompt_tokens",
                                            "generation_tokens",    "mm_cache_queries",
                                            "mm_cache_hits",        "request_success" };
    static const char *const latencies[] = { "e2e_request_latency_seconds",
                                             "request_queue_time_seconds",
                                             "request_inference_time_seconds",
                                             "request_prefill_time_seconds",
                                             "request_decode_time_seconds" };
    for (size_t i = 0; i < PT_COUNT(gauges); i++)
        make_gauge(gauges[i], 2.0 + (double)i);
    for (size_t i = 0; i < PT_COUNT(counters); i++)
        make_counter(counters[i], 8128902.0 * (double)(i + 1));
    make_histogram("time_to_first_token_seconds", ttft);
    make_histogram("inter_token_latency_seconds", itl);
    make_histogram("time_per_output_token_seconds", itl);
    for (size_t i = 0; i < PT_COUNT(latencies); i++)
        make_histogram(latencies[i], e2e);
    make_histogram("request_prompt_tokens", ttft);
    make_histogram("request_generation_tokens", ttft);
    make_histogram("iteration_tokens_total", itl);
}

/* What both sides must agree on. */
struct result {
    int samples, labels;
    double total;
};

static struct result ours, theirs;

static void parse_ours(void *user, int iterations) {
    (void)user;
    static struct pt_promtext p;
    while (iterations-- > 0) {
        ours = (struct result){ 0 };
        pt_promtext_init(&p, pt_buf_as_str(&exposition), false, NULL);
        while (pt_promtext_next(&p) > 0) {
            if (p.item.kind != PT_PROMTEXT_SAMPLE)
                continue;
            ours.samples++;
            ours.labels += p.item.label_count;
            ours.total += p.item.value;
        }
    }
}

static void parse_line(char *line) {
    char *place, *name = strtok_r(line, "{ \n", &place);
    if (!name || name[0] == '#')
        return;
    theirs.samples++;
    for (char *key; (key = strtok_r(NULL, "=,}", &place)) && key[0] != ' ';) {
        char *value = strtok_r(NULL, "\"", &place);
        theirs.labels += value != NULL;
        if (*place == '}') {
            place++;
            break;
        }
    }
    theirs.total += strtod(place, NULL);
}

static void parse_theirs(void *user, int iterations) {
    (void)user;
    static char *line;
    static size_t capacity;
    while (iterations-- > 0) {
        theirs = (struct result){ 0 };
        FILE *f = fmemopen(exposition.at, exposition.len, "r");
        if (!f)
            abort();
        while (getline(&line, &capacity, f) >= 0)
            parse_line(line);
        fclose(f);
    }
}

static void read_engine(void *user, int iterations) {
    (void)user;
    static struct pt_engine_parser parser;
    static struct pt_engine_reading reading;
    while (iterations-- > 0)
        if (pt_engine_parse(&parser, pt_buf_as_str(&exposition), &reading, NULL))
            abort();
}

int main(void) {
    make_exposition();
    struct bench_side sides[] = {
        { "ours", parse_ours, NULL, 0 },
        { "getline + strtok_r + strtod", parse_theirs, NULL, 0 },
        { "reading", read_engine, NULL, 0 },
    };
    bench_interleave(sides, 3, 100, 40);
    if (ours.samples != theirs.samples || ours.labels != theirs.labels ||
        ours.total != theirs.total) {
        fprintf(stderr, "promtext_bench: the two parsers disagree\n");
        return 1;
    }
    double n = ours.samples, mine = (double)sides[0].best_ns, other = (double)sides[1].best_ns;
    char what[128];
    snprintf(what, sizeof what,
             "parsing %zu bytes of vLLM's metrics, %d series vs. getline + strtok_r + strtod",
             exposition.len, ours.samples);
    bench_row(what, mine / n, other / n, "ns per series", other / mine, ">= 5");
    printf("| the same with aliases and histograms | %.2f ns per series | | | |\n",
           (double)sides[2].best_ns / n);
    return 0;
}
