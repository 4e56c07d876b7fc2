#include "top/top_model.h"

#include <math.h>
#include <stdio.h>

void pt_top_model_init(struct pt_top_model *m, const struct pt_schema *schema) {
    *m = (struct pt_top_model){ 0 };
    pt_rates_init(&m->rates, schema, NULL, false);
    pt_figure_stream_init(&m->figures, schema);
}

void pt_top_model_release(struct pt_top_model *m) {
    pt_rates_release(&m->rates);
    pt_figure_stream_release(&m->figures);
}

void pt_top_model_clear(struct pt_top_model *m) {
    pt_rates_clear(&m->rates);
    pt_figure_stream_clear(&m->figures);
    memset(m->curves, 0, sizeof m->curves);
    memset(m->gpus, 0, sizeof m->gpus);
    m->sample_count = 0;
    m->event[0] = 0;
}

#define NO_FIELD PT_FIELD_COUNT

/* Events: "gpu-hot 0: on". */
static const struct {
    enum pt_field_id what, about, state;
} events[] = {
    { PT_FIELD_COLLECTOR_EVENT, NO_FIELD, NO_FIELD },
    { PT_FIELD_MARK_TEXT, NO_FIELD, NO_FIELD },
    { PT_FIELD_ALERT_RULE, PT_FIELD_ALERT_ENTITY, PT_FIELD_ALERT_STATE },
};

static struct pt_str text_of(const struct pt_batch *b, uint32_t row, enum pt_field_id id) {
    return id == NO_FIELD ? PT_STR("") : pt_field_text(b, row, id);
}

static void note_events(struct pt_top_model *m, const struct pt_sample *sample) {
    for (size_t i = 0; i < PT_COUNT(events); i++) {
        const struct pt_batch *b = pt_field_rows(sample, events[i].what);
        for (uint32_t row = 0; b && row < b->row_count; row++) {
            struct pt_str what = text_of(b, row, events[i].what);
            struct pt_str about = text_of(b, row, events[i].about);
            struct pt_str state = text_of(b, row, events[i].state);
            if (what.len == 0)
                continue;
            snprintf(m->event, sizeof m->event, "%.*s%s%.*s%s%.*s", (int)what.len, what.at,
                     about.len ? " " : "", (int)about.len, about.at, state.len ? ": " : "",
                     (int)state.len, state.at);
            m->event_ns = sample->mono_ns;
        }
    }
}

uint32_t pt_top_model_rows(const struct pt_top_model *m, enum pt_field_id id) {
    int table = pt_field_table(m->rates.schema, id);
    return table < 0 ? 0 : pt_rates_rows(&m->rates, table)->row_count;
}

double pt_top_model_value(const struct pt_top_model *m, enum pt_field_id id, uint32_t row) {
    int table = pt_field_table(m->rates.schema, id);
    int column = table < 0 ? -1 : pt_field_column(m->rates.schema->tables[table], id);
    return column < 0 || row >= pt_rates_rows(&m->rates, table)->row_count
               ? (double)NAN
               : pt_rates_at(&m->rates, table, row, column);
}

void pt_top_model_add(struct pt_top_model *m, const struct pt_sample *sample) {
    note_events(m, sample);
    pt_rates_add(&m->rates, sample);
    if (!pt_figure_stream_add(&m->figures, sample))
        return; /* a mark: not a point in the curves */
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        pt_trail_add(&m->curves[f], m->figures.now[f].value);
    uint32_t count = pt_top_model_rows(m, PT_FIELD_GPU_BUSY);
    for (uint32_t row = 0; row < count && row < PT_TOP_GPUS; row++)
        pt_trail_add(&m->gpus[row], pt_top_model_value(m, PT_FIELD_GPU_BUSY, row));
    m->sample_count++;
}
