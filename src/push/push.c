#include "push/push.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "push/sender.h"
#include "format/metrics/families.h"

#include <stdio.h>

/* Limits on the age of a request's samples and on its points. */
#define BATCH_AGE_NS (5 * PT_NS_PER_SECOND)
#define BATCH_POINTS 20000

#define PUSH_COLUMNS(X, t)                                                                        \
    X(t, receiver, "pushReceiver", KEY, STRING, NONE, 0, "remote-write or otlp",                  \
      .title = "Receiver", .heading = "RECEIVER", .role = PT_ROLE_NAME,                           \
      .words = "remote write otlp")                                                               \
    X(t, requests, "pushRequests", COUNTER, I64, COUNT, 0, "Requests accepted by the receiver",   \
      .title = "Requests accepted")                                                               \
    X(t, points, "pushPoints", COUNTER, I64, COUNT, 0, "Points in accepted requests",             \
      .title = "Points accepted", .heading = "POINTS", .importance = PT_HEADLINE)                 \
    X(t, failures, "pushFailures", COUNTER, I64, COUNT, 0, "Failed attempts that are retried",    \
      .title = "Failed attempts", .heading = "FAILED", .better = PT_LOWER_IS_BETTER)              \
    X(t, rejected, "pushRejected", COUNTER, I64, COUNT, 0, "Points rejected by the receiver",     \
      .title = "Points rejected", .family = "Points lost", .better = PT_LOWER_IS_BETTER)          \
    X(t, dropped, "pushDropped", COUNTER, I64, COUNT, 0,                                          \
      "Points dropped because the queue or the disk was full", .title = "Points dropped",         \
      .heading = "DROPPED", .family = "Points lost", .better = PT_LOWER_IS_BETTER,                \
      .importance = PT_HEADLINE)                                                                  \
    X(t, waiting, "pushWaiting", GAUGE, I64, COUNT, 0, "Requests queued on disk",                 \
      .title = "Requests queued", .heading = "QUEUED", .better = PT_LOWER_IS_BETTER)              \
    X(t, queue, "pushQueueBytes", GAUGE, I64, BYTES, 0, "Bytes of the queue on disk",             \
      .title = "Queue on disk", .better = PT_LOWER_IS_BETTER)                                     \
    X(t, oldest, "pushOldestAge", GAUGE, I64, NANOSECONDS, 0, "Age of the oldest queued request", \
      .title = "Age of the oldest request", .heading = "AGE", .better = PT_LOWER_IS_BETTER,       \
      .combine = PT_COMBINE_MAX)                                                                  \
    X(t, status, "pushStatus", GAUGE, I64, NONE, 0, "HTTP status of the last response",           \
      .title = "Last HTTP status", .heading = "STATUS", .importance = PT_RAW,                     \
      .combine = PT_COMBINE_NONE)

PT_TABLE(push, PT_TABLE_OWN("push"), "State of pushing to receivers", PUSH_COLUMNS, "Pitot");
const struct pt_table *const pt_push_table = &push_table;

struct receiver {
    const struct pt_push_protocol *protocol;
    void *state;
    char *directory;
    struct pt_push_batch batch;
    struct pt_push_sender sender;
    struct pt_buf request;
};

static const struct pt_push_protocol *const protocols[] = { &pt_push_remote_write, &pt_push_otlp };

struct pt_push {
    struct pt_push_settings settings;
    struct pt_families families;
    struct receiver receivers[PT_COUNT(protocols)];
    size_t receiver_count;
    int table; /* index of pt_push_table in the schema, or -1 */
};

static int open_receiver(struct pt_push *p, const struct pt_push_protocol *protocol,
                         const struct pt_schema *schema, struct pt_err *err) {
    struct receiver *r = &p->receivers[p->receiver_count];
    int rc = protocol->open(&r->state, &p->settings, schema, err);
    if (rc)
        return rc;
    r->protocol = protocol;
    /* Each receiver has its own queue: requests for one must not go to another. */
    const char *url = protocol->url(&p->settings);
    r->directory = pt_asprintf("%s/push/%s-%08x", p->settings.state_directory, protocol->name,
                               pt_crc32c(0, url, strlen(url)));
    struct pt_push_naming naming = protocol->naming(r->state);
    pt_push_batch_init(&r->batch, &naming);
    struct pt_push_sender_options options = { .protocol = protocol,
                                              .protocol_state = r->state,
                                              .settings = &p->settings,
                                              .directory = r->directory };
    p->receiver_count++;
    return pt_push_sender_open(&r->sender, &options, err);
}

