#include "demo/engine.h"

#include "base/clock.h"
#include "base/mem.h"
#include "demo/pool.h"
#include "demo/sampler.h"
#include "demo/schedule.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <pitot/pitot.h>

/* The work of one worker in a step. */
struct job {
    struct pt_request **requests;
    size_t count;
    bool is_prefill;
};

/* Rows and activations of one worker. */
struct bench {
    struct pt_row *rows;
    struct pt_scratch scratch;
};

struct pt_engine {
    const struct pt_model *model;
    struct pt_pool pool;
    struct bench *benches; /* one per worker */
    size_t bench_count;
    struct job *jobs;
    size_t job_count;
    pthread_t thread;
    bool is_started;          /* used by the owner of the engine only */
    pt_counter steps, tokens; /* of libpitot, for a recorder */
    pt_histogram step_seconds;

    pthread_mutex_t lock;
    pthread_cond_t has_work, has_ended;
    /* Below: guarded by the lock. */
    struct pt_schedule schedule;
    struct pt_engine_stats stats;
    bool is_stopping;
};

static void sample(struct pt_engine *e, struct pt_request *r, float *logits) {
    PT_SPAN(span, "sample");
    r->sampled =
        pt_sampler_pick(logits, e->model->config.vocabulary, r->options.temperature, &r->random);
    r->has_sampled = true;
}

static struct pt_row row_of(const struct pt_request *r, size_t position) {
    return (struct pt_row){
        .token = r->tokens[position],
        .position = position,
        .blocks = r->blocks,
        .wants_logits = position + 1 == r->token_count,
    };
}

/* Computes the next piece of a prompt; its last piece gives the first token. */
static void prefill(struct pt_engine *e, struct bench *b, struct pt_request *r) {
    PT_SPAN(span, "prefill");
    pt_span_set_argument(&span, (int64_t)r->step_count);
    for (size_t i = 0; i < r->step_count; i++)
        b->rows[i] = row_of(r, r->computed_count + i);
    pt_model_forward(e->model, &b->scratch, b->rows, r->step_count);
    r->computed_count += r->step_count;
    if (r->computed_count == r->token_count)
        sample(e, r, pt_scratch_logits(&b->scratch, 0));
}

