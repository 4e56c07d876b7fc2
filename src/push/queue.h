/* push/queue.h -- requests that wait for their receiver, in files of a directory.
 *
 *     pt_push_queue_put(&q, &request);
 *     while (pt_push_queue_peek(&q, &request) && send(&request))
 *         pt_push_queue_pop(&q, request.id);
 *
 * A segment is a file to which requests are only appended, each with its checksum; how far it has
 * been sent stands at its head. It is locked by the process that uses it. What a process leaves
 * behind, however it ended, is adopted by the next one that opens the directory: whole requests up
 * to the one that was being written. Beyond the bounds the oldest segments are dropped and counted.
 *
 *     head   "PTPUSHQ1", u64 bytes that are done with, u32 CRC-32C of those eight bytes, u32 0
 *     frame  u32 CRC-32C of what follows, u32 length, u64 id, i64 time, u32 points, u32 0, bytes
 *
 * For one thread. */
#ifndef PT_PUSH_QUEUE_H
#define PT_PUSH_QUEUE_H

#include "base/buf.h"
#include "base/err.h"

#include <limits.h>

#define PT_PUSH_REQUEST_MAX ((size_t)64 << 20)

struct pt_push_request {
    uint64_t id;     /* set by put: they rise */
    int64_t time_ns; /* Unix time of its newest point */
    uint32_t point_count;
    struct pt_str bytes; /* of peek: valid until the next call */
};

/* 0 is the default of each. */
struct pt_push_queue_bounds {
    uint64_t bytes;   /* of all segments: 512 MiB */
    uint64_t segment; /* bytes of one: 4 MiB, at most a sixteenth of all */
    int64_t age_ns;   /* of requests, against the newest: 24 h */
};

struct pt_push_queue_counts {
    uint64_t dropped_requests, dropped_points; /* beyond the bounds */
    uint64_t damaged_segments;                 /* whose end could not be read */
};

struct pt_push_queue {
    char *directory;
    struct pt_push_queue_bounds bounds;
    struct pt_push_queue_counts counts;
    struct pt_push_segment *segments; /* oldest first; the last one grows */
    size_t segment_count, segment_capacity;
    uint64_t bytes, waiting_requests, waiting_points;
    uint64_t last_id;
    int64_t newest_ns;
    struct pt_buf frame; /* last one read or written */
};

/* Makes the directory and those above it. 0 or -errno with words. */
int pt_push_queue_open(struct pt_push_queue *q, const char *directory,
                       const struct pt_push_queue_bounds *bounds, struct pt_err *err) PT_MUST_CHECK;
/* Segments with nothing left in them are removed. */
void pt_push_queue_close(struct pt_push_queue *q);

/* 0 or -errno: it was not kept. The kernel has it afterwards; pt_push_queue_sync: the disk. */
int pt_push_queue_put(struct pt_push_queue *q, struct pt_push_request *request) PT_MUST_CHECK;
void pt_push_queue_sync(struct pt_push_queue *q);

/* The oldest request; false: there is none. */
bool pt_push_queue_peek(struct pt_push_queue *q, struct pt_push_request *request);
/* It is done with, if it was not dropped meanwhile. */
void pt_push_queue_pop(struct pt_push_queue *q, uint64_t id);

/* Unix time of the oldest request; 0: there is none. */
int64_t pt_push_queue_oldest_ns(const struct pt_push_queue *q);

#endif
