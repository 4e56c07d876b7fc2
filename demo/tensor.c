#include "demo/tensor.h"

#include <math.h>
#include <string.h>

#define ROWS_AT_ONCE 4
#define VECTOR       4
#define VECTORS      (PT_PANEL / VECTOR)
#define EPSILON      1e-5f
#define ROPE_BASE    10000.0

/* Four floats of any alignment: SSE and NEON registers without naming either.
 * The loops over vectors are unrolled on request, because -O2 would otherwise
 * keep the sums in memory. */
typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));

static void multiply_rows(float *restrict y, size_t y_stride, const float *restrict x,
                          const float *restrict panel, size_t input_count) {
    vector sums[ROWS_AT_ONCE][VECTORS] = { 0 };
    const vector *weights = (const vector *)panel;
    for (size_t i = 0; i < input_count; i++, weights += VECTORS) {
#pragma GCC unroll 4
        for (size_t row = 0; row < ROWS_AT_ONCE; row++) {
#pragma GCC unroll 4
            for (size_t v = 0; v < VECTORS; v++)
                sums[row][v] += x[row * input_count + i] * weights[v];
        }
    }
#pragma GCC unroll 4
    for (size_t row = 0; row < ROWS_AT_ONCE; row++)
        memcpy(y + row * y_stride, sums[row], sizeof sums[row]);
}

void pt_tensor_accumulate(float *restrict sums_in_out, const float *restrict x,
                          const float *restrict lanes, size_t count, size_t stride) {
    vector sums[VECTORS];
    memcpy(sums, sums_in_out, sizeof sums);
    for (size_t i = 0; i < count; i++) {
        const vector *at = (const vector *)(lanes + i * stride);
#pragma GCC unroll 4
        for (size_t v = 0; v < VECTORS; v++)
            sums[v] += x[i] * at[v];
    }
    memcpy(sums_in_out, sums, sizeof sums);
}

void pt_tensor_matmul(float *restrict y, const float *restrict x, size_t row_count,
                      const float *restrict matrix, size_t input_count, size_t output_count) {
    for (size_t output = 0; output < output_count; output += PT_PANEL) {
        const float *panel = matrix + output * input_count;
        size_t row = 0;
        for (; row + ROWS_AT_ONCE <= row_count; row += ROWS_AT_ONCE)
            multiply_rows(y + row * output_count + output, output_count, x + row * input_count,
                          panel, input_count);
        for (; row < row_count; row++) {
            float *sums = y + row * output_count + output;
            memset(sums, 0, PT_PANEL * sizeof *sums);
            pt_tensor_accumulate(sums, x + row * input_count, panel, input_count, PT_PANEL);
        }
    }
}

void pt_tensor_add(float *restrict y, const float *restrict x, size_t count) {
    for (size_t i = 0; i < count; i++)
        y[i] += x[i];
}

void pt_tensor_rmsnorm(float *restrict y, const float *restrict x, const float *restrict weight,
                       size_t count) {
    float squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += x[i] * x[i];
    float scale = 1 / sqrtf(squares / (float)count + EPSILON);
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] * scale * weight[i];
}

void pt_tensor_softmax(float *x, size_t count) {
    float largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (size_t i = 0; i < count; i++) {
        x[i] = expf(x[i] - largest);
        sum += x[i];
    }
    for (size_t i = 0; i < count; i++)
        x[i] /= sum;
}

void pt_tensor_swiglu(float *restrict gate, const float *restrict up, size_t count) {
    for (size_t i = 0; i < count; i++)
        gate[i] *= up[i] / (1 + expf(-gate[i]));
}

void pt_tensor_rotation(float *rotation, size_t position, size_t width) {
    for (size_t i = 0; i < width / 2; i++) {
        double angle = (double)position * pow(ROPE_BASE, -2.0 * (double)i / (double)width);
        rotation[i] = (float)cos(angle);
        rotation[i + width / 2] = (float)sin(angle);
    }
}

void pt_tensor_rotate(float *restrict x, const float *restrict rotation, size_t width) {
    size_t half = width / 2;
    for (size_t i = 0; i < half; i++) {
        float a = x[i], b = x[i + half], cosine = rotation[i], sine = rotation[i + half];
        x[i] = a * cosine - b * sine;
        x[i + half] = a * sine + b * cosine;
    }
}
