#include "serve/history_figures.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/out.h"
#include "serve/number.h"
#include "store/segments.h"

/* A figure in one step. */
struct point {
    double sum, weight, low, high;
    struct pt_classic_histogram histogram; /* of a quantile */
    uint32_t count;                        /* of samples that added something */
};

struct figures {
    const struct pt_history_query *q;
    const struct pt_schema *schema;
    struct pt_history_steps steps;
    struct pt_figure_stream stream;
    struct pt_sample sample; /* borrows the rows of a segment */
    struct point *points;    /* by figure and step */
    bool is_whole;           /* no step has two samples */
};

static void add_value(struct figures *f, struct point *p, enum pt_figure_id id) {
    const struct pt_figure_value *v = &f->stream.now[id];
    enum pt_latency_id latency;
    double level;
    if (v->value != v->value || !(v->weight > 0))
        return;
    pt_figure_accumulate(id, &p->sum, &p->weight, v->sum, v->weight);
    if (pt_figure_is_quantile(id, &latency, &level))
        pt_classic_histogram_merge(&p->histogram, &f->stream.latencies[latency].histogram);
    p->low = p->count == 0 ? v->value : fmin(p->low, v->value);
    p->high = p->count == 0 ? v->value : fmax(p->high, v->value);
    f->is_whole &= p->count++ == 0;
}

static bool add_sample(void *arg, const struct pt_sample *sample) {
    struct figures *f = arg;
    for (uint32_t i = 0; i < f->schema->table_count; i++)
        if (pt_figure_stream_reads(&f->stream, (int)i))
            f->sample.batches[i] = pt_history_rows(f->schema->tables[i], sample);
    f->sample.mono_ns = sample->mono_ns;
    f->sample.wall_ns = sample->wall_ns;
    if (!pt_figure_stream_add(&f->stream, &f->sample) || sample->wall_ns < f->steps.start_ns)
        return true;
    uint32_t step = (uint32_t)((sample->wall_ns - f->steps.start_ns) / f->steps.step_ns);
    for (uint16_t i = 0; step < f->steps.count && i < f->q->figure_count; i++)
        add_value(f, &f->points[i * f->steps.count + step], f->q->figures[i]);
    return true;
}

static double mean_of(const struct point *p, enum pt_figure_id id) {
    enum pt_latency_id latency;
    double level;
    if (p->histogram.count > 0 && pt_figure_is_quantile(id, &latency, &level))
        return pt_classic_histogram_quantile(&p->histogram, level).value;
    return p->weight > 0 ? p->sum / p->weight : (double)NAN;
}

static double low_of(const struct point *p, enum pt_figure_id id) {
    (void)id;
    return p->count > 0 ? p->low : (double)NAN;
}

static double high_of(const struct point *p, enum pt_figure_id id) {
    (void)id;
    return p->count > 0 ? p->high : (double)NAN;
}

static void put_figure(const struct figures *f, uint16_t index, struct pt_json *j) {
    static const struct {
        const char *name;
        double (*value)(const struct point *p, enum pt_figure_id id);
    } statistics[] = { { "mean", mean_of }, { "min", low_of }, { "max", high_of } };
    pt_json_object(j, pt_figures[f->q->figures[index]].name);
    for (size_t k = 0; k < (f->is_whole ? 1 : PT_COUNT(statistics)); k++) {
        pt_json_array(j, statistics[k].name);
        for (uint32_t i = 0; i < f->steps.count; i++)
            pt_json_number(
                j, NULL,
                statistics[k].value(&f->points[index * f->steps.count + i], f->q->figures[index]));
        pt_json_end(j);
    }
    pt_json_end(j);
}

static int put_figures(const struct figures *f, struct pt_buf *json) {
    struct pt_out out;
    pt_out_memory(&out, json);
    struct pt_json j = { .out = &out };
    pt_json_object(&j, NULL);
    pt_json_i64(&j, "from", f->steps.start_ns / PT_NS_PER_MS);
    pt_json_i64(&j, "to", f->q->to_ns / PT_NS_PER_MS);
    pt_json_i64(&j, "step", f->steps.step_ns / PT_NS_PER_MS);
    pt_json_i64(&j, "count", f->steps.count);
    pt_json_object(&j, "figures");
    for (uint16_t i = 0; i < f->q->figure_count; i++)
        put_figure(f, i, &j);
    pt_json_end(&j);
    pt_json_end(&j);
    return pt_out_close(&out);
}

int pt_history_write_figures(const struct pt_history_query *q, const struct pt_schema *schema,
                             const char *directory, int64_t interval_ns, struct pt_buf *json) {
    struct figures f = { .q = q, .schema = schema, .is_whole = true };
    f.steps = pt_history_choose_steps(q, q->figure_count, interval_ns);
    f.points = pt_calloc((size_t)q->figure_count * f.steps.count, sizeof *f.points);
    f.sample = (struct pt_sample){ .schema = schema };
    f.sample.batches = pt_calloc(schema->table_count, sizeof *f.sample.batches);
    pt_figure_stream_init(&f.stream, schema);
    int rc = pt_segments_read(directory, pt_history_lead_ns(&f.steps), q->to_ns, add_sample, &f);
    if (!rc)
        rc = put_figures(&f, json);
    pt_figure_stream_release(&f.stream);
    pt_free(f.sample.batches);
    for (size_t i = 0; i < (size_t)q->figure_count * f.steps.count; i++)
        pt_classic_histogram_release(&f.points[i].histogram);
    pt_free(f.points);
    return rc;
}
