/* demo/sampler.h -- samples the next token from the logits of the last. */
#ifndef PT_DEMO_SAMPLER_H
#define PT_DEMO_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

/* The most likely token at temperature 0 (the first of equals), else a random one by its
 * probability. Overwrites the logits. */
uint32_t pt_sampler_pick(float *logits, size_t count, float temperature, uint64_t *random);

#endif
