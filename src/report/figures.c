#include "report/figures.h"

#include "report/encode.h"

#include <math.h>
#include <stdio.h>

/* Where a figure comes from: the main figures of a run, a column, or the energy meter. */
enum origin { FIGURE, COLUMN, ENERGY };

enum id {
    CPU,
    TREE_CPU,
    MEMORY,
    TREE_MEMORY,
    LOAD,
    DISK_READ,
    DISK_WRITE,
    NET_RECEIVED,
    NET_SENT,
    GPU,
    GPU_MEMORY,
    TOKENS,
    PROMPT_TOKENS,
    REQUESTS,
    RUNNING,
    WAITING,
    KV_CACHE,
    TTFT_P50,
    TTFT_P95,
    TTFT_P99,
    INTER_TOKEN_P50,
    INTER_TOKEN_P95,
    INTER_TOKEN_P99,
    JOULES,
    CO2E,
    COST,
    OWN_CPU,
    OWN_MEMORY,
    OWN_LATE,
    ID_COUNT
};

static const struct spec {
    const char *label;
    enum origin origin;
    int id;                           /* of FIGURE and ENERGY */
    const char *table, *column, *key; /* of COLUMN; key: of the first column, or NULL */
    const char *unit;                 /* of ENERGY */
    bool is_hidden;                   /* in cards only, not drawn large */
} specs[ID_COUNT] = {
    [CPU] = { "CPU", FIGURE, PT_FIGURE_CPU },
    [TREE_CPU] = { "Recorded tree: CPU", FIGURE, PT_FIGURE_COMMAND_CPU },
    [MEMORY] = { "Memory", FIGURE, PT_FIGURE_MEMORY },
    [TREE_MEMORY] = { "Recorded tree: RSS", FIGURE, PT_FIGURE_COMMAND_MEMORY },
    [LOAD] = { "Load", FIGURE, PT_FIGURE_LOAD },
    [DISK_READ] = { "Disk read", FIGURE, PT_FIGURE_DISK_READ },
    [DISK_WRITE] = { "Disk written", FIGURE, PT_FIGURE_DISK_WRITE },
    [NET_RECEIVED] = { "Net received", FIGURE, PT_FIGURE_NET_RECEIVED },
    [NET_SENT] = { "Net sent", FIGURE, PT_FIGURE_NET_SENT },
    [GPU] = { "GPU", FIGURE, PT_FIGURE_GPU },
    [GPU_MEMORY] = { "GPU memory", FIGURE, PT_FIGURE_GPU_MEMORY },
    [TOKENS] = { "Tokens generated", COLUMN, 0, "engine", "tokens_generation_total" },
    [PROMPT_TOKENS] = { "Prompt tokens", COLUMN, 0, "engine", "tokens_prompt_total" },
    [REQUESTS] = { "Requests finished", COLUMN, 0, "engine", "requests_finished_total" },
    [RUNNING] = { "Requests running", FIGURE, PT_FIGURE_RUNNING },
    [WAITING] = { "Requests waiting", FIGURE, PT_FIGURE_WAITING },
    [KV_CACHE] = { "KV cache", FIGURE, PT_FIGURE_KV_CACHE },
    [TTFT_P50] = { "First token, p50", FIGURE, PT_FIGURE_TTFT },
    [TTFT_P95] = { "First token, p95", COLUMN, 0, "engine", "latency_ttft_s_p95" },
    [TTFT_P99] = { "First token, p99", COLUMN, 0, "engine", "latency_ttft_s_p99" },
    [INTER_TOKEN_P50] = { "Inter-token, p50", FIGURE, PT_FIGURE_INTER_TOKEN },
    [INTER_TOKEN_P95] = { "Inter-token, p95", COLUMN, 0, "engine", "latency_inter_token_s_p95" },
    [INTER_TOKEN_P99] = { "Inter-token, p99", COLUMN, 0, "engine", "latency_inter_token_s_p99" },
    [JOULES] = { "Power", ENERGY, PT_ENERGY_TOTAL, .unit = "joules" },
    [CO2E] = { "CO2e", ENERGY, PT_ENERGY_CO2E, .unit = "grams", .is_hidden = true },
    [COST] = { "Cost", ENERGY, PT_ENERGY_COST, .unit = "money", .is_hidden = true },
    [OWN_CPU] = { "Pitot: CPU", COLUMN, 0, "collector", "colCpuTime", "pitot" },
    [OWN_MEMORY] = { "Pitot: memory", COLUMN, 0, "collector", "colRss", "pitot" },
    [OWN_LATE] = { "Pitot: late ticks", COLUMN, 0, "collector", "colLateTicks", "pitot",
                   .is_hidden = true },
};