/* One token for each of some requests. */
static void decode_step(struct pt_engine *e, struct bench *b, struct pt_request **requests,
                        size_t count) {
    PT_SPAN(span, "decode_step");
    pt_span_set_argument(&span, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        b->rows[i] = row_of(requests[i], requests[i]->computed_count);
    pt_model_forward(e->model, &b->scratch, b->rows, count);
    for (size_t i = 0; i < count; i++) {
        requests[i]->computed_count++;
        sample(e, requests[i], pt_scratch_logits(&b->scratch, i));
    }
}

static void run_job(void *context, size_t index, size_t worker) {
    struct pt_engine *e = context;
    struct job *job = &e->jobs[index];
    if (job->is_prefill)
        prefill(e, &e->benches[worker], job->requests[0]);
    else
        decode_step(e, &e->benches[worker], job->requests, job->count);
}

/* Prompts first, because they take longest; decoding is shared evenly. */
static void deal_jobs(struct pt_engine *e) {
    struct pt_schedule *s = &e->schedule;
    e->job_count = 0;
    for (size_t i = 0; i < s->prefill_count; i++)
        e->jobs[e->job_count++] = (struct job){ &s->prefills[i], 1, true };
    for (size_t i = 0, dealt = 0; i < e->bench_count; i++) {
        size_t end = s->decode_count * (i + 1) / e->bench_count;
        if (end > dealt)
            e->jobs[e->job_count++] = (struct job){ &s->decodes[dealt], end - dealt, false };
        dealt = end;
    }
}

/* Waits for requests and plans a step; false if the engine must stop. */
static bool plan_step(struct pt_engine *e) {
    pthread_mutex_lock(&e->lock);
    while (!e->is_stopping && pt_schedule_is_empty(&e->schedule))
        pthread_cond_wait(&e->has_work, &e->lock);
    bool goes_on = !e->is_stopping;
    if (goes_on) {
        pt_schedule_plan(&e->schedule, pt_mono_ns());
        deal_jobs(e);
        e->stats.steps++;
    }
    pthread_mutex_unlock(&e->lock);
    return goes_on;
}

static void observe(struct pt_latency_histogram *latency, int64_t from_ns, int64_t to_ns) {
    pt_latency_histogram_observe(latency, to_ns - from_ns);
}

static void count_token(struct pt_engine_stats *stats, const struct pt_request *r) {
    const struct pt_result *result = &r->result;
    size_t n = result->token_count - 1;
    stats->generation_tokens++;
    if (n > 0) {
        observe(&stats->inter_token, result->token_ns[n - 1], result->token_ns[n]);
        return;
    }
    stats->prompt_tokens += result->prompt_count;
    observe(&stats->first_token, result->arrival_ns, result->token_ns[0]);
}

static void count_end(struct pt_engine_stats *stats, const struct pt_result *result) {
    stats->finished[result->finish]++;
    if (result->token_count == 0 && result->finish == PT_FINISH_STOP)
        stats->prompt_tokens += result->prompt_count;
    if (result->token_count == 0)
        return;
    int64_t first_ns = result->token_ns[0], last_ns = result->token_ns[result->token_count - 1];
    observe(&stats->e2e, result->arrival_ns, result->end_ns);
    observe(&stats->queue, result->arrival_ns, result->scheduled_ns);
    observe(&stats->prefill, result->scheduled_ns, first_ns);
    observe(&stats->decode, first_ns, last_ns);
    observe(&stats->inference, result->scheduled_ns, last_ns);
}

/* Counts before the callback. Afterwards the request belongs to its owner, who may free it at
 * once. */
static void end_request(struct pt_engine *e, struct pt_request *r, enum pt_finish finish) {
    r->result.finish = finish;
    r->result.end_ns = pt_mono_ns();
    pthread_mutex_lock(&e->lock);
    pt_schedule_remove(&e->schedule, r);
    count_end(&e->stats, &r->result);
    pthread_mutex_unlock(&e->lock);
    if (r->options.on_end)
        r->options.on_end(r->options.user, &r->result);
    pthread_mutex_lock(&e->lock);
    r->has_ended = true;
    pthread_cond_broadcast(&e->has_ended);
    pthread_mutex_unlock(&e->lock);
}

/* Appends the token that a worker sampled. */
static void deliver(struct pt_engine *e, struct pt_request *r, int64_t now_ns) {
    if (!r->has_sampled)
        return;
    r->has_sampled = false;
    if (r->options.stops_at_end && r->sampled == PT_TOKEN_END) {
        end_request(e, r, PT_FINISH_STOP);
        return;
    }
    r->token_ns[r->result.token_count++] = now_ns;
    r->tokens[r->token_count++] = r->sampled;
    pt_counter_add(e->tokens, 1);
    pthread_mutex_lock(&e->lock);
    count_token(&e->stats, r);
    pthread_mutex_unlock(&e->lock);
    if (r->options.on_token)
        r->options.on_token(r->options.user, r->sampled);
    if (r->result.token_count == r->options.new_token_max)
        end_request(e, r, PT_FINISH_LENGTH);
}

static void deliver_step(struct pt_engine *e) {
    int64_t now_ns = pt_mono_ns();
    for (size_t i = 0; i < e->job_count; i++)
        for (size_t k = 0; k < e->jobs[i].count; k++)
            deliver(e, e->jobs[i].requests[k], now_ns);
}

/* A request to abort, by its owner or because the engine stops; or NULL. */
static struct pt_request *find_cancelled(struct pt_engine *e) {
    struct pt_schedule *s = &e->schedule;
    struct pt_request *found = NULL;
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i < s->running_count && !found; i++)
        if (e->is_stopping || s->running[i]->is_cancelled)
            found = s->running[i];
    for (struct pt_request *r = s->waiting.first; r && !found; r = r->next)
        if (e->is_stopping || r->is_cancelled)
            found = r;
    pthread_mutex_unlock(&e->lock);
    return found;
}

static void abort_cancelled(struct pt_engine *e) {
    struct pt_request *r;
    while ((r = find_cancelled(e)))
        end_request(e, r, PT_FINISH_ABORT);
}

static void *engine_main(void *argument) {
    struct pt_engine *e = argument;
    pthread_setname_np(pthread_self(), "pitot-engine");
    while (plan_step(e)) {
        int64_t before_ns = pt_mono_ns();
        pt_pool_run(&e->pool, e->job_count, run_job, e);
        pt_counter_add(e->steps, 1);
        pt_histogram_record(e->step_seconds, (double)(pt_mono_ns() - before_ns) / 1e9);
        deliver_step(e);
        abort_cancelled(e);
    }
    abort_cancelled(e);
    return NULL;
}

static void init(struct pt_engine *e, const struct pt_demo_engine_options *o) {
    const struct pt_latency_histogram request = { .scale = &pt_latency_request };
    size_t row_max = o->chunk_max > o->running_max ? o->chunk_max : o->running_max;
    *e = (struct pt_engine){
        .model = o->model,
        .benches = pt_calloc(o->worker_count, sizeof *e->benches),
        .bench_count = o->worker_count,
        .jobs = pt_calloc(o->running_max + o->worker_count, sizeof *e->jobs),
        .stats = { .first_token.scale = &pt_latency_first_token,
                   .inter_token.scale = &pt_latency_inter_token,
                   .e2e = request,
                   .queue = request,
                   .prefill = request,
                   .decode = request,
                   .inference = request },
    };
    for (size_t i = 0; i < o->worker_count; i++) {
        e->benches[i].rows = pt_calloc(row_max, sizeof *e->benches[i].rows);
        pt_scratch_init(&e->benches[i].scratch, &o->model->config, row_max);
    }
    e->steps = pt_counter_new("steps", "", "Steps of the engine", NULL);
    e->tokens = pt_counter_new("generation_tokens", "", "Tokens generated", NULL);
    e->step_seconds = pt_histogram_new("step_duration", "s", "Time of a step", NULL);
    pt_schedule_init(&e->schedule, o);
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->has_work, NULL);
    pthread_cond_init(&e->has_ended, NULL);
}

