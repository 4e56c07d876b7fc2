#include "demo/model.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

int pt_model_open(struct pt_model *m, int fd, const struct pt_model_config *c, struct pt_err *err) {
    *m = (struct pt_model){ .config = *c };
    int rc = pt_weights_open(&m->weights, fd, c, err);
    if (rc)
        return rc;
    size_t width = pt_model_head_width(c);
    m->rotations = pt_malloc(c->context * width * sizeof *m->rotations);
    for (size_t position = 0; position < c->context; position++)
        pt_tensor_rotation(m->rotations + position * width, position, width);
    return 0;
}

void pt_model_close(struct pt_model *m) {
    pt_weights_close(&m->weights);
    pt_free(m->rotations);
    *m = (struct pt_model){ 0 };
}

static float *floats(size_t rows, size_t width) {
    return pt_calloc(rows * width, sizeof(float));
}

void pt_scratch_init(struct pt_scratch *s, const struct pt_model_config *c, size_t row_max) {
    *s = (struct pt_scratch){
        .row_max = row_max,
        .logit_count = pt_model_logit_count(c),
        .stream = floats(row_max, c->width),
        .normed = floats(row_max, c->width),
        .query = floats(row_max, c->width),
        .key = floats(row_max, pt_model_kv_width(c)),
        .value = floats(row_max, pt_model_kv_width(c)),
        .gate = floats(row_max, c->hidden),
        .up = floats(row_max, c->hidden),
        .scores = floats(pt_kv_blocks_for(c->context), PT_KV_BLOCK),
        .logits = floats(row_max, pt_model_logit_count(c)),
    };
}

void pt_scratch_release(struct pt_scratch *s) {
    float *all[] = { s->stream, s->normed, s->query,  s->key,   s->value,
                     s->gate,   s->up,     s->scores, s->logits };
    for (size_t i = 0; i < PT_COUNT(all); i++)
        pt_free(all[i]);
    *s = (struct pt_scratch){ 0 };
}

static void embed(const struct pt_model *m, uint32_t token, float *into) {
    for (size_t i = 0; i < m->config.width; i++)
        into[i] = m->weights.embedding[pt_tensor_panel_index(m->config.width, i, token)];
}

static void normalize(float *into, const float *x, const float *weight, size_t row_count,
                      size_t width) {
    for (size_t row = 0; row < row_count; row++)
        pt_tensor_rmsnorm(into + row * width, x + row * width, weight, width);
}

/* Rotates every head of a row and multiplies it by `scale`. */
static void rotate_heads(const struct pt_model *m, float *x, size_t head_count, size_t position,
                         float scale) {
    size_t width = pt_model_head_width(&m->config);
    for (size_t head = 0; head < head_count; head++)
        pt_tensor_rotate(x + head * width, m->rotations + position * width, width);
    for (size_t i = 0; i < head_count * width; i++)
        x[i] *= scale;
}

static void store(const struct pt_model_config *c, const struct pt_row *row, size_t layer,
                  const float *key, const float *value) {
    float *block = row->blocks[row->position / PT_KV_BLOCK];
    size_t slot = row->position % PT_KV_BLOCK, width = pt_model_kv_width(c);
    float *keys = pt_kv_keys(c, block, layer);
    for (size_t i = 0; i < width; i++)
        keys[i * PT_KV_BLOCK + slot] = key[i];
    memcpy(pt_kv_values(c, block, layer) + slot * width, value, width * sizeof *value);
}

/* Replaces the query of one head by the values of all positions up to the row's,
 * weighted by how well their keys match. */
