#include "report/processes.h"

#include "base/mem.h"
#include "report/encode.h"
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

static const char *text_of(const struct pt_things *t, const struct pt_thing *thing,
                           const char *column) {
    int index = pt_table_find(t->table, column);
    return index < 0 ? NULL : thing->texts[index];
}

/* The growth of a counter or the peak of a gauge; null without a value. */
static void write_value(const struct pt_things *t, const struct pt_thing *thing, int index,
                        struct pt_json *j) {
    const struct pt_thing_column *c = index < 0 ? NULL : &thing->columns[index];
    if (!c || c->count == 0)
        pt_json_null(j, NULL);
    else
        pt_json_f64(j, NULL, t->table->columns[index].kind == PT_COUNTER ? c->sum : c->peak);
}

/* Processes of several hosts can have the same pid: add the rank. */
static void write_id(const struct pt_things *t, const struct pt_thing *thing, const char *key,
                     const char *column, struct pt_json *j) {
    const char *rank = text_of(t, thing, PT_RANK_COLUMN), *id = text_of(t, thing, column);
    char *whole = rank && id ? pt_asprintf("%s/%s", rank, id) : NULL;
    pt_json_text(j, key, whole ? whole : id);
    pt_free(whole);
}

static void write_process(const struct pt_things *t, const struct pt_thing *thing, int64_t start_ns,
                          struct pt_json *j) {
    pt_json_object(j, NULL);
    write_id(t, thing, "id", "pId", j);
    write_id(t, thing, "parent", "pParentId", j);
    pt_json_text(j, "name", text_of(t, thing, "pName"));
    pt_json_text(j, "command", text_of(t, thing, "pCmdline"));
    pt_json_bool(j, "is_recorded", thing->is_recorded);
    pt_json_f64(j, "from", (double)(thing->first_ns - start_ns) / 1e9);
    pt_json_f64(j, "to", (double)(thing->last_ns - start_ns) / 1e9);
    pt_json_array(j, "values");
    for (size_t i = 0; i < PT_COUNT(shown); i++)
        write_value(t, thing, pt_table_find(t->table, shown[i].column), j);
    pt_json_end(j);
    pt_json_end(j);
}

static void write_columns(const struct pt_things *t, struct pt_json *j) {
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

void pt_report_processes_write(const struct pt_things *things, int64_t start_ns,
                               struct pt_json *j) {
    if (!things || things->keys.count == 0) {
        pt_json_null(j, "processes");
        return;
    }
    size_t count = things->keys.count < PROCESSES_MAX ? things->keys.count : PROCESSES_MAX;
    pt_json_object(j, "processes");
    pt_json_i64(j, "seen", (int64_t)(things->keys.count + things->dropped_count));
    write_columns(things, j);
    pt_json_array(j, "rows");
    for (size_t i = 0; i < count; i++)
        write_process(things, &things->list[things->chosen[i]], start_ns, j);
    pt_json_end(j);
    pt_json_end(j);
}
