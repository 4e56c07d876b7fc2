/* demo/tensor.h -- the arithmetic of a transformer on rows of floats.
 *
 * A matrix is kept in panels of 16 outputs: panel, input, output within the
 * panel. A product then walks memory once, in order, and keeps 16 sums in
 * registers. Every sum adds its terms in the order of the inputs, however many
 * rows are multiplied at once: a result never depends on the batch it is in. */
#ifndef PT_DEMO_TENSOR_H
#define PT_DEMO_TENSOR_H

#include <stddef.h>

#define PT_PANEL 16

/* Where the weight from `input` to `output` lies in a matrix of panels. */
static inline size_t pt_tensor_panel_index(size_t input_count, size_t input, size_t output) {
    return (output / PT_PANEL * input_count + input) * PT_PANEL + output % PT_PANEL;
}

/* y[row][output] = sum over inputs of x[row][input] * matrix; outputs are whole panels. */
void pt_tensor_matmul(float *restrict y, const float *restrict x, size_t row_count,
                      const float *restrict matrix, size_t input_count, size_t output_count);

/* sums[l] += sum over i of x[i] * lanes[i * stride + l], for 16 lanes l. */
void pt_tensor_accumulate(float *restrict sums, const float *restrict x,
                          const float *restrict lanes, size_t count, size_t stride);

void pt_tensor_add(float *restrict y, const float *restrict x, size_t count);

/* y = x / sqrt(mean(x^2) + epsilon) * weight. */
void pt_tensor_rmsnorm(float *restrict y, const float *restrict x, const float *restrict weight,
                       size_t count);

/* In place; subtracts the largest first, so that no input overflows. */
void pt_tensor_softmax(float *x, size_t count);

/* gate = silu(gate) * up. */
void pt_tensor_swiglu(float *restrict gate, const float *restrict up, size_t count);

/* One position of rotary embedding: `width / 2` cosines, then as many sines. */
void pt_tensor_rotation(float *rotation, size_t position, size_t width);

/* Rotates the pairs (x[i], x[i + width / 2]) of one head in place. */
void pt_tensor_rotate(float *restrict x, const float *restrict rotation, size_t width);

#endif
