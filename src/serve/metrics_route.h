/* serve/metrics_route.h -- /metrics: the latest sample and the server's own metrics for scrapers.
 * Rendered once per sample and format, at the first request. */
#ifndef PT_SERVE_METRICS_ROUTE_H
#define PT_SERVE_METRICS_ROUTE_H

#include "http/server.h"
#include "format/metrics/families.h"
#include "format/metrics/exposition.h"

#include <pthread.h>

#define PT_METRICS_FORMATS 4 /* of enum pt_exposition_format */
#define PT_METRICS_PATHS   32
#define PT_METRICS_CODES   6 /* 1xx ... 5xx, and no answer */

struct pt_service;

/* Requests of one route. */
struct pt_path_counts {
    const char *path;
    uint64_t codes[PT_METRICS_CODES];
};

struct pt_metrics_route {
    struct pt_families families;
    struct pt_http_content *contents[PT_METRICS_FORMATS];
    uint64_t rendered_sample[PT_METRICS_FORMATS]; /* number of the rendered sample */
    size_t rendered_bytes[PT_METRICS_FORMATS];
    struct pt_bounds bounds;
    struct pt_buf labels;
    int64_t start_wall_ns;

    pthread_mutex_t lock;
    /* Below: guarded by this lock; requests end on the server's thread. */
    struct pt_path_counts paths[PT_METRICS_PATHS];
    size_t path_count;
    uint64_t request_count, buckets[PT_BUCKET_COUNT]; /* of all requests except streams */
    struct pt_bucket_range used;
    double request_seconds;
};

/* Leaves out single processes: their number is unbounded. */
void pt_metrics_route_init(struct pt_metrics_route *m, const struct pt_schema *schema);
void pt_metrics_route_release(struct pt_metrics_route *m, const struct pt_http_server *http);

/* Counts a finished request. */
void pt_metrics_route_count(struct pt_metrics_route *m, const char *path, unsigned status,
                            int64_t took_ns);

/* Borrowed until the next call; NULL: there is no sample yet. Called with the service's lock. */
struct pt_http_content *pt_metrics_route_content(struct pt_metrics_route *m, struct pt_service *s,
                                                 enum pt_exposition_format format);

#endif
