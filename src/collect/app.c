/* collect/app.c -- spans and metrics of programs that use libpitot.
 *
 * Each process has a file <pid>-<start> in the directory of the run, read with
 * inside/region/reader.h. Spans are events: each becomes one row. Metrics are state: one row each
 * per reading, with a sampling interval of their own. Histograms are also recorded as the growth of
 * their buckets from reading to reading. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "derive/bucket_rows.h"
#include "inside/region/bucket_text.h"
#include "inside/region/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPAN_COLUMNS(X, t)                                                                       \
    X(t, pid, "sPid", KEY, I64, NONE, 0, "Process", .title = "Process id",                       \
      .role = PT_ROLE_PROCESS, .heading = "PID")                                                 \
    X(t, thread, "sThread", KEY, I64, NONE, 0, "Thread that ended the span", .title = "Thread",  \
      .role = PT_ROLE_THREAD)                                                                    \
    X(t, name, "sName", KEY, STRING, NONE, 0, "Name, set by the program", .title = "Name",       \
      .heading = "NAME", .role = PT_ROLE_NAME)                                                   \
    X(t, start, "sStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",              \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                             \
    X(t, duration, "sDuration", GAUGE, I64, NANOSECONDS, 0, "Duration; T: its start",            \
      .title = "Duration", .role = PT_ROLE_DURATION, .heading = "TIME",                          \
      .combine = PT_COMBINE_NONE, .words = "latency")                                            \
    X(t, argument, "sArgument", INFO, I64, NONE, 0, "Number, set by the program",                \
      .title = "Number")                                                                         \
    X(t, request, "sRequest", INFO, I64, NONE, 0, "Request that the span belongs to",            \
      .title = "Request")                                                                        \
    X(t, work, "sWork", INFO, STRING, NONE, 0, "What the number counts: samples, tokens, flows", \
      .title = "Unit of the number")                                                             \
    X(t, text, "sText", INFO, STRING, NONE, 0, "Text, set by the program", .title = "Text")

PT_TABLE(span, PT_TABLE_ROWS(EVENTS, "spans", NULL), "Spans of programs that use libpitot",
         SPAN_COLUMNS, "libpitot");

#define APP_METRIC_COLUMNS(X, t)                                                                 \
    X(t, pid, "aPid", KEY, I64, NONE, 0, "Process", .title = "Process id",                       \
      .role = PT_ROLE_PROCESS, .heading = "PID")                                                 \
    X(t, name, "aName", KEY, STRING, NONE, 0, "Name, set by the program", .title = "Name",       \
      .heading = "NAME", .role = PT_ROLE_NAME)                                                   \
    X(t, labels, "aLabels", KEY, STRING, NONE, 0, "Labels", .title = "Labels",                   \
      .heading = "LABELS")                                                                       \
    X(t, kind, "aKind", INFO, STRING, NONE, 0, "counter, gauge or histogram", .title = "Kind")   \
    X(t, unit, "aUnit", INFO, STRING, NONE, 0, "Unit, set by the program", .title = "Unit")      \
    X(t, value, "aValue", GAUGE, F64, NONE, 0, "Value of a counter or gauge", .title = "Value",  \
      .heading = "VALUE", .combine = PT_COMBINE_NONE)                                            \
    X(t, count, "aCount", COUNTER, I64, COUNT, 0, "Values in a histogram", .title = "Values",    \
      .heading = "COUNT", .combine = PT_COMBINE_NONE, .words = "histogram")                      \
    X(t, sum, "aSum", COUNTER, F64, NONE, 0, "Sum of the values", .title = "Sum of values",      \
      .combine = PT_COMBINE_NONE, .words = "histogram")                                          \
    X(t, p50, "aP50", GAUGE, F64, NONE, 0,                                                       \
      "Median of all values so far, within 1.1 %; shown: of the newest values",                  \
      .title = "Percentile, p50", .heading = "P50", .family = "Percentiles",                     \
      .combine = PT_COMBINE_NONE, .percentile = 50, .histogram = "app_histogram", .lasts_s = 15, \
      .words = "histogram")                                                                      \
    X(t, p90, "aP90", GAUGE, F64, NONE, 0,                                                       \
      "90th percentile of all values so far; shown: of the newest values",                       \
      .title = "Percentile, p90", .heading = "P90", .family = "Percentiles",                     \
      .combine = PT_COMBINE_NONE, .percentile = 90, .histogram = "app_histogram", .lasts_s = 15, \
      .words = "histogram")                                                                      \
    X(t, p99, "aP99", GAUGE, F64, NONE, 0,                                                       \
      "99th percentile of all values so far; shown: of the newest values",                       \
      .title = "Percentile, p99", .heading = "P99", .family = "Percentiles",                     \
      .combine = PT_COMBINE_NONE, .percentile = 99, .histogram = "app_histogram", .lasts_s = 15, \
      .words = "histogram")                                                                      \
    X(t, buckets, "aBuckets", INFO, STRING, NONE, 0,                                             \
      "Histogram buckets of width 2^(1/32), starting at 2^-32, DISTANCE:COUNT,...",              \
      .title = "Buckets", .importance = PT_RAW, .words = "histogram")

PT_TABLE(app_metric, PT_TABLE_ROWS(METRICS, "app_metrics", NULL),
         "Metrics of programs that use libpitot", APP_METRIC_COLUMNS, "libpitot");

#define APP_HISTOGRAM_COLUMNS(X, t)                                                             \
    X(t, pid, "aPid", KEY, I64, NONE, 0, "Process")                                             \
    X(t, name, "aName", KEY, STRING, NONE, 0, "Name, set by the program", .role = PT_ROLE_NAME) \
    X(t, labels, "aLabels", KEY, STRING, NONE, 0, "Labels")                                     \
    PT_BUCKET_COLUMNS(X, t, NONE)

PT_TABLE(app_histogram, PT_TABLE_ROWS(EVENTS, "app_histograms", NULL),
         "Histograms of programs that use libpitot; one row per bucket that grew between two "
         "readings",
         APP_HISTOGRAM_COLUMNS, "libpitot");

#define REGIONS_MAX      256
#define SPANS_PER_TICK   65536 /* rows; the rest waits for the next tick */
#define SPANS_AT_ONCE    1024
#define LOOK_PERIOD_NS   PT_NS_PER_SECOND
#define METRIC_PERIOD_NS (500 * PT_NS_PER_MS)

