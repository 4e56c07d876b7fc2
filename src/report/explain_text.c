#include "report/explain_text.h"

#include "analyze/rank_verdict.h"
#include "base/json.h"
#include "base/json_walk.h"
#include "base/log.h"
#include "base/scan.h"
#include "report/cpu_hotspots.h"
#include "report/leak_stack.h"
#include "store/rank.h"

#include <math.h>
#include <stdio.h>
#include <uuid.h>

#define VERDICTS_SHOWN 3
#define LINE_WIDTH     92

static const char *const status_names[] = {
    [PT_EXPLAIN_BOUND] = "bound",
    [PT_EXPLAIN_NOTHING] = "nothing",
    [PT_EXPLAIN_INCONCLUSIVE] = "inconclusive",
};

static const char *confidence_word(double confidence) {
    return confidence >= 0.85 ? "high" : confidence >= PT_VERDICT_CONFIDENT ? "fair" : "low";
}

/* Wraps at LINE_WIDTH, with `indent` blanks per line; the first line starts with `lead`. */
static void print_wrapped(struct pt_out *out, const char *lead, int indent, const char *text) {
    int used = indent;
    pt_out_printf(out, "%-*s", indent, lead);
    while (*text) {
        size_t len = strcspn(text, " ");
        if (used > indent && used + 1 + (int)len > LINE_WIDTH) {
            pt_out_printf(out, "\n%*s", indent, "");
            used = indent;
        }
        if (used > indent) {
            pt_out_char(out, ' ');
            used++;
        }
        pt_out_bytes(out, text, len);
        used += (int)len;
        text += len + strspn(text + len, " ");
    }
    pt_out_char(out, '\n');
}

/* "cpu.steal above 10.0 %: not seen" */
static void against_sentence(const struct pt_verdict *v, int i, char *into, size_t capacity) {
    char condition[96];
    pt_condition_print(&v->rule->against[i], condition, sizeof condition);
    if (isnan(v->against[i]))
        snprintf(into, capacity, "%s: not recorded", condition);
    else if (v->against[i] <= 0)
        snprintf(into, capacity, "%s: not seen", condition);
    else
        snprintf(into, capacity, "%s: %.0f %% of that time", condition, v->against[i] * 100);
}

static void print_verdict(const struct pt_verdict *v, const struct pt_subject *subject,
                          struct pt_out *out) {
    char text[PT_SUBJECT_TEXT];
    pt_out_text(out, pt_subject_say(subject, v->rule->title, text, sizeof text));
    if (*v->entity)
        pt_out_printf(out, " (%s)", v->entity);
    pt_out_printf(out, " [%s]", v->rule->id);
    if (v->rule->is_event)
        pt_out_char(out, '\n');
    else
        pt_out_printf(out, "\n  %.0f %% of the run,", v->share * 100);
    pt_out_printf(out, "%sconfidence %.2f (%s)\n", v->rule->is_event ? "  " : " ", v->confidence,
                  confidence_word(v->confidence));
    for (int i = 0; i < v->signal_count; i++) {
        const struct pt_verdict_signal *s = &v->signals[i];
        char value[32], times[48];
        pt_figure_print(s->signal, s->value, value, sizeof value);
        snprintf(times, sizeof times, "%.1f to %.1f s", s->from, s->to);
        pt_out_printf(out, "  %-8s %-24s %10s  %-18s %s\n", i == 0 ? "seen" : "",
                      pt_figures[s->signal].name, value, times,
                      pt_subject_say(subject, pt_figures[s->signal].help, text, sizeof text));
    }
    if (*v->where)
        print_wrapped(out, "  where", 11, v->where);
    char against[PT_RULE_CONDITIONS * 160] = "";
    for (int i = 0; i < PT_RULE_CONDITIONS && v->rule->against[i].direction; i++) {
        char one[160];
        against_sentence(v, i, one, sizeof one);
        snprintf(against + strlen(against), sizeof against - strlen(against), "%s%s",
                 i > 0 ? "; " : "", one);
    }
    if (*against)
        print_wrapped(out, "  against", 11, against);
    print_wrapped(out, "  to do", 11, pt_subject_say(subject, v->rule->advice, text, sizeof text));
}

