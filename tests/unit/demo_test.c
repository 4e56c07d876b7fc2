/* The demo workload: arithmetic, model, scheduling, engine, the run as a whole. */
#include "small_model.h"
#include "test.h"

#include "demo/engine.h"
#include "demo/random.h"
#include "demo/run.h"
#include "demo/sampler.h"
#include "demo/schedule.h"
#include "demo/tokenizer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct pt_model model;

static int open_model(void **state) {
    (void)state;
    int fd = memfd_create("weights", 0);
    int rc = pt_weights_write(fd, &small, NULL);
    if (!rc)
        rc = pt_model_open(&model, fd, &small, NULL);
    close(fd);
    return rc;
}

static int close_model(void **state) {
    (void)state;
    pt_model_close(&model);
    return 0;
}

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not within %g of %.9g", value, tolerance, expected);
}

static void fill(float *x, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++)
        x[i] = 2 * pt_random_unit(&seed) - 1;
}

static double dot(const float *a, const float *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

static void matmul_agrees_with_a_naive_product(void **state) {
    (void)state;
    enum { ROWS = 9, INPUTS = 37, OUTPUTS = 48 };
    static float x[ROWS * INPUTS], matrix[INPUTS * OUTPUTS], y[ROWS * OUTPUTS];
    fill(x, ROWS * INPUTS, 1);
    fill(matrix, INPUTS * OUTPUTS, 2);
    pt_tensor_matmul(y, x, ROWS, matrix, INPUTS, OUTPUTS);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t output = 0; output < OUTPUTS; output++) {
            double sum = 0;
            for (size_t i = 0; i < INPUTS; i++)
                sum += (double)x[row * INPUTS + i] *
                       (double)matrix[pt_tensor_panel_index(INPUTS, i, output)];
            assert_near((double)y[row * OUTPUTS + output], sum, 1e-5);
        }
}

static void a_row_gives_the_same_bits_in_any_batch(void **state) {
    (void)state;
    enum { ROWS = 11, INPUTS = 64, OUTPUTS = 32 };
    static float x[ROWS * INPUTS], matrix[INPUTS * OUTPUTS], y[ROWS * OUTPUTS], alone[OUTPUTS];
    fill(x, ROWS * INPUTS, 3);
    fill(matrix, INPUTS * OUTPUTS, 4);
    for (size_t rows = 1; rows <= ROWS; rows++) {
        pt_tensor_matmul(y, x, rows, matrix, INPUTS, OUTPUTS);
        for (size_t row = 0; row < rows; row++) {
            pt_tensor_matmul(alone, x + row * INPUTS, 1, matrix, INPUTS, OUTPUTS);
            assert_memory_equal(y + row * OUTPUTS, alone, sizeof alone);
        }
    }
}

static void rmsnorm_of_3_and_4(void **state) {
    (void)state;
    const float x[] = { 3, 4 }, weight[] = { 1, 2 };
    float y[2];
    pt_tensor_rmsnorm(y, x, weight, 2);
    assert_near((double)y[0], 3 / sqrt(12.5), 1e-5);
    assert_near((double)y[1], 2 * 4 / sqrt(12.5), 1e-5);
}

static void softmax_sums_to_1_and_survives_large_inputs(void **state) {
    (void)state;
    float quarters[] = { 0, logf(3) }, large[] = { 1000, 1000, -1000 }, many[333];
    pt_tensor_softmax(quarters, 2);
    assert_near((double)quarters[0], 0.25, 1e-6);
    assert_near((double)quarters[1], 0.75, 1e-6);
    pt_tensor_softmax(large, 3);
    assert_near((double)large[0], 0.5, 1e-6);
    assert_near((double)large[2], 0, 1e-6);
    fill(many, 333, 5);
    pt_tensor_softmax(many, 333);
    double sum = 0;
    for (size_t i = 0; i < 333; i++)
        sum += (double)many[i];
    assert_near(sum, 1, 1e-5);
}

static void swiglu_is_silu_of_the_gate_times_up(void **state) {
    (void)state;
    float gate[] = { 0, 1, -30 };
    const float up[] = { 5, 2, 1 };
    pt_tensor_swiglu(gate, up, 3);
    assert_near((double)gate[0], 0, 0);
    assert_near((double)gate[1], 2 * 0.7310585786, 1e-6);
    assert_near((double)gate[2], 0, 1e-6);
}

