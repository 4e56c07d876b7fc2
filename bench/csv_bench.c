/* bench/csv_bench.c -- thousands of rows per second of CPU, kernel included, of the flat texts.
 *
 * 100 columns as in the main file of a run: 50 integers (counters and the two
 * times) and 50 doubles of up to three decimals, the same numbers every time.
 * The other side is DuckDB's CSV writer on such a table. */
#include "bench.h"

#include "base/mem.h"
#include "sink/sink.h"

#include <stdlib.h>
#include <unistd.h>

enum { INTEGERS = 48, DOUBLES = 50, ROWS = 100000, SLICE = 5000, REPEATS = 7 };

static struct pt_column columns[INTEGERS + DOUBLES];
static const char *const sources[] = { "bench" };
static const struct pt_table table = { .name = "bench",
                                       .file = "",
                                       .help = "bench",
                                       .columns = columns,
                                       .sources = sources,
                                       .column_count = INTEGERS + DOUBLES,
                                       .source_count = 1,
                                       .is_untimed = true };
static const struct pt_table *const tables[] = { &table };
static const struct pt_schema schema = { tables, 1 };

static uint64_t random_u64(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void name_columns(void) {
    for (int i = 0; i < INTEGERS + DOUBLES; i++)
        columns[i] = (struct pt_column){ .name = pt_asprintf("metric%d", i),
                                         .kind = i < INTEGERS ? PT_COUNTER : PT_GAUGE,
                                         .type = i < INTEGERS ? PT_I64 : PT_F64 };
}

/* Counters of 1 to 11 digits that grow at their own pace; gauges below 100. */
static void fill(struct pt_sample *s, int64_t tick, uint64_t *random) {
    struct pt_batch *b = &s->batches[0];
    s->wall_ns = INT64_C(1703462400000000000) + tick * PT_NS_PER_SECOND;
    s->mono_ns = INT64_C(81234567890) + tick * PT_NS_PER_SECOND;
    pt_batch_add_row(b);
    int64_t scale = 1;
    for (int i = 0; i < INTEGERS; i++) {
        pt_set_i64(b, i, scale * (tick + 1) + (int64_t)(random_u64(random) % (uint64_t)scale));
        scale = scale >= INT64_C(1000000) ? 1 : scale * 10;
    }
    for (int i = 0; i < DOUBLES; i++)
        pt_set_f64(b, INTEGERS + i, (double)(random_u64(random) % 100000) / 1000);
}

static int check(int rc, const struct pt_err *err) {
    if (rc) {
        fprintf(stderr, "csv_bench: %s\n", err->text);
        exit(1);
    }
    return rc;
}

/* CPU seconds of writing all rows to a new file. */
static double export(const struct pt_sink_type *type, const struct pt_sink_target *target,
                     const struct pt_sample *samples) {
    struct pt_sink sink;
    struct pt_err err = { "write" };
    int64_t start_ns = bench_cpu_ns();
    check(pt_sink_open(&sink, type, target, &err), &err);
    for (int row = 0; row < ROWS; row++)
        check(pt_sink_write(&sink, &samples[row % SLICE]), &err);
    check(pt_sink_close(&sink, &err), &err);
    double seconds = (double)(bench_cpu_ns() - start_ns) / 1e9;
    char *path = pt_asprintf("%s/%s.%s", target->directory, target->name, type->name);
    unlink(path);
    pt_free(path);
    return seconds;
}

#define DUCKDB_KILOROWS 113.0

static void measure(const char *name, const char *goal, const struct pt_sink_target *target,
                    const struct pt_sample *samples) {
    const struct pt_sink_type *type = pt_sink_find(pt_str_from(name));
    double best = export(type, target, samples);
    for (int i = 1; i < REPEATS; i++) {
        double seconds = export(type, target, samples);
        best = seconds < best ? seconds : best;
    }
    double kilorows = ROWS / best / 1000;
    bench_row(name, kilorows, DUCKDB_KILOROWS, "k rows/s", kilorows / DUCKDB_KILOROWS, goal);
}

int main(void) {
    char directory[] = "/tmp/pitot-csv-bench-XXXXXX";
    if (!mkdtemp(directory))
        return 1;
    name_columns();
    struct pt_sample *samples = pt_calloc(SLICE, sizeof *samples);
    uint64_t random = 88172645463325252;
    for (int i = 0; i < SLICE; i++) {
        pt_sample_init(&samples[i], &schema);
        fill(&samples[i], i * (ROWS / SLICE), &random);
    }
    struct pt_views views;
    pt_views_init(&views, &schema);
    struct pt_sink_target target = { directory, "bench", &schema, &views };
    measure("csv", ">= 4", &target, samples);
    measure("tsv", "", &target, samples);
    measure("jsonl", "", &target, samples);
    rmdir(directory);
    pt_views_release(&views);
    for (int i = 0; i < SLICE; i++)
        pt_sample_release(&samples[i]);
    pt_free(samples);
    for (int i = 0; i < INTEGERS + DOUBLES; i++)
        pt_free((char *)columns[i].name);
    return 0;
}