int pt_engine_new(struct pt_engine **engine, const struct pt_demo_engine_options *o,
                  struct pt_err *err) {
    *engine = NULL;
    if (!o->worker_count || !o->running_max || !o->block_count || !o->prefill_max || !o->chunk_max)
        return pt_fail(err, -EINVAL,
                       "invalid engine options: workers, requests, blocks and tokens per step must "
                       "be positive");
    struct pt_engine *e = pt_malloc(sizeof *e);
    init(e, o);
    int rc = pt_pool_init(&e->pool, o->worker_count);
    if (!rc)
        rc = -pthread_create(&e->thread, NULL, engine_main, e);
    if (rc) {
        pt_engine_free(e);
        return pt_fail(err, rc, "cannot start the engine's threads: %s", strerror(-rc));
    }
    e->is_started = true;
    *engine = e;
    return 0;
}

void pt_engine_stop(struct pt_engine *e) {
    if (!e->is_started)
        return;
    pthread_mutex_lock(&e->lock);
    e->is_stopping = true;
    pthread_cond_signal(&e->has_work);
    pthread_mutex_unlock(&e->lock);
    pthread_join(e->thread, NULL);
    e->is_started = false;
}

void pt_engine_free(struct pt_engine *e) {
    if (!e)
        return;
    pt_engine_stop(e);
    pt_pool_release(&e->pool);
    pt_schedule_release(&e->schedule);
    for (size_t i = 0; i < e->bench_count; i++) {
        pt_free(e->benches[i].rows);
        pt_scratch_release(&e->benches[i].scratch);
    }
    pthread_cond_destroy(&e->has_ended);
    pthread_cond_destroy(&e->has_work);
    pthread_mutex_destroy(&e->lock);
    pt_free(e->benches);
    pt_free(e->jobs);
    pt_free(e);
}

int pt_engine_check(const struct pt_engine *e, const struct pt_request_options *o) {
    const struct pt_model_config *c = &e->model->config;
    if (o->token_count == 0 || o->new_token_max == 0)
        return -EINVAL;
    for (size_t i = 0; i < o->token_count; i++)
        if (o->tokens[i] >= c->vocabulary)
            return -EINVAL;
    if (o->token_count > c->context || o->new_token_max > c->context - o->token_count)
        return -E2BIG;
    size_t needed = pt_kv_blocks_for(o->token_count + o->new_token_max);
    return needed > e->schedule.kv.block_count ? -E2BIG : 0;
}

int pt_engine_submit(struct pt_engine *e, const struct pt_request_options *options,
                     struct pt_request **request) {
    *request = NULL;
    int rc = pt_engine_check(e, options);
    if (rc)
        return rc;
    struct pt_request *r = pt_request_new(e, options);
    pthread_mutex_lock(&e->lock);
    if (e->is_stopping) {
        rc = -ESHUTDOWN;
    } else {
        *request = r;
        pt_queue_append(&e->schedule.waiting, r);
        pthread_cond_signal(&e->has_work);
    }
    pthread_mutex_unlock(&e->lock);
    if (rc)
        pt_request_destroy(r);
    return rc;
}

void pt_engine_stats(struct pt_engine *e, struct pt_engine_stats *stats) {
    pthread_mutex_lock(&e->lock);
    const struct pt_schedule *s = &e->schedule;
    *stats = e->stats;
    stats->running = s->running_count;
    stats->waiting = s->waiting.count;
    stats->kv_usage = 1 - (double)s->kv.free_count / (double)s->kv.block_count;
    stats->preemptions = s->preemption_count;
    pthread_mutex_unlock(&e->lock);
}

void pt_request_cancel(struct pt_request *r) {
    pthread_mutex_lock(&r->engine->lock);
    r->is_cancelled = true;
    pthread_mutex_unlock(&r->engine->lock);
}

const struct pt_result *pt_request_wait(struct pt_request *r) {
    pthread_mutex_lock(&r->engine->lock);
    while (!r->has_ended)
        pthread_cond_wait(&r->engine->has_ended, &r->engine->lock);
    pthread_mutex_unlock(&r->engine->lock);
    return &r->result;
}

void pt_request_free(struct pt_request *r) {
    if (!r)
        return;
    pt_request_cancel(r);
    pt_request_wait(r);
    pt_request_destroy(r);
}
