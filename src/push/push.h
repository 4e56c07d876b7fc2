/* push/push.h -- samples to receivers of Prometheus remote-write and OTLP.
 *
 *     pt_push_open(&push, &options, &schema, &err);   NULL if there is nowhere to push
 *     pt_push_fill(push, sample);                     what pushing does, as rows of the sample
 *     pt_push_sample(push, sample);                   never waits
 *     pt_push_flush(push);                            the last sample was taken
 *     pt_push_close(push, deadline_ns);
 *
 * Each receiver has a thread and a queue on disk of its own. Functions take a NULL push, and do
 * nothing. */
#ifndef PT_PUSH_PUSH_H
#define PT_PUSH_PUSH_H

#include "model/sample.h"
#include "push/push_settings.h"

/* What pushing does; a row for each receiver. */
extern const struct pt_table *const pt_push_table;

struct pt_push;

/* Borrows the schema, in which pt_push_table may be. 0 or -errno with words. */
int pt_push_open(struct pt_push **push, const struct pt_push_options *options,
                 const struct pt_schema *schema, struct pt_err *err) PT_MUST_CHECK;
void pt_push_fill(struct pt_push *push, struct pt_sample *sample);
void pt_push_sample(struct pt_push *push, const struct pt_sample *sample);
/* All series end; what is not in a request yet becomes one. */
void pt_push_flush(struct pt_push *push);
/* Sends what it can until then (CLOCK_MONOTONIC); the rest stays on disk for the next run. */
void pt_push_close(struct pt_push *push, int64_t deadline_ns);

#endif
