/* format/rows/sink.h -- writers of every format.
 *
 * A sink takes the samples of a run and writes files. Most formats are flat
 * tables: they only define how a row of a view is written (struct pt_table_format), and
 * sinks.c opens one file per view that has rows. JSON snapshots are
 * nested and take the sample itself. */
#ifndef PT_FORMAT_ROWS_SINK_H
#define PT_FORMAT_ROWS_SINK_H

#include "base/out.h"
#include "model/view.h"

struct pt_sink_target {
    const char *directory;
    const char *name; /* file names start with it: the uuid of the run */
    const struct pt_schema *schema;
    const struct pt_views *views;
};

/* A flat format: one file per view. */
struct pt_table_format {
    size_t state_size; /* zeroed memory given to the functions below */
    /* `out` is an empty file; the format keeps borrowing it and the view. If this fails, the
     * format has released what it took and `end` is not called. */
    int (*begin)(void *state, const struct pt_view *view, struct pt_out *out);
    void (*row)(void *state, const struct pt_view_row *row);
    /* Writes what is left and releases the state. Errors stick to `out`. */
    void (*end)(void *state);
    /* Bytes it holds, and how to hold fewer: NULL for a format that writes each row. */
    size_t (*memory)(const void *state);
    void (*shrink)(void *state);
};

struct pt_sink_type {
    const char *name; /* as in -f parquet; also the extension */
    const char *help;
    const struct pt_table_format *format; /* flat formats; NULL: the functions below */
    size_t state_size;
    int (*open)(void *state, const struct pt_sink_target *target, struct pt_err *err);
    int (*write)(void *state, const struct pt_sample *sample); /* borrows */
    int (*close)(void *state, struct pt_err *err);             /* late I/O errors surface here */
};

extern const struct pt_sink_type *const pt_sink_types[]; /* NULL-terminated; sinks.c */
const struct pt_sink_type *pt_sink_find(struct pt_str name);
const char *pt_sink_name(size_t index); /* of pt_sink_types[]; NULL after the last */

/* An open sink of any type. */
struct pt_sink {
    const struct pt_sink_type *type;
    void *state;
};

int pt_sink_open(struct pt_sink *sink, const struct pt_sink_type *type,
                 const struct pt_sink_target *target, struct pt_err *err) PT_MUST_CHECK;
/* 0 or the first error so far. A sink of several files continues with the others, so the caller may
 * keep writing: the file is named at close. */
int pt_sink_write(struct pt_sink *sink, const struct pt_sample *sample) PT_MUST_CHECK;
/* Completes the files of all other tables: only rows of this one follow. */
void pt_sink_complete_others(struct pt_sink *sink, uint32_t table);
/* 0 or the first error; `err` names the file. Unfinished files are removed. {0} may be closed. */
int pt_sink_close(struct pt_sink *sink, struct pt_err *err) PT_MUST_CHECK;

#endif
