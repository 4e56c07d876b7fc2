/* format/rows/run_trace.c -- Chrome trace events of the programs of a run: <name>.trace.json.
 *
 * Shows several tables: spans become events with arrows between those of a request, app_metrics
 * become counters, and GPU activity (gputrace/gpu_tables.h) becomes events with one line per stream
 * and one process per GPU. So it is the only format that knows columns by name; a run without them
 * is an empty trace. */
#include "format/rows/formats.h"

#include "base/mem.h"
#include "base/names.h"
#include "format/trace/flow.h"
#include "format/trace/lane.h"

#include <stdio.h>

#define FLOW_POINTS_MAX 1000000 /* spans with a request; later ones have no arrows */
#define PID_LIMIT       (1u << 22)

enum {
    SPAN_PID,
    SPAN_THREAD,
    SPAN_NAME,
    SPAN_START,
    SPAN_DURATION,
    SPAN_ARGUMENT,
    SPAN_REQUEST,
    SPAN_WORK,
    SPAN_TEXT,
    SPAN_RANK
};
#define SPAN_COLUMNS 10

/* Tables of entities with a start and a duration. */
static const struct {
    const char *table;
    const char *columns[SPAN_COLUMNS]; /* in the order above; absent ones are NULL */
    bool is_of_gpu;                    /* process and thread are GPU and stream */
} span_tables[] = {
    { "span",
      { "sPid", "sThread", "sName", "sStart", "sDuration", "sArgument", "sRequest", "sWork",
        "sText", "rank" },
      false },
    { "gpu_kernel",
      { "gkDevice", "gkStream", "gkName", "gkStart", "gkDuration", [SPAN_RANK] = "rank" },
      true },
    { "gpu_copy",
      { "gmDevice", "gmStream", "gmDirection", "gmStart", "gmDuration", [SPAN_RANK] = "rank" },
      true },
    { "gpu_call",
      { "gcPid", "gcThread", "gcName", "gcStart", "gcDuration", [SPAN_RANK] = "rank" },
      false },
    { "gpu_range",
      { "grPid", "grThread", "grName", "grStart", "grDuration", [SPAN_RANK] = "rank" },
      false },
};
#define GPU_PROCESS (1u << 31) /* and the number of a GPU: above the processes of 512 ranks */

enum { METRIC_PID, METRIC_NAME, METRIC_LABELS, METRIC_VALUE, METRIC_RANK };
static const char *const metric_names[] = { "aPid", "aName", "aLabels", "aValue", "rank" };

/* A table and the indices of its columns; -1: it has no column of that name. */
struct found {
    int table;
    int columns[SPAN_COLUMNS];
};

struct trace {
    struct pt_out out;
    char *path;
    struct pt_trace events;
    struct found spans[PT_COUNT(span_tables)], metrics;
    struct pt_flow_point *points;
    size_t point_count, point_capacity;
    struct pt_lanes *lanes;
    struct pt_names ranks; /* of a merged run */
};

static struct found find(const struct pt_schema *schema, const char *table,
                         const char *const *names, size_t count) {
    struct found found = { .table = pt_schema_find(schema, table) };
    for (size_t i = 0; i < count; i++) {
        found.columns[i] = -1;
        for (int k = 0;
             names[i] && found.table >= 0 && k < schema->tables[found.table]->column_count; k++)
            if (strcmp(schema->tables[found.table]->columns[k].name, names[i]) == 0)
                found.columns[i] = k;
    }
    return found;
}

static bool has(const struct pt_batch *b, uint32_t row, int column, enum pt_type type) {
    return column >= 0 && b->table->columns[column].type == type && !pt_is_null(b, row, column);
}

static int64_t integer(const struct pt_batch *b, uint32_t row, int column) {
    return has(b, row, column, PT_I64) ? pt_get_i64(b, row, column) : 0;
}

static struct pt_str text(const struct pt_batch *b, uint32_t row, int column) {
    return has(b, row, column, PT_STRING) ? pt_get_str(b, row, column) : PT_STR("");
}

/* Processes of several hosts may have the same number. Those of the rank seen first keep theirs;
 * the kernel's own numbers are below PID_LIMIT. */
