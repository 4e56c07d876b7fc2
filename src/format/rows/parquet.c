#include "format/rows/parquet.h"

#include "format/rows/parquet_column.h"
#include "format/rows/parquet_footer.h"

#define MAGIC "PAR1"

/* A block has one word of the presence bitmap per column. */
#define BLOCK_ROWS        64
#define GROUP_ROWS        (8 * PT_PARQUET_PAGE_ROWS)
#define GROUP_MEMORY      (48u << 20)
#define PAGE_STRING_BYTES (2u << 20)

struct parquet {
    const struct pt_view *view;
    struct pt_out *out;
    struct pt_parquet_column *columns;
    uint32_t *string_columns;
    uint32_t string_column_count;
    struct pt_parquet_pager pager;

    union pt_cell *block; /* rows of `block_stride` cells */
    bool *block_nulls;    /* rows of view->column_count flags */
    uint32_t block_stride, block_rows;
    bool nulls_vary; /* does a row of the block have other nulls than its first? */

    uint32_t page_rows;
    size_t page_string_bytes; /* were all of them written? */
    uint32_t group_rows, group_count;
    uint64_t row_count;
    struct pt_buf groups; /* their part of the footer */
};

/* An odd number of cache lines per row: otherwise the rows of a column would share few cache sets,
 * and transposing the block would evict what it needs next. */
static uint32_t stride_of(uint32_t column_count) {
    uint32_t lines = (column_count + 7) / 8;
    return (lines | 1) * 8;
}

static void init_columns(struct parquet *w) {
    uint32_t count = w->view->column_count;
    w->columns = pt_calloc(count, sizeof *w->columns);
    w->string_columns = pt_calloc(count, sizeof *w->string_columns);
    for (uint32_t i = 0; i < count; i++) {
        pt_parquet_column_init(&w->columns[i], &w->view->columns[i]);
        if (w->view->columns[i].type == PT_STRING)
            w->string_columns[w->string_column_count++] = i;
    }
}

static int begin(void *state, const struct pt_view *view, struct pt_out *out) {
    struct parquet *w = state;
    int rc = pt_parquet_pager_init(&w->pager);
    if (rc)
        return rc;
    w->view = view;
    w->out = out;
    init_columns(w);
    w->block_stride = stride_of(view->column_count);
    w->block = pt_calloc((size_t)BLOCK_ROWS * w->block_stride, sizeof *w->block);
    w->block_nulls = pt_calloc(BLOCK_ROWS, view->column_count);
    pt_out_text(out, MAGIC);
    return 0;
}

/* Bit r: row r of the block has a value in this column. */
static uint64_t block_presence(const struct parquet *w, uint32_t column) {
    uint64_t all = w->block_rows < 64 ? (UINT64_C(1) << w->block_rows) - 1 : UINT64_MAX;
    const bool *is_null = w->block_nulls + column;
    if (!w->nulls_vary)
        return *is_null ? 0 : all;
    uint64_t present = 0;
    for (uint32_t row = 0; row < w->block_rows; row++, is_null += w->view->column_count)
        present |= (uint64_t) !*is_null << row;
    return present;
}

static void turn_column(const struct parquet *w, uint32_t column) {
    struct pt_parquet_column *c = &w->columns[column];
    uint64_t present = block_presence(w, column);
    c->present[w->page_rows / BLOCK_ROWS] = present;
    const union pt_cell *from = w->block + column;
    union pt_cell *to = c->cells + c->value_count;
    if (present == UINT64_MAX) {
        for (uint32_t row = 0; row < BLOCK_ROWS; row++)
            to[row] = from[(size_t)row * w->block_stride];
        c->value_count += BLOCK_ROWS;
        return;
    }
    c->value_count += (uint32_t)__builtin_popcountll(present);
    for (; present; present &= present - 1)
        *to++ = from[(size_t)__builtin_ctzll(present) * w->block_stride];
}