/* How the stretches of a part of the run become one number. */
enum reduction { MEAN, PEAK, TOTAL };
static const char *const reduction_names[] = { "mean", "peak", "total" };

#define PARTS_MAX 4

/* The first part that is known is the large one. */
static const struct card {
    const char *title;
    struct {
        const char *label;
        enum id figure;
        enum reduction reduction;
    } parts[PARTS_MAX];
} cards[] = {
    { "Tokens generated",
      { { "mean", TOKENS, MEAN },
        { "peak", TOKENS, PEAK },
        { "in all", TOKENS, TOTAL },
        { "prompt tokens", PROMPT_TOKENS, TOTAL } } },
    { "Time to first token",
      { { "p50", TTFT_P50, MEAN }, { "p95", TTFT_P95, MEAN }, { "p99", TTFT_P99, MEAN } } },
    { "Between tokens",
      { { "p50", INTER_TOKEN_P50, MEAN },
        { "p95", INTER_TOKEN_P95, MEAN },
        { "p99", INTER_TOKEN_P99, MEAN } } },
    { "Requests",
      { { "finished", REQUESTS, TOTAL },
        { "rate", REQUESTS, MEAN },
        { "running, mean", RUNNING, MEAN },
        { "waiting, peak", WAITING, PEAK } } },
    { "CPU",
      { { "mean", CPU, MEAN },
        { "peak", CPU, PEAK },
        { "tree, of one CPU", TREE_CPU, MEAN },
        { "load, peak", LOAD, PEAK } } },
    { "Memory",
      { { "peak", MEMORY, PEAK },
        { "mean", MEMORY, MEAN },
        { "recorded tree, peak", TREE_MEMORY, PEAK } } },
    { "GPU",
      { { "mean", GPU, MEAN }, { "peak", GPU, PEAK }, { "memory, peak", GPU_MEMORY, PEAK } } },
    { "KV cache", { { "mean", KV_CACHE, MEAN }, { "peak", KV_CACHE, PEAK } } },
    { "Disk",
      { { "read", DISK_READ, MEAN },
        { "written", DISK_WRITE, MEAN },
        { "read, in all", DISK_READ, TOTAL },
        { "written, in all", DISK_WRITE, TOTAL } } },
    { "Network",
      { { "received", NET_RECEIVED, MEAN },
        { "sent", NET_SENT, MEAN },
        { "received, in all", NET_RECEIVED, TOTAL },
        { "sent, in all", NET_SENT, TOTAL } } },
    { "Energy and cost",
      { { "energy", JOULES, TOTAL },
        { "power, mean", JOULES, MEAN },
        { "CO2e", CO2E, TOTAL },
        { "cost", COST, TOTAL } } },
    { "Pitot's own cost",
      { { "of one CPU", OWN_CPU, MEAN },
        { "memory, peak", OWN_MEMORY, PEAK },
        { "ticks late", OWN_LATE, TOTAL } } },
};

void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis) {
    *f = (struct pt_report_figures){ .axis = axis, .schema = schema, .basis = basis };
    f->list = pt_calloc(ID_COUNT, sizeof *f->list);
    for (int i = 0; i < ID_COUNT; i++) {
        pt_curve_init(&f->list[i].curve, axis->count);
        f->list[i].sums = pt_calloc(axis->count, sizeof(double));
        f->list[i].weights = pt_calloc(axis->count, sizeof(double));
    }
    pt_figure_reader_init(&f->reader, schema);
    pt_energy_meter_init(&f->meter, schema);
}

void pt_report_figures_release(struct pt_report_figures *f) {
    for (int i = 0; i < ID_COUNT; i++) {
        pt_curve_release(&f->list[i].curve);
        pt_free(f->list[i].sums);
        pt_free(f->list[i].weights);
    }
    pt_free(f->list);
    pt_figure_reader_release(&f->reader);
    pt_energy_meter_release(&f->meter);
}

