#include "runs/export.h"

#include "base/log.h"
#include "base/options.h"
#include "derive/field.h"

#include <errno.h>
#include <stdio.h>
#include <uuid.h>

int pt_export_formats_parse(struct pt_export_formats *f, const char *list, struct pt_err *err) {
    *f = (struct pt_export_formats){ 0 };
    for (const char *at = list;; at++) {
        struct pt_str name = { at, strcspn(at, ",") };
        const struct pt_sink_type *type = pt_sink_find(name);
        if (!type) {
            char known[128];
            pt_choices_join(pt_sink_name, known, sizeof known);
            return pt_fail(err, -EINVAL, "unknown format '%.*s' (one of: %s)", (int)name.len,
                           name.at, known);
        }
        bool is_new = true;
        for (int i = 0; i < f->count; i++)
            is_new &= f->types[i] != type;
        if (is_new && f->count < PT_EXPORT_FORMATS)
            f->types[f->count++] = type;
        at += name.len;
        if (!*at)
            return 0;
    }
}

#define OWN_ROW "pitot" /* of the table of collectors: the whole program */

struct exporting {
    struct pt_sink sinks[PT_EXPORT_FORMATS];
    bool is_open[PT_EXPORT_FORMATS];
    bool *has_failed;    /* by format */
    struct pt_batch own; /* the last rows of Pitot's own table */
    int rc;
    struct pt_err *err;
};

/* The first failure is the one reported; the others are logged. */
static void note_failure(struct exporting *e, int rc, const struct pt_err *reason) {
    if (e->rc)
        pt_log(PT_LOG_ERROR, "%s", reason->text);
    else
        pt_fail(e->err, rc, "%s", reason->text);
    if (!e->rc)
        e->rc = rc;
}

static void open_sinks(struct exporting *e, const struct pt_export_formats *formats,
                       const struct pt_sink_target *target) {
    for (int i = 0; i < formats->count; i++) {
        struct pt_err reason = { "" };
        int rc = pt_sink_open(&e->sinks[i], formats->types[i], target, &reason);
        e->is_open[i] = rc == 0;
        e->has_failed[i] |= rc != 0;
        if (rc)
            note_failure(e, rc, &reason);
    }
}

static void close_sinks(struct exporting *e, int count) {
    for (int i = 0; i < count; i++) {
        struct pt_err reason = { "" };
        int rc = e->is_open[i] ? pt_sink_close(&e->sinks[i], &reason) : 0;
        e->has_failed[i] |= rc != 0;
        if (rc)
            note_failure(e, rc, &reason);
    }
}

static void write_sinks(struct exporting *e, int count, const struct pt_sample *sample) {
    for (int i = 0; i < count; i++) {
        if (!e->is_open[i] || !pt_sink_write(&e->sinks[i], sample))
            continue;
        struct pt_err reason = { "" };
        int rc = pt_sink_close(&e->sinks[i], &reason);
        e->is_open[i] = false;
        e->has_failed[i] = true;
        note_failure(e, rc ? rc : -EIO, &reason);
    }
}

/* What was counted until the last sample is still true after it. */
static void copy_counters(const struct pt_batch *from, int name, struct pt_batch *to) {
    for (uint32_t row = 0; row < from->row_count; row++) {
        if (pt_is_null(from, row, name) || !pt_str_eq(pt_get_str(from, row, name), PT_STR(OWN_ROW)))
            continue;
        for (int i = 0; i < from->table->column_count; i++)
            if (from->table->columns[i].kind == PT_COUNTER &&
                from->table->columns[i].type == PT_I64 && !pt_is_null(from, row, i))
                pt_set_i64(to, i, pt_get_i64(from, row, i));
    }
}