static uint32_t process(struct trace *t, const struct pt_batch *b, uint32_t row, int pid,
                        int rank) {
    uint32_t number = (uint32_t)integer(b, row, pid);
    if (!has(b, row, rank, PT_STRING))
        return number;
    return number + PID_LIMIT * pt_names_add(&t->ranks, pt_get_str(b, row, rank));
}

static void note_request(struct trace *t, const struct pt_trace_span *span) {
    if (t->point_count == FLOW_POINTS_MAX)
        return;
    pt_grow(&t->points, &t->point_capacity, t->point_count + 1, sizeof *t->points);
    t->points[t->point_count++] = (struct pt_flow_point){ .request = span->request,
                                                          .start_ns = span->start_ns,
                                                          .pid = span->pid,
                                                          .thread = span->thread };
}

/* A journal may contain any text: only known words become keys. */
static const char *argument_key(struct pt_str work) {
    static const char *const works[] = { "samples", "tokens", "flows" };
    for (size_t i = 0; i < PT_COUNT(works); i++)
        if (pt_str_eq(work, pt_str_from(works[i])))
            return works[i];
    return "argument";
}

/* A journal may contain any times. */
static void place(struct trace *t, struct pt_trace_span *span) {
    int64_t end_ns;
    if (span->start_ns < 0 || span->duration_ns < 0 ||
        __builtin_add_overflow(span->start_ns, span->duration_ns, &end_ns))
        return;
    uint32_t lane = pt_lanes_place(t->lanes, span->pid, span->thread, &span->start_ns, end_ns);
    span->duration_ns = end_ns - span->start_ns;
    span->thread = pt_lane_thread(span->thread, lane);
}

static void write_span(struct trace *t, const struct pt_batch *b, uint32_t row, const int *columns,
                       bool is_of_gpu) {
    struct pt_trace_span span = {
        .name = text(b, row, columns[SPAN_NAME]),
        .pid = process(t, b, row, columns[SPAN_PID], columns[SPAN_RANK]),
        .thread = (uint32_t)integer(b, row, columns[SPAN_THREAD]),
        .start_ns = integer(b, row, columns[SPAN_START]),
        .duration_ns = integer(b, row, columns[SPAN_DURATION]),
        .argument = integer(b, row, columns[SPAN_ARGUMENT]),
        .text = text(b, row, columns[SPAN_TEXT]),
        .has_request = has(b, row, columns[SPAN_REQUEST], PT_I64),
        .request = (uint64_t)integer(b, row, columns[SPAN_REQUEST]),
    };
    if (is_of_gpu)
        span.pid |= GPU_PROCESS;
    place(t, &span);
    if (has(b, row, columns[SPAN_ARGUMENT], PT_I64))
        span.argument_key = argument_key(text(b, row, columns[SPAN_WORK]));
    pt_trace_span(&t->events, &span);
    if (span.has_request)
        note_request(t, &span);
}

/* name{labels} */
static void write_metric(struct trace *t, const struct pt_batch *b, uint32_t row, int64_t time_ns) {
    const int *columns = t->metrics.columns;
    if (!has(b, row, columns[METRIC_VALUE], PT_F64))
        return;
    struct pt_str name = text(b, row, columns[METRIC_NAME]);
    struct pt_str labels = text(b, row, columns[METRIC_LABELS]);
    char *whole = pt_asprintf(labels.len > 0 ? "%.*s{%.*s}" : "%.*s", (int)name.len, name.at,
                              (int)labels.len, labels.at);
    pt_trace_counter(&t->events, process(t, b, row, columns[METRIC_PID], columns[METRIC_RANK]),
                     time_ns, pt_str_from(whole), pt_get_f64(b, row, columns[METRIC_VALUE]));
    pt_free(whole);
}

/* The table with the next row to end; -1: all are at their end. Lanes require the spans of a thread
 * in that order, across tables. */
static int next_table(const struct trace *t, const struct pt_sample *sample, const uint32_t *rows) {
    int next = -1;
    uint64_t first = 0;
    for (int i = 0; i < (int)PT_COUNT(span_tables); i++) {
        const struct found *f = &t->spans[i];
        const struct pt_batch *b = f->table < 0 ? NULL : &sample->batches[f->table];
        if (!b || rows[i] == b->row_count)
            continue;
        uint64_t end = (uint64_t)integer(b, rows[i], f->columns[SPAN_START]) +
                       (uint64_t)integer(b, rows[i], f->columns[SPAN_DURATION]);
        if (next < 0 || end < first) {
            next = i;
            first = end;
        }
    }
    return next;
}

