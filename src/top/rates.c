#include "top/rates.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>

/* A table without rows is empty now, unless its collector is sampled less often. */
#define KEPT_NS        (3 * PT_NS_PER_SECOND)
#define KEPT_INTERVALS 3

void pt_rates_init(struct pt_rates *r, const struct pt_schema *schema) {
    *r = (struct pt_rates){ .schema = schema };
    r->tables = pt_calloc(schema->table_count, sizeof *r->tables);
    r->before = pt_calloc(schema->table_count, sizeof *r->before);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        pt_batch_init(&r->tables[t].rows, schema->tables[t]);
        pt_batch_init(&r->before[t].rows, schema->tables[t]);
    }
}

static void release_tables(struct pt_rates_table *tables, uint32_t count) {
    for (uint32_t t = 0; t < count; t++) {
        pt_batch_release(&tables[t].rows);
        pt_free(tables[t].values);
    }
    pt_free(tables);
}

void pt_rates_release(struct pt_rates *r) {
    release_tables(r->tables, r->schema->table_count);
    release_tables(r->before, r->schema->table_count);
    *r = (struct pt_rates){ 0 };
}

void pt_rates_clear(struct pt_rates *r) {
    for (uint32_t t = 0; t < r->schema->table_count; t++)
        pt_batch_clear(&r->tables[t].rows);
    r->mono_ns = r->interval_ns = 0;
}

static bool is_same_cell(const struct pt_batch *a, uint32_t a_row, const struct pt_batch *b,
                         uint32_t b_row, int column) {
    bool is_null = pt_is_null(a, a_row, column);
    if (is_null || pt_is_null(b, b_row, column))
        return is_null && pt_is_null(b, b_row, column);
    if (a->table->columns[column].type == PT_STRING)
        return pt_str_eq(pt_get_str(a, a_row, column), pt_get_str(b, b_row, column));
    return pt_get_i64(a, a_row, column) == pt_get_i64(b, b_row, column);
}

static bool has_same_key(const struct pt_batch *a, uint32_t a_row, const struct pt_batch *b,
                         uint32_t b_row) {
    for (int c = 0; c < a->table->column_count; c++)
        if (a->table->columns[c].kind == PT_KEY && !is_same_cell(a, a_row, b, b_row, c))
            return false;
    return true;
}

/* Rows come in the same order each time: try the row after the last match first. */
static bool find_before(const struct pt_batch *before, const struct pt_batch *rows, uint32_t row,
                        uint32_t *hint, uint32_t *found) {
    for (uint32_t i = 0; i < before->row_count; i++) {
        uint32_t at = (*hint + i) % before->row_count;
        if (!has_same_key(rows, row, before, at))
            continue;
        *found = at;
        *hint = at + 1;
        return true;
    }
    return false;
}

static double rate_of(const struct pt_rates_table *before, uint32_t old_row,
                      const struct pt_batch *rows, uint32_t row, int column) {
    const struct pt_column *c = &rows->table->columns[column];
    if (pt_is_null(&before->rows, old_row, column))
        return NAN;
    int64_t elapsed_ns =
        pt_get_time(rows, row, c->source) - pt_get_time(&before->rows, old_row, c->source);
    if (elapsed_ns == 0)
        return before->values[(size_t)old_row * rows->table->column_count + (size_t)column];
    double growth =
        pt_get_number(rows, row, column) - pt_get_number(&before->rows, old_row, column);
    if (elapsed_ns < 0 || growth < 0)
        return NAN;
    return growth * pt_units[c->unit].prometheus_factor / ((double)elapsed_ns / 1e9);
}

static void fill_row(struct pt_rates_table *now, const struct pt_rates_table *before, uint32_t row,
                     uint32_t *hint) {
    const struct pt_table *table = now->rows.table;
    double *values = now->values + (size_t)row * table->column_count;
    uint32_t old_row = 0;
    bool has_before = find_before(&before->rows, &now->rows, row, hint, &old_row);
    for (int c = 0; c < table->column_count; c++) {
        const struct pt_column *column = &table->columns[c];
        if (column->type == PT_STRING || pt_is_null(&now->rows, row, c))
            values[c] = NAN;
        else if (column->kind == PT_COUNTER)
            values[c] = has_before ? rate_of(before, old_row, &now->rows, row, c) : NAN;
        else if (column->kind == PT_GAUGE)
            values[c] =
                pt_get_number(&now->rows, row, c) * pt_units[column->unit].prometheus_factor;
        else
            values[c] = pt_get_number(&now->rows, row, c);
    }
}

static void add_table(struct pt_rates *r, uint32_t t, const struct pt_batch *rows) {
    struct pt_rates_table old = r->tables[t];
    r->tables[t] = r->before[t];
    r->before[t] = old;
    struct pt_rates_table *now = &r->tables[t];
    pt_batch_copy(&now->rows, rows);
    now->seen_ns = r->mono_ns;
    pt_grow(&now->values, &now->value_capacity, (size_t)rows->row_count * rows->table->column_count,
            sizeof *now->values);
    uint32_t hint = 0;
    for (uint32_t row = 0; row < rows->row_count; row++)
        fill_row(now, &r->before[t], row, &hint);
}

/* Tables of events have rows only when something happens. */
static bool is_lasting(const struct pt_table *table) {
    static const char *const lasting[] = { "collector", "mark", "alert" };
    for (size_t i = 0; i < PT_COUNT(lasting); i++)
        if (strcmp(table->name, lasting[i]) == 0)
            return true;
    return false;
}

void pt_rates_add(struct pt_rates *r, const struct pt_sample *sample) {
    r->interval_ns = r->mono_ns ? sample->mono_ns - r->mono_ns : 0;
    r->mono_ns = sample->mono_ns;
    r->wall_ns = sample->wall_ns;
    int64_t kept_ns = KEPT_INTERVALS * r->interval_ns;
    if (kept_ns < KEPT_NS)
        kept_ns = KEPT_NS;
    for (uint32_t t = 0; t < r->schema->table_count; t++)
        if (sample->batches[t].row_count > 0)
            add_table(r, t, &sample->batches[t]);
        else if (r->mono_ns - r->tables[t].seen_ns > kept_ns && !is_lasting(r->schema->tables[t]))
            pt_batch_clear(&r->tables[t].rows);
}

double pt_rates_find(const struct pt_rates *r, const char *table, const char *column) {
    int t = pt_schema_find(r->schema, table);
    int c = t < 0 ? -1 : pt_table_find(r->schema->tables[t], column);
    return c < 0 || pt_rates_rows(r, t)->row_count == 0 ? NAN : pt_rates_at(r, t, 0, c);
}
