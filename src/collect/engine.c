/* collect/engine.c -- metrics of inference engines, in one schema for all of them.
 *
 * The columns come from the lists in source/engine/alias.h. The main row has the totals over all
 * engines; the file of engines has one row per engine. Values are those of the latest complete
 * scrape (source/engine/), which has its own interval; values of an engine that stopped answering
 * are left out. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/engine/scraper.h"

#include <errno.h>

#define KIND_GAUGE   PT_GAUGE
#define KIND_COUNTER PT_COUNTER
#define KIND_TIME    PT_COUNTER
#define KIND_RATIO   PT_GAUGE
#define KIND_LEVEL   PT_GAUGE
#define UNIT_GAUGE   PT_COUNT
#define UNIT_COUNTER PT_COUNT
#define UNIT_TIME    PT_SECONDS
#define UNIT_RATIO   PT_RATIO
#define UNIT_LEVEL   PT_NONE

#define FIELD_COLUMN(constant, name, rule, is_expected, help) \
    { name, name, KIND_##rule, PT_F64, UNIT_##rule, 0, help },
#define LATENCY_COLUMN(name, suffix, kind, unit, help) \
    { "latency_" name "_s_" suffix, "latency_" name "_s_" suffix, kind, PT_F64, unit, 0, help },
#define LATENCY_COLUMNS(constant, name)                                               \
    LATENCY_COLUMN(name, "sum", PT_COUNTER, PT_SECONDS, "Sum of latencies, " name)    \
    LATENCY_COLUMN(name, "count", PT_COUNTER, PT_COUNT, "Number of latencies, " name) \
    LATENCY_COLUMN(name, "p50", PT_GAUGE, PT_SECONDS,                                 \
                   "Median between the last two scrapes, " name)                      \
    LATENCY_COLUMN(name, "p90", PT_GAUGE, PT_SECONDS,                                 \
                   "90th percentile between the last two scrapes, " name)             \
    LATENCY_COLUMN(name, "p95", PT_GAUGE, PT_SECONDS,                                 \
                   "95th percentile between the last two scrapes, " name)             \
    LATENCY_COLUMN(name, "p99", PT_GAUGE, PT_SECONDS,                                 \
                   "99th percentile between the last two scrapes, " name)
#define WIDTH_COLUMNS(constant, name)                                                           \
    LATENCY_COLUMN(name, "p50_width", PT_GAUGE, PT_SECONDS, "Uncertainty: width of its bucket") \
    LATENCY_COLUMN(name, "p90_width", PT_GAUGE, PT_SECONDS, "Uncertainty: width of its bucket") \
    LATENCY_COLUMN(name, "p95_width", PT_GAUGE, PT_SECONDS, "Uncertainty: width of its bucket") \
    LATENCY_COLUMN(name, "p99_width", PT_GAUGE, PT_SECONDS, "Uncertainty: width of its bucket")

#define FIELDS_BEFORE_LATENCIES PT_ENGINE_TTFT_SUM
#define PER_LATENCY             (2 + PT_ENGINE_QUANTILE_COUNT)

static const struct pt_column all_columns[] = { PT_ENGINE_FIELDS(FIELD_COLUMN)
                                                    PT_ENGINE_LATENCIES(LATENCY_COLUMNS) };
static const char *const sources[] = { "scrape of the engine" };

static const struct pt_table engine_table = {
    .name = "engine",
    PT_TABLE_MAIN("vllm"),
    .help = "Totals over all inference engines",
    .columns = all_columns,
    .sources = sources,
    .column_count = PT_COUNT(all_columns),
    .source_count = 1,
    .is_untimed = true,
};

enum { URL, ENGINE, MODEL, STATE, PROBLEM, CONFIG, TOOK, FIRST_VALUE };
#define FIRST_WIDTH (FIRST_VALUE + (int)PT_COUNT(all_columns))

static const struct pt_column each_columns[] = {
    [URL] = { "eUrl", "url", PT_KEY, PT_STRING, PT_NONE, 0, "URL of its metrics" },
    [ENGINE] = { "eEngine", "engine", PT_INFO, PT_STRING, PT_NONE, 0, "vllm, sglang, tgi, ..." },
    [MODEL] = { "eModel", "model", PT_INFO, PT_STRING, PT_NONE, 0, "Model it serves" },
    [STATE] = { "eState", "state", PT_INFO, PT_STRING, PT_NONE, 0,
                "asked: no answer yet; up; failing: the last scrape failed; gone: several scrapes "
                "failed" },
    [PROBLEM] = { "eProblem", "problem", PT_INFO, PT_STRING, PT_NONE, 0, "Why a scrape failed" },
    [CONFIG] = { "eConfig", "config", PT_INFO, PT_STRING, PT_NONE, 0,
                 "Labels of its info series: cache and model configuration" },
    [TOOK] = { "eScrapeTime", "scrape_time", PT_GAUGE, PT_I64, PT_NANOSECONDS, 0,
               "Duration of the last scrape" },
    PT_ENGINE_FIELDS(FIELD_COLUMN) PT_ENGINE_LATENCIES(LATENCY_COLUMNS)
        PT_ENGINE_LATENCIES(WIDTH_COLUMNS)
};

static const struct pt_table each_table = {
    .name = "engines",
    PT_TABLE_FILE("engines", NULL),
    .help = "Each inference engine",
    .columns = each_columns,
    .sources = sources,
    .column_count = PT_COUNT(each_columns),
    .source_count = 1,
};

#define SERIES_COLUMNS(X, t)                                                           \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "URL of the engine's metrics")             \
    X(t, name, "sName", KEY, STRING, NONE, 0, "Name of the series, set by the engine") \
    X(t, labels, "sLabels", KEY, STRING, NONE, 0, "Labels, set by the engine")         \
    X(t, value, "sValue", GAUGE, F64, NONE, 0, "Value")

PT_TABLE(series, PT_TABLE_ROWS(SERIES, "engine_series", NULL),
         "Engine series without a column of their own (with --engine-raw)", SERIES_COLUMNS,
         "scrape of the engine");

/* A reading older than this many periods is stale. */
#define STALE_PERIODS 4
#define MIN_PERIOD_NS (500 * PT_NS_PER_MS) /* an engine needs milliseconds to render its metrics */
/* How long the end of a run waits for a last scrape. */
#define LAST_PATIENCE_NS (250 * PT_NS_PER_MS)

