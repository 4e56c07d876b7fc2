#include "store/rank.h"

#include "base/json_walk.h"
#include "base/scan.h"

#include <errno.h>

static void take_identity(void *arg, const char *path, struct pt_json_value value) {
    struct pt_rank_identity *identity = arg;
    struct pt_scan number = pt_scan_of(value.text);
    if (value.kind == PT_JSON_NULL)
        return;
    if (strcmp(path, "host.hostname") == 0)
        pt_str_copy(identity->host, sizeof identity->host, value.text);
    else if (strcmp(path, "host.boot_id") == 0)
        pt_str_copy(identity->boot_id, sizeof identity->boot_id, value.text);
    else if (strcmp(path, "rank.number") == 0)
        identity->rank = pt_scan_i64(&number);
    else if (strcmp(path, "rank.world_size") == 0)
        identity->world_size = pt_scan_i64(&number);
}

void pt_rank_identify(struct pt_rank_identity *identity, const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, "static");
    *identity = (struct pt_rank_identity){ .rank = -1, .world_size = -1 };
    if (note &&
        pt_json_walk((struct pt_str){ note->text, note->text_len }, take_identity, identity))
        return; /* what came before the fault is kept */
}

static void take_label(struct pt_ranks *r, struct pt_str label) {
    if (r->count == PT_RANKS_MAX)
        return;
    pt_grow(&r->labels, &r->capacity, r->count + 1, sizeof *r->labels);
    pt_grow(&r->machines, &r->machine_capacity, r->count + 1, sizeof *r->machines);
    r->labels[r->count] = pt_strndup(label);
    r->machines[r->count++] = pt_strndup(label);
}

/* "runs.3.label"; a run begins with its label, what follows of host and boot says more. */
static void take_rank(void *arg, const char *path, struct pt_json_value value) {
    struct pt_ranks *r = arg;
    struct pt_str name = pt_str_from(path);
    struct pt_scan scan = pt_scan_of(name);
    bool is_run = pt_scan_take(&scan, PT_STR("runs."));
    uint64_t index = pt_scan_u64(&scan);
    if (!is_run || scan.failed || value.kind == PT_JSON_NULL)
        return;
    if (pt_str_ends(name, PT_STR(".label"))) {
        take_label(r, value.text);
    } else if (index < r->count &&
               (pt_str_ends(name, PT_STR(".host")) || pt_str_ends(name, PT_STR(".boot_id")))) {
        pt_free(r->machines[index]);
        r->machines[index] = pt_strndup(value.text);
    }
}

void pt_ranks_read(struct pt_ranks *r, const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, PT_RANK_NOTE);
    *r = (struct pt_ranks){ 0 };
    if (note && pt_json_walk((struct pt_str){ note->text, note->text_len }, take_rank, r))
        return;
}

void pt_ranks_release(struct pt_ranks *r) {
    for (size_t i = 0; i < r->count; i++) {
        pt_free(r->labels[i]);
        pt_free(r->machines[i]);
    }
    pt_free(r->labels);
    pt_free(r->machines);
    *r = (struct pt_ranks){ 0 };
}

bool pt_ranks_is_first(const struct pt_ranks *r, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(r->machines[i], r->machines[index]) == 0)
            return false;
    return true;
}

static const struct pt_column rank_column = {
    .name = PT_RANK_COLUMN,
    .short_name = PT_RANK_COLUMN,
    .kind = PT_KEY,
    .type = PT_STRING,
    .help = "Run that the row belongs to",
};

/* A table that grows; its texts are those of others. */
struct growing {
    struct pt_table *table;
    struct pt_column *columns;
    const char **sources;
    size_t column_capacity, source_capacity;
};

static uint8_t add_source(struct growing *g, const char *source) {
    for (uint16_t i = 0; i < g->table->source_count; i++)
        if (strcmp(g->sources[i], source) == 0)
            return (uint8_t)i;
    pt_grow(&g->sources, &g->source_capacity, g->table->source_count + 1u, sizeof *g->sources);
    g->sources[g->table->source_count] = source;
    return (uint8_t)g->table->source_count++;
}

static void append_column(struct growing *g, const struct pt_column *column) {
    pt_grow(&g->columns, &g->column_capacity, g->table->column_count + 1u, sizeof *g->columns);
    g->columns[g->table->column_count++] = *column;
}

static int add_column(struct growing *g, const struct pt_table *from,
                      const struct pt_column *column, struct pt_err *err) {
    for (uint16_t i = 0; i < g->table->column_count; i++) {
        if (strcmp(g->columns[i].name, column->name) != 0)
            continue;
        if (g->columns[i].type == column->type && g->columns[i].kind == column->kind &&
            g->columns[i].unit == column->unit)
            return 0;
        return pt_fail(err, -EINVAL,
                       "cannot merge: column %s of table %s differs between the runs (they were "
                       "recorded by different versions)",
                       column->name, from->name);
    }
    struct pt_column added = *column;
    added.source =
        column->source < from->source_count ? add_source(g, from->sources[column->source]) : 0;
    append_column(g, &added);
    return 0;
}

