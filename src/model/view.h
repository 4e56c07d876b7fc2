/* model/view.h -- the layout of the output files of a run: flat tables derived from the schema.
 *
 * The main file has one row per sample and joins the tables of its sections; every other file has
 * the rows of its own table. All start with `timestamp` and `monotonic_ns`; every timed column is
 * followed by its own time, `<name>T`. Table formats (CSV, Parquet, ...) see only what is here. */
#ifndef PT_MODEL_VIEW_H
#define PT_MODEL_VIEW_H

#include "model/sample.h"

enum pt_view_role { PT_VIEW_TIMESTAMP, PT_VIEW_MONOTONIC, PT_VIEW_VALUE, PT_VIEW_TIME };

struct pt_view_column {
    char *name;
    enum pt_view_role role;
    enum pt_type type;              /* I64 for times: Unix nanoseconds, the format rounds them */
    uint32_t table;                 /* of the schema */
    uint16_t index;                 /* of the column, or of the source for a time */
    uint16_t of_column;             /* the column a time belongs to */
    const struct pt_column *column; /* NULL for timestamp and monotonic_ns */
};

struct pt_view {
    const char *file; /* "" or the suffix: containers */
    const struct pt_schema *schema;
    struct pt_view_column *columns;
    uint32_t column_count;
    uint32_t table; /* the table of these rows; for the main view PT_VIEW_JOINED */
};

#define PT_VIEW_JOINED UINT32_MAX

/* All views of a schema; the main one first. */
struct pt_views {
    struct pt_view *views;
    uint32_t view_count;
};

void pt_views_init(struct pt_views *v, const struct pt_schema *schema); /* borrows */
void pt_views_release(struct pt_views *v);

/* Rows that `sample` has in this view. A sample without a main table (for example a mark) has none
 * in the main view. */
uint32_t pt_view_row_count(const struct pt_view *v, const struct pt_sample *sample);

/* Fills one cell per column; `is_null[i]` says which are absent. String cells
 * borrow from the sample: `strings[i]` holds them. */
struct pt_view_row {
    union pt_cell *cells;
    struct pt_str *strings;
    bool *is_null;
};

void pt_view_row_init(struct pt_view_row *row, const struct pt_view *v);
void pt_view_row_release(struct pt_view_row *row);
void pt_view_read(const struct pt_view *v, const struct pt_sample *sample, uint32_t index,
                  struct pt_view_row *row);

#endif
