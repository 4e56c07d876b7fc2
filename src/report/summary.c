#include "report/summary.h"

#include "report/energy_text.h"

#include <math.h>
#include <stdio.h>

#define TITLE_WIDTH 20

void pt_summary_init(struct pt_summary *s, const struct pt_schema *schema) {
    *s = (struct pt_summary){ .samples_per_point = 1 };
    pt_figure_stream_init(&s->figures, schema);
    pt_energy_meter_init(&s->energy, schema);
}

void pt_summary_release(struct pt_summary *s) {
    pt_figure_stream_release(&s->figures);
    pt_figure_totals_release(&s->totals);
    pt_energy_meter_release(&s->energy);
}

static double larger(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

static void add_point(struct pt_summary *s) {
    if (s->samples_in_point == 0) {
        if (s->point_count == PT_SUMMARY_POINTS) { /* merge neighbours */
            for (int f = 0; f < PT_FIGURE_COUNT; f++)
                for (unsigned i = 0; i < PT_SUMMARY_POINTS / 2; i++)
                    s->points[f][i] = larger(s->points[f][2 * i], s->points[f][2 * i + 1]);
            s->point_count = PT_SUMMARY_POINTS / 2;
            s->samples_per_point *= 2;
        }
        for (int f = 0; f < PT_FIGURE_COUNT; f++)
            s->points[f][s->point_count] = NAN;
        s->point_count++;
    }
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        if (pt_figure_is_known(&s->figures, (enum pt_figure_id)f)) {
            double *point = &s->points[f][s->point_count - 1];
            *point = larger(*point, s->figures.now[f].value);
        }
    s->samples_in_point = (s->samples_in_point + 1) % s->samples_per_point;
}

void pt_summary_add(struct pt_summary *s, const struct pt_sample *sample) {
    if (!pt_figure_stream_add(&s->figures, sample))
        return;
    pt_energy_meter_add(&s->energy, sample, &s->figures);
    pt_engine_contacts_add(&s->engines, sample);
    if (s->sample_count++ == 0)
        s->first_mono_ns = sample->mono_ns;
    s->last_mono_ns = sample->mono_ns;
    pt_figure_totals_add(&s->totals, &s->figures);
    add_point(s);
}

static void print_curve(const struct pt_summary *s, int figure, struct pt_out *out) {
    static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double top = s->totals.sums[figure].peak;
    if (pt_figures[figure].form == PT_FORM_SHARE && top < 1)
        top = 1;
    for (unsigned i = 0; i < s->point_count; i++) {
        double value = s->points[figure][i];
        if (isnan(value))
            pt_out_char(out, ' ');
        else
            pt_out_text(out, blocks[top > 0 ? (int)fmin(7, value / top * 7.999) : 0]);
    }
}

static void print_overhead(const struct pt_summary *s, struct pt_out *out) {
    double percent = pt_own_cost_share(&s->cost) * 100;
    char memory[32], seconds[32];
    if (s->cost.cpu_ns <= 0)
        return;
    pt_form_print(PT_FORM_BYTES, (double)s->cost.peak_bytes, memory, sizeof memory);
    pt_form_print(PT_FORM_SECONDS, (double)s->cost.cpu_ns / 1e9, seconds, sizeof seconds);
    pt_out_printf(out, "Pitot used %s of CPU time (%s%.2f %% of one CPU), %s", seconds,
                  percent < 0.01 ? "< " : "", percent < 0.01 ? 0.01 : percent, memory);
    double late = s->totals.sums[PT_FIGURE_PITOT_LATE].peak,
           dropped = s->totals.sums[PT_FIGURE_PITOT_DROPPED].peak,
           starved = s->totals.sums[PT_FIGURE_PITOT_STARVED].peak;
    if (late >= 0.5)
        pt_out_printf(out, "; %.0f late %s skipped", late, late < 1.5 ? "tick was" : "ticks were");
    if (late >= 0.5 && starved >= 0.0005)
        pt_out_printf(out, " (Pitot waited %.3g s for a CPU)", starved);
    if (dropped >= 0.5)
        pt_out_printf(out, "; %.0f tick%s could not be written", dropped, dropped < 1.5 ? "" : "s");
    pt_out_char(out, '\n');
}

static bool is_printed(const struct pt_summary *s, int figure) {
    return pt_figures[figure].importance == PT_HEADLINE && s->totals.sums[figure].is_known;
}

void pt_summary_print(const struct pt_summary *s, struct pt_out *out, bool use_unicode) {
    bool has_heading = false;
    char title[PT_SUBJECT_TEXT];
    int width = TITLE_WIDTH;
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        pt_subject_say(&s->subject, pt_figures[f].title, title, sizeof title);
        if (is_printed(s, f) && (int)strlen(title) > width)
            width = (int)strlen(title);
    }
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        if (!is_printed(s, f))
            continue;
        if (!has_heading)
            pt_out_printf(out, "%-*s %10s %10s\n", width, "", "whole run", "peak");
        has_heading = true;
        char whole[32], peak[32];
        pt_form_print(pt_figures[f].form, pt_figure_totals_value(&s->totals, (enum pt_figure_id)f),
                      whole, sizeof whole);
        pt_form_print(pt_figures[f].form, s->totals.sums[f].peak, peak, sizeof peak);
        pt_out_printf(out, "%-*s %10s %10s", width,
                      pt_subject_say(&s->subject, pt_figures[f].title, title, sizeof title), whole,
                      peak);
        if (use_unicode) {
            pt_out_text(out, "  ");
            print_curve(s, f, out);
        }
        pt_out_char(out, '\n');
    }
    pt_engine_contacts_print(&s->engines, width, out);
    struct pt_energy_report report;
    pt_energy_report_make(&report, &s->energy, &s->energy_basis);
    if (pt_estimate_is_known(&report.figures[PT_ENERGY_TOTAL])) {
        pt_out_printf(out, "%-*s ", width, "Energy");
        pt_energy_print_short(&report, use_unicode, out);
        pt_out_char(out, '\n');
    }
    pt_energy_report_release(&report);
    print_overhead(s, out);
}
