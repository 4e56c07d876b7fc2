/* format/rows/snapshot.c -- snapshots: a file per sample, <name>-<Unix ms>.json.
 *
 *     {"timestamp":1703462400000,
 *      "cpu":{"vCpuTime":{"value":12345678,"time":1703462400003},...},
 *      "containers":[{"cId":"a1b2","cMemoryUsed":{"value":...,"time":...}}],
 *      "processes":{"pNumProcesses":{...},"processes":[{"pId":1,...}]}}
 *
 * Each section is a key: an object for tables of the main file, an array for
 * tables of entities. A section that has both is the object with the array in it
 * under the same name. Values of key and info columns are plain; nulls are left
 * out; a whole float is 2.0. format/rows/snapshot_shapes.h has what is nested
 * deeper. Samples without a row in any section (a mark) have no snapshot. */
#include "format/rows/formats.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/place.h"
#include "format/rows/snapshot_shapes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* A key of the snapshot and the value of its tables: an object, an array, or both. */
struct section {
    const char *name;
    bool has_main, has_entities;
};

struct snapshots {
    struct section *sections; /* in the order of the schema */
    size_t section_count, section_capacity;
    char *directory_path, *name;
    int directory;
    int64_t *used_ms; /* of the names used so far, ascending */
    size_t used_count, used_capacity;
    struct pt_snapshot_histograms histograms; /* so far */
    int error;                                /* 0 or the first error: */
    struct pt_err words;
};

/* The time that names the file: the next free one if two samples share a millisecond. Searches
 * backwards because time nearly always goes forward. */
static int64_t reserve_ms(struct snapshots *s, int64_t ms) {
    size_t at = s->used_count;
    while (at > 0 && s->used_ms[at - 1] >= ms)
        at--;
    for (; at < s->used_count && s->used_ms[at] == ms; at++)
        ms++;
    pt_grow(&s->used_ms, &s->used_capacity, s->used_count + 1, sizeof *s->used_ms);
    memmove(s->used_ms + at + 1, s->used_ms + at, (s->used_count - at) * sizeof *s->used_ms);
    s->used_ms[at] = ms;
    s->used_count++;
    return ms;
}

static void write_value(struct pt_json *j, const char *key, const struct pt_batch *b, uint32_t row,
                        int column) {
    switch (b->table->columns[column].type) {
    case PT_I64:
        pt_json_i64(j, key, pt_get_i64(b, row, column));
        break;
    case PT_F64:
        pt_json_float(j, key, pt_get_f64(b, row, column));
        break;
    case PT_STRING:
        pt_json_str(j, key, pt_get_str(b, row, column));
        break;
    }
}

static void write_columns(const struct snapshots *s, struct pt_json *j,
                          const struct pt_sample *sample, const struct pt_batch *b, uint32_t row) {
    for (int i = 0; i < b->table->column_count; i++) {
        const struct pt_column *column = &b->table->columns[i];
        if (pt_is_null(b, row, i))
            continue;
        if (!pt_column_is_timed(b->table, column)) {
            write_value(j, column->name, b, row, i);
            continue;
        }
        pt_json_object(j, column->name);
        write_value(j, "value", b, row, i);
        pt_json_i64(j, "time", pt_snapshot_time(sample, b, row, column->source));
        pt_json_end(j);
    }
    pt_snapshot_write_nested(sample, (uint32_t)(b - sample->batches), row, &s->histograms, j);
}

static bool is_main(const struct pt_table *t) {
    return t->file[0] == 0;
}

/* The first row of the main tables of the section, or all rows of its tables of entities. */
static void write_tables(const struct snapshots *s, struct pt_json *j,
                         const struct pt_sample *sample, const char *section, bool wants_main) {
    for (uint32_t i = 0; i < sample->schema->table_count; i++) {
        const struct pt_batch *b = &sample->batches[i];
        const struct pt_table *t = b->table;
        if (!t->section || strcmp(t->section, section) != 0 || is_main(t) != wants_main ||
            pt_snapshot_is_nested(t))
            continue;
        if (wants_main && b->row_count > 0)
            write_columns(s, j, sample, b, 0);
        for (uint32_t row = 0; !wants_main && row < b->row_count; row++) {
            pt_json_object(j, NULL);
            write_columns(s, j, sample, b, row);
            pt_json_end(j);
        }
    }
}

