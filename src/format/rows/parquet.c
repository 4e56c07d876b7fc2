#include "format/rows/parquet.h"

#include "format/rows/parquet_column.h"
#include "format/rows/parquet_thrift.h"
#include "base/fd.h"

#include <fcntl.h>

#define MAGIC             "PAR1"

#define BLOCK_ROWS        PT_PARQUET_BLOCK_ROWS
#define GROUP_ROWS        (8 * PT_PARQUET_PAGE_ROWS)
#define FILE_MEMORY       (4u << 20)
#define PAGE_STRING_BYTES (1u << 20)
#define GROUPS_BYTES      (64u << 10)

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
    struct pt_buf groups;              /* their part of the footer, as far as it is not in: */
    struct pt_fd groups_fd;            /* a file without a name */
    size_t memory_bytes, packed_bytes; /* held for the group; of these the page being filled */
};

/* ---- footer; field ids and constants are those of parquet.thrift ---- */

enum { FORMAT_VERSION = 2, CODEC_ZSTD = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { CONVERTED_UTF8 = 0, CONVERTED_TIMESTAMP_MICROS = 10 };

static void put_chunk(struct pt_thrift *t, const struct pt_parquet_column *c, const char *name,
                      uint64_t offset) {
    const struct pt_parquet_chunk *chunk = &c->chunk;
    pt_thrift_item_struct(t);
    pt_thrift_i64(t, 2, 0); /* file_offset: deprecated, but required */
    pt_thrift_struct(t, 3);
    pt_thrift_i32(t, 1, (int32_t)c->type);
    pt_thrift_list(t, 2, PT_THRIFT_I32, (uint32_t)__builtin_popcount(chunk->encodings));
    for (int encoding = 0; encoding < 32; encoding++)
        if (chunk->encodings >> encoding & 1)
            pt_thrift_item_i32(t, encoding);
    pt_thrift_list(t, 3, PT_THRIFT_BINARY, 1);
    pt_thrift_item_str(t, pt_str_from(name));
    pt_thrift_i32(t, 4, CODEC_ZSTD);
    pt_thrift_i64(t, 5, (int64_t)chunk->row_count);
    pt_thrift_i64(t, 6, (int64_t)chunk->uncompressed_bytes);
    pt_thrift_i64(t, 7, (int64_t)chunk->compressed_bytes);
    pt_thrift_i64(t, 9, (int64_t)(offset + chunk->dictionary_bytes));
    if (chunk->dictionary_bytes > 0)
        pt_thrift_i64(t, 11, (int64_t)offset);
    pt_thrift_struct(t, 12); /* statistics */
    pt_thrift_i64(t, 3, (int64_t)chunk->null_count);
    if (chunk->has_range) {
        pt_thrift_str(t, 5, pt_buf_as_str(&chunk->max));
        pt_thrift_str(t, 6, pt_buf_as_str(&chunk->min));
    }
    pt_thrift_end(t);
    pt_thrift_end(t);
    pt_thrift_end(t);
}

/* Appends the description of a row group; `offset` is the position of its first byte in the
 * file. */
static void put_row_group(struct parquet *w, uint64_t offset) {
    struct pt_thrift t = { .into = &w->groups };
    const struct pt_view *view = w->view;
    uint64_t at = offset, uncompressed = 0;
    pt_thrift_list(&t, 1, PT_THRIFT_STRUCT, view->column_count);
    for (uint32_t i = 0; i < view->column_count; i++) {
        put_chunk(&t, &w->columns[i], view->columns[i].name, at);
        at += w->columns[i].chunk.compressed_bytes;
        uncompressed += w->columns[i].chunk.uncompressed_bytes;
    }
    pt_thrift_i64(&t, 2, (int64_t)uncompressed);
    pt_thrift_i64(&t, 3, (int64_t)w->group_rows);
    pt_thrift_i64(&t, 5, (int64_t)offset);
    pt_thrift_i64(&t, 6, (int64_t)(at - offset));
    if (w->group_count <= INT16_MAX)
        pt_thrift_i16(&t, 7, (int16_t)w->group_count);
    pt_thrift_end(&t);
    w->group_count++;
}

static void put_schema_column(struct pt_thrift *t, const struct pt_parquet_column *c,
                              const char *name) {
    enum { TYPE_STRING = 1, TYPE_TIMESTAMP = 8, UNIT_MICROS = 2 };
    pt_thrift_item_struct(t);
    pt_thrift_i32(t, 1, (int32_t)c->type);
    pt_thrift_i32(t, 3, c->is_required ? REQUIRED : OPTIONAL);
    pt_thrift_str(t, 4, pt_str_from(name));
    if (c->is_time) {
        pt_thrift_i32(t, 6, CONVERTED_TIMESTAMP_MICROS);
        pt_thrift_struct(t, 10);
        pt_thrift_struct(t, TYPE_TIMESTAMP);
        pt_thrift_bool(t, 1, true); /* is adjusted to UTC */
        pt_thrift_struct(t, 2);
        pt_thrift_struct(t, UNIT_MICROS);
        for (int i = 0; i < 4; i++)
            pt_thrift_end(t);
    } else if (c->type == PT_PARQUET_BYTE_ARRAY) {
        pt_thrift_i32(t, 6, CONVERTED_UTF8);
        pt_thrift_struct(t, 10);
        pt_thrift_struct(t, TYPE_STRING);
        pt_thrift_end(t);
        pt_thrift_end(t);
    }
    pt_thrift_end(t);
}

/* Pairs are counted before they are written: the list begins with its length. */
struct pairs {
    struct pt_buf bytes;
    uint32_t count;
};

static void add_pair(struct pairs *pairs, const char *prefix, const char *name, const char *value) {
    if (value[0] == 0)
        return;
    char *key = pt_asprintf("pitot.%s%s", prefix, name);
    struct pt_thrift t = { .into = &pairs->bytes };
    pt_thrift_str(&t, 1, pt_str_from(key));
    pt_thrift_str(&t, 2, pt_str_from(value));
    pt_thrift_end(&t);
    pairs->count++;
    pt_free(key);
}

static void add_pairs_of_column(struct pairs *pairs, const struct pt_view_column *c) {
    const char *unit = "", *help = "";
    switch (c->role) {
    case PT_VIEW_TIMESTAMP:
        help = "when the sample was taken";
        break;
    case PT_VIEW_MONOTONIC:
        unit = pt_units[PT_NANOSECONDS].name;
        help = "the same instant on the monotonic clock";
        break;
    case PT_VIEW_VALUE:
        unit = pt_units[c->column->unit].name;
        help = c->column->help;
        break;
    case PT_VIEW_TIME: /* pitot.times says it for all columns */
        break;
    }
    add_pair(pairs, "unit.", c->name, unit);
    add_pair(pairs, "help.", c->name, help);
}

static void put_pairs(struct pt_thrift *t, const struct pt_view *view) {
    struct pairs pairs = { 0 };
    add_pair(&pairs, "version", "", PITOT_VERSION);
    add_pair(&pairs, "times", "", "<name>T is the time when <name> was read");
    for (uint32_t i = 0; i < view->column_count; i++)
        add_pairs_of_column(&pairs, &view->columns[i]);
    pt_thrift_list(t, 5, PT_THRIFT_STRUCT, pairs.count);
    pt_buf_bytes(t->into, pairs.bytes.at, pairs.bytes.len);
    pt_buf_release(&pairs.bytes);
}

/* The footer lists all row groups, and a long run has many: what is known of it waits in a file
 * without a name, or in memory where the file system has no such files. */
static void move_groups(struct parquet *w) {
    if (w->groups.len < GROUPS_BYTES || !w->out->path || w->out->error)
        return;
    if (!pt_fd_is_open(w->groups_fd)) {
        const char *path = w->out->path, *slash = strrchr(path, '/');
        char *directory =
            slash ? pt_asprintf("%.*s", (int)(slash - path) + 1, path) : pt_strdup(".");
        int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        pt_free(directory);
        if (fd < 0)
            return;
        w->groups_fd = pt_fd_of(fd);
    }
    ssize_t n = write(pt_fd_get(w->groups_fd), w->groups.at, w->groups.len);
    if (n < 0 || (size_t)n < w->groups.len)
        w->out->error = n < 0 ? -errno : -ENOSPC;
    pt_buf_clear(&w->groups);
}

static void write_groups(struct parquet *w) {
    char bytes[4096];
    ssize_t n = 0;
    for (off_t at = 0; pt_fd_is_open(w->groups_fd); at += n) {
        n = pread(pt_fd_get(w->groups_fd), bytes, sizeof bytes, at);
        if (n <= 0)
            break;
        pt_out_bytes(w->out, bytes, (size_t)n);
    }
    if (n < 0 && !w->out->error)
        w->out->error = -errno;
    (void)pt_fd_close(&w->groups_fd);
    pt_out_bytes(w->out, w->groups.at, w->groups.len);
}

static void write_footer(struct parquet *w) {
    enum { TYPE_DEFINED_ORDER = 1 };
    uint32_t column_count = w->view->column_count;
    struct pt_buf footer = { 0 };
    struct pt_thrift t = { .into = &footer };
    pt_thrift_i32(&t, 1, FORMAT_VERSION);
    pt_thrift_list(&t, 2, PT_THRIFT_STRUCT, column_count + 1);
    pt_thrift_item_struct(&t);
    pt_thrift_str(&t, 4, PT_STR("schema"));
    pt_thrift_i32(&t, 5, (int32_t)column_count);
    pt_thrift_end(&t);
    for (uint32_t i = 0; i < column_count; i++)
        put_schema_column(&t, &w->columns[i], w->view->columns[i].name);
    pt_thrift_i64(&t, 3, (int64_t)w->row_count);
    pt_thrift_list(&t, 4, PT_THRIFT_STRUCT, w->group_count);
    uint64_t start = pt_out_offset(w->out);
    pt_out_bytes(w->out, footer.at, footer.len);
    write_groups(w);
    pt_buf_clear(&footer);
    put_pairs(&t, w->view);
    /* Readers require exactly this form; otherwise they assume a writer with known bugs. */
    pt_thrift_str(&t, 6, PT_STR("pitot version " PITOT_VERSION));
    /* Without column orders readers ignore minima and maxima. */
    pt_thrift_list(&t, 7, PT_THRIFT_STRUCT, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        pt_thrift_item_struct(&t);
        pt_thrift_struct(&t, TYPE_DEFINED_ORDER);
        pt_thrift_end(&t);
        pt_thrift_end(&t);
    }
    pt_thrift_end(&t);
    pt_buf_u32(&footer, (uint32_t)(pt_out_offset(w->out) - start + footer.len));
    pt_out_bytes(w->out, footer.at, footer.len);
    pt_out_text(w->out, MAGIC);
    pt_buf_release(&footer);
}

/* ---- rows to pages and row groups ---- */

/* The column before with the times of the same source, or NULL. */
static const struct pt_parquet_column *leader_of(const struct parquet *w, uint32_t column) {
    const struct pt_view_column *c = &w->view->columns[column];
    for (uint32_t i = 0; c->role == PT_VIEW_TIME && i < column; i++) {
        const struct pt_view_column *other = &w->view->columns[i];
        if (other->role == PT_VIEW_TIME && other->table == c->table && other->index == c->index)
            return &w->columns[i];
    }
    return NULL;
}

static int begin(void *state, const struct pt_view *view, struct pt_out *out) {
    struct parquet *w = state;
    w->view = view;
    w->out = out;
    uint32_t count = view->column_count;
    w->columns = pt_calloc(count, sizeof *w->columns);
    w->string_columns = pt_calloc(count, sizeof *w->string_columns);
    for (uint32_t i = 0; i < count; i++) {
        pt_parquet_column_init(&w->columns[i], &view->columns[i], leader_of(w, i));
        if (view->columns[i].type == PT_STRING)
            w->string_columns[w->string_column_count++] = i;
    }
    /* An odd number of cache lines per row: otherwise the rows of a column would share few cache
     * sets, and transposing the block would evict what it needs next. */
    w->block_stride = ((count + 7) / 8 | 1) * 8;
    w->block = pt_calloc((size_t)BLOCK_ROWS * w->block_stride, sizeof *w->block);
    w->block_nulls = pt_calloc(BLOCK_ROWS, count);
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

static void measure_memory(struct parquet *w) {
    w->memory_bytes = w->packed_bytes = 0;
    for (uint32_t i = 0; i < w->view->column_count; i++) {
        w->memory_bytes += pt_parquet_column_memory(&w->columns[i]);
        w->packed_bytes += w->columns[i].page.packed.len;
    }
}

static void end_block(struct parquet *w) {
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_cells_add(&w->columns[i].page, w->block + i, w->block_stride,
                             block_presence(w, i));
    w->page_rows += w->block_rows;
    w->block_rows = 0;
    w->nulls_vary = false;
    measure_memory(w);
}

static void end_group(struct parquet *w) {
    if (w->group_rows == 0)
        return;
    uint64_t offset = pt_out_offset(w->out);
    for (uint32_t i = 0; i < w->view->column_count; i++) {
        struct pt_parquet_column *c = &w->columns[i];
        pt_parquet_column_end_chunk(c, &w->pager);
        pt_out_bytes(w->out, c->pages.at, c->pages.len);
        pt_parquet_column_drop_pages(c);
    }
    put_row_group(w, offset);
    move_groups(w);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_clear(&w->columns[i]);
    w->row_count += w->group_rows;
    w->group_rows = 0;
}

static void end_page(struct parquet *w) {
    if (w->block_rows > 0)
        end_block(w);
    if (w->page_rows == 0)
        return;
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_end_page(&w->columns[i], &w->pager, w->page_rows);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_cells_clear(&w->columns[i].page);
    w->group_rows += w->page_rows;
    w->page_rows = 0;
    w->page_string_bytes = 0;
}

/* Encodes the page being filled; with `must_write`, or if that is not most of what the file holds,
 * also writes the row group. What is only needed to encode is held no longer: a run has many
 * files. */
static void flush(struct parquet *w, bool must_write) {
    bool is_mostly_page = w->packed_bytes > w->memory_bytes / 2;
    int rc = pt_parquet_pager_init(&w->pager);
    if (rc) {
        w->out->error = w->out->error ? w->out->error : rc;
        return;
    }
    end_page(w);
    measure_memory(w);
    if (must_write || !is_mostly_page || w->memory_bytes > FILE_MEMORY / 2 ||
        w->group_rows + PT_PARQUET_PAGE_ROWS > GROUP_ROWS)
        end_group(w);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_buf_release(&w->columns[i].page.packed);
    pt_parquet_pager_release(&w->pager);
    measure_memory(w);
}

static size_t memory(const void *state) {
    const struct parquet *w = state;
    return w->memory_bytes;
}

static void shrink(void *state) {
    flush(state, false);
}

static void row(void *state, const struct pt_view_row *row) {
    struct parquet *w = state;
    size_t count = w->view->column_count;
    union pt_cell *cells = w->block + (size_t)w->block_rows * w->block_stride;
    memcpy(cells, row->cells, count * sizeof *cells);
    memcpy(w->block_nulls + w->block_rows * count, row->is_null, count);
    w->nulls_vary |= memcmp(w->block_nulls, row->is_null, count) != 0;
    /* Strings are borrowed only until row() returns: their codes replace them. */
    for (uint32_t i = 0; i < w->string_column_count; i++) {
        uint32_t column = w->string_columns[i];
        if (row->is_null[column])
            continue;
        struct pt_str s = row->strings[column];
        cells[column].word = pt_string_dictionary_code(&w->columns[column].strings, s);
        w->page_string_bytes += s.len;
    }
    if (++w->block_rows == BLOCK_ROWS)
        end_block(w);
    if (w->page_rows == PT_PARQUET_PAGE_ROWS || w->page_string_bytes >= PAGE_STRING_BYTES ||
        w->memory_bytes >= FILE_MEMORY)
        flush(w, false);
}

static void end(void *state) {
    struct parquet *w = state;
    flush(w, true);
    write_footer(w);
    for (uint32_t i = 0; i < w->view->column_count; i++)
        pt_parquet_column_release(&w->columns[i]);
    pt_free(w->columns);
    pt_free(w->string_columns);
    pt_free(w->block);
    pt_free(w->block_nulls);
    pt_buf_release(&w->groups);
}

const struct pt_table_format pt_parquet_format = {
    .state_size = sizeof(struct parquet),
    .begin = begin,
    .row = row,
    .end = end,
    .memory = memory,
    .shrink = shrink,
};

const struct pt_sink_type pt_parquet_sink = {
    .name = "parquet",
    .help = "Parquet with zstd: small, typed, units and help in the file",
    .format = &pt_parquet_format,
};
