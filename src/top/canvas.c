#include "top/canvas.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

void pt_canvas_clear(struct pt_canvas *c, int rows, int columns) {
    size_t count = (size_t)rows * (size_t)columns;
    pt_grow(&c->glyphs, &c->capacity, count, sizeof *c->glyphs);
    c->rows = rows;
    c->columns = columns;
    for (size_t i = 0; i < count; i++)
        c->glyphs[i] = (struct pt_glyph){ ' ', PT_STYLE_PLAIN };
}

void pt_canvas_release(struct pt_canvas *c) {
    pt_free(c->glyphs);
    *c = (struct pt_canvas){ 0 };
}

static struct pt_glyph *glyph_at(const struct pt_canvas *c, int row, int column) {
    return &c->glyphs[(size_t)row * (size_t)c->columns + (size_t)column];
}

static bool is_inside(const struct pt_canvas *c, int row, int column) {
    return row >= 0 && row < c->rows && column >= 0 && column < c->columns;
}

void pt_canvas_set(struct pt_canvas *c, int row, int column, enum pt_style style, uint32_t code) {
    if (is_inside(c, row, column))
        *glyph_at(c, row, column) = (struct pt_glyph){ code, style };
}

void pt_canvas_style(struct pt_canvas *c, int row, int column, int width, enum pt_style style) {
    for (int i = 0; i < width; i++)
        if (is_inside(c, row, column + i))
            glyph_at(c, row, column + i)->style = style;
}

/* Reads one character; an invalid byte counts as one. */
static uint32_t next_code(struct pt_str *text) {
    const unsigned char *at = (const unsigned char *)text->at;
    size_t n = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (n > text->len || pt_utf8_valid_length((struct pt_str){ text->at, n }) != n) {
        *text = pt_str_skip(*text, 1);
        return '?';
    }
    uint32_t code = n == 1 ? at[0] : at[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (at[i] & 0x3fu);
    *text = pt_str_skip(*text, n);
    return code;
}

/* The character to show instead, and its width in columns. */
static int shown(const struct pt_canvas *c, uint32_t *code) {
    if (*code >= ' ' && *code < 0x7f)
        return 1;
    int width = c->is_utf8 && *code >= 0xa0 ? wcwidth((wchar_t)*code) : -1;
    if (width >= 0)
        return width;
    *code = '?';
    return 1;
}

int pt_canvas_put(struct pt_canvas *c, int row, int column, int width, enum pt_style style,
                  struct pt_str text) {
    int used = 0;
    while (text.len > 0) {
        uint32_t code = next_code(&text);
        int taken = shown(c, &code);
        if (used + taken > width || column + used + taken > c->columns)
            break;
        if (taken > 0)
            pt_canvas_set(c, row, column + used, style, code);
        if (taken > 1)
            pt_canvas_set(c, row, column + used + 1, style, 0);
        used += taken;
    }
    return used;
}

static int text_columns(const struct pt_canvas *c, struct pt_str text) {
    int columns = 0;
    while (text.len > 0) {
        uint32_t code = next_code(&text);
        columns += shown(c, &code);
    }
    return columns;
}

void pt_canvas_put_right(struct pt_canvas *c, int row, int column, int width, enum pt_style style,
                         struct pt_str text) {
    int columns = text_columns(c, text);
    int left = columns < width ? width - columns : 0;
    pt_canvas_put(c, row, column + left, width - left, style, text);
}

int pt_canvas_printf(struct pt_canvas *c, int row, int column, enum pt_style style,
                     const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return pt_canvas_put(c, row, column, c->columns, style, pt_str_from(text));
}

static void print_code(struct pt_out *out, uint32_t code) {
    if (code < 0x80) {
        pt_out_char(out, (char)code);
        return;
    }
    int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    pt_out_char(out, (char)(0xf00u >> n | code >> 6 * (n - 1)));
    for (int i = n - 2; i >= 0; i--)
        pt_out_char(out, (char)(0x80 | (code >> 6 * i & 0x3f)));
}

void pt_canvas_print(const struct pt_canvas *c, int rows, struct pt_out *out) {
    for (int row = 0; row < rows && row < c->rows; row++) {
        int end = c->columns;
        while (end > 0 && glyph_at(c, row, end - 1)->code == ' ')
            end--;
        for (int column = 0; column < end; column++)
            if (glyph_at(c, row, column)->code)
                print_code(out, glyph_at(c, row, column)->code);
        pt_out_char(out, '\n');
    }
}
