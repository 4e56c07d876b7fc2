/* model/batch.h -- rows of one table at one instant.
 *
 * A row is a run of 64-bit words: one read time per source (CLOCK_MONOTONIC
 * nanoseconds, 0 = not read), the bitmap of cells that are present, the cells.
 * Rows are kept whole (not column by column) because collectors write and the
 * journal compares them a row at a time; Parquet turns them into columns.
 * A new row is all null. Strings are copied into the batch's own arena.
 * Clearing keeps the memory, so a steady tick allocates nothing. */
#ifndef PT_MODEL_BATCH_H
#define PT_MODEL_BATCH_H

#include "base/buf.h"
#include "model/table.h"

struct pt_batch {
    const struct pt_table *table;
    uint64_t *words;
    size_t word_capacity;
    uint32_t row_count, row_words;
    struct pt_buf strings;
};

union pt_cell {
    uint64_t word;
    int64_t i64;
    double f64;
    struct {
        uint32_t offset, len;
    } string;
};

void pt_batch_init(struct pt_batch *b, const struct pt_table *table); /* borrows the table */
void pt_batch_release(struct pt_batch *b);
void pt_batch_clear(struct pt_batch *b);
/* Adds a row of nulls; the setters below write into it. */
void pt_batch_add_row(struct pt_batch *b);

static inline uint32_t pt_batch_present_words(const struct pt_batch *b) {
    return (b->table->column_count + 63u) / 64;
}

static inline uint64_t *pt_batch_row(const struct pt_batch *b, uint32_t row) {
    return b->words + (size_t)row * b->row_words;
}

static inline uint64_t *pt_batch_present(const struct pt_batch *b, uint32_t row) {
    return pt_batch_row(b, row) + b->table->source_count;
}

static inline union pt_cell *pt_batch_cells(const struct pt_batch *b, uint32_t row) {
    return (union pt_cell *)(pt_batch_present(b, row) + pt_batch_present_words(b));
}

static inline bool pt_is_null(const struct pt_batch *b, uint32_t row, int column) {
    return !(pt_batch_present(b, row)[column / 64] >> (column % 64) & 1);
}

static inline int64_t pt_get_time(const struct pt_batch *b, uint32_t row, int source) {
    return (int64_t)pt_batch_row(b, row)[source];
}

static inline int64_t pt_get_i64(const struct pt_batch *b, uint32_t row, int column) {
    return pt_batch_cells(b, row)[column].i64;
}

static inline double pt_get_f64(const struct pt_batch *b, uint32_t row, int column) {
    return pt_batch_cells(b, row)[column].f64;
}

static inline struct pt_str pt_get_str(const struct pt_batch *b, uint32_t row, int column) {
    union pt_cell c = pt_batch_cells(b, row)[column];
    if (c.string.len == 0)
        return PT_STR(""); /* the arena may have no memory yet */
    return (struct pt_str){ (const char *)b->strings.at + c.string.offset, c.string.len };
}

/* An integer or float cell as a double; the caller has checked for null. */
static inline double pt_get_number(const struct pt_batch *b, uint32_t row, int column) {
    return b->table->columns[column].type == PT_F64 ? pt_get_f64(b, row, column)
                                                    : (double)pt_get_i64(b, row, column);
}

static inline void pt_set_cell_(struct pt_batch *b, int column, union pt_cell value) {
    uint32_t row = b->row_count - 1;
    pt_batch_present(b, row)[column / 64] |= UINT64_C(1) << (column % 64);
    pt_batch_cells(b, row)[column] = value;
}

static inline void pt_set_i64(struct pt_batch *b, int column, int64_t value) {
    pt_set_cell_(b, column, (union pt_cell){ .i64 = value });
}

/* NaN and infinities are unknown values: they stay null. */
void pt_set_f64(struct pt_batch *b, int column, double value);
/* Copies the text and hides its secrets: every string of a sample comes from here. */
void pt_set_str(struct pt_batch *b, int column, struct pt_str value);
/* For text that base/mask.h has seen: of another batch, or kept by a collector. */
void pt_set_masked(struct pt_batch *b, int column, struct pt_str value);

static inline void pt_set_time(struct pt_batch *b, int source, int64_t mono_ns) {
    pt_batch_row(b, b->row_count - 1)[source] = (uint64_t)mono_ns;
}

/* The key columns of a row, joined by a slash; cut to fit. */
void pt_row_key(const struct pt_batch *b, uint32_t row, char *into, size_t capacity);

/* The row of `b` with the same key as a row of another batch of its table, or -1. `*hint` is the
 * row to try first; rows come in the same order each time. */
int64_t pt_row_find(const struct pt_batch *b, const struct pt_batch *other, uint32_t row,
                    uint32_t *hint);

/* The setters, for a row that is not the last. */
void pt_batch_set_at_f64(struct pt_batch *b, uint32_t row, int column, double value);
void pt_batch_set_at_time(struct pt_batch *b, uint32_t row, int source, int64_t mono_ns);

/* Makes `into` the same rows as `from`, of the same table; keeps the memory it has. */
void pt_batch_copy(struct pt_batch *into, const struct pt_batch *from);
/* Adds a copy of one row of `from`, of the same table. */
void pt_batch_copy_row(struct pt_batch *into, const struct pt_batch *from, uint32_t row);
/* Copies the values of one source, with their time, from the first row of `from` into the last row:
 * for a file that is read less often than the others. No strings. */
void pt_batch_carry(struct pt_batch *into, const struct pt_batch *from, int source);

#endif
