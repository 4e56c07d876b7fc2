#include "report/spans.h"

#include "derive/field.h"
#include "store/rank.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES_MAX   500
#define THREADS_MAX 200

static int checked(const struct pt_table *table, int column, enum pt_type type) {
    return column >= 0 && table->columns[column].type == type ? column : -1;
}

static int find(const struct pt_table *table, enum pt_field_id field, enum pt_type type) {
    return checked(table, pt_field_column(table, field), type);
}

void pt_report_spans_init(struct pt_report_spans *s, const struct pt_schema *schema) {
    *s = (struct pt_report_spans){ .table = pt_field_table(schema, PT_FIELD_SPAN_NAME) };
    if (s->table < 0)
        return;
    const struct pt_table *table = schema->tables[s->table];
    s->rank = checked(table, pt_table_find(table, PT_RANK_COLUMN), PT_STRING);
    s->pid = find(table, PT_FIELD_SPAN_PROCESS, PT_I64);
    s->thread = find(table, PT_FIELD_SPAN_THREAD, PT_I64);
    s->name = find(table, PT_FIELD_SPAN_NAME, PT_STRING);
    s->start = find(table, PT_FIELD_SPAN_START, PT_I64);
    s->duration = find(table, PT_FIELD_SPAN_DURATION, PT_I64);
    if (s->pid < 0 || s->thread < 0 || s->name < 0 || s->start < 0 || s->duration < 0)
        s->table = -1;
}

void pt_report_spans_release(struct pt_report_spans *s) {
    pt_names_release(&s->names);
    pt_names_release(&s->threads);
    pt_free(s->totals);
    pt_free(s->heap);
}

/* Names above the limit share one number. */
static uint32_t number_of(struct pt_names *names, struct pt_str name, size_t max) {
    uint32_t found = pt_names_find(names, name);
    if (found != PT_NAMES_NONE)
        return found;
    return pt_names_add(names, names->count < max ? name : PT_STR("(others)"));
}

