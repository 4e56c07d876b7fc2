/* analyze/change_point.h -- did a level change, and where: step times that rose for good.
 *
 * Pettitt's test on ranks finds the place where the values before and after differ most; outliers
 * and the shape of the noise do not matter to it. Neighbouring values that resemble each other say
 * less than they are: what is left of them after the change counts. Memory is fixed, and what is
 * looked at again and again is the newest stretch only.
 *
 * A look is an alarm if its p is below PT_SHIFT_P, and there is one look in PT_SHIFT_LOOK blocks;
 * tests/unit/change_point_test.c prints how often steady noise is taken for a change. */
#ifndef PT_ANALYZE_CHANGE_POINT_H
#define PT_ANALYZE_CHANGE_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_SHIFT_BLOCK  4   /* values of which the median is taken */
#define PT_SHIFT_BLOCKS 256 /* that are remembered */
#define PT_SHIFT_FIRST  24  /* blocks, before the first look */
#define PT_SHIFT_LOOK   8   /* blocks from look to look */
#define PT_SHIFT_AFTER  8   /* blocks that the new level must have */
#define PT_SHIFT_P      1e-5
#define PT_SHIFT_LEAST  0.03 /* smaller changes are not told */

struct pt_change_point {
    size_t at;            /* the first value of the new level */
    double p;             /* of no change at all */
    double before, after; /* medians */
};

/* `count` from 2 to PT_SHIFT_BLOCKS. */
struct pt_change_point pt_change_point_find(const double *values, size_t count);

/* Values one by one. {0} has seen none. */
struct pt_shift_watch {
    double block[PT_SHIFT_BLOCK];
    size_t block_fill;
    double medians[PT_SHIFT_BLOCKS];
    size_t count, since_look;
    uint64_t seen; /* values in all */
};

enum pt_shift { PT_SHIFT_NONE, PT_SHIFT_ROSE, PT_SHIFT_FELL };

/* Found: `change->at` is how many values ago the change was. What was before it is forgotten. */
enum pt_shift pt_shift_add(struct pt_shift_watch *w, double value, struct pt_change_point *change);

#endif
