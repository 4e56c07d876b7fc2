#include "demo/schedule.h"

#include "base/mem.h"

void pt_schedule_init(struct pt_schedule *s, const struct pt_demo_engine_options *options) {
    size_t max = options->running_max;
    *s = (struct pt_schedule){
        .running = pt_calloc(max, sizeof *s->running),
        .running_max = max,
        .prefill_max = options->prefill_max,
        .chunk_max = options->chunk_max,
        .prefills = pt_calloc(max, sizeof *s->prefills),
        .decodes = pt_calloc(max, sizeof *s->decodes),
    };
    pt_kv_init(&s->kv, &options->model->config, options->block_count);
}

void pt_schedule_release(struct pt_schedule *s) {
    pt_kv_release(&s->kv);
    pt_free(s->running);
    pt_free(s->prefills);
    pt_free(s->decodes);
    *s = (struct pt_schedule){ 0 };
}

/* Keeps the blocks it got if there are not enough. */
static bool give_blocks(struct pt_schedule *s, struct pt_request *r, size_t token_count) {
    while (r->block_count < pt_kv_blocks_for(token_count)) {
        float *block = pt_kv_take(&s->kv);
        if (!block)
            return false;
        r->blocks[r->block_count++] = block;
    }
    return true;
}

static void take_blocks(struct pt_schedule *s, struct pt_request *r) {
    while (r->block_count > 0)
        pt_kv_give(&s->kv, r->blocks[--r->block_count]);
    r->computed_count = 0;
}

/* Each running request may soon need a block: without this reserve a new request
 * would be admitted only to be preempted. Alone, a request always fits. */
static bool has_room(const struct pt_schedule *s, const struct pt_request *r) {
    return s->running_count < s->running_max &&
           s->kv.free_count >= pt_kv_blocks_for(r->token_count) + s->running_count;
}

static void admit(struct pt_schedule *s, int64_t now_ns) {
    while (s->waiting.first && has_room(s, s->waiting.first)) {
        struct pt_request *r = pt_queue_take(&s->waiting);
        give_blocks(s, r, r->token_count);
        if (!r->result.scheduled_ns)
            r->result.scheduled_ns = now_ns;
        s->running[s->running_count++] = r;
    }
}

static void preempt_newest(struct pt_schedule *s) {
    struct pt_request *r = s->running[--s->running_count];
    take_blocks(s, r);
    r->result.preemption_count++;
    s->preemption_count++;
    pt_queue_prepend(&s->waiting, r);
}

/* Whether running request `i` has its blocks; if not, it was the newest and is preempted. */
static bool secure_blocks(struct pt_schedule *s, size_t i, size_t token_count) {
    struct pt_request *r = s->running[i];
    while (i < s->running_count && !give_blocks(s, r, token_count))
        preempt_newest(s);
    return i < s->running_count;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

void pt_schedule_plan(struct pt_schedule *s, int64_t now_ns) {
    size_t prefill_left = s->prefill_max;
    s->prefill_count = s->decode_count = 0;
    admit(s, now_ns);
    for (size_t i = 0; i < s->running_count; i++) {
        struct pt_request *r = s->running[i];
        bool is_prefill = pt_request_needs_prefill(r);
        r->step_count = r->token_count - r->computed_count;
        if (is_prefill)
            r->step_count = smaller(r->step_count, smaller(s->chunk_max, prefill_left));
        if (!secure_blocks(s, i, r->computed_count + r->step_count))
            return;
        if (!is_prefill)
            s->decodes[s->decode_count++] = r;
        else if (r->step_count > 0)
            s->prefills[s->prefill_count++] = r;
        if (is_prefill)
            prefill_left -= r->step_count;
    }
}

void pt_schedule_remove(struct pt_schedule *s, struct pt_request *r) {
    take_blocks(s, r);
    if (pt_queue_remove(&s->waiting, r))
        return;
    size_t at = 0;
    while (at < s->running_count && s->running[at] != r)
        at++;
    if (at == s->running_count)
        return;
    s->running_count--;
    memmove(&s->running[at], &s->running[at + 1], (s->running_count - at) * sizeof *s->running);
}
