#include "format/rows/snapshot_shapes.h"

#include "base/scan.h"
#include "format/rows/formats.h"

#include <inttypes.h>
#include <stdio.h>

/* Rows of table `from` are written into those of `into` under `member`. */
struct shape {
    const char *into, *from, *member;
    bool has_section; /* `from` is shown elsewhere too */
    void (*write)(const struct pt_sample *sample, const struct pt_batch *into, uint32_t row,
                  const struct pt_batch *from, const char *member, struct pt_json *j);
};

int64_t pt_snapshot_time(const struct pt_sample *sample, const struct pt_batch *b, uint32_t row,
                         int source) {
    return pt_unix_ms(pt_sample_wall_of(sample, pt_get_time(b, row, source)));
}

/* The column of that name and type; -1: the table has none, or the row has no value there. */
static int column_of(const struct pt_batch *b, uint32_t row, const char *name, enum pt_type type) {
    int column = pt_table_find(b->table, name);
    bool is_usable =
        column >= 0 && b->table->columns[column].type == type && !pt_is_null(b, row, column);
    return is_usable ? column : -1;
}

static bool is_same(const struct pt_batch *a, uint32_t row_a, const struct pt_batch *b,
                    uint32_t row_b, const char *key) {
    int x = column_of(a, row_a, key, PT_STRING), y = column_of(b, row_b, key, PT_STRING);
    if (x >= 0 && y >= 0)
        return pt_str_eq(pt_get_str(a, row_a, x), pt_get_str(b, row_b, y));
    x = column_of(a, row_a, key, PT_I64), y = column_of(b, row_b, key, PT_I64);
    return x >= 0 && y >= 0 && pt_get_i64(a, row_a, x) == pt_get_i64(b, row_b, y);
}

/* {"cCpu0Time": {"value": 5, "time": ...}}; left out without rows. */
static void write_cpu_times(const struct pt_sample *sample, const struct pt_batch *into,
                            uint32_t row, const struct pt_batch *from, const char *member,
                            struct pt_json *j) {
    bool has_begun = false;
    for (uint32_t i = 0; i < from->row_count; i++) {
        int cpu = column_of(from, i, "cCpu", PT_I64), time = column_of(from, i, "cCpuTime", PT_I64);
        if (cpu < 0 || time < 0 || !is_same(into, row, from, i, "cId"))
            continue;
        if (!has_begun)
            pt_json_object(j, member);
        has_begun = true;
        char name[40];
        snprintf(name, sizeof name, "cCpu%" PRId64 "Time", pt_get_i64(from, i, cpu));
        pt_json_object(j, name);
        pt_json_i64(j, "value", pt_get_i64(from, i, time));
        pt_json_i64(j, "time",
                    pt_snapshot_time(sample, from, i, from->table->columns[time].source));
        pt_json_end(j);
    }
    if (has_begun)
        pt_json_end(j);
}