static int open_receivers(struct pt_push *p, const struct pt_schema *schema, struct pt_err *err) {
    for (size_t i = 0; i < PT_COUNT(protocols); i++) {
        int rc = protocols[i]->url(&p->settings) ? open_receiver(p, protocols[i], schema, err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int pt_push_open(struct pt_push **push, const struct pt_push_options *options,
                 const struct pt_schema *schema, struct pt_err *err) {
    struct pt_push *p = pt_calloc(1, sizeof *p);
    *push = NULL;
    int rc = pt_push_settings_read(&p->settings, options, err);
    if (p->settings.warning[0])
        pt_log(PT_LOG_WARNING, "%s", p->settings.warning);
    p->table = pt_schema_find(schema, push_table.name);
    pt_families_init(&p->families, schema,
                     &(struct pt_families_options){ .has_processes = options->has_processes });
    if (!rc)
        rc = open_receivers(p, schema, err);
    if (rc || p->receiver_count == 0)
        pt_push_close(p, 0);
    else
        *push = p;
    return rc;
}

static void fill_row(struct pt_batch *b, struct receiver *r, const struct pt_sample *sample) {
    struct pt_push_counts c;
    pt_push_sender_counts(&r->sender, &c);
    pt_batch_add_row(b);
    pt_set_time(b, 0, sample->mono_ns);
    pt_set_str(b, push_receiver, pt_str_from(r->protocol->name));
    pt_set_i64(b, push_requests, (int64_t)c.accepted_requests);
    pt_set_i64(b, push_points, (int64_t)c.accepted_points);
    pt_set_i64(b, push_failures, (int64_t)c.failed_tries);
    pt_set_i64(b, push_rejected, (int64_t)c.rejected_points);
    pt_set_i64(b, push_dropped, (int64_t)(c.dropped_points + r->batch.refused_points));
    pt_set_i64(b, push_waiting, (int64_t)c.waiting_requests);
    pt_set_i64(b, push_queue, (int64_t)c.queue_bytes);
    if (c.oldest_ns > 0)
        pt_set_i64(b, push_oldest, sample->wall_ns - c.oldest_ns);
    if (c.last_status > 0)
        pt_set_i64(b, push_status, c.last_status);
}

void pt_push_fill(struct pt_push *push, struct pt_sample *sample) {
    if (!push || push->table < 0)
        return;
    for (size_t i = 0; i < push->receiver_count; i++)
        fill_row(&sample->batches[push->table], &push->receivers[i], sample);
}

static void hand_over(struct receiver *r) {
    struct pt_push_batch *b = &r->batch;
    if (b->point_count == 0)
        return;
    pt_buf_clear(&r->request);
    r->protocol->encode(r->state, b, &r->request);
    struct pt_push_request request = { .time_ns = b->last_ns,
                                       .point_count = (uint32_t)b->point_count,
                                       .bytes = pt_buf_as_str(&r->request) };
    pt_push_sender_put(&r->sender, &request);
    pt_push_batch_clear(b);
}

/* With the next sample it would be too old. The first sample is sent alone, so that a receiver that
 * does not answer is reported at once. */
static bool is_due(const struct pt_push_batch *b) {
    return b->step_ns <= 0 || b->last_ns - b->first_ns + b->step_ns >= BATCH_AGE_NS ||
           b->point_count >= BATCH_POINTS;
}

static void add_family(void *user, const struct pt_family *family) {
    struct pt_push *p = user;
    for (size_t i = 0; i < p->receiver_count; i++) {
        struct receiver *r = &p->receivers[i];
        r->protocol->add(r->state, &r->batch, family);
    }
}

void pt_push_sample(struct pt_push *push, const struct pt_sample *sample) {
    if (!push)
        return;
    for (size_t i = 0; i < push->receiver_count; i++)
        pt_push_batch_begin(&push->receivers[i].batch, sample->wall_ns);
    pt_families_each(&push->families, sample, add_family, push);
    for (size_t i = 0; i < push->receiver_count; i++) {
        pt_push_batch_end(&push->receivers[i].batch);
        if (is_due(&push->receivers[i].batch))
            hand_over(&push->receivers[i]);
    }
}

void pt_push_flush(struct pt_push *push) {
    for (size_t i = 0; push && i < push->receiver_count; i++) {
        pt_push_batch_end_all(&push->receivers[i].batch);
        hand_over(&push->receivers[i]);
    }
}

void pt_push_close(struct pt_push *push, int64_t deadline_ns) {
    if (!push)
        return;
    for (size_t i = 0; i < push->receiver_count; i++) {
        struct receiver *r = &push->receivers[i];
        if (r->sender.options.protocol)
            pt_push_sender_close(&r->sender, deadline_ns);
        r->protocol->close(r->state);
        pt_push_batch_release(&r->batch);
        pt_buf_release(&r->request);
        pt_free(r->directory);
    }
    pt_families_release(&push->families);
    pt_push_settings_release(&push->settings);
    pt_free(push);
}
