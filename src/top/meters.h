/* top/meters.h -- the upper part of the screen: main figures as bars, numbers and curves. */
#ifndef PT_TOP_METERS_H
#define PT_TOP_METERS_H

#include "top/top_model.h"

/* Draws known figures into at most `rows_max` rows from `row` on; returns the rows used. */
int pt_meters_draw(const struct pt_top_model *m, struct pt_canvas *c, int row, int rows_max,
                   bool with_cores);

#endif
