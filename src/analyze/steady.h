/* analyze/steady.h -- the mean of a series that has settled, and its standard error.
 *
 * MSER truncates the warm-up: the cut that leaves the smallest standard error of the mean.
 * Neighbouring windows are autocorrelated, so the standard error comes from a block bootstrap with
 * blocks as long as the autocorrelation lasts. The random numbers have a fixed seed: the same
 * values give the same result. */
#ifndef PT_ANALYZE_STEADY_H
#define PT_ANALYZE_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#define PT_STEADY_MIN 8 /* fewer values give no result */

struct pt_steady {
    double mean, standard_error;
    double degrees_of_freedom; /* of the standard error: number of blocks - 1 */
    size_t warmup_count;       /* truncated values */
    size_t count;              /* remaining values */
    size_t block_length;
};

/* Values without NAN. False: too few. */
bool pt_steady_find(const double *values, size_t count, struct pt_steady *steady);

/* Student's t distribution: the two-sided p-value, and the critical value of a 95 % confidence
 * interval. */
double pt_student_p_value(double t, double degrees_of_freedom);
double pt_student_critical_95(double degrees_of_freedom);

#endif
