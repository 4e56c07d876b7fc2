/* analyze/change_point.h -- finds a lasting change of a level, such as step times that rose.
 *
 * Pettitt's test on ranks finds the place where the values before and after differ most; it is
 * robust against outliers and the distribution of the noise. The p-value is corrected for the lag-1
 * autocorrelation of the values. Memory is fixed: only the newest blocks are tested.
 *
 * There is one test per PT_SHIFT_LOOK blocks, and a change is reported if its p-value is below
 * PT_SHIFT_P; tests/unit/change_point_test.c prints the rate of false positives. */
#ifndef PT_ANALYZE_CHANGE_POINT_H
#define PT_ANALYZE_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_SHIFT_BLOCK      4   /* values per median */
#define PT_SHIFT_BLOCKS     256 /* medians kept */
#define PT_SHIFT_FIRST      24  /* blocks before the first test */
#define PT_SHIFT_LOOK       8   /* blocks between tests */
#define PT_SHIFT_P          1e-5
#define PT_SHIFT_CHANGE_MIN 0.03 /* smaller changes are not reported */

struct pt_change_point {
    size_t at;            /* the first value of the new level */
    double p;             /* p-value of no change */
    double before, after; /* medians */
};

/* `count` from 2 to PT_SHIFT_BLOCKS. */
struct pt_change_point pt_change_point_find(const double *values, size_t count);

/* Takes values one by one. {0} is empty. */
struct pt_shift_watch {
    double block[PT_SHIFT_BLOCK];
    size_t block_fill;
    double medians[PT_SHIFT_BLOCKS];
    size_t count, since_look;
    uint64_t seen; /* values in total */
};

enum pt_shift { PT_SHIFT_NONE, PT_SHIFT_ROSE, PT_SHIFT_FELL };

/* If a change is found, `change->at` is how many values ago it was; older values are dropped. */
enum pt_shift pt_shift_add(struct pt_shift_watch *w, double value, struct pt_change_point *change);

#endif
