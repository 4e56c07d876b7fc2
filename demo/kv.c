#include "demo/kv.h"

#include "base/mem.h"

#include <assert.h>

void pt_kv_init(struct pt_kv *kv, const struct pt_model_config *c, size_t block_count) {
    size_t floats = pt_kv_block_floats(c);
    *kv = (struct pt_kv){
        .memory = pt_malloc(block_count * floats * sizeof *kv->memory),
        .free = pt_calloc(block_count, sizeof *kv->free),
        .free_count = block_count,
        .block_count = block_count,
    };
    for (size_t i = 0; i < block_count; i++)
        kv->free[i] = kv->memory + (block_count - 1 - i) * floats;
}

void pt_kv_release(struct pt_kv *kv) {
    pt_free(kv->memory);
    pt_free(kv->free);
    *kv = (struct pt_kv){ 0 };
}

float *pt_kv_take(struct pt_kv *kv) {
    return kv->free_count ? kv->free[--kv->free_count] : NULL;
}

void pt_kv_give(struct pt_kv *kv, float *block) {
    assert(kv->free_count < kv->block_count);
    kv->free[kv->free_count++] = block;
}
