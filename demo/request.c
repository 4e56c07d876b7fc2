#include "demo/request.h"

#include "base/clock.h"
#include "base/mem.h"

struct pt_request *pt_request_new(struct pt_engine *engine,
                                  const struct pt_request_options *options) {
    size_t prompt_count = options->token_count, new_max = options->new_token_max;
    struct pt_request *r = pt_malloc(sizeof *r);
    *r = (struct pt_request){
        .engine = engine,
        .options = *options,
        .tokens = pt_malloc((prompt_count + new_max) * sizeof *r->tokens),
        .token_count = prompt_count,
        .prompt_count = prompt_count,
        .token_ns = pt_malloc(new_max * sizeof *r->token_ns),
        .random = options->seed,
        .blocks = pt_calloc(pt_kv_blocks_for(prompt_count + new_max), sizeof *r->blocks),
    };
    memcpy(r->tokens, options->tokens, prompt_count * sizeof *r->tokens);
    r->options.tokens = NULL;
    r->result = (struct pt_result){
        .prompt_count = prompt_count,
        .tokens = r->tokens + prompt_count,
        .token_ns = r->token_ns,
        .arrival_ns = pt_mono_ns(),
    };
    return r;
}

void pt_request_destroy(struct pt_request *r) {
    pt_free(r->tokens);
    pt_free(r->token_ns);
    pt_free(r->blocks);
    pt_free(r);
}

void pt_queue_append(struct pt_queue *q, struct pt_request *r) {
    r->next = NULL;
    if (q->last)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
    q->count++;
}

void pt_queue_prepend(struct pt_queue *q, struct pt_request *r) {
    r->next = q->first;
    q->first = r;
    if (!q->last)
        q->last = r;
    q->count++;
}

struct pt_request *pt_queue_take(struct pt_queue *q) {
    struct pt_request *r = q->first;
    if (r)
        pt_queue_remove(q, r);
    return r;
}

bool pt_queue_remove(struct pt_queue *q, struct pt_request *r) {
    struct pt_request **link = &q->first, *before = NULL;
    while (*link && *link != r) {
        before = *link;
        link = &before->next;
    }
    if (!*link)
        return false;
    *link = r->next;
    if (q->last == r)
        q->last = before;
    q->count--;
    return true;
}
