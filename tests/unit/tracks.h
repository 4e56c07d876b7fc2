/* tests/unit/tracks.h -- runs of known content: journals written through the store.
 *
 * A track is a column of a row with a known course: a gauge of that level, a counter that grows by
 * so much a second. Tables, keys and columns are those that the tracks name; a later track of the
 * same column replaces an earlier one. The key of a row is its name too. */
#ifndef PT_TEST_TRACKS_H
#define PT_TEST_TRACKS_H

#include "test.h"

#include "base/mem.h"
#include "sampler/sampler.h"
#include "store/journal.h"

#include <math.h>
#include <unistd.h>

#define TRACKS_MAX 96

struct track {
    const char *table, *key, *column; /* key NULL: the table has one row */
    char kind;                        /* 'g' gauge, 'c' counter; 0 ends a list */
    double value, slope;              /* level, or growth a second; slope: of a gauge, a second */
};

struct track_set {
    struct track tracks[TRACKS_MAX];
    size_t count;
    struct pt_table tables[16];
    char key_names[16][64], name_names[16][64];
    struct pt_column columns[16][TRACKS_MAX];
    const struct pt_table *pointers[16];
    struct pt_schema schema;
};

static inline bool tracks_meet(const struct track *a, const struct track *b) {
    return strcmp(a->table, b->table) == 0 && strcmp(a->column, b->column) == 0 &&
           strcmp(a->key ? a->key : "", b->key ? b->key : "") == 0;
}

/* What a profile says is in no journal. */
static inline bool tracks_is_recorded(const struct track *track) {
    return strcmp(track->table, "profile") != 0;
}

/* NAN takes the column away. */
static inline void tracks_add(struct track_set *set, const struct track *list) {
    for (; list->kind; list++) {
        size_t i = 0;
        while (i < set->count && !tracks_meet(&set->tracks[i], list))
            i++;
        assert_true(i < TRACKS_MAX);
        set->tracks[i] = *list;
        set->count += i == set->count;
    }
}

/* The file of a table, as the collectors have it. */
static inline const char *tracks_file(const char *table) {
    static const char *const files[][2] = { { "container", "containers" },
                                            { "gpu", "gpus" },
                                            { "gpu_process", "gpu_processes" },
                                            { "core", "cpus" },
                                            { "drive", "disks" },
                                            { "interface", "interfaces" },
                                            { "pressure", "pressure" },
                                            { "engines", "engines" },
                                            { "collector", "collectors" } };
    for (size_t i = 0; i < PT_COUNT(files); i++)
        if (strcmp(files[i][0], table) == 0)
            return files[i][1];
    return "";
}

static inline int tracks_table(struct track_set *set, const char *name) {
    static const char *const sources[] = { "test" };
    for (uint32_t t = 0; t < set->schema.table_count; t++)
        if (strcmp(set->tables[t].name, name) == 0)
            return (int)t;
    uint32_t t = set->schema.table_count++;
    assert_true(t < 16);
    set->tables[t] = (struct pt_table){ .name = name,
                                        .file = tracks_file(name),
                                        .section = name,
                                        .help = "",
                                        .columns = set->columns[t],
                                        .sources = sources,
                                        .column_count = 2,
                                        .source_count = 1 };
    /* tables of the main file share its names */
    snprintf(set->key_names[t], sizeof set->key_names[t], "%sKey", name);
    set->columns[t][0] = (struct pt_column){
        set->key_names[t], set->key_names[t], PT_KEY, PT_STRING, PT_NONE, 0, ""
    };
    snprintf(set->name_names[t], sizeof set->name_names[t], "%sName", name);
    set->columns[t][1] = (struct pt_column){
        set->name_names[t], set->name_names[t], PT_INFO, PT_STRING, PT_NONE, 0, ""
    };
    set->pointers[t] = &set->tables[t];
    set->schema.tables = set->pointers;
    return (int)t;
}

/* The column of that name as the collectors declare it, or NULL. */
static inline const struct pt_column *tracks_known(const char *table, const char *column) {
    static const struct pt_table *tables[PT_SAMPLER_TABLES];
    static struct pt_schema known = { tables, 0 };
    if (known.table_count == 0)
        known.table_count = pt_sampler_tables(tables);
    pt_schema_install(&known);
    int t = pt_schema_find(&known, table);
    int c = t < 0 ? -1 : pt_table_find(tables[t], column);
    return c < 0 ? NULL : &tables[t]->columns[c];
}

static inline void tracks_make_schema(struct track_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        const struct track *track = &set->tracks[i];
        if (!tracks_is_recorded(track))
            continue;
        int t = tracks_table(set, track->table);
        const struct pt_column *known = tracks_known(track->table, track->column);
        if (pt_table_find(&set->tables[t], track->column) < 0)
            set->columns[t][set->tables[t].column_count++] =
                (struct pt_column){ track->column,
                                    track->column,
                                    track->kind == 'c' ? PT_COUNTER : PT_GAUGE,
                                    PT_F64,
                                    known ? known->unit : PT_NONE,
                                    0,
                                    "" };
    }
}

/* The row of the track's key, made if it is not there. */
static inline uint32_t tracks_row(struct pt_batch *b, const char *key, int64_t mono_ns) {
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_is_null(b, row, 0) ? !key
                                  : key && pt_str_eq(pt_get_str(b, row, 0), pt_str_from(key)))
            return row;
    pt_batch_add_row(b);
    pt_set_time(b, 0, mono_ns);
    if (key) {
        pt_set_str(b, 0, pt_str_from(key));
        pt_set_str(b, 1, pt_str_from(key));
    }
    return b->row_count - 1;
}

static inline void tracks_fill(const struct track_set *set, struct pt_sample *s, double seconds,
                               double noise) {
    for (size_t i = 0; i < set->count; i++) {
        const struct track *track = &set->tracks[i];
        if (isnan(track->value) || !tracks_is_recorded(track))
            continue;
        struct pt_batch *b = &s->batches[pt_schema_find(&set->schema, track->table)];
        uint32_t row = tracks_row(b, track->key, s->mono_ns);
        double value = track->kind == 'c' ? 1000 + track->value * seconds
                                          : (track->value + track->slope * seconds) * noise;
        pt_batch_set_at_f64(b, row, pt_table_find(b->table, track->column), value);
    }
}

/* A journal of `seconds`, a sample each `step` seconds; `path` is a template for mkstemp. */
static inline void tracks_write(struct track_set *set, double seconds, double step, char *path) {
    struct pt_journal journal = { 0 };
    struct pt_sample sample;
    struct pt_err err = { "" };
    uint8_t uuid[16] = { 1 };
    tracks_make_schema(set);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_int_equal(pt_journal_create(&journal, path, uuid, &set->schema, &err), 0);
    pt_sample_init(&sample, &set->schema);
    for (double t = 0; t <= seconds; t += step) {
        pt_sample_clear(&sample);
        sample.mono_ns = INT64_C(1000000000) + (int64_t)(t * 1e9);
        sample.wall_ns = INT64_C(1700000000000000000) + (int64_t)(t * 1e9);
        tracks_fill(set, &sample, t, 1);
        assert_int_equal(pt_journal_write(&journal, &sample), 0);
    }
    pt_sample_release(&sample);
    assert_int_equal(pt_journal_close(&journal), 0);
}

#endif
