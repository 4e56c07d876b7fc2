/* analyze/signal.h -- the figures of a run in its windows: the inputs of verdicts.
 *
 * NAN is unknown. */
#ifndef PT_ANALYZE_SIGNAL_H
#define PT_ANALYZE_SIGNAL_H

#include "analyze/window.h"

struct pt_signals {
    const struct pt_windows *windows; /* borrowed */
    size_t count;                     /* of windows */
    double *values[PT_FIGURE_COUNT];  /* `count` each, in base units */
    double seconds;                   /* sum over all windows */
};

/* Columns that signals need besides figures. For pt_windows_init(). */
bool pt_signal_wants(const struct pt_table *table, const struct pt_column *column);
/* `link_bytes_per_s`: speed of the fastest interface, NAN if unknown. */
void pt_signals_make(struct pt_signals *s, const struct pt_windows *w, double link_bytes_per_s);
void pt_signals_release(struct pt_signals *s);

/* The option needed to record it ("-p"), or NULL. */
const char *pt_signal_option(enum pt_figure_id id);
bool pt_signal_is_known(const struct pt_signals *s, enum pt_figure_id id); /* in any window */
/* Mean over the windows from `from` to before `to`; it must be known in all of them. */
double pt_signal_mean(const struct pt_signals *s, enum pt_figure_id id, size_t from, size_t to);

#endif
