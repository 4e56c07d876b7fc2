/* Writes a run of any length: every table of Pitot's own schema that a machine without a GPU has,
 * gauges that wander, counters that grow by different amounts, a peak that lasts one sample.
 *     make_run JOURNAL SAMPLES */
#include "sampler/sampler.h"
#include "store/journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)

/* Rows of a table with keys. */
static const struct {
    const char *table;
    int rows;
} written[] = {
    { "cpu", 1 },       { "core", 4 },
    { "mem", 1 },       { "disk", 1 },
    { "drive", 2 },     { "net", 1 },
    { "interface", 2 }, { "pressure", 3 },
    { "container", 3 }, { "process_totals", 1 },
    { "engine", 1 },    { "collector", 2 },
};

static uint64_t seed = 1;

static double random_part(void) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* About 1 for a ratio, more for what is counted. */
static double scale_of(const struct pt_column *c) {
    return c->unit == PT_RATIO     ? 0.5
           : c->unit == PT_PERCENT ? 50
           : c->unit == PT_SECONDS ? 0.2
                                   : 1e6;
}

static double next_value(const struct pt_column *c, double *state, int tick, int count) {
    double scale = scale_of(c);
    if (c->kind == PT_COUNTER)
        return *state += floor(scale * random_part());
    double wave = 1 + 0.5 * sin(tick * 6.28 * 3 / count);
    return *state = tick == count / 2 ? 10 * scale : scale * (wave + 0.2 * random_part());
}

static void set_cell(struct pt_batch *b, int column, double value, int row) {
    const struct pt_column *c = &b->table->columns[column];
    char text[32];
    if (c->type == PT_F64) {
        pt_set_f64(b, column, value);
    } else if (c->type == PT_I64) {
        pt_set_i64(b, column, (int64_t)value);
    } else {
        int n = row == 0 && strcmp(b->table->name, "collector") == 0
                    ? snprintf(text, sizeof text, "pitot")
                    : snprintf(text, sizeof text, "%s-%d", b->table->name, row);
        pt_set_str(b, column, (struct pt_str){ text, (size_t)n });
    }
}

static double *fill_row(struct pt_batch *b, int row, double *state, int tick, int count,
                        int64_t mono_ns) {
    pt_batch_add_row(b);
    for (int i = 0; i < b->table->column_count; i++) {
        const struct pt_column *c = &b->table->columns[i];
        bool is_number = c->type != PT_STRING && (c->kind == PT_GAUGE || c->kind == PT_COUNTER);
        if (is_number || c->kind == PT_KEY)
            set_cell(b, i, is_number ? next_value(c, state, tick, count) : row, row);
        state++;
    }
    for (int i = 0; i < b->table->source_count; i++)
        pt_set_time(b, i, mono_ns);
    return state;
}

static void fill(struct pt_sample *s, double *state, int tick, int count) {
    pt_sample_clear(s);
    s->mono_ns = (tick + 1) * SECOND;
    s->wall_ns = INT64_C(1760000000) * SECOND + tick * SECOND;
    for (size_t k = 0; k < PT_COUNT(written); k++) {
        int table = pt_schema_find(s->schema, written[k].table);
        for (int row = 0; row < written[k].rows; row++)
            state = fill_row(&s->batches[table], row, state, tick, count, s->mono_ns);
    }
}

int main(int argc, char **argv) {
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    struct pt_schema schema = { tables, pt_sampler_tables(tables) };
    struct pt_journal journal = { 0 };
    struct pt_sample sample;
    struct pt_err err = { "" };
    const uint8_t uuid[16] = { 42 };
    int count = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (count < 1 || pt_journal_create(&journal, argv[1], uuid, &schema, &err)) {
        fprintf(stderr, "make_run: %s\n", err.text[0] ? err.text : "give a journal and a number");
        return 2;
    }
    double *state = pt_calloc(100000, sizeof *state);
    int rc = 0;
    pt_sample_init(&sample, &schema);
    for (int tick = 0; tick < count && !rc; tick++) {
        fill(&sample, state, tick, count);
        rc = pt_journal_write(&journal, &sample);
    }
    pt_sample_release(&sample);
    pt_free(state);
    if (pt_journal_close(&journal) || rc)
        return 1;
    return 0;
}
