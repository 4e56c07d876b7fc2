#include "report/events.h"

#include "base/mem.h"
#include "derive/field.h"

#define ALL_ROWS PT_FIELD_COUNT

/* `field`: only rows with a value there are events. */
static const struct {
    const char *table, *kind;
    enum pt_field_id field;
} event_tables[] = {
    { "mark", "mark", ALL_ROWS },
    { "alert", "alert", ALL_ROWS },
    { "collector", "pitot", PT_FIELD_COLLECTOR_EVENT },
};

bool pt_report_events_has(const struct pt_table *table) {
    for (size_t i = 0; i < PT_COUNT(event_tables); i++)
        if (event_tables[i].field == ALL_ROWS && strcmp(event_tables[i].table, table->name) == 0)
            return true;
    return false;
}

/* All texts of a row. */
static char *text_of(const struct pt_batch *b, uint32_t row) {
    struct pt_buf text = { 0 };
    for (int i = 0; i < b->table->column_count; i++) {
        if (b->table->columns[i].type != PT_STRING || pt_is_null(b, row, i))
            continue;
        if (text.len > 0)
            pt_buf_str(&text, PT_STR(": "));
        pt_buf_str(&text, pt_get_str(b, row, i));
    }
    char *copy = pt_strndup(pt_buf_as_str(&text));
    pt_buf_release(&text);
    return copy;
}

static void add_rows(struct pt_report_events *e, const struct pt_batch *b, int column,
                     const char *kind, int64_t time_ns) {
    for (uint32_t row = 0; row < b->row_count; row++) {
        if (column >= 0 && pt_is_null(b, row, column))
            continue;
        if (e->count == PT_REPORT_EVENTS_MAX) {
            e->left_out_count++;
            continue;
        }
        pt_grow(&e->list, &e->capacity, e->count + 1, sizeof *e->list);
        e->list[e->count++] = (struct pt_report_event){ time_ns, kind, text_of(b, row) };
    }
}

void pt_report_events_add(struct pt_report_events *e, const struct pt_sample *sample) {
    for (size_t i = 0; i < PT_COUNT(event_tables); i++) {
        int table = pt_schema_find(sample->schema, event_tables[i].table), column = -1;
        if (table < 0)
            continue;
        if (event_tables[i].field != ALL_ROWS) {
            column = pt_field_column(sample->schema->tables[table], event_tables[i].field);
            if (column < 0)
                continue;
        }
        add_rows(e, &sample->batches[table], column, event_tables[i].kind, sample->mono_ns);
    }
}

void pt_report_events_write(const struct pt_report_events *e, int64_t start_ns, struct pt_json *j) {
    pt_json_array(j, "events");
    for (size_t i = 0; i < e->count; i++) {
        pt_json_object(j, NULL);
        pt_json_f64(j, "time", (double)(e->list[i].time_ns - start_ns) / 1e9);
        pt_json_text(j, "kind", e->list[i].kind);
        pt_json_text(j, "text", e->list[i].text);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_i64(j, "events_left_out", (int64_t)e->left_out_count);
}

void pt_report_events_release(struct pt_report_events *e) {
    for (size_t i = 0; i < e->count; i++)
        pt_free(e->list[i].text);
    pt_free(e->list);
}
