#include "demo/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "demo/engine.h"
#include "demo/random.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNNING_MAX 12
#define PREFILL_MAX 64
#define CHUNK_MAX   16 /* about as long as one worker's share of decoding */

/* The KV cache holds this many contexts: less than the places, so that it can run full. */
#define CONTEXTS 5

/* Prompts are stretches of this text, over and over. */
static const char prose[] =
    "A pitot tube measures how fast the air goes by: it faces the stream, and the pressure in it "
    "rises with the square of the speed. It has no moving part and hardly disturbs what it "
    "measures. An instrument on an engine should be the same: always there, seldom noticed, and "
    "right when somebody looks at it. What the machine did while the work was going on is written "
    "down as it happened, and questions are asked later. ";

struct samples {
    int64_t *at;
    size_t count, capacity;
};

/* Requests that are with the engine; a finished one leaves its place to the next. */
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
    uint64_t random;
    size_t started_count;
    struct samples first_token_ns, inter_token_ns;
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

static size_t cpu_count(void) {
    cpu_set_t set;
    size_t count = sched_getaffinity(0, sizeof set, &set) ? 2 : (size_t)CPU_COUNT(&set);
    return count < 2 ? 2 : count > 8 ? 8 : count;
}

static struct pt_demo_options with_defaults(const struct pt_demo_options *given) {
    struct pt_demo_options o = *given;
    const char *temporary = getenv("TMPDIR");
    if (!(o.seconds > 0))
        o.seconds = 5;
    if (!(o.idle_seconds > 0))
        o.idle_seconds = o.seconds < 10 ? o.seconds / 10 : 1;
    if (!o.request_count)
        o.request_count = SIZE_MAX;
    if (!o.worker_count)
        o.worker_count = cpu_count();
    if (!o.concurrency)
        o.concurrency = 16;
    if (!o.directory)
        o.directory = temporary && *temporary ? temporary : "/var/tmp";
    if (!o.model)
        o.model = &pt_model_config_default;
    return o;
}

static void samples_add(struct samples *s, int64_t value) {
    pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
    s->at[s->count++] = value;
}

static int compare_i64(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The smallest value that `percent` of the samples do not exceed. */
static int64_t percentile(const struct samples *sorted, size_t percent) {
    return sorted->at[(sorted->count * percent + 99) / 100 - 1];
}

static struct pt_demo_latency latency_of(struct samples *s) {
    if (s->count == 0)
        return (struct pt_demo_latency){ 0 };
    qsort(s->at, s->count, sizeof *s->at, compare_i64);
    return (struct pt_demo_latency){ s->count, percentile(s, 50), percentile(s, 95) };
}

/* Writes the weights and maps them, as a server does that has just been deployed. */
static int load_model(const struct pt_demo_options *o, struct pt_model *m,
                      struct pt_demo_result *result, struct pt_err *err) {
    if (!pt_model_config_is_valid(o->model))
        return pt_fail(err, -EINVAL, "the sizes of the model do not fit each other");
    int fd = pt_weights_temporary(o->directory, err);
    if (fd < 0)
        return fd;
    int64_t start_ns = pt_mono_ns();
    int rc = pt_weights_write(fd, o->model, err);
    result->write_seconds = seconds_since(start_ns);
    start_ns = pt_mono_ns();
    if (!rc)
        rc = pt_model_open(m, fd, o->model, err);
    result->read_seconds = seconds_since(start_ns);
    close(fd);
    return rc;
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
    size_t at = pt_random_between(&l->random, 0, sizeof prose - 2), filled = 1;
    l->prompt[0] = PT_TOKEN_BEGIN;
    while (filled < token_count) {
        struct pt_str text = { prose + at, sizeof prose - 1 - at };
        filled += pt_tokenizer_encode(text, l->prompt + filled, token_count - filled);
        at = 0;
    }
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
        samples_add(&l->first_token_ns, r->token_ns[0] - r->arrival_ns);
    for (size_t i = 1; i < r->token_count; i++)
        samples_add(&l->inter_token_ns, r->token_ns[i] - r->token_ns[i - 1]);
    pt_request_free(slot->request);
    slot->request = NULL;
}

static struct slot *find_ended(struct load *l) {
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request && l->slots[i].has_ended)
            return &l->slots[i];
    return NULL;
}

/* Waits for any request to end; NULL if none does before the deadline. */
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

/* Cuts off what has not ended. */
static void collect_rest(struct load *l) {
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request)
            pt_request_cancel(l->slots[i].request);
    for (size_t i = 0; i < l->options->concurrency; i++)
        if (l->slots[i].request)
            collect_request(l, &l->slots[i]);
}

