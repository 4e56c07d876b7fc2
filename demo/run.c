#include "demo/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "demo/deployment.h"
#include "demo/prose.h"
#include "demo/random.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

/* Submitted requests; the next one takes the slot of a finished one. */
struct slot {
    struct load *load;
    struct pt_request *request;
    bool has_ended; /* guarded by the lock of the load */
};

struct load {
    const struct pt_demo_options *options;
    const struct pt_model_config *model;
    struct pt_engine *engine;
    struct slot *slots;
    uint32_t *prompt;
    struct pt_buf text; /* of the prompt */
    uint64_t random;
    size_t started_count;
    struct pt_samples first_token_ns, inter_token_ns;
    pthread_mutex_t lock;
    pthread_cond_t slot_ended;
};

static double seconds_since(int64_t start_ns) {
    return (double)(pt_mono_ns() - start_ns) / (double)PT_NS_PER_SECOND;
}

static void sleep_seconds(double seconds) {
    int64_t ns = (int64_t)(seconds * (double)PT_NS_PER_SECOND);
    struct timespec left = { ns / PT_NS_PER_SECOND, ns % PT_NS_PER_SECOND };
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

static struct pt_demo_options with_defaults(const struct pt_demo_options *given) {
    struct pt_demo_options o = *given;
    if (!(o.seconds > 0))
        o.seconds = 5;
    if (!(o.idle_seconds > 0))
        o.idle_seconds = o.seconds < 10 ? o.seconds / 10 : 1;
    if (!o.request_count)
        o.request_count = SIZE_MAX;
    if (!o.concurrency)
        o.concurrency = 16;
    return o;
}

static void slot_ended(void *user, const struct pt_result *result) {
    (void)result;
    struct slot *slot = user;
    pthread_mutex_lock(&slot->load->lock);
    slot->has_ended = true;
    pthread_cond_signal(&slot->load->slot_ended);
    pthread_mutex_unlock(&slot->load->lock);
}

/* Many short prompts and some long ones: up to half of the context, twice as
 * short half of the time. */
static size_t prompt_length(struct load *l) {
    size_t longest = l->model->context / 2;
    while (longest > 16 && pt_random_next(&l->random) % 2)
        longest /= 2;
    return pt_random_between(&l->random, longest / 2 + 1, longest);
}

static void make_prompt(struct load *l, size_t token_count) {
    pt_buf_clear(&l->text);
    pt_prose_append(&l->text, 2 * token_count,
                    &l->random); /* a token has at most this many characters */
    l->prompt[0] = PT_TOKEN_BEGIN;
    pt_tokenizer_encode(pt_buf_as_str(&l->text), l->prompt + 1, token_count - 1);
}

static int start_request(struct load *l, struct slot *slot) {
    size_t token_count = prompt_length(l);
    make_prompt(l, token_count);
    l->started_count++;
    slot->has_ended = false;
    return pt_engine_submit(l->engine,
                            &(struct pt_request_options){
                                .tokens = l->prompt,
                                .token_count = token_count,
                                .new_token_max = pt_random_between(
                                    &l->random, l->model->context / 32 + 1, l->model->context / 4),
                                .temperature = 0.8f,
                                .seed = pt_random_next(&l->random),
                                .on_end = slot_ended,
                                .user = slot,
                            },
                            &slot->request);
}

static void collect_request(struct load *l, struct slot *slot) {
    const struct pt_result *r = pt_request_wait(slot->request);
    if (r->token_count > 0)
        pt_samples_add(&l->first_token_ns, r->token_ns[0] - r->arrival_ns);
    for (size_t i = 1; i < r->token_count; i++)
        pt_samples_add(&l->inter_token_ns, r->token_ns[i] - r->token_ns[i - 1]);
    pt_request_free(slot->request);
    slot->request = NULL;
}

static struct slot *find_ended(struct load *l) {
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request && l->slots[i].has_ended)
            return &l->slots[i];
    return NULL;
}

/* Waits until a request ends; NULL if none does before the deadline. */
static struct slot *next_ended(struct load *l, int64_t deadline_ns) {
    struct timespec deadline = { deadline_ns / PT_NS_PER_SECOND, deadline_ns % PT_NS_PER_SECOND };
    struct slot *slot;
    int rc = 0;
    pthread_mutex_lock(&l->lock);
    while (!(slot = find_ended(l)) && !rc)
        rc = pthread_cond_timedwait(&l->slot_ended, &l->lock, &deadline);
    pthread_mutex_unlock(&l->lock);
    return slot;
}

/* Aborts unfinished requests. */
static void collect_rest(struct load *l) {
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request)
            pt_request_cancel(l->slots[i].request);
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request)
            collect_request(l, &l->slots[i]);
}

