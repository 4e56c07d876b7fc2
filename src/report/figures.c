#include "report/figures.h"

#include <math.h>
#include <stdio.h>

/* Source of a figure: a main figure of the run, a column, a column with a quantile of the requests
 * between two scrapes, or the energy meter. */
enum origin { FIGURE, COLUMN, QUANTILE, ENERGY };

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
    TTFT_P90,
    TTFT_P95,
    TTFT_P99,
    INTER_TOKEN_P50,
    INTER_TOKEN_P90,
    INTER_TOKEN_P95,
    INTER_TOKEN_P99,
    JOULES,
    CO2E,
    COST,
    OWN_CPU,
    OWN_MEMORY,
    OWN_LATE,
    OTHER_FIGURES, /* main figures without a line here */
    ID_COUNT = OTHER_FIGURES + PT_FIGURE_COUNT
};

/* A FIGURE takes its label and `together` from pt_figures. */
struct pt_report_spec {
    const char *label;
    enum origin origin;
    enum pt_figure_together together;
    int id;                           /* of FIGURE and ENERGY */
    const char *table, *column, *key; /* of COLUMN; key: value of the first column, or NULL */
    const char *latency;              /* of QUANTILE: prefix of its column names */
    double level;                     /* of QUANTILE */
    const char *unit;                 /* of ENERGY */
    bool is_hidden;                   /* in cards only, without a chart */
};

static const struct pt_report_spec specs[OTHER_FIGURES] = {
#define MAIN(figure) \
    { .origin = FIGURE, .id = PT_FIGURE_##figure }
    [CPU] = MAIN(CPU),
    [TREE_CPU] = MAIN(COMMAND_CPU),
    [MEMORY] = MAIN(MEMORY),
    [TREE_MEMORY] = MAIN(COMMAND_MEMORY),
    [LOAD] = MAIN(LOAD),
    [DISK_READ] = MAIN(DISK_READ),
    [DISK_WRITE] = MAIN(DISK_WRITE),
    [NET_RECEIVED] = MAIN(NET_RECEIVED),
    [NET_SENT] = MAIN(NET_SENT),
    [GPU] = MAIN(GPU),
    [GPU_MEMORY] = MAIN(GPU_MEMORY),
#define ENGINE(label, name) \
    { label, COLUMN, PT_RANKS_ADDED, 0, "engine", name }
    [TOKENS] = ENGINE("Tokens generated", "tokens_generation_total"),
    [PROMPT_TOKENS] = ENGINE("Prompt tokens", "tokens_prompt_total"),
    [REQUESTS] = ENGINE("Requests finished", "requests_finished_total"),
    [RUNNING] = MAIN(RUNNING),
    [WAITING] = MAIN(WAITING),
    [KV_CACHE] = MAIN(KV_CACHE),
#define LATENCY(text, name, number)                                                            \
    {                                                                                          \
        text ", p" #number, QUANTILE, PT_RANKS_AVERAGED, 0, "engine",                          \
            "latency_" name "_s_p" #number, .latency = "latency_" name "_s",                   \
                                            .level = number / 100.0, .is_hidden = number == 90 \
    }
    [TTFT_P50] = LATENCY("First token", "ttft", 50),
    [TTFT_P90] = LATENCY("First token", "ttft", 90),
    [TTFT_P95] = LATENCY("First token", "ttft", 95),
    [TTFT_P99] = LATENCY("First token", "ttft", 99),
    [INTER_TOKEN_P50] = LATENCY("Inter-token", "inter_token", 50),
    [INTER_TOKEN_P90] = LATENCY("Inter-token", "inter_token", 90),
    [INTER_TOKEN_P95] = LATENCY("Inter-token", "inter_token", 95),
    [INTER_TOKEN_P99] = LATENCY("Inter-token", "inter_token", 99),
    [JOULES] = { "Power", ENERGY, PT_MACHINES_ADDED, PT_ENERGY_TOTAL, .unit = "joules" },
    [CO2E] = { "CO2e", ENERGY, PT_MACHINES_ADDED, PT_ENERGY_CO2E, .unit = "grams",
               .is_hidden = true },
    [COST] = { "Cost", ENERGY, PT_MACHINES_ADDED, PT_ENERGY_COST, .unit = "money",
               .is_hidden = true },
#define OWN(label, name) \
    { label, COLUMN, PT_RANKS_ADDED, 0, "collector", name, "pitot" }
    [OWN_CPU] = OWN("Pitot: CPU", "colCpuTime"),
    [OWN_MEMORY] = OWN("Pitot: memory", "colRss"),
    [OWN_LATE] = OWN("Pitot: late ticks", "colLateTicks"),
};

/* How buckets are reduced to one number. */
enum reduction { MEAN, PEAK, TOTAL, LEVEL };
static const char *const reduction_names[] = { "mean", "peak", "total", "quantile" };

#define PARTS_MAX 4

/* The first known part is shown large. */
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
        { "while scraped", TOKENS, TOTAL },
        { "prompt tokens", PROMPT_TOKENS, TOTAL } } },
    { "Time to first token",
      { { "p50", TTFT_P50, LEVEL }, { "p95", TTFT_P95, LEVEL }, { "p99", TTFT_P99, LEVEL } } },
    { "Between tokens",
      { { "p50", INTER_TOKEN_P50, LEVEL },
        { "p95", INTER_TOKEN_P95, LEVEL },
        { "p99", INTER_TOKEN_P99, LEVEL } } },
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
        { "read, total", DISK_READ, TOTAL },
        { "written, total", DISK_WRITE, TOTAL } } },
    { "Network",
      { { "received", NET_RECEIVED, MEAN },
        { "sent", NET_SENT, MEAN },
        { "received, total", NET_RECEIVED, TOTAL },
        { "sent, total", NET_SENT, TOTAL } } },
    { "Energy and cost",
      { { "energy", JOULES, TOTAL },
        { "power, mean", JOULES, MEAN },
        { "CO2e", CO2E, TOTAL },
        { "cost", COST, TOTAL } } },
    { "Pitot's overhead",
      { { "of one CPU", OWN_CPU, MEAN },
        { "memory, peak", OWN_MEMORY, PEAK },
        { "late ticks", OWN_LATE, TOTAL } } },
};

