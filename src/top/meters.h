/* top/meters.h -- the upper part of the screen: the main figures as bars, numbers and curves. */
#ifndef PT_TOP_METERS_H
#define PT_TOP_METERS_H

#include "top/top_model.h"

/* Draws what is known into at most `rows_most` rows from `row` on; returns how many it took. */
int pt_meters_draw(const struct pt_top_model *m, struct pt_canvas *c, int row, int rows_most,
                   bool with_cores);

#endif
