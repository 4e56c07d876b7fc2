#include "format/rows/parquet_encode.h"

#include <math.h>

/* Header and levels of one more page. */
#define SMALL_PAGE_COST_BITS (45 * 8)

/* Each word of 64 rows is a full run, an empty run, or is copied: bit-packed levels are the bitmap
 * itself. */
enum word_kind { ALL_NULL, ALL_PRESENT, MIXED };

static enum word_kind kind_of(uint64_t word, uint32_t rows) {
    uint64_t full = rows < 64 ? (UINT64_C(1) << rows) - 1 : UINT64_MAX;
    return (word & full) == full ? ALL_PRESENT : (word & full) == 0 ? ALL_NULL : MIXED;
}

static void put_repeated(struct pt_buf *b, uint32_t count, uint8_t level) {
    pt_buf_varint(b, (uint64_t)count << 1);
    pt_buf_u8(b, level);
}

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void put_level_runs(struct pt_buf *b, const uint64_t *present, uint32_t row_count) {
    for (uint32_t row = 0; row < row_count;) {
        uint32_t start = row;
        enum word_kind kind = kind_of(present[row / 64], min_u32(row_count - row, 64));
        while (row < row_count && kind_of(present[row / 64], min_u32(row_count - row, 64)) == kind)
            row += 64;
        uint32_t rows = min_u32(row, row_count) - start;
        if (kind != MIXED) {
            put_repeated(b, rows, kind == ALL_PRESENT);
            continue;
        }
        uint32_t bytes = (rows + 7) / 8;
        pt_buf_varint(b, (uint64_t)bytes << 1 | 1);
        pt_buf_bytes(b, present + start / 64, bytes);
    }
}

/* Fills in the length that was left open at `start`. */
static void set_length(struct pt_buf *b, size_t start) {
    uint32_t length = (uint32_t)(b->len - start - sizeof length);
    memcpy(b->at + start, &length, sizeof length);
}

void pt_parquet_put_levels(struct pt_buf *b, const uint64_t *present, uint32_t row_count) {
    size_t start = b->len;
    pt_buf_u32(b, 0);
    put_level_runs(b, present, row_count);
    set_length(b, start);
}

void pt_parquet_put_equal_levels(struct pt_buf *b, uint32_t row_count, uint8_t level) {
    size_t start = b->len;
    pt_buf_u32(b, 0);
    put_repeated(b, row_count, level);
    set_length(b, start);
}

/* Bytes that a packer may write past its last byte. */
#define PACK_SLACK 16

/* Packs values of `width` <= 32 bits, low bits first; returns the end. */
static uint8_t *pack_narrow(uint8_t *at, const uint64_t *values, uint32_t count, unsigned width) {
    uint64_t bits = 0;
    unsigned filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        bits |= values[i] << filled;
        filled += width;
        if (filled >= 32) {
            memcpy(at, &bits, 4);
            at += 4;
            bits >>= 32;
            filled -= 32;
        }
    }
    memcpy(at, &bits, 8);
    return at + (filled + 7) / 8;
}

static uint8_t *pack_wide(uint8_t *at, const uint64_t *values, uint32_t count, unsigned width) {
    unsigned __int128 bits = 0;
    unsigned filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        bits |= (unsigned __int128)values[i] << filled;
        filled += width;
        for (; filled >= 32; filled -= 32, bits >>= 32, at += 4)
            memcpy(at, &bits, 4);
    }
    memcpy(at, &bits, 8);
    return at + (filled + 7) / 8;
}

static uint8_t *pack(uint8_t *at, const uint64_t *values, uint32_t count, unsigned width) {
    if (width == 0)
        return at;
    if (width == 8) {
        for (uint32_t i = 0; i < count; i++)
            at[i] = (uint8_t)values[i];
        return at + count;
    }
    return width <= 32 ? pack_narrow(at, values, count, width)
                       : pack_wide(at, values, count, width);
}

#define MINIBLOCKS 4

/* Large blocks have fewer headers, small ones less padding. */
#define PACKED_BLOCK_MAX 1024
#define BLOCK_MIN        128
#define BYTES_BLOCK_MAX  16384

/* Small deltas take a whole byte: zstd codes frequent bytes shorter, but finds no pattern in packed
 * bits. */
