#include "runs/merge.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/log.h"
#include "derive/field.h"
#include "derive/span_role.h"
#include "store/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uuid.h>

static const char *const method_names[] = {
    [PT_CLOCK_REFERENCE] = "reference",
    [PT_CLOCK_SAME_BOOT] = "same boot",
    [PT_CLOCK_EVENTS] = "matched events",
    [PT_CLOCK_WALL] = "wall clock",
};

static int cannot_read(const struct pt_merge_run *run, int rc, struct pt_err *err) {
    return pt_fail(err, rc, "cannot read %s: %s", run->journal, strerror(-rc));
}

/* Events that clocks are matched by; the count of each name so far, by its number. */
struct survey {
    struct pt_merge *merge;
    struct pt_merge_run *run;
    int64_t *seen;
    size_t seen_capacity;
};

static void add_event(struct survey *s, struct pt_str name, const int64_t *number,
                      int64_t time_ns) {
    struct pt_clock_event event = { .name = pt_names_add(&s->merge->names, name),
                                    .time_ns = time_ns };
    size_t before = s->seen_capacity;
    pt_grow(&s->seen, &s->seen_capacity, event.name + 1u, sizeof *s->seen);
    memset(s->seen + before, 0, (s->seen_capacity - before) * sizeof *s->seen);
    event.number = number ? *number : s->seen[event.name]++;
    pt_clock_events_add(&s->run->events, &event);
}

static void survey_marks(struct survey *s, const struct pt_sample *sample) {
    int table = pt_schema_find(sample->schema, "mark");
    const struct pt_batch *b = table < 0 ? NULL : &sample->batches[table];
    for (uint32_t row = 0; b && row < b->row_count; row++)
        for (int c = 0; c < b->table->column_count; c++)
            if (b->table->columns[c].type == PT_STRING && !pt_is_null(b, row, c))
                add_event(s, pt_get_str(b, row, c), NULL, sample->mono_ns);
}

static bool has_i64(const struct pt_batch *b, uint32_t row, int column) {
    return column >= 0 && b->table->columns[column].type == PT_I64 && !pt_is_null(b, row, column);
}

/* All ranks leave a collective operation at the same time. */
static void survey_spans(struct survey *s, const struct pt_sample *sample) {
    const struct pt_batch *b = pt_field_rows(sample, PT_FIELD_SPAN_NAME);
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        int name = pt_field_column(b->table, PT_FIELD_SPAN_NAME),
            start = pt_field_column(b->table, PT_FIELD_SPAN_START),
            duration = pt_field_column(b->table, PT_FIELD_SPAN_DURATION),
            argument = pt_field_column(b->table, PT_FIELD_SPAN_ARGUMENT);
        if (name < 0 || b->table->columns[name].type != PT_STRING || pt_is_null(b, row, name) ||
            !has_i64(b, row, start) || !has_i64(b, row, duration) ||
            pt_span_role(pt_get_str(b, row, name)) != PT_SPAN_COLLECTIVE)
            continue;
        int64_t number = has_i64(b, row, argument) ? pt_get_i64(b, row, argument) : 0;
        add_event(s, pt_get_str(b, row, name), has_i64(b, row, argument) ? &number : NULL,
                  pt_get_i64(b, row, start) + pt_get_i64(b, row, duration));
    }
}

static bool has_main_row(const struct pt_sample *sample) {
    for (uint32_t t = 0; t < sample->schema->table_count; t++)
        if (!sample->schema->tables[t]->file[0] && sample->batches[t].row_count > 0)
            return true;
    return false;
}

static void survey_sample(struct survey *s, const struct pt_sample *sample) {
    struct pt_merge_run *run = s->run;
    if (run->sample_count++ == 0) {
        run->first_mono_ns = sample->mono_ns;
        run->ahead_ns = sample->wall_ns - sample->mono_ns;
        run->closest_ns = INT64_MAX;
    }
    if (has_main_row(sample)) {
        int64_t apart_ns = run->last_row_ns ? sample->mono_ns - run->last_row_ns : INT64_MAX;
        run->closest_ns = apart_ns < run->closest_ns ? apart_ns : run->closest_ns;
        run->last_row_ns = sample->mono_ns;
    }
    if (sample->mono_ns > run->last_mono_ns)
        run->last_mono_ns = sample->mono_ns;
    survey_marks(s, sample);
    survey_spans(s, sample);
}

