/* analyze/window.h -- a run as time windows shared by all its tables.
 *
 * Every figure (derive/figure.h), and every number that the caller wants (a column of a key of a
 * table), becomes a series with one value per window: the mean of a gauge over time, or the growth
 * of a counter per second by the times of its reads (derive/rates.h). A window is at least
 * PT_WINDOW_SHORTEST_NS long; when there are too many, neighbours are merged, so that a week needs
 * no more memory than a minute. A long time without samples is a gap: no window, and no rate across
 * it. Of tables that mark the rows of the recorded command, only those rows are kept. NAN is
 * unknown. */
#ifndef PT_ANALYZE_WINDOW_H
#define PT_ANALYZE_WINDOW_H

#include "derive/figure.h"
#include "store/journal.h"

#define PT_WINDOW_MAX          1024
#define PT_WINDOW_SHORTEST_NS  INT64_C(200000000)
#define PT_WINDOW_ENTITIES_MAX 1024
#define PT_WINDOW_SERIES_MAX   4096

/* Of one window: the value is sum / weight. */
struct pt_window_point {
    double sum, weight;
};

struct pt_window_series {
    int column;                     /* of the table */
    struct pt_window_point *points; /* `point_count`; later windows have none */
    size_t point_count, point_capacity;
    struct pt_rate rate;
};

/* A process, device, ...: the rows of a table with the same key. */
struct pt_entity {
    int table;                       /* of the schema */
    char *key;                       /* key columns joined by a slash; "" without key columns */
    char name[16];                   /* its first text column; for processes their name */
    struct pt_window_series *series; /* `series_counts[table]` */
};

struct pt_window {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct pt_windows {
    const struct pt_schema *schema;
    int **wanted;       /* per table: the columns kept */
    int *names;         /* per table: its first text column of kind PT_INFO, or -1 */
    int *series_counts; /* per table: number of columns kept */

    struct pt_entity *entities;
    size_t entity_count, entity_capacity, series_count;
    uint64_t dropped_count; /* rows of entities above the limits */

    struct pt_window windows[PT_WINDOW_MAX];
    size_t count;
    int64_t width_ns, interval_ns; /* interval: to the previous sample; 0: there is none */
    struct pt_gaps gaps;
    struct pt_figure_stream figures;
    struct pt_window_series figure_points[PT_FIGURE_COUNT]; /* `column` is unused */
    struct pt_classic_histogram latencies[PT_LATENCY_COUNT][PT_WINDOW_MAX];
    int64_t first_mono_ns, first_wall_ns, last_mono_ns;
    bool has_first;
    uint64_t gap_count;
    double gap_seconds;
};

/* Borrows the schema; `wants` selects numeric columns. Figures are always kept. */
void pt_windows_init(struct pt_windows *w, const struct pt_schema *schema,
                     pt_wants_function *wants);
void pt_windows_release(struct pt_windows *w);
void pt_windows_add(struct pt_windows *w, const struct pt_sample *sample);
/* Adds all samples of a journal. 0 or -errno. */
int pt_windows_read(struct pt_windows *w, struct pt_journal_reader *reader) PT_MUST_CHECK;

/* The next entity of that table after `*place`, which starts at 0; NULL after the last. */
const struct pt_entity *pt_windows_next(const struct pt_windows *w, int table, size_t *place);
/* The series of that column, or NULL. */
const struct pt_window_series *pt_windows_series(const struct pt_windows *w,
                                                 const struct pt_entity *e, const char *column);

static inline double pt_window_seconds(const struct pt_window *window) {
    return (double)(window->end_ns - window->start_ns) / 1e9;
}

/* Value of a figure in the windows from `from` to before `to`, or NAN. */
double pt_windows_figure(const struct pt_windows *w, enum pt_figure_id id, size_t from, size_t to);
/* Value in a window, or NAN. */
double pt_series_at(const struct pt_window_series *s, size_t window);

#endif
