/* The meter of analyze/run_energy.h: adds up samples. */
#include "analyze/run_energy.h"

#include "analyze/power_model.h"
#include "base/clock.h"
#include "derive/field.h"

#include <errno.h>
#include <stdio.h>

/* Inputs, named with their units. */
enum input { IN_DOMAIN, IN_ENERGY_UJ, IN_PROBLEM, IN_GPU_ENERGY_MJ, IN_GPU_POWER_W, INPUT_COUNT };

static const enum pt_field_id inputs[INPUT_COUNT] = {
    [IN_DOMAIN] = PT_FIELD_ENERGY_DOMAIN,   [IN_ENERGY_UJ] = PT_FIELD_ENERGY_JOULES,
    [IN_PROBLEM] = PT_FIELD_ENERGY_PROBLEM, [IN_GPU_ENERGY_MJ] = PT_FIELD_GPU_ENERGY,
    [IN_GPU_POWER_W] = PT_FIELD_GPU_POWER,
};

void pt_energy_meter_init(struct pt_energy_meter *m, const struct pt_schema *schema) {
    *m = (struct pt_energy_meter){ 0 };
    _Static_assert(INPUT_COUNT <= PT_ENERGY_INPUTS, "space for all inputs");
    for (int i = 0; i < INPUT_COUNT; i++) {
        int table = pt_field_table(schema, inputs[i]);
        m->places[i].table = table;
        m->places[i].column = table < 0 ? -1 : pt_field_column(schema->tables[table], inputs[i]);
    }
}

void pt_energy_meter_release(struct pt_energy_meter *m) {
    pt_free(m->sources);
    *m = (struct pt_energy_meter){ 0 };
}

static const struct pt_batch *batch_of(const struct pt_energy_meter *m,
                                       const struct pt_sample *sample, int input) {
    return m->places[input].table < 0 ? NULL : &sample->batches[m->places[input].table];
}

/* False: null, or no such column. */
static bool number_in(const struct pt_energy_meter *m, const struct pt_sample *sample, int input,
                      uint32_t row, double *value) {
    const struct pt_batch *b = batch_of(m, sample, input);
    int column = m->places[input].column;
    if (!b || column < 0 || row >= b->row_count || pt_is_null(b, row, column))
        return false;
    *value = pt_get_number(b, row, column);
    return true;
}

static int64_t time_in(const struct pt_energy_meter *m, const struct pt_sample *sample, int input,
                       uint32_t row) {
    const struct pt_batch *b = batch_of(m, sample, input);
    int64_t read_ns = pt_get_time(b, row, b->table->columns[m->places[input].column].source);
    return read_ns ? read_ns : sample->mono_ns;
}

static struct pt_energy_meter_source *source_named(struct pt_energy_meter *m, const char *name,
                                                   bool is_gpu) {
    for (size_t i = 0; i < m->source_count; i++)
        if (strcmp(m->sources[i].name, name) == 0)
            return &m->sources[i];
    pt_grow(&m->sources, &m->source_capacity, m->source_count + 1, sizeof *m->sources);
    struct pt_energy_meter_source *s = &m->sources[m->source_count++];
    *s = (struct pt_energy_meter_source){ .is_gpu = is_gpu };
    pt_str_copy(s->name, sizeof s->name, pt_str_from(name));
    return s;
}

static void grow(struct pt_energy_series *s, const struct pt_growth *growth,
                 enum pt_energy_state state) {
    s->grown = *growth;
    s->joules[state] += growth->amount;
    s->covered_s += pt_growth_seconds(growth);
}

/* A repeated reading (the GPU thread was slower than the tick) has the same time. */
static void see_counter(struct pt_energy_series *s, double joules, int64_t now_ns,
                        enum pt_energy_state state) {
    struct pt_growth growth;
    if (pt_track_next(&s->before, joules, now_ns, &growth) == PT_TRACK_GROWS)
        grow(s, &growth, state);
}

static void see_power(struct pt_energy_series *s, double watts, int64_t now_ns,
                      enum pt_energy_state state) {
    struct pt_growth growth;
    if (pt_track_integrate(&s->before, watts, now_ns, &growth) == PT_TRACK_GROWS)
        grow(s, &growth, state);
}

static void add_domains(struct pt_energy_meter *m, const struct pt_sample *sample,
                        enum pt_energy_state state) {
    const struct pt_batch *b = batch_of(m, sample, IN_DOMAIN);
    int domain = m->places[IN_DOMAIN].column, problem = m->places[IN_PROBLEM].column;
    for (uint32_t row = 0; b && domain >= 0 && row < b->row_count; row++) {
        char name[64];
        double microjoules;
        pt_str_copy(name, sizeof name, pt_get_str(b, row, domain));
        if (number_in(m, sample, IN_ENERGY_UJ, row, &microjoules))
            see_counter(&source_named(m, name, false)->counter, microjoules / 1e6,
                        time_in(m, sample, IN_ENERGY_UJ, row), state);
        m->has_denied |= problem >= 0 && !pt_is_null(b, row, problem) &&
                         pt_str_eq(pt_get_str(b, row, problem), PT_STR("permission denied"));
    }
}

