/* format/rows/parquet_encode.h -- the Parquet encodings that Pitot uses: numbers to bytes, no
 * state.
 *
 * Each appends to a buffer. The names are those of apache/parquet-format, Encodings.md; the
 * comments explain the choices that the format leaves open. */
#ifndef PT_FORMAT_ROWS_PARQUET_ENCODE_H
#define PT_FORMAT_ROWS_PARQUET_ENCODE_H

#include "base/buf.h"

/* Definition levels of an optional column, as RLE: bit i of `present` means that row i has a value.
 * Includes the 4-byte length in front. */
void pt_parquet_put_levels(struct pt_buf *b, const uint64_t *present, uint32_t row_count);
/* The same for rows that are all null (0) or all present (1). */
void pt_parquet_put_equal_levels(struct pt_buf *b, uint32_t row_count, uint8_t level);

/* DELTA_BINARY_PACKED; overflow wraps around, as the format requires. */
void pt_parquet_put_delta(struct pt_buf *b, const int64_t *values, uint32_t count);
/* The same in whole bytes, with one block per page: repeated deltas are repeated bytes, which zstd
 * finds. */
void pt_parquet_put_byte_delta(struct pt_buf *b, const int64_t *values, uint32_t count);
/* PLAIN */
void pt_parquet_put_plain(struct pt_buf *b, const int64_t *values, uint32_t count);

/* How many values follow the same value as shortly before: few in the readings of one entity, most
 * when values of several entities alternate and seldom change. */
uint32_t pt_parquet_count_repeated_pairs(const int64_t *values, uint32_t count);

/* BYTE_STREAM_SPLIT of 8-byte values: all first bytes, all second bytes, ... */
void pt_parquet_put_split(struct pt_buf *b, const uint64_t *values, uint32_t count);

/* RLE_DICTIONARY: the width in bits, then the indices as one run. Indices are below 2^`width`; a
 * width of 0 means that all are zero. */
void pt_parquet_put_indices(struct pt_buf *b, const uint32_t *indices, uint32_t count,
                            unsigned width);

#define PT_PARQUET_SMALL_PAGE 2048

struct pt_parquet_layout {
    unsigned width;
    uint32_t page_values;
};

/* The layout that makes indices into a dictionary of `index_count` smallest after compression. zstd
 * codes the frequent bytes of a page shorter: whole bytes allow that, tightly packed bits win when
 * no byte is frequent, and small pages when the frequent byte changes often. */
struct pt_parquet_layout pt_parquet_index_layout(const uint32_t *indices, uint32_t count,
                                                 uint32_t index_count);

/* Bits needed for a value: 0 for 0. */
static inline unsigned pt_bit_width(uint64_t value) {
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

#endif