/* Keeps `concurrency` requests in the engine until the limit of time or requests. */
static int drive(struct load *l, int64_t deadline_ns) {
    struct slot *slot = l->slots, *end = l->slots + l->options->concurrency;
    int rc = 0;
    for (; slot < end && l->started_count < l->options->request_count && !rc; slot++)
        rc = start_request(l, slot);
    size_t open_count = (size_t)(slot - l->slots);
    while (!rc && open_count > 0 && (slot = next_ended(l, deadline_ns))) {
        collect_request(l, slot);
        if (l->started_count < l->options->request_count)
            rc = start_request(l, slot);
        else
            open_count--;
    }
    collect_rest(l);
    return rc;
}

static void load_release(struct load *l) {
    pthread_cond_destroy(&l->slot_ended);
    pthread_mutex_destroy(&l->lock);
    pt_free(l->slots);
    pt_free(l->prompt);
    pt_buf_release(&l->text);
    pt_samples_release(&l->first_token_ns);
    pt_samples_release(&l->inter_token_ns);
}

static void load_init(struct load *l, const struct pt_demo_options *o,
                      const struct pt_deployment *d) {
    *l = (struct load){
        .options = o,
        .model = &d->model.config,
        .engine = d->engine,
        .slots = pt_calloc(o->concurrency, sizeof *l->slots),
        .prompt = pt_calloc(d->model.config.context, sizeof *l->prompt),
        .random = o->seed,
    };
    for (size_t i = 0; i < o->concurrency; i++)
        l->slots[i].load = l;
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->slot_ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void summarize(struct load *l, struct pt_demo_result *result) {
    struct pt_engine_stats stats;
    pt_engine_stats(l->engine, &stats);
    result->finished_count = stats.finished[PT_FINISH_LENGTH] + stats.finished[PT_FINISH_STOP];
    result->cut_count = stats.finished[PT_FINISH_ABORT];
    result->preemption_count = stats.preemptions;
    result->prompt_count = stats.prompt_tokens;
    result->generated_count = stats.generation_tokens;
    result->first_token = pt_samples_latency(&l->first_token_ns);
    result->inter_token = pt_samples_latency(&l->inter_token_ns);
}

static int serve(const struct pt_demo_options *o, const struct pt_deployment *d,
                 int64_t deadline_ns, struct pt_demo_result *result, struct pt_err *err) {
    struct load l;
    load_init(&l, o, d);
    int64_t start_ns = pt_mono_ns();
    int rc = drive(&l, deadline_ns);
    result->load_seconds = seconds_since(start_ns);
    if (rc)
        rc = pt_fail(err, rc, "cannot submit a request: %s", strerror(-rc));
    summarize(&l, result);
    load_release(&l);
    return rc;
}

static void print_result(struct pt_out *out, size_t worker_count, size_t concurrency,
                         const struct pt_demo_result *r) {
    pt_out_printf(out, "load         %.1f s, %zu workers, %zu requests at a time\n",
                  r->load_seconds, worker_count, concurrency);
    pt_out_printf(out,
                  "requests     %" PRIu64 " finished, %" PRIu64 " cut off at the end, %" PRIu64
                  " preempted\n",
                  r->finished_count, r->cut_count, r->preemption_count);
    pt_samples_print_rate(out, "prompt", r->prompt_count, r->load_seconds);
    pt_samples_print_rate(out, "generated", r->generated_count, r->load_seconds);
    pt_samples_print_latency(out, "first token", r->first_token);
    pt_samples_print_latency(out, "inter-token", r->inter_token);
}

static int run_load(const struct pt_demo_options *o, const struct pt_deployment *d,
                    int64_t start_ns, struct pt_out *out, struct pt_demo_result *result,
                    struct pt_err *err) {
    pt_deployment_print(d, out);
    pt_out_flush(out);
    sleep_seconds(o->idle_seconds);
    int64_t deadline_ns = start_ns + (int64_t)(o->seconds * (double)PT_NS_PER_SECOND);
    int rc = serve(o, d, deadline_ns, result, err);
    if (rc)
        return rc;
    print_result(out, d->worker_count, o->concurrency, result);
    return pt_out_flush(out);
}

int pt_demo_run(const struct pt_demo_options *given, struct pt_out *out,
                struct pt_demo_result *result, struct pt_err *err) {
    struct pt_demo_options o = with_defaults(given);
    struct pt_demo_result measured = { 0 };
    struct pt_deployment d;
    int64_t start_ns = pt_mono_ns();
    int rc = pt_deployment_open(&d, &o.deployment, err);
    if (rc)
        return rc;
    rc = run_load(&o, &d, start_ns, out, &measured, err);
    pt_deployment_close(&d);
    if (result && !rc)
        *result = measured;
    return rc;
}
