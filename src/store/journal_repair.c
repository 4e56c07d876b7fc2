#include "store/journal_repair.h"

#include <unistd.h>

bool pt_journal_is_damaged(const struct pt_journal_damage *d) {
    return d->is_header_damaged || d->is_schema_damaged || !d->is_complete ||
           d->skipped_bytes > 0 || d->tail_bytes > 0;
}

static int copy_notes(const struct pt_journal_reader *r, struct pt_journal *copy, size_t *copied) {
    int rc = 0;
    for (; !rc && *copied < r->note_count; ++*copied) {
        const struct pt_journal_note *note = &r->notes[*copied];
        rc = pt_journal_note(copy, pt_str_from(note->key),
                             (struct pt_str){ note->text, note->text_len });
    }
    return rc;
}

/* `copy` is NULL if the journal is only looked at. */
static int read_all(struct pt_journal_reader *r, struct pt_journal *copy) {
    struct pt_sample sample;
    size_t copied = 0;
    int rc = copy ? copy_notes(r, copy, &copied) : 0, next = 0;
    pt_sample_init(&sample, &r->schema);
    while (!rc && (next = pt_journal_next(r, &sample)) > 0) {
        rc = copy ? copy_notes(r, copy, &copied) : 0;
        if (!rc && copy)
            rc = pt_journal_write_lane(copy, r->lane, &sample);
    }
    if (!rc && copy)
        rc = copy_notes(r, copy, &copied);
    pt_sample_release(&sample);
    return rc ? rc : next;
}

/* The end of the journal says how many samples were written. */
static void describe(const struct pt_journal_reader *r, struct pt_journal_damage *d) {
    *d = (struct pt_journal_damage){
        .sample_count = r->sample_count,
        .skipped_bytes = r->skipped_bytes,
        .tail_bytes = r->tail_bytes,
        .lost_sample_count = r->written_sample_count > r->sample_count
                                 ? r->written_sample_count - r->sample_count
                                 : r->skipped_sample_count,
        .is_header_damaged = r->is_header_damaged,
        .is_schema_damaged = r->schema_origin != PT_SCHEMA_FIRST,
        .is_complete = r->is_complete,
    };
}

int pt_journal_repair(const char *path, const char *copy_path, struct pt_journal_damage *damage,
                      struct pt_err *err) {
    struct pt_journal_reader reader = { 0 };
    struct pt_journal copy = { 0 };
    int rc = pt_journal_open(&reader, path, err);
    if (rc)
        return rc;
    if (copy_path)
        rc = pt_journal_create(&copy, copy_path, reader.uuid, &reader.schema, err);
    if (!rc) {
        rc = read_all(&reader, copy_path ? &copy : NULL);
        describe(&reader, damage);
        int closed = copy_path ? pt_journal_close(&copy) : 0;
        rc = rc ? rc : closed;
        if (rc && copy_path)
            unlink(copy_path);
        if (rc)
            pt_fail(err, rc, "cannot copy %s: %s", path, strerror(-rc));
    }
    pt_journal_reader_close(&reader);
    return rc;
}