static unsigned packed_width(uint64_t any) {
    unsigned width = pt_bit_width(any);
    return width > 0 && width < 8 ? 8 : width;
}

static unsigned bytes_width(uint64_t any) {
    return (pt_bit_width(any) + 7) / 8 * 8;
}

/* Layout of deltas: values per block, and bits of a miniblock, from the OR of its deltas `any`. */
struct delta_layout {
    uint32_t block_values;
    unsigned (*width)(uint64_t any);
};

static void put_miniblocks(struct pt_buf *b, const uint64_t *deltas, struct delta_layout layout) {
    uint32_t values = layout.block_values / MINIBLOCKS;
    uint8_t *widths =
        pt_buf_reserve(b, MINIBLOCKS + layout.block_values * sizeof *deltas + PACK_SLACK);
    uint8_t *at = widths + MINIBLOCKS;
    for (uint32_t m = 0; m < MINIBLOCKS; m++, deltas += values) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < values; i++)
            any |= deltas[i];
        widths[m] = (uint8_t)layout.width(any);
        at = pack(at, deltas, values, widths[m]);
    }
    b->len = (size_t)(at - b->at);
}

/* `deltas` holds a whole block; those past `count` are filled here. */
static void put_delta_block(struct pt_buf *b, uint64_t *deltas, uint32_t count,
                            struct delta_layout layout) {
    int64_t min = (int64_t)deltas[0];
    for (uint32_t i = 1; i < count; i++)
        min = (int64_t)deltas[i] < min ? (int64_t)deltas[i] : min;
    for (uint32_t i = 0; i < count; i++)
        deltas[i] -= (uint64_t)min;
    memset(deltas + count, 0, (layout.block_values - count) * sizeof *deltas);
    pt_buf_zigzag(b, min);
    put_miniblocks(b, deltas, layout);
}

static void put_deltas(struct pt_buf *b, const int64_t *values, uint32_t count,
                       struct delta_layout layout) {
    pt_buf_varint(b, layout.block_values);
    pt_buf_varint(b, MINIBLOCKS);
    pt_buf_varint(b, count);
    pt_buf_zigzag(b, count > 0 ? values[0] : 0);
    uint64_t *deltas = pt_malloc(layout.block_values * sizeof *deltas);
    for (uint32_t start = 1; start < count; start += layout.block_values) {
        uint32_t n = min_u32(count - start, layout.block_values);
        for (uint32_t i = 0; i < n; i++)
            deltas[i] = (uint64_t)values[start + i] - (uint64_t)values[start + i - 1];
        put_delta_block(b, deltas, n, layout);
    }
    pt_free(deltas);
}

void pt_parquet_put_delta(struct pt_buf *b, const int64_t *values, uint32_t count) {
    uint32_t block_values = count > PACKED_BLOCK_MAX ? PACKED_BLOCK_MAX : BLOCK_MIN;
    put_deltas(b, values, count, (struct delta_layout){ block_values, packed_width });
}

void pt_parquet_put_byte_delta(struct pt_buf *b, const int64_t *values, uint32_t count) {
    uint32_t blocks = count / BLOCK_MIN + 1;
    put_deltas(b, values, count,
               (struct delta_layout){ min_u32(blocks * BLOCK_MIN, BYTES_BLOCK_MAX), bytes_width });
}

void pt_parquet_put_plain(struct pt_buf *b, const int64_t *values, uint32_t count) {
    pt_buf_bytes(b, values, count * sizeof *values);
}

/* Detects repeated pairs with a table of the last pair with the same hash. Most pages are small,
 * and so is their table. */
#define PAIR_BITS_MIN 6
#define PAIR_BITS_MAX 12

uint32_t pt_parquet_count_repeated_pairs(const int64_t *values, uint32_t count) {
    uint64_t last[1 << PAIR_BITS_MAX];
    uint32_t repeats = 0;
    unsigned bits = PAIR_BITS_MIN;
    while (bits < PAIR_BITS_MAX && count > 1u << bits)
        bits++;
    memset(last, 0, sizeof *last << bits);
    for (uint32_t i = 1; i < count; i++) {
        uint64_t hash = (uint64_t)values[i - 1] * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 32 ^ (uint64_t)values[i]) * UINT64_C(0xd6e8feb86659fd93);
        uint64_t *slot = &last[hash >> (64 - bits)];
        repeats += *slot == hash;
        *slot = hash;
    }
    return repeats;
}

