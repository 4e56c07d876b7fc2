#include "report/entities.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX       300 /* bytes, for example of a command line */
#define RECORDED_SCORE 1e6 /* above any sum of shares */

void pt_report_entities_init(struct pt_report_entities *t, const struct pt_table *table) {
    *t = (struct pt_report_entities){ .table = table, .recorded_column = -1 };
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].role == PT_ROLE_RECORDED && table->columns[i].type == PT_I64)
            t->recorded_column = i;
}

static void release_entity(const struct pt_report_entities *t, struct pt_report_entity *entity) {
    for (int i = 0; i < t->table->column_count; i++)
        pt_free(entity->texts[i]);
    pt_free(entity->texts);
    pt_free(entity->columns);
}

void pt_report_entities_release(struct pt_report_entities *t) {
    for (size_t i = 0; i < t->keys.count; i++)
        release_entity(t, &t->list[i]);
    pt_names_release(&t->keys);
    pt_free(t->list);
    pt_free(t->chosen);
    pt_buf_release(&t->key);
}

static void read_key(struct pt_report_entities *t, const struct pt_batch *b, uint32_t row) {
    pt_buf_clear(&t->key);
    for (int i = 0; i < t->table->column_count; i++) {
        if (t->table->columns[i].kind != PT_KEY || pt_is_null(b, row, i))
            continue;
        if (t->table->columns[i].type == PT_STRING)
            pt_buf_lstr(&t->key, pt_get_str(b, row, i));
        else
            pt_buf_u64(&t->key, pt_batch_cells(b, row)[i].word);
    }
}

static void compute_scores(struct pt_report_entities *t) {
    double *totals = pt_calloc(t->table->column_count, sizeof *totals);
    for (size_t k = 0; k < t->keys.count; k++)
        for (int i = 0; i < t->table->column_count; i++)
            totals[i] += fabs(t->list[k].columns[i].sum);
    for (size_t k = 0; k < t->keys.count; k++) {
        t->list[k].score = t->list[k].is_recorded ? RECORDED_SCORE : 0;
        for (int i = 0; i < t->table->column_count; i++)
            if (totals[i] > 0)
                t->list[k].score += fabs(t->list[k].columns[i].sum) / totals[i];
    }
    pt_free(totals);
}

static int by_score(const void *a, const void *b, void *list) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    double difference = ((const struct pt_report_entity *)list)[right].score -
                        ((const struct pt_report_entity *)list)[left].score;
    if (difference != 0)
        return difference > 0 ? 1 : -1;
    return left < right ? -1 : left > right;
}

/* Indexes of all entities, the busiest first. */
static uint32_t *ranking(struct pt_report_entities *t) {
    uint32_t *order = pt_calloc(t->keys.count + 1, sizeof *order);
    compute_scores(t);
    for (size_t i = 0; i < t->keys.count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, t->keys.count, sizeof *order, by_score, t->list);
    return order;
}

/* Drops the less busy half. */
static void forget(struct pt_report_entities *t) {
    uint32_t *order = ranking(t);
    size_t kept = t->keys.count / 2;
    struct pt_names keys = { 0 };
    struct pt_report_entity *list = pt_calloc(kept, sizeof *list);
    for (size_t i = 0; i < t->keys.count; i++) {
        if (i >= kept) {
            release_entity(t, &t->list[order[i]]);
            continue;
        }
        pt_names_add(&keys, t->keys.list[order[i]]);
        list[i] = t->list[order[i]];
    }
    t->dropped_count += t->keys.count - kept;
    pt_names_release(&t->keys);
    pt_free(t->list);
    pt_free(order);
    t->keys = keys;
    t->list = list;
    t->capacity = kept;
}

static struct pt_report_entity *find_or_add(struct pt_report_entities *t) {
    struct pt_str key = pt_buf_as_str(&t->key);
    uint32_t found = pt_names_find(&t->keys, key);
    if (found != PT_NAMES_NONE)
        return &t->list[found];
    if (t->keys.count >= PT_REPORT_ENTITIES_MAX)
        forget(t);
    found = pt_names_add(&t->keys, key);
    pt_grow(&t->list, &t->capacity, found + 1, sizeof *t->list);
    t->list[found] = (struct pt_report_entity){
        .columns = pt_calloc(t->table->column_count, sizeof(struct pt_report_entity_column)),
        .texts = pt_calloc(t->table->column_count, sizeof(char *)),
        .first_ns = t->now_ns,
        .index = -1,
    };
    for (int i = 0; i < t->table->column_count; i++)
        t->list[found].columns[i].peak = NAN;
    return &t->list[found];
}