static void write_snapshot(const struct snapshots *s, const struct pt_sample *sample,
                           struct pt_out *out) {
    struct pt_json j = { .out = out };
    pt_json_object(&j, NULL);
    pt_json_i64(&j, "timestamp", pt_unix_ms(sample->wall_ns));
    for (size_t i = 0; i < s->section_count; i++) {
        const struct section *section = &s->sections[i];
        if (section->has_main) {
            pt_json_object(&j, section->name);
            write_tables(s, &j, sample, section->name, true);
        }
        if (section->has_entities) {
            pt_json_array(&j, section->name);
            write_tables(s, &j, sample, section->name, false);
            pt_json_end(&j);
        }
        if (section->has_main)
            pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_out_char(out, '\n');
}

/* Written under a temporary name, then renamed: a snapshot is complete or absent. The descriptor
 * and relative names avoid walking the path for thousands of files. */
static int create_snapshot(const struct snapshots *s, const struct pt_sample *sample,
                           const char *name) {
    struct pt_place place = { .directory = s->directory };
    pt_str_copy(place.name, sizeof place.name, pt_str_from(name));
    int fd = pt_place_create(&place);
    if (fd < 0)
        return fd;
    struct pt_out out;
    pt_out_borrow(&out, fd);
    write_snapshot(s, sample, &out);
    int rc = pt_out_close(&out);
    if (close(fd) && !rc)
        rc = -errno;
    if (rc)
        pt_place_remove(&place);
    return rc ? rc : pt_place_publish(&place);
}

static bool has_section_rows(const struct pt_sample *sample) {
    for (uint32_t i = 0; i < sample->schema->table_count; i++)
        if (sample->batches[i].table->section && sample->batches[i].row_count > 0)
            return true;
    return false;
}

static int write_sample(void *state, const struct pt_sample *sample) {
    struct snapshots *s = state;
    pt_snapshot_histograms_add(&s->histograms, sample);
    if (!has_section_rows(sample))
        return s->error;
    int64_t ms = reserve_ms(s, pt_unix_ms(sample->wall_ns));
    char *name = pt_asprintf("%s-%" PRId64 ".json", s->name, ms);
    int rc = create_snapshot(s, sample, name);
    if (rc && !s->error)
        s->error = pt_fail(&s->words, rc, "cannot write %s/%s: %s", s->directory_path, name,
                           strerror(-rc));
    pt_free(name);
    return s->error;
}

static struct section *section_named(struct snapshots *s, const char *name) {
    for (size_t i = 0; i < s->section_count; i++)
        if (strcmp(s->sections[i].name, name) == 0)
            return &s->sections[i];
    pt_grow(&s->sections, &s->section_capacity, s->section_count + 1, sizeof *s->sections);
    s->sections[s->section_count] = (struct section){ .name = name };
    return &s->sections[s->section_count++];
}

static int open_snapshots(void *state, const struct pt_sink_target *target, struct pt_err *err) {
    struct snapshots *s = state;
    int fd = open(target->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot open %s: %s", target->directory, strerror(errno));
    *s = (struct snapshots){ .directory_path = pt_strdup(target->directory),
                             .name = pt_strdup(target->name),
                             .directory = fd };
    for (uint32_t i = 0; i < target->schema->table_count; i++) {
        const struct pt_table *t = target->schema->tables[i];
        if (!t->section || pt_snapshot_is_nested(t))
            continue;
        struct section *section = section_named(s, t->section);
        *(is_main(t) ? &section->has_main : &section->has_entities) = true;
    }
    return 0;
}

static int close_snapshots(void *state, struct pt_err *err) {
    struct snapshots *s = state;
    close(s->directory);
    pt_free(s->sections);
    pt_free(s->directory_path);
    pt_free(s->name);
    pt_free(s->used_ms);
    pt_snapshot_histograms_release(&s->histograms);
    if (s->error && err)
        *err = s->words;
    return s->error;
}

const struct pt_sink_type pt_json_sink = {
    .name = "json",
    .help = "one JSON snapshot per sample: <uuid>-<Unix ms>.json",
    .state_size = sizeof(struct snapshots),
    .open = open_snapshots,
    .write = write_sample,
    .close = close_snapshots,
};