/* The table of this name in all schemas, as one. */
static int make_table(struct pt_table *into, const char *name,
                      const struct pt_schema *const *schemas, size_t count, struct pt_err *err) {
    struct growing g = { .table = into };
    int rc = 0;
    append_column(&g, &rank_column);
    for (size_t i = 0; i < count && !rc; i++) {
        int index = pt_schema_find(schemas[i], name);
        if (index < 0)
            continue;
        const struct pt_table *from = schemas[i]->tables[index];
        if (!into->name) { /* what it is, with columns and sources of its own */
            uint16_t column_count = into->column_count, source_count = into->source_count;
            *into = *from;
            into->column_count = column_count;
            into->source_count = source_count;
        }
        for (uint16_t s = 0; s < from->source_count; s++)
            add_source(&g, from->sources[s]);
        for (uint16_t c = 0; c < from->column_count && !rc; c++)
            rc = add_column(&g, from, &from->columns[c], err);
    }
    into->columns = g.columns;
    into->sources = g.sources;
    return rc;
}

/* Tables of a schema that is made table by table. */
struct table_list {
    struct pt_table **tables;
    size_t capacity;
    uint32_t count;
};

static bool has_table(const struct table_list *l, const char *name) {
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->tables[i]->name, name) == 0)
            return true;
    return false;
}

static struct pt_table *add_table(struct table_list *l) {
    pt_grow(&l->tables, &l->capacity, l->count + 1, sizeof *l->tables);
    return l->tables[l->count++] = pt_calloc(1, sizeof(struct pt_table));
}

static struct pt_schema finish(const struct table_list *l) {
    return (struct pt_schema){ (const struct pt_table *const *)l->tables, l->count };
}

int pt_rank_schema_make(struct pt_schema *into, const struct pt_schema *const *schemas,
                        size_t count, struct pt_err *err) {
    struct table_list list = { 0 };
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < schemas[i]->table_count && !rc; t++)
            if (!has_table(&list, schemas[i]->tables[t]->name))
                rc = make_table(add_table(&list), schemas[i]->tables[t]->name, schemas, count, err);
    *into = finish(&list);
    if (rc)
        pt_rank_schema_release(into);
    return rc;
}

void pt_rank_schema_release(struct pt_schema *schema) {
    for (uint32_t i = 0; i < schema->table_count; i++) {
        pt_free((struct pt_column *)schema->tables[i]->columns);
        pt_free((const char **)schema->tables[i]->sources);
        pt_free((struct pt_table *)schema->tables[i]);
    }
    pt_free((const struct pt_table **)schema->tables);
    *schema = (struct pt_schema){ 0 };
}

struct pt_str pt_rank_of(const struct pt_sample *sample) {
    for (uint32_t i = 0; i < sample->schema->table_count; i++) {
        const struct pt_batch *b = &sample->batches[i];
        if (b->row_count > 0 && b->table->columns[0].type == PT_STRING && !pt_is_null(b, 0, 0) &&
            strcmp(b->table->columns[0].name, PT_RANK_COLUMN) == 0)
            return pt_get_str(b, 0, 0);
    }
    return PT_STR("");
}

/* The same table without its first column. */
static void copy_without_rank(struct pt_table *into, const struct pt_table *from) {
    size_t column_count = from->column_count - 1u;
    struct pt_column *columns = pt_calloc(column_count + 1, sizeof *columns);
    const char **sources = pt_calloc(from->source_count + 1u, sizeof *sources);
    memcpy(columns, from->columns + 1, column_count * sizeof *columns);
    for (uint16_t i = 0; i < from->source_count; i++)
        sources[i] = from->sources[i];
    *into = *from;
    into->columns = columns;
    into->column_count = (uint16_t)column_count;
    into->sources = sources;
}

void pt_rank_view_init(struct pt_rank_view *v, const struct pt_schema *merged) {
    struct table_list list = { 0 };
    v->projections = pt_calloc(merged->table_count, sizeof *v->projections);
    for (uint32_t i = 0; i < merged->table_count; i++) {
        struct pt_table *table = add_table(&list);
        copy_without_rank(table, merged->tables[i]);
        pt_projection_init(&v->projections[i], merged->tables[i], table);
    }
    v->schema = finish(&list);
    pt_sample_init(&v->sample, &v->schema);
}

void pt_rank_view_release(struct pt_rank_view *v) {
    pt_sample_release(&v->sample);
    for (uint32_t i = 0; i < v->schema.table_count; i++)
        pt_projection_release(&v->projections[i]);
    pt_free(v->projections);
    pt_rank_schema_release(&v->schema);
    *v = (struct pt_rank_view){ 0 };
}

bool pt_rank_view_take(struct pt_rank_view *v, const struct pt_sample *merged, const char *label) {
    if (!pt_str_eq(pt_rank_of(merged), pt_str_from(label)))
        return false;
    pt_sample_clear(&v->sample);
    v->sample.mono_ns = merged->mono_ns;
    v->sample.wall_ns = merged->wall_ns;
    for (uint32_t i = 0; i < v->schema.table_count; i++)
        for (uint32_t row = 0; row < merged->batches[i].row_count; row++)
            pt_projection_add(&v->projections[i], &merged->batches[i], row, 0,
                              &v->sample.batches[i]);
    return true;
}