/* "4711: python (1024 MB)", as much of it as is known. */
static void write_gpu_process(const struct pt_batch *b, uint32_t row, struct pt_json *j) {
    int pid = column_of(b, row, "pId", PT_I64), name = column_of(b, row, "pName", PT_STRING),
        memory = column_of(b, row, "gUsedMemoryMb", PT_I64);
    pid = pid >= 0 ? pid : column_of(b, row, "gHostPid", PT_I64);
    struct pt_buf text = { 0 };
    char number[40] = "?";
    if (pid >= 0)
        snprintf(number, sizeof number, "%" PRId64, pt_get_i64(b, row, pid));
    pt_buf_str(&text, pt_str_from(number));
    if (name >= 0) {
        pt_buf_str(&text, PT_STR(": "));
        pt_buf_str(&text, pt_get_str(b, row, name));
    }
    if (memory >= 0) {
        snprintf(number, sizeof number, " (%" PRId64 " MB)", pt_get_i64(b, row, memory));
        pt_buf_str(&text, pt_str_from(number));
    }
    pt_json_str(j, NULL, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

/* An empty array if it is known that there are none. */
static void write_gpu_processes(const struct pt_sample *sample, const struct pt_batch *into,
                                uint32_t row, const struct pt_batch *from, const char *member,
                                struct pt_json *j) {
    (void)sample;
    bool has_begun = column_of(into, row, "gProcessCount", PT_I64) >= 0;
    if (has_begun)
        pt_json_array(j, member);
    for (uint32_t i = 0; i < from->row_count; i++) {
        if (!is_same(into, row, from, i, "gGpuIndex"))
            continue;
        if (!has_begun)
            pt_json_array(j, member);
        has_begun = true;
        write_gpu_process(from, i, j);
    }
    if (has_begun)
        pt_json_end(j);
}

/* A label in the text of eConfig. */
struct label {
    struct pt_str name, value; /* the value is in `decoded` if it was quoted */
    bool is_quoted;
};

/* "cache_config.block_size=16, model_name=\"a, b\"": the next label; false at the end. */
static bool next_label(struct pt_scan *s, struct label *l, struct pt_buf *decoded) {
    const char *equals = s->at < s->end ? memchr(s->at, '=', (size_t)(s->end - s->at)) : NULL;
    if (!equals)
        return false;
    *l = (struct label){ .name = { s->at, (size_t)(equals - s->at) } };
    s->at = equals + 1;
    l->is_quoted = pt_scan_take(s, PT_STR("\""));
    pt_buf_clear(decoded);
    while (s->at < s->end && (l->is_quoted ? *s->at != '"' : *s->at != ',')) {
        bool is_escape = l->is_quoted && *s->at == '\\' && s->at + 1 < s->end;
        s->at += is_escape;
        pt_buf_u8(decoded, is_escape && *s->at == 'n' ? '\n' : (uint8_t)*s->at);
        s->at++;
    }
    l->value = pt_buf_as_str(decoded);
    if (l->is_quoted)
        (void)pt_scan_take(s, PT_STR("\""));
    if (pt_scan_take(s, PT_STR(",")))
        pt_scan_blanks(s);
    return true;
}

/* True if the text is a number in JSON too: not 007, 0x10, nan or inf. */
static bool is_number(struct pt_str text) {
    size_t i = text.len > 0 && text.at[0] == '-', digits = 0;
    bool has_zero = i < text.len && text.at[i] == '0', has_point = false;
    for (; i < text.len; i++) {
        if (text.at[i] == '.' && !has_point && digits > 0) {
            has_point = true;
            if (has_zero && digits > 1)
                return false;
            digits = 0;
        } else if (text.at[i] >= '0' && text.at[i] <= '9') {
            digits++;
        } else {
            return false;
        }
    }
    return digits > 0 && (has_point || !has_zero || digits == 1);
}

/* The value of a label in a text of labels; false if it has none of that name. */
static bool find_label(struct pt_str text, struct pt_str name, struct pt_str *value,
                       struct pt_buf *decoded) {
    struct pt_scan s = pt_scan_of(text);
    for (struct label l; next_label(&s, &l, decoded);)
        if (pt_str_eq(l.name, name)) {
            *value = l.value;
            return true;
        }
    return false;
}

/* Do all engines have this label, with this value? */
static bool is_common(const struct pt_batch *from, uint32_t first, const struct label *label) {
    struct pt_buf decoded = { 0 };
    struct pt_str value;
    bool is_equal = true;
    for (uint32_t i = first + 1; i < from->row_count && is_equal; i++) {
        int config = column_of(from, i, "eConfig", PT_STRING);
        is_equal =
            config < 0 || (find_label(pt_get_str(from, i, config), label->name, &value, &decoded) &&
                           pt_str_eq(value, label->value));
    }
    pt_buf_release(&decoded);
    return is_equal;
}

/* "cache_config.block_size" is the label block_size of cache_config_info. */
static void write_label(const struct label *l, struct pt_json *j) {
    const char *point = memchr(l->name.at, '.', l->name.len);
    char name[256];
    if (!point) /* a label of other series, such as model_name */
        return;
    int family = (int)(point - l->name.at), key = (int)l->name.len - family - 1;
    snprintf(name, sizeof name, "%.*s_info_%.*s", family, l->name.at, key, point + 1);
    if (!l->is_quoted && is_number(l->value))
        pt_json_raw(j, name, l->value);
    else
        pt_json_str(j, name, l->value);
}

/* {"cache_config_info_block_size": 16}. Labels on which several engines differ are left out. */
static void write_config(const struct pt_sample *sample, const struct pt_batch *into, uint32_t row,
                         const struct pt_batch *from, const char *member, struct pt_json *j) {
    (void)sample, (void)into, (void)row;
    uint32_t first = 0;
    while (first < from->row_count && column_of(from, first, "eConfig", PT_STRING) < 0)
        first++;
    if (first == from->row_count)
        return;
    struct pt_buf decoded = { 0 };
    struct pt_scan s =
        pt_scan_of(pt_get_str(from, first, column_of(from, first, "eConfig", PT_STRING)));
    pt_json_object(j, member);
    for (struct label l; next_label(&s, &l, &decoded);)
        if (is_common(from, first, &l))
            write_label(&l, j);
    pt_json_end(j);
    pt_buf_release(&decoded);
}

static const struct shape shapes[] = {
    { "container", "container_cpu", "perCpu", false, write_cpu_times },
    { "gpu", "gpu_process", "gProcesses", false, write_gpu_processes },
    { "engine", "engines", "config", true, write_config },
};

bool pt_snapshot_is_nested(const struct pt_table *t) {
    for (size_t i = 0; i < PT_COUNT(shapes); i++)
        if (strcmp(shapes[i].from, t->name) == 0)
            return !shapes[i].has_section;
    return false;
}

void pt_snapshot_write_nested(const struct pt_sample *sample, uint32_t table, uint32_t row,
                              const struct pt_snapshot_histograms *histograms, struct pt_json *j) {
    if (strcmp(sample->schema->tables[table]->name, "engine") == 0)
        pt_snapshot_histograms_write(histograms, j);
    for (size_t i = 0; i < PT_COUNT(shapes); i++) {
        const struct shape *s = &shapes[i];
        if (strcmp(s->into, sample->schema->tables[table]->name) != 0)
            continue;
        int from = pt_schema_find(sample->schema, s->from);
        if (from >= 0)
            s->write(sample, &sample->batches[table], row, &sample->batches[from], s->member, j);
    }
}