/* The first pass over a run: its identity, duration, and the events to match its clock by. */
static int survey_run(struct pt_merge *m, struct pt_merge_run *run, struct pt_err *err) {
    struct survey s = { .merge = m, .run = run };
    struct pt_journal_reader reader = { 0 };
    struct pt_sample sample;
    int rc = pt_journal_open(&reader, run->journal, err);
    if (rc)
        return rc;
    uuid_unparse_lower(reader.uuid, run->uuid);
    pt_sample_init(&sample, &reader.schema);
    while ((rc = pt_journal_next(&reader, &sample)) > 0)
        survey_sample(&s, &sample);
    pt_rank_identify(&run->identity, &reader);
    if (rc)
        cannot_read(run, rc, err);
    else if (pt_journal_note_find(&reader, PT_RANK_NOTE))
        rc = pt_fail(err, -EINVAL, "%s is already a merged run (give the runs it was merged from)",
                     run->journal);
    else if (run->sample_count == 0)
        rc = pt_fail(err, -ENODATA, "%s has no samples", run->journal);
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    pt_free(s.seen);
    return rc;
}

/* Runs without a rank come last, in the order they were given. */
static int by_rank(const void *a, const void *b) {
    const struct pt_merge_run *x = a, *y = b;
    uint64_t left = (uint64_t)x->identity.rank, right = (uint64_t)y->identity.rank;
    if (left != right)
        return left < right ? -1 : 1;
    return strcmp(x->journal, y->journal);
}

static bool is_taken(const struct pt_merge *m, size_t count, const char *label) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(m->runs[i].label, label) == 0)
            return true;
    return false;
}

/* "3"; if that is in use "3@host", then "3@host#2". */
static void label_run(struct pt_merge *m, size_t index) {
    struct pt_merge_run *run = &m->runs[index];
    const char *host = run->identity.host;
    run->label = run->identity.rank >= 0 ? pt_asprintf("%" PRId64, run->identity.rank)
                 : host[0]               ? pt_asprintf("%.255s", host)
                                         : pt_asprintf("%.8s", run->uuid);
    if (is_taken(m, index, run->label) && run->identity.rank >= 0) {
        pt_free(run->label);
        run->label = pt_asprintf("%" PRId64 "@%s", run->identity.rank, run->identity.host);
    }
    char *base = pt_strdup(run->label);
    for (int n = 2; is_taken(m, index, run->label); n++) {
        pt_free(run->label);
        run->label = pt_asprintf("%s#%d", base, n);
    }
    pt_free(base);
}

static void align(struct pt_merge_run *reference, struct pt_merge_run *run) {
    bool is_same_boot =
        run->identity.boot_id[0] && strcmp(run->identity.boot_id, reference->identity.boot_id) == 0;
    if (run == reference || is_same_boot) {
        run->method = run == reference ? PT_CLOCK_REFERENCE : PT_CLOCK_SAME_BOOT;
    } else if (pt_clock_match(&reference->events, &run->events, &run->clock)) {
        run->method = PT_CLOCK_EVENTS;
    } else {
        run->method = PT_CLOCK_WALL;
        run->clock.offset_ns = run->ahead_ns - reference->ahead_ns;
    }
}

static void warn_of_strangers(const struct pt_merge *m) {
    const struct pt_merge_run *first = &m->runs[0];
    if (first->identity.world_size > 0 && (uint64_t)first->identity.world_size != m->run_count)
        pt_log(PT_LOG_WARNING, "the job had %" PRId64 " ranks, but %zu runs are given",
               first->identity.world_size, m->run_count);
    for (size_t i = 1; i < m->run_count; i++) {
        const struct pt_merge_run *run = &m->runs[i];
        if (run->first_mono_ns + run->clock.offset_ns > first->last_mono_ns ||
            run->last_mono_ns + run->clock.offset_ns < first->first_mono_ns)
            pt_log(PT_LOG_WARNING, "runs %s and %s were not recorded at the same time",
                   first->label, run->label);
    }
}

