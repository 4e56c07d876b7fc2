/* top/canvas.h -- a screen of characters with styles, independent of a terminal.
 *
 * Text may come from other programs: control characters and bytes that are not UTF-8 become '?', so
 * that no escape sequence reaches the terminal. */
#ifndef PT_TOP_CANVAS_H
#define PT_TOP_CANVAS_H

#include "base/out.h"

#include <stdint.h>

enum pt_style {
    PT_STYLE_PLAIN,
    PT_STYLE_TITLE,
    PT_STYLE_LABEL,
    PT_STYLE_DIM,
    PT_STYLE_LOW, /* the used part of a bar */
    PT_STYLE_MIDDLE,
    PT_STYLE_HIGH,
    PT_STYLE_CURVE,
    PT_STYLE_HEADING,
    PT_STYLE_SORTED, /* heading of the sort column */
    PT_STYLE_SELECTED,
    PT_STYLE_OWN, /* a row of the recorded tree */
    PT_STYLE_KEY,
    PT_STYLE_EVENT,
    PT_STYLE_COUNT
};

struct pt_glyph {
    uint32_t code; /* Unicode; 0: the right half of a wide character */
    enum pt_style style;
};

/* {0} is an empty canvas. */
struct pt_canvas {
    struct pt_glyph *glyphs; /* row by row */
    size_t capacity;
    int rows, columns;
    bool is_utf8; /* else ASCII only */
};

/* Resizes and clears it. */
void pt_canvas_clear(struct pt_canvas *c, int rows, int columns);
void pt_canvas_release(struct pt_canvas *c);

/* Draws text, cut after `width` columns and at the edge. Returns the columns used. */
int pt_canvas_put(struct pt_canvas *c, int row, int column, int width, enum pt_style style,
                  struct pt_str text);
/* The same, right-aligned in `width` columns. */
void pt_canvas_put_right(struct pt_canvas *c, int row, int column, int width, enum pt_style style,
                         struct pt_str text);
int pt_canvas_printf(struct pt_canvas *c, int row, int column, enum pt_style style,
                     const char *format, ...) PT_PRINTF(5, 6);
/* Draws one trusted character; ignores positions outside the canvas. */
void pt_canvas_set(struct pt_canvas *c, int row, int column, enum pt_style style, uint32_t code);
/* Changes the style of `width` columns. */
void pt_canvas_style(struct pt_canvas *c, int row, int column, int width, enum pt_style style);

/* Prints the first `rows` rows as lines of text, without trailing blanks. */
void pt_canvas_print(const struct pt_canvas *c, int rows, struct pt_out *out);

#endif
