#include "serve/changes.h"

#include "serve/number.h"

#include <math.h>

#define KEY_BYTES 512

/* A row, or a former row: then `is_used` is false and the number can be reused. */
struct slot {
    uint64_t identity; /* hash of keys and texts */
    bool is_used, is_new, is_seen, is_gone;
    uint32_t row; /* of the latest rows */
};

struct pt_changes_table {
    uint16_t *columns; /* columns that can be drawn */
    uint16_t column_count;
    struct slot *slots;
    size_t slot_count, slot_capacity;
    double *values; /* by slot and column */
    bool *is_changed;
    size_t value_capacity, changed_capacity;
    bool has_news;
};

void pt_changes_init(struct pt_changes *c, const struct pt_schema *schema) {
    *c = (struct pt_changes){ .schema = schema };
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        c->figures[i] = NAN;
    c->tables = pt_calloc(schema->table_count, sizeof *c->tables);
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *table = schema->tables[i];
        struct pt_changes_table *t = &c->tables[i];
        t->columns = pt_calloc(table->column_count + 1u, sizeof *t->columns);
        for (uint16_t column = 0; column < table->column_count; column++)
            if (pt_column_is_drawn(&table->columns[column]))
                t->columns[t->column_count++] = column;
    }
}

void pt_changes_release(struct pt_changes *c) {
    for (uint32_t i = 0; c->tables && i < c->schema->table_count; i++) {
        pt_free(c->tables[i].columns);
        pt_free(c->tables[i].slots);
        pt_free(c->tables[i].values);
        pt_free(c->tables[i].is_changed);
    }
    pt_free(c->tables);
    *c = (struct pt_changes){ 0 };
}

/* FNV-1a */
static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t identity_of(const struct pt_batch *b, uint32_t row) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint16_t i = 0; i < b->table->column_count; i++) {
        if (pt_column_is_drawn(&b->table->columns[i]) || pt_is_null(b, row, i))
            continue;
        hash = add_to_hash(hash, &i, sizeof i);
        if (b->table->columns[i].type == PT_STRING) {
            struct pt_str text = pt_get_str(b, row, i);
            hash = add_to_hash(hash, text.at, text.len);
        } else {
            hash = add_to_hash(hash, &pt_batch_cells(b, row)[i].word, sizeof(uint64_t));
        }
    }
    return hash;
}

static size_t find_slot(const struct pt_changes_table *t, uint64_t identity, size_t *hint) {
    for (size_t i = 0; i < t->slot_count; i++) {
        size_t at = (*hint + i) % t->slot_count;
        const struct slot *s = &t->slots[at];
        if (s->is_used && !s->is_seen && s->identity == identity) {
            *hint = at + 1;
            return at;
        }
    }
    return t->slot_count;
}

static size_t add_slot(struct pt_changes_table *t, uint64_t identity) {
    size_t at = 0;
    while (at < t->slot_count && (t->slots[at].is_used || t->slots[at].is_gone))
        at++;
    if (at == t->slot_count) {
        size_t count = ++t->slot_count;
        pt_grow(&t->slots, &t->slot_capacity, count, sizeof *t->slots);
        pt_grow(&t->values, &t->value_capacity, count * t->column_count + 1, sizeof *t->values);
        pt_grow(&t->is_changed, &t->changed_capacity, count * t->column_count + 1,
                sizeof *t->is_changed);
    }
    t->slots[at] = (struct slot){ .identity = identity, .is_used = true, .is_new = true };
    return at;
}

