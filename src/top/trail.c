#include "top/trail.h"

#include <math.h>

void pt_trail_add(struct pt_trail *c, double value) {
    c->points[c->added_count++ % PT_TRAIL_POINTS] = value;
    if (!isnan(value))
        c->known_at = c->added_count;
}

double pt_trail_at(const struct pt_trail *c, unsigned age) {
    if (age >= PT_TRAIL_POINTS || age >= c->added_count)
        return NAN;
    return c->points[(c->added_count - 1 - age) % PT_TRAIL_POINTS];
}

uint32_t pt_trail_mark(const struct pt_canvas *canvas, double share) {
    static const char ascii[] = "_.:-=+*#";
    int level = isnan(share) || share < 0 ? 0 : (int)fmin(7, share * 7.999);
    return canvas->is_utf8 ? 0x2581u + (uint32_t)level : (uint32_t)ascii[level]; /* ▁ to █ */
}

void pt_trail_draw(const struct pt_trail *c, struct pt_canvas *canvas, int row, int column,
                   int width, double full) {
    if (full <= 0) {
        full = 0;
        for (int i = 0; i < width; i++)
            full = fmax(full, pt_trail_at(c, (unsigned)i)); /* skips NAN */
    }
    for (int i = 0; i < width; i++) {
        double value = pt_trail_at(c, (unsigned)i);
        if (!isnan(value))
            pt_canvas_set(canvas, row, column + width - 1 - i, PT_STYLE_CURVE,
                          pt_trail_mark(canvas, full > 0 ? value / full : 0));
    }
}