void pt_explain_print(const struct pt_explained_run *run, struct pt_out *out) {
    const struct pt_explanation *x = &run->explanation;
    char text[PT_SUBJECT_TEXT];
    pt_out_printf(out, "Run %s", run->uuid);
    if (run->subject.kind != PT_SUBJECT_COMMAND)
        pt_out_printf(out, " of %s",
                      pt_subject_say(&run->subject, "the command", text, sizeof text));
    pt_out_printf(out, ", %.1f s\n", x->seconds);
    if (!run->is_complete && !run->cause.kind)
        pt_out_text(out, "The recording is still running or was cut off.\n");
    if (run->cause.kind)
        pt_out_printf(out, "Cause (%s): %s\n", pt_cause_name(run->cause.kind), run->cause.text);
    switch (x->status) {
    case PT_EXPLAIN_BOUND:
        pt_out_printf(out, "Bottleneck: %s\n", x->verdicts[0].rule->id);
        break;
    case PT_EXPLAIN_NOTHING:
        pt_out_text(out, "No bottleneck found in the recorded data.\n");
        break;
    case PT_EXPLAIN_INCONCLUSIVE:
        pt_out_printf(out, "Inconclusive: %s.\n", x->because);
        break;
    }
    for (int i = 0; i < x->verdict_count && i < VERDICTS_SHOWN; i++) {
        pt_out_char(out, '\n');
        print_verdict(&x->verdicts[i], &run->subject, out);
    }
    if (x->verdict_count > VERDICTS_SHOWN)
        pt_out_printf(out, "\n%d more verdicts with --json.\n", x->verdict_count - VERDICTS_SHOWN);
    pt_out_char(out, '\n');
    char not_checked[1024] = "";
    for (int i = 0; i < x->not_checked_count; i++)
        snprintf(not_checked + strlen(not_checked), sizeof not_checked - strlen(not_checked),
                 "%s%s", i > 0 ? ", " : "", x->not_checked[i]);
    if (*not_checked)
        print_wrapped(out, "Not checked (not recorded):", 28, not_checked);
}

static void put_signal(struct pt_json *j, const struct pt_verdict_signal *s,
                       const struct pt_subject *subject) {
    char text[32], help[PT_SUBJECT_TEXT];
    pt_figure_print(s->signal, s->value, text, sizeof text);
    pt_json_object(j, NULL);
    pt_json_text(j, "metric", pt_figures[s->signal].name);
    pt_json_f64(j, "value", s->value);
    pt_json_f64(j, "from", s->from);
    pt_json_f64(j, "to", s->to);
    pt_json_text(j, "text", text);
    pt_json_text(j, "what", pt_subject_say(subject, pt_figures[s->signal].help, help, sizeof help));
    pt_json_end(j);
}

static void put_verdict(struct pt_json *j, const struct pt_verdict *v,
                        const struct pt_subject *subject) {
    char text[PT_SUBJECT_TEXT];
    pt_json_object(j, NULL);
    pt_json_text(j, "id", v->rule->id);
    pt_json_text(j, "title", pt_subject_say(subject, v->rule->title, text, sizeof text));
    if (*v->entity)
        pt_json_text(j, "entity", v->entity);
    if (v->rule->is_event)
        pt_json_bool(j, "is_event", true);
    pt_json_f64(j, "share", fmin(1, v->share));
    pt_json_f64(j, "confidence", v->confidence);
    pt_json_array(j, "signals");
    for (int i = 0; i < v->signal_count; i++)
        put_signal(j, &v->signals[i], subject);
    pt_json_end(j);
    pt_json_array(j, "against");
    for (int i = 0; i < PT_RULE_CONDITIONS && v->rule->against[i].direction; i++) {
        char sentence[160];
        against_sentence(v, i, sentence, sizeof sentence);
        pt_json_text(j, NULL, sentence);
    }
    pt_json_end(j);
    if (*v->where)
        pt_json_text(j, "where", v->where);
    pt_json_text(j, "advice", pt_subject_say(subject, v->rule->advice, text, sizeof text));
    pt_json_end(j);
}

