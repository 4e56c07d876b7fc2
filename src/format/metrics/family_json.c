/* format/metrics/family_json.c -- a family as a JSON object.
 *
 *     {"name":"requests_total","kind":"counter","unit":"","help":"Total requests",
 *      "series":[{"labels":{"model":"a"},"value":12}]}
 *
 * Series of histograms have count, sum and quantiles instead of the value; null is unknown. */
#include "format/metrics/family_writers.h"

#include "base/digits.h"
#include "format/metrics/label.h"

#define TEXT_MAX 1024

static void put_labels(struct pt_json *j, struct pt_str labels) {
    struct pt_str name, value;
    char key[TEXT_MAX], text[TEXT_MAX];
    pt_json_object(j, "labels");
    while (pt_labels_next(&labels, &name, &value))
        if (name.len < sizeof key && value.len <= sizeof text)
            pt_json_str(j, pt_str_copy(key, sizeof key, name), pt_label_unescape(value, text));
    pt_json_end(j);
}

/* Above the range of a signed integer. */
static void put_u64(struct pt_json *j, const char *key, uint64_t value) {
    char digits[PT_DIGITS_MAX];
    pt_json_raw(j, key, (struct pt_str){ digits, pt_digits_u64(digits, value) });
}

static void put_distribution(struct pt_json *j, const struct pt_distribution *d) {
    static const struct {
        const char *key;
        double q;
    } quantiles[] = {
        { "p50", .5 },  { "p75", .75 }, { "p90", .9 },
        { "p95", .95 }, { "p99", .99 }, { "p99.9", .999 },
    };
    put_u64(j, "count", d->count);
    pt_json_f64(j, "sum", d->sum);
    for (size_t i = 0; i < PT_COUNT(quantiles); i++)
        pt_json_f64(j, quantiles[i].key, pt_bucket_quantile(d->buckets, d->used, quantiles[i].q));
}

static void put_series(struct pt_json *j, const struct pt_series *series) {
    pt_json_object(j, NULL);
    put_labels(j, series->labels);
    if (series->distribution)
        put_distribution(j, series->distribution);
    else if (series->is_integer)
        put_u64(j, "value", series->integer);
    else
        pt_json_f64(j, "value", series->value);
    pt_json_end(j);
}

void pt_family_json(struct pt_json *j, const struct pt_family *family) {
    static const char *const kinds[] = {
        [PT_FAMILY_COUNTER] = "counter",
        [PT_FAMILY_GAUGE] = "gauge",
        [PT_FAMILY_HISTOGRAM] = "histogram",
    };
    char name[TEXT_MAX];
    size_t length = strlen(pt_str_copy(name, sizeof name - sizeof "_total", family->name));
    if (family->kind == PT_FAMILY_COUNTER)
        memcpy(name + length, "_total", sizeof "_total");
    pt_json_object(j, NULL);
    pt_json_text(j, "name", name);
    pt_json_text(j, "kind", kinds[family->kind]);
    pt_json_str(j, "unit", family->unit);
    pt_json_str(j, "help", family->help);
    pt_json_array(j, "series");
    for (size_t i = 0; i < family->series_count; i++)
        put_series(j, &family->series[i]);
    pt_json_end(j);
    pt_json_end(j);
}
