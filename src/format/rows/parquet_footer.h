/* format/rows/parquet_footer.h -- the end of a Parquet file: schema, where the chunks are,
 * metadata.
 *
 * Units and help are key-value metadata, one key per column, so that
 *
 *     SELECT decode(key), decode(value) FROM parquet_kv_metadata('run.parquet')
 *     WHERE decode(key) LIKE 'pitot.unit.%'
 *
 * lists them in DuckDB:
 *
 *     pitot.version          0.1.0
 *     pitot.times            <name>T is the time when <name> was read
 *     pitot.unit.vCpuTime    cs              (absent: the column has no unit)
 *     pitot.help.vCpuTime    CPU time of ... */
#ifndef PT_FORMAT_ROWS_PARQUET_FOOTER_H
#define PT_FORMAT_ROWS_PARQUET_FOOTER_H

#include "model/view.h"
#include "format/rows/parquet_column.h"

/* Appends the description of a row group; `offset` is the position of its first byte in the
 * file. */
void pt_parquet_put_row_group(struct pt_buf *b, const struct pt_view *view,
                              const struct pt_parquet_column *columns, uint64_t row_count,
                              uint64_t offset, uint32_t ordinal);

struct pt_parquet_footer {
    const struct pt_view *view;
    const struct pt_parquet_column *columns;
    uint64_t row_count;
    uint32_t group_count;
    struct pt_str groups; /* made by pt_parquet_put_row_group() */
};

void pt_parquet_put_footer(struct pt_buf *b, const struct pt_parquet_footer *footer);

#endif
