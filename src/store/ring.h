/* store/ring.h -- writes samples to one journal, or to a ring of journals of bounded size.
 *
 *     <uuid>.ring/00000012.pitot         segments of a recording with --blackbox
 *     DIR/history-1763268392000.pitot    segments of a history (store/segments.h)
 *
 * The name of a segment is its number; in this order they contain everything that was written. Each
 * is a whole journal that repeats the schema and the notes, so the oldest can be removed when the
 * next begins, and a killed writer leaves everything it wrote. store/journal.h reads the ring of a
 * recording as one journal. */
#ifndef PT_STORE_RING_H
#define PT_STORE_RING_H

#include "store/journal.h"
#include "store/run.h"

struct pt_ring_kind {
    const char *prefix; /* of the names of segments */
    int digits;
    uint64_t segments; /* of a full ring, about */
};
extern const struct pt_ring_kind pt_ring_recording;

struct pt_ring_segment {
    uint64_t number, bytes;
    int64_t last_ns; /* CLOCK_MONOTONIC of its last sample; 0 of one that another program wrote */
};

struct pt_ring_list {
    struct pt_ring_segment *at; /* the oldest first */
    size_t count, capacity;
};

struct pt_ring_note {
    char *key, *text;
    size_t text_len;
};

/* {0} is closed. */
struct pt_ring {
    const struct pt_ring_kind *kind;
    struct pt_journal journal; /* of a ring the newest segment */
    char path[PATH_MAX];
    uint64_t bound_bytes; /* 0: no ring */
    uint8_t uuid[16];     /* zeros: each segment has its own */
    const struct pt_schema *schema;
    struct pt_ring_list ended;    /* all segments but the one that is written */
    uint64_t number, next_number; /* of the newest segment, and of the one after it */
    int64_t last_ns;
    struct pt_ring_note *notes; /* the latest of each key */
    size_t note_count, note_capacity;
    uint64_t removed_count; /* segments removed */
};

/* Creates a journal, or with a bound a ring of at most this many bytes. Borrows the schema. */
int pt_ring_create(struct pt_ring *r, const char *path, uint64_t bound_bytes,
                   const uint8_t uuid[16], const struct pt_schema *schema,
                   struct pt_err *err) PT_MUST_CHECK;
/* Continues after the segments in a directory, whichever program wrote them. Each segment is a run
 * with its own uuid; the first begins with the first sample. Borrows kind and schema.
 * 0 or -errno. */
int pt_ring_adopt(struct pt_ring *r, const struct pt_ring_kind *kind, const char *directory,
                  uint64_t bound_bytes, const struct pt_schema *schema) PT_MUST_CHECK;
/* As pt_journal_write() and pt_journal_note(). */
int pt_ring_write(struct pt_ring *r, const struct pt_sample *s) PT_MUST_CHECK;
int pt_ring_note(struct pt_ring *r, struct pt_str key, struct pt_str text) PT_MUST_CHECK;
int pt_ring_close(struct pt_ring *r);

/* Ends the newest segment before it is full: the next sample begins another. 0 or -errno. */
int pt_ring_end_segment(struct pt_ring *r);
/* Removes the oldest ended segment. */
void pt_ring_drop(struct pt_ring *r, size_t count);

/* Makes a separate ring, `into`, of what was written since that time (and a little before), and
 * ends it with `last` and a note; it stays complete. On file systems with links the time does not
 * depend on its size. 0, or -errno with a message. */
int pt_ring_keep(struct pt_ring *r, int64_t since_ns, const char *into,
                 const struct pt_sample *last, struct pt_str key, struct pt_str text,
                 struct pt_err *err) PT_MUST_CHECK;

/* Removes a journal or ring. */
void pt_ring_remove(const char *path);

/* Lists the segments in a directory. 0 or -errno; the caller frees `list->at`. */
int pt_ring_list(const struct pt_ring_kind *kind, const char *directory,
                 struct pt_ring_list *list) PT_MUST_CHECK;
void pt_ring_path(const struct pt_ring_kind *kind, const char *directory, uint64_t number,
                  char into[PATH_MAX]);

/* Of a recording: the segment with the lowest number above `*number`; false if there is none. */
bool pt_ring_next_segment(const char *path, uint64_t *number);
void pt_ring_segment_path(const char *path, uint64_t number, char into[PATH_MAX]);

#endif
