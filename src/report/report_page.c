#include "report/report_page.h"

#include "analyze/death.h"
#include "analyze/straggler.h"
#include "base/json.h"
#include "derive/bucket_rows.h"
#include "derive/field.h"
#include "profile/files/profile_writers.h"
#include "report/charts.h"
#include "report/energy_text.h"
#include "report/events.h"
#include "report/explain_text.h"
#include "report/figures.h"
#include "report/report_page_parts.h"
#include "report/processes.h"
#include "report/ranks.h"
#include "report/run_profile.h"
#include "report/spans.h"
#include "gputrace/gpu_tables.h"
#include "store/journal.h"
#include "store/rank.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uuid.h>

/* Keeps a page below 5 MB: with noise in every column, a value takes three bytes. */
#define VALUES_MAX  1200000
#define BUCKETS_MAX 2000
#define BUCKETS_MIN 250

struct report {
    const struct pt_report_options *o;
    struct pt_journal_reader reader; /* read twice: to survey, then to draw */
    struct pt_journal_place first_place;
    struct pt_explainer explainer; /* not for a merged run */
    struct pt_charts *charts;      /* one per table of the schema */
    struct pt_curve_axis axis;
    struct pt_energy_basis basis;
    struct pt_report_figures figures;
    struct pt_report_spans spans;
    struct pt_report_events events;
    struct pt_ranks ranks; /* of a merged run */
    struct pt_stragglers stragglers;
    struct pt_blob blob;
    struct pt_profile_file *profile, *heap; /* or NULL */
    uint64_t sample_count;
    int64_t first_ns, last_ns, first_wall_ns;
    uint64_t cost_end; /* in the data */
    double *times;     /* of samples, in seconds; only with one bucket per sample */
};

int pt_report_check(struct pt_err *err) {
    if (pt_report_page_head)
        return 0;
    return pt_fail(
        err, -ENOENT,
        "this build has no report page: its chart library (uPlot) is missing (install npm, "
        "then run `make clean` and build again)");
}

/* Spans and events are drawn separately; GPU timelines are for traces, histograms for figures. */
static bool is_charted(const struct pt_table *table) {
    for (size_t i = 0; i < PT_TIMELINE_TABLES; i++)
        if (strcmp(table->name, pt_timeline_tables[i]->name) == 0)
            return false;
    return strcmp(table->name, pt_fields[PT_FIELD_SPAN_NAME].table) != 0 &&
           !pt_report_events_has(table) && pt_bucket_rows_find(table) < 0;
}

static void survey_sample(struct report *r, const struct pt_sample *sample) {
    if (r->sample_count++ == 0) {
        r->first_ns = sample->mono_ns;
        r->first_wall_ns = sample->wall_ns;
        r->first_place = r->reader.key_place;
    }
    if (sample->mono_ns > r->last_ns)
        r->last_ns = sample->mono_ns;
    for (uint32_t i = 0; i < r->reader.schema.table_count; i++)
        if (is_charted(r->reader.schema.tables[i]))
            pt_charts_survey(&r->charts[i], sample, i);
    if (r->explainer.windows)
        pt_explainer_add(&r->explainer, sample);
}

static int cannot_read(const struct report *r, int rc, struct pt_err *err) {
    return pt_fail(err, rc, "cannot read %s: %s", r->o->journal, strerror(-rc));
}

static int survey(struct report *r, struct pt_err *err) {
    struct pt_sample sample;
    int rc = pt_journal_open(&r->reader, r->o->journal, err);
    if (rc)
        return rc;
    const struct pt_schema *schema = &r->reader.schema;
    r->charts = pt_calloc(schema->table_count, sizeof *r->charts);
    for (uint32_t i = 0; i < schema->table_count; i++)
        pt_charts_init(&r->charts[i], schema, schema->tables[i]);
    pt_ranks_read(&r->ranks, &r->reader);
    if (r->ranks.count == 0)
        pt_explainer_init(&r->explainer, schema);
    pt_sample_init(&sample, schema);
    while ((rc = pt_journal_next(&r->reader, &sample)) > 0)
        survey_sample(r, &sample);
    pt_sample_release(&sample);
    if (rc < 0)
        return cannot_read(r, rc, err);
    if (r->sample_count == 0)
        return pt_fail(err, -ENODATA, "%s has no samples yet", r->o->journal);
    return 0;
}

