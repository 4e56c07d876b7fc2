#include "export_data.h"

#include <math.h>

/* How one column moves from row to row. */
enum shape { TIMES, COUNTER, CONSTANT, WALK, LEVEL, RARE, NOISE, BURST };

struct recipe {
    int count;
    enum shape shape;
    int decimals;       /* 0: an integer column */
    double start, step; /* in units of the last decimal */
    double low, high;
};

/* timestamp and monotonic_ns come first; these are the other 98. */
static const struct recipe recipes[] = {
    { 6, COUNTER, 0, 1e6, 6, 0, 0 },         /* a few events per second */
    { 6, COUNTER, 0, 1e9, 300, 0, 0 },       /* context switches, interrupts */
    { 6, LEVEL, 0, 1e7, 100, 0, 400 },       /* CPU time in cs, follows the load */
    { 8, BURST, 0, 1e10, 4096, 0, 0 },       /* disk and network bytes: idle, then bursts */
    { 6, CONSTANT, 0, 33554432, 0, 0, 0 },   /* totals and limits */
    { 4, WALK, 0, 240, 1, 100, 400 },        /* processes, threads, connections */
    { 4, NOISE, 0, 0, 0, 0, 8 },             /* run queue */
    { 4, WALK, 0, 6000, 12, 2000, 30000 },   /* memory in MB */
    { 4, WALK, 0, 2900, 15, 2400, 3400 },    /* clock frequency */
    { 4, WALK, 1, 450, 1, 200, 900 },        /* temperatures */
    { 6, WALK, 2, 150, 3, 0, 6400 },         /* load averages */
    { 8, WALK, 3, 35000, 25, 0, 100000 },    /* slow percentages */
    { 4, LEVEL, 1, 300, 20, 0, 1000 },       /* utilisation, one decimal */
    { 6, LEVEL, 2, 4000, 120, 0, 10000 },    /* utilisation, two decimals */
    { 4, LEVEL, 3, 50000, 300, 0, 100000 },  /* utilisation, three decimals */
    { 13, RARE, 2, 1500, 100, 0, 10000 },    /* near-constants */
    { 2, NOISE, 3, 0, 0, 0, 1000 },          /* ratios */
    { 2, LEVEL, 2, 13000, 80, 5000, 20000 }, /* power in W */
    { 1, NOISE, 3, 0, 0, 0, 100000 },        /* percentages without memory */
};

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

/* About normal, mean 0 and deviation 1: twelve uniforms are near enough. */
static double normal(uint64_t *state) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum;
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value + 0.0; /* and no -0.0 */
}

/* State of one column while its rows are made. */
struct walk {
    uint64_t random;
    double value, level;
    int burst_left;
};

static double next_value(const struct recipe *r, struct walk *w) {
    switch (r->shape) {
    case COUNTER:
        return w->value +=
               floor(r->step * (0.5 + uniform(&w->random) + fabs(normal(&w->random)) / 2));
    case WALK:
        return w->value = clamp(round(w->value + r->step * normal(&w->random)), r->low, r->high);
    case LEVEL:
        if (uniform(&w->random) < 0.001)
            w->level = r->low + uniform(&w->random) * (r->high - r->low);
        return clamp(round(w->level + r->step * normal(&w->random)), r->low, r->high);
    case RARE:
        if (uniform(&w->random) < 0.01)
            w->value = clamp(w->value + round(r->step * normal(&w->random)), r->low, r->high);
        return w->value;
    case NOISE:
        return r->low + floor(uniform(&w->random) * (r->high - r->low));
    case BURST:
        if (w->burst_left == 0 && uniform(&w->random) < 0.05)
            w->burst_left = 1 + (int)(uniform(&w->random) * 20);
        if (w->burst_left > 0) {
            w->burst_left--;
            w->value += r->step * floor(1 + 200 * uniform(&w->random) * uniform(&w->random));
        }
        return w->value;
    default:
        return r->start;
    }
}

static const struct recipe *recipe_of(uint32_t column) {
    int left = (int)column - 2;
    for (size_t i = 0; i < PT_COUNT(recipes); i++) {
        if (left < recipes[i].count)
            return &recipes[i];
        left -= recipes[i].count;
    }
    return NULL;
}

int export_data_decimals(uint32_t column) {
    return column < 2 ? 0 : recipe_of(column)->decimals;
}

static void fill_column(struct export_data *d, uint32_t column) {
    static const double scale[] = { 1, 10, 100, 1000 };
    const struct recipe *r = recipe_of(column);
    struct walk w = { .random = column * 7919u, .value = r->start, .level = r->start };
    double total = r->start;
    for (uint32_t row = 0; row < d->row_count; row++) {
        union pt_cell *cell = &d->cells[(size_t)row * EXPORT_DATA_COLUMNS + column];
        double value = next_value(r, &w);
        if (r->decimals > 0)
            cell->f64 = value / scale[r->decimals];
        else if (r->shape == LEVEL)
            cell->i64 = (int64_t)(total += value);
        else
            cell->i64 = (int64_t)value;
    }
}

static void fill_times(struct export_data *d) {
    uint64_t random = 1;
    for (uint32_t row = 0; row < d->row_count; row++) {
        union pt_cell *cells = &d->cells[(size_t)row * EXPORT_DATA_COLUMNS];
        int64_t late_ns = (int64_t)(fabs(normal(&random)) * 40000 + 60000);
        cells[1].i64 = INT64_C(86400000000000) + row * INT64_C(1000000000) + late_ns;
        cells[0].i64 = cells[1].i64 + INT64_C(1750000000000000000);
    }
}

static void describe_columns(struct export_data *d) {
    for (uint32_t i = 2; i < EXPORT_DATA_COLUMNS; i++) {
        bool is_double = recipe_of(i)->decimals > 0;
        d->columns[i - 2] = (struct pt_column){ .name = pt_asprintf("c%u", i),
                                                .short_name = "c",
                                                .kind = PT_INFO,
                                                .type = is_double ? PT_F64 : PT_I64,
                                                .help = "a column of the benchmark" };
    }
}

void export_data_init(struct export_data *d, uint32_t row_count) {
    *d = (struct export_data){ .row_count = row_count };
    describe_columns(d);
    d->table = (struct pt_table){ .name = "bench",
                                  .file = "",
                                  .help = "bench",
                                  .columns = d->columns,
                                  .column_count = EXPORT_DATA_COLUMNS - 2,
                                  .is_untimed = true };
    d->tables[0] = &d->table;
    d->schema = (struct pt_schema){ d->tables, 1 };
    pt_views_init(&d->views, &d->schema);
    d->cells = pt_calloc((size_t)row_count * EXPORT_DATA_COLUMNS, sizeof *d->cells);
    fill_times(d);
    for (uint32_t i = 2; i < EXPORT_DATA_COLUMNS; i++)
        fill_column(d, i);
}

void export_data_release(struct export_data *d) {
    pt_views_release(&d->views);
    for (uint32_t i = 0; i + 2 < EXPORT_DATA_COLUMNS; i++)
        pt_free((char *)d->columns[i].name);
    pt_free(d->cells);
}
