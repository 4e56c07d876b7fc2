/* The meter of analyze/run_energy.h: adds up samples. */
#include "analyze/run_energy.h"

#include "analyze/power_model.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

/* Input columns, named with their units. */
enum input {
    IN_DOMAIN,
    IN_ENERGY_UJ,
    IN_PROBLEM,
    IN_GPU_ENERGY_MJ,
    IN_GPU_POWER_W,
    IN_RUNNING,
    IN_COUNTS, /* as enum pt_energy_count_id */
    INPUT_COUNT = IN_COUNTS + PT_ENERGY_COUNTS
};

static const struct {
    const char *table, *column;
} inputs[INPUT_COUNT] = {
    [IN_DOMAIN] = { "energy", "eDomain" },
    [IN_ENERGY_UJ] = { "energy", "eEnergyUj" },
    [IN_PROBLEM] = { "energy", "eProblem" },
    [IN_GPU_ENERGY_MJ] = { "gpu", "gEnergyMj" },
    [IN_GPU_POWER_W] = { "gpu", "gPowerDrawW" },
    [IN_RUNNING] = { "vllm", "system_requests_running" },
    [IN_COUNTS + PT_ENERGY_REQUESTS] = { "vllm", "requests_finished_total" },
    [IN_COUNTS + PT_ENERGY_PROMPT_TOKENS] = { "vllm", "tokens_prompt_total" },
    [IN_COUNTS + PT_ENERGY_GENERATED_TOKENS] = { "vllm", "tokens_generation_total" },
    [IN_COUNTS + PT_ENERGY_PREFILL_S] = { "vllm", "latency_prefill_s_sum" },
    [IN_COUNTS + PT_ENERGY_DECODE_S] = { "vllm", "latency_decode_s_sum" },
};

/* By name, or by section of the main file. */
static int find_table(const struct pt_schema *schema, const char *name) {
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        if (strcmp(t->name, name) == 0 || (!*t->file && t->section && !strcmp(t->section, name)))
            return (int)i;
    }
    return -1;
}

void pt_energy_meter_init(struct pt_energy_meter *m, const struct pt_schema *schema) {
    *m = (struct pt_energy_meter){ 0 };
    _Static_assert(INPUT_COUNT <= PT_ENERGY_INPUTS, "space for all inputs");
    for (int i = 0; i < INPUT_COUNT; i++) {
        int table = find_table(schema, inputs[i].table);
        m->places[i].table = table;
        m->places[i].column =
            table < 0 ? -1 : pt_table_find(schema->tables[table], inputs[i].column);
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

/* Seconds since the previous value, or 0 if there is none; `now` becomes the previous value. A
 * repeated reading (the GPU thread was slower than the tick) has the same time. */
static double step(struct pt_energy_series *s, double now, int64_t now_ns, double *before) {
    double seconds = 0;
    if (s->has_before && now_ns <= s->before_ns)
        return 0;
    if (s->has_before)
        seconds = (double)(now_ns - s->before_ns) / (double)PT_NS_PER_SECOND;
    *before = s->before;
    *s = (struct pt_energy_series){
        true, now, now_ns, { s->joules[0], s->joules[1] }, s->covered_s
    };
    return seconds;
}

/* A counter that fell was reset: the energy in between is unknown. */
static void see_counter(struct pt_energy_series *s, double joules, int64_t now_ns,
                        enum pt_energy_state state) {
    double before, seconds = step(s, joules, now_ns, &before);
    if (seconds <= 0 || joules < before)
        return;
    s->joules[state] += joules - before;
    s->covered_s += seconds;
}

static void see_power(struct pt_energy_series *s, double watts, int64_t now_ns,
                      enum pt_energy_state state) {
    double before, seconds = step(s, watts, now_ns, &before);
    if (seconds <= 0)
        return;
    s->joules[state] += (before + watts) / 2 * seconds;
    s->covered_s += seconds;
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
        m->sources[i].power.has_before &= m->sources[i].is_seen;
}

static enum pt_energy_state see_engine(struct pt_energy_meter *m, const struct pt_sample *sample) {
    double value;
    bool is_busy = number_in(m, sample, IN_RUNNING, 0, &value) && value > 0;
    for (int i = 0; i < PT_ENERGY_COUNTS; i++)
        if (number_in(m, sample, IN_COUNTS + i, 0, &value)) {
            struct pt_energy_count *c = &m->counts[i];
            /* a restarted engine counts from 0 */
            double grown = !c->has_before ? 0 : value >= c->before ? value - c->before : value;
            c->grown += grown;
            c->before = value;
            c->has_before = true;
            is_busy |= grown > 0;
        }
    return is_busy ? PT_ENERGY_BUSY : PT_ENERGY_IDLE;
}

static void add_processor(struct pt_energy_meter *m, const struct pt_figure_reader *figures,
                          double seconds, enum pt_energy_state state) {
    double busy = figures->values[PT_FIGURE_CPU] / 100;
    m->seconds[state] += seconds;
    if (!figures->is_known[PT_FIGURE_CPU]) {
        m->share_s[state] += PT_POWER_SHARE_UNKNOWN * seconds;
        m->unknown_s += seconds;
        return;
    }
    m->share_s[state] += pt_power_share(busy) * seconds;
    if (!figures->is_known[PT_FIGURE_COMMAND_CPU])
        return;
    m->tree_cpu_s += figures->values[PT_FIGURE_COMMAND_CPU] / 100 * seconds;
    m->tree_busy_s += busy * seconds;
}

void pt_energy_meter_add(struct pt_energy_meter *m, const struct pt_sample *sample,
                         const struct pt_figure_reader *figures) {
    enum pt_energy_state state = see_engine(m, sample);
    add_domains(m, sample, state);
    add_gpus(m, sample, state);
    if (m->sample_count == 0)
        m->first_ns = sample->mono_ns;
    else
        add_processor(m, figures, (double)(sample->mono_ns - m->last_ns) / PT_NS_PER_SECOND, state);
    m->last_ns = sample->mono_ns;
    m->sample_count++;
}
