/* bench/export_bench.c -- writes the benchmark's run in a format several times and says what it
 * costs.
 *
 *     export_bench FORMAT FILE [FILE.csv]
 *
 * prints one line of JSON: {"rows":100000,"cpu_s":0.15,"bytes":9500000}. The CSV
 * is the same data for bench/export_duckdb.mjs, timestamp in microseconds. */
#include "export_data.h"

#include "format/rows/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS   100000
#define ROUNDS 3

static double cpu_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "export_bench: %s: %s\n", what, why);
    exit(1);
}

/* Returns the size of the file. */
static uint64_t write_file(const struct export_data *d, const struct pt_table_format *format,
                           const char *path) {
    struct pt_out out;
    struct pt_err err;
    void *state = pt_calloc(1, format->state_size);
    if (pt_out_create(&out, path, &err) || format->begin(state, &d->views.views[0], &out))
        fail(path, "cannot begin");
    bool is_null[EXPORT_DATA_COLUMNS] = { 0 };
    for (uint32_t i = 0; i < d->row_count; i++) {
        struct pt_view_row row = { .cells = &d->cells[(size_t)i * EXPORT_DATA_COLUMNS],
                                   .is_null = is_null };
        format->row(state, &row);
    }
    format->end(state);
    uint64_t bytes = pt_out_offset(&out);
    pt_free(state);
    if (pt_out_close(&out))
        fail(path, "cannot write");
    return bytes;
}

static void write_csv(const struct export_data *d, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        fail(path, "cannot create");
    for (uint32_t c = 0; c < EXPORT_DATA_COLUMNS; c++)
        fprintf(f, "%s%s", c ? "," : "", d->views.views[0].columns[c].name);
    for (uint32_t r = 0; r < d->row_count; r++) {
        const union pt_cell *cells = &d->cells[(size_t)r * EXPORT_DATA_COLUMNS];
        fprintf(f, "\n%lld", (long long)cells[0].i64 / 1000);
        for (uint32_t c = 1; c < EXPORT_DATA_COLUMNS; c++) {
            int decimals = export_data_decimals(c);
            if (decimals > 0)
                fprintf(f, ",%.*f", decimals, cells[c].f64);
            else
                fprintf(f, ",%lld", (long long)cells[c].i64);
        }
    }
    if (fclose(f))
        fail(path, "cannot write");
}

int main(int argc, char **argv) {
    if (argc < 3)
        fail("usage", "export_bench FORMAT FILE [FILE.csv]");
    const struct pt_sink_type *type = pt_sink_find(pt_str_from(argv[1]));
    if (!type || !type->format)
        fail(argv[1], "no flat format");
    static struct export_data d;
    export_data_init(&d, ROWS);
    double best = 1e9;
    uint64_t bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double start = cpu_s();
        bytes = write_file(&d, type->format, argv[2]);
        double took = cpu_s() - start;
        best = took < best ? took : best;
    }
    if (argc > 3)
        write_csv(&d, argv[3]);
    printf("{\"rows\":%d,\"cpu_s\":%.4f,\"bytes\":%llu}\n", ROWS, best, (unsigned long long)bytes);
    export_data_release(&d);
    return 0;
}
