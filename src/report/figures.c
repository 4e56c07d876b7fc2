#include "report/figures.h"

#include <math.h>
#include <stdio.h>

/* Figures of the energy meter follow those of the catalogue. */
enum {
    JOULES = PT_FIGURE_COUNT,
    CO2E,
    COST,
    ID_COUNT,
};

static const struct {
    const char *name, *title;
    enum pt_form form;
    enum pt_energy_figure_id id;
} energies[] = {
    [JOULES - PT_FIGURE_COUNT] = { "energy.power", "Power", PT_FORM_WATTS, PT_ENERGY_TOTAL },
    [CO2E - PT_FIGURE_COUNT] = { "energy.co2e", "CO2e", PT_FORM_GRAMS, PT_ENERGY_CO2E },
    [COST - PT_FIGURE_COUNT] = { "energy.cost", "Cost", PT_FORM_MONEY, PT_ENERGY_COST },
};

/* How time slots are reduced to one number. */
enum reduction { MEAN, PEAK, TOTAL };
static const char *const reduction_names[] = { "mean", "peak", "total" };

#define PARTS_MAX 4

/* The first known part is shown large. */
static const struct card {
    const char *title;
    struct {
        const char *label;
        int figure;
        enum reduction reduction;
        const char *cost; /* its field of struct pt_own_cost, which is the whole; or NULL */
    } parts[PARTS_MAX];
} cards[] = {
#define F(name) PT_FIGURE_##name
    { "Tokens generated",
      { { "mean", F(ENGINE_TOKENS), MEAN },
        { "peak", F(ENGINE_TOKENS), PEAK },
        { "while scraped", F(ENGINE_TOKENS), TOTAL },
        { "prompt tokens", F(ENGINE_PROMPT_TOKENS), TOTAL } } },
    { "Time to first token",
      { { "p50", F(ENGINE_TTFT_P50), MEAN },
        { "p95", F(ENGINE_TTFT_P95), MEAN },
        { "p99", F(ENGINE_TTFT_P99), MEAN } } },
    { "Between tokens",
      { { "p50", F(ENGINE_INTER_TOKEN_P50), MEAN },
        { "p95", F(ENGINE_INTER_TOKEN_P95), MEAN },
        { "p99", F(ENGINE_INTER_TOKEN_P99), MEAN } } },
    { "Requests",
      { { "finished", F(ENGINE_FINISHED), TOTAL },
        { "rate", F(ENGINE_FINISHED), MEAN },
        { "running, mean", F(ENGINE_RUNNING), MEAN },
        { "waiting, peak", F(ENGINE_WAITING), PEAK } } },
    { "Goodput, at most",
      { { "mean", F(ENGINE_GOODPUT), MEAN },
        { "peak", F(ENGINE_GOODPUT), PEAK },
        { "requests", F(ENGINE_GOODPUT), TOTAL } } },
    { "Training step",
      { { "mean", F(TRAIN_STEP_TIME), MEAN },
        { "waiting for data", F(TRAIN_DATA_WAIT), MEAN },
        { "collectives", F(TRAIN_COLLECTIVE_WAIT), MEAN } } },
    { "CPU",
      { { "of the machine, mean", F(CPU_BUSY), MEAN },
        { "of the machine, peak", F(CPU_BUSY), PEAK },
        { "command, mean", F(OWN_CPU), MEAN },
        { "load, peak", F(CPU_LOAD), PEAK } } },
    { "Memory",
      { { "peak", F(MEM_USED), PEAK },
        { "mean", F(MEM_USED), MEAN },
        { "command, peak", F(OWN_PEAK_MEMORY), PEAK } } },
    { "GPU",
      { { "mean", F(GPU_UTIL), MEAN },
        { "peak", F(GPU_UTIL), PEAK },
        { "memory, peak", F(GPU_MEMORY), PEAK },
        { "power, mean", F(GPU_POWER), MEAN } } },
    { "KV cache", { { "mean", F(ENGINE_KV), MEAN }, { "peak", F(ENGINE_KV), PEAK } } },
    { "Disk",
      { { "read", F(DISK_READ), MEAN },
        { "written", F(DISK_WRITTEN), MEAN },
        { "read, total", F(DISK_READ), TOTAL },
        { "written, total", F(DISK_WRITTEN), TOTAL } } },
    { "Network",
      { { "received", F(NET_RECEIVED), MEAN },
        { "sent", F(NET_SENT), MEAN },
        { "received, total", F(NET_RECEIVED), TOTAL },
        { "sent, total", F(NET_SENT), TOTAL } } },
    { "Energy and cost",
      { { "energy", JOULES, TOTAL },
        { "power, mean", JOULES, MEAN },
        { "CO2e", CO2E, TOTAL },
        { "cost", COST, TOTAL } } },
    { "Pitot's overhead",
      { { "of one CPU", F(PITOT_CPU), MEAN, "share" },
        { "memory, peak", F(PITOT_MEMORY), PEAK, "peak" },
        { "late ticks", F(PITOT_LATE), PEAK } } },
};

