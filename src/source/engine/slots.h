/* source/engine/slots.h -- the slots of a llama.cpp server, from its page /slots:
 *
 *     [{"id": 0, "n_ctx": 4096, "is_processing": true, "id_task": 7, "n_prompt_tokens": 60,
 *       "next_token": [{"n_decoded": 12}]}]
 *
 * Its /metrics count the tokens of a request when the request ends, and every read of them restarts
 * two averages of the server. The slots have no such effect and show requests while they run. */
#ifndef PT_SOURCE_ENGINE_SLOTS_H
#define PT_SOURCE_ENGINE_SLOTS_H

#include "source/engine/reading.h"

#define PT_SLOTS_MAX 256

struct pt_slot {
    bool is_processing;
    bool has_task; /* if not processing: the last one, which has ended */
    int64_t task;
    double context, tokens; /* size, and how much of it is used; 0: unknown */
    double decoded;         /* tokens generated for the task */
};

struct pt_slots {
    struct pt_slot at[PT_SLOTS_MAX];
    size_t count;
};

/* 0; -EINVAL: not a list of slots. */
int pt_slots_read(struct pt_str body, struct pt_slots *slots) PT_MUST_CHECK;

/* Joins /metrics and /slots of a server; {0} before its first answer. */
struct pt_slots_live {
    struct pt_slots slots, next;   /* the last ones, and those being taken */
    bool is_counted[PT_SLOTS_MAX]; /* the task of the slot is part of `finished` */
    double finished; /* tokens of requests that had ended at the last read of /metrics */
    double ended;    /* of those that have ended since, and whose slot has another task */
    double shown;    /* tokens so far, with those of running requests */
    bool has_queue;  /* the slots were full at the last read of /metrics, and are since */
    bool has_gap;    /* one of them ended unseen: its last tokens are unknown */
};

/* A new reading of /metrics: its count of tokens never falls below what was shown, unless the
 * server has restarted. */
void pt_slots_take_metrics(struct pt_slots_live *live, struct pt_engine_reading *r);

/* New slots: sets requests, capacity, KV cache and, if no request has ended unseen since the last
 * read of /metrics, the tokens generated. `has_metrics`: they were read just before. Returns the
 * fields that are known now, one bit each. */
uint64_t pt_slots_take(struct pt_slots_live *live, const struct pt_slots *slots, bool has_metrics,
                       bool has_one_cache, struct pt_engine_reading *r);

/* Are all slots in use, so that requests may wait? */
bool pt_slots_are_full(const struct pt_slots_live *live);

#endif
