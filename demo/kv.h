/* demo/kv.h -- keys and values of past tokens, in blocks from a bounded pool.
 *
 * A block holds 16 tokens of one sequence for every layer. Within a layer come
 * the keys, dimension by dimension (16 tokens side by side, so that a query
 * meets 16 keys at once), then the values, token by token. */
#ifndef PT_DEMO_KV_H
#define PT_DEMO_KV_H

#include "demo/weights.h"

#define PT_KV_BLOCK PT_PANEL /* tokens */

struct pt_kv {
    float *memory; /* untouched until taken: resident memory grows with use */
    float **free;  /* a stack */
    size_t free_count, block_count;
};

void pt_kv_init(struct pt_kv *kv, const struct pt_model_config *c, size_t block_count);
void pt_kv_release(struct pt_kv *kv);

/* A block, or NULL when all are in use. */
float *pt_kv_take(struct pt_kv *kv);
void pt_kv_give(struct pt_kv *kv, float *block);

static inline size_t pt_kv_blocks_for(size_t token_count) {
    return (token_count + PT_KV_BLOCK - 1) / PT_KV_BLOCK;
}

static inline size_t pt_kv_block_floats(const struct pt_model_config *c) {
    return c->layer_count * 2 * pt_model_kv_width(c) * PT_KV_BLOCK;
}

/* keys[dimension * PT_KV_BLOCK + token] */
static inline float *pt_kv_keys(const struct pt_model_config *c, float *block, size_t layer) {
    return block + layer * 2 * pt_model_kv_width(c) * PT_KV_BLOCK;
}

/* values[token * kv_width + dimension] */
static inline float *pt_kv_values(const struct pt_model_config *c, float *block, size_t layer) {
    return block + (layer * 2 + 1) * pt_model_kv_width(c) * PT_KV_BLOCK;
}

#endif
