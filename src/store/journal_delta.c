/* The rows that both ends of a journal remember. */
#include "store/journal_delta.h"

#include "store/journal.h"
#include "store/journal_format.h"

#include <math.h>

static enum pt_coding coding_of(const struct pt_column *c) {
    if (c->type == PT_STRING)
        return PT_CODE_STRING;
    if (c->type == PT_F64)
        return PT_CODE_DOUBLE;
    if (c->unit == PT_BYTES)
        return c->kind == PT_COUNTER ? PT_CODE_BYTE_COUNTER : PT_CODE_BYTES;
    return c->kind == PT_COUNTER ? PT_CODE_COUNTER : PT_CODE_SIGNED;
}

static void add_to_spans(struct pt_delta_table *t, uint16_t column) {
    struct pt_column_range *last = t->span_count > 0 ? &t->spans[t->span_count - 1] : NULL;
    if (last && last->first + last->count == column)
        last->count++;
    else
        t->spans[t->span_count++] = (struct pt_column_range){ column, 1 };
}

static void init_columns(struct pt_delta_table *t) {
    const struct pt_table *table = t->table;
    t->codings = pt_calloc(table->column_count, sizeof *t->codings);
    t->keys = pt_calloc(table->column_count, sizeof *t->keys);
    t->spans = pt_calloc(table->column_count, sizeof *t->spans);
    t->string_bits = pt_calloc(t->bitmap_words, sizeof *t->string_bits);
    for (uint16_t i = 0; i < table->column_count; i++) {
        t->codings[i] = (uint8_t)coding_of(&table->columns[i]);
        if (table->columns[i].kind == PT_KEY)
            t->keys[t->key_count++] = i;
        if (table->columns[i].type == PT_STRING)
            t->string_bits[i / 64] |= UINT64_C(1) << i % 64;
        else
            add_to_spans(t, i);
    }
}

static void init_table(struct pt_delta_table *t, const struct pt_table *table) {
    t->table = table;
    t->bitmap_words = (table->column_count + 63u) / 64;
    t->slot_words = 2 * t->bitmap_words + table->column_count;
    t->changed = pt_calloc(t->bitmap_words, sizeof *t->changed);
    t->coded = pt_calloc(t->bitmap_words, sizeof *t->coded);
    t->lead = pt_calloc(table->source_count, sizeof *t->lead);
    (void)pt_buf_reserve(&t->strings, 64); /* so that `at` is never NULL */
    init_columns(t);
}

static void release_table(struct pt_delta_table *t) {
    void *const owned[] = { t->codings,     t->keys,        t->spans,        t->string_bits,
                            t->changed,     t->coded,       t->lead,         t->slots,
                            t->slot_times,  t->slot_used,   t->free_slots,   t->order,
                            t->next_order,  t->time.before, t->time.offsets, t->time.read_us,
                            t->index.heads, t->index.next };
    for (size_t i = 0; i < PT_COUNT(owned); i++)
        pt_free(owned[i]);
    pt_buf_release(&t->strings);
    pt_buf_release(&t->time.far);
}

struct pt_delta *pt_delta_new(const struct pt_schema *schema) {
    struct pt_delta *d = pt_calloc(1, sizeof *d);
    d->table_count = schema->table_count;
    d->tables = pt_calloc(schema->table_count, sizeof *d->tables);
    for (uint32_t i = 0; i < schema->table_count; i++)
        init_table(&d->tables[i], schema->tables[i]);
    return d;
}

void pt_delta_free(struct pt_delta *d) {
    if (!d)
        return;
    for (uint32_t i = 0; i < d->table_count; i++)
        release_table(&d->tables[i]);
    pt_free(d->tables);
    pt_free(d);
}

void pt_delta_reset(struct pt_delta *d) {
    d->mono_ns = d->interval_ns = d->ahead_ns = 0;
    for (uint32_t i = 0; i < d->table_count; i++) {
        struct pt_delta_table *t = &d->tables[i];
        t->row_count = t->slot_count = t->free_count = 0;
        pt_buf_clear(&t->strings);
        memset(t->lead, 0, t->table->source_count * sizeof *t->lead);
    }
}

void pt_delta_begin_rows(struct pt_delta_table *t) {
    t->stamp++;
    t->next_count = 0;
    t->expected = 0;
    t->index.is_built = false;
}

static uint32_t add_slot(struct pt_delta_table *t) {
    size_t count = t->slot_count + 1u;
    pt_grow(&t->slots, &t->slot_word_capacity, count * t->slot_words, sizeof *t->slots);
    pt_grow(&t->slot_times, &t->slot_time_capacity, count * t->table->source_count,
            sizeof *t->slot_times);
    pt_grow(&t->slot_used, &t->slot_used_capacity, count, sizeof *t->slot_used);
    return t->slot_count++;
}

uint32_t pt_delta_new_row(struct pt_delta_table *t) {
    uint32_t slot = t->free_count > 0 ? t->free_slots[--t->free_count] : add_slot(t);
    memset(pt_slot_changed(t, slot), 0, t->slot_words * sizeof *t->slots);
    if (t->table->source_count > 0)
        memset(pt_slot_times(t, slot), 0, t->table->source_count * sizeof *t->slot_times);
    pt_delta_append_row(t, slot);
    return slot;
}

void pt_delta_end_rows(struct pt_delta_table *t) {
    for (uint32_t i = 0; i < t->row_count; i++) {
        if (pt_delta_is_taken(t, i))
            continue;
        pt_grow(&t->free_slots, &t->free_capacity, t->free_count + 1u, sizeof *t->free_slots);
        t->free_slots[t->free_count++] = t->order[i];
    }
    uint32_t *order = t->order;
    size_t capacity = t->order_capacity;
    t->order = t->next_order, t->order_capacity = t->next_capacity;
    t->next_order = order, t->next_capacity = capacity;
    t->row_count = t->next_count;
}

bool pt_delta_thousandths(double value, int64_t *thousandths) {
    if (!(fabs(value) <= PT_THOUSANDTHS_MAX / 1000.0))
        return false;
    *thousandths = (int64_t)(value * 1000.0 + (value < 0 ? -0.5 : 0.5));
    union pt_cell there = { .f64 = value }, back = { .f64 = (double)*thousandths / 1000.0 };
    return back.word == there.word; /* by bits: -0.0 is not 0.0 */
}

struct pt_journal_lane *pt_journal_lane_at(struct pt_journal_lane **lanes, size_t *count,
                                           size_t *capacity, uint32_t number,
                                           const struct pt_schema *schema) {
    pt_grow(lanes, capacity, number + 1u, sizeof **lanes);
    for (; *count <= number; (*count)++)
        (*lanes)[*count] =
            (struct pt_journal_lane){ .delta = pt_delta_new(schema), .needs_key = true };
    return &(*lanes)[number];
}

void pt_journal_lanes_free(struct pt_journal_lane *lanes, size_t count) {
    for (size_t i = 0; i < count; i++)
        pt_delta_free(lanes[i].delta);
    pt_free(lanes);
}
