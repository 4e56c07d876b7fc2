#include "top/replay.h"

#include "base/mem.h"

#include <errno.h>

#define KEYS_MAX 4096

static void note_key(struct pt_replay *r) {
    if (r->key_count > 0 && r->next.mono_ns <= r->keys[r->key_count - 1].mono_ns)
        return; /* already seen */
    if (r->keys_skipped++ % r->key_stride != 0)
        return;
    if (r->key_count == KEYS_MAX) { /* keep every other one from now on */
        for (size_t i = 0; i < r->key_count / 2; i++)
            r->keys[i] = r->keys[2 * i];
        r->key_count /= 2;
        r->key_stride *= 2;
    }
    pt_grow(&r->keys, &r->key_capacity, r->key_count + 1, sizeof *r->keys);
    r->keys[r->key_count++] = (struct pt_replay_key){ r->next.mono_ns, r->reader.key_place };
}

/* Reads one sample ahead. A read error is the end: the samples before it can still be shown. */
static void read_ahead(struct pt_replay *r) {
    struct pt_journal_place before = r->reader.key_place;
    if (r->has_next || pt_journal_next(&r->reader, &r->next) <= 0)
        return;
    r->has_next = true;
    if (r->reader.key_place.segment != before.segment ||
        r->reader.key_place.position != before.position)
        note_key(r);
    if (r->next.mono_ns > r->last_ns)
        r->last_ns = r->next.mono_ns;
}

int pt_replay_open(struct pt_replay *r, const char *journal, struct pt_err *err) {
    *r = (struct pt_replay){ .key_stride = 1 };
    int rc = pt_journal_open(&r->reader, journal, err);
    if (rc)
        return rc;
    pt_sample_init(&r->next, &r->reader.schema);
    read_ahead(r);
    if (!r->has_next) {
        pt_replay_close(r);
        return pt_fail(err, -ENODATA, "%s has no samples yet", journal);
    }
    r->first_ns = r->next.mono_ns;
    while (r->has_next) {
        r->has_next = false;
        read_ahead(r);
    }
    pt_replay_seek(r, r->first_ns);
    return 0;
}

void pt_replay_close(struct pt_replay *r) {
    pt_sample_release(&r->next);
    pt_free(r->keys);
    pt_journal_reader_close(&r->reader);
    *r = (struct pt_replay){ 0 };
}

void pt_replay_seek(struct pt_replay *r, int64_t mono_ns) {
    size_t at = r->key_count - 1;
    while (at > 0 && r->keys[at].mono_ns > mono_ns)
        at--;
    if (at > 0)
        at--;
    while (pt_journal_seek(&r->reader, r->keys[at].place) && at + 1 < r->key_count)
        at++; /* a ring loses its oldest part while it is recorded */
    r->has_next = false;
}

bool pt_replay_peek(struct pt_replay *r, int64_t *mono_ns) {
    read_ahead(r);
    *mono_ns = r->next.mono_ns;
    return r->has_next;
}

const struct pt_sample *pt_replay_until(struct pt_replay *r, int64_t mono_ns) {
    read_ahead(r);
    if (!r->has_next || r->next.mono_ns > mono_ns)
        return NULL;
    r->has_next = false;
    return &r->next;
}
