/* Prints the quantiles of the latencies of a whole run, from its histograms:
 *
 *     print-quantiles RUN.pitot 0.5 0.99     ->     ttft 0.5 0.17500000000000002 0.1
 */
#include "derive/bucket_rows.h"
#include "store/journal.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES_MAX 64

static struct {
    char name[32];
    struct pt_classic_histogram histogram;
} latencies[NAMES_MAX];
static size_t latency_count;

static struct pt_classic_histogram *histogram_of(struct pt_str name) {
    for (size_t i = 0; i < latency_count; i++)
        if (pt_str_eq(name, pt_str_from(latencies[i].name)))
            return &latencies[i].histogram;
    if (latency_count == NAMES_MAX)
        exit(2);
    pt_str_copy(latencies[latency_count].name, sizeof latencies->name, name);
    return &latencies[latency_count++].histogram;
}

static void add_sample(const struct pt_sample *sample, int table) {
    const struct pt_batch *rows = &sample->batches[table];
    int first = pt_bucket_rows_find(rows->table), name = pt_table_find(rows->table, "hName");
    for (uint32_t i = 0; i < rows->row_count; i++)
        pt_bucket_row_add_to(rows, i, first, histogram_of(pt_get_str(rows, i, name)));
}

int main(int argc, char **argv) {
    struct pt_journal_reader reader;
    struct pt_sample sample;
    struct pt_err err = { "" };
    if (argc < 2 || pt_journal_open(&reader, argv[1], &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    int table = pt_schema_find(&reader.schema, "engine_histogram");
    if (table < 0)
        return 2;
    pt_sample_init(&sample, &reader.schema);
    while (pt_journal_next(&reader, &sample) > 0)
        add_sample(&sample, table);
    for (size_t i = 0; i < latency_count; i++) {
        for (int a = 2; a < argc; a++) {
            struct pt_quantile q =
                pt_classic_histogram_quantile(&latencies[i].histogram, strtod(argv[a], NULL));
            printf("%s %s %.17g %.17g\n", latencies[i].name, argv[a], q.value, q.width);
        }
        pt_classic_histogram_release(&latencies[i].histogram);
    }
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    return 0;
}