static void rotation_keeps_lengths_and_knows_relative_positions_only(void **state) {
    (void)state;
    enum { WIDTH = 16 };
    float query[WIDTH], key[WIDTH], rotation[WIDTH], pair[] = { 1, 0 }, unit[2];
    pt_tensor_rotation(unit, 1, 2);
    pt_tensor_rotate(pair, unit, 2);
    assert_near((double)pair[0], cos(1), 1e-6);
    assert_near((double)pair[1], sin(1), 1e-6);

    double expected = 0;
    for (size_t shift = 0; shift < 200; shift += 20) {
        fill(query, WIDTH, 6);
        fill(key, WIDTH, 7);
        double length = dot(query, query, WIDTH);
        pt_tensor_rotation(rotation, shift + 5, WIDTH);
        pt_tensor_rotate(query, rotation, WIDTH);
        pt_tensor_rotation(rotation, shift + 2, WIDTH);
        pt_tensor_rotate(key, rotation, WIDTH);
        assert_near(dot(query, query, WIDTH), length, 1e-5);
        expected = shift ? expected : dot(query, key, WIDTH);
        assert_near(dot(query, key, WIDTH), expected, 1e-4);
    }
}

/* A sequence with blocks of its own, and the logits of each of its positions. */
struct sequence {
    struct pt_kv kv;
    struct pt_scratch scratch;
    float *blocks[6];
    struct pt_row rows[96];
};

static void sequence_init(struct sequence *s) {
    pt_kv_init(&s->kv, &small, PT_COUNT(s->blocks));
    pt_scratch_init(&s->scratch, &small, PT_COUNT(s->rows));
    for (size_t i = 0; i < PT_COUNT(s->blocks); i++)
        s->blocks[i] = pt_kv_take(&s->kv);
}

static void sequence_release(struct sequence *s) {
    pt_scratch_release(&s->scratch);
    pt_kv_release(&s->kv);
}

/* Logits of tokens[from .. from + count - 1]. */
static const float *forward(struct sequence *s, const uint32_t *tokens, size_t from, size_t count) {
    for (size_t i = 0; i < count; i++)
        s->rows[i] = (struct pt_row){ tokens[from + i], from + i, s->blocks, true };
    pt_model_forward(&model, &s->scratch, s->rows, count);
    return pt_scratch_logits(&s->scratch, 0);
}

static void make_tokens(uint32_t *tokens, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++)
        tokens[i] = (uint32_t)pt_random_between(&seed, 0, small.vocabulary - 1);
}

/* The model once more, from the textbook: doubles, no cache, no panels, no blocks. */
enum { LENGTH = 21, WIDTH = 64, HEADS = 4, KV_HEADS = 2, HEAD = 16, HIDDEN = 96 };

static double weight(const float *matrix, size_t inputs, size_t input, size_t output) {
    return (double)matrix[pt_tensor_panel_index(inputs, input, output)];
}

static void naive_product(double *y, const double *x, const float *matrix, size_t inputs,
                          size_t outputs) {
    for (size_t o = 0; o < outputs; o++) {
        y[o] = 0;
        for (size_t i = 0; i < inputs; i++)
            y[o] += x[i] * weight(matrix, inputs, i, o);
    }
}

static void naive_norm(double *y, const double *x, const float *weights) {
    double squares = 0;
    for (size_t i = 0; i < WIDTH; i++)
        squares += x[i] * x[i];
    for (size_t i = 0; i < WIDTH; i++)
        y[i] = x[i] / sqrt(squares / WIDTH + 1e-5) * (double)weights[i];
}

static void naive_rotate(double *x, size_t heads, size_t position) {
    for (size_t head = 0; head < heads; head++)
        for (size_t i = 0; i < HEAD / 2; i++) {
            double *a = &x[head * HEAD + i], *b = &x[head * HEAD + i + HEAD / 2], first = *a;
            double angle = (double)position / pow(10000, 2.0 * (double)i / HEAD);
            *a = first * cos(angle) - *b * sin(angle);
            *b = first * sin(angle) + *b * cos(angle);
        }
}

static void naive_attention(double x[LENGTH][WIDTH], const struct pt_layer *w) {
    static double q[LENGTH][WIDTH], k[LENGTH][WIDTH], v[LENGTH][WIDTH];
    double normed[WIDTH], mixed[WIDTH], delta[WIDTH];
    for (size_t p = 0; p < LENGTH; p++) {
        naive_norm(normed, x[p], w->attention_norm);
        naive_product(q[p], normed, w->query, WIDTH, WIDTH);
        naive_product(k[p], normed, w->key, WIDTH, KV_HEADS * HEAD);
        naive_product(v[p], normed, w->value, WIDTH, KV_HEADS * HEAD);
        naive_rotate(q[p], HEADS, p);
        naive_rotate(k[p], KV_HEADS, p);
    }
    for (size_t p = 0; p < LENGTH; p++) {
        for (size_t head = 0; head < HEADS; head++) {
            double sum = 0, *out = mixed + head * HEAD;
            size_t shared = head / 2 * HEAD;
            memset(out, 0, HEAD * sizeof *out);
            for (size_t past = 0; past <= p; past++) {
                double score = 0;
                for (size_t i = 0; i < HEAD; i++)
                    score += q[p][head * HEAD + i] * k[past][shared + i];
                sum += exp(score / 4);
                for (size_t i = 0; i < HEAD; i++)
                    out[i] += exp(score / 4) * v[past][shared + i];
            }
            for (size_t i = 0; i < HEAD; i++)
                out[i] /= sum;
        }
        naive_product(delta, mixed, w->output, WIDTH, WIDTH);
        for (size_t i = 0; i < WIDTH; i++)
            x[p][i] += delta[i];
    }
}

