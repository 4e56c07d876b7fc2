/* store/journal.h -- <uuid>.pitot, the crash-safe record of a run.
 *
 * Append-only and self-describing: a header, the schema, then a record per sample, each appended by
 * one write(2) and checksummed. A sample holds only the differences to the previous one; every
 * PT_JOURNAL_KEY_SAMPLES a key sample is complete, so damage loses the samples up to the next key
 * sample and no more. The schema is written twice. docs/JOURNAL.md specifies every byte. */
#ifndef PT_STORE_JOURNAL_H
#define PT_STORE_JOURNAL_H

#include "base/err.h"
#include "base/fd.h"
#include "model/sample.h"

#define PT_JOURNAL_MAJOR       2
#define PT_JOURNAL_MINOR       0

#define PT_JOURNAL_KEY_SAMPLES 256          /* a key sample at least this often... */
#define PT_JOURNAL_KEY_BYTES   (8u << 20)   /* ...and after that many bytes of others */
#define PT_JOURNAL_RECORD_MAX  (256u << 20) /* bytes of a payload, and of a sample in memory */
#define PT_JOURNAL_NOTE_MAX    (16u << 20)  /* bytes of a note */

#define PT_JOURNAL_LANES_MAX   1024

struct pt_delta; /* store/journal_delta.h */
struct pt_journal_reader;

/* Samples that are coded as differences to each other. A run has one lane; a merged run has one per
 * original run, because samples of different machines have nothing in common. */
struct pt_journal_lane {
    struct pt_delta *delta;
    uint32_t samples_since_key; /* writing: 0: the next is a key sample */
    uint64_t bytes_since_key;
    bool needs_key; /* reading: what was before is not known */
};

/* The writing end. {0} is closed. */
struct pt_journal {
    struct pt_fd fd;
    uint8_t uuid[16];
    const struct pt_schema *schema;
    struct pt_journal_lane *lanes;
    size_t lane_count, lane_capacity;
    struct pt_buf record, packed_schema; /* the latter: a whole record */
    uint64_t schema_id;
    bool has_second_schema;
    int stopped; /* 0, or the -errno after which not even truncation helped */

    uint64_t byte_count; /* of the file: all of them whole records */
    uint64_t sample_count, lost_sample_count;
};

/* Creates the file (never replaces one) and writes the header and the schema, which it borrows. */
int pt_journal_create(struct pt_journal *j, const char *path, const uint8_t uuid[16],
                      const struct pt_schema *schema, struct pt_err *err) PT_MUST_CHECK;

/* Appends a sample of the journal's schema. 0 or -errno (-ENOSPC, ...): the sample is lost and
 * counted, the file is cut back to its last whole record, and the next call tries again. */
int pt_journal_write(struct pt_journal *j, const struct pt_sample *s) PT_MUST_CHECK;

/* The same for a lane, below PT_JOURNAL_LANES_MAX; lane 0 is that of pt_journal_write(). */
int pt_journal_write_lane(struct pt_journal *j, uint32_t lane,
                          const struct pt_sample *s) PT_MUST_CHECK;

/* Appends text about the run: "static", "command", "tag", "end", ... 0 or -errno. */
int pt_journal_note(struct pt_journal *j, struct pt_str key, struct pt_str text) PT_MUST_CHECK;

/* Opens a complete journal, which `reader` reads, to append notes. Borrows the reader's schema. */
int pt_journal_reopen(struct pt_journal *j, const char *path,
                      const struct pt_journal_reader *reader) PT_MUST_CHECK;

/* Says that the run is complete, closes and releases. 0 or -errno. */
int pt_journal_close(struct pt_journal *j);

struct pt_journal_note {
    char *key;
    char *text; /* terminated; may hold other zero bytes before text_len */
    size_t text_len;
};

struct pt_journal_place {
    uint64_t segment; /* of a ring; 0 */
    uint64_t position;
};

/* The reading end. {0} is closed. Must not move while open: samples borrow its schema. */
struct pt_journal_reader {
    struct pt_schema schema; /* as in the file; this program may know another one */
    uint8_t uuid[16];
    uint16_t major, minor;

    struct pt_journal_note *notes; /* those read so far, in order */
    size_t note_count, note_capacity, note_bytes;

    bool is_complete;                                 /* the writer closed the journal */
    uint64_t sample_count;                            /* read so far */
    uint64_t written_sample_count, lost_sample_count; /* lost: could not be written; known when
                                                         is_complete */

    uint64_t tail_bytes;           /* at the end, not (yet) a whole record */
    uint64_t skipped_bytes;        /* damaged, inside the file */
    uint64_t skipped_sample_count; /* whole, but follow damage and need what was lost */
    uint64_t unknown_record_count; /* of a newer minor version */
    bool is_header_damaged;
    enum { PT_SCHEMA_FIRST, PT_SCHEMA_SECOND, PT_SCHEMA_BUILT_IN } schema_origin;
    uint32_t lane; /* of the latest sample */

    char *ring;         /* directory of segments (store/ring.h), or NULL: one file */
    uint64_t segment;   /* the one being read */
    uint64_t schema_id; /* the same in all segments; 0: not known yet */
    struct pt_fd fd;
    uint64_t position;                 /* of the next record */
    struct pt_journal_place key_place; /* where the last sample began that starts afresh */
    struct pt_journal_place noted_to;  /* notes before this were taken */
    uint8_t *buffer; /* bytes of the file from `position` on, at `buffer + start` */
    size_t buffer_capacity, start, end;
    struct pt_journal_lane *lanes;
    size_t lane_count, lane_capacity;
    struct pt_table **tables; /* owned: what `schema` points to */
};

/* Reads the header, the schema and the notes that come before the first sample. The path may be
 * that of a ring; its segments are read as one journal. A damaged header is replaced by the first
 * sync record, a damaged schema by its second copy or by that of this program if it is the same. */
int pt_journal_open(struct pt_journal_reader *r, const char *path,
                    struct pt_err *err) PT_MUST_CHECK;

/* 1: `s`, initialised by the caller with &r->schema, holds the next sample. 0: there is none for
 * now; later calls see what a running writer has appended since. -errno: reading failed. */
int pt_journal_next(struct pt_journal_reader *r, struct pt_sample *s) PT_MUST_CHECK;

/* Seeks to a `key_place` that was seen before: the next sample is the one there. Samples are
 * counted again, notes are not read again. 0, or -errno: that segment of a ring was removed. */
int pt_journal_seek(struct pt_journal_reader *r, struct pt_journal_place place) PT_MUST_CHECK;

/* Seeks to the last key sample that is not after this Unix time, or to the first: pt_journal_next()
 * returns it. Reads few bytes; uses `s` as a buffer. For single journals (not rings) without
 * backward steps of the clock. 0 or -errno. */
int pt_journal_seek_time(struct pt_journal_reader *r, struct pt_sample *s,
                         int64_t wall_ns) PT_MUST_CHECK;

/* The latest note of that key, or NULL. */
const struct pt_journal_note *pt_journal_note_find(const struct pt_journal_reader *r,
                                                   const char *key);

void pt_journal_reader_close(struct pt_journal_reader *r);

#endif