static void add_value(struct pt_report_figure *figure, uint32_t stretch, double value,
                      double seconds) {
    pt_curve_add(&figure->curve, stretch, value);
    figure->sums[stretch] += value * seconds;
    figure->weights[stretch] += seconds;
    figure->is_known = true;
}

/* A counter that is read now and then grew all the time in between. */
static void add_growth(struct pt_report_figure *figure, uint32_t stretch, double grown,
                       double seconds) {
    uint32_t first = figure->before_stretch + 1 < stretch ? figure->before_stretch + 1 : stretch;
    for (uint32_t i = first; i <= stretch; i++)
        add_value(figure, i, grown / seconds, seconds / (stretch - first + 1));
}

/* One that fell was reset; one that was not read again says nothing new. */
static void add_count(struct pt_report_figure *figure, uint32_t stretch, double now,
                      int64_t now_ns) {
    if (now_ns <= figure->before_ns)
        return;
    double seconds = (double)(now_ns - figure->before_ns) / 1e9;
    if (figure->before_ns && now >= figure->before)
        add_growth(figure, stretch, now - figure->before, seconds);
    figure->before = now;
    figure->before_ns = now_ns;
    figure->before_stretch = stretch;
}

/* The row with that text in its first column; without a key the first. */
static bool find_row(const struct pt_batch *b, const char *key, uint32_t *row) {
    for (*row = 0; *row < b->row_count; (*row)++)
        if (!key || (b->table->columns[0].type == PT_STRING && !pt_is_null(b, *row, 0) &&
                     pt_str_eq(pt_get_str(b, *row, 0), pt_str_from(key))))
            return true;
    return false;
}

static void add_column(struct pt_report_figures *f, int id, const struct pt_sample *sample,
                       uint32_t stretch, double seconds) {
    int table = pt_schema_find(f->schema, specs[id].table);
    int column = table < 0 ? -1 : pt_table_find(f->schema->tables[table], specs[id].column);
    const struct pt_batch *b = column < 0 ? NULL : &sample->batches[table];
    uint32_t row;
    if (!b || !find_row(b, specs[id].key, &row) || pt_is_null(b, row, column))
        return;
    const struct pt_column *c = &b->table->columns[column];
    double value = pt_get_number(b, row, column) * pt_units[c->unit].prometheus_factor;
    int64_t read_ns = pt_get_time(b, row, c->source);
    if (c->kind == PT_COUNTER)
        add_count(&f->list[id], stretch, value, read_ns ? read_ns : sample->mono_ns);
    else
        add_value(&f->list[id], stretch, value, seconds);
}

/* What the meter says at the end of a stretch grew in that stretch. */
static void add_energy(struct pt_report_figures *f) {
    struct pt_energy_report report;
    pt_energy_report_make(&report, &f->meter, f->basis);
    for (int i = 0; i < ID_COUNT; i++)
        if (specs[i].origin == ENERGY && pt_estimate_is_known(&report.figures[specs[i].id]))
            add_count(&f->list[i], f->energy_stretch, report.figures[specs[i].id].value,
                      f->last_ns);
    pt_energy_report_release(&report);
}

/* The meter starts at nothing with the first sample. */
static void start_energy(struct pt_report_figures *f, int64_t mono_ns) {
    for (int i = 0; i < ID_COUNT; i++)
        if (specs[i].origin == ENERGY)
            f->list[i].before_ns = mono_ns;
}

static double factor_of(int id) {
    return pt_figures[specs[id].id].format == PT_FORMAT_PERCENT ? 0.01 : 1;
}

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t stretch) {
    if (!pt_figure_reader_next(&f->reader, sample))
        return;
    double seconds = f->last_ns ? (double)(sample->mono_ns - f->last_ns) / 1e9 : 0;
    if (!f->last_ns)
        start_energy(f, sample->mono_ns);
    else if (stretch != f->energy_stretch)
        add_energy(f);
    f->energy_stretch = stretch;
    f->last_ns = sample->mono_ns;
    pt_energy_meter_add(&f->meter, sample, &f->reader);
    for (int i = 0; i < ID_COUNT; i++) {
        if (specs[i].origin == FIGURE && f->reader.is_known[specs[i].id])
            add_value(&f->list[i], stretch, f->reader.values[specs[i].id] * factor_of(i), seconds);
        else if (specs[i].origin == COLUMN)
            add_column(f, i, sample, stretch, seconds);
    }
}

