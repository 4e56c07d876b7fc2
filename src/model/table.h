/* model/table.h -- what is recorded: one table per kind of entity, declared once.
 *
 * A row is one entity (the host's CPUs together, one disk, one container) at one instant. A column
 * is one line of one list in the collector's own file, and every output (JSON, CSV, Parquet,
 * Prometheus names, docs, charts, comparisons) is computed from it:
 *
 *     #define LOAD_COLUMNS(X, t)                                                \
 *         X(t, one, "vLoadAvg", GAUGE, F64, RATIO, 0, "1-minute load average",  \
 *           .title = "Load", .better = PT_LOWER_IS_BETTER)
 *     PT_TABLE(load, PT_TABLE_MAIN("cpu"), "Load of the machine", LOAD_COLUMNS, "/proc/loadavg");
 *
 * gives the constants load_one and load_column_count, and `load_table`. After the help a line may
 * say what the column means (struct pt_meaning); what it leaves out follows from kind and unit.
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

enum pt_type { PT_I64, PT_F64, PT_STRING } PT_SMALL;

enum pt_kind {
    PT_KEY,     /* identifies the entity of the row */
    PT_INFO,    /* describes the entity; rarely changes and has no time of its own */
    PT_GAUGE,   /* a value that goes up and down */
    PT_COUNTER, /* a value that only grows (until a reset) */
} PT_SMALL;

/* How a value is shown. Values of figures and rates of counters are in base units: bytes, seconds,
 * shares from 0 to 1. X(constant, name, base unit, is it a rate) */
#define PT_FORMS(X)                                   \
    X(DEFAULT, "", "", false)                         \
    X(NUMBER, "number", "", false)                    \
    X(PER_S, "per second", "", true)                  \
    X(SHARE, "share", "ratio", false)                 \
    X(CORES, "cores", "cores", false)                 \
    X(BYTES, "bytes", "bytes", false)                 \
    X(BYTES_PER_S, "bytes per second", "bytes", true) \
    X(SECONDS, "seconds", "seconds", false)           \
    X(HERTZ, "hertz", "hertz", false)                 \
    X(CELSIUS, "celsius", "celsius", false)           \
    X(WATTS, "watts", "watts", false)                 \
    X(JOULES, "joules", "joules", false)              \
    X(GRAMS, "grams", "grams", false)                 \
    X(MONEY, "money", "money", false)

#define PT_FORM_ENUM_(constant, ...) PT_FORM_##constant,
enum pt_form { PT_FORMS(PT_FORM_ENUM_) PT_FORM_COUNT } PT_SMALL;

struct pt_form_info {
    const char *name, *base;
    bool is_rate;
};

extern const struct pt_form_info pt_forms[PT_FORM_COUNT];

/* That of the sum over time: bytes of bytes per second, joules of watts. */
enum pt_form pt_form_amount(enum pt_form form);

enum pt_direction { PT_NO_DIRECTION, PT_LOWER_IS_BETTER, PT_HIGHER_IS_BETTER } PT_SMALL;

/* Whom a column is for: everybody, those who look closer, or programs. */
enum pt_importance { PT_DETAIL, PT_HEADLINE, PT_RAW } PT_SMALL;

/* How the rows of a table make one number. */
enum pt_combine {
    PT_COMBINE_DEFAULT,
    PT_COMBINE_SUM,
    PT_COMBINE_MEAN,
    PT_COMBINE_MAX,
    PT_COMBINE_WORST, /* the largest if lower is better, else the smallest */
    PT_COMBINE_NONE,
} PT_SMALL;

/* What a column says about its row. */
enum pt_role {
    PT_ROLE_NONE,
    PT_ROLE_RECORDED, /* 1: the row belongs to the recorded command */
    PT_ROLE_NAME,     /* how people call the row */
    PT_ROLE_COMMAND,  /* the name in full, where there is one: a command line */
    PT_ROLE_PARENT,   /* the key of the row above it in a tree */
    PT_ROLE_START,    /* when it began: a part of the key that nobody reads */
    PT_ROLE_DURATION, /* how long it took */
    PT_ROLE_PROCESS,  /* the process that it is, or that did it */
    PT_ROLE_GPU,      /* the GPU that did it */
    PT_ROLE_THREAD,   /* the thread of the process, or the stream of the GPU */
    PT_ROLE_COUNT
} PT_SMALL;

struct pt_column {
    const char *name;       /* the name in files: vCpuTime */
    const char *short_name; /* for Prometheus: time */
    enum pt_kind kind;
    enum pt_type type;
    enum pt_unit unit;
    uint8_t source;
    const char *help;