/* The last value of one figure of one source. */
struct track {
    uint32_t bucket; /* of the last value */
    bool is_known;
    double last; /* value, valid until `until_ns` */
    int64_t until_ns;
};

struct pt_report_source {
    struct pt_rank_view view; /* of a rank, in a merged run */
    struct pt_figure_stream stream;
    struct pt_energy_meter meter;
    struct pt_report_power power;
    bool reports_machine;
    struct track tracks[PT_FIGURE_COUNT];
};

/* Where a value is added. */
struct moment {
    struct pt_report_source *source;
    int64_t now_ns;
    uint32_t bucket;
};

/* Charts show the headlines; the others are on cards only. */
static bool is_headline(int id) {
    return id == JOULES || (id < PT_FIGURE_COUNT && pt_figures[id].importance == PT_HEADLINE);
}

static bool is_on_card(int id) {
    for (size_t i = 0; i < PT_COUNT(cards); i++)
        for (size_t k = 0; k < PARTS_MAX && cards[i].parts[k].label; k++)
            if (cards[i].parts[k].figure == id)
                return true;
    return false;
}

void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis,
                            const struct pt_ranks *ranks) {
    *f = (struct pt_report_figures){ .axis = axis, .basis = basis, .ranks = ranks };
    f->count = ID_COUNT;
    f->list = pt_calloc(ID_COUNT, sizeof *f->list);
    for (int i = 0; i < ID_COUNT; i++) {
        if (!is_headline(i) && !is_on_card(i))
            continue;
        f->list[i].is_wanted = true;
        pt_curve_init(&f->list[i].curve, axis->count);
        f->list[i].sums = pt_calloc(axis->count, sizeof(double));
        f->list[i].weights = pt_calloc(axis->count, sizeof(double));
    }
    f->ends = pt_calloc(axis->count, sizeof *f->ends);
    f->source_count = ranks->count > 0 ? ranks->count : 1;
    f->sources = pt_calloc(f->source_count, sizeof *f->sources);
    for (size_t i = 0; i < f->source_count; i++) {
        struct pt_report_source *source = &f->sources[i];
        bool is_rank = ranks->count > 0;
        if (is_rank)
            pt_rank_view_init(&source->view, schema);
        const struct pt_schema *own = is_rank ? &source->view.schema : schema;
        source->reports_machine = !is_rank || pt_ranks_is_first(ranks, i);
        source->power.axis = axis;
        pt_figure_stream_init(&source->stream, own);
        pt_energy_meter_init(&source->meter, own);
    }
}

void pt_report_figures_release(struct pt_report_figures *f) {
    for (int i = 0; i < f->count; i++) {
        pt_curve_release(&f->list[i].curve);
        pt_free(f->list[i].sums);
        pt_free(f->list[i].weights);
    }
    pt_free(f->list);
    for (int l = 0; l < PT_LATENCY_COUNT; l++)
        pt_report_latency_release(&f->latencies[l]);
    for (size_t i = 0; i < f->source_count; i++) {
        pt_figure_stream_release(&f->sources[i].stream);
        pt_energy_meter_release(&f->sources[i].meter);
        pt_report_power_release(&f->sources[i].power);
        if (f->ranks->count > 0)
            pt_rank_view_release(&f->sources[i].view);
    }
    pt_free(f->sources);
    pt_free(f->ends);
}