/* The last value of one figure of one source. */
struct track {
    double before;     /* value of a counter */
    int64_t before_ns; /* its time; 0: none */
    uint32_t before_bucket;
    double last; /* value, valid until `until_ns` */
    int64_t until_ns;
};

struct pt_report_source {
    struct pt_rank_view view; /* of a rank, in a merged run */
    struct pt_figure_reader reader;
    struct pt_energy_meter meter;
    uint32_t energy_bucket; /* current bucket of the meter */
    int64_t last_ns;        /* of the previous sample */
    bool reports_machine;
    struct track tracks[ID_COUNT];
};

/* Where a value is added. */
struct moment {
    struct pt_report_source *source;
    int64_t now_ns;
    uint32_t bucket;
    double seconds; /* since the previous sample */
};

static bool has_line(int figure) {
    for (int i = 0; i < OTHER_FIGURES; i++) {
        const struct pt_report_spec *s = &specs[i];
        if (s->origin == FIGURE ? s->id == figure
                                : s->table && pt_figures[figure].table &&
                                      strcmp(s->table, pt_figures[figure].table) == 0 &&
                                      strcmp(s->column, pt_figures[figure].column) == 0)
            return true;
    }
    return false;
}

static void init_specs(struct pt_report_figures *f) {
    f->specs = pt_calloc(ID_COUNT, sizeof *f->specs);
    memcpy(f->specs, specs, sizeof specs);
    f->count = OTHER_FIGURES;
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        if (!has_line(i))
            f->specs[f->count++] = (struct pt_report_spec){ .origin = FIGURE, .id = i };
    for (int i = 0; i < f->count; i++)
        if (f->specs[i].origin == FIGURE) {
            f->specs[i].label = pt_figures[f->specs[i].id].label;
            f->specs[i].together = pt_figures[f->specs[i].id].together;
        }
}

