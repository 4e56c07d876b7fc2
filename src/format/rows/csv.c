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
 * Command lines are other people's text, and a spreadsheet treats a cell that
 * starts with = + - or @ as a formula. The text is still written
 * unchanged: a prefix would change what programs read, and quotes do not help.
 * In a spreadsheet, import those columns as text. */
#include "format/rows/formats.h"

struct dialect {
    char separator;
    void (*write_text)(struct pt_out *out, struct pt_str text);
};

struct csv {
    const struct pt_view *view;
    struct pt_out *out;
    const struct dialect *dialect;
};

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
    if (is_text && !row->is_null[i])
        csv->dialect->write_text(out, row->strings[i]);
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