struct known_bucket {
    uint32_t bucket;
    uint64_t count;
};

/* The buckets of a histogram at its last reading. */
struct known_buckets {
    struct known_bucket *list; /* by number; without empty ones */
    size_t count, capacity;
};

struct watched {
    char name[48];
    struct pt_region region; /* closed: ended and read to the end, or unreadable */
    int64_t read_ns;         /* last reading of its metrics; 0: none */
    bool is_older;           /* than the recording: what it counted before is not part of it */
    struct known_buckets *histograms; /* by number of the metric */
    size_t histogram_count, histogram_capacity;
};

struct app_state {
    struct pt_fd directory;
    uint64_t pid_namespace;  /* as in a region; 0: unknown */
    struct timespec changed; /* of the directory at its last read */
    int64_t looked_ns, metrics_ns;
    struct watched *regions;
    size_t region_count, region_capacity;
    struct pt_region_span_record spans[SPANS_AT_ONCE];
    struct pt_region_value value;
    struct pt_buf text; /* of buckets */
    bool has_too_many;
};

static int app_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct app_state *s = state;
    if (!context->regions)
        return -ENODATA;
    int fd = open(context->regions, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot read %s: %s", context->regions, strerror(errno));
    s->directory = pt_fd_of(fd);
    struct stat space;
    s->pid_namespace = stat(PT_REGION_NAMESPACE, &space) ? 0 : space.st_ino;
    return 0;
}

static void release_watched(struct watched *w) {
    pt_region_close(&w->region);
    for (size_t i = 0; i < w->histogram_count; i++)
        pt_free(w->histograms[i].list);
    pt_free(w->histograms);
}

static void app_close(void *state) {
    struct app_state *s = state;
    for (size_t i = 0; i < s->region_count; i++)
        release_watched(&s->regions[i]);
    pt_free(s->regions);
    pt_buf_release(&s->text);
    (void)pt_fd_close(&s->directory);
}