void pt_report_figures_end(struct pt_report_figures *f) {
    if (f->last_ns)
        add_energy(f);
}

static struct pt_unit_text unit_of(const struct pt_report_figures *f, int id) {
    static const struct pt_unit_text of_format[] = {
        [PT_FORMAT_PERCENT] = { "ratio", false },
        [PT_FORMAT_BYTES] = { "bytes", false },
        [PT_FORMAT_BYTES_PER_S] = { "bytes", true },
        [PT_FORMAT_PLAIN] = { "", false },
        [PT_FORMAT_PER_S] = { "", true },
        [PT_FORMAT_SECONDS] = { "seconds", false },
    };
    const struct spec *s = &specs[id];
    if (s->origin == FIGURE)
        return of_format[pt_figures[s->id].format];
    if (s->origin == ENERGY)
        return (struct pt_unit_text){ s->unit, true };
    const struct pt_table *table = f->schema->tables[pt_schema_find(f->schema, s->table)];
    return pt_unit_text_of(&table->columns[pt_table_find(table, s->column)]);
}

static void write_figure(const struct pt_report_figures *f, int id, struct pt_json *j,
                         struct pt_blob *blob) {
    const struct pt_report_figure *figure = &f->list[id];
    struct pt_unit_text unit = unit_of(f, id);
    uint32_t count = f->axis->count;
    pt_json_object(j, NULL);
    pt_json_text(j, "label", specs[id].label);
    pt_json_text(j, "unit", unit.base);
    pt_json_bool(j, "is_rate", unit.is_rate);
    pt_json_bool(j, "is_hidden", specs[id].is_hidden);
    pt_json_i64(j, "sums", (int64_t)pt_blob_add(blob, figure->sums, count, 1, 0, PT_BLOB_EXACT));
    pt_json_i64(j, "weights",
                (int64_t)pt_blob_add(blob, figure->weights, count, 1, 0, PT_BLOB_EXACT));
    pt_curve_write(&figure->curve, f->axis, j, blob);
    pt_json_end(j);
}

/* "modelled, -79/+118 %" */
static void write_energy_note(const struct pt_report_figures *f, struct pt_json *j) {
    struct pt_energy_report report;
    char range[32], note[96];
    pt_energy_report_make(&report, &f->meter, f->basis);
    const struct pt_estimate *total = &report.figures[PT_ENERGY_TOTAL];
    pt_estimate_print_range(total, true, range, sizeof range);
    snprintf(note, sizeof note, "%s%s%s", pt_provenance_name(total->provenance), *range ? ", " : "",
             range);
    pt_json_text(j, "note", note);
    pt_energy_report_release(&report);
}

static void write_card(const struct pt_report_figures *f, const struct card *card,
                       const int *places, struct pt_json *j) {
    bool has_parts = false, is_energy = false;
    for (size_t i = 0; i < PARTS_MAX && card->parts[i].label; i++)
        has_parts |= places[card->parts[i].figure] >= 0;
    if (!has_parts)
        return;
    pt_json_object(j, NULL);
    pt_json_text(j, "title", card->title);
    pt_json_array(j, "parts");
    for (size_t i = 0; i < PARTS_MAX && card->parts[i].label; i++) {
        int place = places[card->parts[i].figure];
        if (place < 0)
            continue;
        is_energy |= specs[card->parts[i].figure].origin == ENERGY;
        pt_json_object(j, NULL);
        pt_json_text(j, "label", card->parts[i].label);
        pt_json_i64(j, "figure", place);
        pt_json_text(j, "reduction", reduction_names[card->parts[i].reduction]);
        pt_json_end(j);
    }
    pt_json_end(j);
    if (is_energy)
        write_energy_note(f, j);
    pt_json_end(j);
}

void pt_report_figures_write(const struct pt_report_figures *f, struct pt_json *j,
                             struct pt_blob *blob) {
    int places[ID_COUNT], next = 0;
    pt_json_array(j, "figures");
    for (int i = 0; i < ID_COUNT; i++) {
        places[i] = f->list[i].is_known ? next++ : -1;
        if (places[i] >= 0)
            write_figure(f, i, j, blob);
    }
    pt_json_end(j);
    pt_json_array(j, "cards");
    for (size_t i = 0; i < PT_COUNT(cards); i++)
        write_card(f, &cards[i], places, j);
    pt_json_end(j);
}