struct engine_state {
    struct pt_scraper *scraper;
    int64_t period_ns;
    struct pt_scraped engines[PT_SCRAPE_ENGINES], all;
    struct pt_scraped_raw *raw;
    size_t raw_capacity;
    struct pt_buf raw_text;
};

static int engine_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct engine_state *s = state;
    s->period_ns = context->interval_ns > MIN_PERIOD_NS ? context->interval_ns : MIN_PERIOD_NS;
    struct pt_scrape_options options = {
        .fs = context->fs,
        .must_discover = context->engines && context->engines->must_discover,
        .urls = context->engines ? context->engines->urls : NULL,
        .url_count = context->engines ? context->engines->url_count : 0,
        .wants_raw = context->engines && context->engines->wants_raw,
        .roots = context->target->pids,
        .root_count = context->target->pid_count,
        .period_ns = s->period_ns,
    };
    if (!context->fs->is_live)
        options.must_discover = false;
    return pt_scraper_new(&s->scraper, &options, err);
}

static void engine_close(void *state) {
    struct engine_state *s = state;
    pt_scraper_free(s->scraper);
    pt_buf_release(&s->raw_text);
    pt_free(s->raw);
}

static void set_values(struct pt_batch *row, int first, const struct pt_scraped *e) {
    for (int i = 0; i < FIELDS_BEFORE_LATENCIES; i++)
        if (e->present >> i & 1)
            pt_set_f64(row, first + i, e->values[i]);
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++) {
        int column = first + FIELDS_BEFORE_LATENCIES + PER_LATENCY * l;
        enum pt_engine_field sum = pt_engine_sum_of((enum pt_engine_latency)l);
        enum pt_engine_field count = pt_engine_count_of((enum pt_engine_latency)l);
        if (e->present >> sum & 1)
            pt_set_f64(row, column, e->values[sum]);
        if (e->present >> count & 1)
            pt_set_f64(row, column + 1, e->values[count]);
        for (int q = 0; q < PT_ENGINE_QUANTILE_COUNT; q++)
            if (e->quantiles[l][q].is_present)
                pt_set_f64(row, column + 2 + q, e->quantiles[l][q].value);
    }
}