/* The last row of Pitot's own table is what the whole run cost it. */
static void write_cost(struct exporting *e, int count, const struct pt_own_cost *cost,
                       struct pt_sample *sample) {
    int table = pt_field_table(sample->schema, PT_FIELD_COLLECTOR_CPU);
    pt_sample_clear(sample);
    sample->mono_ns = cost->mono_ns;
    sample->wall_ns = cost->wall_ns;
    struct pt_batch *b = &sample->batches[table];
    int name = pt_field_column(b->table, PT_FIELD_COLLECTOR_NAME),
        cpu = pt_field_column(b->table, PT_FIELD_COLLECTOR_CPU),
        peak = pt_field_column(b->table, PT_FIELD_COLLECTOR_PEAK);
    if (name < 0 || cpu < 0 || peak < 0)
        return;
    pt_batch_add_row(b);
    pt_set_time(b, 0, cost->mono_ns);
    pt_set_str(b, name, PT_STR(OWN_ROW));
    copy_counters(&e->own, name, b);
    pt_set_i64(b, cpu, cost->cpu_ns);
    pt_set_i64(b, peak, cost->peak_bytes);
    write_sinks(e, count, sample);
}

static void keep_own_rows(struct exporting *e, const struct pt_sample *sample) {
    const struct pt_batch *rows = pt_field_rows(sample, PT_FIELD_COLLECTOR_CPU);
    if (rows && rows->row_count > 0)
        pt_batch_copy(&e->own, rows);
}

static void finish_own_table(struct exporting *e, int count, struct pt_sample *sample,
                             const struct pt_export_observer *observer,
                             const struct pt_journal_reader *reader) {
    int table = pt_field_table(sample->schema, PT_FIELD_COLLECTOR_CPU);
    struct pt_own_cost cost;
    for (int i = 0; i < count; i++)
        if (e->is_open[i])
            pt_sink_complete_others(&e->sinks[i], table < 0 ? UINT32_MAX : (uint32_t)table);
    bool is_known = observer && observer->cost;
    if (is_known)
        observer->cost(observer->user, &cost);
    else
        is_known = pt_own_cost_find(&cost, reader);
    if (is_known && table >= 0)
        write_cost(e, count, &cost, sample);
}

int pt_export(const char *journal, const struct pt_export_formats *formats, const char *directory,
              const char *name, const struct pt_export_observer *observer,
              struct pt_export_result *result, struct pt_err *err) {
    struct pt_journal_reader reader = { 0 };
    *result = (struct pt_export_result){ 0 };
    int rc = pt_journal_open(&reader, journal, err);
    if (rc)
        return rc;

    struct pt_views views;
    struct pt_sample sample;
    struct exporting e = { .err = err, .has_failed = result->has_failed };
    pt_views_init(&views, &reader.schema);
    pt_sample_init(&sample, &reader.schema);
    int own = pt_field_table(&reader.schema, PT_FIELD_COLLECTOR_CPU);
    if (own >= 0)
        pt_batch_init(&e.own, reader.schema.tables[own]);
    struct pt_sink_target target = { directory, name, &reader.schema, &views };
    open_sinks(&e, formats, &target);
    if (observer && observer->begin)
        observer->begin(observer->user, &reader);
    int next;
    while ((next = pt_journal_next(&reader, &sample)) > 0) {
        write_sinks(&e, formats->count, &sample);
        keep_own_rows(&e, &sample);
        if (observer && observer->sample)
            observer->sample(observer->user, &sample);
    }
    if (next < 0) {
        struct pt_err reason;
        pt_fail(&reason, next, "cannot read %s: %s", journal, strerror(-next));
        note_failure(&e, next, &reason);
    }
    finish_own_table(&e, formats->count, &sample, observer, &reader);
    close_sinks(&e, formats->count);
    if (observer && observer->end)
        observer->end(observer->user, &reader);

    result->sample_count = reader.sample_count;
    result->tail_bytes = reader.tail_bytes;
    result->skipped_bytes = reader.skipped_bytes;
    result->skipped_sample_count = reader.skipped_sample_count;
    result->is_complete = reader.is_complete;
    uuid_unparse_lower(reader.uuid, result->uuid);
    if (e.own.table)
        pt_batch_release(&e.own);
    pt_sample_release(&sample);
    pt_views_release(&views);
    pt_journal_reader_close(&reader);
    return e.rc;
}
