#include "analyze/straggler.h"

#include "analyze/clock_match.h"
#include "base/mem.h"
#include "derive/field.h"
#include "derive/span_role.h"

#include <math.h>
#include <stdlib.h>

void pt_stragglers_init(struct pt_stragglers *s, const struct pt_schema *schema) {
    *s = (struct pt_stragglers){ .table = pt_field_table(schema, PT_FIELD_SPAN_NAME) };
    if (s->table < 0)
        return;
    const struct pt_table *t = schema->tables[s->table];
    s->rank = pt_table_find(t, "rank");
    s->name = pt_field_column(t, PT_FIELD_SPAN_NAME);
    s->start = pt_field_column(t, PT_FIELD_SPAN_START);
    s->duration = pt_field_column(t, PT_FIELD_SPAN_DURATION);
    s->argument = pt_field_column(t, PT_FIELD_SPAN_ARGUMENT);
    s->work = pt_field_column(t, PT_FIELD_SPAN_WORK);
    if (s->rank < 0 || s->name < 0 || s->start < 0 || s->duration < 0 ||
        t->columns[s->rank].type != PT_STRING || t->columns[s->name].type != PT_STRING ||
        t->columns[s->start].type != PT_I64 || t->columns[s->duration].type != PT_I64)
        s->table = -1;
}

void pt_stragglers_release(struct pt_stragglers *s) {
    pt_names_release(&s->names);
    pt_names_release(&s->ranks);
    pt_free(s->spans);
    pt_free(s->list);
    *s = (struct pt_stragglers){ .table = -1 };
}

void pt_stragglers_add_span(struct pt_stragglers *s, struct pt_str rank, struct pt_str name,
                            const struct pt_rank_span *span) {
    if (s->span_count == PT_STRAGGLER_SPANS_MAX) {
        s->dropped_count++;
        return;
    }
    pt_grow(&s->spans, &s->span_capacity, s->span_count + 1, sizeof *s->spans);
    struct pt_rank_span *added = &s->spans[s->span_count++];
    *added = *span;
    added->rank = pt_names_add(&s->ranks, rank);
    added->name = pt_names_add(&s->names, name);
}

void pt_stragglers_add(struct pt_stragglers *s, const struct pt_sample *sample) {
    const struct pt_batch *b = s->table < 0 ? NULL : &sample->batches[s->table];
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        if (pt_is_null(b, row, s->rank) || pt_is_null(b, row, s->name) ||
            pt_is_null(b, row, s->start) || pt_is_null(b, row, s->duration) ||
            pt_get_i64(b, row, s->duration) < 0)
            continue;
        struct pt_rank_span span = {
            .start_ns = pt_get_i64(b, row, s->start),
            .duration_ns = pt_get_i64(b, row, s->duration),
            /* a number that counts samples, tokens or flows is not a step number */
            .has_argument = s->argument >= 0 && b->table->columns[s->argument].type == PT_I64 &&
                            !pt_is_null(b, row, s->argument) &&
                            (s->work < 0 || pt_is_null(b, row, s->work)),
        };
        if (span.has_argument)
            span.argument = pt_get_i64(b, row, s->argument);
        pt_stragglers_add_span(s, pt_get_str(b, row, s->rank), pt_get_str(b, row, s->name), &span);
    }
}