/* Keeps `concurrency` requests with the engine until time or requests are used up. */
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
    pt_engine_free(l->engine);
    pthread_cond_destroy(&l->slot_ended);
    pthread_mutex_destroy(&l->lock);
    pt_free(l->slots);
    pt_free(l->prompt);
    pt_free(l->first_token_ns.at);
    pt_free(l->inter_token_ns.at);
}

static void load_init(struct load *l, const struct pt_demo_options *o) {
    *l = (struct load){
        .options = o,
        .model = o->model,
        .slots = pt_calloc(o->concurrency, sizeof *l->slots),
        .prompt = pt_calloc(o->model->context, sizeof *l->prompt),
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
    result->first_token = latency_of(&l->first_token_ns);
    result->inter_token = latency_of(&l->inter_token_ns);
}

static int serve(const struct pt_demo_options *o, const struct pt_model *m, int64_t deadline_ns,
                 struct pt_demo_result *result, struct pt_err *err) {
    struct load l;
    load_init(&l, o);
    int rc = pt_engine_new(&l.engine,
                           &(struct pt_engine_options){
                               .model = m,
                               .worker_count = o->worker_count,
                               .running_max = RUNNING_MAX,
                               .block_count = CONTEXTS * pt_kv_blocks_for(o->model->context),
                               .prefill_max = PREFILL_MAX,
                               .chunk_max = CHUNK_MAX,
                           },
                           err);
    if (!rc) {
        int64_t start_ns = pt_mono_ns();
        rc = drive(&l, deadline_ns);
        result->load_seconds = seconds_since(start_ns);
        if (rc)
            rc = pt_fail(err, rc, "cannot submit a request: %s", strerror(-rc));
        summarize(&l, result);
    }
    load_release(&l);
    return rc;
}

static void print_model(struct pt_out *out, const struct pt_model_config *c) {
    size_t bytes = pt_weights_file_bytes(c);
    pt_out_printf(out,
                  "model        %zu layers x %zu, %zu heads (%zu KV), %.1f M weights, %.1f MiB\n",
                  c->layer_count, c->width, c->head_count, c->kv_head_count,
                  (double)bytes / sizeof(float) / 1e6, (double)bytes / 0x1p20);
}

static void print_rate(struct pt_out *out, const char *what, uint64_t count, double seconds) {
    pt_out_printf(out, "%-12s %9" PRIu64 " tokens   %8.1f tokens/s\n", what, count,
                  seconds > 0 ? (double)count / seconds : 0);
}

static void print_latency(struct pt_out *out, const char *what, struct pt_demo_latency latency) {
    if (latency.count == 0)
        pt_out_printf(out, "%-12s none\n", what);
    else
        pt_out_printf(out, "%-12s p50 %8.1f ms   p95 %8.1f ms\n", what,
                      (double)latency.p50_ns / (double)PT_NS_PER_MS,
                      (double)latency.p95_ns / (double)PT_NS_PER_MS);
}

static void print_result(struct pt_out *out, const struct pt_demo_options *o,
                         const struct pt_demo_result *r) {
    pt_out_printf(out, "load         %.1f s, %zu workers, %zu requests at a time\n",
                  r->load_seconds, o->worker_count, o->concurrency);
    pt_out_printf(out,
                  "requests     %" PRIu64 " finished, %" PRIu64 " cut off at the end, %" PRIu64
                  " preempted\n",
                  r->finished_count, r->cut_count, r->preemption_count);
    print_rate(out, "prompt", r->prompt_count, r->load_seconds);
    print_rate(out, "generated", r->generated_count, r->load_seconds);
    print_latency(out, "first token", r->first_token);
    print_latency(out, "inter-token", r->inter_token);
}

int pt_demo_run(const struct pt_demo_options *given, struct pt_out *out,
                struct pt_demo_result *result, struct pt_err *err) {
    struct pt_demo_options o = with_defaults(given);
    struct pt_demo_result measured = { 0 };
    struct pt_model model = { 0 };
    int64_t start_ns = pt_mono_ns();

    int rc = load_model(&o, &model, &measured, err);
    if (rc)
        return rc;
    print_model(out, o.model);
    pt_out_printf(out, "weights      written in %.2f s, read in %.2f s\n", measured.write_seconds,
                  measured.read_seconds);
    pt_out_flush(out);

    sleep_seconds(o.idle_seconds);
    int64_t deadline_ns = start_ns + (int64_t)(o.seconds * (double)PT_NS_PER_SECOND);
    rc = serve(&o, &model, deadline_ns, &measured, err);
    pt_model_close(&model);
    if (rc)
        return rc;
    print_result(out, &o, &measured);
    if (result)
        *result = measured;
    return pt_out_flush(out);
}