static void end_block(struct parquet *w) {
    for (uint32_t i = 0; i < w->view->column_count; i++)
        turn_column(w, i);
    w->page_rows += w->block_rows;
    w->block_rows = 0;
    w->nulls_vary = false;
}

static void end_group(struct parquet *w) {
    if (w->group_rows == 0)
        return;
    uint64_t offset = pt_out_offset(w->out);
    for (uint32_t i = 0; i < w->view->column_count; i++) {
        struct pt_parquet_column *c = &w->columns[i];
        pt_parquet_column_end_chunk(c, &w->pager);
        pt_out_bytes(w->out, c->pages.at, c->pages.len);
    }
    pt_parquet_put_row_group(&w->groups, w->view, w->columns, w->group_rows, offset,
                             w->group_count++);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_clear(&w->columns[i]);
    w->row_count += w->group_rows;
    w->group_rows = 0;
}

static size_t group_memory(const struct parquet *w) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < w->view->column_count; i++)
        bytes += pt_parquet_column_memory(&w->columns[i]);
    return bytes;
}

static void end_page(struct parquet *w) {
    if (w->block_rows > 0)
        end_block(w);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_end_page(&w->columns[i], &w->pager, w->page_rows);
    w->group_rows += w->page_rows;
    w->page_rows = 0;
    w->page_string_bytes = 0;
    if (w->group_rows + PT_PARQUET_PAGE_ROWS > GROUP_ROWS || group_memory(w) >= GROUP_MEMORY)
        end_group(w);
}

/* Strings are borrowed only until row() returns: their codes replace them. */
static void intern_strings(struct parquet *w, const struct pt_view_row *row, union pt_cell *cells) {
    for (uint32_t i = 0; i < w->string_column_count; i++) {
        uint32_t column = w->string_columns[i];
        if (row->is_null[column])
            continue;
        struct pt_str s = row->strings[column];
        cells[column].word = pt_string_dictionary_code(&w->columns[column].strings, s);
        w->page_string_bytes += s.len;
    }
}

static void row(void *state, const struct pt_view_row *row) {
    struct parquet *w = state;
    size_t count = w->view->column_count;
    union pt_cell *cells = w->block + (size_t)w->block_rows * w->block_stride;
    memcpy(cells, row->cells, count * sizeof *cells);
    memcpy(w->block_nulls + w->block_rows * count, row->is_null, count);
    w->nulls_vary |= memcmp(w->block_nulls, row->is_null, count) != 0;
    intern_strings(w, row, cells);
    if (++w->block_rows == BLOCK_ROWS)
        end_block(w);
    if (w->page_rows == PT_PARQUET_PAGE_ROWS || w->page_string_bytes >= PAGE_STRING_BYTES)
        end_page(w);
}

static void write_footer(struct parquet *w) {
    struct pt_buf footer = { 0 };
    pt_parquet_put_footer(&footer,
                          &(struct pt_parquet_footer){ w->view, w->columns, w->row_count,
                                                       w->group_count, pt_buf_as_str(&w->groups) });
    pt_buf_u32(&footer, (uint32_t)footer.len);
    pt_out_bytes(w->out, footer.at, footer.len);
    pt_out_text(w->out, MAGIC);
    pt_buf_release(&footer);
}

static void end(void *state) {
    struct parquet *w = state;
    if (w->page_rows + w->block_rows > 0)
        end_page(w);
    end_group(w);
    write_footer(w);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_release(&w->columns[i]);
    pt_free(w->columns);
    pt_free(w->string_columns);
    pt_free(w->block);
    pt_free(w->block_nulls);
    pt_buf_release(&w->groups);
    pt_parquet_pager_release(&w->pager);
}

const struct pt_table_format pt_parquet_format = {
    .state_size = sizeof(struct parquet),
    .begin = begin,
    .row = row,
    .end = end,
};

const struct pt_sink_type pt_parquet_sink = {
    .name = "parquet",
    .help = "Parquet with zstd: small, typed, units and help in the file",
    .format = &pt_parquet_format,
};
