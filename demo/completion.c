#include "demo/completion.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "demo/exposition.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <stdio.h>

#define JSON "application/json"

/* A parsed request. */
struct order {
    char *prompt;
    int64_t max_tokens, seed;
    double temperature;
    bool is_stream, ignores_end;
};

static const struct pt_http_field fields[] = {
    { "prompt", PT_HTTP_TEXT, offsetof(struct order, prompt) },
    { "max_tokens", PT_HTTP_I64, offsetof(struct order, max_tokens) },
    { "seed", PT_HTTP_I64, offsetof(struct order, seed) },
    { "temperature", PT_HTTP_F64, offsetof(struct order, temperature) },
    { "stream", PT_HTTP_BOOL, offsetof(struct order, is_stream) },
    { "ignore_eos", PT_HTTP_BOOL, offsetof(struct order, ignores_end) },
};

/* Owned by the server's thread, except what the engine's callbacks use: exchange and text. */
struct completion {
    struct pt_completions *all;
    struct pt_http_exchange *exchange; /* gone when the request has ended */
    struct pt_request *request;
    uint64_t id;
    int64_t created_s;
    bool is_stream;
    struct pt_buf text; /* of the whole answer, or of one token */
    struct completion *next;
};

static void write_usage(struct pt_json *j, const struct pt_result *result) {
    pt_json_object(j, "usage");
    pt_json_i64(j, "prompt_tokens", (int64_t)result->prompt_count);
    pt_json_i64(j, "completion_tokens", (int64_t)result->token_count);
    pt_json_i64(j, "total_tokens", (int64_t)(result->prompt_count + result->token_count));
    pt_json_end(j);
}

/* The text so far; `result` is NULL before the end. */
static void write_completion(struct pt_out *out, const struct completion *c,
                             const struct pt_result *result) {
    struct pt_json j = { .out = out };
    char id[32];
    snprintf(id, sizeof id, "cmpl-%llu", (unsigned long long)c->id);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "id", id);
    pt_json_text(&j, "object", "text_completion");
    pt_json_i64(&j, "created", c->created_s);
    pt_json_text(&j, "model", PT_DEMO_MODEL_NAME);
    pt_json_array(&j, "choices");
    pt_json_object(&j, NULL);
    pt_json_i64(&j, "index", 0);
    pt_json_str(&j, "text", pt_buf_as_str(&c->text));
    pt_json_null(&j, "logprobs");
    pt_json_text(&j, "finish_reason", result ? pt_finish_name(result->finish) : NULL);
    pt_json_end(&j);
    pt_json_end(&j);
    if (result)
        write_usage(&j, result);
    pt_json_end(&j);
}

static void push_event(struct completion *c, const struct pt_result *result) {
    struct pt_buf event = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &event);
    pt_out_text(&out, "data: ");
    write_completion(&out, c, result);
    pt_out_text(&out, result ? "\n\ndata: [DONE]\n\n" : "\n\n");
    pt_out_close(&out);
    pt_http_push(c->exchange, pt_buf_as_str(&event)); /* on_gone reports a client that is gone */
    pt_buf_release(&event);
}