static int by_step(const void *a, const void *b) {
    const struct pt_rank_span *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* The spans of one name on one rank, by time. */
struct stream {
    const struct pt_rank_span *spans;
    size_t count, next;
};

/* The spans of one name: one stream per rank that has any. */
struct group {
    struct stream *streams;
    size_t count;
    bool is_numbered, is_collective;
    double *durations, *others; /* of the current step; `count` each */
    size_t *members;            /* streams that have the step */
    size_t member_count;
};

static bool counts_up(const struct stream *s) {
    for (size_t i = 0; i < s->count; i++)
        if (!s->spans[i].has_argument ||
            (i > 0 && s->spans[i].argument <= s->spans[i - 1].argument))
            return false;
    return true;
}

static int64_t number_at(const struct group *g, const struct stream *s) {
    return g->is_numbered ? s->spans[s->next].argument : (int64_t)s->next;
}

/* Advances to the next step; false after the last. */
static bool next_step(struct group *g) {
    int64_t number = INT64_MAX;
    bool is_found = false;
    for (size_t i = 0; i < g->count; i++) {
        struct stream *s = &g->streams[i];
        if (s->next < s->count && (!is_found || number_at(g, s) < number)) {
            number = number_at(g, s);
            is_found = true;
        }
    }
    g->member_count = 0;
    for (size_t i = 0; is_found && i < g->count; i++) {
        struct stream *s = &g->streams[i];
        if (s->next == s->count || number_at(g, s) != number)
            continue;
        g->members[g->member_count] = i;
        g->durations[g->member_count++] = (double)s->spans[s->next++].duration_ns / 1e9;
    }
    return is_found;
}

static void rewind_streams(struct group *g) {
    for (size_t i = 0; i < g->count; i++)
        g->streams[i].next = 0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, size_t count) {
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Median of all members of the step except this one. */
static double median_of_others(struct group *g, size_t member) {
    size_t count = 0;
    for (size_t i = 0; i < g->member_count; i++)
        if (i != member)
            g->others[count++] = g->durations[i];
    return median(g->others, count);
}

/* In a collective operation the last to arrive spends the shortest time. */
static size_t slowest_member(const struct group *g) {
    size_t slowest = 0;
    for (size_t i = 1; i < g->member_count; i++)
        if (g->is_collective ? g->durations[i] < g->durations[slowest]
                             : g->durations[i] > g->durations[slowest])
            slowest = i;
    return slowest;
}

/* Only steps that most ranks have: spans can be lost. */
static bool is_compared(const struct group *g) {
    return g->member_count >= 2 && 2 * g->member_count > g->count;
}

/* Counts how often each stream is the slowest; returns the one that is most often. */
static size_t count_slowest(struct group *g, size_t *slowest, struct pt_straggling *found) {
    rewind_streams(g);
    while (next_step(g)) {
        if (!is_compared(g))
            continue;
        size_t member = slowest_member(g);
        double behind = g->durations[member] - median_of_others(g, member);
        found->lost_s += fabs(behind);
        found->step_count++;
        slowest[g->members[member]]++;
    }
    size_t most = 0;
    for (size_t i = 1; i < g->count; i++)
        if (slowest[i] > slowest[most])
            most = i;
    return most;
}

/* Median over the steps of one rank's time relative to the others. */
static void measure_pace(struct group *g, size_t stream, struct pt_straggling *found) {
    double *paces = pt_calloc(found->step_count + 1, sizeof *paces);
    double *medians = pt_calloc(found->step_count + 1, sizeof *medians);
    size_t count = 0, step_count = 0;
    rewind_streams(g);
    while (next_step(g)) {
        if (!is_compared(g))
            continue;
        for (size_t i = 0; i < g->member_count; i++) {
            double others = g->members[i] == stream ? median_of_others(g, i) : 0;
            if (others > 0)
                paces[count++] = g->durations[i] / others;
        }
        medians[step_count++] = median(g->durations, g->member_count);
    }
    found->pace = median(paces, count);
    found->median_s = median(medians, step_count);
    pt_free(paces);
    pt_free(medians);
}

/* `slowest`: number of steps in which it was the slowest; steps / ranks is chance. */
static bool is_straggler(const struct pt_straggling *s, size_t slowest) {
    double steps = (double)s->step_count, ranks = (double)s->rank_count;
    struct pt_facts facts;
    pt_facts_init(&facts);
    facts.values[PT_FIGURE_RANK_STEPS] = steps;
    facts.values[PT_FIGURE_RANK_PACE] = s->is_collective ? 1 / s->pace : s->pace;
    facts.values[PT_FIGURE_RANK_EXCESS] = ((double)slowest * ranks - steps) / (steps * (ranks - 1));
    return pt_form_holds(&pt_rule_find("straggler")->forms[PT_STRAGGLER_RANKS], &facts);
}

double pt_straggler_confidence(const struct pt_rule_form *form, double pace) {
    return 0.6 + 0.3 * pt_condition_strength(&form->needs[0], pace);
}

static bool judge(struct group *g, struct pt_straggling *found) {
    size_t *slowest = pt_calloc(g->count, sizeof *slowest);
    size_t most = count_slowest(g, slowest, found);
    bool is_enough = found->step_count >= PT_STRAGGLER_STEPS_MIN;
    if (is_enough) {
        found->rank = g->streams[most].spans[0].rank;
        found->rank_count = g->count;
        found->is_collective = g->is_collective;
        found->slowest_share = (double)slowest[most] / (double)found->step_count;
        measure_pace(g, most, found);
        found->is_straggler = is_straggler(found, slowest[most]);
    }
    pt_free(slowest);
    return is_enough;
}

/* Spans [from, to) have one name. */
static bool judge_name(const struct pt_stragglers *s, size_t from, size_t to,
                       struct pt_straggling *found) {
    size_t ranks = s->ranks.count;
    struct group g = {
        .streams = pt_calloc(ranks, sizeof *g.streams),
        .durations = pt_calloc(ranks, sizeof *g.durations),
        .others = pt_calloc(ranks, sizeof *g.others),
        .members = pt_calloc(ranks, sizeof *g.members),
        .is_numbered = true,
        .is_collective = pt_span_role(s->names.list[s->spans[from].name]) == PT_SPAN_COLLECTIVE,
    };
    for (size_t i = from; i < to; i++) {
        if (i == from || s->spans[i].rank != s->spans[i - 1].rank)
            g.streams[g.count++].spans = &s->spans[i];
        g.streams[g.count - 1].count++;
    }
    for (size_t i = 0; i < g.count; i++)
        g.is_numbered &= counts_up(&g.streams[i]);
    *found = (struct pt_straggling){ .name = s->spans[from].name };
    bool is_found = g.count >= 2 && judge(&g, found);
    pt_free(g.streams);
    pt_free(g.durations);
    pt_free(g.others);
    pt_free(g.members);
    return is_found;
}

static int by_loss(const void *a, const void *b) {
    const struct pt_straggling *x = a, *y = b;
    if (x->lost_s != y->lost_s)
        return x->lost_s > y->lost_s ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

void pt_stragglers_finish(struct pt_stragglers *s) {
    if (s->span_count == 0)
        return;
    qsort(s->spans, s->span_count, sizeof *s->spans, by_step);
    s->list = pt_calloc(s->names.count, sizeof *s->list);
    for (size_t from = 0, to; from < s->span_count; from = to) {
        for (to = from; to < s->span_count && s->spans[to].name == s->spans[from].name;)
            to++;
        s->count += judge_name(s, from, to, &s->list[s->count]);
    }
    if (s->count > 0)
        qsort(s->list, s->count, sizeof *s->list, by_loss);
}

const struct pt_straggling *pt_stragglers_worst(const struct pt_stragglers *s) {
    for (int wants_collective = 0; wants_collective < 2; wants_collective++)
        for (size_t i = 0; i < s->count; i++)
            if (s->list[i].is_straggler && s->list[i].is_collective == wants_collective)
                return &s->list[i];
    return NULL;
}
