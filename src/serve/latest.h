/* serve/latest.h -- the latest rows of each table, their rates, and the figures.
 *
 * A tick does not fill every table: Pitot's own overhead comes every ten seconds, and expensive
 * collectors may be thinned. Rows stay for as long as their columns say (derive/rates.h). Tables of
 * events are left out. */
#ifndef PT_SERVE_LATEST_H
#define PT_SERVE_LATEST_H

#include "derive/figure.h"

struct pt_latest {
    struct pt_sample now; /* borrows its rows from `rates` */
    struct pt_rates rates;
    struct pt_figure_stream figures;
    uint64_t sample_count;
};

void pt_latest_init(struct pt_latest *l, const struct pt_schema *schema); /* borrows */
void pt_latest_release(struct pt_latest *l);
/* Copies; allocates only for the first samples. A sample with events only changes nothing. */
void pt_latest_update(struct pt_latest *l, const struct pt_sample *sample);

#endif