void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis,
                            const struct pt_ranks *ranks) {
    *f = (struct pt_report_figures){ .axis = axis, .basis = basis, .ranks = ranks };
    init_specs(f);
    f->list = pt_calloc((size_t)f->count, sizeof *f->list);
    for (int i = 0; i < f->count; i++) {
        pt_curve_init(&f->list[i].curve, axis->count);
        f->list[i].sums = pt_calloc(axis->count, sizeof(double));
        f->list[i].weights = pt_calloc(axis->count, sizeof(double));
    }
    f->source_count = ranks->count > 0 ? ranks->count : 1;
    f->sources = pt_calloc(f->source_count, sizeof *f->sources);
    for (size_t i = 0; i < f->source_count; i++) {
        struct pt_report_source *source = &f->sources[i];
        bool is_rank = ranks->count > 0;
        if (is_rank)
            pt_rank_view_init(&source->view, schema);
        f->schema = is_rank ? &source->view.schema : schema;
        source->reports_machine = !is_rank || pt_ranks_is_first(ranks, i);
        pt_figure_reader_init(&source->reader, f->schema);
        pt_energy_meter_init(&source->meter, f->schema);
    }
}

void pt_report_figures_release(struct pt_report_figures *f) {
    for (int i = 0; i < f->count; i++) {
        pt_curve_release(&f->list[i].curve);
        pt_free(f->list[i].sums);
        pt_free(f->list[i].weights);
    }
    pt_free(f->list);
    pt_free(f->specs);
    for (size_t i = 0; i < f->source_count; i++) {
        pt_figure_reader_release(&f->sources[i].reader);
        pt_energy_meter_release(&f->sources[i].meter);
        if (f->ranks->count > 0)
            pt_rank_view_release(&f->sources[i].view);
    }
    pt_free(f->sources);
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
    const struct pt_report_spec *s = &f->specs[id];
    if (s->origin == FIGURE)
        return of_format[pt_figures[s->id].format];
    if (s->origin == ENERGY)
        return (struct pt_unit_text){ s->unit, true };
    const struct pt_table *table = f->schema->tables[pt_schema_find(f->schema, s->table)];
    return pt_unit_text_of(&table->columns[pt_table_find(table, s->column)]);
}

static bool is_added(const struct pt_report_figures *f, int id) {
    enum pt_figure_together together = f->specs[id].together;
    return together == PT_RANKS_ADDED || together == PT_MACHINES_ADDED;
}

/* The combined value of all sources that are still valid. */
static double fold_sources(const struct pt_report_figures *f, int id, int64_t now_ns) {
    double sum = 0;
    size_t alive = 0;
    for (size_t i = 0; i < f->source_count; i++)
        if (f->sources[i].tracks[id].until_ns >= now_ns) {
            sum += f->sources[i].tracks[id].last;
            alive++;
        }
    return is_added(f, id) ? sum : sum / (double)alive;
}

/* The value covers `seconds`. Time covered by several sources counts once: their rates are added,
 * and of gauges the combined value is used. */
static void add_together(struct pt_report_figures *f, int id, const struct moment *at, double value,
                         double seconds) {
    struct pt_report_figure *figure = &f->list[id];
    int64_t from_ns = at->now_ns - (int64_t)(seconds * 1e9);
    if (figure->covered_ns > from_ns)
        from_ns = figure->covered_ns;
    double grown = 0; /* seconds that no source has covered */
    if (at->now_ns > from_ns) {
        figure->covered_ns = at->now_ns;
        grown = (double)(at->now_ns - from_ns) / 1e9;
    }
    figure->weights[at->bucket] += grown;
    /* CPU time is shown as a share, but is a rate */
    bool is_rate = unit_of(f, id).is_rate || id == TREE_CPU;
    figure->sums[at->bucket] += is_rate ? value * seconds : fold_sources(f, id, at->now_ns) * grown;
}

static void add_value(struct pt_report_figures *f, int id, const struct moment *at, double value,
                      double seconds, double weight) {
    struct pt_report_figure *figure = &f->list[id];
    struct track *track = &at->source->tracks[id];
    track->last = value;
    track->until_ns = at->now_ns + (int64_t)(fmax(1, 3 * seconds) * 1e9);
    pt_curve_add(&figure->curve, at->bucket, fold_sources(f, id, at->now_ns));
    figure->is_known = true;
    if (f->source_count > 1 && is_added(f, id)) {
        add_together(f, id, at, value, seconds);
    } else {
        figure->sums[at->bucket] += value * weight;
        figure->weights[at->bucket] += weight;
    }
}