static int survey(struct pt_merge *m, const char *const *journals, struct pt_err *err) {
    int rc = 0;
    for (size_t i = 0; i < m->run_count && !rc; i++) {
        m->runs[i].journal = journals[i];
        rc = survey_run(m, &m->runs[i], err);
    }
    if (rc)
        return rc;
    qsort(m->runs, m->run_count, sizeof *m->runs, by_rank);
    for (size_t i = 0; i < m->run_count; i++) {
        if (i > 0 && strcmp(m->runs[i - 1].uuid, m->runs[i].uuid) == 0)
            return pt_fail(err, -EINVAL, "%s and %s are the same run", m->runs[i - 1].journal,
                           m->runs[i].journal);
        label_run(m, i);
        align(&m->runs[0], &m->runs[i]);
    }
    warn_of_strangers(m);
    return 0;
}

static int advance(struct pt_merge_run *run, struct pt_err *err) {
    int rc = pt_journal_next(&run->reader, &run->next);
    run->has_next = rc > 0;
    return rc < 0 ? cannot_read(run, rc, err) : 0;
}

/* Starts the second pass: reads the first sample of each run. */
static int begin(struct pt_merge *m, struct pt_err *err) {
    const struct pt_schema **schemas = pt_calloc(m->run_count, sizeof *schemas);
    int rc = 0;
    for (size_t i = 0; i < m->run_count && !rc; i++) {
        rc = pt_journal_open(&m->runs[i].reader, m->runs[i].journal, err);
        schemas[i] = &m->runs[i].reader.schema;
    }
    if (!rc)
        rc = pt_rank_schema_make(&m->schema, schemas, m->run_count, err);
    pt_free(schemas);
    for (size_t i = 0; i < m->run_count && !rc; i++) {
        struct pt_merge_run *run = &m->runs[i];
        const struct pt_schema *schema = &run->reader.schema;
        run->projections = pt_calloc(schema->table_count, sizeof *run->projections);
        for (uint32_t t = 0; t < schema->table_count; t++)
            pt_projection_init(
                &run->projections[t], schema->tables[t],
                m->schema.tables[pt_schema_find(&m->schema, schema->tables[t]->name)]);
        pt_sample_init(&run->next, schema);
        rc = advance(run, err);
    }
    return rc;
}

static struct pt_merge_run *earliest(const struct pt_merge *m) {
    struct pt_merge_run *first = NULL;
    for (size_t i = 0; i < m->run_count; i++) {
        struct pt_merge_run *run = &m->runs[i];
        if (run->has_next && (!first || run->next.mono_ns + run->clock.offset_ns <
                                            first->next.mono_ns + first->clock.offset_ns))
            first = run;
    }
    return first;
}

/* The start of an event is a CLOCK_MONOTONIC time, aligned like the times of reads. */
static void shift_start(struct pt_batch *b, int64_t shift_ns) {
    int column =
        b->table->rows == PT_ROWS_EVENTS ? pt_table_find_role(b->table, PT_ROLE_START) : -1;
    uint32_t row = b->row_count - 1;
    if (has_i64(b, row, column))
        pt_set_i64(b, column, pt_get_i64(b, row, column) + shift_ns);
}

/* The main file takes the rank of its rows from its first table, so that needs a rank too. */
static void complete_main_row(const struct pt_merge_run *run, struct pt_sample *sample) {
    struct pt_batch *first = NULL;
    for (uint32_t t = 0; t < sample->schema->table_count && !first; t++)
        if (!sample->schema->tables[t]->file[0])
            first = &sample->batches[t];
    if (!has_main_row(sample) || first->row_count > 0)
        return;
    pt_batch_add_row(first);
    pt_set_str(first, 0, pt_str_from(run->label));
}

/* Unix time of the current sample by the reference clock. Samples less than 1 ms apart keep their
 * milliseconds, which are different: their clock moves by whole ones. */
