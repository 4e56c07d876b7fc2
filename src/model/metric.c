#include "model/metric.h"

#include "base/digits.h"
#include "base/utf8.h"

/* Unit words in column names that the base unit replaces: read_ms becomes read_seconds. */
static const char *unit_word(enum pt_unit unit) {
    switch (unit) {
    case PT_BYTES:
        return "bytes";
    case PT_MEBIBYTES:
        return "mb";
    case PT_MILLISECONDS:
        return "ms";
    case PT_COUNT: /* of a histogram: latency_ttft_s_count */
    case PT_SECONDS:
        return "s";
    case PT_PERCENT:
    case PT_RATIO:
        return "percent";
    case PT_MEGAHERTZ:
        return "mhz";
    default:
        return "";
    }
}

static bool is_last_total(struct pt_str word) {
    return word.at[word.len] == 0 && pt_str_eq(word, PT_STR("total"));
}

/* The writers add _total to counters. An abbreviated unit is not a word: latency_ttft_s_count. */
static bool is_needless(struct pt_str word, const struct pt_column *c) {
    return pt_str_eq(word, pt_str_from(unit_word(c->unit))) || pt_str_eq(word, PT_STR("s")) ||
           (c->kind == PT_COUNTER && is_last_total(word));
}

/* To scrapers _total means a counter. */
static struct pt_str word_of(struct pt_str word, const struct pt_column *c) {
    bool is_at_end = *pt_units[c->unit].prometheus_suffix == 0;
    return c->kind == PT_GAUGE && is_at_end && is_last_total(word) ? PT_STR("all") : word;
}

static char *append(char *at, const char *end, struct pt_str text) {
    pt_str_copy(at, (size_t)(end - at), text);
    return at + strlen(at);
}

static char *append_words(char *at, const char *end, const struct pt_column *c) {
    for (const char *word = c->short_name; *word;) {
        size_t length = strcspn(word, "_");
        if (!is_needless((struct pt_str){ word, length }, c)) {
            at = append(at, end, PT_STR("_"));
            at = append(at, end, word_of((struct pt_str){ word, length }, c));
        }
        word += length + (word[length] == '_');
    }
    return at;
}

bool pt_metric_of(const struct pt_table *t, int column, struct pt_metric *metric) {
    const struct pt_column *c = &t->columns[column];
    bool has_rows_of_metrics = t->rows == PT_ROWS_THINGS || t->rows == PT_ROWS_PROCESSES;
    if (!has_rows_of_metrics || (c->kind != PT_GAUGE && c->kind != PT_COUNTER) ||
        c->type == PT_STRING)
        return false;
    const struct pt_unit_info *unit = &pt_units[c->unit];
    const char *suffix = unit->prometheus_suffix;
    char *at = metric->name;
    const char *end = metric->name + sizeof metric->name;
    at = append(at, end, PT_STR("pitot_"));
    at = append(at, end, pt_str_from(t->name));
    at = append_words(at, end, c);
    append(at, end, pt_str_from(suffix));
    metric->unit = *suffix == '_' ? suffix + 1 : "";
    metric->factor = unit->prometheus_factor;
    metric->is_counter = c->kind == PT_COUNTER;
    return true;
}

bool pt_table_has_info(const struct pt_table *t) {
    for (int c = 0; c < t->column_count; c++)
        if (t->columns[c].kind == PT_INFO)
            return true;
    return false;
}

static void put_escaped(struct pt_buf *into, struct pt_str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '\n')
            pt_buf_str(into, PT_STR("\\n"));
        else if (c == '\\' || c == '"')
            pt_buf_bytes(into, (char[]){ '\\', c }, 2);
        else
            pt_buf_u8(into, (uint8_t)c);
    }
}

/* One byte that is not UTF-8 makes a server refuse everything. */
void pt_metric_label_value(struct pt_str text, struct pt_buf *into) {
    while (text.len > 0) {
        size_t valid = pt_utf8_valid_length(text);
        put_escaped(into, (struct pt_str){ text.at, valid });
        text = pt_str_skip(text, valid);
        if (text.len == 0)
            return;
        pt_buf_str(into, PT_STR(PT_UTF8_REPLACEMENT));
        text = pt_str_skip(text, 1);
    }
}

static void put_number(const struct pt_batch *b, uint32_t row, int column, struct pt_buf *into) {
    char *at = (char *)pt_buf_reserve(into, PT_DIGITS_MAX);
    into->len += b->table->columns[column].type == PT_F64
                     ? pt_digits_f64(at, pt_get_f64(b, row, column))
                     : pt_digits_i64(at, pt_get_i64(b, row, column));
}

void pt_metric_labels(const struct pt_batch *b, uint32_t row, unsigned kinds, struct pt_buf *into) {
    size_t start = into->len;
    for (int i = 0; i < b->table->column_count; i++) {
        const struct pt_column *c = &b->table->columns[i];
        if (!(kinds >> c->kind & 1) || pt_is_null(b, row, i))
            continue;
        if (into->len > start)
            pt_buf_u8(into, ',');
        pt_buf_str(into, pt_str_from(c->short_name));
        pt_buf_str(into, PT_STR("=\""));
        if (c->type == PT_STRING)
            pt_metric_label_value(pt_get_str(b, row, i), into);
        else
            put_number(b, row, i, into);
        pt_buf_u8(into, '"');
    }
}