static bool is_added(int id) {
    return pt_figures[id].together == PT_RANKS_ADDED ||
           pt_figures[id].together == PT_MACHINES_ADDED;
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
    return is_added(id) ? sum : sum / (double)alive;
}

/* Time covered by several sources counts once: their growth is added, and of levels the combined
 * value is used. */
static void add_together(struct pt_report_figures *f, int id, const struct moment *at,
                         const struct pt_figure_value *v) {
    struct pt_report_figure *figure = &f->list[id];
    int64_t from_ns = figure->covered_ns > v->from_ns ? figure->covered_ns : v->from_ns;
    double covered = 0; /* seconds that no source has covered */
    if (v->to_ns > from_ns) {
        figure->covered_ns = v->to_ns;
        covered = (double)(v->to_ns - from_ns) / 1e9;
    }
    bool grows = pt_figure_is_amount((enum pt_figure_id)id) || pt_figures[id].form == PT_FORM_CORES;
    pt_figure_accumulate((enum pt_figure_id)id, &figure->sums[at->bucket],
                         &figure->weights[at->bucket],
                         grows ? v->sum : fold_sources(f, id, at->now_ns) * covered, covered);
}

/* A value that is read rarely covers all time slots since the last one. */
static void add_value(struct pt_report_figures *f, int id, const struct moment *at,
                      const struct pt_figure_value *v) {
    struct pt_report_figure *figure = &f->list[id];
    struct track *track = &at->source->tracks[id];
    double seconds = (double)(v->to_ns - v->from_ns) / 1e9;
    bool is_read_rarely = f->source_count == 1 && track->is_known && track->bucket + 1 < at->bucket;
    uint32_t first = is_read_rarely ? track->bucket + 1 : at->bucket;
    uint32_t count = at->bucket - first + 1;
    track->last = v->value;
    track->until_ns = at->now_ns + (int64_t)(fmax(1, 3 * seconds) * 1e9);
    track->bucket = at->bucket;
    track->is_known = figure->is_known = true;
    for (uint32_t bucket = first; bucket <= at->bucket; bucket++)
        pt_curve_add(&figure->curve, bucket, fold_sources(f, id, at->now_ns));
    if (f->source_count > 1 && is_added(id)) {
        add_together(f, id, at, v);
        return;
    }
    for (uint32_t bucket = first; bucket <= at->bucket; bucket++)
        pt_figure_accumulate((enum pt_figure_id)id, &figure->sums[bucket], &figure->weights[bucket],
                             v->sum / count, v->weight / count);
}

static void add_figure(struct pt_report_figures *f, int id, const struct moment *at) {
    const struct pt_figure_value *v = &at->source->stream.now[id];
    bool is_of_machine = pt_figures[id].together == PT_MACHINES_ADDED ||
                         pt_figures[id].together == PT_MACHINES_AVERAGED;
    if (f->list[id].is_wanted && v->weight > 0 && (at->source->reports_machine || !is_of_machine))
        add_value(f, id, at, v);
}

static void add_sample(struct pt_report_figures *f, struct pt_report_source *source,
                       const struct pt_sample *sample, uint32_t bucket) {
    if (!pt_figure_stream_add(&source->stream, sample))
        return;
    struct moment at = { source, sample->mono_ns, bucket };
    pt_energy_meter_add(&source->meter, sample, &source->stream);
    if (source->reports_machine)
        pt_report_power_add(&source->power, &source->meter, f->ends, bucket);
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        add_figure(f, i, &at);
    for (int l = 0; l < PT_LATENCY_COUNT; l++)
        pt_report_latency_add(&f->latencies[l], f->axis, bucket,
                              &source->stream.latencies[l].histogram);
}

