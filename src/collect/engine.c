/* collect/engine.c -- metrics of inference engines, in one schema for all of them.
 *
 * The columns come from the lists in source/engine/alias.h. The main row has the totals over all
 * engines; the file of engines has one row per engine. Values are those of the latest complete
 * scrape (source/engine/), which has its own interval; values of an engine that stopped answering
 * are left out. Histograms are recorded as the growth of their buckets from scrape to scrape. */
#include "collect/collector.h"
#include "collect/source.h"
#include "derive/bucket_rows.h"
#include "source/engine/scraper.h"

#include <errno.h>

#define KIND_GAUGE   PT_GAUGE
#define KIND_COUNTER PT_COUNTER
#define KIND_TIME    PT_COUNTER
#define KIND_BYTES   PT_COUNTER
#define KIND_RATIO   PT_GAUGE
#define KIND_LEVEL   PT_GAUGE
#define UNIT_GAUGE   PT_COUNT
#define UNIT_COUNTER PT_COUNT
#define UNIT_TIME    PT_SECONDS
#define UNIT_BYTES   PT_BYTES
#define UNIT_RATIO   PT_RATIO
#define UNIT_LEVEL   PT_NONE

#define FIELD_COLUMN(constant, name, rule, is_expected, ...) \
    { name, name, KIND_##rule, PT_F64, UNIT_##rule, 0, __VA_ARGS__ },
#define LATENCY_COLUMN(name, suffix, kind, unit, ...) \
    {                                                 \
        "latency_" name "_s_" suffix,                 \
        "latency_" name "_s_" suffix,                 \
        kind,                                         \
        PT_F64,                                       \
        unit,                                         \
        0,                                            \
        __VA_ARGS__                                   \
    },
#define LATENCY_QUANTILE(name, level, ordinal, title_, heading_, importance_, words_)            \
    LATENCY_COLUMN(name, "p" #level, PT_GAUGE, PT_SECONDS,                                       \
                   ordinal " between the last two scrapes, " name, .title = title_ ", p" #level, \
                   .heading = heading_, .family = title_, .better = PT_LOWER_IS_BETTER,          \
                   .importance = importance_, .combine = PT_COMBINE_WORST, .words = words_,      \
                   .percentile = level, .histogram = "engine_histogram " name)
/* The sum grows by the mean number of requests that are in this phase. */
#define LATENCY_COLUMNS(name, title_, heading_, importance_, otel_, words_)                 \
    LATENCY_COLUMN(name, "sum", PT_COUNTER, PT_SECONDS, "Sum of latencies, " name,          \
                   .title = title_ ", sum", .form = PT_FORM_NUMBER, .importance = PT_RAW,   \
                   .otel = otel_ " sum", .words = words_)                                   \
    LATENCY_COLUMN(name, "count", PT_COUNTER, PT_COUNT, "Number of latencies, " name,       \
                   .title = title_ ", count", .importance = PT_RAW, .otel = otel_ " count", \
                   .words = words_)                                                         \
    LATENCY_QUANTILE(name, 50, "Median", title_, heading_ " p50", importance_, words_)      \
    LATENCY_QUANTILE(name, 90, "90th percentile", title_, NULL, PT_DETAIL, words_)          \
    LATENCY_QUANTILE(name, 95, "95th percentile", title_, NULL, PT_DETAIL, words_)          \
    LATENCY_QUANTILE(name, 99, "99th percentile", title_, heading_ " p99", PT_DETAIL, words_)
/* Only the engines have names in OpenTelemetry: their totals would count twice. */
#define TOTAL_LATENCY(constant, name, title, heading, importance, otel, words) \
    LATENCY_COLUMNS(name, title, heading, importance, "", words)
#define EACH_LATENCY(constant, name, title, heading, importance, otel, words) \
    LATENCY_COLUMNS(name, title, heading, importance, otel, words)
#define WIDTH_COLUMN(name, level, title_)                                                          \
    LATENCY_COLUMN(name, level "_width", PT_GAUGE, PT_SECONDS, "Uncertainty: width of its bucket", \
                   .title = title_ ", " level " width", .family = title_ ", width of buckets",     \
                   .better = PT_LOWER_IS_BETTER, .importance = PT_RAW,                             \
                   .combine = PT_COMBINE_WORST)
#define WIDTH_COLUMNS(constant, name, title_, ...) \
    WIDTH_COLUMN(name, "p50", title_)              \
    WIDTH_COLUMN(name, "p90", title_)              \
    WIDTH_COLUMN(name, "p95", title_)              \
    WIDTH_COLUMN(name, "p99", title_)

/* Recorded with the run, so that goodput is the same wherever it is derived. */
#define OBJECTIVE_COLUMN(name, title_, help_) \
    { "objective_" name "_s",                 \
      "objective_" name "_s",                 \
      PT_GAUGE,                               \
      PT_F64,                                 \
      PT_SECONDS,                             \
      0,                                      \
      help_,                                  \
      .title = title_,                        \
      .importance = PT_RAW,                   \
      .combine = PT_COMBINE_MAX,              \
      .words = "goodput slo" },

#define FIELDS_BEFORE_LATENCIES PT_ENGINE_TTFT_SUM
#define PER_LATENCY             (2 + PT_ENGINE_QUANTILE_COUNT)

static const struct pt_column all_columns[] = {
    PT_ENGINE_FIELDS(FIELD_COLUMN) PT_ENGINE_LATENCIES(TOTAL_LATENCY) OBJECTIVE_COLUMN(
        "ttft", "Objective: first token", "--slo-ttft, of the figure engine.goodput")
        OBJECTIVE_COLUMN("inter_token", "Objective: inter-token",
                         "--slo-inter-token, of the figure engine.goodput"){
            "remote_engines", "remote_engines", PT_GAUGE, PT_I64, PT_COUNT, 0,
            "Engines that run on another machine", .title = "Engines of other machines",
            .importance = PT_RAW, .words = "remote" },
};

enum {
    REMOTE_ENGINES = PT_COUNT(all_columns) - 1,
    OBJECTIVE_INTER_TOKEN = REMOTE_ENGINES - 1,
    OBJECTIVE_TTFT = OBJECTIVE_INTER_TOKEN - 1,
    VALUE_COUNT = OBJECTIVE_TTFT
};
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

enum { URL, ENGINE, MODEL, STATE, PROBLEM, NOTE, CONFIG, TOOK, FIRST_VALUE };
#define FIRST_WIDTH (FIRST_VALUE + VALUE_COUNT)

static const struct pt_column each_columns[] = {
    [URL] = { "eUrl", "url", PT_KEY, PT_STRING, PT_NONE, 0, "URL of its metrics",
              .title = "Address", .heading = "ENGINE", .words = "url endpoint" },
    [ENGINE] = { "eEngine", "engine", PT_INFO, PT_STRING, PT_NONE, 0, "vllm, sglang, tgi, ...",
                 .title = "Engine", .heading = "KIND" },
    [MODEL] = { "eModel", "model", PT_INFO, PT_STRING, PT_NONE, 0, "Model it serves",
                .title = "Model", .heading = "MODEL", .role = PT_ROLE_NAME, .words = "llm" },
    [STATE] = { "eState", "state", PT_INFO, PT_STRING, PT_NONE, 0,
                "asked: no answer yet; up; loading: it answers 503; failing: the last scrape "
                "failed; gone: several scrapes failed",
                .title = "State", .heading = "STATE" },
    [PROBLEM] = { "eProblem", "problem", PT_INFO, PT_STRING, PT_NONE, 0,
                  "Why a scrape failed, or lines of the page that could not be read",
                  .title = "Problem" },
    [NOTE] = { "eNote", "note", PT_INFO, PT_STRING, PT_NONE, 0,
               "Effects of reading this engine, and how Pitot avoids them", .title = "Note" },
    [CONFIG] = { "eConfig", "config", PT_INFO, PT_STRING, PT_NONE, 0,
                 "Labels of its info series, members of its pages, arguments of its command line",
                 .title = "Configuration", .importance = PT_RAW },
    [TOOK] = { "eScrapeTime", "scrape_time", PT_GAUGE, PT_I64, PT_NANOSECONDS, 0,
               "Duration of the last scrape", .title = "Duration of the scrape",
               .better = PT_LOWER_IS_BETTER, .importance = PT_RAW },
    PT_ENGINE_FIELDS(FIELD_COLUMN) PT_ENGINE_LATENCIES(EACH_LATENCY)
        PT_ENGINE_LATENCIES(WIDTH_COLUMNS)
};

static const struct pt_table each_table = {
    .name = "engines",
    PT_TABLE_PARTS("engine", "engines", NULL),
    .help = "Each inference engine",
    .columns = each_columns,
    .sources = sources,
    .column_count = PT_COUNT(each_columns),
    .source_count = 1,
};

#define SERIES_COLUMNS(X, t)                                                                      \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "URL of the engine's metrics", .title = "Engine",     \
      .heading = "ENGINE")                                                                        \
    X(t, name, "sName", KEY, STRING, NONE, 0, "Name of the series, set by the engine",            \
      .title = "Series", .heading = "SERIES", .role = PT_ROLE_NAME)                               \
    X(t, labels, "sLabels", KEY, STRING, NONE, 0, "Labels, set by the engine", .title = "Labels", \
      .heading = "LABELS")                                                                        \
    X(t, value, "sValue", GAUGE, F64, NONE, 0, "Value", .title = "Value", .heading = "VALUE",     \
      .combine = PT_COMBINE_NONE)

