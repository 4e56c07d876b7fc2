#include "report/latency_slots.h"

#include "base/mem.h"

#include <math.h>

void pt_report_latency_release(struct pt_report_latency *l) {
    for (size_t i = 0; i < l->count; i++)
        pt_free(l->buckets[i].counts);
    pt_free(l->buckets);
    *l = (struct pt_report_latency){ 0 };
}

static double *counts_of(struct pt_report_latency *l, const struct pt_curve_axis *axis,
                         double above, double le) {
    for (size_t i = 0; i < l->count; i++)
        if (l->buckets[i].above == above && l->buckets[i].le == le)
            return l->buckets[i].counts;
    pt_grow(&l->buckets, &l->capacity, l->count + 1, sizeof *l->buckets);
    double *counts = pt_calloc(axis->count, sizeof *counts);
    l->buckets[l->count++] = (struct pt_report_bucket){ above, le, counts };
    return counts;
}

void pt_report_latency_add(struct pt_report_latency *l, const struct pt_curve_axis *axis,
                           uint32_t slot, const struct pt_classic_histogram *grown) {
    for (size_t i = 0; i < grown->count; i++)
        if (grown->buckets[i].count != 0)
            counts_of(l, axis, i > 0 ? grown->buckets[i - 1].le : -INFINITY,
                      grown->buckets[i].le)[slot] += grown->buckets[i].count;
}

void pt_report_latency_draw(const struct pt_report_latency *l, const struct pt_curve_axis *axis,
                            double level, struct pt_curve *curve) {
    struct pt_classic_histogram in_slot = { 0 };
    pt_curve_release(curve);
    pt_curve_init(curve, axis->count);
    for (uint32_t slot = 0; slot < axis->count; slot++) {
        pt_classic_histogram_clear(&in_slot);
        for (size_t i = 0; i < l->count; i++)
            if (l->buckets[i].counts[slot] != 0)
                pt_classic_histogram_add(&in_slot, l->buckets[i].above, l->buckets[i].le,
                                         l->buckets[i].counts[slot]);
        if (in_slot.count > 0)
            pt_curve_add(curve, slot, pt_classic_histogram_quantile(&in_slot, level).value);
    }
    pt_classic_histogram_release(&in_slot);
}

void pt_report_latency_write(const struct pt_report_latency *l, const struct pt_curve_axis *axis,
                             const char *key, struct pt_json *j, struct pt_blob *blob) {
    double *slots = pt_calloc(axis->count, sizeof *slots);
    double *counts = pt_calloc(axis->count, sizeof *counts);
    pt_json_array(j, key);
    for (size_t i = 0; i < l->count; i++) {
        size_t count = 0;
        for (uint32_t slot = 0; slot < axis->count; slot++)
            if (l->buckets[i].counts[slot] != 0) {
                slots[count] = slot;
                counts[count++] = l->buckets[i].counts[slot];
            }
        pt_json_object(j, NULL);
        pt_json_f64(j, "above", l->buckets[i].above);
        pt_json_f64(j, "le", l->buckets[i].le);
        pt_json_i64(j, "count", (int64_t)count);
        pt_json_i64(j, "slots", (int64_t)pt_blob_add(blob, slots, count, 1, 0, PT_BLOB_EXACT));
        pt_json_i64(j, "counts", (int64_t)pt_blob_add(blob, counts, count, 1, 0, PT_BLOB_EXACT));
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_free(slots);
    pt_free(counts);
}
