/* store/segments.h -- an endless history of bounded size: a sequence of journals.
 *
 *     DIR/history-1763268392000.pitot    a segment: the Unix time of its start in ms
 *     DIR/history.lock                   held by the writer
 *
 * They are a ring (store/ring.h) with times as numbers, so that a time span is found by names
 * alone. Each segment is a run that `pitot export` can read. A new segment begins with the program,
 * and when a segment has reached its share of the size or age; then the oldest are removed. There
 * is one writer, and any number of readers in any thread or process. */
#ifndef PT_STORE_SEGMENTS_H
#define PT_STORE_SEGMENTS_H

#include "store/ring.h"

#define PT_SEGMENTS_BYTES_MIN (UINT64_C(1) << 20)

extern const struct pt_ring_kind pt_segments_kind;

struct pt_segments_options {
    const char *directory; /* made if it is not there */
    uint64_t bytes_max;    /* of all segments together, at least PT_SEGMENTS_BYTES_MIN */
    int64_t age_max_ns;    /* 0: no limit; what is older goes, at the latest an eighth later */
};

/* The writing end. {0} is closed. */
struct pt_segments {
    struct pt_ring ring;
    int64_t age_max_ns;
    struct pt_fd lock_fd;
};

/* -EBUSY with words: another program writes there. */
int pt_segments_open(struct pt_segments *s, const struct pt_segments_options *options,
                     const struct pt_schema *schema, struct pt_err *err) PT_MUST_CHECK;
/* 0 or -errno: the sample is lost, the next call tries again. */
int pt_segments_write(struct pt_segments *s, const struct pt_sample *sample) PT_MUST_CHECK;
void pt_segments_close(struct pt_segments *s);

/* Takes a sample of the journal that is read, with its schema; false ends the reading. */
typedef bool pt_segments_function(void *arg, const struct pt_sample *sample);

/* Gives all samples from one Unix time to another, both included, the oldest first. Damaged
 * segments and those removed meanwhile are skipped. 0 or -errno. */
int pt_segments_read(const char *directory, int64_t from_ns, int64_t to_ns,
                     pt_segments_function *take, void *arg) PT_MUST_CHECK;

#endif
