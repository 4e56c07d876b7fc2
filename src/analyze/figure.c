#include "analyze/figure.h"

#include <stdio.h>

const struct pt_figure pt_figures[PT_FIGURE_COUNT] = {
#define FIGURE(constant, label, format, together, kind, table, column, factor) \
    { label, PT_FORMAT_##format, PT_##together, PT_FIGURE_IS_##kind, table, column, factor },
    PT_FIGURES(FIGURE)
};

/* Input columns: one per figure, then those of computed figures. */
enum input {
    IN_USER = PT_FIGURE_COUNT,
    IN_KERNEL,
    IN_NICE,
    IN_IRQ,
    IN_SOFTIRQ,
    IN_STEAL,
    IN_IDLE,
    IN_IOWAIT,
    IN_TREE_CPU,
    IN_GROUP_CPU,
    IN_GROUP_IS_RECORDED,
    INPUT_COUNT
};
_Static_assert(INPUT_COUNT == PT_FIGURE_INPUTS, "space for all inputs");

struct input_column {
    const char *table, *column;
};

static struct input_column input_column(int input) {
    static const struct input_column computed[] = {
        [IN_USER - PT_FIGURE_COUNT] = { "cpu", "vCpuTimeUserMode" },
        [IN_KERNEL - PT_FIGURE_COUNT] = { "cpu", "vCpuTimeKernelMode" },
        [IN_NICE - PT_FIGURE_COUNT] = { "cpu", "vCpuNice" },
        [IN_IRQ - PT_FIGURE_COUNT] = { "cpu", "vCpuTimeIntSrvc" },
        [IN_SOFTIRQ - PT_FIGURE_COUNT] = { "cpu", "vCpuTimeSoftIntSrvc" },
        [IN_STEAL - PT_FIGURE_COUNT] = { "cpu", "vCpuSteal" },
        [IN_IDLE - PT_FIGURE_COUNT] = { "cpu", "vCpuIdleTime" },
        [IN_IOWAIT - PT_FIGURE_COUNT] = { "cpu", "vCpuTimeIOWait" },
        [IN_TREE_CPU - PT_FIGURE_COUNT] = { "process_totals", "pTreeCpuTime" },
        [IN_GROUP_CPU - PT_FIGURE_COUNT] = { "container", "cCpuTime" },
        [IN_GROUP_IS_RECORDED - PT_FIGURE_COUNT] = { "container", "cIsRecorded" },
    };
    return input < PT_FIGURE_COUNT
               ? (struct input_column){ pt_figures[input].table, pt_figures[input].column }
               : computed[input - PT_FIGURE_COUNT];
}

static const struct {
    const char *suffix;
    double factor;
} byte_units[] = { { "B", 1 },
                   { "KiB", 1024 },
                   { "MiB", 1048576 },
                   { "GiB", 1073741824 },
                   { "TiB", 1099511627776.0 } };

/* Limits apply to the rounded number: 1 MiB, not 1024 KiB; 10 MiB, not 10.0 MiB. */
static void print_bytes(double value, const char *per, char *into, size_t capacity) {
    size_t i = 0;
    while (i + 1 < PT_COUNT(byte_units) && value / byte_units[i].factor >= 1023.5)
        i++;
    value /= byte_units[i].factor;
    snprintf(into, capacity, value < 9.95 && i > 0 ? "%.1f %s%s" : "%.0f %s%s", value,
             byte_units[i].suffix, per);
}

void pt_figure_print(enum pt_figure_format format, double value, char *into, size_t capacity) {
    switch (format) {
    case PT_FORMAT_PERCENT:
        snprintf(into, capacity, "%.1f %%", value);
        return;
    case PT_FORMAT_BYTES:
        print_bytes(value, "", into, capacity);
        return;
    case PT_FORMAT_BYTES_PER_S:
        print_bytes(value, "/s", into, capacity);
        return;
    case PT_FORMAT_PLAIN:
        snprintf(into, capacity, "%.2f", value);
        return;
    case PT_FORMAT_PER_S:
        snprintf(into, capacity, "%.1f /s", value);
        return;
    case PT_FORMAT_SECONDS:
        snprintf(into, capacity, value < 1 ? "%.1f ms" : "%.2f s",
                 value < 1 ? value * 1000 : value);
        return;
    }
}

void pt_figure_reader_init(struct pt_figure_reader *r, const struct pt_schema *schema) {
    *r = (struct pt_figure_reader){ .schema = schema };
    pt_sample_init(&r->previous, schema);
    for (int i = 0; i < INPUT_COUNT; i++) {
        struct input_column input = input_column(i);
        int table = input.table ? pt_schema_find(schema, input.table) : -1;
        r->places[i].table = table;
        r->places[i].column = table < 0 ? -1 : pt_table_find(schema->tables[table], input.column);
        bool is_new = table >= 0;
        for (int k = 0; k < r->table_count; k++)
            is_new &= r->tables[k] != table;
        if (is_new)
            r->tables[r->table_count++] = table;
    }
}

void pt_figure_reader_release(struct pt_figure_reader *r) {
    pt_sample_release(&r->previous);
}

static const struct pt_batch *batch_of(const struct pt_figure_reader *r,
                                       const struct pt_sample *sample, int input) {
    return r->places[input].column < 0 ? NULL : &sample->batches[r->places[input].table];
}

static bool value_in(const struct pt_figure_reader *r, const struct pt_sample *sample, int input,
                     uint32_t row, double *value) {
    const struct pt_batch *b = batch_of(r, sample, input);
    int column = r->places[input].column;
    if (!b || row >= b->row_count || pt_is_null(b, row, column))
        return false;
    *value = pt_get_number(b, row, column);
    return true;
}

static int64_t time_in(const struct pt_figure_reader *r, const struct pt_sample *sample, int input,
                       uint32_t row) {
    const struct pt_batch *b = batch_of(r, sample, input);
    return pt_get_time(b, row, b->table->columns[r->places[input].column].source);
}

/* Growth of a counter between two samples; unknown if it fell, because then it was reset. */
static bool growth(const struct pt_figure_reader *r, const struct pt_sample *now, int input,
                   double *value) {
    double before, after;
    if (!value_in(r, &r->previous, input, 0, &before) || !value_in(r, now, input, 0, &after) ||
        after < before)
        return false;
    *value = after - before;
    return true;
}

/* Growth per second, by the times of the two reads. */
static bool rate(const struct pt_figure_reader *r, const struct pt_sample *now, int input,
                 double *value, double *seconds) {
    double grown;
    if (!growth(r, now, input, &grown))
        return false;
    double elapsed = (double)(time_in(r, now, input, 0) - time_in(r, &r->previous, input, 0)) / 1e9;
    if (elapsed <= 0)
        return false;
    *value = grown / elapsed;
    *seconds = elapsed;
    return true;
}

/* CPU times that the kernel does not count are 0. Idle times can decrease slightly; if another time
 * decreases, the two samples belong to different counts. */
static bool cpu_busy(const struct pt_figure_reader *r, const struct pt_sample *now, double *value) {
    double busy = 0, total = 0, part, any;
    for (int i = IN_USER; i <= IN_IOWAIT; i++) {
        bool is_idle = i == IN_IDLE || i == IN_IOWAIT;
        if (growth(r, now, i, &part)) {
            total += part;
            busy += is_idle ? 0 : part;
        } else if (!is_idle &&
                   (value_in(r, &r->previous, i, 0, &any) || value_in(r, now, i, 0, &any))) {
            return false;
        }
    }
    if (total <= 0)
        return false;
    *value = busy / total * 100;
    return true;
}

/* The row of the recorded command's own cgroup: the marked one that counts CPU. */
static bool group_row(const struct pt_figure_reader *r, const struct pt_sample *s, uint32_t *row) {
    const struct pt_batch *b = batch_of(r, s, IN_GROUP_IS_RECORDED);
    double is_recorded, cpu;
    for (uint32_t i = 0; b && i < b->row_count; i++)
        if (value_in(r, s, IN_GROUP_IS_RECORDED, i, &is_recorded) && is_recorded == 1 &&
            value_in(r, s, IN_GROUP_CPU, i, &cpu))
            return *row = i, true;
    return false;
}

static bool group_cpu(const struct pt_figure_reader *r, const struct pt_sample *now, double *value,
                      double *seconds) {
    uint32_t before_row, after_row;
    double before, after;
    if (!group_row(r, &r->previous, &before_row) || !group_row(r, now, &after_row) ||
        !value_in(r, &r->previous, IN_GROUP_CPU, before_row, &before) ||
        !value_in(r, now, IN_GROUP_CPU, after_row, &after) || after < before)
        return false;
    int64_t elapsed_ns = time_in(r, now, IN_GROUP_CPU, after_row) -
                         time_in(r, &r->previous, IN_GROUP_CPU, before_row);
    if (elapsed_ns <= 0)
        return false;
    *value = (after - before) / (double)elapsed_ns * 100;
    *seconds = (double)elapsed_ns / 1e9;
    return true;
}

static bool command_cpu(const struct pt_figure_reader *r, const struct pt_sample *now,
                        double *value, double *seconds) {
    if (group_cpu(r, now, value, seconds))
        return true;
    if (!rate(r, now, IN_TREE_CPU, value, seconds))
        return false;
    *value /= 1e7; /* nanoseconds per second to percent of one CPU */
    return true;
}

/* Over all rows of a table: the mean, or the sum. */
static bool rows_of(const struct pt_figure_reader *r, const struct pt_sample *now, int input,
                    bool is_mean, double *value) {
    const struct pt_batch *b = batch_of(r, now, input);
    double sum = 0, one;
    uint32_t count = 0;
    for (uint32_t i = 0; b && i < b->row_count; i++)
        if (value_in(r, now, input, i, &one)) {
            sum += one;
            count++;
        }
    if (count == 0)
        return false;
    *value = is_mean ? sum / count : sum;
    return true;
}

static bool compute(const struct pt_figure_reader *r, const struct pt_sample *now, int figure,
                    double *value, double *seconds) {
    switch (pt_figures[figure].kind) {
    case PT_FIGURE_IS_GAUGE:
        return value_in(r, now, figure, 0, value);
    case PT_FIGURE_IS_RATE:
        return r->has_previous && rate(r, now, figure, value, seconds);
    case PT_FIGURE_IS_MEAN:
    case PT_FIGURE_IS_SUM:
        return rows_of(r, now, figure, pt_figures[figure].kind == PT_FIGURE_IS_MEAN, value);
    case PT_FIGURE_IS_COMPUTED:
        if (!r->has_previous)
            return false;
        return figure == PT_FIGURE_CPU ? cpu_busy(r, now, value)
                                       : command_cpu(r, now, value, seconds);
    }
    return false;
}

bool pt_figure_reader_next(struct pt_figure_reader *r, const struct pt_sample *sample) {
    bool has_rows = false;
    for (int i = 0; i < r->table_count; i++)
        has_rows |= sample->batches[r->tables[i]].row_count > 0;
    if (!has_rows)
        return false;
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        r->seconds[f] = r->has_previous ? (double)(sample->mono_ns - r->previous.mono_ns) / 1e9 : 0;
        r->is_known[f] = compute(r, sample, f, &r->values[f], &r->seconds[f]);
        if (r->is_known[f])
            r->values[f] *= pt_figures[f].factor;
    }
    r->previous.wall_ns = sample->wall_ns;
    r->previous.mono_ns = sample->mono_ns;
    /* a table that was not sampled this time keeps its older rows */
    for (int i = 0; i < r->table_count; i++)
        if (sample->batches[r->tables[i]].row_count > 0)
            pt_batch_copy(&r->previous.batches[r->tables[i]], &sample->batches[r->tables[i]]);
    r->has_previous = true;
    return true;
}