/* "gpu-0", from all key columns. */
static void name_gpu(const struct pt_batch *b, uint32_t row, char *into, size_t capacity) {
    size_t used = (size_t)snprintf(into, capacity, "gpu");
    for (int c = 0; c < b->table->column_count && used < capacity; c++) {
        if (b->table->columns[c].kind != PT_KEY || pt_is_null(b, row, c))
            continue;
        if (b->table->columns[c].type == PT_STRING) {
            struct pt_str key = pt_get_str(b, row, c);
            used += (size_t)snprintf(into + used, capacity - used, "-%.*s", (int)key.len, key.at);
        } else {
            used +=
                (size_t)snprintf(into + used, capacity - used, "-%.0f", pt_get_number(b, row, c));
        }
    }
}

/* Power is not interpolated over samples without a reading of the GPU. */
static void add_gpus(struct pt_energy_meter *m, const struct pt_sample *sample,
                     enum pt_energy_state state) {
    const struct pt_batch *b = batch_of(m, sample, IN_GPU_ENERGY_MJ);
    for (size_t i = 0; i < m->source_count; i++)
        m->sources[i].is_seen = false;
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        char name[64];
        double millijoules, watts;
        name_gpu(b, row, name, sizeof name);
        struct pt_energy_meter_source *s = source_named(m, name, true);
        if (number_in(m, sample, IN_GPU_ENERGY_MJ, row, &millijoules))
            see_counter(&s->counter, millijoules / 1e3, time_in(m, sample, IN_GPU_ENERGY_MJ, row),
                        state);
        s->is_seen = number_in(m, sample, IN_GPU_POWER_W, row, &watts);
        if (!s->is_seen)
            continue;
        see_power(&s->power, watts, time_in(m, sample, IN_GPU_POWER_W, row), state);
        if (m->sample_count == 0) {
            s->has_first_watts = true;
            s->first_watts = watts;
        }
    }
    for (size_t i = 0; i < m->source_count; i++)
        m->sources[i].power.before.has_value &= m->sources[i].is_seen;
}

static enum pt_energy_state see_engine(struct pt_energy_meter *m,
                                       const struct pt_figure_stream *figures) {
    static const enum pt_figure_id amounts[] = {
        [PT_ENERGY_REQUESTS] = PT_FIGURE_ENGINE_FINISHED,
        [PT_ENERGY_PROMPT_TOKENS] = PT_FIGURE_ENGINE_PROMPT_TOKENS,
        [PT_ENERGY_GENERATED_TOKENS] = PT_FIGURE_ENGINE_TOKENS,
    };
    if (figures->now[PT_FIGURE_ENGINE_REMOTE].value > 0) /* another machine has used that energy */
        return PT_ENERGY_IDLE;
    const struct pt_figure_value *prefill = &figures->now[PT_FIGURE_ENGINE_PREFILL_SHARE];
    bool is_busy = figures->now[PT_FIGURE_ENGINE_RUNNING].value > 0 || prefill->weight > 0;
    m->has_engine |= pt_figure_is_known(figures, PT_FIGURE_ENGINE_RUNNING);
    for (size_t i = 0; i < PT_COUNT(amounts); i++) {
        double grown = figures->now[amounts[i]].sum;
        m->has_engine |= pt_figure_is_known(figures, amounts[i]);
        m->counts[i] += grown;
        is_busy |= grown > 0;
    }
    m->counts[PT_ENERGY_PREFILL_S] += prefill->sum;
    m->counts[PT_ENERGY_DECODE_S] += prefill->weight - prefill->sum; /* weight: of both */
    return is_busy ? PT_ENERGY_BUSY : PT_ENERGY_IDLE;
}

static void add_processor(struct pt_energy_meter *m, const struct pt_figure_stream *figures,
                          int64_t now_ns, enum pt_energy_state state) {
    double busy = figures->now[PT_FIGURE_CPU_BUSY].value;
    bool is_known = pt_figure_is_known(figures, PT_FIGURE_CPU_BUSY);
    m->share_grown = (struct pt_growth){ 0, m->last_ns, now_ns };
    double seconds = pt_growth_seconds(&m->share_grown);
    m->share_grown.amount = (is_known ? pt_power_share(busy) : PT_POWER_SHARE_UNKNOWN) * seconds;
    m->seconds[state] += seconds;
    m->share_s[state] += m->share_grown.amount;
    if (!is_known) {
        m->unknown_s += seconds;
        return;
    }
    if (!pt_figure_is_known(figures, PT_FIGURE_OWN_CPU))
        return;
    m->tree_cpu_s += figures->now[PT_FIGURE_OWN_CPU].value * seconds;
    m->tree_busy_s += busy * seconds;
}

void pt_energy_meter_add(struct pt_energy_meter *m, const struct pt_sample *sample,
                         const struct pt_figure_stream *figures) {
    enum pt_energy_state state = see_engine(m, figures);
    for (size_t i = 0; i < m->source_count; i++)
        m->sources[i].counter.grown = m->sources[i].power.grown = (struct pt_growth){ 0 };
    m->share_grown = (struct pt_growth){ 0 };
    add_domains(m, sample, state);
    add_gpus(m, sample, state);
    if (m->sample_count == 0)
        m->first_ns = sample->mono_ns;
    else
        add_processor(m, figures, sample->mono_ns, state);
    m->last_ns = sample->mono_ns;
    m->sample_count++;
}
