/* top/trail.h -- the last values of a number, drawn as a curve of one character per value. */
#ifndef PT_TOP_TRAIL_H
#define PT_TOP_TRAIL_H

#include "top/canvas.h"

#define PT_TRAIL_POINTS 256

/* {0} is empty. */
struct pt_trail {
    double points[PT_TRAIL_POINTS]; /* a ring */
    uint64_t added_count;
    uint64_t known_at; /* added_count after the last known value; 0: none yet */
};

void pt_trail_add(struct pt_trail *c, double value); /* NAN: unknown */
/* The value `age` places before the newest; NAN if there is none. */
double pt_trail_at(const struct pt_trail *c, unsigned age);

/* Is one of the kept values known? */
static inline bool pt_trail_is_known(const struct pt_trail *c) {
    return c->known_at > 0 && c->added_count - c->known_at < PT_TRAIL_POINTS;
}

/* The newest at the right. `full`: the value of the highest mark; 0: the largest drawn value. */
void pt_trail_draw(const struct pt_trail *c, struct pt_canvas *canvas, int row, int column,
                   int width, double full);

/* The mark for a fraction from 0 to 1. */
uint32_t pt_trail_mark(const struct pt_canvas *canvas, double share);

#endif
