#include "format/rows/snapshot_histograms.h"

#include "base/digits.h"
#include "base/mem.h"
#include "derive/bucket_rows.h"
#include "derive/field.h"

#include <math.h>

void pt_snapshot_histograms_release(struct pt_snapshot_histograms *h) {
    for (size_t i = 0; i < h->count; i++)
        pt_classic_histogram_release(&h->list[i].histogram);
    pt_free(h->list);
    *h = (struct pt_snapshot_histograms){ 0 };
}

static struct pt_classic_histogram *named(struct pt_snapshot_histograms *h, struct pt_str name) {
    for (size_t i = 0; i < h->count; i++)
        if (pt_str_eq(pt_str_from(h->list[i].name), name))
            return &h->list[i].histogram;
    pt_grow(&h->list, &h->capacity, h->count + 1, sizeof *h->list);
    struct pt_snapshot_histogram *added = &h->list[h->count++];
    *added = (struct pt_snapshot_histogram){ 0 };
    pt_str_copy(added->name, sizeof added->name, name);
    return &added->histogram;
}

void pt_snapshot_histograms_add(struct pt_snapshot_histograms *h, const struct pt_sample *sample) {
    int table = pt_field_table(sample->schema, PT_FIELD_HISTOGRAM_NAME);
    if (table < 0)
        return;
    const struct pt_batch *rows = &sample->batches[table];
    int first = pt_bucket_rows_find(rows->table);
    int name = pt_field_column(rows->table, PT_FIELD_HISTOGRAM_NAME);
    if (first < 0 || name < 0 || rows->table->columns[name].type != PT_STRING)
        return;
    for (uint32_t row = 0; row < rows->row_count; row++)
        if (!pt_is_null(rows, row, name))
            pt_bucket_row_add_to(rows, row, first, named(h, pt_get_str(rows, row, name)));
}

static void write_bound(const struct pt_classic_histogram *h, double le, struct pt_json *j) {
    char text[PT_DIGITS_MAX + 1] = "+Inf";
    if (isfinite(le))
        text[pt_digits_f64(text, le)] = 0;
    pt_json_f64(j, text, pt_classic_histogram_count_to(h, le));
}

void pt_snapshot_histograms_write(const struct pt_snapshot_histograms *h, struct pt_json *j) {
    if (h->count == 0)
        return;
    pt_json_object(j, "histograms");
    for (size_t i = 0; i < h->count; i++) {
        const struct pt_classic_histogram *one = &h->list[i].histogram;
        pt_json_object(j, h->list[i].name);
        for (size_t b = 0; b < one->count && isfinite(one->buckets[b].le); b++)
            write_bound(one, one->buckets[b].le, j);
        write_bound(one, INFINITY, j);
        pt_json_end(j);
    }
    pt_json_end(j);
}