/* More curves mean fewer buckets per curve. */
static void choose(struct report *r) {
    uint64_t curves = 1;
    for (uint32_t i = 0; i < r->reader.schema.table_count; i++)
        curves += pt_charts_choose(&r->charts[i]);
    uint64_t max = VALUES_MAX / 2 / curves;
    max = max < BUCKETS_MAX ? max : BUCKETS_MAX;
    max = max > BUCKETS_MIN ? max : BUCKETS_MIN;
    pt_curve_axis_init(&r->axis, r->first_ns, r->last_ns, r->sample_count, (uint32_t)max);
}

/* The recorded assumptions, overridden by those of the options. */
static void make_basis(struct report *r) {
    const struct pt_journal_note *note = pt_journal_note_find(&r->reader, PT_ENERGY_NOTE);
    struct pt_buf text = { 0 };
    if (note)
        pt_energy_basis_read(&r->basis, (struct pt_str){ note->text, note->text_len });
    if (!r->o->assumed)
        return;
    if (r->o->assumed->region[0])
        r->basis.carbon_intensity = (struct pt_given){ 0 };
    pt_energy_basis_write(r->o->assumed, &text);
    pt_energy_basis_read(&r->basis, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

static void draw_sample(struct report *r, uint64_t index, const struct pt_sample *sample) {
    uint32_t bucket = pt_curve_axis_at(&r->axis, index, sample->mono_ns);
    if (r->axis.is_whole)
        r->times[index] = (double)(sample->mono_ns - r->first_ns) / 1e9;
    for (uint32_t i = 0; i < r->reader.schema.table_count; i++)
        if (is_charted(r->reader.schema.tables[i]))
            pt_charts_add(&r->charts[i], sample, i, bucket);
    pt_report_figures_add(&r->figures, sample, bucket);
    pt_stragglers_add(&r->stragglers, sample);
    pt_report_spans_add(&r->spans, sample);
    pt_report_events_add(&r->events, sample);
}

/* A run that is still being recorded has grown: draws only the surveyed samples. */
static int draw(struct report *r, struct pt_err *err) {
    const struct pt_journal_reader surveyed = r->reader;
    struct pt_sample sample;
    const struct pt_schema *schema = &r->reader.schema;
    make_basis(r);
    for (uint32_t i = 0; i < schema->table_count; i++)
        pt_charts_begin(&r->charts[i], &r->axis);
    pt_report_figures_init(&r->figures, schema, &r->axis, &r->basis, &r->ranks);
    pt_stragglers_init(&r->stragglers, schema);
    pt_report_spans_init(&r->spans, schema);
    r->times = pt_calloc(r->axis.is_whole ? r->sample_count : 1, sizeof *r->times);
    pt_sample_init(&sample, schema);
    int rc = pt_journal_seek(&r->reader, r->first_place);
    for (uint64_t i = 0; !rc && i < r->sample_count; i++) {
        int next = pt_journal_next(&r->reader, &sample);
        if (next <= 0) {
            rc = next;
            break;
        }
        draw_sample(r, i, &sample);
    }
    /* count damage once */
    r->reader.skipped_bytes = surveyed.skipped_bytes;
    r->reader.skipped_sample_count = surveyed.skipped_sample_count;
    for (uint32_t i = 0; i < schema->table_count; i++)
        pt_charts_end(&r->charts[i]);
    pt_report_figures_end(&r->figures);
    pt_stragglers_finish(&r->stragglers);
    pt_sample_release(&sample);
    return rc < 0 ? cannot_read(r, rc, err) : 0;
}

static void write_run(const struct report *r, struct pt_json *j) {
    const struct pt_journal_reader *reader = &r->reader;
    const struct pt_journal_note *end = pt_journal_note_find(reader, "end");
    struct pt_cause cause;
    pt_cause_read(&cause, reader);
    char uuid[37];
    uuid_unparse_lower(reader->uuid, uuid);
    pt_json_object(j, "run");
    pt_json_text(j, "uuid", uuid);
    pt_json_f64(j, "start", (double)r->first_wall_ns / 1e9);
    pt_json_f64(j, "seconds", (double)(r->last_ns - r->first_ns) / 1e9);
    pt_json_i64(j, "samples", (int64_t)r->sample_count);
    pt_json_bool(j, "is_complete", reader->is_complete);
    pt_json_i64(j, "lost_samples", (int64_t)reader->lost_sample_count);
    pt_json_i64(j, "skipped_samples", (int64_t)reader->skipped_sample_count);
    pt_json_i64(j, "skipped_bytes", (int64_t)reader->skipped_bytes);
    struct pt_subject subject;
    char text[PT_SUBJECT_TEXT];
    pt_subject_read(&subject, reader);
    pt_json_text(j, "subject", pt_subject_say(&subject, "the command", text, sizeof text));
    pt_json_text(j, "end", cause.kind ? cause.text : end ? end->text : NULL);
    pt_json_text(j, "currency", r->basis.currency[0] ? r->basis.currency : NULL);
    pt_json_end(j);
}

static void write_energy(const struct report *r, struct pt_json *j) {
    struct pt_energy_report report;
    struct pt_buf text = { 0 };
    struct pt_out out;
    char uuid[37];
    uuid_unparse_lower(r->reader.uuid, uuid);
    pt_energy_report_make(&report, pt_report_figures_meter(&r->figures), &r->basis);
    pt_out_memory(&out, &text);
    pt_energy_print_json(&report, uuid, &out);
    if (!pt_out_close(&out))
        pt_json_raw(j, "energy", pt_buf_as_str(&text));
    pt_energy_report_release(&report);
    pt_buf_release(&text);
}

/* As printed by `pitot explain --json`. */
static void write_explanation(const struct report *r, struct pt_json *j) {
    struct pt_explained_run run;
    struct pt_buf text = { 0 };
    struct pt_out out;
    if (r->explainer.windows)
        pt_explainer_finish(&r->explainer, &r->reader, r->o->journal, &run);
    else if (pt_explain_run(&run, r->o->journal, NULL))
        return;
    pt_out_memory(&out, &text);
    pt_explain_print_json(&run, &out);
    if (!pt_out_close(&out))
        pt_json_raw(j, "explanation", pt_buf_as_str(&text));
    pt_buf_release(&text);
}

/* Times of the profile count from its first sample, `offset` seconds after that of the run. */
static void write_flame(const struct report *r, const char *key, const struct pt_profile_file *file,
                        struct pt_json *j) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    if (!file || file->profile.samples.count == 0) {
        pt_json_null(j, key);
        return;
    }
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < file->profile.samples.count; i++)
        if (file->profile.samples.at[i].time_ns < first_ns)
            first_ns = file->profile.samples.at[i].time_ns;
    pt_out_memory(&out, &text);
    pt_profile_write_page_data(&file->profile, &out);
    (void)pt_out_close(&out); /* memory does not fail */
    pt_json_object(j, key);
    pt_json_f64(j, "offset", (double)(first_ns - r->first_ns) / 1e9);
    pt_json_raw(j, "data", pt_buf_as_str(&text));
    pt_json_end(j);
    pt_buf_release(&text);
}