/* A counter that is read rarely grew in all buckets since the last read. */
static void add_growth(struct pt_report_figures *f, int id, const struct moment *at, double grown,
                       double seconds) {
    uint32_t before = at->source->tracks[id].before_bucket, last = at->bucket;
    uint32_t first = f->source_count == 1 && before + 1 < last ? before + 1 : last;
    for (uint32_t i = first; i <= last; i++) {
        struct moment then = *at;
        then.bucket = i;
        add_value(f, id, &then, grown / seconds, seconds, seconds / (last - first + 1));
    }
}

/* A counter that fell was reset; a repeated reading is ignored. */
static void add_count(struct pt_report_figures *f, int id, const struct moment *at, double now,
                      int64_t now_ns) {
    struct track *track = &at->source->tracks[id];
    if (now_ns <= track->before_ns)
        return;
    double seconds = (double)(now_ns - track->before_ns) / 1e9;
    if (track->before_ns && now >= track->before)
        add_growth(f, id, at, now - track->before, seconds);
    track->before = now;
    track->before_ns = now_ns;
    track->before_bucket = at->bucket;
}

/* The row with that text in its first column; without a key, the first row. */
static bool find_row(const struct pt_batch *b, const char *key, uint32_t *row) {
    for (*row = 0; *row < b->row_count; (*row)++)
        if (!key || (b->table->columns[0].type == PT_STRING && !pt_is_null(b, *row, 0) &&
                     pt_str_eq(pt_get_str(b, *row, 0), pt_str_from(key))))
            return true;
    return false;
}

/* A cell in base units, its column and its read time. */
struct reading {
    const struct pt_column *column;
    double value;
    int64_t read_ns;
};

static bool read_cell(const struct pt_report_figures *f, const struct pt_sample *sample,
                      const struct pt_report_spec *spec, const char *name,
                      struct reading *reading) {
    int table = pt_schema_find(f->schema, spec->table);
    int column = table < 0 ? -1 : pt_table_find(f->schema->tables[table], name);
    const struct pt_batch *b = column < 0 ? NULL : &sample->batches[table];
    uint32_t row;
    if (!b || !find_row(b, spec->key, &row) || pt_is_null(b, row, column))
        return false;
    const struct pt_column *c = &b->table->columns[column];
    int64_t read_ns = pt_get_time(b, row, c->source);
    *reading = (struct reading){
        .column = c,
        .value = pt_get_number(b, row, column) * pt_units[c->unit].prometheus_factor,
        .read_ns = read_ns ? read_ns : sample->mono_ns,
    };
    return true;
}

static void add_column(struct pt_report_figures *f, int id, const struct moment *at,
                       const struct pt_sample *sample) {
    struct reading cell;
    if (!read_cell(f, sample, &f->specs[id], f->specs[id].column, &cell))
        return;
    if (cell.column->kind == PT_COUNTER)
        add_count(f, id, at, cell.value, cell.read_ns);
    else
        add_value(f, id, at, cell.value, at->seconds, at->seconds);
}

/* A quantile over the requests since the previous scrape, weighted by their number. */
static void add_quantile(struct pt_report_figures *f, int id, const struct moment *at,
                         const struct pt_sample *sample) {
    struct track *track = &at->source->tracks[id];
    struct reading count, quantile;
    char name[64];
    snprintf(name, sizeof name, "%s_count", f->specs[id].latency);
    if (!read_cell(f, sample, &f->specs[id], name, &count) || count.read_ns <= track->before_ns)
        return;
    double seconds = (double)(count.read_ns - track->before_ns) / 1e9;
    double seen = track->before_ns ? count.value - track->before : 0;
    track->before = count.value;
    track->before_ns = count.read_ns;
    if (seen > 0 && read_cell(f, sample, &f->specs[id], f->specs[id].column, &quantile))
        add_value(f, id, at, quantile.value, seconds, seen);
}

