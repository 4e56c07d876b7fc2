#include "top/top_model.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>

/* Engines may be scraped less often than samples are taken: keep their figures for this time. */
#define HELD_NS (3 * PT_NS_PER_SECOND)

static void forget_figures(struct pt_top_model *m) {
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        m->now[f] = NAN;
        m->known_ns[f] = 0;
    }
}

void pt_top_model_init(struct pt_top_model *m, const struct pt_schema *schema) {
    *m = (struct pt_top_model){ 0 };
    pt_rates_init(&m->rates, schema);
    pt_figure_reader_init(&m->figures, schema);
    forget_figures(m);
}

void pt_top_model_release(struct pt_top_model *m) {
    pt_rates_release(&m->rates);
    pt_figure_reader_release(&m->figures);
}

void pt_top_model_clear(struct pt_top_model *m) {
    const struct pt_schema *schema = m->rates.schema;
    pt_rates_clear(&m->rates);
    pt_figure_reader_release(&m->figures);
    pt_figure_reader_init(&m->figures, schema);
    forget_figures(m);
    memset(m->curves, 0, sizeof m->curves);
    memset(m->gpus, 0, sizeof m->gpus);
    m->sample_count = 0;
    m->event[0] = 0;
}

/* Tables of events, and the columns with their text. */
static const struct {
    const char *table, *what, *about, *state;
} events[] = {
    { "collector", "colAction", NULL, NULL },
    { "mark", "mText", NULL, NULL },
    { "alert", "aRule", "aEntity", "aState" },
};

static struct pt_str text_of(const struct pt_batch *b, uint32_t row, const char *name) {
    int column = name ? pt_table_find(b->table, name) : -1;
    if (column < 0 || b->table->columns[column].type != PT_STRING || pt_is_null(b, row, column))
        return PT_STR("");
    return pt_get_str(b, row, column);
}

static void note_events(struct pt_top_model *m, const struct pt_sample *sample) {
    for (size_t i = 0; i < PT_COUNT(events); i++) {
        int table = pt_schema_find(sample->schema, events[i].table);
        const struct pt_batch *b = table < 0 ? NULL : &sample->batches[table];
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

void pt_top_model_add(struct pt_top_model *m, const struct pt_sample *sample) {
    note_events(m, sample);
    bool has_figures = pt_figure_reader_next(&m->figures, sample);
    if (!has_figures) { /* a mark: not a point in the curves */
        struct pt_sample event = *sample;
        event.mono_ns = m->rates.mono_ns;
        event.wall_ns = m->rates.wall_ns;
        pt_rates_add(&m->rates, m->rates.mono_ns ? &event : sample);
        return;
    }
    pt_rates_add(&m->rates, sample);
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        if (m->figures.is_known[f]) {
            m->now[f] = m->figures.values[f];
            m->known_ns[f] = m->rates.mono_ns;
        } else if (m->rates.mono_ns - m->known_ns[f] > HELD_NS) {
            m->now[f] = NAN;
        }
        pt_trail_add(&m->curves[f], m->now[f]);
    }
    const struct pt_schema *schema = m->rates.schema;
    int table = pt_schema_find(schema, "gpu");
    int column = table < 0 ? -1 : pt_table_find(schema->tables[table], "gUtilizationGpu");
    uint32_t count = column < 0 ? 0 : pt_rates_rows(&m->rates, table)->row_count;
    for (uint32_t row = 0; row < count && row < PT_TOP_GPUS; row++)
        pt_trail_add(&m->gpus[row], pt_rates_at(&m->rates, table, row, column));
    m->sample_count++;
}