static void see_ends(struct pt_report_figures *f, int64_t mono_ns, uint32_t bucket) {
    for (; f->end_count <= bucket; f->end_count++)
        f->ends[f->end_count] =
            f->axis->is_whole ? mono_ns : pt_curve_axis_end(f->axis, f->end_count);
}

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t bucket) {
    see_ends(f, sample->mono_ns, bucket);
    if (f->ranks->count == 0)
        add_sample(f, &f->sources[0], sample, bucket);
    for (size_t i = 0; i < f->ranks->count; i++)
        if (pt_rank_view_take(&f->sources[i].view, sample, f->ranks->labels[i])) {
            add_sample(f, &f->sources[i], &f->sources[i].view.sample, bucket);
            return;
        }
}

/* Emissions follow the energy, costs the energy and the time. */
struct price {
    double per_joule, per_second;
};

static struct price price_of(const struct pt_energy_report *report, enum pt_energy_figure_id id,
                             const struct pt_energy_basis *basis) {
    const struct pt_estimate *joules = &report->figures[PT_ENERGY_TOTAL],
                             *of = &report->figures[id];
    bool has_hours = id == PT_ENERGY_COST && basis->price_hour.is_given;
    double per_second = has_hours ? basis->price_hour.value / 3600 : 0;
    return (struct price){ (of->value - per_second * report->seconds) / joules->value, per_second };
}

static void add_machine(struct pt_report_figures *f, const struct pt_report_source *source,
                        double *watts) {
    struct pt_energy_report report;
    uint32_t count = f->axis->count;
    double *joules = pt_calloc(count, sizeof *joules);
    double *seconds = pt_calloc(count, sizeof *seconds);
    pt_energy_report_make(&report, &source->meter, f->basis);
    pt_report_power_sum(&source->power, &report, joules, watts, seconds);
    for (size_t i = 0; i < PT_COUNT(energies); i++) {
        struct pt_report_figure *figure = &f->list[PT_FIGURE_COUNT + (int)i];
        if (!pt_estimate_is_known(&report.figures[energies[i].id]) ||
            !pt_estimate_is_known(&report.figures[PT_ENERGY_TOTAL]))
            continue;
        struct price price = price_of(&report, energies[i].id, f->basis);
        figure->is_known = true;
        for (uint32_t slot = 0; slot < count; slot++) {
            figure->sums[slot] += price.per_joule * joules[slot] + price.per_second * seconds[slot];
            figure->weights[slot] = fmax(figure->weights[slot], seconds[slot]);
        }
    }
    pt_energy_report_release(&report);
    pt_free(joules);
    pt_free(seconds);
}

/* The histogram of a figure that is a quantile; NULL: it is not, or there is none. */
static const struct pt_report_latency *latency_of(const struct pt_report_figures *f, int id,
                                                  double *level) {
    enum pt_latency_id latency;
    bool is_quantile =
        id < PT_FIGURE_COUNT && pt_figure_is_quantile((enum pt_figure_id)id, &latency, level);
    return is_quantile && f->latencies[latency].count > 0 ? &f->latencies[latency] : NULL;
}

/* Slots can have several samples, of several ranks: a curve of quantiles has those of the slots. */
static void draw_quantiles(struct pt_report_figures *f) {
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        struct pt_report_figure *figure = &f->list[id];
        double level;
        const struct pt_report_latency *latency = latency_of(f, id, &level);
        if (!latency || !figure->is_wanted)
            continue;
        pt_report_latency_draw(latency, f->axis, level, &figure->curve);
        if (f->source_count > 1) /* there is no mean of those of the ranks */
            figure->peak = pt_curve_range_of(&figure->curve).high;
    }
}

static void find_peaks(struct pt_report_figures *f) {
    for (int i = 0; i < f->count; i++)
        f->list[i].peak =
            f->list[i].is_wanted ? pt_curve_range_of(&f->list[i].curve).high : (double)NAN;
}

