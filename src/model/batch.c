#include "model/batch.h"

#include "base/mask.h"

#include <stdio.h>
#include <math.h>

void pt_batch_init(struct pt_batch *b, const struct pt_table *table) {
    *b = (struct pt_batch){ .table = table };
    b->row_words = table->source_count + pt_batch_present_words(b) + table->column_count;
}

void pt_batch_release(struct pt_batch *b) {
    pt_free(b->words);
    pt_buf_release(&b->strings);
    *b = (struct pt_batch){ 0 };
}

void pt_batch_clear(struct pt_batch *b) {
    b->row_count = 0;
    pt_buf_clear(&b->strings);
}

void pt_batch_add_row(struct pt_batch *b) {
    size_t used = (size_t)b->row_count * b->row_words;
    pt_grow(&b->words, &b->word_capacity, used + b->row_words, sizeof *b->words);
    memset(b->words + used, 0, b->row_words * sizeof *b->words);
    b->row_count++;
}

void pt_set_f64(struct pt_batch *b, int column, double value) {
    if (isfinite(value))
        pt_set_cell_(b, column, (union pt_cell){ .f64 = value });
}

void pt_set_str(struct pt_batch *b, int column, struct pt_str value) {
    uint32_t offset = (uint32_t)b->strings.len;
    pt_mask_text(&b->strings, value);
    pt_set_cell_(b, column,
                 (union pt_cell){ .string = { offset, (uint32_t)b->strings.len - offset } });
}

void pt_set_masked(struct pt_batch *b, int column, struct pt_str value) {
    union pt_cell c = { .string = { (uint32_t)b->strings.len, (uint32_t)value.len } };
    pt_buf_str(&b->strings, value);
    pt_set_cell_(b, column, c);
}

void pt_batch_set_at_f64(struct pt_batch *b, uint32_t row, int column, double value) {
    pt_batch_present(b, row)[column / 64] |= UINT64_C(1) << (column % 64);
    pt_batch_cells(b, row)[column].f64 = value;
}

void pt_batch_set_at_time(struct pt_batch *b, uint32_t row, int source, int64_t mono_ns) {
    pt_batch_row(b, row)[source] = (uint64_t)mono_ns;
}

void pt_batch_copy(struct pt_batch *into, const struct pt_batch *from) {
    size_t words = (size_t)from->row_count * from->row_words;
    pt_batch_clear(into);
    pt_grow(&into->words, &into->word_capacity, words, sizeof *into->words);
    if (words > 0)
        memcpy(into->words, from->words, words * sizeof *into->words);
    into->row_count = from->row_count;
    pt_buf_bytes(&into->strings, from->strings.at, from->strings.len);
}

void pt_batch_copy_row(struct pt_batch *into, const struct pt_batch *from, uint32_t row) {
    pt_batch_add_row(into);
    uint32_t last = into->row_count - 1;
    memcpy(pt_batch_row(into, last), pt_batch_row(from, row),
           into->row_words * sizeof *into->words);
    for (int c = 0; c < into->table->column_count; c++)
        if (into->table->columns[c].type == PT_STRING && !pt_is_null(from, row, c))
            pt_set_masked(into, c, pt_get_str(from, row, c));
}

void pt_batch_carry(struct pt_batch *into, const struct pt_batch *from, int source) {
    if (from->row_count == 0)
        return;
    const struct pt_table *t = into->table;
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].source == source && !pt_is_null(from, 0, i))
            pt_set_cell_(into, i, pt_batch_cells(from, 0)[i]);
    pt_set_time(into, source, pt_get_time(from, 0, source));
}

void pt_row_key(const struct pt_batch *b, uint32_t row, char *into, size_t capacity) {
    size_t used = 0;
    into[0] = 0;
    for (int c = 0; c < b->table->column_count; c++) {
        const struct pt_column *column = &b->table->columns[c];
        if (column->kind != PT_KEY || pt_is_null(b, row, c) || used + 1 >= capacity)
            continue;
        if (used > 0)
            into[used++] = '/';
        if (column->type == PT_STRING) {
            pt_str_copy(into + used, capacity - used, pt_get_str(b, row, c));
        } else {
            snprintf(into + used, capacity - used, "%lld", (long long)pt_get_i64(b, row, c));
        }
        used += strlen(into + used);
    }
}

static bool is_same_cell(const struct pt_batch *a, uint32_t row_a, const struct pt_batch *b,
                         uint32_t row_b, int column) {
    bool is_null = pt_is_null(a, row_a, column);
    if (is_null || pt_is_null(b, row_b, column))
        return is_null && pt_is_null(b, row_b, column);
    if (a->table->columns[column].type == PT_STRING)
        return pt_str_eq(pt_get_str(a, row_a, column), pt_get_str(b, row_b, column));
    return pt_batch_cells(a, row_a)[column].word == pt_batch_cells(b, row_b)[column].word;
}

static bool has_same_key(const struct pt_batch *a, uint32_t row_a, const struct pt_batch *b,
                         uint32_t row_b) {
    for (int i = 0; i < a->table->column_count; i++)
        if (a->table->columns[i].kind == PT_KEY && !is_same_cell(a, row_a, b, row_b, i))
            return false;
    return true;
}

int64_t pt_row_find(const struct pt_batch *b, const struct pt_batch *other, uint32_t row,
                    uint32_t *hint) {
    for (uint32_t i = 0; i < b->row_count; i++) {
        uint32_t at = (*hint + i) % b->row_count;
        if (!has_same_key(b, at, other, row))
            continue;
        *hint = at + 1;
        return at;
    }
    return -1;
}
