/* Any bytes as an exposition: the cursor stays inside, a failure sticks, and a line that was taken
 * by comparing it with the ones before is what it is when taken alone. */
#include "source/engine/bucket_growth.h"
#include "source/engine/promtext.h"
#include "support/promcheck.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_piece(struct pt_str piece, struct pt_str body) {
    assert(piece.len == 0 || (piece.at >= body.at && piece.at + piece.len <= body.at + body.len));
}

static bool is_same_number(double a, double b) {
    return a == b || (a != a && b != b);
}

static void check_alone(const struct pt_promtext *p, const char *line, struct pt_str body) {
    static struct pt_promtext alone;
    const struct pt_promtext_item *a = &p->item, *b = &alone.item;
    pt_promtext_init(&alone, (struct pt_str){ line, (size_t)(p->at - line) }, p->is_openmetrics,
                     NULL);
    int rc = pt_promtext_next(&alone);
    assert(rc == 1);
    assert(a->kind == b->kind && pt_str_eq(a->name, b->name));
    assert(a->name_is_escaped == b->name_is_escaped);
    assert(a->kind == PT_PROMTEXT_SAMPLE || pt_str_eq(a->text, b->text));
    if (a->kind != PT_PROMTEXT_SAMPLE)
        return;
    assert(is_same_number(a->value, b->value));
    assert(a->has_timestamp == b->has_timestamp && a->has_exemplar == b->has_exemplar);
    assert(pt_str_eq(a->label_text, b->label_text));
    assert(a->label_count == b->label_count && a->exemplar_label_count == b->exemplar_label_count);
    for (int i = 0; i < a->label_count + a->exemplar_label_count; i++) {
        check_piece(pt_promtext_label_value(a, i), body);
        assert(pt_str_eq(pt_promtext_label_name(a, i), pt_promtext_label_name(b, i)));
        assert(pt_str_eq(pt_promtext_label_value(a, i), pt_promtext_label_value(b, i)));
        assert(a->list->labels[i].value_is_escaped == b->list->labels[i].value_is_escaped);
    }
}

static void check_text(struct pt_str body, bool is_openmetrics) {
    static struct pt_promtext p;
    struct pt_str previous = PT_STR("");
    int rc;
    pt_promtext_init(&p, body, is_openmetrics, NULL);
    while ((rc = pt_promtext_next(&p)) > 0) {
        check_piece(p.item.name, body);
        check_alone(&p, p.line_start, body);
        assert(!p.item.is_same_name || pt_str_eq(p.item.name, previous));
        previous = p.item.name;
    }
    assert(rc == p.error && rc == pt_promtext_next(&p));
    assert(rc == 0 || (p.reason && p.error_line == p.line && p.error_column > 0));
    struct pt_err err;
    int verdict = pt_promcheck_text(body, is_openmetrics, &err);
    assert(rc == 0 || verdict != 0); /* the check allows no more than the grammar */
}

/* Of all events so far. */
static void check_growth(const struct pt_engine_reading *reading) {
    static struct pt_engine_delta delta;
    static struct pt_bucket_growths growths;
    static const struct pt_engine_histogram none;
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++) {
        const struct pt_engine_histogram *h = &reading->latencies[i];
        pt_engine_histogram_growth(&none, h, &delta.latencies[i]);
        for (size_t j = 1; j < delta.latencies[i].count; j++)
            assert(delta.latencies[i].buckets[j - 1].le < delta.latencies[i].buckets[j].le);
        (void)pt_classic_histogram_quantile(&delta.latencies[i], 0);
        (void)pt_classic_histogram_quantile(&delta.latencies[i], 0.5);
        (void)pt_classic_histogram_quantile(&delta.latencies[i], 1);
    }
    pt_bucket_growths_clear(&growths);
    pt_bucket_growths_add(&growths, 0, &delta, 0, 8);
}

static void check_reading(struct pt_str body) {
    static struct pt_engine_parser parser;
    static struct pt_engine_reading reading;
    static struct pt_engine_delta delta;
    if (pt_engine_parse(&parser, body, &reading, NULL))
        assert(reading.present == 0 && reading.kind == PT_ENGINE_UNKNOWN);
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        for (size_t j = 1; j < reading.latencies[i].count; j++)
            assert(reading.latencies[i].buckets[j - 1].le < reading.latencies[i].buckets[j].le);
    pt_engine_delta(&reading, &reading, &delta);
    assert(!delta.was_reset);
    check_growth(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str body = { (const char *)data, size };
    check_text(body, false);
    check_text(body, true);
    check_reading(body);
    return 0;
}
