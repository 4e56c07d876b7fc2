/* libpitot/leak_check.h -- does memory grow without end?
 *
 * Does not compare the first value with the last. The first third of the values is dropped: caches
 * fill and pools grow at the start. In the rest, at least PT_LEAK_VALUES, memory leaks if all of
 * these hold:
 *
 * - the slope of the least-squares line is above 3 of its standard errors, which are widened for
 *   the lag-1 autocorrelation r of the residuals, by sqrt((1 + r) / (1 - r));
 * - the minima of the four quarters rise from one to the next, each time by at least a tenth of the
 *   whole rise: one big step, noise and the sawtooth of a garbage collector do not;
 * - growth is not slowing down: from the third to the fourth quarter it is at least a third of that
 *   from the first to the second;
 * - the minima rise by at least 1 MB and 1 % of the mean. */
#ifndef PT_LIBPITOT_LEAK_CHECK_H
#define PT_LIBPITOT_LEAK_CHECK_H

#include <pitot/operation.h>

#define PT_LEAK_VALUES 12 /* after the first third is dropped */

struct pt_leak_result {
    enum pt_leak verdict;      /* unknown: too few values */
    double slope, slope_error; /* MB per unit of x, and its standard error; NAN if unknown */
};

/* `x` are steps or seconds, increasing. */
struct pt_leak_result pt_leak_test(const double *x, const double *mb, size_t count);

#endif
