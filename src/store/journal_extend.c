#include "store/journal_extend.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define NEW_SUFFIX ".new"

struct extending {
    const struct pt_journal_extension *extension;
    struct pt_journal_reader reader;
    struct pt_journal journal;
    struct pt_schema schema; /* tables that stay, then those of the extension */
    const struct pt_table **tables;
    uint32_t *kept; /* which tables of the reader stay, by their number */
    uint32_t kept_count;
    struct pt_sample read, written;
    size_t note_count; /* copied so far */
};

static bool is_replaced(const struct pt_journal_extension *x, const struct pt_table *table) {
    for (uint32_t i = 0; i < x->table_count; i++)
        if (strcmp(x->tables[i]->name, table->name) == 0)
            return true;
    return false;
}

static void join_schemas(struct extending *e) {
    const struct pt_schema *old = &e->reader.schema;
    const struct pt_journal_extension *x = e->extension;
    e->tables = pt_calloc(old->table_count + x->table_count, sizeof *e->tables);
    e->kept = pt_calloc(old->table_count, sizeof *e->kept);
    for (uint32_t i = 0; i < old->table_count; i++) {
        if (is_replaced(x, old->tables[i]))
            continue;
        e->tables[e->kept_count] = old->tables[i];
        e->kept[e->kept_count++] = i;
    }
    for (uint32_t i = 0; i < x->table_count; i++)
        e->tables[e->kept_count + i] = x->tables[i];
    e->schema = (struct pt_schema){ e->tables, e->kept_count + x->table_count };
}

static int copy_notes(struct extending *e) {
    int rc = 0;
    for (; !rc && e->note_count < e->reader.note_count; e->note_count++) {
        const struct pt_journal_note *note = &e->reader.notes[e->note_count];
        rc = pt_journal_note(&e->journal, pt_str_from(note->key),
                             (struct pt_str){ note->text, note->text_len });
    }
    return rc;
}

/* Samples of the further tables alone, until the rest of them has room in one. */
static int write_surplus(struct extending *e, int64_t until_ns) {
    struct pt_batch *further = e->written.batches + e->kept_count;
    int rc = 0;
    pt_sample_clear(&e->written);
    while (!rc && e->extension->fill(e->extension->arg, until_ns, further)) {
        rc = pt_journal_write(&e->journal, &e->written);
        pt_sample_clear(&e->written);
    }
    return rc;
}

static bool has_rows(const struct extending *e) {
    for (uint32_t i = 0; i < e->schema.table_count; i++)
        if (e->written.batches[i].row_count > 0)
            return true;
    return false;
}

/* One that had nothing but rows of a replaced table goes with them. */
static int write_sample(struct extending *e) {
    e->written.mono_ns = e->read.mono_ns;
    e->written.wall_ns = e->read.wall_ns;
    int rc = write_surplus(e, e->read.mono_ns);
    for (uint32_t i = 0; i < e->kept_count; i++)
        pt_batch_copy(&e->written.batches[i], &e->read.batches[e->kept[i]]);
    return rc || !has_rows(e) ? rc : pt_journal_write(&e->journal, &e->written);
}

static int copy_samples(struct extending *e) {
    int next, rc = copy_notes(e);
    while (!rc && (next = pt_journal_next(&e->reader, &e->read)) != 0) {
        rc = next < 0 ? next : copy_notes(e);
        if (!rc)
            rc = write_sample(e);
    }
    /* Rows that are later than the last sample get its time. */
    if (!rc)
        rc = write_surplus(e, INT64_MAX);
    if (!rc && has_rows(e))
        rc = pt_journal_write(&e->journal, &e->written);
    return rc ? rc : copy_notes(e);
}

static int write_new(struct extending *e, const char *path, const char *new_path,
                     struct pt_err *err) {
    int rc = pt_journal_create(&e->journal, new_path, e->reader.uuid, &e->schema, err);
    if (rc)
        return rc;
    pt_sample_init(&e->read, &e->reader.schema);
    pt_sample_init(&e->written, &e->schema);
    rc = copy_samples(e);
    int closed = pt_journal_close(&e->journal);
    rc = rc ? rc : closed;
    if (!rc && !e->reader.is_complete)
        rc = -EBUSY;
    if (!rc && rename(new_path, path))
        rc = -errno;
    if (rc)
        unlink(new_path);
    pt_sample_release(&e->read);
    pt_sample_release(&e->written);
    if (rc == -EBUSY)
        return pt_fail(err, rc, "the run %s has not ended or is truncated", path);
    return rc ? pt_fail(err, rc, "cannot write %s: %s", new_path, strerror(-rc)) : 0;
}

int pt_journal_extend(const char *path, const struct pt_journal_extension *extension,
                      struct pt_err *err) {
    struct extending e = { .extension = extension };
    int rc = pt_journal_open(&e.reader, path, err);
    if (rc)
        return rc;
    char *new_path = pt_asprintf("%s" NEW_SUFFIX, path);
    unlink(new_path); /* of an attempt that was killed */
    join_schemas(&e);
    rc = write_new(&e, path, new_path, err);
    pt_free(e.tables);
    pt_free(e.kept);
    pt_free(new_path);
    pt_journal_reader_close(&e.reader);
    return rc;
}

int pt_journal_read_span(const char *path, struct pt_journal_span *span, struct pt_err *err) {
    struct pt_journal_reader reader = { 0 };
    struct pt_sample sample;
    *span = (struct pt_journal_span){ 0 };
    int rc = pt_journal_open(&reader, path, err);
    if (rc)
        return rc;
    pt_sample_init(&sample, &reader.schema);
    while ((rc = pt_journal_next(&reader, &sample)) > 0) {
        if (reader.sample_count == 1) {
            span->first_mono_ns = sample.mono_ns;
            span->ahead_ns = sample.wall_ns - sample.mono_ns;
        }
        span->last_mono_ns = sample.mono_ns;
    }
    span->is_complete = reader.is_complete;
    if (!rc && reader.sample_count == 0)
        rc = -ENODATA;
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    return rc ? pt_fail(err, rc, "cannot read %s: %s", path,
                        rc == -ENODATA ? "it has no samples" : strerror(-rc))
              : 0;
}
