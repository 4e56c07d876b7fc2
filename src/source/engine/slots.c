#include "source/engine/slots.h"

#include "base/json_walk.h"
#include "base/scan.h"

#include <errno.h>

struct slots_reader {
    struct pt_slots *slots;
    bool failed;
};

/* Members of a slot; older servers have other names. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    { "n_ctx", offsetof(struct pt_slot, context) },
    { "n_prompt_tokens", offsetof(struct pt_slot, tokens) },
    { "n_past", offsetof(struct pt_slot, tokens) },
    { "next_token.0.n_decoded", offsetof(struct pt_slot, decoded) },
    { "next_token.n_decoded", offsetof(struct pt_slot, decoded) },
};

static void take_value(void *arg, const char *path, struct pt_json_value value) {
    struct slots_reader *r = arg;
    struct pt_scan scan = pt_scan_of(pt_str_from(path)), text = pt_scan_of(value.text);
    uint64_t index = pt_scan_u64(&scan);
    if (scan.failed || !pt_scan_take(&scan, PT_STR("."))) {
        r->failed = true; /* not a list of objects */
        return;
    }
    if (index >= PT_SLOTS_MAX)
        return;
    struct pt_slot *slot = &r->slots->at[index];
    if (index >= r->slots->count)
        r->slots->count = (size_t)index + 1;
    const char *name = scan.at;
    if (strcmp(name, "is_processing") == 0)
        slot->is_processing = pt_str_eq(value.text, PT_STR("true"));
    if (value.kind != PT_JSON_NUMBER)
        return;
    if (strcmp(name, "id_task") == 0) {
        slot->task = pt_scan_i64(&text);
        slot->has_task = !text.failed && slot->task >= 0;
    }
    for (size_t i = 0; i < PT_COUNT(numbers); i++)
        if (strcmp(name, numbers[i].name) == 0) {
            double number = pt_scan_f64(&text);
            *(double *)((char *)slot + numbers[i].offset) =
                text.failed || !(number >= 0 && number < 1e15) ? 0 : number;
        }
}

int pt_slots_read(struct pt_str body, struct pt_slots *slots) {
    struct slots_reader reader = { .slots = slots };
    *slots = (struct pt_slots){ 0 };
    if (pt_json_walk(body, take_value, &reader) || reader.failed || slots->count == 0)
        return -EINVAL;
    return 0;
}

void pt_slots_take_metrics(struct pt_slots_live *live, struct pt_engine_reading *r) {
    double *tokens = &r->values[PT_ENGINE_TOKENS_GENERATION];
    if (!pt_engine_has(r, PT_ENGINE_TOKENS_GENERATION))
        return;
    if (*tokens < live->finished)
        live->shown = 0;
    live->finished = *tokens;
    live->ended = 0;
    live->has_gap = false;
    if (*tokens < live->shown)
        *tokens = live->shown;
    live->shown = *tokens;
}

static bool is_same_task(const struct pt_slot *a, const struct pt_slot *b) {
    return a->has_task && b->has_task && a->task == b->task;
}

/* The slot has another task than before. One that has ended already was never seen running. */
static void change_task(struct pt_slots_live *live, size_t index, const struct pt_slot *slot) {
    const struct pt_slot *before = &live->slots.at[index];
    live->has_gap |= slot->has_task && !slot->is_processing;
    if (before->has_task && !live->is_counted[index]) {
        live->ended += before->decoded;
        live->has_gap |= before->is_processing;
    }
    live->is_counted[index] = false;
}

/* The task has ended, and its slot counts from 0 again. */
static void keep_last_seen(struct pt_slots_live *live, size_t index, struct pt_slot *slot) {
    slot->decoded = live->slots.at[index].decoded;
    live->has_gap |= !live->is_counted[index];
}

/* Tokens since the last read of /metrics: of running tasks and of those that have ended. */
static double count_tokens(struct pt_slots_live *live, struct pt_slots *now, bool has_metrics) {
    double tokens = 0;
    for (size_t i = 0; i < now->count; i++) {
        struct pt_slot *slot = &now->at[i];
        if (has_metrics) /* a task that has ended is part of them */
            live->is_counted[i] = !slot->is_processing;
        else if (!is_same_task(slot, &live->slots.at[i]))
            change_task(live, i, slot);
        else if (slot->decoded < live->slots.at[i].decoded)
            keep_last_seen(live, i, slot);
        if (slot->has_task && !live->is_counted[i])
            tokens += slot->decoded;
    }
    return live->ended + tokens;
}

static void set(struct pt_engine_reading *r, enum pt_engine_field field, double value,
                uint64_t *known) {
    r->values[field] = value;
    r->present |= UINT64_C(1) << field;
    *known |= UINT64_C(1) << field;
}

uint64_t pt_slots_take(struct pt_slots_live *live, const struct pt_slots *slots, bool has_metrics,
                       bool has_one_cache, struct pt_engine_reading *r) {
    double running = 0, used = 0, size = 0, largest = 0;
    uint64_t known = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const struct pt_slot *slot = &slots->at[i];
        size += slot->context;
        largest = slot->context > largest ? slot->context : largest;
        if (!slot->is_processing)
            continue;
        running++;
        used += slot->tokens;
    }
    struct pt_slots *kept = &live->next;
    *kept = *slots;
    double tokens = live->finished + count_tokens(live, kept, has_metrics);
    live->slots = *kept;
    set(r, PT_ENGINE_REQUESTS_RUNNING, running, &known);
    set(r, PT_ENGINE_REQUEST_CAPACITY, (double)slots->count, &known);
    bool is_full = running >= (double)slots->count;
    live->has_queue = is_full && (has_metrics || live->has_queue);
    if (!is_full)
        set(r, PT_ENGINE_REQUESTS_WAITING, 0, &known);
    else if (live->has_queue)
        known |= r->present & UINT64_C(1) << PT_ENGINE_REQUESTS_WAITING;
    size = has_one_cache ? largest : size;
    if (size > 0 && used <= size && (used > 0 || running == 0))
        set(r, PT_ENGINE_KV_USAGE, used / size, &known);
    if (!live->has_gap) {
        live->shown = tokens > live->shown ? tokens : live->shown;
        set(r, PT_ENGINE_TOKENS_GENERATION, live->shown, &known);
    }
    return known;
}

bool pt_slots_are_full(const struct pt_slots_live *live) {
    for (size_t i = 0; i < live->slots.count; i++)
        if (!live->slots.at[i].is_processing)
            return false;
    return live->slots.count > 0;
}
