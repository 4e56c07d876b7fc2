/* format/rows/parquet_column.h -- one column of a Parquet file: cells in, column chunks out.
 *
 * A page is a slice of rows, the same for all columns; a chunk is the pages of one row group.
 * Integers become compressed pages at once. Doubles and strings wait as dictionary codes until the
 * chunk ends, because their dictionary comes first in the file; doubles with few repeated values
 * stop using a dictionary after their first page.
 *
 *     column       encoding               instead, when smaller
 *     int64, time  DELTA_BINARY_PACKED    PLAIN
 *     double       RLE_DICTIONARY         BYTE_STREAM_SPLIT, PLAIN
 *     string       RLE_DICTIONARY         PLAIN */
#ifndef PT_FORMAT_ROWS_PARQUET_COLUMN_H
#define PT_FORMAT_ROWS_PARQUET_COLUMN_H

#include "model/view.h"
#include "format/rows/parquet_cells.h"
#include "format/rows/parquet_dictionary.h"

#include <zstd.h>

/* Rows per page; fewer when its strings are long. */
#define PT_PARQUET_PAGE_ROWS 16384

/* Constants of parquet.thrift. */
enum pt_parquet_type { PT_PARQUET_INT64 = 2, PT_PARQUET_DOUBLE = 5, PT_PARQUET_BYTE_ARRAY = 6 };
enum pt_parquet_encoding {
    PT_PARQUET_PLAIN = 0,
    PT_PARQUET_RLE = 3,
    PT_PARQUET_DELTA_BINARY_PACKED = 5,
    PT_PARQUET_RLE_DICTIONARY = 8,
    PT_PARQUET_BYTE_STREAM_SPLIT = 9,
};

/* Scratch memory for encoding pages, shared by all columns. */
struct pt_parquet_pager {
    ZSTD_CCtx *zstd;
    /* The page being encoded: present values without gaps, and one bit per row. */
    union pt_cell *cells;
    uint64_t *present;
    struct pt_buf body;    /* of a page before compression */
    struct pt_buf measure; /* compressed to find its size */
    struct pt_buf words;
    struct pt_buf ranks;
    struct pt_buf codes; /* uint32_t; int32_t for thousandths */
};

int pt_parquet_pager_init(struct pt_parquet_pager *p) PT_MUST_CHECK;
void pt_parquet_pager_release(struct pt_parquet_pager *p);

/* A page that waits for its dictionary. */
struct pt_parquet_waiting {
    uint32_t row_count, value_count;
    size_t levels_len;
};

/* The footer's data about a chunk. */
struct pt_parquet_chunk {
    uint64_t row_count, null_count;
    uint64_t uncompressed_bytes; /* with page headers */
    uint64_t compressed_bytes;   /* of `pages` */
    size_t dictionary_bytes;     /* of the dictionary page at the start of `pages`, or 0 */
    uint32_t dictionary_count;
    uint32_t encodings;     /* bit set of enum pt_parquet_encoding */
    bool has_range;         /* are `min` and `max` known? */
    struct pt_buf min, max; /* as PLAIN, strings without their length */
};

/* How numbers are encoded in pages that do not wait for a dictionary. */
enum pt_parquet_form {
    PT_PARQUET_BYTE_DELTAS,   /* in whole bytes, so that zstd finds repetitions */
    PT_PARQUET_PACKED_DELTAS, /* in as few bits as needed: no repetitions */
    PT_PARQUET_UNCHANGED,     /* values of several entities alternate and seldom change */
    PT_PARQUET_SPLIT,         /* doubles as streams of bytes */
};

/* How the doubles of a chunk are kept: the first that fits. */
enum pt_parquet_doubles {
    PT_PARQUET_THOUSANDTHS, /* waiting, all have at most three decimals */
    PT_PARQUET_WORDS,       /* waiting, with a dictionary */
    PT_PARQUET_COMPLETE,    /* not worth a dictionary: pages are complete */
};

struct pt_parquet_column {
    enum pt_parquet_type type;
    bool is_required, is_time;

    /* An earlier column with the same time wherever both have one, or NULL. */
    const struct pt_parquet_column *leader;
    struct pt_parquet_cells page; /* being filled; cells of strings are codes of `strings` */
    /* While it is encoded, in the pager: */
    union pt_cell *cells;
    uint64_t *present;
    uint32_t value_count;

    struct pt_parquet_chunk chunk;
    struct pt_buf pages; /* headers and compressed bodies, as they go into the file */
    uint64_t null_rows;  /* rows of pages without any value, not yet in a page */
    union pt_cell min, max;
    bool has_range;
    union pt_cell page_min, page_max; /* of the last page of integers, whose bytes are: */
    size_t page_start, page_uncompressed;

    enum pt_parquet_form form;
    uint32_t judged_values; /* of the page that selected the form of integers */

    enum pt_parquet_doubles doubles;
    struct pt_parquet_cells codes; /* of the waiting pages */
    struct pt_buf levels;
    struct pt_parquet_waiting *waiting;
    size_t waiting_count, waiting_capacity;
    struct pt_word_dictionary words;
    struct pt_string_dictionary strings;
};

/* Borrows the leader, whose pages are encoded first. */
void pt_parquet_column_init(struct pt_parquet_column *c, const struct pt_view_column *column,
                            const struct pt_parquet_column *leader);
void pt_parquet_column_release(struct pt_parquet_column *c);

/* Encodes the page filled so far, `row_count` rows. The caller clears it, after all columns. */
void pt_parquet_column_end_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                                uint32_t row_count);
/* Completes `pages` and `chunk`. When the pages are written, their memory can be released;
 * pt_parquet_column_clear() prepares for the next chunk. */
void pt_parquet_column_end_chunk(struct pt_parquet_column *c, struct pt_parquet_pager *p);
void pt_parquet_column_drop_pages(struct pt_parquet_column *c);
void pt_parquet_column_clear(struct pt_parquet_column *c);

/* Memory of the page and the chunk so far. */
size_t pt_parquet_column_memory(const struct pt_parquet_column *c);

#endif
