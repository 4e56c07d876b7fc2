/* format/rows/flat_files.h -- a sink of a flat format: one file per view.
 *
 *     <directory>/<name>.csv               the main view; exists even without rows
 *     <directory>/<name>.containers.csv    other views, from their first row on
 *
 * A file that fails is dropped and named at close; the others continue. */
#ifndef PT_FORMAT_ROWS_FLAT_FILES_H
#define PT_FORMAT_ROWS_FLAT_FILES_H

#include "format/rows/sink.h"

struct pt_table_file;

struct pt_tables {
    const struct pt_table_format *format;
    struct pt_table_file *files; /* one per view */
    uint32_t file_count;
    int error; /* 0 or the first error: */
    struct pt_err words;
};

int pt_tables_open(struct pt_tables *t, const struct pt_sink_type *type,
                   const struct pt_sink_target *target, struct pt_err *err) PT_MUST_CHECK;
int pt_tables_write(struct pt_tables *t, const struct pt_sample *sample) PT_MUST_CHECK;
int pt_tables_close(struct pt_tables *t, struct pt_err *err) PT_MUST_CHECK;

#endif