static bool is_known(const struct app_state *s, const char *name) {
    for (size_t i = 0; i < s->region_count; i++)
        if (strcmp(s->regions[i].name, name) == 0)
            return true;
    return false;
}

/* False if the caller must try again. */
static bool add_region(struct app_state *s, const char *name, bool is_older) {
    struct watched w = { .is_older = is_older };
    if (strlen(name) >= sizeof w.name)
        return true;
    int rc = pt_region_open(&w.region, pt_fd_get(s->directory), name);
    if (rc == -EAGAIN)
        return false;
    if (rc)
        pt_log(PT_LOG_WARNING, "app: %s is not a libpitot region: %s", name, strerror(-rc));
    memcpy(w.name, name, strlen(name) + 1);
    pt_grow(&s->regions, &s->region_capacity, s->region_count + 1, sizeof *s->regions);
    s->regions[s->region_count++] = w;
    return true;
}

static void read_directory(struct app_state *s, struct timespec changed, bool is_first) {
    DIR *directory = pt_fs_list(pt_fd_get(s->directory), ".");
    bool is_complete = directory != NULL;
    for (struct dirent *e; directory && (e = readdir(directory));) {
        if (e->d_name[0] == '.' || is_known(s, e->d_name))
            continue;
        if (s->region_count < REGIONS_MAX) {
            is_complete &= add_region(s, e->d_name, is_first);
        } else {
            /* Files that are read to their end are removed, which frees slots for the others. */
            if (!s->has_too_many)
                pt_log(PT_LOG_WARNING,
                       "app: more than %d processes use libpitot; the others are not read yet",
                       REGIONS_MAX);
            s->has_too_many = true;
            is_complete = false;
        }
    }
    if (directory)
        closedir(directory);
    s->changed = is_complete ? changed : (struct timespec){ 0 };
}

static void look_for_regions(struct app_state *s, const struct pt_context *context) {
    struct stat st;
    if (!context->is_last && s->looked_ns && context->now_ns - s->looked_ns < LOOK_PERIOD_NS)
        return;
    bool is_first = s->looked_ns == 0;
    s->looked_ns = context->now_ns;
    if (fstat(pt_fd_get(s->directory), &st))
        return;
    bool has_changed =
        st.st_mtim.tv_sec != s->changed.tv_sec || st.st_mtim.tv_nsec != s->changed.tv_nsec;
    if (has_changed || context->is_last) /* two changes can have the same mtime */
        read_directory(s, st.st_mtim, is_first);
}

static void set_text(struct pt_batch *rows, int column, const char *text) {
    pt_set_str(rows, column, pt_str_from(text));
}

static void set_name(const struct pt_region *r, int64_t name, struct pt_batch *rows, int column) {
    char text[sizeof((struct pt_region_name *)NULL)->text + 1];
    pt_region_copy_name(r, (uint32_t)name, text);
    set_text(rows, column, text);
}

static void set_argument(struct pt_region *r, const struct pt_region_span_record *span,
                         struct pt_batch *rows) {
    static const char *const works[PT_REGION_WORK_MASK + 1] = { NULL, "samples", "tokens",
                                                                "flows" };
    if (span->flags & PT_REGION_HAS_TEXT)
        set_name(r, span->argument, rows, span_text);
    if (!(span->flags & PT_REGION_HAS_ARGUMENT))
        return;
    const char *work = works[span->flags >> PT_REGION_WORK_SHIFT & PT_REGION_WORK_MASK];
    pt_set_i64(rows, span_argument, span->argument);
    if (work)
        set_text(rows, span_work, work);
}

static void add_span(struct pt_region *r, const struct pt_region_span_record *span,
                     struct pt_batch *rows) {
    int64_t start_ns = pt_region_mono_ns(r, span->start_ticks);
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, start_ns);
    pt_set_i64(rows, span_pid, r->pid);
    pt_set_i64(rows, span_thread, span->thread);
    set_name(r, span->name, rows, span_name);
    pt_set_i64(rows, span_start, start_ns);
    pt_set_i64(rows, span_duration, pt_region_mono_ns(r, span->end_ticks) - start_ns);
    set_argument(r, span, rows);
    if (span->flags & PT_REGION_HAS_REQUEST)
        pt_set_i64(rows, span_request, (int64_t)span->request);
}

