/* model/table.h -- what is recorded: one table per kind of entity, declared once.
 *
 * A row is one entity (the host's CPUs together, one disk, one container) at one instant. A column
 * is one line of one list in the collector's own file, and every output (JSON, CSV, Parquet,
 * Prometheus names, docs) is computed from it:
 *
 *     #define LOAD_COLUMNS(X, t)                                                \
 *         X(t, one, "vLoadAvg", GAUGE, F64, RATIO, 0, "1-minute load average")
 *     PT_TABLE(load, PT_TABLE_MAIN("cpu"), "Load of the machine", LOAD_COLUMNS, "/proc/loadavg");
 *
 * gives the constants load_one and load_column_count, and `load_table`.
 *
 * Every changing value has the time of its own read. Values read from one file at one moment share
 * it, so a row keeps a time for each *source* of its table and a column names its source by index
 * into the table's list. */
#ifndef PT_MODEL_TABLE_H
#define PT_MODEL_TABLE_H

#include "base/attr.h"
#include "model/unit.h"

#include <stdbool.h>
#include <stdint.h>

enum pt_type { PT_I64, PT_F64, PT_STRING };

enum pt_kind {
    PT_KEY,     /* identifies the entity of the row */
    PT_INFO,    /* describes the entity; rarely changes and has no time of its own */
    PT_GAUGE,   /* a value that goes up and down */
    PT_COUNTER, /* a value that only grows (until a reset) */
};

struct pt_column {
    const char *name;       /* the name in files: vCpuTime */
    const char *short_name; /* for Prometheus and pages: time */
    enum pt_kind kind;
    enum pt_type type;
    enum pt_unit unit;
    uint8_t source;
    const char *help;
};

/* What a row of a table is about. */
enum pt_rows {
    PT_ROWS_THINGS,    /* entities of the machine: few and lasting */
    PT_ROWS_PROCESSES, /* processes: many and short-lived */
    PT_ROWS_METRICS,   /* metrics with names and labels of their own */
    PT_ROWS_SERIES,    /* metrics that another program already exports */
    PT_ROWS_EVENTS,    /* events, recorded once */
};

struct pt_table {
    const char *name; /* cpu; also the Prometheus subsystem */
    const char
        *file; /* "" for the main file with one row per sample, else its suffix: containers */
    const char *section; /* key in the JSON snapshot, or NULL: not in it */
    const char *help;
    const struct pt_column *columns;
    const char *const *sources;
    uint16_t column_count, source_count;
    enum pt_rows rows;
    bool is_untimed; /* values are written without a time of their own */
};

/* Where the rows go. */
#define PT_TABLE_MAIN(section_)        .file = "", .section = section_
#define PT_TABLE_FILE(file_, section_) .file = file_, .section = section_
/* The same for the other kinds of rows; `what` is PROCESSES, METRICS, ... */
#define PT_TABLE_ROWS(what, file_, section_) PT_TABLE_FILE(file_, section_), .rows = PT_ROWS_##what

#define PT_TABLE(table, placement, help_, COLUMNS, ...)                                     \
    enum { COLUMNS(PT_TABLE_ENUM_, table) table##_column_count };                           \
    static const struct pt_column table##_columns[] = { COLUMNS(PT_TABLE_COLUMN_, table) }; \
    static const char *const table##_sources[] = { __VA_ARGS__ };                           \
    static const struct pt_table table##_table = { .name = #table,                          \
                                                   placement,                               \
                                                   .help = help_,                           \
                                                   .columns = table##_columns,              \
                                                   .sources = table##_sources,              \
                                                   .column_count = table##_column_count,    \
                                                   .source_count = PT_COUNT(table##_sources) }
#define PT_TABLE_ENUM_(table, short_name, ...) table##_##short_name,
#define PT_TABLE_COLUMN_(table, short_name, name, kind, type, unit, source, help) \
    { name, #short_name, PT_##kind, PT_##type, PT_##unit, source, help },

/* True if the column has a time of its own (vCpuTimeT). */
static inline bool pt_column_is_timed(const struct pt_table *t, const struct pt_column *c) {
    return !t->is_untimed && (c->kind == PT_GAUGE || c->kind == PT_COUNTER);
}

/* True if it can be drawn: a number that changes. */
static inline bool pt_column_is_drawn(const struct pt_column *c) {
    return c->type != PT_STRING && (c->kind == PT_GAUGE || c->kind == PT_COUNTER);
}

const char *pt_type_name(enum pt_type type); /* int64, float64, string */
const char *pt_kind_name(enum pt_kind kind);
const char *pt_rows_name(enum pt_rows rows); /* things, processes, ... */

/* Index of the column of that name, or -1. */
int pt_table_find(const struct pt_table *t, const char *column);

#endif