static void swap(struct pt_report_span *a, struct pt_report_span *b) {
    struct pt_report_span kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct pt_report_span *heap, size_t at) {
    while (at > 0 && heap[at].duration_ns < heap[(at - 1) / 2].duration_ns) {
        swap(&heap[at], &heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static void sift_down(struct pt_report_span *heap, size_t count) {
    for (size_t at = 0;;) {
        size_t least = at, left = 2 * at + 1;
        for (size_t child = left; child < left + 2 && child < count; child++)
            if (heap[child].duration_ns < heap[least].duration_ns)
                least = child;
        if (least == at)
            return;
        swap(&heap[at], &heap[least]);
        at = least;
    }
}

static void keep(struct pt_report_spans *s, const struct pt_report_span *span) {
    if (s->kept_count < PT_REPORT_SPANS_MAX) {
        pt_grow(&s->heap, &s->capacity, s->kept_count + 1, sizeof *s->heap);
        s->heap[s->kept_count] = *span;
        sift_up(s->heap, s->kept_count++);
    } else if (span->duration_ns > s->heap[0].duration_ns) {
        s->heap[0] = *span;
        sift_down(s->heap, s->kept_count);
    }
}

static void add_total(struct pt_report_spans *s, const struct pt_report_span *span) {
    size_t before = s->total_capacity;
    pt_grow(&s->totals, &s->total_capacity, span->name + 1, sizeof *s->totals);
    if (s->total_capacity > before)
        memset(s->totals + before, 0, (s->total_capacity - before) * sizeof *s->totals);
    struct pt_report_span_total *total = &s->totals[span->name];
    total->count++;
    total->total_ns += span->duration_ns;
    if (span->duration_ns > total->longest_ns)
        total->longest_ns = span->duration_ns;
}

static void add_row(struct pt_report_spans *s, const struct pt_batch *b, uint32_t row) {
    const int needed[] = { s->pid, s->thread, s->name, s->start, s->duration };
    for (size_t i = 0; i < PT_COUNT(needed); i++)
        if (pt_is_null(b, row, needed[i]))
            return;
    char thread[128], rank[48] = "";
    if (s->rank >= 0 && !pt_is_null(b, row, s->rank))
        snprintf(rank, sizeof rank, "rank %.*s, ", (int)pt_get_str(b, row, s->rank).len,
                 pt_get_str(b, row, s->rank).at);
    int n =
        snprintf(thread, sizeof thread, "%sprocess %lld, thread %lld", rank,
                 (long long)pt_get_i64(b, row, s->pid), (long long)pt_get_i64(b, row, s->thread));
    struct pt_report_span span = {
        .start_ns = pt_get_i64(b, row, s->start),
        .duration_ns = pt_get_i64(b, row, s->duration),
        .name = number_of(&s->names, pt_get_str(b, row, s->name), NAMES_MAX),
        .thread = number_of(&s->threads, (struct pt_str){ thread, (size_t)n }, THREADS_MAX),
    };
    if (span.duration_ns < 0)
        return;
    s->seen_count++;
    add_total(s, &span);
    keep(s, &span);
}

void pt_report_spans_add(struct pt_report_spans *s, const struct pt_sample *sample) {
    const struct pt_batch *b = s->table < 0 ? NULL : &sample->batches[s->table];
    for (uint32_t row = 0; b && row < b->row_count; row++)
        add_row(s, b, row);
}

static int by_start(const void *a, const void *b) {
    const struct pt_report_span *left = a, *right = b;
    if (left->start_ns != right->start_ns)
        return left->start_ns < right->start_ns ? -1 : 1;
    return left->duration_ns > right->duration_ns ? -1 : left->duration_ns < right->duration_ns;
}

static void write_names(const struct pt_names *names, const char *key, struct pt_json *j) {
    pt_json_array(j, key);
    for (size_t i = 0; i < names->count; i++)
        pt_json_str(j, NULL, names->list[i]);
    pt_json_end(j);
}

static void write_totals(const struct pt_report_spans *s, struct pt_json *j) {
    pt_json_array(j, "totals");
    for (size_t i = 0; i < s->names.count; i++) {
        pt_json_array(j, NULL);
        pt_json_i64(j, NULL, (int64_t)s->totals[i].count);
        pt_json_f64(j, NULL, (double)s->totals[i].total_ns / 1e9);
        pt_json_f64(j, NULL, (double)s->totals[i].longest_ns / 1e9);
        pt_json_end(j);
    }
    pt_json_end(j);
}

/* Fields of a span. The start is whole seconds and the rest, because one float is too coarse. */
enum field { START, REST, DURATION, NAME, THREAD, FIELD_COUNT };
static const char *const field_names[] = { "start", "rest", "duration", "name", "thread" };

static void write_fields(const struct pt_report_spans *s, int64_t start_ns, struct pt_json *j,
                         struct pt_blob *blob) {
    const int64_t second = 1000000000;
    double *values = pt_calloc(s->kept_count, sizeof *values);
    for (int field = 0; field < FIELD_COUNT; field++) {
        for (size_t i = 0; i < s->kept_count; i++) {
            const struct pt_report_span *span = &s->heap[i];
            int64_t since_ns = span->start_ns - start_ns;
            values[i] = field == START      ? (double)(since_ns / second)
                        : field == REST     ? (double)(since_ns % second) / 1e9
                        : field == DURATION ? (double)span->duration_ns / 1e9
                        : field == NAME     ? span->name
                                            : span->thread;
        }
        pt_json_i64(j, field_names[field],
                    (int64_t)pt_blob_add(blob, values, s->kept_count, 1, 0, PT_BLOB_EXACT));
    }
    pt_free(values);
}

void pt_report_spans_write(struct pt_report_spans *s, int64_t start_ns, struct pt_json *j,
                           struct pt_blob *blob) {
    if (s->kept_count == 0) {
        pt_json_null(j, "spans");
        return;
    }
    qsort(s->heap, s->kept_count, sizeof *s->heap, by_start);
    pt_json_object(j, "spans");
    pt_json_i64(j, "seen", (int64_t)s->seen_count);
    pt_json_i64(j, "count", (int64_t)s->kept_count);
    write_names(&s->names, "names", j);
    write_names(&s->threads, "threads", j);
    write_totals(s, j);
    write_fields(s, start_ns, j, blob);
    pt_json_end(j);
}
