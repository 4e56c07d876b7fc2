/* inside/region/reader.h -- reads the data of a process with libpitot, while it runs and after.
 *
 * The process may write anything at any time, and truncate the file: positions are copied once and
 * checked, texts are copied and terminated, numbers are not checked, truncated parts read as zeros
 * (inside/region/sigbus_guard.h). A region has one reader that takes spans, and any number of
 * observers that do not change it. */
#ifndef PT_INSIDE_REGION_READER_H
#define PT_INSIDE_REGION_READER_H

#include "base/attr.h"
#include "base/fd.h"
#include "inside/region/layout.h"
#include "inside/region/tick_clock.h"

#include <stdbool.h>

struct pt_region {
    struct pt_region_layout *at; /* NULL: closed */
    struct pt_fd fd;             /* not open: the caller owns the memory */
    uint32_t pid;
    /* Parts of the file with memory. A process that reads its own file has no guard and takes its
     * own word for it instead of the file's. */
    const uint32_t *is_ready; /* by block */
    const uint8_t *has_shard; /* by shard; NULL: all may be read */
    struct pt_tick_clock clock;
    uint32_t next_block; /* block where the next call of pt_region_take_spans() begins */
};

struct pt_region_value {
    enum pt_region_kind kind;
    char name[96], unit[16], help[128], labels[256];
    double value;   /* for counters and gauges */
    uint64_t count; /* for histograms, as below */
    double sum;
    struct pt_bucket_range used; /* {0} for counters and gauges, which have no buckets */
    uint64_t buckets[PT_BUCKET_COUNT];
};

/* 0; -EAGAIN: not complete yet; -EPROTO: not a region of this version; other -errno. */
int pt_region_open(struct pt_region *r, int directory, const char *name) PT_MUST_CHECK;
/* Memory instead of a file; aligned to 64 bytes. Borrows it. */
int pt_region_attach(struct pt_region *r, void *memory, size_t size) PT_MUST_CHECK;
void pt_region_close(struct pt_region *r);

/* Does the file still have its size? A truncated region is not read any more. */
bool pt_region_is_whole(const struct pt_region *r);
/* Did the process exit normally? */
bool pt_region_has_ended(const struct pt_region *r);

/* Takes the oldest spans of each thread out of the region. Spans with unknown names are dropped.
 * Returns how many; fewer than `capacity`: all were taken. */
size_t pt_region_take_spans(struct pt_region *r, struct pt_region_span_record *into,
                            size_t capacity);

/* Position of an observer of the region. {0} is a valid initial value. */
struct pt_region_cursor {
    uint64_t next[PT_REGION_THREADS]; /* spans of each block */
    uint64_t lost;                    /* overwritten before they were read */
    uint64_t fullest;                 /* the most spans a block had in one call */
};
/* Copies the oldest spans after the cursor, as above, and moves it. */
size_t pt_region_peek_spans(const struct pt_region *r, struct pt_region_cursor *cursor,
                            struct pt_region_span_record *into, size_t capacity);
/* Releases the slots of all spans before the cursor to their threads. */
void pt_region_release_spans(struct pt_region *r, const struct pt_region_cursor *cursor);

/* CLOCK_MONOTONIC of ticks. pt_region_follow() reads both clocks: call it after spans were taken,
 * before they are converted. */
void pt_region_follow(struct pt_region *r);
int64_t pt_region_mono_ns(struct pt_region *r, uint64_t ticks);
/* Of a span; ends with a zero. */
void pt_region_copy_name(const struct pt_region *r, uint32_t name,
                         char into[sizeof((struct pt_region_name *)NULL)->text + 1]);

/* The current or last owner of a block, and its name; 0: none so far. */
#define PT_REGION_OWNER_NAME 16
uint32_t pt_region_owner(const struct pt_region *r, uint32_t block,
                         char name[PT_REGION_OWNER_NAME]);

/* Metrics are numbered from 1; false: there is no metric with that number. */
uint32_t pt_region_metric_count(const struct pt_region *r);
/* A copy without the value: kind and slot are in range, texts end. */
bool pt_region_describe_metric(const struct pt_region *r, uint32_t index,
                               struct pt_region_metric *into);
bool pt_region_read_metric(const struct pt_region *r, uint32_t index, struct pt_region_value *v);

/* The same for reading many metrics, and exact: finds the blocks with memory once. Slots are those
 * of a metric and below PT_REGION_COUNTERS or PT_REGION_HISTOGRAMS. */
struct pt_region_blocks {
    uint32_t count;
    uint8_t numbers[PT_REGION_THREADS];
};
void pt_region_find_blocks(const struct pt_region *r, struct pt_region_blocks *blocks);
uint64_t pt_region_counter(const struct pt_region *r, const struct pt_region_blocks *blocks,
                           uint32_t slot);
/* Sets buckets and sum; returns the count, which is that of the buckets. `used` is the range of
 * nonzero buckets, before ({0}: none) and after: others are not touched. */
uint64_t pt_region_histogram(const struct pt_region *r, const struct pt_region_blocks *blocks,
                             uint32_t slot, uint64_t buckets[PT_BUCKET_COUNT],
                             struct pt_bucket_range *used, double *sum);

/* Names, metrics and spans dropped so far because the region was full. */
uint64_t pt_region_dropped(const struct pt_region *r);

#endif