void pt_explain_print_json(const struct pt_explained_run *run, struct pt_out *out) {
    const struct pt_explanation *x = &run->explanation;
    struct pt_json j = { .out = out, .indent = 2 };
    pt_json_object(&j, NULL);
    char text[PT_SUBJECT_TEXT];
    pt_json_text(&j, "uuid", run->uuid);
    pt_json_text(&j, "subject", pt_subject_say(&run->subject, "the command", text, sizeof text));
    pt_json_i64(&j, "start", run->start_wall_ns / 1000000);
    pt_json_f64(&j, "seconds", x->seconds);
    if (run->cause.kind) {
        pt_json_object(&j, "cause");
        pt_json_text(&j, "kind", pt_cause_name(run->cause.kind));
        pt_json_text(&j, "text", run->cause.text);
        pt_json_end(&j);
    }
    pt_json_text(&j, "status", status_names[x->status]);
    pt_json_text(&j, "because", *x->because ? x->because : NULL);
    pt_json_array(&j, "verdicts");
    for (int i = 0; i < x->verdict_count; i++)
        put_verdict(&j, &x->verdicts[i], &run->subject);
    pt_json_end(&j);
    pt_json_object(&j, "figures");
    for (int id = 0; run->has_figures && id < PT_FIGURE_COUNT; id++)
        if (!isnan(run->figures[id]))
            pt_json_f64(&j, pt_figures[id].name, run->figures[id]);
    pt_json_end(&j);
    pt_json_array(&j, "not_checked");
    for (int i = 0; i < x->not_checked_count; i++)
        pt_json_text(&j, NULL, x->not_checked[i]);
    pt_json_end(&j);
    pt_json_end(&j);
    pt_out_char(out, '\n');
}

/* "interfaces.0.speed_mbit" in the static information; keeps the fastest. */
static void take_speed(void *arg, const char *path, struct pt_json_value value) {
    double *bytes_per_s = arg;
    struct pt_scan scan = pt_scan_of(value.text);
    struct pt_str name = pt_str_from(path);
    double mbit = pt_scan_f64(&scan);
    if (pt_str_starts(name, PT_STR("interfaces.")) && pt_str_ends(name, PT_STR(".speed_mbit")) &&
        !scan.failed && mbit > 0)
        *bytes_per_s = fmax(*bytes_per_s, mbit * 1e6 / 8);
}

/* Bytes per second of the fastest link; NAN: unknown. */
static double link_speed(const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, "static");
    double bytes_per_s = NAN;
    if (note &&
        pt_json_walk((struct pt_str){ note->text, note->text_len }, take_speed, &bytes_per_s))
        pt_log(PT_LOG_WARNING, "cannot parse the static information of the run");
    return bytes_per_s;
}

/* Statements about a command need its own data: those about the machine do not stand in for them.
 * `hotspots` is {0} without a profile. */
static void explain_windows(struct pt_explanation *x, const struct pt_windows *w,
                            const struct pt_journal_reader *reader,
                            const struct pt_cpu_hotspots *hotspots) {
    struct pt_signals signals;
    struct pt_subject subject;
    pt_subject_read(&subject, reader);
    pt_signals_make(&signals, w, link_speed(reader));
    for (size_t i = 0; subject.kind != PT_SUBJECT_MACHINE && i < signals.count; i++)
        signals.values[PT_FIGURE_MACHINE_BUSY][i] = NAN;
    pt_cpu_hotspots_signal(hotspots, &signals);
    pt_explain(x, &signals);
    pt_cpu_hotspots_add(hotspots, x);
    pt_signals_release(&signals);
}

void pt_explainer_init(struct pt_explainer *e, const struct pt_schema *schema) {
    e->windows = pt_calloc(1, sizeof *e->windows);
    pt_windows_init(e->windows, schema, pt_signal_wants);
}

void pt_explainer_add(struct pt_explainer *e, const struct pt_sample *sample) {
    pt_windows_add(e->windows, sample);
}

/* Adds what comes from the notes of the journal and from the heap profile. */
static void add_notes(struct pt_explained_run *run, const struct pt_journal_reader *reader,
                      const char *journal) {
    uuid_unparse_lower(reader->uuid, run->uuid);
    run->is_complete = reader->is_complete;
    pt_leak_stack_add(&run->explanation, journal);
    pt_cause_read(&run->cause, reader);
    pt_subject_read(&run->subject, reader);
}

void pt_explainer_finish(const struct pt_explainer *e, const struct pt_journal_reader *reader,
                         const char *journal, struct pt_explained_run *run) {
    struct pt_cpu_hotspots hotspots;
    *run = (struct pt_explained_run){ .start_wall_ns = e->windows->first_wall_ns };
    run->has_figures = true;
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        run->figures[id] =
            pt_windows_figure(e->windows, (enum pt_figure_id)id, 0, e->windows->count);
    pt_cpu_hotspots_open(&hotspots, journal);
    explain_windows(&run->explanation, e->windows, reader, &hotspots);
    pt_cpu_hotspots_close(&hotspots);
    add_notes(run, reader, journal);
}

