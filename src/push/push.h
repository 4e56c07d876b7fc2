/* push/push.h -- sends samples to Prometheus remote-write and OTLP receivers.
 *
 *     pt_push_open(&push, &options, &schema, &err);   NULL if there is no receiver
 *     pt_push_fill(push, sample);                     state of pushing, as rows of the sample
 *     pt_push_sample(push, sample);                   never waits
 *     pt_push_flush(push);                            after the last sample
 *     pt_push_close(push, deadline_ns);
 *
 * Each receiver has its own thread and its own queue on disk. Functions accept a NULL push and do
 * nothing. */
#ifndef PT_PUSH_PUSH_H
#define PT_PUSH_PUSH_H

#include "model/sample.h"
#include "push/push_settings.h"

/* State of pushing; one row per receiver. */
extern const struct pt_table *const pt_push_table;

struct pt_push;

/* Borrows the schema, which may contain pt_push_table. 0 or -errno with a message. */
int pt_push_open(struct pt_push **push, const struct pt_push_options *options,
                 const struct pt_schema *schema, struct pt_err *err) PT_MUST_CHECK;
void pt_push_fill(struct pt_push *push, struct pt_sample *sample);
void pt_push_sample(struct pt_push *push, const struct pt_sample *sample);
/* Ends all series; points that are not in a request yet become one. */
void pt_push_flush(struct pt_push *push);
/* Sends until the deadline (CLOCK_MONOTONIC); the rest stays on disk for the next run. */
void pt_push_close(struct pt_push *push, int64_t deadline_ns);

#endif