PT_TABLE(series, PT_TABLE_ROWS(SERIES, "engine_series", NULL),
         "Engine series without a column of their own (with --engine-raw)", SERIES_COLUMNS,
         "scrape of the engine");

#define ENGINE_HISTOGRAM_COLUMNS(X, t)                                                      \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "URL of the engine's metrics")                  \
    X(t, name, "hName", KEY, STRING, NONE, 0,                                               \
      "Latency, as in the names of columns: ttft, e2e, queue, inference, prefill, decode, " \
      "inter_token, tpot, batch_prefill, batch_decode",                                     \
      .title = "Latency", .heading = "LATENCY", .role = PT_ROLE_NAME)                       \
    PT_BUCKET_COLUMNS(X, t, SECONDS)

PT_TABLE(
    engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL),
    "Latency histograms of inference engines: one row per bucket that grew between two scrapes",
    ENGINE_HISTOGRAM_COLUMNS, "scrape of the engine");

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
    struct pt_bucket_growths growths;
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
    pt_bucket_growths_release(&s->growths);
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
    static const char *const states[] = { "asked", "up", "failing", "gone", "loading" };
    pt_batch_add_row(rows);
    pt_set_masked(rows, URL, pt_str_from(e->url));
    if (e->mono_ns || e->problem[0]) /* otherwise wait for the first answer */
        pt_set_str(rows, STATE, pt_str_from(states[e->state]));
    set_text(rows, PROBLEM, e->problem);
    if (e->mono_ns)
        pt_set_str(rows, ENGINE, pt_str_from(pt_engine_kind_name(e->kind)));
    set_text(rows, MODEL, e->model);
    set_text(rows, NOTE, e->note);
    set_text(rows, CONFIG, e->config);
    if (!is_fresh(s, e, now_ns))
        return;
    pt_set_time(rows, 0, e->mono_ns);
    pt_set_i64(rows, TOOK, e->took_ns);
    set_values(rows, FIRST_VALUE, e);
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++)
        for (int q = 0; q < PT_ENGINE_QUANTILE_COUNT; q++)
            pt_set_f64(rows, FIRST_WIDTH + PT_ENGINE_QUANTILE_COUNT * l + q,
                       e->quantiles[l][q].width);
}