static bool is_same(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static void see_row(struct pt_changes_table *t, const struct pt_latest *l, uint32_t table,
                    uint32_t row, size_t *slot_hint) {
    const struct pt_batch *b = &l->now.batches[table];
    uint64_t identity = identity_of(b, row);
    size_t at = find_slot(t, identity, slot_hint);
    if (at == t->slot_count)
        at = add_slot(t, identity);
    t->slots[at].is_seen = true;
    t->slots[at].row = row;
    for (uint16_t i = 0; i < t->column_count; i++) {
        double *value = &t->values[at * t->column_count + i];
        double now = pt_rates_at(&l->rates, (int)table, row, t->columns[i]);
        bool is_changed = t->slots[at].is_new || !is_same(now, *value);
        t->is_changed[at * t->column_count + i] = is_changed;
        t->has_news |= is_changed;
        *value = now;
    }
}

static void end_table(struct pt_changes_table *t) {
    for (size_t i = 0; i < t->slot_count; i++) {
        struct slot *s = &t->slots[i];
        if (!s->is_used || s->is_seen)
            continue;
        s->is_used = false;
        s->is_gone = t->has_news = true;
    }
    while (t->slot_count > 0 && !t->slots[t->slot_count - 1].is_used &&
           !t->slots[t->slot_count - 1].is_gone)
        t->slot_count--;
}

void pt_changes_update(struct pt_changes *c, const struct pt_latest *l) {
    for (uint32_t i = 0; i < c->schema->table_count; i++) {
        struct pt_changes_table *t = &c->tables[i];
        t->has_news = false;
        for (size_t k = 0; k < t->slot_count; k++)
            t->slots[k].is_new = t->slots[k].is_seen = t->slots[k].is_gone = false;
        size_t slot_hint = 0;
        for (uint32_t row = 0; row < l->now.batches[i].row_count; row++)
            see_row(t, l, i, row, &slot_hint);
        end_table(t);
    }
    for (int i = 0; i < PT_FIGURE_COUNT; i++) {
        double now = l->figures.now[i].value;
        c->is_figure_changed[i] = !is_same(now, c->figures[i]);
        c->figures[i] = now;
    }
}

static void put_row(const struct pt_changes_table *t, const struct pt_batch *b, size_t slot,
                    struct pt_json *j) {
    char key[KEY_BYTES];
    uint32_t row = t->slots[slot].row;
    pt_row_key(b, row, key, sizeof key);
    pt_json_array(j, NULL);
    pt_json_i64(j, NULL, (int64_t)slot);
    pt_json_text(j, NULL, key);
    pt_json_object(j, NULL);
    for (int i = 0; i < b->table->column_count; i++) {
        const struct pt_column *column = &b->table->columns[i];
        if (pt_column_is_drawn(column) || pt_is_null(b, row, i))
            continue;
        if (column->type == PT_STRING)
            pt_json_str(j, column->name, pt_get_str(b, row, i));
        else if (column->type == PT_I64)
            pt_json_i64(j, column->name, pt_get_i64(b, row, i));
        else
            pt_json_f64(j, column->name, pt_get_f64(b, row, i));
    }
    pt_json_end(j);
    pt_json_array(j, NULL);
    for (uint16_t i = 0; i < t->column_count; i++)
        pt_json_number(j, NULL, t->values[slot * t->column_count + i]);
    pt_json_end(j);
    pt_json_end(j);
}

static void put_change(const struct pt_changes_table *t, size_t slot, struct pt_json *j) {
    bool has_begun = false;
    for (uint16_t i = 0; i < t->column_count; i++) {
        if (!t->is_changed[slot * t->column_count + i])
            continue;
        if (!has_begun) {
            pt_json_array(j, NULL);
            pt_json_i64(j, NULL, (int64_t)slot);
        }
        has_begun = true;
        pt_json_i64(j, NULL, i);
        pt_json_number(j, NULL, t->values[slot * t->column_count + i]);
    }
    if (has_begun)
        pt_json_end(j);
}

static void put_table(const struct pt_changes_table *t, const struct pt_batch *b, bool is_whole,
                      struct pt_json *j) {
    pt_json_object(j, b->table->name);
    pt_json_array(j, "rows");
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].is_used && (is_whole || t->slots[i].is_new))
            put_row(t, b, i, j);
    pt_json_end(j);
    if (!is_whole) {
        pt_json_array(j, "changes");
        for (size_t i = 0; i < t->slot_count; i++)
            if (t->slots[i].is_used && t->slots[i].is_seen && !t->slots[i].is_new)
                put_change(t, i, j);
        pt_json_end(j);
        pt_json_array(j, "gone");
        for (size_t i = 0; i < t->slot_count; i++)
            if (t->slots[i].is_gone)
                pt_json_i64(j, NULL, (int64_t)i);
        pt_json_end(j);
    }
    pt_json_end(j);
}

void pt_changes_write(const struct pt_changes *c, const struct pt_latest *l, bool is_whole,
                      struct pt_out *out) {
    struct pt_json j = { .out = out };
    pt_json_object(&j, NULL);
    pt_json_i64(&j, "time", l->now.wall_ns / 1000000);
    pt_json_bool(&j, "is_whole", is_whole);
    pt_json_object(&j, "figures");
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        if (is_whole || c->is_figure_changed[i])
            pt_json_number(&j, pt_figures[i].name, c->figures[i]);
    pt_json_end(&j);
    pt_json_object(&j, "tables");
    for (uint32_t i = 0; i < c->schema->table_count; i++) {
        const struct pt_changes_table *t = &c->tables[i];
        bool has_rows = is_whole && l->now.batches[i].row_count > 0;
        if (has_rows || (!is_whole && t->has_news))
            put_table(t, &l->now.batches[i], is_whole, &j);
    }
    pt_json_end(&j);
    pt_json_end(&j);
}