static void naive_mlp(double *x, const struct pt_layer *w) {
    double normed[WIDTH], gate[HIDDEN], up[HIDDEN], delta[WIDTH];
    naive_norm(normed, x, w->mlp_norm);
    naive_product(gate, normed, w->gate, WIDTH, HIDDEN);
    naive_product(up, normed, w->up, WIDTH, HIDDEN);
    for (size_t i = 0; i < HIDDEN; i++)
        gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
    naive_product(delta, gate, w->down, HIDDEN, WIDTH);
    for (size_t i = 0; i < WIDTH; i++)
        x[i] += delta[i];
}

static void logits_agree_with_a_textbook_model_in_doubles(void **state) {
    (void)state;
    static double x[LENGTH][WIDTH];
    uint32_t tokens[LENGTH];
    make_tokens(tokens, LENGTH, 11);
    for (size_t p = 0; p < LENGTH; p++)
        for (size_t i = 0; i < WIDTH; i++)
            x[p][i] = weight(model.weights.embedding, WIDTH, i, tokens[p]);
    for (size_t layer = 0; layer < small.layer_count; layer++) {
        naive_attention(x, &model.weights.layers[layer]);
        for (size_t p = 0; p < LENGTH; p++)
            naive_mlp(x[p], &model.weights.layers[layer]);
    }

    struct sequence s;
    sequence_init(&s);
    forward(&s, tokens, 0, LENGTH);
    for (size_t p = 0; p < LENGTH; p++) {
        double normed[WIDTH], logits[PT_TOKEN_COUNT];
        naive_norm(normed, x[p], model.weights.final_norm);
        naive_product(logits, normed, model.weights.embedding, WIDTH, PT_TOKEN_COUNT);
        for (size_t i = 0; i < PT_TOKEN_COUNT; i++)
            assert_near((double)pt_scratch_logits(&s.scratch, p)[i], logits[i], 1e-4);
    }
    sequence_release(&s);
}

static void decoding_from_the_cache_equals_running_the_whole_prefix(void **state) {
    (void)state;
    enum { COUNT = 40, PROMPT = 13 };
    uint32_t tokens[COUNT];
    struct sequence cached;
    make_tokens(tokens, COUNT, 12);
    sequence_init(&cached);
    forward(&cached, tokens, 0, PROMPT);
    for (size_t p = PROMPT; p < COUNT; p++) {
        const float *step = forward(&cached, tokens, p, 1);
        struct sequence whole;
        sequence_init(&whole);
        forward(&whole, tokens, 0, p + 1);
        for (size_t i = 0; i < small.vocabulary; i++)
            assert_near((double)step[i], (double)pt_scratch_logits(&whole.scratch, p)[i], 1e-4);
        sequence_release(&whole);
    }
    sequence_release(&cached);
}

static void attention_is_causal(void **state) {
    (void)state;
    enum { COUNT = 33, CHANGED = 20 };
    uint32_t tokens[COUNT];
    struct sequence a, b;
    make_tokens(tokens, COUNT, 13);
    sequence_init(&a);
    sequence_init(&b);
    forward(&a, tokens, 0, COUNT);
    tokens[CHANGED] ^= 1;
    forward(&b, tokens, 0, COUNT);
    size_t bytes = small.vocabulary * sizeof(float);
    for (size_t p = 0; p < COUNT; p++) {
        int difference =
            memcmp(pt_scratch_logits(&a.scratch, p), pt_scratch_logits(&b.scratch, p), bytes);
        assert_int_equal(difference != 0, p >= CHANGED);
    }
    sequence_release(&a);
    sequence_release(&b);
}

static void a_weight_file_for_another_model_is_refused(void **state) {
    (void)state;
    struct pt_model_config other = small;
    struct pt_model m;
    struct pt_err err = { 0 };
    other.seed++;
    int fd = memfd_create("weights", 0);
    assert_int_equal(pt_weights_write(fd, &small, &err), 0);
    assert_int_equal(pt_model_open(&m, fd, &other, &err), -EINVAL);
    assert_int_equal(ftruncate(fd, 5000), 0);
    assert_int_equal(pt_model_open(&m, fd, &small, &err), -EINVAL);
    other.width = 60;
    assert_int_equal(pt_model_open(&m, fd, &other, &err), -EINVAL);
    close(fd);
    fd = open("/dev/full", O_WRONLY);
    assert_int_equal(pt_weights_write(fd, &small, &err), -ENOSPC);
    close(fd);
}

