#include "demo/sampler.h"

#include "demo/random.h"
#include "demo/tensor.h"

static uint32_t likeliest(const float *logits, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (logits[i] > logits[best])
            best = i;
    return (uint32_t)best;
}

uint32_t pt_sampler_pick(float *logits, size_t count, float temperature, uint64_t *random) {
    if (!(temperature > 0))
        return likeliest(logits, count);
    for (size_t i = 0; i < count; i++)
        logits[i] /= temperature;
    pt_tensor_softmax(logits, count);
    float left = pt_random_unit(random);
    for (size_t i = 0; i + 1 < count; i++) {
        left -= logits[i];
        if (left < 0)
            return (uint32_t)i;
    }
    return (uint32_t)(count - 1);
}