/* Adds the growth of the meter at the end of a bucket. */
static void add_energy(struct pt_report_figures *f, struct pt_report_source *source) {
    struct pt_energy_report report;
    struct moment at = { source, source->last_ns, source->energy_bucket, 0 };
    if (!source->reports_machine)
        return;
    pt_energy_report_make(&report, &source->meter, f->basis);
    for (int i = 0; i < f->count; i++)
        if (f->specs[i].origin == ENERGY && pt_estimate_is_known(&report.figures[f->specs[i].id]))
            add_count(f, i, &at, report.figures[f->specs[i].id].value, source->last_ns);
    pt_energy_report_release(&report);
}

static void add_figure(struct pt_report_figures *f, int id, const struct moment *at,
                       const struct pt_sample *sample) {
    const struct pt_figure_reader *reader = &at->source->reader;
    const struct pt_report_spec *spec = &f->specs[id];
    bool is_of_machine =
        spec->together == PT_MACHINES_ADDED || spec->together == PT_MACHINES_AVERAGED;
    if (is_of_machine && !at->source->reports_machine)
        return;
    if (spec->origin == FIGURE && reader->is_known[spec->id]) {
        double factor = pt_figures[spec->id].format == PT_FORMAT_PERCENT ? 0.01 : 1;
        add_value(f, id, at, reader->values[spec->id] * factor, reader->seconds[spec->id],
                  reader->seconds[spec->id]);
    } else if (spec->origin == COLUMN) {
        add_column(f, id, at, sample);
    } else if (spec->origin == QUANTILE) {
        add_quantile(f, id, at, sample);
    }
}

static void add_sample(struct pt_report_figures *f, struct pt_report_source *source,
                       const struct pt_sample *sample, uint32_t bucket) {
    if (!pt_figure_reader_next(&source->reader, sample))
        return;
    struct moment at = { source, sample->mono_ns, bucket, 0 };
    if (!source->last_ns) {
        for (int i = 0; i < f->count; i++) /* the meter starts at 0 */
            if (f->specs[i].origin == ENERGY)
                source->tracks[i].before_ns = sample->mono_ns;
    } else {
        at.seconds = (double)(sample->mono_ns - source->last_ns) / 1e9;
        if (bucket != source->energy_bucket)
            add_energy(f, source);
    }
    source->energy_bucket = bucket;
    source->last_ns = sample->mono_ns;
    pt_energy_meter_add(&source->meter, sample, &source->reader);
    for (int i = 0; i < f->count; i++)
        add_figure(f, i, &at, sample);
}

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t bucket) {
    if (f->ranks->count == 0)
        add_sample(f, &f->sources[0], sample, bucket);
    for (size_t i = 0; i < f->ranks->count; i++)
        if (pt_rank_view_take(&f->sources[i].view, sample, f->ranks->labels[i])) {
            add_sample(f, &f->sources[i], &f->sources[i].view.sample, bucket);
            return;
        }
}

void pt_report_figures_end(struct pt_report_figures *f) {
    for (size_t i = 0; i < f->source_count; i++)
        if (f->sources[i].last_ns)
            add_energy(f, &f->sources[i]);
}

const struct pt_energy_meter *pt_report_figures_meter(const struct pt_report_figures *f) {
    return &f->sources[0].meter;
}

static void write_figure(const struct pt_report_figures *f, int id, struct pt_json *j,
                         struct pt_blob *blob) {
    const struct pt_report_figure *figure = &f->list[id];
    struct pt_unit_text unit = unit_of(f, id);
    uint32_t count = f->axis->count;
    pt_json_object(j, NULL);
    pt_json_text(j, "label", f->specs[id].label);
    pt_json_text(j, "unit", unit.base);
    pt_json_bool(j, "is_rate", unit.is_rate);
    pt_json_bool(j, "is_hidden", f->specs[id].is_hidden);
    if (f->specs[id].origin == QUANTILE) {
        pt_json_text(j, "latency", f->specs[id].latency);
        pt_json_f64(j, "level", f->specs[id].level);
    }
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
    pt_energy_report_make(&report, pt_report_figures_meter(f), f->basis);
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
        is_energy |= f->specs[card->parts[i].figure].origin == ENERGY;
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
    for (int i = 0; i < f->count; i++) {
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
