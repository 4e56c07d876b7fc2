/* Writes Parquet files of nasty data for tests/interop/check.mjs, each with the same rows
 * as JSON lines made by code of its own:
 *
 *     {"columns":[["timestamp","time"],["iCounter","int"],...]}
 *     ["1750000000000000001","-3",0.5,"text",null]
 *
 * Integers are quoted because JavaScript would round them; times are Unix nanoseconds. */
#include "base/mem.h"
#include "format/rows/parquet.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COLUMNS(X, t)                                                                      \
    X(t, label, "kLabel", KEY, STRING, NONE, 0, "few different texts, some of them odd")   \
    X(t, unique, "kUnique", INFO, STRING, NONE, 0, "a different text in every row")        \
    X(t, long_text, "kLong", INFO, STRING, NONE, 0, "70 KB now and then, else null")       \
    X(t, no_text, "kNone", INFO, STRING, NONE, 0, "always null")                           \
    X(t, counter, "iCounter", COUNTER, I64, BYTES, 0, "grows by varied steps")             \
    X(t, extremes, "iExtremes", GAUGE, I64, COUNT, 1, "jumps between the extremes")        \
    X(t, random, "iRandom", INFO, I64, NONE, 0, "all 64 bits random")                      \
    X(t, holes, "iHoles", INFO, I64, NONE, 0, "null around the ends of pages")             \
    X(t, no_int, "iNone", INFO, I64, NONE, 0, "always null")                               \
    X(t, constant, "iConstant", INFO, I64, MEBIBYTES, 0, "always the same")                \
    X(t, turns, "iTurns", INFO, I64, NONE, 0, "of things that take turns")                 \
    X(t, times, "iTimes", INFO, I64, NONE, 0, "of things read one after the other")        \
    X(t, decimal, "dDecimal", GAUGE, F64, PERCENT, 1, "three decimals, some null")         \
    X(t, any, "dAny", INFO, F64, RATIO, 0, "any finite bits: denormals, extremes, -0.0")   \
    X(t, few, "dFew", INFO, F64, NONE, 0, "few values that are not decimals")              \
    X(t, turning, "dTurning", INFO, F64, NONE, 0, "decimals at first, later not")          \
    X(t, wide, "dWide", INFO, F64, NONE, 0, "decimals too far apart for a table")          \
    X(t, late, "dLate", INFO, F64, NONE, 0, "null for many pages, then random, then null") \
    X(t, staying, "dStaying", INFO, F64, NONE, 0, "any finite bits that stay a while")     \
    X(t, no_double, "dNone", INFO, F64, NONE, 0, "always null")                            \
    X(t, zero, "dZero", INFO, F64, NONE, 0, "zeros of both signs")
PT_TABLE(nasty, PT_TABLE_MAIN("nasty"), "nasty data", COLUMNS, "one", "two");

static const struct pt_table *const tables[] = { &nasty_table };
static const struct pt_schema schema = { tables, 1 };

#define LONG_TEXT 70000

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double finite_from(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 5e-324;
}

struct maker {
    uint64_t random;
    uint32_t row;
    int64_t counter;
    int64_t turns[30];
    double staying;
    char unique[64];
    char *long_text;
};

/* A value of the row, or false for null. `column` is one of nasty_*. */
static bool make_integer(struct maker *m, int column, int64_t *value) {
    static const int64_t extremes[] = { INT64_MIN, INT64_MAX, 0, -1, INT64_MAX, INT64_MIN, 1 };
    uint32_t in_page = m->row % 16384;
    switch (column) {
    case nasty_counter:
        *value = m->counter += (int64_t)(next_random(&m->random) >> (40 + m->row % 24));
        return m->row % 97 != 5;
    case nasty_extremes:
        *value = extremes[m->row % PT_COUNT(extremes)];
        return true;
    case nasty_random:
        *value = (int64_t)next_random(&m->random);
        return next_random(&m->random) % 3 > 0;
    case nasty_holes:
        *value = m->row;
        return in_page > 3 && in_page < 16380 && m->row % 50000 > 40000;
    case nasty_constant:
        *value = 32768;
        return true;
    case nasty_turns:
        if (next_random(&m->random) % 10 == 0)
            m->turns[m->row % PT_COUNT(m->turns)] = (int64_t)next_random(&m->random);
        *value = m->turns[m->row % PT_COUNT(m->turns)];
        return m->row % 31 != 4;
    case nasty_times:
        *value = m->row / 30 * 10000 + m->row % 30 * 20 + next_random(&m->random) % 4;
        return true;
    default:
        return false;
    }
}