    /* The meaning. 0 and NULL stand for the default, which the functions below return. */
    const char *title;   /* for people: "CPU busy" */
    const char *heading; /* the same for a narrow column of a list: "CPU" */
    const char *family;  /* columns of a table with the same family share one chart of that title */
    const char *parts;   /* the family whose sum it is, to be used where it is unknown */
    const char *limit;   /* the column of the same table that is 100 % of this one */
    double full;         /* the constant that is 100 %, in the base unit */
    const char *words;   /* further words to find it by */
    const char *otel;    /* its name in OpenTelemetry (push/otel_names.h), if there is one */
    /* Of a percentile: the table with the buckets of its histograms and, if a row has several, the
     * name of this one: "engine_histogram ttft" (derive/percentiles.h). */
    const char *histogram;
    enum pt_form form;
    enum pt_direction better;
    enum pt_importance importance;
    enum pt_combine combine;
    enum pt_role role;
    bool is_stacked;    /* the parts of its family add up */
    uint8_t percentile; /* 50, 99: which one it is; 0: none */
    uint16_t lasts_s;   /* seconds after which a value is stale */
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
    const char *whole;   /* the table that has the totals of these rows, or NULL */
    bool has_fixed_rows; /* every run has the same rows: resources, devices by number */
    bool is_own;         /* about Pitot itself */
    bool is_untimed;     /* values are written without a time of their own */
};

/* Where the rows go. */
#define PT_TABLE_MAIN(section_)        .file = "", .section = section_
#define PT_TABLE_FILE(file_, section_) .file = file_, .section = section_
/* Rows whose totals are in the table `whole_`. */
#define PT_TABLE_PARTS(whole_, file_, section_) PT_TABLE_FILE(file_, section_), .whole = whole_
/* The same rows in every run. */
#define PT_TABLE_FIXED(file_, section_) PT_TABLE_FILE(file_, section_), .has_fixed_rows = true
/* Rows about Pitot itself. */
#define PT_TABLE_OWN(file_) PT_TABLE_FILE(file_, NULL), .is_own = true
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
/* The help is positional, the rest of the meaning designated. */
#define PT_TABLE_COLUMN_(table, short_name, name, kind, type, unit, source, ...) \
    { name, #short_name, PT_##kind, PT_##type, PT_##unit, source, __VA_ARGS__ },

/* True if the column has a time of its own (vCpuTimeT). */
static inline bool pt_column_is_timed(const struct pt_table *t, const struct pt_column *c) {
    return !t->is_untimed && (c->kind == PT_GAUGE || c->kind == PT_COUNTER);
}

/* True if it can be drawn: a number that changes. */
static inline bool pt_column_is_drawn(const struct pt_column *c) {
    return c->type != PT_STRING && (c->kind == PT_GAUGE || c->kind == PT_COUNTER);
}

/* The meaning of a column, with its defaults. */
#define PT_TITLE_BYTES 96
const char *pt_column_title(const struct pt_column *c, char into[PT_TITLE_BYTES]);
enum pt_form pt_column_form(const struct pt_column *c); /* of a counter: of its rate */
enum pt_combine pt_column_combine(const struct pt_column *c);
/* The constant that is 100 %, in the base unit; NAN if there is none or a column is the limit. */
double pt_column_full(const struct pt_column *c);
/* How long a value that was read once stays true if samples are `interval_ns` apart. */
int64_t pt_column_lasts_ns(const struct pt_column *c, int64_t interval_ns);

const char *pt_direction_name(enum pt_direction better);       /* lower, higher, neither */
const char *pt_importance_name(enum pt_importance importance); /* headline, detail, raw */
const char *pt_combine_name(enum pt_combine combine);          /* sum, mean, max, worst, none */
const char *pt_role_name(enum pt_role role);                   /* recorded, name, ...; NULL: none */

const char *pt_type_name(enum pt_type type); /* int64, float64, string */
const char *pt_kind_name(enum pt_kind kind);
const char *pt_rows_name(enum pt_rows rows); /* things, processes, ... */

/* The column with that role, or -1. */
int pt_table_find_role(const struct pt_table *t, enum pt_role role);
/* Index of the column of that name, or -1. */
int pt_table_find(const struct pt_table *t, const char *column);
/* Have rows of both the same layout? */
bool pt_table_is_same(const struct pt_table *a, const struct pt_table *b);

#endif
