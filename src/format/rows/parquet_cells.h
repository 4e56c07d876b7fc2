/* format/rows/parquet_cells.h -- the cells of a column while its page is being filled, packed.
 *
 * Rows come in blocks of up to 64. A block holds its differences to the previous cell in as few
 * whole bytes each as the largest needs, so that a page of any number of columns takes little
 * memory. Columns of times of one source are equal where both have a value: all but the first hold
 * only which blocks are different. */
#ifndef PT_FORMAT_ROWS_PARQUET_CELLS_H
#define PT_FORMAT_ROWS_PARQUET_CELLS_H

#include "base/buf.h"
#include "model/batch.h"

#define PT_PARQUET_BLOCK_ROWS 64

/* What the next cell is compared with. */
struct pt_parquet_last {
    uint64_t word;
    int32_t thousandths;
};

/* {0} is empty. */
struct pt_parquet_cells {
    const struct pt_parquet_cells *leader; /* equal where both have a value; or NULL */
    bool is_double;                        /* else thousandths are read as integers */
    bool differs;                          /* does a block of this page differ from the leader's? */
    bool has_others;                       /* does a block hold anything but thousandths? */
    struct pt_buf packed;
    struct pt_parquet_last last;
    uint64_t present; /* rows of the latest block that have a value */
    uint32_t value_count;
};

/* Adds a block: those cells of `from`, `stride` apart, whose bit of `present` is set. The leader's
 * block comes first. */
void pt_parquet_cells_add(struct pt_parquet_cells *c, const union pt_cell *from, size_t stride,
                          uint64_t present);
/* Reads the next block: its values, without gaps, and which rows they belong to. {0} begins.
 * Returns their number. */
struct pt_parquet_reader {
    size_t at, leaders_at; /* in the packed bytes */
    struct pt_parquet_last last, leaders_last;
};
uint32_t pt_parquet_cells_next(const struct pt_parquet_cells *c, struct pt_parquet_reader *r,
                               uint64_t *present, union pt_cell *values);
/* Reads all blocks. */
void pt_parquet_cells_read(const struct pt_parquet_cells *c, union pt_cell *values,
                           uint64_t *present);
void pt_parquet_cells_presence(const struct pt_parquet_cells *c, uint64_t *present);
/* Appends a page of thousandths that follows those before. */
void pt_parquet_cells_append(struct pt_parquet_cells *c, const struct pt_parquet_cells *page);
void pt_parquet_cells_clear(struct pt_parquet_cells *c); /* after its followers were read */

#endif