static bool make_double(struct maker *m, int column, double *value) {
    static const double few[] = { 1.0 / 3, 2.0 / 3, 0.1234567, -1e300 };
    uint64_t random = next_random(&m->random);
    switch (column) {
    case nasty_decimal:
        *value = (double)(random % 100001) / 1000 - 20;
        return random % 7 > 0;
    case nasty_any:
        *value = finite_from(random);
        return true;
    case nasty_few:
        *value = few[random % PT_COUNT(few)];
        return true;
    case nasty_turning:
        *value = m->row < 100000 ? (double)(random % 1000) / 100 : sqrt((double)(random % 5000));
        return true;
    case nasty_wide:
        *value = (double)((int64_t)(random % 8) - 4) * 100000.125;
        return true;
    case nasty_late:
        *value = finite_from(random);
        return m->row > 70000 && m->row < 90000;
    case nasty_staying:
        if (random % 3 == 0)
            m->staying = finite_from(random);
        *value = m->staying;
        return true;
    case nasty_zero:
        *value = m->row % 2 ? -0.0 : 0.0;
        return true;
    default:
        return false;
    }
}

static bool make_string(struct maker *m, int column, struct pt_str *value) {
    static const char *const labels[] = {
        "",
        "plain",
        "with \"quotes\" and 'more'",
        "line\nbreak\r\n",
        "comma,semicolon;tab\t",
        "\xc3\xbcml\xc3\xa4ut \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x80",
        "\\back\\slash",
        "\x01\x7f",
    };
    switch (column) {
    case nasty_label:
        *value = pt_str_from(labels[next_random(&m->random) % PT_COUNT(labels)]);
        return m->row % 11 != 3;
    case nasty_unique:
        snprintf(m->unique, sizeof m->unique, "row %u of %016" PRIx64, m->row,
                 next_random(&m->random));
        *value = pt_str_from(m->unique);
        return true;
    case nasty_long_text:
        memset(m->long_text, 'a' + (int)(m->row % 26), LONG_TEXT);
        *value = (struct pt_str){ m->long_text, LONG_TEXT };
        return m->row % 5000 == 17;
    default:
        return false;
    }
}

static int64_t make_time(struct maker *m, const struct pt_view_column *c) {
    int64_t wall_ns = INT64_C(1750000000000000999) + m->row * INT64_C(1000000000);
    switch (c->role) {
    case PT_VIEW_TIMESTAMP:
        return wall_ns;
    case PT_VIEW_MONOTONIC:
        return m->row * INT64_C(1000000007);
    default: /* and some before 1970, where rounding must go down too */
        return (m->row % 3 ? wall_ns : -wall_ns) + c->index * 1001;
    }
}

static void make_cell(struct maker *m, const struct pt_view_column *c, uint32_t i,
                      struct pt_view_row *row) {
    bool is_present = true;
    if (c->role != PT_VIEW_VALUE)
        row->cells[i].i64 = make_time(m, c);
    else if (c->type == PT_I64)
        is_present = make_integer(m, c->index, &row->cells[i].i64);
    else if (c->type == PT_F64)
        is_present = make_double(m, c->index, &row->cells[i].f64);
    else
        is_present = make_string(m, c->index, &row->strings[i]);
    row->is_null[i] = !is_present;
    if (c->role == PT_VIEW_TIME)
        row->is_null[i] = row->is_null[i - 1];
}

