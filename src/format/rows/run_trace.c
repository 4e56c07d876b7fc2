/* format/rows/run_trace.c -- Chrome trace events of the programs of a run: <name>.trace.json.
 *
 * Shows several tables: rows with a start and a duration that have a thread become events, with one
 * line per thread of a process or per stream of a GPU (model/table.h: roles). Spans have arrows
 * between those of a request. Metrics of programs become counters. A run without such rows is an
 * empty trace. */
#include "format/rows/formats.h"

#include "base/mem.h"
#include "base/names.h"
#include "derive/field.h"
#include "format/trace/flow.h"
#include "format/trace/lane.h"

#include <stdio.h>

#define FLOW_POINTS_MAX 1000000 /* spans with a request; later ones have no arrows */
#define PID_LIMIT       (1u << 22)

#define GPU_PROCESS     (1u << 31) /* and the number of a GPU: above the processes of 512 ranks */

/* A table of events and the indices of its columns; -1: it has no such column. */
struct span_table {
    int table;
    bool is_of_gpu; /* process and thread are GPU and stream */
    int process, thread, name, start, duration, argument, request, work, text, rank;
};

/* The table of metrics; -1: there is none. */
struct metric_table {
    int table, rank;
    struct pt_metric_columns columns;
};

struct trace {
    struct pt_out out;
    char *path;
    struct pt_trace events;
    struct span_table *spans;
    size_t span_count, span_capacity;
    uint32_t *next_rows; /* of the tables of spans, in a sample */
    struct metric_table metrics;
    struct pt_flow_point *points;
    size_t point_count, point_capacity;
    struct pt_lanes *lanes;
    struct pt_names ranks; /* of a merged run */
};

static int rank_of(const struct pt_table *t) {
    return pt_table_find(t, "rank");
}

static void add_span_table(struct trace *t, const struct pt_table *table, int index) {
    int gpu = pt_table_find_role(table, PT_ROLE_GPU);
    struct span_table s = {
        .table = index,
        .is_of_gpu = gpu >= 0,
        .process = gpu >= 0 ? gpu : pt_table_find_role(table, PT_ROLE_PROCESS),
        .thread = pt_table_find_role(table, PT_ROLE_THREAD),
        .name = pt_table_find_role(table, PT_ROLE_NAME),
        .start = pt_table_find_role(table, PT_ROLE_START),
        .duration = pt_table_find_role(table, PT_ROLE_DURATION),
        .argument = pt_field_column(table, PT_FIELD_SPAN_ARGUMENT),
        .request = pt_field_column(table, PT_FIELD_SPAN_REQUEST),
        .work = pt_field_column(table, PT_FIELD_SPAN_WORK),
        .text = pt_field_column(table, PT_FIELD_SPAN_TEXT),
        .rank = rank_of(table),
    };
    if (table->rows != PT_ROWS_EVENTS || s.start < 0 || s.duration < 0 || s.thread < 0)
        return;
    pt_grow(&t->spans, &t->span_capacity, t->span_count + 1, sizeof *t->spans);
    t->spans[t->span_count++] = s;
}

static void find_tables(struct trace *t, const struct pt_schema *schema) {
    for (uint32_t i = 0; i < schema->table_count; i++)
        add_span_table(t, schema->tables[i], (int)i);
    t->next_rows = pt_calloc(t->span_count + 1, sizeof *t->next_rows);
    t->metrics.table = pt_field_table(schema, PT_FIELD_METRIC_VALUE);
    if (t->metrics.table < 0)
        return;
    const struct pt_table *metrics = schema->tables[t->metrics.table];
    t->metrics.columns = pt_metric_columns_of(metrics);
    t->metrics.rank = rank_of(metrics);
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

static void write_span(struct trace *t, const struct pt_batch *b, uint32_t row,
                       const struct span_table *s) {
    struct pt_trace_span span = {
        .name = text(b, row, s->name),
        .pid = process(t, b, row, s->process, s->rank),
        .thread = (uint32_t)integer(b, row, s->thread),
        .start_ns = integer(b, row, s->start),
        .duration_ns = integer(b, row, s->duration),
        .argument = integer(b, row, s->argument),
        .text = text(b, row, s->text),
        .has_request = has(b, row, s->request, PT_I64),
        .request = (uint64_t)integer(b, row, s->request),
    };
    if (s->is_of_gpu)
        span.pid |= GPU_PROCESS;
    place(t, &span);
    if (has(b, row, s->argument, PT_I64))
        span.argument_key = argument_key(text(b, row, s->work));
    pt_trace_span(&t->events, &span);
    if (span.has_request)
        note_request(t, &span);
}

/* name{labels} */
static void write_metric(struct trace *t, const struct pt_batch *b, uint32_t row, int64_t time_ns) {
    const struct pt_metric_columns *c = &t->metrics.columns;
    if (!has(b, row, c->value, PT_F64))
        return;
    struct pt_str name = text(b, row, c->name);
    struct pt_str labels = text(b, row, c->labels);
    char *whole = pt_asprintf(labels.len > 0 ? "%.*s{%.*s}" : "%.*s", (int)name.len, name.at,
                              (int)labels.len, labels.at);
    pt_trace_counter(&t->events, process(t, b, row, c->process, t->metrics.rank), time_ns,
                     pt_str_from(whole), pt_get_f64(b, row, c->value));
    pt_free(whole);
}

/* The table with the next row to end; -1: all are at their end. Lanes require the spans of a thread
 * in that order, across tables. */
static int next_table(const struct trace *t, const struct pt_sample *sample) {
    int next = -1;
    uint64_t first = 0;
    for (size_t i = 0; i < t->span_count; i++) {
        const struct span_table *s = &t->spans[i];
        const struct pt_batch *b = &sample->batches[s->table];
        uint32_t row = t->next_rows[i];
        if (row == b->row_count)
            continue;
        uint64_t end = (uint64_t)integer(b, row, s->start) + (uint64_t)integer(b, row, s->duration);
        if (next < 0 || end < first) {
            next = (int)i;
            first = end;
        }
    }
    return next;
}

static int write_sample(void *state, const struct pt_sample *sample) {
    struct trace *t = state;
    const struct pt_batch *metrics =
        t->metrics.table < 0 ? NULL : &sample->batches[t->metrics.table];
    memset(t->next_rows, 0, t->span_count * sizeof *t->next_rows);
    for (int i; (i = next_table(t, sample)) >= 0; t->next_rows[i]++)
        write_span(t, &sample->batches[t->spans[i].table], t->next_rows[i], &t->spans[i]);
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
    find_tables(t, target->schema);
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
    pt_free(t->spans);
    pt_free(t->next_rows);
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