static void set_text(struct pt_batch *row, int column, const char *text) {
    if (*text)
        pt_set_str(row, column, pt_str_from(text));
}

static bool is_fresh(const struct engine_state *s, const struct pt_scraped *e, int64_t now_ns) {
    return e->mono_ns && now_ns - e->mono_ns < STALE_PERIODS * s->period_ns;
}

static void add_engine(const struct engine_state *s, const struct pt_scraped *e, int64_t now_ns,
                       struct pt_batch *rows) {
    static const char *const states[] = { "asked", "up", "failing", "gone" };
    pt_batch_add_row(rows);
    pt_set_str(rows, URL, pt_str_from(e->url));
    if (e->mono_ns || e->problem[0]) /* otherwise wait for the first answer */
        pt_set_str(rows, STATE, pt_str_from(states[e->state]));
    set_text(rows, PROBLEM, e->problem);
    if (e->mono_ns)
        pt_set_str(rows, ENGINE, pt_str_from(pt_engine_kind_name(e->kind)));
    set_text(rows, MODEL, e->model);
    set_text(rows, CONFIG, e->config);
    if (!is_fresh(s, e, now_ns))
        return;
    pt_set_time(rows, 0, e->mono_ns);
    pt_set_i64(rows, TOOK, e->took_ns);
    set_values(rows, FIRST_VALUE, e);
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++)
        for (int q = 0; q < PT_ENGINE_QUANTILE_COUNT; q++)
            if (e->quantiles[l][q].is_present)
                pt_set_f64(rows, FIRST_WIDTH + PT_ENGINE_QUANTILE_COUNT * l + q,
                           e->quantiles[l][q].uncertainty);
}

static void add_series(const struct engine_state *s, size_t count, int64_t now_ns,
                       struct pt_batch *rows) {
    for (size_t i = 0; i < count; i++) {
        const struct pt_scraped_raw *r = &s->raw[i];
        const char *text = (const char *)s->raw_text.at;
        pt_batch_add_row(rows);
        pt_set_time(rows, 0, now_ns);
        pt_set_str(rows, series_url, pt_str_from(s->engines[r->engine].url));
        pt_set_str(rows, series_name, (struct pt_str){ text + r->name, r->name_len });
        pt_set_str(rows, series_labels, (struct pt_str){ text + r->labels, r->labels_len });
        pt_set_f64(rows, series_value, r->value);
    }
}

static int engine_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct engine_state *s = state;
    if (context->is_last)
        pt_scraper_finish(s->scraper, LAST_PATIENCE_NS);
    /* Read before the engines, so that the engine of every series is listed. */
    size_t raw_count =
        context->engines->wants_raw
            ? pt_scraper_take_raw(s->scraper, &s->raw, &s->raw_capacity, &s->raw_text)
            : 0;
    size_t count = pt_scraper_take(s->scraper, s->engines, &s->all);
    if (is_fresh(s, &s->all, context->now_ns)) {
        pt_batch_add_row(&rows[0]);
        pt_set_time(&rows[0], 0, s->all.mono_ns);
        set_values(&rows[0], 0, &s->all);
    }
    for (size_t i = 0; i < count; i++)
        add_engine(s, &s->engines[i], context->now_ns, &rows[1]);
    add_series(s, raw_count, context->now_ns, &rows[2]);
    return 0;
}

const struct pt_collector pt_engine_collector = {
    .name = "engines",
    .help = "inference engines: requests, queue, KV cache, tokens, latencies",
    .tables = { &engine_table, &each_table, &series_table },
    .state_size = sizeof(struct engine_state),
    .open = engine_open,
    .collect = engine_collect,
    .close = engine_close,
};
