/* record/recorder_files.c -- the files of a run besides its journal, and the printed summary. */
#include "record/recorder_state.h"

#include "base/clock.h"
#include "base/log.h"
#include "collect/gpu.h"
#include "report/report_page.h"
#include "report/summary.h"
#include "store/static_info.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdio.h>
#include <unistd.h>

#define PUSH_GRACE_NS (5 * PT_NS_PER_SECOND) /* to send the rest at the end */

/* The state of a collector that is on, or NULL. */
static void *collector_state(const struct pt_sampler *s, const struct pt_collector *type) {
    for (int i = 0; i < s->collector_count; i++)
        if (s->collectors[i].type == type && s->collectors[i].is_on)
            return s->collectors[i].state;
    return NULL;
}

void pt_recorder_write_static(struct pt_recorder *r) {
    const struct pt_recorder_options *o = r->o;
    const char *collectors[PT_SAMPLER_COLLECTORS + 1] = { 0 };
    const char *formats[PT_EXPORT_FORMATS + 1] = { 0 };
    char directory[PATH_MAX];
    struct pt_text text = { 0 };
    struct pt_scan scan;
    for (int i = 0, n = 0; pt_collectors[i]; i++)
        if (o->is_enabled[i])
            collectors[n++] = pt_collectors[i]->name;
    for (int i = 0; i < o->formats.count; i++)
        formats[i] = o->formats.types[i]->name;
    const char **tags = pt_calloc(o->tag_count + 1, sizeof *tags);
    if (o->tag_count > 0)
        memcpy(tags, o->tags, o->tag_count * sizeof *tags);
    struct pt_static_options options = {
        .fs = &o->fs,
        .uuid = r->uuid_text,
        .start_wall_ns = r->start_wall_ns,
        .interval_ns = o->interval_ns,
        .own_argv = o->own_argv,
        .command = o->command,
        .working_directory = getcwd(directory, sizeof directory),
        .environment = o->command ? environ : NULL,
        .own_environment = environ,
        .collectors = collectors,
        .formats = formats,
        .tags = tags,
        .put_gpus = pt_gpu_put_static,
        .gpus = collector_state(&r->sampler, &pt_gpu_collector),
        .put_engines = pt_engine_infos_put,
        .engines = &r->engines,
    };
    struct pt_out out;
    struct pt_err err;
    int rc = pt_out_create(&out, r->static_path, &err);
    if (!rc) {
        pt_static_write(&out, &options);
        rc = pt_out_close(&out);
        pt_fail(&err, rc, "cannot write %s: %s", r->static_path, strerror(-rc));
    }
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        r->has_lost = true;
    } else if (!pt_fs_read(AT_FDCWD, r->static_path, &text, &scan)) {
        pt_recorder_note_write(r, pt_ring_note(&r->ring, PT_STR("static"), pt_scan_rest(&scan)));
    }
    pt_text_release(&text);
    pt_free(tags);
}

struct finish {
    struct pt_recorder *recorder;
    struct pt_summary summary;
    bool is_read; /* the journal */
    bool has_others, has_report;
};

static void begin_summary(void *user, const struct pt_journal_reader *reader) {
    struct finish *e = user;
    pt_summary_init(&e->summary, &reader->schema);
}

static void add_to_summary(void *user, const struct pt_sample *sample) {
    struct finish *e = user;
    pt_summary_add(&e->summary, sample);
}

static void describe_command(const struct pt_recorder *r, char *into, size_t capacity) {
    struct pt_cause cause;
    pt_death_find(&r->death, r->child.wait_status, &cause);
    if (!r->o->command)
        snprintf(into, capacity, "%s", r->end_reason ? r->end_reason : "");
    else
        snprintf(into, capacity, "%s%s", r->is_past_duration ? "the duration has passed; " : "",
                 cause.kind == PT_CAUSE_NONE ? "the command exited with 0" : cause.text);
}

/* The last note of the journal. A black box has none: its segments are closed. */
static void note_cost(struct pt_recorder *r, const struct pt_journal_reader *reader) {
    struct pt_journal journal = { 0 };
    struct pt_own_cost cost;
    struct pt_buf text = { 0 };
    if (reader->ring || !reader->is_complete)
        return;
    int rc = pt_journal_reopen(&journal, r->journal_path, reader);
    if (!rc) {
        pt_recorder_cost(r, &cost);
        pt_own_cost_write(&cost, &text);
        rc = pt_journal_note(&journal, PT_STR(PT_COST_NOTE), pt_buf_as_str(&text));
        int close_rc = pt_journal_close(&journal);
        rc = rc ? rc : close_rc;
    }
    if (rc && rc != r->write_error)
        pt_log(PT_LOG_ERROR, "cannot write %s: %s", r->journal_path, strerror(-rc));
    r->has_lost |= rc != 0;
    pt_buf_release(&text);
}