void pt_explainer_release(struct pt_explainer *e) {
    if (e->windows)
        pt_windows_release(e->windows);
    pt_free(e->windows);
    e->windows = NULL;
}

/* A pass over a merged run for one of its ranks. */
static int explain_rank(struct pt_rank_explanation *rank, struct pt_journal_reader *reader) {
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_rank_view *view = pt_calloc(1, sizeof *view);
    struct pt_sample sample;
    int rc;
    pt_rank_view_init(view, &reader->schema);
    pt_windows_init(w, &view->schema, pt_signal_wants);
    pt_sample_init(&sample, &reader->schema);
    while ((rc = pt_journal_next(reader, &sample)) > 0)
        if (pt_rank_view_take(view, &sample, rank->label))
            pt_windows_add(w, &view->sample);
    explain_windows(&rank->explanation, w, reader, &(struct pt_cpu_hotspots){ 0 });
    pt_sample_release(&sample);
    pt_windows_release(w);
    pt_rank_view_release(view);
    pt_free(view);
    pt_free(w);
    return rc;
}

/* The last pass: compares all ranks. */
static int explain_together(struct pt_explained_run *run, struct pt_journal_reader *reader,
                            const struct pt_rank_explanation *ranks, size_t count) {
    struct pt_windows *workers = pt_calloc(1, sizeof *workers);
    struct pt_stragglers stragglers;
    struct pt_signals signals;
    struct pt_sample sample;
    int rc;
    pt_stragglers_init(&stragglers, &reader->schema);
    pt_windows_init(workers, &reader->schema, pt_signal_wants);
    pt_sample_init(&sample, &reader->schema);
    while ((rc = pt_journal_next(reader, &sample)) > 0) {
        if (reader->sample_count == 1)
            run->start_wall_ns = sample.wall_ns;
        pt_stragglers_add(&stragglers, &sample);
        pt_windows_add(workers, &sample);
    }
    pt_stragglers_finish(&stragglers);
    pt_signals_make(&signals, workers, NAN);
    pt_explain_ranks(&run->explanation, ranks, count, &stragglers, &signals);
    pt_signals_release(&signals);
    pt_stragglers_release(&stragglers);
    pt_windows_release(workers);
    pt_sample_release(&sample);
    pt_free(workers);
    return rc;
}

static int explain_merged(struct pt_explained_run *run, const char *journal,
                          const struct pt_ranks *labels, struct pt_err *err) {
    struct pt_rank_explanation *ranks = pt_calloc(labels->count, sizeof *ranks);
    int rc = 0;
    for (size_t i = 0; i <= labels->count && !rc; i++) {
        struct pt_journal_reader reader = { 0 };
        rc = pt_journal_open(&reader, journal, err);
        if (rc)
            break;
        if (i < labels->count) {
            ranks[i].label = labels->labels[i];
            rc = explain_rank(&ranks[i], &reader);
        } else {
            rc = explain_together(run, &reader, ranks, labels->count);
            add_notes(run, &reader, journal);
        }
        pt_journal_reader_close(&reader);
    }
    pt_free(ranks);
    return rc;
}

int pt_explain_run(struct pt_explained_run *run, const char *journal, struct pt_err *err) {
    struct pt_journal_reader reader = { 0 };
    struct pt_ranks ranks;
    *run = (struct pt_explained_run){ 0 };
    int rc = pt_journal_open(&reader, journal, err);
    if (rc)
        return rc;
    pt_ranks_read(&ranks, &reader);
    if (ranks.count > 0) {
        rc = explain_merged(run, journal, &ranks, err);
    } else {
        struct pt_explainer explainer;
        pt_explainer_init(&explainer, &reader.schema);
        rc = pt_windows_read(explainer.windows, &reader);
        pt_explainer_finish(&explainer, &reader, journal, run);
        pt_explainer_release(&explainer);
    }
    pt_ranks_release(&ranks);
    pt_journal_reader_close(&reader);
    return rc ? pt_fail(err, rc, "cannot read %s: %s", journal, strerror(-rc)) : 0;
}