static int64_t wall_of_next(const struct pt_merge *m, const struct pt_merge_run *run) {
    if (run->clock.offset_ns == 0)
        return run->next.wall_ns;
    int64_t shift_ns = run->clock.offset_ns + m->runs[0].ahead_ns - run->ahead_ns;
    if (run->closest_ns < PT_NS_PER_MS)
        shift_ns = (int64_t)round((double)shift_ns / PT_NS_PER_MS) * PT_NS_PER_MS;
    return run->next.mono_ns + run->ahead_ns + shift_ns;
}

/* The current sample of the run, with its label and on the common clock. */
static void translate(const struct pt_merge *m, const struct pt_merge_run *run,
                      struct pt_sample *sample) {
    pt_sample_clear(sample);
    sample->mono_ns = run->next.mono_ns + run->clock.offset_ns;
    sample->wall_ns = wall_of_next(m, run);
    for (uint32_t t = 0; t < run->reader.schema.table_count; t++) {
        int table = pt_schema_find(&m->schema, run->reader.schema.tables[t]->name);
        struct pt_batch *into = &sample->batches[table];
        for (uint32_t row = 0; row < run->next.batches[t].row_count; row++) {
            pt_projection_add(&run->projections[t], &run->next.batches[t], row,
                              run->clock.offset_ns, into);
            pt_set_str(into, 0, pt_str_from(run->label));
            shift_start(into, run->clock.offset_ns);
        }
    }
    complete_main_row(run, sample);
}

static void put_number(struct pt_json *j, const char *key, int64_t number) {
    if (number < 0)
        pt_json_null(j, key);
    else
        pt_json_i64(j, key, number);
}

static void put_run(const struct pt_merge_run *run, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "label", run->label);
    put_number(j, "rank", run->identity.rank);
    put_number(j, "world_size", run->identity.world_size);
    pt_json_text(j, "host", run->identity.host[0] ? run->identity.host : NULL);
    pt_json_text(j, "boot_id", run->identity.boot_id[0] ? run->identity.boot_id : NULL);
    pt_json_text(j, "uuid", run->uuid);
    pt_json_i64(j, "samples", (int64_t)run->sample_count);
    pt_json_f64(j, "seconds", (double)(run->last_mono_ns - run->first_mono_ns) / 1e9);
    pt_json_object(j, "clock");
    pt_json_text(j, "method", method_names[run->method]);
    pt_json_i64(j, "offset_ns", run->clock.offset_ns);
    if (run->method == PT_CLOCK_WALL)
        pt_json_null(j, "error_ns");
    else
        pt_json_i64(j, "error_ns", run->clock.error_ns);
    pt_json_i64(j, "events", (int64_t)run->clock.pair_count);
    pt_json_end(j);
    pt_json_end(j);
}

static int note_runs(const struct pt_merge *m, struct pt_journal *journal) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    struct pt_json j = { .out = &out, .mask = pt_mask_value };
    pt_out_memory(&out, &text);
    pt_json_object(&j, NULL);
    pt_json_array(&j, "runs");
    for (size_t i = 0; i < m->run_count; i++)
        put_run(&m->runs[i], &j);
    pt_json_end(&j);
    pt_json_end(&j);
    int rc = pt_out_close(&out);
    if (!rc)
        rc = pt_journal_note(journal, PT_STR(PT_RANK_NOTE), pt_buf_as_str(&text));
    pt_buf_release(&text);
    return rc;
}

static int write_samples(struct pt_merge *m, struct pt_journal *journal, struct pt_err *err) {
    struct pt_sample sample;
    struct pt_merge_run *run;
    int rc = note_runs(m, journal);
    pt_sample_init(&sample, &m->schema);
    while (!rc && (run = earliest(m))) {
        translate(m, run, &sample);
        rc = pt_journal_write_lane(journal, (uint32_t)(run - m->runs), &sample);
        if (rc)
            break;
        m->sample_count++;
        rc = advance(run, err);
    }
    pt_sample_release(&sample);
    /* the notes of the first run stand for all; they are complete now that it has been read */
    const struct pt_journal_reader *first = &m->runs[0].reader;
    for (size_t i = 0; i < first->note_count && !rc; i++)
        rc = pt_journal_note(journal, pt_str_from(first->notes[i].key),
                             (struct pt_str){ first->notes[i].text, first->notes[i].text_len });
    if (rc && !err->text[0])
        pt_fail(err, rc, "cannot write %s: %s", m->journal, strerror(-rc));
    return rc;
}