/* The summary borrows the schema of the reader, so it is printed before that is closed. */
static void print_summary(void *user, const struct pt_journal_reader *reader) {
    struct finish *e = user;
    struct pt_recorder *r = e->recorder;
    e->is_read = true;
    note_cost(r, reader);
    if (!r->o->is_quiet && pt_log_is_ready(PT_LOG_PATIENCE_MS)) {
        struct pt_out out;
        char what[sizeof(struct pt_cause) + 32];
        double seconds = (double)(e->summary.last_mono_ns - e->summary.first_mono_ns) / 1e9;
        describe_command(r, what, sizeof what);
        e->summary.energy_basis = r->energy;
        e->summary.subject = r->subject;
        pt_recorder_cost(r, &e->summary.cost);
        pt_out_show(&out, STDERR_FILENO);
        pt_out_printf(&out, "\nRecorded %.1f s, %llu samples; %s.\n", seconds,
                      (unsigned long long)e->summary.sample_count, what);
        if (reader->lost_sample_count > 0)
            pt_out_printf(&out, "%llu samples could not be written.\n",
                          (unsigned long long)reader->lost_sample_count);
        pt_summary_print(&e->summary, &out, strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
        pt_out_close(&out);
    }
    pt_summary_release(&e->summary);
}

/* The run is complete without the page: a failure is only logged. */
static bool write_report(struct pt_recorder *r) {
    struct pt_err err = { "" };
    char path[PATH_MAX];
    if (!r->o->wants_report)
        return false;
    struct pt_report_options options = {
        .journal = r->journal_path, .path = path, .cost = pt_recorder_cost, .user = r
    };
    int rc = snprintf(path, sizeof path, "%s/%s.html", r->o->directory, r->uuid_text) < PATH_MAX
                 ? pt_report_write(&options, &err)
                 : pt_fail(&err, -ENAMETOOLONG, "the path of the report is too long");
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        r->has_lost = true;
    }
    return !rc;
}

/* A black box has no other files: their size would be unbounded. */
static const struct pt_export_formats *formats_of(const struct pt_recorder *r) {
    static const struct pt_export_formats none = { .count = 0 };
    return r->o->blackbox.bound_bytes > 0 ? &none : &r->o->formats;
}

/* The other files are complete: makes those that are not tables, and says what that cost. */
static void finish_others(void *user, struct pt_own_cost *cost) {
    struct finish *e = user;
    struct pt_recorder *r = e->recorder;
    e->has_others = true;
    r->has_lost |= pt_run_profile_save(&r->profile) != 0;
    r->has_lost |= pt_run_heap_save(&r->heap) != 0;
    e->has_report = write_report(r);
    pt_push_close(r->push, pt_mono_ns() + PUSH_GRACE_NS);
    r->push = NULL;
    pt_recorder_cost(r, cost);
}

static void add_name(struct pt_buf *list, const char *name) {
    if (list->len > 0)
        pt_buf_str(list, PT_STR(", "));
    pt_buf_str(list, pt_str_from(name));
}

/* Lists what is there, and what should be. */
static void print_files(const struct finish *e, const struct pt_export_result *result) {
    const struct pt_recorder *r = e->recorder;
    if (r->o->is_quiet || !pt_log_is_ready(PT_LOG_PATIENCE_MS))
        return;
    struct pt_out out;
    pt_out_show(&out, STDERR_FILENO);
    const struct pt_export_formats *formats = formats_of(r);
    struct pt_buf complete = { 0 }, missing = { 0 };
    add_name(&complete, r->o->blackbox.bound_bytes > 0 ? "ring" : "pitot");
    for (int i = 0; i < formats->count; i++)
        add_name(e->is_read && !result->has_failed[i] ? &complete : &missing,
                 formats->types[i]->name);
    if (r->o->wants_report)
        add_name(e->has_report ? &complete : &missing, "html");
    pt_out_printf(&out, "Files: %s/%s.* (%.*s)\n", r->o->directory, r->uuid_text, (int)complete.len,
                  (const char *)complete.at);
    if (missing.len > 0)
        pt_out_printf(&out, "Missing or incomplete: %.*s\n", (int)missing.len,
                      (const char *)missing.at);
    pt_run_profile_print(&r->profile, &out);
    pt_run_heap_print(&r->heap, &out);
    pt_gpu_trace_print(&r->gpu, r->o->gpu_rows, &out);
    pt_buf_release(&complete);
    pt_buf_release(&missing);
    (void)pt_out_close(&out);
}

void pt_recorder_finish(struct pt_recorder *r) {
    pt_status_release(&r->status);
    struct pt_str reason = pt_str_from(r->end_reason ? r->end_reason : "");
    pt_recorder_note_write(r, pt_ring_note(&r->ring, PT_STR("end"), reason));
    int rc = pt_ring_close(&r->ring);
    if (rc && rc != r->write_error)
        pt_log(PT_LOG_ERROR, "cannot write %s: %s", r->journal_path, strerror(-rc));
    r->has_lost |= rc != 0;
    r->has_lost |= pt_gpu_trace_import(&r->gpu, r->journal_path) != 0;

    struct finish finish = { .recorder = r };
    struct pt_export_observer observer = { &finish, begin_summary, add_to_summary, finish_others,
                                           print_summary };
    struct pt_export_result result;
    struct pt_err err = { "" };
    rc = pt_export(r->journal_path, formats_of(r), r->o->directory, r->uuid_text, &observer,
                   &result, &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s; the journal is kept (to write the files: pitot export %s)",
               err.text, r->journal_path);
        r->has_lost = true;
    }
    struct pt_own_cost cost;
    if (!finish.has_others) /* the journal cannot be read */
        finish_others(&finish, &cost);
    print_files(&finish, &result);
}