static void keep_text(struct pt_report_entity *entity, const struct pt_batch *b, uint32_t row,
                      int column) {
    char number[32];
    struct pt_str text;
    if (b->table->columns[column].type == PT_STRING) {
        text = pt_get_str(b, row, column);
        text.len = text.len < TEXT_MAX ? text.len : TEXT_MAX;
    } else {
        int n =
            b->table->columns[column].type == PT_F64
                ? snprintf(number, sizeof number, "%g", pt_get_f64(b, row, column))
                : snprintf(number, sizeof number, "%lld", (long long)pt_get_i64(b, row, column));
        text = (struct pt_str){ number, (size_t)n };
    }
    char *old = entity->texts[column];
    if (old && pt_str_eq(pt_str_from(old), text))
        return;
    pt_free(old);
    entity->texts[column] = pt_strndup(text);
}

void pt_report_entities_advance(struct pt_report_entities *t, const struct pt_sample *sample) {
    if (!pt_sample_has_state(sample))
        return;
    bool is_gap = pt_gaps_next(&t->gaps, sample->mono_ns);
    if (is_gap)
        t->restart_ns = sample->mono_ns;
    t->interval_ns = t->now_ns && !is_gap ? sample->mono_ns - t->now_ns : 0;
    t->now_ns = sample->mono_ns;
}

static void forget_rates(const struct pt_report_entities *t, struct pt_report_entity *entity) {
    for (int i = 0; i < t->table->column_count; i++)
        entity->columns[i].rate = (struct pt_rate){ 0 };
}

static void see(const struct pt_report_entities *t, struct pt_report_entity *entity) {
    if (entity->last_ns < t->restart_ns)
        forget_rates(t, entity);
    entity->last_ns = t->now_ns;
}

static void survey_number(struct pt_report_entity_column *c, const struct pt_column *column) {
    const struct pt_rate *rate = &c->rate;
    c->count++;
    if (isnan(rate->value))
        return;
    c->peak = fmax(c->peak, rate->value); /* fmax skips NAN */
    c->sum += column->kind == PT_GAUGE ? rate->value : rate->value * pt_rate_seconds(rate);
}

static void survey_row(struct pt_report_entities *t, const struct pt_batch *b, uint32_t row) {
    read_key(t, b, row);
    struct pt_report_entity *entity = find_or_add(t);
    see(t, entity);
    for (int i = 0; i < t->table->column_count; i++) {
        const struct pt_column *column = &t->table->columns[i];
        if (pt_is_null(b, row, i))
            continue;
        if (pt_column_is_drawn(column)) {
            pt_rate_next(&entity->columns[i].rate, b, row, i, t->now_ns, t->interval_ns);
            survey_number(&entity->columns[i], column);
        } else {
            keep_text(entity, b, row, i);
        }
    }
    if (t->recorded_column >= 0 && !pt_is_null(b, row, t->recorded_column))
        entity->is_recorded |= pt_get_i64(b, row, t->recorded_column) == 1;
}

void pt_report_entities_survey(struct pt_report_entities *t, const struct pt_batch *rows) {
    for (uint32_t row = 0; row < rows->row_count; row++)
        survey_row(t, rows, row);
}

void pt_report_entities_choose(struct pt_report_entities *t, uint32_t max) {
    t->chosen = ranking(t);
    t->chosen_count = t->keys.count < max ? (uint32_t)t->keys.count : max;
    for (uint32_t i = 0; i < t->chosen_count; i++)
        t->list[t->chosen[i]].index = (int)i;
    for (size_t k = 0; k < t->keys.count; k++)
        forget_rates(t, &t->list[k]);
    t->gaps = (struct pt_gaps){ 0 };
    t->now_ns = t->interval_ns = t->restart_ns = 0;
}

struct pt_report_entity *pt_report_entities_next(struct pt_report_entities *t,
                                                 const struct pt_batch *rows, uint32_t row) {
    read_key(t, rows, row);
    uint32_t found = pt_names_find(&t->keys, pt_buf_as_str(&t->key));
    if (found == PT_NAMES_NONE || t->list[found].index < 0)
        return NULL;
    see(t, &t->list[found]);
    return &t->list[found];
}

const struct pt_rate *pt_report_entity_value(const struct pt_report_entities *t,
                                             struct pt_report_entity *entity,
                                             const struct pt_batch *rows, uint32_t row,
                                             int column) {
    struct pt_rate *rate = &entity->columns[column].rate;
    if (pt_is_null(rows, row, column))
        return NULL;
    pt_rate_next(rate, rows, row, column, t->now_ns, t->interval_ns);
    bool is_new = rows->table->columns[column].kind == PT_GAUGE || rate->to_ns > rate->from_ns;
    return is_new && !isnan(rate->value) ? rate : NULL;
}
