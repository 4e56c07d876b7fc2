#include "runs/export.h"

#include "base/log.h"
#include "base/options.h"

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

struct exporting {
    struct pt_sink sinks[PT_EXPORT_FORMATS];
    bool is_open[PT_EXPORT_FORMATS];
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
        if (rc)
            note_failure(e, rc, &reason);
    }
}

static void close_sinks(struct exporting *e, int count) {
    for (int i = 0; i < count; i++) {
        struct pt_err reason = { "" };
        int rc = e->is_open[i] ? pt_sink_close(&e->sinks[i], &reason) : 0;
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
        note_failure(e, rc ? rc : -EIO, &reason);
    }
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
    struct exporting e = { .err = err };
    pt_views_init(&views, &reader.schema);
    pt_sample_init(&sample, &reader.schema);
    struct pt_sink_target target = { directory, name, &reader.schema, &views };
    open_sinks(&e, formats, &target);
    if (observer && observer->begin)
        observer->begin(observer->user, &reader);
    int next;
    while ((next = pt_journal_next(&reader, &sample)) > 0) {
        write_sinks(&e, formats->count, &sample);
        if (observer && observer->sample)
            observer->sample(observer->user, &sample);
    }
    if (next < 0) {
        struct pt_err reason;
        pt_fail(&reason, next, "cannot read %s: %s", journal, strerror(-next));
        note_failure(&e, next, &reason);
    }
    close_sinks(&e, formats->count);
    if (observer && observer->end)
        observer->end(observer->user, &reader);

    result->sample_count = reader.sample_count;
    result->tail_bytes = reader.tail_bytes;
    result->skipped_bytes = reader.skipped_bytes;
    result->skipped_sample_count = reader.skipped_sample_count;
    result->is_complete = reader.is_complete;
    uuid_unparse_lower(reader.uuid, result->uuid);
    pt_sample_release(&sample);
    pt_views_release(&views);
    pt_journal_reader_close(&reader);
    return e.rc;
}