static int write_journal(struct pt_merge *m, const char *directory, struct pt_err *err) {
    struct pt_journal journal = { 0 };
    uuid_t uuid;
    size_t made_from;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, m->uuid);
    int rc = pt_run_make_directory(directory, &made_from, err);
    if (!rc && snprintf(m->journal, sizeof m->journal, "%s/%s%s", directory, m->uuid,
                        PT_RUN_EXTENSION) >= (int)sizeof m->journal)
        rc = pt_fail(err, -ENAMETOOLONG, "the path of the output directory is too long");
    if (!rc)
        rc = pt_journal_create(&journal, m->journal, uuid, &m->schema, err);
    if (rc)
        return rc;
    rc = write_samples(m, &journal, err);
    int close_rc = pt_journal_close(&journal);
    if (!rc && close_rc)
        rc = pt_fail(err, close_rc, "cannot write %s: %s", m->journal, strerror(-close_rc));
    if (rc)
        unlink(m->journal);
    return rc;
}

int pt_merge_write(struct pt_merge *m, const char *const *journals, size_t count,
                   const char *directory, struct pt_err *err) {
    *m = (struct pt_merge){ 0 };
    if (count < 2)
        return pt_fail(err, -EINVAL, "nothing to merge: there is only one run");
    if (count > PT_RANKS_MAX)
        return pt_fail(err, -E2BIG, "%zu runs are too many: at most %d can be merged", count,
                       PT_RANKS_MAX);
    m->runs = pt_calloc(count, sizeof *m->runs);
    m->run_count = count;
    int rc = survey(m, journals, err);
    if (!rc)
        rc = begin(m, err);
    return rc ? rc : write_journal(m, directory, err);
}

void pt_merge_release(struct pt_merge *m) {
    pt_rank_schema_release(&m->schema);
    for (size_t i = 0; i < m->run_count; i++) {
        struct pt_merge_run *run = &m->runs[i];
        for (uint32_t t = 0; run->projections && t < run->reader.schema.table_count; t++)
            pt_projection_release(&run->projections[t]);
        pt_free(run->projections);
        if (run->next.batches)
            pt_sample_release(&run->next);
        pt_journal_reader_close(&run->reader);
        pt_clock_events_release(&run->events);
        pt_free(run->label);
    }
    pt_free(m->runs);
    pt_names_release(&m->names);
    *m = (struct pt_merge){ 0 };
}

static void print_error(const struct pt_merge_run *run, struct pt_out *out) {
    switch (run->method) {
    case PT_CLOCK_REFERENCE:
        pt_out_text(out, "reference: the others are aligned to it");
        break;
    case PT_CLOCK_SAME_BOOT:
        pt_out_text(out, "same clock, no error");
        break;
    case PT_CLOCK_EVENTS:
        pt_out_printf(out, "within %.3f ms, by %zu events", (double)run->clock.error_ns / 1e6,
                      run->clock.pair_count);
        break;
    case PT_CLOCK_WALL:
        pt_out_text(out, "by wall clock, error unknown");
        break;
    }
}

void pt_merge_print(const struct pt_merge *m, struct pt_out *out) {
    pt_out_printf(out, "%-16s %-24s %10s %10s  clock\n", "rank", "host", "samples", "seconds");
    for (size_t i = 0; i < m->run_count; i++) {
        const struct pt_merge_run *run = &m->runs[i];
        pt_out_printf(out, "%-16s %-24s %10" PRIu64 " %10.1f  ", run->label,
                      run->identity.host[0] ? run->identity.host : "?", run->sample_count,
                      (double)(run->last_mono_ns - run->first_mono_ns) / 1e9);
        print_error(run, out);
        pt_out_char(out, '\n');
    }
}
