/* format/rows/csv.c -- CSV and TSV.
 *
 *     timestamp,monotonic_ns,cId,cMemoryUsed,cMemoryUsedT
 *     1703462400000,81234567890,"a,b",1048576,1703462400003
 *
 * CSV is RFC 4180 with LF line ends: cells are quoted when they hold a comma,
 * quote or line end, and quotes inside are doubled. A null is an empty cell, an
 * empty string is "". TSV has no quotes: tab, newline, carriage return and
 * backslash are written \t \n \r \\, and null and empty string look the same.
 * Both are UTF-8; bytes that are not become U+FFFD, as in every other format.
 * Times are Unix milliseconds.
 *
 * Command lines are other people's text; a spreadsheet treats a cell that starts with = + - or @ as
 * a formula, and a terminal obeys escapes. A text that starts with one of = + - @ ' TAB, or holds a
 * control character besides TAB and LF, is written with ' in front; in such a cell backslashes are
 * doubled and those control characters are written \x1b. A reader that finds ' in front removes it
 * and undoes \xHH and \\ (docs/COMPATIBILITY.md). Numbers stay numbers. */
#include "format/rows/formats.h"

#include "base/buf.h"

#include <stdio.h>

struct dialect {
    char separator;
    void (*write_text)(struct pt_out *out, struct pt_str text);
};

struct csv {
    const struct pt_view *view;
    struct pt_out *out;
    const struct dialect *dialect;
};

/* A control character besides TAB and LF at `at`: its code, or 0. C1 takes two bytes. */
static unsigned control_at(struct pt_str text, size_t at) {
    unsigned char c = (unsigned char)text.at[at];
    if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
        return c ? c : 0x100;
    bool is_c1 = c == 0xc2 && at + 1 < text.len && (unsigned char)text.at[at + 1] >= 0x80 &&
                 (unsigned char)text.at[at + 1] < 0xa0;
    return is_c1 ? (unsigned char)text.at[at + 1] : 0;
}

static bool is_dangerous(struct pt_str text) {
    if (text.len > 0 && text.at[0] && strchr("=+-@'\t", text.at[0]))
        return true;
    for (size_t i = 0; i < text.len; i++)
        if (control_at(text, i))
            return true;
    return false;
}

/* The text of a cell that nobody obeys; `into` holds it if it had to change. */
static struct pt_str neutral(struct pt_str text, struct pt_buf *into) {
    if (!is_dangerous(text))
        return text;
    pt_buf_u8(into, '\'');
    for (size_t i = 0; i < text.len; i++) {
        unsigned control = control_at(text, i) & 0xff;
        char hex[8];
        if (control_at(text, i))
            pt_buf_bytes(into, hex, (size_t)snprintf(hex, sizeof hex, "\\x%02x", control));
        else if (text.at[i] == '\\')
            pt_buf_str(into, PT_STR("\\\\"));
        else
            pt_buf_u8(into, (uint8_t)text.at[i]);
        i += control >= 0x80; /* the second byte of a C1 character */
    }
    return pt_buf_as_str(into);
}

static bool needs_quotes(struct pt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == ',' || text.at[i] == '"' || text.at[i] == '\n' || text.at[i] == '\r')
            return true;
    return text.len == 0;
}

static void write_quotable(struct pt_out *out, struct pt_str text) {
    if (!needs_quotes(text)) {
        pt_out_utf8(out, text);
        return;
    }
    pt_out_char(out, '"');
    const char *quote;
    while (text.len > 0 && (quote = memchr(text.at, '"', text.len))) {
        size_t through = (size_t)(quote - text.at) + 1;
        pt_out_utf8(out, (struct pt_str){ text.at, through });
        pt_out_char(out, '"');
        text = pt_str_skip(text, through);
    }
    pt_out_utf8(out, text);
    pt_out_char(out, '"');
}

static char escape_letter(char c) {
    return (char)(c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\\' ? '\\' : 0);
}

static void write_escaped(struct pt_out *out, struct pt_str text) {
    for (;;) {
        size_t plain = 0;
        while (plain < text.len && !escape_letter(text.at[plain]))
            plain++;
        pt_out_utf8(out, (struct pt_str){ text.at, plain });
        if (plain == text.len)
            return;
        pt_out_char(out, '\\');
        pt_out_char(out, escape_letter(text.at[plain]));
        text = pt_str_skip(text, plain + 1);
    }
}

static void write_header(const struct csv *csv) {
    for (uint32_t i = 0; i < csv->view->column_count; i++) {
        if (i > 0)
            pt_out_char(csv->out, csv->dialect->separator);
        csv->dialect->write_text(csv->out, pt_str_from(csv->view->columns[i].name));
    }
    pt_out_char(csv->out, '\n');
}

static int begin_csv(void *state, const struct pt_view *view, struct pt_out *out) {
    static const struct dialect comma = { ',', write_quotable };
    struct csv *csv = state;
    *csv = (struct csv){ view, out, &comma };
    write_header(csv);
    return 0;
}

static int begin_tsv(void *state, const struct pt_view *view, struct pt_out *out) {
    static const struct dialect tab = { '\t', write_escaped };
    struct csv *csv = state;
    *csv = (struct csv){ view, out, &tab };
    write_header(csv);
    return 0;
}

/* A cell and the separator or line end after it. */
static inline void write_cell(const struct csv *csv, const struct pt_view_row *row, uint32_t i,
                              char behind) {
    const struct pt_view_column *column = &csv->view->columns[i];
    struct pt_out *out = csv->out;
    bool is_text = column->type == PT_STRING;
    if (is_text && !row->is_null[i]) {
        struct pt_buf changed = { 0 };
        csv->dialect->write_text(out, neutral(row->strings[i], &changed));
        pt_buf_release(&changed);
    }
    char *at = pt_out_reserve(out, PT_DIGITS_MAX + 1);
    size_t n = is_text || row->is_null[i] ? 0 : pt_cell_digits(at, column, row->cells[i]);
    at[n] = behind;
    out->used += n + 1;
}

static void write_row(void *state, const struct pt_view_row *row) {
    const struct csv *csv = state;
    uint32_t last = csv->view->column_count - 1;
    char separator = csv->dialect->separator;
    for (uint32_t i = 0; i < last; i++)
        write_cell(csv, row, i, separator);
    write_cell(csv, row, last, '\n');
}

static void end(void *state) {
    (void)state;
}

static const struct pt_table_format csv_format = { sizeof(struct csv), begin_csv, write_row, end };
static const struct pt_table_format tsv_format = { sizeof(struct csv), begin_tsv, write_row, end };

const struct pt_sink_type pt_csv_sink = {
    .name = "csv",
    .help = "comma-separated values (RFC 4180), times in Unix ms",
    .format = &csv_format,
};

const struct pt_sink_type pt_tsv_sink = {
    .name = "tsv",
    .help = "tab-separated values, escapes \\t \\n \\r \\\\",
    .format = &tsv_format,
};