static void add_series(const struct engine_state *s, size_t count, int64_t now_ns,
                       struct pt_batch *rows) {
    for (size_t i = 0; i < count; i++) {
        const struct pt_scraped_raw *r = &s->raw[i];
        const char *text = (const char *)s->raw_text.at;
        pt_batch_add_row(rows);
        pt_set_time(rows, 0, now_ns);
        pt_set_masked(rows, series_url, pt_str_from(s->engines[r->engine].url));
        pt_set_masked(rows, series_name, (struct pt_str){ text + r->name, r->name_len });
        pt_set_masked(rows, series_labels, (struct pt_str){ text + r->labels, r->labels_len });
        pt_set_f64(rows, series_value, r->value);
    }
}

static void add_growths(const struct engine_state *s, struct pt_batch *rows) {
    for (size_t i = 0; i < s->growths.count; i++) {
        const struct pt_bucket_growth *g = &s->growths.list[i];
        pt_batch_add_row(rows);
        pt_set_time(rows, 0, g->mono_ns);
        pt_set_masked(rows, engine_histogram_url, pt_str_from(s->engines[g->engine].url));
        pt_set_str(rows, engine_histogram_name, pt_str_from(pt_engine_latency_names[g->latency]));
        pt_bucket_row_set(rows, engine_histogram_above, g->above, g->le, g->count, g->seconds);
    }
}

static int engine_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct engine_state *s = state;
    if (context->is_last)
        pt_scraper_finish(s->scraper, LAST_PATIENCE_NS);
    /* Read before the engines, so that the engine of every series is listed. */
    pt_scraper_take_growths(s->scraper, &s->growths);
    size_t raw_count =
        context->engines->wants_raw
            ? pt_scraper_take_raw(s->scraper, &s->raw, &s->raw_capacity, &s->raw_text)
            : 0;
    size_t count = pt_scraper_take(s->scraper, s->engines, &s->all);
    if (is_fresh(s, &s->all, context->now_ns)) {
        pt_batch_add_row(&rows[0]);
        pt_set_time(&rows[0], 0, s->all.mono_ns);
        set_values(&rows[0], 0, &s->all);
        pt_set_f64(&rows[0], OBJECTIVE_TTFT, (double)context->engines->ttft_objective_ns / 1e9);
        pt_set_f64(&rows[0], OBJECTIVE_INTER_TOKEN,
                   (double)context->engines->inter_token_objective_ns / 1e9);
        int64_t remote_count = 0;
        for (size_t i = 0; i < count; i++)
            remote_count += s->engines[i].mono_ns && !s->engines[i].is_local;
        pt_set_i64(&rows[0], REMOTE_ENGINES, remote_count);
    }
    for (size_t i = 0; i < count; i++)
        add_engine(s, &s->engines[i], context->now_ns, &rows[1]);
    add_series(s, raw_count, context->now_ns, &rows[2]);
    add_growths(s, &rows[3]);
    return 0;
}

const struct pt_collector pt_engine_collector = {
    .name = "engines",
    .help = "inference engines: requests, queue, KV cache, tokens, latencies",
    .tables = { &engine_table, &each_table, &series_table, &engine_histogram_table },
    .state_size = sizeof(struct engine_state),
    .open = engine_open,
    .collect = engine_collect,
    .close = engine_close,
};
