/* store/ring.h -- where a recording writes: one journal, or a ring of them that never grows.
 *
 * A ring is a directory, <uuid>.ring, with journals 00000001.pitot, 00000002.pitot and so on: one
 * after the other they are the run. Each is a whole journal that repeats the schema and the notes,
 * so the oldest can be taken away when the next begins. store/journal.h reads a ring as one
 * journal, also one whose writer was killed. */
#ifndef PT_STORE_RING_H
#define PT_STORE_RING_H

#include "store/journal.h"
#include "store/run.h"

#define PT_RING_SEGMENTS 16 /* of a full ring, about */

struct pt_ring_segment {
    uint64_t number, bytes;
    int64_t last_ns; /* CLOCK_MONOTONIC of its last sample */
};

struct pt_ring_note {
    char *key, *text;
    size_t text_len;
};

/* {0} is closed. */
struct pt_ring {
    struct pt_journal journal; /* of a ring the newest segment */
    char path[PATH_MAX];
    uint64_t bound_bytes; /* 0: no ring */
    uint8_t uuid[16];
    const struct pt_schema *schema;
    struct pt_ring_segment *segments; /* the older ones, oldest first */
    size_t segment_count, segment_capacity;
    uint64_t number; /* of the newest */
    int64_t last_ns;
    struct pt_ring_note *notes; /* the latest of each key */
    size_t note_count, note_capacity;
    uint64_t removed_count; /* segments taken away */
};

/* Creates a journal, or with a bound a ring that takes up to so many bytes. Borrows the schema. */
int pt_ring_create(struct pt_ring *r, const char *path, uint64_t bound_bytes,
                   const uint8_t uuid[16], const struct pt_schema *schema,
                   struct pt_err *err) PT_MUST_CHECK;
/* As pt_journal_write() and pt_journal_note(). */
int pt_ring_write(struct pt_ring *r, const struct pt_sample *s) PT_MUST_CHECK;
int pt_ring_note(struct pt_ring *r, struct pt_str key, struct pt_str text) PT_MUST_CHECK;
int pt_ring_close(struct pt_ring *r);

/* Makes a ring of its own, `into`, of what was written since (and somewhat before), and ends it
 * with `last` and a note; nothing of it is taken away later. Takes no time that grows with its
 * size, where the file system has links. 0 or -errno with words. */
int pt_ring_keep(struct pt_ring *r, int64_t since_ns, const char *into,
                 const struct pt_sample *last, struct pt_str key, struct pt_str text,
                 struct pt_err *err) PT_MUST_CHECK;

/* Takes a journal or ring away. */
void pt_ring_remove(const char *path);

/* The segment with the lowest number above `*number`; false if there is none. */
bool pt_ring_next_segment(const char *path, uint64_t *number);
void pt_ring_segment_path(const char *path, uint64_t number, char into[PATH_MAX]);

#endif