static int write_sample(void *state, const struct pt_sample *sample) {
    struct trace *t = state;
    const struct pt_batch *metrics =
        t->metrics.table < 0 ? NULL : &sample->batches[t->metrics.table];
    uint32_t rows[PT_COUNT(span_tables)] = { 0 };
    for (int i; (i = next_table(t, sample, rows)) >= 0; rows[i]++)
        write_span(t, &sample->batches[t->spans[i].table], rows[i], t->spans[i].columns,
                   span_tables[i].is_of_gpu);
    for (uint32_t row = 0; metrics && row < metrics->row_count; row++)
        write_metric(t, metrics, row, sample->mono_ns);
    return t->out.error;
}

static int open_trace(void *state, const struct pt_sink_target *target, struct pt_err *err) {
    struct trace *t = state;
    t->path = pt_asprintf("%s/%s.trace.json", target->directory, target->name);
    int rc = pt_out_create(&t->out, t->path, err);
    if (rc) {
        pt_free(t->path);
        return rc;
    }
    for (size_t i = 0; i < PT_COUNT(span_tables); i++)
        t->spans[i] =
            find(target->schema, span_tables[i].table, span_tables[i].columns, SPAN_COLUMNS);
    t->metrics = find(target->schema, "app_metric", metric_names, PT_COUNT(metric_names));
    t->lanes = pt_calloc(1, sizeof *t->lanes);
    pt_trace_begin(&t->events, &t->out);
    return 0;
}

static bool is_first_of_process(const struct pt_lanes *lanes, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (lanes->lanes[i].is_used && lanes->lanes[i].pid == lanes->lanes[index].pid)
            return false;
    return true;
}

static uint32_t name_stream(struct trace *t, size_t index, uint32_t order) {
    const struct pt_lane *lane = &t->lanes->lanes[index];
    size_t number = (lane->pid & ~GPU_PROCESS) / PID_LIMIT;
    struct pt_str rank = number < t->ranks.count ? t->ranks.list[number] : PT_STR("");
    char name[64];
    if (is_first_of_process(t->lanes, index)) {
        snprintf(name, sizeof name, "GPU %u%s%.*s", lane->pid % PID_LIMIT,
                 rank.len > 0 ? " of " : "", (int)rank.len, rank.at);
        pt_trace_process(&t->events, lane->pid, pt_str_from(name));
    }
    if (lane->number > 0)
        return order;
    snprintf(name, sizeof name, "stream %u", lane->thread);
    return pt_lanes_name(&t->events, t->lanes, lane->pid, lane->thread, pt_str_from(name), order);
}

static int close_trace(void *state, struct pt_err *err) {
    struct trace *t = state;
    pt_flows_write(&t->events, t->points, t->point_count);
    /* Names the lanes of streams, and of threads with more than one lane. */
    uint32_t order = 0;
    for (size_t i = 0; i < PT_LANES; i++) {
        const struct pt_lane *lane = &t->lanes->lanes[i];
        if (lane->is_used && lane->pid & GPU_PROCESS)
            order = name_stream(t, i, order);
        else if (lane->is_used && lane->number == 1)
            order = pt_lanes_name(&t->events, t->lanes, lane->pid, lane->thread, PT_STR(""), order);
    }
    pt_trace_end(&t->events);
    int rc = pt_out_close(&t->out);
    if (rc)
        pt_fail(err, rc, "cannot write %s: %s", t->path, strerror(-rc));
    pt_names_release(&t->ranks);
    pt_free(t->points);
    pt_free(t->lanes);
    pt_free(t->path);
    return rc;
}

const struct pt_sink_type pt_trace_sink = {
    .name = "trace",
    .help = "spans of programs with libpitot and GPU activity, for Perfetto: <uuid>.trace.json",
    .state_size = sizeof(struct trace),
    .open = open_trace,
    .write = write_sample,
    .close = close_trace,
};
