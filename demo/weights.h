/* demo/weights.h -- random weights of a decoder, in a file that is mapped.
 *
 * The file is a header (magic, the configuration) padded to a page, then the
 * tensors one after the other, float32, matrices in panels (demo/tensor.h). */
#ifndef PT_DEMO_WEIGHTS_H
#define PT_DEMO_WEIGHTS_H

#include "base/attr.h"
#include "base/err.h"
#include "demo/tensor.h"

#include <stdbool.h>
#include <stdint.h>

struct pt_model_config {
    size_t layer_count;
    size_t width; /* of the stream between layers; a multiple of 16 */
    size_t head_count, kv_head_count;
    size_t hidden;     /* width of the MLP; a multiple of 16 */
    size_t vocabulary; /* tokens are 0 .. vocabulary - 1 */
    size_t context;    /* longest sequence, in tokens */
    uint64_t seed;     /* of the weights */
};

/* 8 layers, 256 wide, 8 heads over 4 KV heads: 8 M weights, 30 MiB. */
extern const struct pt_model_config pt_model_config_default;

static inline size_t pt_model_head_width(const struct pt_model_config *c) {
    return c->width / c->head_count;
}

static inline size_t pt_model_kv_width(const struct pt_model_config *c) {
    return c->kv_head_count * pt_model_head_width(c);
}

/* Outputs of the head: the vocabulary in whole panels. */
static inline size_t pt_model_logit_count(const struct pt_model_config *c) {
    return (c->vocabulary + PT_PANEL - 1) / PT_PANEL * PT_PANEL;
}

struct pt_layer {
    const float *attention_norm, *query, *key, *value, *output;
    const float *mlp_norm, *gate, *up, *down;
};

struct pt_weights {
    struct pt_layer *layers;
    const float *embedding; /* also the output head */
    const float *final_norm;
    void *mapping;
    size_t mapping_bytes;
};

/* Whether the sizes are consistent with each other and with the panels. */
bool pt_model_config_is_valid(const struct pt_model_config *c);

size_t pt_weights_file_bytes(const struct pt_model_config *c);

/* A new unlinked file below `directory`, so that nothing is left behind however the program ends;
 * the descriptor or -errno. */
int pt_weights_temporary(const char *directory, struct pt_err *err) PT_MUST_CHECK;

/* Fills the file, waits until it is on disk and drops it from the page cache. */
int pt_weights_write(int fd, const struct pt_model_config *c, struct pt_err *err) PT_MUST_CHECK;

/* Maps a file that was written for the same configuration and reads it in. */
int pt_weights_open(struct pt_weights *w, int fd, const struct pt_model_config *c,
                    struct pt_err *err) PT_MUST_CHECK;
void pt_weights_close(struct pt_weights *w);

#endif
