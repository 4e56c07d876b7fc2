/* format/rows/parquet.h -- Parquet files: columns, compressed, with their units and help.
 *
 * Rows pass three stages: a block of 64 rows is transposed into columns, a page of up to 16,384 is
 * encoded, a row group is written when it has 131,072 rows or holds 48 MB. So memory is bounded
 * for any number of rows.
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
#ifndef PT_FORMAT_ROWS_PARQUET_H
#define PT_FORMAT_ROWS_PARQUET_H

#include "format/rows/sink.h"

extern const struct pt_table_format pt_parquet_format;
extern const struct pt_sink_type pt_parquet_sink;

#endif