void pt_parquet_put_split(struct pt_buf *b, const uint64_t *values, uint32_t count) {
    uint8_t *at = pt_buf_reserve(b, (size_t)count * 8);
    for (unsigned byte = 0; byte < 8; byte++, at += count)
        for (uint32_t i = 0; i < count; i++)
            at[i] = (uint8_t)(values[i] >> 8 * byte);
    b->len += (size_t)count * 8;
}

static void put_index_run(struct pt_buf *b, const uint32_t *indices, uint32_t count,
                          unsigned width) {
    uint32_t groups = (count + 7) / 8;
    pt_buf_varint(b, (uint64_t)groups << 1 | 1);
    size_t bytes = (size_t)groups * width;
    uint8_t *at = pt_buf_reserve(b, bytes + PACK_SLACK), *end = at + bytes;
    uint64_t bits = 0;
    unsigned filled = 0;
    for (uint32_t i = 0; i < count; i++) {
        bits |= (uint64_t)indices[i] << filled;
        filled += width;
        if (filled >= 32) {
            memcpy(at, &bits, 4);
            at += 4;
            bits >>= 32;
            filled -= 32;
        }
    }
    for (; at < end; at += 4, bits >>= 32)
        memcpy(at, &bits, 4);
    b->len += bytes;
}

void pt_parquet_put_indices(struct pt_buf *b, const uint32_t *indices, uint32_t count,
                            unsigned width) {
    pt_buf_u8(b, (uint8_t)width);
    if (width > 0)
        put_index_run(b, indices, count, width);
    else
        pt_buf_varint(b, (uint64_t)count << 1);
}

/* How often each byte occurs. */
struct histogram {
    uint32_t seen[256];
};

/* Bits that an order-0 coder, as zstd's, needs for `total` bytes. */
static double entropy_bits(const struct histogram *h, uint32_t total) {
    double bits = 0;
    for (unsigned i = 0; i < 256; i++)
        if (h->seen[i] > 0)
            bits += h->seen[i] * log2((double)total / h->seen[i]) + 4; /* 4: in the code table */
    return bits;
}

static bool is_mostly_repeats(const uint32_t *indices, uint32_t count) {
    uint32_t repeats = 0;
    for (uint32_t i = 1; i < count; i++)
        repeats += indices[i] == indices[i - 1];
    return repeats > count / 2;
}

/* Sizes of the indices in one page and in small ones, in whole bytes. */
struct estimate {
    double whole_bits, split_bits;
};

static struct estimate estimate(const uint32_t *indices, uint32_t count, unsigned bytes) {
    struct estimate e = { 0 };
    struct histogram all = { 0 };
    for (uint32_t start = 0, n; start < count; start += n) {
        struct histogram part = { 0 };
        n = min_u32(count - start, PT_PARQUET_SMALL_PAGE);
        for (uint32_t i = start; i < start + n; i++) {
            part.seen[indices[i] & 0xff]++;
            if (bytes > 1)
                part.seen[indices[i] >> 8 & 0xff]++;
        }
        for (unsigned i = 0; i < 256; i++)
            all.seen[i] += part.seen[i];
        e.split_bits += entropy_bits(&part, n * bytes) + SMALL_PAGE_COST_BITS;
    }
    e.whole_bits = entropy_bits(&all, count * bytes);
    return e;
}

struct pt_parquet_layout pt_parquet_index_layout(const uint32_t *indices, uint32_t count,
                                                 uint32_t index_count) {
    unsigned packed = pt_bit_width(index_count - 1), bytes = packed <= 8 ? 1 : 2;
    struct pt_parquet_layout best = { .width = packed, .page_values = count };
    if (packed == 0 || packed > 16)
        return best;
    if (is_mostly_repeats(indices, count))
        return (struct pt_parquet_layout){ 8 * bytes, count };
    struct estimate e = estimate(indices, count, bytes);
    double packed_bits = (double)count * packed;
    if (e.whole_bits < packed_bits)
        best.width = 8 * bytes;
    if (e.split_bits < packed_bits && e.split_bits < e.whole_bits)
        best = (struct pt_parquet_layout){ 8 * bytes, PT_PARQUET_SMALL_PAGE };
    return best;
}