static void print_string(FILE *f, struct pt_str s) {
    putc('"', f);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c < 0x20 || c == '"' || c == '\\')
            fprintf(f, "\\u%04x", c);
        else
            putc(c, f);
    }
    putc('"', f);
}

static void print_row(FILE *f, const struct pt_view *view, const struct pt_view_row *row) {
    for (uint32_t i = 0; i < view->column_count; i++) {
        putc(i ? ',' : '[', f);
        if (row->is_null[i])
            fputs("null", f);
        else if (view->columns[i].type == PT_STRING)
            print_string(f, row->strings[i]);
        else if (view->columns[i].type == PT_F64)
            fprintf(f, "%.17g", row->cells[i].f64);
        else
            fprintf(f, "\"%" PRId64 "\"", row->cells[i].i64);
    }
    fputs("]\n", f);
}

static void print_columns(FILE *f, const struct pt_view *view) {
    static const char *const types[] = { "int", "double", "string" };
    fputs("{\"columns\":[", f);
    for (uint32_t i = 0; i < view->column_count; i++) {
        const struct pt_view_column *c = &view->columns[i];
        bool is_time = c->role == PT_VIEW_TIMESTAMP || c->role == PT_VIEW_TIME;
        fprintf(f, "%s[\"%s\",\"%s\"]", i ? "," : "", c->name, is_time ? "time" : types[c->type]);
    }
    fputs("]}\n", f);
}

static int write_rows(const struct pt_view *view, uint32_t row_count, struct pt_out *out, FILE *f) {
    const struct pt_table_format *format = pt_parquet_sink.format;
    void *state = pt_calloc(1, format->state_size);
    struct maker m = { .random = 88172645463325252u, .long_text = pt_malloc(LONG_TEXT) };
    struct pt_view_row row;
    pt_view_row_init(&row, view);
    int rc = format->begin(state, view, out);
    for (; rc == 0 && m.row < row_count; m.row++) {
        for (uint32_t i = 0; i < view->column_count; i++)
            make_cell(&m, &view->columns[i], i, &row);
        format->row(state, &row);
        print_row(f, view, &row);
    }
    if (rc == 0)
        format->end(state);
    pt_view_row_release(&row);
    pt_free(m.long_text);
    pt_free(state);
    return rc;
}

static int write_files(const struct pt_view *view, const char *directory, uint32_t row_count) {
    char *parquet = pt_asprintf("%s/%u.parquet", directory, row_count);
    char *lines = pt_asprintf("%s/%u.jsonl", directory, row_count);
    struct pt_out out;
    struct pt_err err = { "" };
    FILE *f = fopen(lines, "w");
    int rc = f ? pt_out_create(&out, parquet, &err) : -1;
    if (rc == 0) {
        print_columns(f, view);
        rc = write_rows(view, row_count, &out, f);
        int closed = pt_out_close(&out);
        rc = rc ? rc : closed;
    }
    if (f && fclose(f))
        rc = -1;
    pt_free(parquet);
    pt_free(lines);
    return rc;
}

int main(int argc, char **argv) {
    static const uint32_t row_counts[] = { 0, 1, 60, 16384, 16385, 200000 };
    if (argc != 2) {
        fprintf(stderr, "usage: make_files DIRECTORY\n");
        return 2;
    }
    struct pt_views views;
    pt_views_init(&views, &schema);
    int rc = 0;
    for (size_t i = 0; i < PT_COUNT(row_counts) && rc == 0; i++)
        rc = write_files(&views.views[0], argv[1], row_counts[i]);
    pt_views_release(&views);
    if (rc)
        fprintf(stderr, "make_files: cannot write to %s\n", argv[1]);
    return rc ? 1 : 0;
}
