/* demo/model.h -- a decoder-only transformer: RMSNorm, rotary positions, grouped-query
 * attention over a KV cache, SwiGLU, output head tied to the embedding; float32.
 *
 * A forward pass takes any mix of rows, each a token at a position of some
 * sequence. Rows of one sequence come in order and follow what its blocks
 * already hold. The result of a row does not depend on the other rows of the pass. */
#ifndef PT_DEMO_MODEL_H
#define PT_DEMO_MODEL_H

#include "demo/kv.h"
#include "demo/weights.h"

struct pt_model {
    struct pt_model_config config;
    struct pt_weights weights;
    float *rotations; /* of every position of the context */
};

/* Maps the weights in the file; the descriptor may be closed afterwards. */
int pt_model_open(struct pt_model *m, int fd, const struct pt_model_config *c,
                  struct pt_err *err) PT_MUST_CHECK;
void pt_model_close(struct pt_model *m);

struct pt_row {
    uint32_t token;
    size_t position;
    float *const *blocks; /* of the sequence, enough to hold this position */
    bool wants_logits;
};

/* Working memory of one thread: activations of up to `row_max` rows. */
struct pt_scratch {
    size_t row_max, logit_count;
    float *stream, *normed, *query, *key, *value, *gate, *up, *scores, *logits;
};

void pt_scratch_init(struct pt_scratch *s, const struct pt_model_config *c, size_t row_max);
void pt_scratch_release(struct pt_scratch *s);

/* Puts keys and values into the rows' blocks. The logits of the n-th row that
 * wanted them are at pt_scratch_logits(s, n) until the next pass. */
void pt_model_forward(const struct pt_model *m, struct pt_scratch *s, const struct pt_row *rows,
                      size_t row_count);

static inline float *pt_scratch_logits(const struct pt_scratch *s, size_t n) {
    return s->logits + n * s->logit_count;
}

#endif
