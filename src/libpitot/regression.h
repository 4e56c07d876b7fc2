/* libpitot/regression.h -- steps of the program's loop that have become permanently slower. */
#ifndef PT_LIBPITOT_REGRESSION_H
#define PT_LIBPITOT_REGRESSION_H

#include <pitot/monitor.h>

#define PT_REGRESSION_NAMES 16 /* number of step names that are watched; later ones are not */

/* A step of that name is done. True: `found` is a new regression. */
bool pt_regression_step(const char *name, uint64_t number, int64_t now_ns, pt_regression *found);
/* The same as text, cut to fit. */
void pt_regression_describe(const pt_regression *regression, char *into, size_t capacity);
/* As pt_regressions(); the guard is held. Bit i of the result: name i has become slower. */
uint32_t pt_regression_list(pt_regression into[PT_REGRESSION_NAMES]);

#endif