void pt_report_figures_end(struct pt_report_figures *f) {
    double *watts = pt_calloc(f->axis->count, sizeof *watts);
    for (uint32_t slot = 0; slot < f->axis->count; slot++)
        watts[slot] = NAN;
    for (size_t i = 0; i < f->source_count; i++)
        if (f->sources[i].reports_machine)
            add_machine(f, &f->sources[i], watts);
    for (uint32_t slot = 0; slot < f->axis->count; slot++)
        pt_curve_add(&f->list[JOULES].curve, slot, watts[slot]);
    find_peaks(f);
    draw_quantiles(f);
    pt_free(watts);
}

const struct pt_energy_meter *pt_report_figures_meter(const struct pt_report_figures *f) {
    return &f->sources[0].meter;
}

static enum pt_form form_of(int id) {
    return id < PT_FIGURE_COUNT ? pt_figures[id].form : energies[id - PT_FIGURE_COUNT].form;
}

static void write_form(enum pt_form form, struct pt_json *j) {
    pt_json_text(j, "unit", pt_forms[form].base);
    pt_json_bool(j, "is_rate", pt_forms[form].is_rate);
}

/* A journal of 0.1 has quantiles of each scrape and no histograms. */
static bool is_worst(const struct pt_report_figures *f, int id) {
    enum pt_latency_id latency;
    double level;
    return id < PT_FIGURE_COUNT && pt_figure_is_quantile((enum pt_figure_id)id, &latency, &level) &&
           !latency_of(f, id, &level);
}

static void put_label(const struct pt_report_figures *f, struct pt_json *j, const char *label,
                      bool is_worst) {
    char said[PT_SUBJECT_TEXT], text[PT_SUBJECT_TEXT + 16];
    snprintf(text, sizeof text, "%s%s", pt_subject_say(&f->subject, label, said, sizeof said),
             is_worst ? ", worst scrape" : "");
    pt_json_text(j, "label", text);
}

static void write_figure(const struct pt_report_figures *f, int id, struct pt_json *j,
                         struct pt_blob *blob) {
    const struct pt_report_figure *figure = &f->list[id];
    bool is_energy = id >= PT_FIGURE_COUNT;
    uint32_t count = f->axis->count;
    pt_json_object(j, NULL);
    pt_json_text(j, "name", is_energy ? energies[id - PT_FIGURE_COUNT].name : pt_figures[id].name);
    char text[PT_SUBJECT_TEXT];
    put_label(f, j, is_energy ? energies[id - PT_FIGURE_COUNT].title : pt_figures[id].title,
              is_worst(f, id));
    pt_json_text(j, "help",
                 is_energy ? NULL
                           : pt_subject_say(&f->subject, pt_figures[id].help, text, sizeof text));
    write_form(form_of(id), j);
    pt_json_bool(j, "is_peak",
                 is_worst(f, id) || (!is_energy && pt_figure_is_peak((enum pt_figure_id)id)));
    pt_json_f64(j, "peak", figure->peak);
    pt_json_bool(j, "is_hidden", !is_headline(id));
    double level;
    const struct pt_report_latency *latency = latency_of(f, id, &level);
    if (latency) {
        pt_json_i64(j, "latency", latency - f->latencies);
        pt_json_f64(j, "level", level);
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
        is_energy |= card->parts[i].figure >= PT_FIGURE_COUNT;
        pt_json_object(j, NULL);
        put_label(f, j, card->parts[i].label, is_worst(f, card->parts[i].figure));
        pt_json_i64(j, "figure", place);
        pt_json_text(j, "reduction", reduction_names[card->parts[i].reduction]);
        if (card->parts[i].cost)
            pt_json_text(j, "cost", card->parts[i].cost);
        enum pt_form form = form_of(card->parts[i].figure);
        write_form(card->parts[i].reduction == TOTAL ? pt_form_amount(form) : form, j);
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
    pt_json_array(j, "latencies");
    for (int l = 0; l < PT_LATENCY_COUNT; l++)
        pt_report_latency_write(&f->latencies[l], f->axis, NULL, j, blob);
    pt_json_end(j);
    pt_json_array(j, "cards");
    for (size_t i = 0; i < PT_COUNT(cards); i++)
        write_card(f, &cards[i], places, j);
    pt_json_end(j);
}
