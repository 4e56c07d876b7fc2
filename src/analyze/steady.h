/* analyze/steady.h -- the mean of a series that has settled, and how sure it is.
 *
 * The beginning is cut off where that makes the rest steadiest (MSER: the cut with the smallest
 * variance of the mean). Neighbouring windows resemble each other, so the error of the mean comes
 * from a bootstrap of whole blocks, as long as the resemblance lasts. The same values give the same
 * result: the random numbers have a fixed seed. */
#ifndef PT_ANALYZE_STEADY_H
#define PT_ANALYZE_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#define PT_STEADY_MIN 8 /* values below which nothing is said */

struct pt_steady {
    double mean, error; /* standard error of the mean */
    double freedom;     /* degrees of freedom of the error: blocks less one */
    size_t cut, count;  /* values cut off, and left */
    size_t block;       /* values of a block */
};

/* Values without NAN. False: too few. */
bool pt_steady_find(const double *values, size_t count, struct pt_steady *steady);

/* Two-sided probability of a |t| this large by chance, and the t of a 95 % interval. */
double pt_student_p(double t, double freedom);
double pt_student_95(double freedom);

#endif