/* True if none are left. */
static bool add_spans(struct app_state *s, struct watched *w, const struct pt_context *context,
                      struct pt_batch *rows) {
    size_t count = SPANS_AT_ONCE;
    while (count == SPANS_AT_ONCE && (context->is_last || rows->row_count < SPANS_PER_TICK)) {
        count = pt_region_take_spans(&w->region, s->spans, SPANS_AT_ONCE);
        pt_region_follow(&w->region);
        for (size_t i = 0; i < count; i++)
            add_span(&w->region, &s->spans[i], rows);
    }
    return count < SPANS_AT_ONCE;
}

static void add_metric(struct app_state *s, const struct watched *w,
                       const struct pt_region_value *v, int64_t now_ns, struct pt_batch *rows) {
    static const char *const kinds[] = { "", "counter", "gauge", "histogram" };
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, now_ns);
    pt_set_i64(rows, app_metric_pid, w->region.pid);
    set_text(rows, app_metric_name, v->name);
    set_text(rows, app_metric_labels, v->labels);
    set_text(rows, app_metric_kind, kinds[v->kind]);
    set_text(rows, app_metric_unit, v->unit);
    if (v->kind != PT_REGION_HISTOGRAM) {
        pt_set_f64(rows, app_metric_value, v->value);
        return;
    }
    pt_set_i64(rows, app_metric_count, (int64_t)v->count);
    pt_set_f64(rows, app_metric_sum, v->sum);
    pt_set_f64(rows, app_metric_p50, pt_bucket_quantile(v->buckets, v->used, 0.5));
    pt_set_f64(rows, app_metric_p90, pt_bucket_quantile(v->buckets, v->used, 0.9));
    pt_set_f64(rows, app_metric_p99, pt_bucket_quantile(v->buckets, v->used, 0.99));
    pt_buf_clear(&s->text);
    pt_bucket_text_write(v->buckets, v->used, &s->text);
    pt_set_masked(rows, app_metric_buckets, pt_buf_as_str(&s->text));
}

/* The first bucket also has all smaller values, the last one all larger ones. */
static double lower_bound(uint32_t bucket) {
    return bucket == 0 ? -INFINITY : pt_bucket_lower(bucket);
}

static double upper_bound(uint32_t bucket) {
    return bucket + 1 == PT_BUCKET_COUNT ? INFINITY : pt_bucket_lower(bucket + 1);
}

static void add_bucket(const struct watched *w, const struct pt_region_value *v, uint32_t bucket,
                       uint64_t growth, int64_t now_ns, struct pt_batch *rows) {
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, now_ns);
    pt_set_i64(rows, app_histogram_pid, w->region.pid);
    set_text(rows, app_histogram_name, v->name);
    set_text(rows, app_histogram_labels, v->labels);
    double seconds = w->read_ns ? (double)(now_ns - w->read_ns) / PT_NS_PER_SECOND : (double)NAN;
    pt_bucket_row_set(rows, app_histogram_above, lower_bound(bucket), upper_bound(bucket),
                      (int64_t)growth, seconds);
}

static bool is_used(const struct pt_region_value *v, uint32_t bucket) {
    return bucket >= v->used.first && bucket < v->used.end;
}

/* Counts never fall in a program that lives: what fell is not what was read before. */
static bool has_fallen(const struct known_buckets *known, const struct pt_region_value *v) {
    for (size_t i = 0; i < known->count; i++)
        if (!is_used(v, known->list[i].bucket) ||
            v->buckets[known->list[i].bucket] < known->list[i].count)
            return true;
    return false;
}

static struct known_buckets *known_buckets_of(struct watched *w, uint32_t metric) {
    size_t count = metric + 1u;
    if (count > w->histogram_count) {
        pt_grow(&w->histograms, &w->histogram_capacity, count, sizeof *w->histograms);
        memset(w->histograms + w->histogram_count, 0,
               (count - w->histogram_count) * sizeof *w->histograms);
        w->histogram_count = count;
    }
    return &w->histograms[metric];
}

