/* Cost of an export: Prometheus text compared with snprintf of the same lines, all metrics that a
 * process can have, and a trace of a million spans. */
#include "bench.h"

#include "libpitot/span_history.h"
#include "format/metrics/exposition.h"

#include <pitot/export.h>
#include <stdlib.h>
#include <unistd.h>

#define FAMILIES   100
#define SERIES     100 /* of a family: 10,000 lines and their headings */
#define SPANS      1000000
#define ROUNDS     15
#define ITERATIONS 20

static char labels[FAMILIES * SERIES][64];
static char names[FAMILIES][48];
static struct pt_series series[FAMILIES * SERIES];
static struct pt_family families[FAMILIES];
static size_t written;

/* Half counters, half gauges; both with as many digits as such values have. */
static void make_families(void) {
    for (size_t f = 0; f < FAMILIES; f++) {
        snprintf(names[f], sizeof names[f], "engine_requests_of_some_kind_%zu", f);
        families[f] = (struct pt_family){
            .name = pt_str_from(names[f]),
            .help = PT_STR("What the name says, so far"),
            .unit = PT_STR(""),
            .kind = f % 2 ? PT_FAMILY_COUNTER : PT_FAMILY_GAUGE,
            .series = &series[f * SERIES],
            .series_count = SERIES,
        };
        for (size_t s = 0; s < SERIES; s++) {
            size_t i = f * SERIES + s;
            snprintf(labels[i], sizeof labels[i], "engine=\"%zu\",model=\"llama-%zu\"", s, s % 7);
            series[i] = (struct pt_series){ .labels = pt_str_from(labels[i]),
                                            .is_integer = f % 2,
                                            .integer = i * 7919 + 1234567,
                                            .value = (double)i * 0.37 };
        }
    }
}

static int count_bytes(void *arg, const void *bytes, size_t n) {
    (void)bytes;
    *(size_t *)arg += n;
    return 0;
}

static void render_families(void *user, int iterations) {
    static char buffer[PT_OUT_BUFFER];
    (void)user;
    while (iterations-- > 0) {
        struct pt_out out;
        struct pt_exposition e;
        written = 0;
        pt_out_through(&out, buffer, count_bytes, &written);
        pt_exposition_begin(&e, &out, PT_PROMETHEUS);
        for (size_t i = 0; i < FAMILIES; i++)
            pt_exposition_family(&e, &families[i]);
        pt_exposition_end(&e);
        pt_out_flush(&out);
    }
}

static size_t printed;

static void print_families(void *user, int iterations) {
    static char text[4 << 20];
    (void)user;
    while (iterations-- > 0) {
        char *at = text, *end = text + sizeof text;
        for (size_t f = 0; f < FAMILIES; f++) {
            bool is_counter = families[f].kind == PT_FAMILY_COUNTER;
            const char *name = names[f], *suffix = is_counter ? "_total" : "";
            at += snprintf(at, (size_t)(end - at), "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix,
                           families[f].help.at, name, suffix, is_counter ? "counter" : "gauge");
            for (size_t s = 0; s < SERIES; s++) {
                const struct pt_series *one = &families[f].series[s];
                at += is_counter ? snprintf(at, (size_t)(end - at), "%s%s{%s} %llu\n", name, suffix,
                                            one->labels.at, (unsigned long long)one->integer)
                                 : snprintf(at, (size_t)(end - at), "%s%s{%s} %.17g\n", name,
                                            suffix, one->labels.at, one->value);
            }
        }
        printed = (size_t)(at - text);
    }
}

/* What fits into a region. */
static void make_simple_metrics(void) {
    for (int i = 0; i < 250; i++) {
        char text[64];
        snprintf(text, sizeof text, "engine=\"%d\",model=\"llama\"", i);
        pt_counter_add(pt_counter_new("engine_requests_total", "", "Requests", text), 1234567);
        if (i < 190)
            pt_gauge_set(pt_gauge_new("engine_requests_running", "", "Requests", text), i * 0.37);
    }
}

static void make_histograms(void) {
    for (int i = 0; i < 60; i++) {
        char text[64];
        snprintf(text, sizeof text, "engine=\"%d\",model=\"llama\"", i);
        pt_histogram h = pt_histogram_new("engine_request_seconds", "s", "Requests", text);
        for (int k = 1; k < 1000; k++)
            pt_histogram_record(h, k * 1e-3);
    }
}

static void render_process(void *user, int iterations) {
    enum pt_exposition_format *format = user;
    while (iterations-- > 0) {
        char *text = pt_render(*format, NULL);
        if (!text)
            abort();
        free(text);
    }
}

static size_t count_lines(void) {
    size_t length, count = 0;
    char *text = pt_render(PT_PROMETHEUS, &length);
    if (!text)
        abort();
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    free(text);
    return count;
}

static void bench_text(void) {
    make_families();
    struct bench_side sides[] = {
        { "ours", render_families, NULL, 0 },
        { "snprintf", print_families, NULL, 0 },
    };
    bench_interleave(sides, 2, ROUNDS, ITERATIONS);
    double lines = FAMILIES * SERIES;
    bench_row("Prometheus text of 10,000 series vs. snprintf", (double)sides[0].best_ns / lines,
              (double)sides[1].best_ns / lines, "ns per series",
              (double)sides[1].best_ns / (double)sides[0].best_ns, "<= 25 ns");
}

static void bench_process(enum pt_exposition_format format, const char *what) {
    struct bench_side side = { what, render_process, &format, 0 };
    bench_interleave(&side, 1, ROUNDS, ITERATIONS);
    size_t lines = count_lines();
    printf("| pt_render(), %s, %zu lines of text | %.2f ns per line | | | |\n", what, lines,
           (double)side.best_ns / (double)lines);
}

static void put_spans(void) {
    for (int i = 0; i < SPANS; i++) {
        PT_SPAN(span, "decode_step");
        pt_span_set_argument(&span, i);
        pt_span_set_request(&span, (uint64_t)i / 100);
        if (i % 4096 == 0)
            pt_history_end(); /* takes them in: the ring is shorter than the loop */
    }
}

static void bench_trace(const char *directory) {
    char path[256];
    snprintf(path, sizeof path, "%s/trace.json", directory);
    if (pt_history_start(SPANS))
        abort();
    put_spans();
    int64_t best_ns = 0;
    for (int round = 0; round < 3; round++) {
        int64_t before_ns = bench_cpu_ns();
        if (pt_write_trace(path))
            abort();
        int64_t took_ns = bench_cpu_ns() - before_ns;
        best_ns = best_ns == 0 || took_ns < best_ns ? took_ns : best_ns;
    }
    printf("| Chrome trace of %d spans, into a file | %.2f s | | | < 1 s |\n", SPANS,
           (double)best_ns / PT_NS_PER_SECOND);
    unlink(path);
}

int main(void) {
    char directory[] = "/tmp/pitot-bench-XXXXXX";
    if (!mkdtemp(directory) || pt_start(NULL))
        return 1;
    bench_text();
    make_simple_metrics();
    bench_process(PT_PROMETHEUS, "counters and gauges");
    make_histograms();
    bench_process(PT_PROMETHEUS, "and 60 histograms");
    bench_process(PT_PROTOBUF, "the same as protobuf, with 20,000 native buckets");
    bench_trace(directory);
    rmdir(directory);
    return 0;
}