/* JSON of a fixed length, so that it can be replaced when the rest of the page is written. */
#define COST_BYTES 128

static void print_cost(const struct report *r, char text[COST_BYTES + 1]) {
    struct pt_own_cost cost = { 0 };
    char json[COST_BYTES + 1] = "null";
    bool is_known = r->o->cost || pt_own_cost_find(&cost, &r->reader);
    if (r->o->cost)
        r->o->cost(r->o->user, &cost);
    if (is_known)
        snprintf(json, sizeof json, "{\"cpu_s\":%.6f,\"share\":%.9f,\"peak\":%lld}",
                 (double)cost.cpu_ns / 1e9, pt_own_cost_share(&cost), (long long)cost.peak_bytes);
    snprintf(text, COST_BYTES + 1, "%-*s", COST_BYTES, json);
}

/* The page itself is part of the cost. */
static int update_cost(const struct report *r, struct pt_out *out, uint64_t offset) {
    char text[COST_BYTES + 1];
    int rc = pt_out_flush(out);
    if (rc || !r->o->cost || !out->temporary)
        return rc;
    print_cost(r, text);
    return pwrite(out->fd, text, COST_BYTES, (off_t)offset) == COST_BYTES ? 0 : -errno;
}

static void write_data(struct report *r, struct pt_json *j) {
    const struct pt_schema *schema = &r->reader.schema;
    const struct pt_journal_note *static_note = pt_journal_note_find(&r->reader, "static");
    int processes = pt_field_table(schema, PT_FIELD_PROCESS_COMMAND);
    pt_json_object(j, NULL);
    pt_json_text(j, "format", "pitot-report");
    pt_json_i64(j, "version", 2);
    pt_json_text(j, "pitot", PITOT_VERSION);
    char cost[COST_BYTES + 1];
    print_cost(r, cost);
    pt_json_raw(j, "cost", pt_str_from(cost));
    r->cost_end = pt_out_offset(j->out);
    write_run(r, j);
    pt_json_object(j, "axis");
    pt_json_i64(j, "count", r->axis.count);
    pt_json_bool(j, "is_whole", r->axis.is_whole);
    if (r->axis.is_whole)
        pt_json_i64(j, "times",
                    (int64_t)pt_blob_add(&r->blob, r->times, r->axis.count, 1, 0, PT_BLOB_EXACT));
    pt_json_end(j);
    /* JSON as text: the page parses it, so that an error in it affects nothing else */
    if (static_note)
        pt_json_str(j, "static", (struct pt_str){ static_note->text, static_note->text_len });
    else
        pt_json_null(j, "static");
    pt_subject_read(&r->figures.subject, &r->reader);
    pt_report_ranks_write(&r->reader, &r->stragglers, j);
    pt_report_figures_write(&r->figures, j, &r->blob);
    pt_json_array(j, "tables");
    for (uint32_t i = 0; i < schema->table_count; i++)
        if (is_charted(schema->tables[i])) {
            r->charts[i].subject = r->figures.subject;
            pt_charts_write(&r->charts[i], j, &r->blob);
        }
    pt_json_end(j);
    pt_report_events_write(&r->events, r->first_ns, j);
    pt_report_spans_write(&r->spans, r->first_ns, j, &r->blob);
    pt_report_processes_write(processes < 0 ? NULL : &r->charts[processes].entities, r->first_ns,
                              j);
    write_energy(r, j);
    write_explanation(r, j);
    write_flame(r, "flame", r->profile, j);
    write_flame(r, "heap", r->heap, j);
    pt_json_end(j);
}