/* Adds what is new since the last reading. The program may have counted before the recording began:
 * then its first reading only says where to start. */
static void add_growth(struct watched *w, uint32_t metric, const struct pt_region_value *v,
                       int64_t now_ns, struct pt_batch *rows) {
    struct known_buckets *known = known_buckets_of(w, metric);
    bool is_start = (w->is_older && !w->read_ns) || has_fallen(known, v);
    size_t next = 0, count = 0;
    for (uint32_t i = v->used.first; i < v->used.end; i++) {
        if (v->buckets[i] == 0)
            continue;
        count++;
        bool is_known = next < known->count && known->list[next].bucket == i;
        uint64_t before = is_known ? known->list[next++].count : 0;
        if (!is_start && v->buckets[i] > before)
            add_bucket(w, v, i, v->buckets[i] - before, now_ns, rows);
    }
    pt_grow(&known->list, &known->capacity, count, sizeof *known->list);
    known->count = 0;
    for (uint32_t i = v->used.first; i < v->used.end; i++)
        if (v->buckets[i] > 0)
            known->list[known->count++] = (struct known_bucket){ i, v->buckets[i] };
}

static void add_metrics(struct app_state *s, struct watched *w, int64_t now_ns,
                        struct pt_batch *rows, struct pt_batch *bucket_rows) {
    uint32_t count = pt_region_metric_count(&w->region);
    for (uint32_t i = 1; i < count; i++) {
        if (!pt_region_read_metric(&w->region, i, &s->value))
            continue;
        add_metric(s, w, &s->value, now_ns, rows);
        if (s->value.kind == PT_REGION_HISTOGRAM)
            add_growth(w, i, &s->value, now_ns, bucket_rows);
    }
    w->read_ns = now_ns;
    uint64_t dropped = pt_region_dropped(&w->region);
    if (dropped == 0)
        return;
    struct pt_region_value lost = { .kind = PT_REGION_COUNTER,
                                    .name = "pitot_dropped",
                                    .value = (double)dropped };
    add_metric(s, w, &lost, now_ns, rows);
}

/* Without a word: by _exit(), or killed. A program that is replaced by exec has the same pid. */
static bool has_died(const struct app_state *s, const struct watched *w) {
    return s->pid_namespace &&
           pt_region_load(&w->region.at->header.pid_namespace) == s->pid_namespace &&
           w->region.pid > 0 && w->region.pid <= INT32_MAX && kill((pid_t)w->region.pid, 0) &&
           errno == ESRCH;
}

static void forget(struct app_state *s, struct watched *w) {
    unlinkat(pt_fd_get(s->directory), w->name, 0);
    release_watched(w);
    *w = s->regions[--s->region_count];
}

static int app_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct app_state *s = state;
    look_for_regions(s, context);
    bool wants_metrics = context->is_last || context->now_ns - s->metrics_ns >= METRIC_PERIOD_NS;
    if (wants_metrics)
        s->metrics_ns = context->now_ns;
    for (size_t i = s->region_count; i-- > 0;) {
        struct watched *w = &s->regions[i];
        if (!w->region.at)
            continue;
        if (!pt_region_is_whole(&w->region)) {
            pt_log(PT_LOG_WARNING, "app: %s was truncated; Pitot no longer reads it", w->name);
            pt_region_close(&w->region);
            continue;
        }
        bool has_ended = pt_region_has_ended(&w->region) || has_died(s, w);
        bool is_drained = add_spans(s, w, context, &rows[0]);
        if (wants_metrics || has_ended)
            add_metrics(s, w, context->now_ns, &rows[1], &rows[2]);
        if (has_ended && is_drained)
            forget(s, w);
    }
    return 0;
}

const struct pt_collector pt_app_collector = {
    .name = "app",
    .help = "spans and metrics of programs that use libpitot",
    .keep = PT_KEEP_ALWAYS, /* the rings of spans overflow */
    .tables = { &span_table, &app_metric_table, &app_histogram_table },
    .state_size = sizeof(struct app_state),
    .open = app_open,
    .collect = app_collect,
    .close = app_close,
};
