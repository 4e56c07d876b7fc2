#include "report/processes.h"

#include "base/mem.h"
#include "report/curve.h"
#include "store/rank.h"

#define PROCESSES_MAX 400

/* Values shown per process, and their columns. */
static const struct {
    const char *label, *column;
} shown[] = {
    { "CPU time", "pCpuTimeNs" },
    { "RSS, peak", "pResidentSetSize" },
    { "PSS, peak", "pPss" },
    { "Threads, peak", "pNumThreads" },
    { "Read", "pReadBytes" },
    { "Written", "pWriteBytes" },
    { "Major faults", "pMajorFaults" },
};

static const char *text_of(const struct pt_report_entities *t,
                           const struct pt_report_entity *entity, const char *column) {
    int index = pt_table_find(t->table, column);
    return index < 0 ? NULL : entity->texts[index];
}

/* Processes of several hosts can have the same pid: add the rank. */
static void write_id(const struct pt_report_entities *t, const struct pt_report_entity *entity,
                     const char *key, const char *column, struct pt_json *j) {
    const char *rank = text_of(t, entity, PT_RANK_COLUMN), *id = text_of(t, entity, column);
    char *whole = rank && id ? pt_asprintf("%s/%s", rank, id) : NULL;
    pt_json_text(j, key, whole ? whole : id);
    pt_free(whole);
}

static void write_process(const struct pt_report_entities *t, const struct pt_report_entity *entity,
                          int64_t start_ns, struct pt_json *j) {
    pt_json_object(j, NULL);
    write_id(t, entity, "id", "pId", j);
    write_id(t, entity, "parent", "pParentId", j);
    pt_json_text(j, "name", text_of(t, entity, "pName"));
    pt_json_text(j, "command", text_of(t, entity, "pCmdline"));
    pt_json_bool(j, "is_recorded", entity->is_recorded);
    pt_json_f64(j, "from", (double)(entity->first_ns - start_ns) / 1e9);
    pt_json_f64(j, "to", (double)(entity->last_ns - start_ns) / 1e9);
    pt_json_array(j, "values");
    for (size_t i = 0; i < PT_COUNT(shown); i++) {
        int index = pt_table_find(t->table, shown[i].column);
        const struct pt_report_entity_column *c = index < 0 ? NULL : &entity->columns[index];
        if (!c || c->count == 0)
            pt_json_null(j, NULL);
        else
            pt_json_f64(j, NULL, t->table->columns[index].kind == PT_COUNTER ? c->sum : c->peak);
    }
    pt_json_end(j);
    pt_json_end(j);
}

static void write_columns(const struct pt_report_entities *t, struct pt_json *j) {
    pt_json_array(j, "columns");
    for (size_t i = 0; i < PT_COUNT(shown); i++) {
        int index = pt_table_find(t->table, shown[i].column);
        pt_json_object(j, NULL);
        pt_json_text(j, "label", shown[i].label);
        pt_json_text(j, "unit", index < 0 ? "" : pt_unit_text_of(&t->table->columns[index]).base);
        pt_json_end(j);
    }
    pt_json_end(j);
}

void pt_report_processes_write(const struct pt_report_entities *entities, int64_t start_ns,
                               struct pt_json *j) {
    if (!entities || entities->keys.count == 0) {
        pt_json_null(j, "processes");
        return;
    }
    size_t count = entities->keys.count < PROCESSES_MAX ? entities->keys.count : PROCESSES_MAX;
    pt_json_object(j, "processes");
    pt_json_i64(j, "seen", (int64_t)(entities->keys.count + entities->dropped_count));
    write_columns(entities, j);
    pt_json_array(j, "rows");
    for (size_t i = 0; i < count; i++)
        write_process(entities, &entities->list[entities->chosen[i]], start_ns, j);
    pt_json_end(j);
    pt_json_end(j);
}
