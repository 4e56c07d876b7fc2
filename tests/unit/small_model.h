/* tests/unit/small_model.h -- the shape of a model that answers at once. */
#ifndef PT_TEST_SMALL_MODEL_H
#define PT_TEST_SMALL_MODEL_H

#include "demo/model.h"
#include "demo/tokenizer.h"

static const struct pt_model_config small = {
    .layer_count = 2,
    .width = 64,
    .head_count = 4,
    .kv_head_count = 2,
    .hidden = 96,
    .vocabulary = PT_TOKEN_COUNT,
    .context = 96,
    .seed = 7,
};

#endif
