/* demo/schedule.h -- which requests run, and what a step computes. Without threads and locks. */
#ifndef PT_DEMO_SCHEDULE_H
#define PT_DEMO_SCHEDULE_H

#include "demo/request.h"

struct pt_schedule {
    struct pt_kv kv;
    struct pt_queue waiting;
    struct pt_request **running; /* oldest first */
    size_t running_count, running_max, prefill_max, chunk_max;
    uint64_t preemption_count;
    /* The plan of a step. */
    struct pt_request **prefills, **decodes;
    size_t prefill_count, decode_count;
};

void pt_schedule_init(struct pt_schedule *s, const struct pt_demo_engine_options *options);
void pt_schedule_release(struct pt_schedule *s);

/* Admits waiting requests, in order, while there are slots and blocks; then plans a step: a chunk
 * of each prompt within prefill_max and chunk_max, and a token of every other request. */
void pt_schedule_plan(struct pt_schedule *s, int64_t now_ns);

/* Removes a request, waiting or running, with its blocks. */
void pt_schedule_remove(struct pt_schedule *s, struct pt_request *r);

static inline bool pt_schedule_is_empty(const struct pt_schedule *s) {
    return s->running_count == 0 && s->waiting.count == 0;
}

#endif