static void attend(const struct pt_model_config *c, const struct pt_row *row, size_t layer,
                   size_t kv_head, float *scores, float *query) {
    size_t width = pt_model_head_width(c), kv_width = pt_model_kv_width(c);
    size_t position_count = row->position + 1, block_count = pt_kv_blocks_for(position_count);

    memset(scores, 0, block_count * PT_KV_BLOCK * sizeof *scores);
    for (size_t b = 0; b < block_count; b++) {
        const float *keys = pt_kv_keys(c, row->blocks[b], layer) + kv_head * width * PT_KV_BLOCK;
        pt_tensor_accumulate(scores + b * PT_KV_BLOCK, query, keys, width, PT_KV_BLOCK);
    }
    pt_tensor_softmax(scores, position_count);

    memset(query, 0, width * sizeof *query);
    for (size_t b = 0; b < block_count; b++) {
        const float *values = pt_kv_values(c, row->blocks[b], layer) + kv_head * width;
        size_t left = position_count - b * PT_KV_BLOCK;
        size_t count = left < PT_KV_BLOCK ? left : PT_KV_BLOCK;
        for (size_t i = 0; i < width; i += PT_PANEL)
            pt_tensor_accumulate(query + i, scores + b * PT_KV_BLOCK, values + i, count, kv_width);
    }
}

static void attention(const struct pt_model *m, struct pt_scratch *s, size_t layer,
                      const struct pt_row *rows, size_t row_count) {
    const struct pt_model_config *c = &m->config;
    const struct pt_layer *w = &m->weights.layers[layer];
    size_t width = c->width, kv_width = pt_model_kv_width(c), head_width = pt_model_head_width(c);
    size_t heads_per_kv = c->head_count / c->kv_head_count;
    float scale = 1 / sqrtf((float)head_width);

    normalize(s->normed, s->stream, w->attention_norm, row_count, width);
    pt_tensor_matmul(s->query, s->normed, row_count, w->query, width, width);
    pt_tensor_matmul(s->key, s->normed, row_count, w->key, width, kv_width);
    pt_tensor_matmul(s->value, s->normed, row_count, w->value, width, kv_width);
    for (size_t r = 0; r < row_count; r++) {
        rotate_heads(m, s->query + r * width, c->head_count, rows[r].position, scale);
        rotate_heads(m, s->key + r * kv_width, c->kv_head_count, rows[r].position, 1);
        store(c, &rows[r], layer, s->key + r * kv_width, s->value + r * kv_width);
    }
    for (size_t r = 0; r < row_count; r++)
        for (size_t head = 0; head < c->head_count; head++)
            attend(c, &rows[r], layer, head / heads_per_kv, s->scores,
                   s->query + r * width + head * head_width);
    pt_tensor_matmul(s->normed, s->query, row_count, w->output, width, width);
    pt_tensor_add(s->stream, s->normed, row_count * width);
}

static void feed_forward(const struct pt_model *m, struct pt_scratch *s, size_t layer,
                         size_t row_count) {
    const struct pt_layer *w = &m->weights.layers[layer];
    size_t width = m->config.width, hidden = m->config.hidden;
    normalize(s->normed, s->stream, w->mlp_norm, row_count, width);
    pt_tensor_matmul(s->gate, s->normed, row_count, w->gate, width, hidden);
    pt_tensor_matmul(s->up, s->normed, row_count, w->up, width, hidden);
    pt_tensor_swiglu(s->gate, s->up, row_count * hidden);
    pt_tensor_matmul(s->normed, s->gate, row_count, w->down, hidden, width);
    pt_tensor_add(s->stream, s->normed, row_count * width);
}

/* Most rows of a prompt need no logits: pack those that do first. */
static void head(const struct pt_model *m, struct pt_scratch *s, const struct pt_row *rows,
                 size_t row_count) {
    size_t width = m->config.width, wanted = 0;
    for (size_t r = 0; r < row_count; r++)
        if (rows[r].wants_logits)
            pt_tensor_rmsnorm(s->normed + wanted++ * width, s->stream + r * width,
                              m->weights.final_norm, width);
    pt_tensor_matmul(s->logits, s->normed, wanted, m->weights.embedding, width, s->logit_count);
}

void pt_model_forward(const struct pt_model *m, struct pt_scratch *s, const struct pt_row *rows,
                      size_t row_count) {
    assert(row_count <= s->row_max);
    for (size_t r = 0; r < row_count; r++)
        embed(m, rows[r].token, s->stream + r * m->config.width);
    for (size_t layer = 0; layer < m->config.layer_count; layer++) {
        attention(m, s, layer, rows, row_count);
        feed_forward(m, s, layer, row_count);
    }
    head(m, s, rows, row_count);
}
