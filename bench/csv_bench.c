/* bench/csv_bench.c -- rows per second of CPU of the flat text formats.
 *
 * 100 columns as in a run of the main file: 50 integers (counters and the two
 * times) and 50 doubles of up to three decimals, the same numbers every time.
 *
 *     csv    100000 rows x 100 columns, 764 B/row   0.123 s    813008 rows/s
 */
#include "base/clock.h"
#include "base/mem.h"
#include "sink/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* CPU seconds, kernel included, of writing all rows to a file. */
static double export(const struct pt_sink_type *type, const struct pt_sink_target *target,
                     const struct pt_sample *samples) {
    struct pt_sink sink;
    struct pt_err err = { "write" };
    int64_t start_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    check(pt_sink_open(&sink, type, target, &err), &err);
    for (int row = 0; row < ROWS; row++)
        check(pt_sink_write(&sink, &samples[row % SLICE]), &err);
    check(pt_sink_close(&sink, &err), &err);
    return (double)(pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns) / 1e9;
}

static void measure(const char *name, const struct pt_sink_target *target,
                    const struct pt_sample *samples) {
    const struct pt_sink_type *type = pt_sink_find(pt_str_from(name));
    char *path = pt_asprintf("%s/%s.%s", target->directory, target->name, name);
    double best = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        double seconds = export(type, target, samples);
        best = seconds < best ? seconds : best;
    }
    struct stat st = { 0 };
    stat(path, &st);
    printf("%-6s %d rows x 100 columns, %lld B/row %7.3f s %9.0f rows/s\n", name, ROWS,
           (long long)st.st_size / ROWS, best, ROWS / best);
    unlink(path);
    pt_free(path);
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
    measure("csv", &target, samples);
    measure("tsv", &target, samples);
    measure("jsonl", &target, samples);
    rmdir(directory);
    pt_views_release(&views);
    for (int i = 0; i < SLICE; i++)
        pt_sample_release(&samples[i]);
    pt_free(samples);
    for (int i = 0; i < INTEGERS + DOUBLES; i++)
        pt_free((char *)columns[i].name);
    return 0;
}
