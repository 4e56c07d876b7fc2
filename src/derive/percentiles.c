#include "derive/percentiles.h"

#include "derive/bucket_rows.h"

#include <string.h>

/* "engine_histogram ttft": the table, and which of the histograms of a row; a row may have one. */
static struct pt_str table_name(const struct pt_column *c) {
    return (struct pt_str){ c->histogram, strcspn(c->histogram, " ") };
}

static struct pt_str histogram_name(const struct pt_column *c) {
    const char *space = strchr(c->histogram, ' ');
    return space ? pt_str_from(space + 1) : PT_STR("");
}

static int find_histograms(const struct pt_schema *schema, const struct pt_table *table) {
    for (int c = 0; c < table->column_count; c++)
        for (uint32_t t = 0; table->columns[c].percentile && t < schema->table_count; t++)
            if (pt_str_eq(table_name(&table->columns[c]), pt_str_from(schema->tables[t]->name)))
                return (int)t;
    return -1;
}

void pt_percentiles_init(struct pt_percentiles *p, const struct pt_schema *schema,
                         const struct pt_table *table) {
    *p = (struct pt_percentiles){ .table = find_histograms(schema, table) };
    if (p->table < 0)
        return;
    const struct pt_table *histograms = schema->tables[p->table];
    p->first = pt_bucket_rows_find(histograms);
    p->name = pt_table_find_role(histograms, PT_ROLE_NAME);
    p->has_one_each = true;
    for (int c = 0; c < histograms->column_count; c++) {
        int of_row = histograms->columns[c].kind == PT_KEY
                         ? pt_table_find(table, histograms->columns[c].name)
                         : -1;
        p->has_one_each &= histograms->columns[c].kind != PT_KEY || of_row >= 0 || c == p->name;
        if (of_row < 0 || histograms->columns[c].type != table->columns[of_row].type)
            continue;
        if (p->key_count < PT_PERCENTILES_KEYS) {
            p->keys[p->key_count].of_row = of_row;
            p->keys[p->key_count++].of_bucket = c;
        }
    }
    if (p->first < 0 || p->name < 0 || histograms->columns[p->name].type != PT_STRING)
        p->table = -1;
}

static bool is_of_row(const struct pt_percentiles *p, const struct pt_batch *rows, uint32_t row,
                      const struct pt_batch *buckets, uint32_t bucket) {
    for (int i = 0; i < p->key_count; i++) {
        int a = p->keys[i].of_row, b = p->keys[i].of_bucket;
        bool is_null = pt_is_null(rows, row, a);
        if (is_null != pt_is_null(buckets, bucket, b))
            return false;
        if (is_null)
            continue;
        if (rows->table->columns[a].type == PT_STRING
                ? !pt_str_eq(pt_get_str(rows, row, a), pt_get_str(buckets, bucket, b))
                : pt_get_number(rows, row, a) != pt_get_number(buckets, bucket, b))
            return false;
    }
    return true;
}

bool pt_percentiles_add(const struct pt_percentiles *p, const struct pt_batch *rows, uint32_t row,
                        int column, const struct pt_batch *buckets,
                        struct pt_percentiles_growth *growth) {
    struct pt_str name = histogram_name(&rows->table->columns[column]);
    growth->from_ns = growth->to_ns = 0;
    for (uint32_t i = 0; i < buckets->row_count; i++) {
        if (name.len > 0 &&
            (pt_is_null(buckets, i, p->name) || !pt_str_eq(pt_get_str(buckets, i, p->name), name)))
            continue;
        if (!is_of_row(p, rows, row, buckets, i))
            continue;
        struct pt_bucket_time time = pt_bucket_row_time(buckets, i, p->first);
        pt_bucket_row_add_to(buckets, i, p->first, growth->histogram);
        growth->from_ns =
            growth->to_ns && growth->from_ns < time.from_ns ? growth->from_ns : time.from_ns;
        growth->to_ns = time.to_ns > growth->to_ns ? time.to_ns : growth->to_ns;
    }
    return growth->to_ns > 0;
}