static int write_page(struct report *r, struct pt_err *err) {
    struct pt_buf data = { 0 };
    struct pt_out memory, out;
    struct pt_json j = { .out = &memory };
    int rc = pt_out_create(&out, r->o->path, err);
    if (rc)
        return rc;
    pt_out_memory(&memory, &data);
    write_data(r, &j);
    rc = pt_out_close(&memory);
    pt_out_text(&out, pt_report_page_head);
    /* a "<" could end the <script>; in JSON it occurs in strings only */
    uint64_t cost_offset = 0;
    for (size_t i = 0; i < data.len; i++) {
        if (i + COST_BYTES == r->cost_end)
            cost_offset = pt_out_offset(&out);
        if (data.at[i] == '<')
            pt_out_text(&out, "\\u003c");
        else
            pt_out_char(&out, (char)data.at[i]);
    }
    pt_out_text(&out, pt_report_page_middle);
    if (!rc)
        rc = pt_blob_write(&r->blob, &out);
    pt_out_text(&out, pt_report_page_tail);
    pt_buf_release(&data);
    if (!rc)
        rc = update_cost(r, &out, cost_offset);
    if (rc)
        pt_out_discard(&out);
    else
        rc = pt_out_close(&out);
    return rc ? pt_fail(err, rc, "cannot write %s: %s", r->o->path, strerror(-rc)) : 0;
}

static void release(struct report *r) {
    for (uint32_t i = 0; r->charts && i < r->reader.schema.table_count; i++)
        pt_charts_release(&r->charts[i]);
    pt_free(r->charts);
    if (r->figures.list) {
        pt_report_figures_release(&r->figures);
        pt_report_spans_release(&r->spans);
        pt_stragglers_release(&r->stragglers);
    }
    pt_ranks_release(&r->ranks);
    pt_run_profile_free(r->profile);
    pt_run_profile_free(r->heap);
    pt_report_events_release(&r->events);
    pt_blob_release(&r->blob);
    pt_free(r->times);
    pt_explainer_release(&r->explainer);
    pt_journal_reader_close(&r->reader);
}

int pt_report_write(const struct pt_report_options *o, struct pt_err *err) {
    struct report r = { .o = o };
    int rc = pt_report_check(err);
    if (!rc)
        rc = survey(&r, err);
    if (!rc) {
        choose(&r);
        rc = draw(&r, err);
    }
    if (!rc)
        rc = o->profile ? pt_profile_read_named(&r.profile, o->profile, err)
                        : pt_run_profile_read(&r.profile, o->journal, "cpu", err);
    if (!rc)
        rc = pt_run_profile_read(&r.heap, o->journal, "heap", err);
    if (!rc)
        rc = write_page(&r, err);
    release(&r);
    return rc;
}