static void sampling_follows_the_probabilities(void **state) {
    (void)state;
    uint64_t random = 1;
    int counts[3] = { 0 };
    for (int i = 0; i < 20000; i++) {
        float logits[] = { 0, logf(3) / 2, -1000 };
        counts[pt_sampler_pick(logits, 3, 0.5f, &random)]++;
    }
    assert_in_range(counts[0], 4700, 5300);
    assert_in_range(counts[1], 14700, 15300);
    assert_int_equal(counts[2], 0);
    float equals[] = { 1, 4, 4, 2 };
    assert_int_equal(pt_sampler_pick(equals, 4, 0, &random), 1);
}

static void text_comes_back_from_its_tokens(void **state) {
    (void)state;
    uint32_t tokens[512];
    struct pt_buf text = { 0 };
    char all[256];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7);
    size_t count = pt_tokenizer_encode((struct pt_str){ all, sizeof all }, tokens, 512);
    for (size_t i = 0; i < count; i++)
        pt_tokenizer_decode(tokens[i], &text);
    assert_int_equal(text.len, sizeof all);
    assert_memory_equal(text.at, all, sizeof all);
    pt_buf_release(&text);

    assert_int_equal(pt_tokenizer_encode(PT_STR("the cat"), tokens, 512), 4);
    assert_int_equal(tokens[2], PT_TOKEN_PAIRS + 12 * 16 + 3);
    assert_int_equal(tokens[3], 't');
    assert_int_equal(pt_tokenizer_encode(PT_STR("the cat"), tokens, 2), 2);
}

static struct pt_engine *engine_of(size_t workers, size_t running, size_t blocks, size_t chunk) {
    struct pt_engine *e;
    struct pt_err err = { 0 };
    struct pt_demo_engine_options options = { &model, workers, running, blocks, 2 * chunk, chunk };
    if (pt_engine_new(&e, &options, &err))
        fail_msg("%s", err.text);
    return e;
}

enum { REQUESTS = 10, NEW_TOKENS = 30 };

