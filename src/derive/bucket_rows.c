#include "derive/bucket_rows.h"

#include <math.h>

enum { ABOVE, LE, COUNT, SECONDS, COLUMN_COUNT };

void pt_bucket_row_set(struct pt_batch *rows, int first, double above, double le, int64_t count,
                       double seconds) {
    pt_set_f64(rows, first + ABOVE, above);
    pt_set_f64(rows, first + LE, le);
    pt_set_i64(rows, first + COUNT, count);
    pt_set_f64(rows, first + SECONDS, round(seconds * 1000) / 1000); /* small in the journal */
}

int pt_bucket_rows_find(const struct pt_table *table) {
    static const struct {
        const char *name;
        enum pt_type type;
    } columns[COLUMN_COUNT] = {
        [ABOVE] = { "hAbove", PT_F64 },
        [LE] = { "hLe", PT_F64 },
        [COUNT] = { "hCount", PT_I64 },
        [SECONDS] = { "hSeconds", PT_F64 },
    };
    int first = pt_table_find(table, columns[0].name);
    for (int i = 0; first >= 0 && i < COLUMN_COUNT; i++)
        if (pt_table_find(table, columns[i].name) != first + i ||
            table->columns[first + i].type != columns[i].type)
            return -1;
    return first;
}

void pt_bucket_row_add_to(const struct pt_batch *rows, uint32_t row, int first,
                          struct pt_classic_histogram *into) {
    bool has_above = !pt_is_null(rows, row, first + ABOVE);
    bool has_le = !pt_is_null(rows, row, first + LE);
    if (!pt_is_null(rows, row, first + COUNT))
        pt_classic_histogram_add(into, has_above ? pt_get_f64(rows, row, first + ABOVE) : -INFINITY,
                                 has_le ? pt_get_f64(rows, row, first + LE) : INFINITY,
                                 (double)pt_get_i64(rows, row, first + COUNT));
}

struct pt_bucket_time pt_bucket_row_time(const struct pt_batch *rows, uint32_t row, int first) {
    int64_t to_ns = pt_get_time(rows, row, rows->table->columns[first + COUNT].source);
    bool has_seconds = !pt_is_null(rows, row, first + SECONDS);
    double seconds = has_seconds ? pt_get_f64(rows, row, first + SECONDS) : 0;
    return (struct pt_bucket_time){ to_ns - (int64_t)(seconds * 1e9), to_ns };
}