static void reply_whole(struct completion *c, const struct pt_result *result) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &body);
    write_completion(&out, c, result);
    pt_out_close(&out);
    pt_http_reply(c->exchange, 200, JSON, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

static void on_token(void *user, uint32_t token) {
    struct completion *c = user;
    if (c->is_stream)
        pt_buf_clear(&c->text);
    pt_tokenizer_decode(token, &c->text);
    if (c->is_stream)
        push_event(c, NULL);
}

static void answer_end(struct completion *c, const struct pt_result *result) {
    if (!c->is_stream) {
        reply_whole(c, result);
        return;
    }
    pt_buf_clear(&c->text);
    push_event(c, result);
    pt_http_end(c->exchange);
}

static void on_end(void *user, const struct pt_result *result) {
    struct completion *c = user;
    answer_end(c, result);
    pthread_mutex_lock(&c->all->lock);
    c->next = c->all->ended;
    c->all->ended = c;
    pthread_mutex_unlock(&c->all->lock);
}

static void on_gone(void *user) {
    struct completion *c = user;
    pt_request_cancel(c->request);
}

static void completion_free(struct completion *c) {
    pt_request_free(c->request);
    pt_buf_release(&c->text);
    pt_free(c);
}

static void free_ended(struct pt_completions *all) {
    pthread_mutex_lock(&all->lock);
    struct completion *c = all->ended, *next;
    all->ended = NULL;
    pthread_mutex_unlock(&all->lock);
    for (; c; c = next) {
        next = c->next;
        completion_free(c);
    }
}

void pt_completions_init(struct pt_completions *all, struct pt_engine *engine, size_t context) {
    *all = (struct pt_completions){ .engine = engine, .context = context };
    pthread_mutex_init(&all->lock, NULL);
}

void pt_completions_release(struct pt_completions *all) {
    free_ended(all);
    pthread_mutex_destroy(&all->lock);
}

static void reply_error(struct pt_http_exchange *x, const char *message) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    struct pt_json j = { .out = &out };
    pt_out_memory(&out, &body);
    pt_json_object(&j, NULL);
    pt_json_object(&j, "error");
    pt_json_text(&j, "message", message);
    pt_json_text(&j, "type", "invalid_request_error");
    pt_json_i64(&j, "code", 400);
    pt_json_end(&j);
    pt_json_end(&j);
    pt_out_close(&out);
    pt_http_reply(x, 400, JSON, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

static int check_order(const struct order *o, struct pt_err *err) {
    if (!o->prompt)
        return pt_fail(err, -EINVAL, "missing 'prompt'");
    if (o->max_tokens < 1)
        return pt_fail(err, -EINVAL, "'max_tokens' must be at least 1");
    if (!(o->temperature >= 0 && o->temperature <= 2))
        return pt_fail(err, -EINVAL, "'temperature' must be from 0 to 2");
    return 0;
}

/* Begins with a start token, so that no prompt is empty. */
static struct pt_request_options options_of(const struct order *o, uint32_t *tokens,
                                            size_t capacity) {
    tokens[0] = PT_TOKEN_BEGIN;
    return (struct pt_request_options){
        .tokens = tokens,
        .token_count = 1 + pt_tokenizer_encode(pt_str_from(o->prompt), tokens + 1, capacity - 1),
        .new_token_max = (size_t)o->max_tokens,
        .temperature = (float)o->temperature,
        .seed = (uint64_t)o->seed,
        .stops_at_end = !o->ignores_end,
        .on_token = on_token,
        .on_end = on_end,
    };
}

/* The engine's thread answers the request, possibly before this returns. */
static void start(struct pt_completions *all, struct pt_http_exchange *x, bool is_stream,
                  struct pt_request_options *options) {
    struct completion *c = pt_calloc(1, sizeof *c);
    *c = (struct completion){
        .all = all,
        .exchange = x,
        .id = ++all->started_count,
        .created_s = pt_wall_ns() / PT_NS_PER_SECOND,
        .is_stream = is_stream,
    };
    options->user = c;
    if (is_stream)
        pt_http_begin(x, "text/event-stream", on_gone, c);
    int rc = pt_engine_submit(all->engine, options, &c->request);
    if (rc) { /* the engine is stopping */
        answer_end(c, &(struct pt_result){ .finish = PT_FINISH_ABORT });
        completion_free(c);
    }
}

static void take_order(struct pt_completions *all, struct pt_http_exchange *x,
                       const struct order *o) {
    size_t capacity = all->context + 1; /* one more, to detect too many */
    uint32_t *tokens = pt_calloc(capacity, sizeof *tokens);
    struct pt_request_options options = options_of(o, tokens, capacity);
    char message[96];
    if (pt_engine_check(all->engine, &options)) {
        snprintf(message, sizeof message,
                 "prompt and 'max_tokens' exceed the context of %zu tokens", all->context);
        reply_error(x, message);
    } else {
        start(all, x, o->is_stream, &options);
    }
    pt_free(tokens);
}

void pt_completions_handle(struct pt_completions *all, struct pt_http_exchange *x) {
    struct order o = { .max_tokens = 16, .temperature = 1 };
    struct pt_err err;
    free_ended(all);
    int rc = pt_http_read_json(x, fields, PT_COUNT(fields), &o, &err);
    if (!rc)
        rc = check_order(&o, &err);
    if (rc)
        reply_error(x, err.text);
    else
        take_order(all, x, &o);
    pt_free(o.prompt);
}