/* Held while requests are submitted: the engine stops at its first token, so
 * that they meet in it however slow this thread is. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void pass_gate(void *user, uint32_t token) {
    (void)user, (void)token;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static struct pt_request *submit(struct pt_engine *e, size_t number, float temperature) {
    uint32_t prompt[64];
    struct pt_request *r;
    struct pt_request_options options = {
        .tokens = prompt,
        .token_count = 1 + number * 6,
        .new_token_max = NEW_TOKENS - number,
        .temperature = temperature,
        .seed = number,
        .on_token = pass_gate,
    };
    make_tokens(prompt, options.token_count, number);
    assert_int_equal(pt_engine_submit(e, &options, &r), 0);
    return r;
}

static void generate(struct pt_engine *e, uint32_t tokens[REQUESTS][NEW_TOKENS]) {
    struct pt_request *requests[REQUESTS];
    pthread_mutex_lock(&gate);
    for (size_t i = 0; i < REQUESTS; i++)
        requests[i] = submit(e, i, i % 2 ? 1.0f : 0);
    pthread_mutex_unlock(&gate);
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct pt_result *result = pt_request_wait(requests[i]);
        assert_int_equal(result->finish, PT_FINISH_LENGTH);
        assert_int_equal(result->token_count, NEW_TOKENS - i);
        memcpy(tokens[i], result->tokens, result->token_count * sizeof *result->tokens);
        pt_request_free(requests[i]);
    }
}

static void tokens_do_not_depend_on_workers_batches_or_preemption(void **state) {
    (void)state;
    static const struct {
        size_t workers, running, blocks, chunk;
        bool preempts;
    } engines[] = {
        { 1, 1, 16, 64, false }, { 2, 4, 64, 16, false }, { 4, 10, 64, 5, false },
        { 3, 10, 13, 7, true },  { 1, 10, 10, 64, true },
    };
    static uint32_t expected[REQUESTS][NEW_TOKENS], tokens[REQUESTS][NEW_TOKENS];
    for (size_t i = 0; i < PT_COUNT(engines); i++) {
        struct pt_engine *e =
            engine_of(engines[i].workers, engines[i].running, engines[i].blocks, engines[i].chunk);
        struct pt_engine_stats stats;
        generate(e, i ? tokens : expected);
        if (i)
            assert_memory_equal(tokens, expected, sizeof tokens);
        pt_engine_stats(e, &stats);
        assert_int_equal(stats.preemptions > 0, engines[i].preempts);
        pt_engine_free(e);
    }
}

static void another_seed_gives_other_tokens(void **state) {
    (void)state;
    struct pt_engine *e = engine_of(2, 4, 64, 16);
    uint32_t prompt[] = { PT_TOKEN_BEGIN };
    struct pt_request *r[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct pt_request_options options = { prompt, 1, NEW_TOKENS, 1, i / 2, .user = NULL };
        assert_int_equal(pt_engine_submit(e, &options, &r[i]), 0);
    }
    size_t bytes = NEW_TOKENS * sizeof(uint32_t);
    const uint32_t *first = pt_request_wait(r[0])->tokens;
    assert_memory_equal(first, pt_request_wait(r[1])->tokens, bytes);
    assert_memory_not_equal(first, pt_request_wait(r[2])->tokens, bytes);
    for (size_t i = 0; i < 3; i++)
        pt_request_free(r[i]);
    pt_engine_free(e);
}

static uint64_t bucket_sum(const struct pt_latency_histogram *l) {
    uint64_t sum = 0;
    for (size_t i = 0; i <= l->scale->edge_count; i++)
        sum += l->buckets[i];
    return sum;
}

static void a_latency_on_an_edge_belongs_below_it(void **state) {
    (void)state;
    struct pt_latency_histogram l = { .scale = &pt_latency_first_token };
    pt_latency_histogram_observe(&l, 0);
    pt_latency_histogram_observe(&l, 1000000);
    pt_latency_histogram_observe(&l, 1000001);
    pt_latency_histogram_observe(&l, INT64_C(2560000000000));
    pt_latency_histogram_observe(&l, INT64_C(2560000000001));
    assert_int_equal(l.buckets[0], 2);
    assert_int_equal(l.buckets[1], 1);
    assert_int_equal(l.buckets[21], 1);
    assert_int_equal(l.buckets[22], 1);
    assert_int_equal(l.count, 5);
    assert_int_equal(l.sum_ns, INT64_C(5120002000002));
}

static void edges_of_latencies_rise(void **state) {
    (void)state;
    const struct pt_latency_scale *scales[] = { &pt_latency_first_token, &pt_latency_inter_token,
                                                &pt_latency_request };
    static const int64_t last_ms[] = { 2560000, 80000, 7680000 };
    for (size_t i = 0; i < PT_COUNT(scales); i++) {
        for (size_t k = 1; k < scales[i]->edge_count; k++)
            assert_true(scales[i]->edges_ms[k] > scales[i]->edges_ms[k - 1]);
        assert_int_equal(scales[i]->edges_ms[scales[i]->edge_count - 1], last_ms[i]);
    }
}

static void counters_add_up_and_times_are_in_order(void **state) {
    (void)state;
    struct pt_engine *e = engine_of(2, 4, 64, 16);
    struct pt_request *requests[REQUESTS];
    struct pt_engine_stats stats;
    uint64_t prompt_count = 0, token_count = 0;
    int64_t e2e_ns = 0, first_ns = 0;
    for (size_t i = 0; i < REQUESTS; i++)
        requests[i] = submit(e, i, 0);
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct pt_result *r = pt_request_wait(requests[i]);
        prompt_count += r->prompt_count;
        token_count += r->token_count;
        e2e_ns += r->end_ns - r->arrival_ns;
        first_ns += r->token_ns[0] - r->arrival_ns;
        assert_true(r->arrival_ns <= r->scheduled_ns && r->scheduled_ns <= r->token_ns[0]);
        for (size_t k = 1; k < r->token_count; k++)
            assert_true(r->token_ns[k - 1] <= r->token_ns[k]);
        assert_true(r->token_ns[r->token_count - 1] <= r->end_ns);
        pt_request_free(requests[i]);
    }
    pt_engine_stats(e, &stats);
    assert_int_equal(stats.prompt_tokens, prompt_count);
    assert_int_equal(stats.generation_tokens, token_count);
    assert_int_equal(stats.finished[PT_FINISH_LENGTH], REQUESTS);
    assert_int_equal(stats.first_token.count, REQUESTS);
    assert_int_equal(stats.first_token.sum_ns, first_ns);
    assert_int_equal(stats.inter_token.count, token_count - REQUESTS);
    assert_int_equal(stats.e2e.count, REQUESTS);
    assert_int_equal(stats.e2e.sum_ns, e2e_ns);
    assert_int_equal(stats.queue.sum_ns + stats.prefill.sum_ns, first_ns);
    assert_int_equal(stats.prefill.sum_ns + stats.decode.sum_ns, stats.inference.sum_ns);
    assert_int_equal(bucket_sum(&stats.first_token), REQUESTS);
    assert_int_equal(bucket_sum(&stats.inter_token), token_count - REQUESTS);
    assert_int_equal(bucket_sum(&stats.inference), REQUESTS);
    assert_int_equal(stats.running + stats.waiting, 0);
    assert_near(stats.kv_usage, 0, 0);
    pt_engine_free(e);
}

struct watch {
    struct pt_engine *engine;
    size_t running_most, waiting_most, token_count, end_count;
    double kv_usage_most;
};

static void watch_token(void *user, uint32_t token) {
    struct watch *w = user;
    struct pt_engine_stats stats;
    pass_gate(NULL, token);
    assert_true(token < small.vocabulary);
    pt_engine_stats(w->engine, &stats);
    w->token_count++;
    w->running_most = stats.running > w->running_most ? stats.running : w->running_most;
    w->waiting_most = stats.waiting > w->waiting_most ? stats.waiting : w->waiting_most;
    w->kv_usage_most = fmax(stats.kv_usage, w->kv_usage_most);
}

static void watch_end(void *user, const struct pt_result *result) {
    struct watch *w = user;
    assert_true(result->end_ns >= result->arrival_ns);
    w->end_count++;
}

static struct pt_request *submit_watched(struct watch *w, size_t new_tokens) {
    static const uint32_t prompt[16] = { PT_TOKEN_BEGIN };
    struct pt_request *r;
    struct pt_request_options options = {
        .tokens = prompt,
        .token_count = 16,
        .new_token_max = new_tokens,
        .on_token = watch_token,
        .on_end = watch_end,
        .user = w,
    };
    assert_int_equal(pt_engine_submit(w->engine, &options, &r), 0);
    return r;
}

static void requests_wait_while_all_places_are_taken(void **state) {
    (void)state;
    struct watch w = { .engine = engine_of(2, 3, 20, 16) };
    struct pt_request *r[REQUESTS];
    pthread_mutex_lock(&gate);
    for (size_t i = 0; i < REQUESTS; i++)
        r[i] = submit_watched(&w, 40);
    pthread_mutex_unlock(&gate);
    for (size_t i = 0; i < REQUESTS; i++)
        pt_request_wait(r[i]);
    assert_int_equal(w.token_count, REQUESTS * 40);
    assert_int_equal(w.end_count, REQUESTS);
    assert_int_equal(w.running_most, 3);
    assert_in_range(w.waiting_most, 1, REQUESTS - 1);
    assert_true(w.kv_usage_most > 0.3 && w.kv_usage_most <= 1);
    for (size_t i = 0; i < REQUESTS; i++)
        pt_request_free(r[i]);
    pt_engine_free(w.engine);
}

static void a_cancelled_request_ends_as_aborted(void **state) {
    (void)state;
    struct watch w = { .engine = engine_of(1, 1, 20, 16) };
    pthread_mutex_lock(&gate);
    struct pt_request *running = submit_watched(&w, 80), *waiting = submit_watched(&w, 80);
    pt_request_cancel(waiting);
    pthread_mutex_unlock(&gate);
    assert_int_equal(pt_request_wait(waiting)->finish, PT_FINISH_ABORT);
    assert_int_equal(pt_request_wait(waiting)->token_count, 0);
    pt_request_free(running);
    pt_request_free(waiting);
    assert_int_equal(w.end_count, 2);
    pt_engine_free(w.engine);
}

static void stopping_ends_all_requests_and_takes_no_more(void **state) {
    (void)state;
    struct watch w = { .engine = engine_of(2, 2, 20, 16) };
    struct pt_request *r[REQUESTS], *late;
    for (size_t i = 0; i < REQUESTS; i++)
        r[i] = submit_watched(&w, 80);
    pt_engine_stop(w.engine);
    assert_int_equal(w.end_count, REQUESTS);
    struct pt_engine_stats stats;
    pt_engine_stats(w.engine, &stats);
    assert_int_equal(stats.finished[PT_FINISH_ABORT] + stats.finished[PT_FINISH_LENGTH], REQUESTS);
    assert_int_equal(stats.running + stats.waiting, 0);
    struct pt_request_options options = { (uint32_t[]){ 1 }, 1, 1, .user = NULL };
    assert_int_equal(pt_engine_submit(w.engine, &options, &late), -ESHUTDOWN);
    assert_null(late);
    for (size_t i = 0; i < REQUESTS; i++)
        pt_request_free(r[i]);
    pt_engine_free(w.engine);
}

static void what_can_never_run_is_refused(void **state) {
    (void)state;
    uint32_t tokens[97] = { 0 }, unknown[] = { PT_TOKEN_COUNT };
    const struct {
        struct pt_request_options options;
        int rc;
    } cases[] = {
        { { tokens, 0, 1 }, -EINVAL },  { { tokens, 1, 0 }, -EINVAL },
        { { unknown, 1, 1 }, -EINVAL }, { { tokens, 97, 1 }, -E2BIG },
        { { tokens, 60, 37 }, -E2BIG }, { { tokens, 1, SIZE_MAX }, -E2BIG },
        { { tokens, 40, 41 }, -E2BIG }, { { tokens, 40, 40 }, 0 },
    };
    struct pt_engine *e = engine_of(1, 2, 5, 16);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_request *r;
        assert_int_equal(pt_engine_submit(e, &cases[i].options, &r), cases[i].rc);
        pt_request_free(r);
    }
    pt_engine_free(e);
    assert_int_equal(pt_engine_new(&e, &(struct pt_demo_engine_options){ &model }, NULL), -EINVAL);
}

static void the_end_token_stops_a_request_that_asks_for_it(void **state) {
    (void)state;
    struct pt_engine *e = engine_of(2, 8, 64, 16);
    struct pt_request *r[40];
    size_t stopped = 0;
    for (size_t i = 0; i < PT_COUNT(r); i++) {
        struct pt_request_options options = { (uint32_t[]){ 1 }, 1, 80, 1e6f, i, true };
        assert_int_equal(pt_engine_submit(e, &options, &r[i]), 0);
    }
    for (size_t i = 0; i < PT_COUNT(r); i++) {
        const struct pt_result *result = pt_request_wait(r[i]);
        for (size_t k = 0; k < result->token_count; k++)
            assert_int_not_equal(result->tokens[k], PT_TOKEN_END);
        assert_int_equal(result->finish == PT_FINISH_STOP, result->token_count < 80);
        stopped += result->finish == PT_FINISH_STOP;
        pt_request_free(r[i]);
    }
    assert_in_range(stopped, 1, PT_COUNT(r) - 1);
    pt_engine_free(e);
}

static struct pt_request *prompt_of(size_t count) {
    uint32_t tokens[64] = { 0 };
    return pt_request_new(NULL, &(struct pt_request_options){ tokens, count, 32 });
}

static void a_step_shares_its_prompt_tokens_out_in_order(void **state) {
    (void)state;
    struct pt_demo_engine_options options = { &model, 1, 4, 16, 8, 5 };
    struct pt_schedule s;
    struct pt_request *r[3] = { prompt_of(20), prompt_of(20), prompt_of(20) };
    pt_schedule_init(&s, &options);
    for (size_t i = 0; i < 3; i++)
        pt_queue_append(&s.waiting, r[i]);
    pt_schedule_plan(&s, 1);
    assert_int_equal(s.running_count, 3);
    assert_int_equal(s.prefill_count, 2);
    assert_int_equal(r[0]->step_count, 5);
    assert_int_equal(r[1]->step_count, 3);
    assert_int_equal(r[2]->step_count, 0);
    for (size_t i = 0; i < 3; i++) {
        pt_schedule_remove(&s, r[i]);
        pt_request_destroy(r[i]);
    }
    assert_int_equal(s.kv.free_count, 16);
    pt_schedule_release(&s);
}

static void the_newest_gives_way_when_blocks_run_out(void **state) {
    (void)state;
    struct pt_demo_engine_options options = { &model, 1, 4, 5, 64, 64 };
    struct pt_schedule s;
    struct pt_request *old = prompt_of(32), *young = prompt_of(32), *last = prompt_of(1);
    pt_schedule_init(&s, &options);
    pt_queue_append(&s.waiting, old);
    pt_queue_append(&s.waiting, young);
    pt_queue_append(&s.waiting, last);
    pt_schedule_plan(&s, 1);
    assert_int_equal(s.running_count, 2);
    assert_ptr_equal(s.waiting.first, last);

    old->computed_count = young->computed_count = 32;
    old->token_count = young->token_count = 33;
    pt_schedule_plan(&s, 2);
    assert_int_equal(s.preemption_count, 1);
    assert_int_equal(s.decode_count, 1);
    assert_ptr_equal(s.decodes[0], old);
    assert_ptr_equal(s.waiting.first, young);
    assert_ptr_equal(s.waiting.last, last);
    assert_int_equal(young->computed_count, 0);
    assert_true(pt_request_needs_prefill(young));
    assert_int_equal(s.kv.free_count, 2);
    struct pt_request *all[] = { old, young, last };
    for (size_t i = 0; i < 3; i++) {
        pt_schedule_remove(&s, all[i]);
        pt_request_destroy(all[i]);
    }
    pt_schedule_release(&s);
}

static void a_queue_keeps_its_order_through_every_removal(void **state) {
    (void)state;
    struct pt_request a = { 0 }, b = { 0 }, c = { 0 };
    struct pt_queue q = { 0 };
    pt_queue_append(&q, &b);
    pt_queue_append(&q, &c);
    pt_queue_prepend(&q, &a);
    assert_true(pt_queue_remove(&q, &c));
    assert_false(pt_queue_remove(&q, &c));
    pt_queue_append(&q, &c);
    assert_true(pt_queue_remove(&q, &b));
    assert_int_equal(q.count, 2);
    assert_ptr_equal(pt_queue_take(&q), &a);
    assert_ptr_equal(pt_queue_take(&q), &c);
    assert_null(pt_queue_take(&q));
    pt_queue_append(&q, &b);
    assert_ptr_equal(q.first, &b);
}

static size_t entry_count(const char *path) {
    DIR *directory = opendir(path);
    size_t count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void a_run_serves_its_requests_and_leaves_no_file(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-demo-test-XXXXXX", text[1024] = { 0 };
    assert_non_null(mkdtemp(directory));
    int fd = memfd_create("output", 0);
    struct pt_out out;
    struct pt_err err = { 0 };
    struct pt_demo_result result;
    struct pt_demo_options options = {
        .seconds = 3600,
        .idle_seconds = 1e-3,
        .request_count = 15,
        .deployment = { .worker_count = 2, .directory = directory, .model = &small },
    };
    pt_out_borrow(&out, fd);
    assert_int_equal(pt_demo_run(&options, &out, &result, &err), 0);
    assert_int_equal(pt_out_close(&out), 0);
    assert_int_equal(result.finished_count, 15);
    assert_int_equal(result.cut_count, 0);
    assert_int_equal(result.first_token.count, 15);
    assert_int_equal(result.inter_token.count, result.generated_count - 15);
    assert_true(0 < result.inter_token.p50_ns);
    assert_true(result.inter_token.p50_ns <= result.inter_token.p95_ns);
    assert_true(pread(fd, text, sizeof text - 1, 0) > 0);
    assert_ptr_equal(strstr(text, "model        2 layers x 64, 4 heads (2 KV)"), text);
    assert_non_null(strstr(text, "\ninter-token  p50"));
    assert_int_equal(entry_count(directory), 2);
    close(fd);
    rmdir(directory);
}

static void a_run_ends_when_its_time_is_up(void **state) {
    (void)state;
    struct pt_out out;
    struct pt_err err = { 0 };
    struct pt_demo_result result;
    struct pt_demo_options options = { .seconds = 0.2,
                                       .concurrency = 5,
                                       .deployment = { .directory = "/tmp", .model = &small } };
    int fd = memfd_create("output", 0);
    pt_out_borrow(&out, fd);
    assert_int_equal(pt_demo_run(&options, &out, &result, &err), 0);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(result.finished_count + result.cut_count >= 5);
    assert_in_range(result.cut_count, 0, 5);
    close(fd);
    options.deployment.directory = "/nowhere";
    assert_int_equal(pt_demo_run(&options, &out, &result, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(matmul_agrees_with_a_naive_product, "matmul agrees with a naive product"),
        PT_TEST(a_row_gives_the_same_bits_in_any_batch, "a row gives the same bits in any batch"),
        PT_TEST(rmsnorm_of_3_and_4, "RMSNorm of 3 and 4 has its known answer"),
        PT_TEST(softmax_sums_to_1_and_survives_large_inputs,
                "softmax sums to 1 and survives large inputs"),
        PT_TEST(swiglu_is_silu_of_the_gate_times_up, "SwiGLU is silu of the gate times up"),
        PT_TEST(rotation_keeps_lengths_and_knows_relative_positions_only,
                "rotation keeps lengths and knows relative positions only"),
        PT_TEST(logits_agree_with_a_textbook_model_in_doubles,
                "logits agree with a textbook model in doubles"),
        PT_TEST(decoding_from_the_cache_equals_running_the_whole_prefix,
                "decoding from the cache equals running the whole prefix"),
        PT_TEST(attention_is_causal, "attention is causal"),
        PT_TEST(a_weight_file_for_another_model_is_refused,
                "a weight file for another model is refused"),
        PT_TEST(sampling_follows_the_probabilities, "sampling follows the probabilities"),
        PT_TEST(text_comes_back_from_its_tokens, "text comes back from its tokens"),
        PT_TEST(tokens_do_not_depend_on_workers_batches_or_preemption,
                "tokens do not depend on workers, batches or preemption"),
        PT_TEST(another_seed_gives_other_tokens, "another seed gives other tokens"),
        PT_TEST(counters_add_up_and_times_are_in_order, "counters add up and times are in order"),
        PT_TEST(a_latency_on_an_edge_belongs_below_it, "a latency on an edge belongs below it"),
        PT_TEST(edges_of_latencies_rise, "edges of latencies rise"),
        PT_TEST(requests_wait_while_all_places_are_taken,
                "requests wait while all places are taken"),
        PT_TEST(a_cancelled_request_ends_as_aborted, "a cancelled request ends as aborted"),
        PT_TEST(stopping_ends_all_requests_and_takes_no_more,
                "stopping ends all requests and takes no more"),
        PT_TEST(what_can_never_run_is_refused, "what can never run is refused"),
        PT_TEST(the_end_token_stops_a_request_that_asks_for_it,
                "the end token stops a request that asks for it"),
        PT_TEST(a_step_shares_its_prompt_tokens_out_in_order,
                "a step shares its prompt tokens out in order"),
        PT_TEST(the_newest_gives_way_when_blocks_run_out,
                "the newest gives way when blocks run out"),
        PT_TEST(a_queue_keeps_its_order_through_every_removal,
                "a queue keeps its order through every removal"),
        PT_TEST(a_run_serves_its_requests_and_leaves_no_file,
                "a run serves its requests and leaves no file"),
        PT_TEST(a_run_ends_when_its_time_is_up, "a run ends when its time is up"),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
