/* push/queue.h -- requests that wait for their receiver, in files of a directory.
 *
 *     pt_push_queue_put(&q, &request);
 *     while (pt_push_queue_peek(&q, &request) && send(&request))
 *         pt_push_queue_pop(&q, request.id);
 *
 * A segment is a file to which requests are only appended, each with its checksum; its head says
 * how much of it has been sent. The process that uses it locks it. Segments left behind by a
 * process, however it ended, are adopted by the next process that opens the directory: all whole
 * requests before the one that was being written. Beyond the limits the oldest segments are dropped
 * and counted.
 *
 *     head   "PTPUSHQ1", u64 bytes done, u32 CRC-32C of those eight bytes, u32 0
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
    uint64_t id;     /* set by put, increasing */
    int64_t time_ns; /* Unix time of its newest point */
    uint32_t point_count;
    struct pt_str bytes; /* set by peek: valid until the next call */
};

/* 0 selects the default of each. */
struct pt_push_queue_bounds {
    uint64_t bytes;   /* of all segments: 512 MiB */
    uint64_t segment; /* bytes of one segment: 4 MiB, at most a sixteenth of all */
    int64_t age_ns;   /* of requests, relative to the newest: 24 h */
};

struct pt_push_queue_counts {
    uint64_t dropped_requests, dropped_points; /* beyond the limits */
    uint64_t damaged_segments;                 /* with an unreadable end */
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

/* Creates the directory and its parents. 0 or -errno with a message. */
int pt_push_queue_open(struct pt_push_queue *q, const char *directory,
                       const struct pt_push_queue_bounds *bounds, struct pt_err *err) PT_MUST_CHECK;
/* Removes empty segments. */
void pt_push_queue_close(struct pt_push_queue *q);

/* 0, or -errno if the request was not stored. It is then in the kernel; pt_push_queue_sync(): on
 * disk. */
int pt_push_queue_put(struct pt_push_queue *q, struct pt_push_request *request) PT_MUST_CHECK;
void pt_push_queue_sync(struct pt_push_queue *q);

/* The oldest request; false: there is none. */
bool pt_push_queue_peek(struct pt_push_queue *q, struct pt_push_request *request);
/* Removes the request, if it has not been dropped. */
void pt_push_queue_pop(struct pt_push_queue *q, uint64_t id);

/* Unix time of the oldest request; 0: none. */
int64_t pt_push_queue_oldest_ns(const struct pt_push_queue *q);

#endif
