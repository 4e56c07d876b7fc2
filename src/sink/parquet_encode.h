/* sink/parquet_encode.h -- the Parquet encodings Pitot uses: numbers to bytes, no state.
 *
 * Each appends to a buffer. The names are those of apache/parquet-format,
 * Encodings.md; the comments say what we choose where the format leaves a choice. */
#ifndef PT_SINK_PARQUET_ENCODE_H
#define PT_SINK_PARQUET_ENCODE_H

#include "base/buf.h"

/* Definition levels of an optional column, as RLE: bit i of `present` says that row i
 * has a value. The 4-byte length in front is included. */
void pt_parquet_put_levels(struct pt_buf *b, const uint64_t *present, uint32_t row_count);
/* The same for rows that are all null. */
void pt_parquet_put_null_levels(struct pt_buf *b, uint32_t row_count);

/* DELTA_BINARY_PACKED; overflow wraps around, as the format wants. */
void pt_parquet_put_delta(struct pt_buf *b, const int64_t *values, uint32_t count);

/* BYTE_STREAM_SPLIT of 8-byte values: all first bytes, all second bytes, ... */
void pt_parquet_put_split(struct pt_buf *b, const uint64_t *values, uint32_t count);

/* RLE_DICTIONARY: the width in bits, then the indices as one run. Indices are
 * below 2^`width`; `width` is what pt_parquet_index_width() says, or 0 for all zero. */
void pt_parquet_put_indices(struct pt_buf *b, const uint32_t *indices, uint32_t count,
                            unsigned width);

/* Bits per index that make the compressed page smallest, at least those that
 * `index_count` different ones need. Whole bytes let zstd see that some indices
 * are more frequent than others; packed bits win when they are not. */
unsigned pt_parquet_index_width(const uint32_t *indices, uint32_t count, uint32_t index_count);

/* Bits needed for a value: 0 for 0. */
static inline unsigned pt_bit_width(uint64_t value) {
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

#endif
