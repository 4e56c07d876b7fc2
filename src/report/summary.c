#include "report/summary.h"

#include "report/energy_text.h"

#include <math.h>
#include <stdio.h>

void pt_summary_init(struct pt_summary *s, const struct pt_schema *schema) {
    *s = (struct pt_summary){ .samples_per_point = 1 };
    pt_figure_reader_init(&s->figures, schema);
    pt_energy_meter_init(&s->energy, schema);
}

void pt_summary_release(struct pt_summary *s) {
    pt_figure_reader_release(&s->figures);
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
        if (s->figures.is_known[f]) {
            double *point = &s->points[f][s->point_count - 1];
            *point = larger(*point, s->figures.values[f]);
        }
    s->samples_in_point = (s->samples_in_point + 1) % s->samples_per_point;
}

static bool cell(const struct pt_batch *b, uint32_t row, const char *name, int64_t *value) {
    int column = pt_table_find(b->table, name);
    if (column < 0 || pt_is_null(b, row, column))
        return false;
    *value = pt_get_i64(b, row, column);
    return true;
}

static void note_overhead(struct pt_summary *s, const struct pt_sample *sample) {
    int table = pt_schema_find(sample->schema, "collector");
    const struct pt_batch *b = table < 0 ? NULL : &sample->batches[table];
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        if (!pt_str_eq(pt_get_str(b, row, 0), PT_STR("pitot")))
            continue;
        if (cell(b, row, "colCpuTime", &s->own_cpu_ns) && !s->has_overhead)
            s->first_own_cpu_ns = s->own_cpu_ns;
        s->has_overhead = true;
        cell(b, row, "colRss", &s->own_rss_bytes);
        cell(b, row, "colLateTicks", &s->late_count);
        cell(b, row, "colDroppedTicks", &s->dropped_count);
    }
}

void pt_summary_add(struct pt_summary *s, const struct pt_sample *sample) {
    note_overhead(s, sample);
    if (!pt_figure_reader_next(&s->figures, sample))
        return;
    pt_energy_meter_add(&s->energy, sample, &s->figures);
    if (s->sample_count++ == 0)
        s->first_mono_ns = sample->mono_ns;
    s->last_mono_ns = sample->mono_ns;
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        if (!s->figures.is_known[f])
            continue;
        s->sum[f] += s->figures.values[f] * s->figures.seconds[f];
        s->seconds[f] += s->figures.seconds[f];
        s->peak[f] =
            s->count[f]++ == 0 ? s->figures.values[f] : larger(s->peak[f], s->figures.values[f]);
    }
    add_point(s);
}

static void print_curve(const struct pt_summary *s, int figure, struct pt_out *out) {
    static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double top = s->peak[figure];
    if (pt_figures[figure].format == PT_FORMAT_PERCENT && top < 100)
        top = 100;
    for (unsigned i = 0; i < s->point_count; i++) {
        double value = s->points[figure][i];
        if (isnan(value))
            pt_out_char(out, ' ');
        else
            pt_out_text(out, blocks[top > 0 ? (int)fmin(7, value / top * 7.999) : 0]);
    }
}

static void print_overhead(const struct pt_summary *s, struct pt_out *out) {
    double seconds = (double)(s->last_mono_ns - s->first_mono_ns) / 1e9;
    if (!s->has_overhead || seconds <= 0)
        return;
    char memory[32];
    double used = (double)(s->own_cpu_ns - s->first_own_cpu_ns) / 1e9;
    pt_figure_print(PT_FORMAT_BYTES, (double)s->own_rss_bytes, memory, sizeof memory);
    pt_out_printf(out, "Pitot used %.2f %% of one CPU, %s", used / seconds * 100, memory);
    if (s->late_count > 0)
        pt_out_printf(out, "; %lld late ticks were skipped", (long long)s->late_count);
    if (s->dropped_count > 0)
        pt_out_printf(out, "; %lld ticks could not be written", (long long)s->dropped_count);
    pt_out_char(out, '\n');
}

void pt_summary_print(const struct pt_summary *s, struct pt_out *out, bool use_unicode) {
    bool has_heading = false;
    for (int f = 0; f < PT_FIGURE_COUNT; f++) {
        if (s->count[f] == 0)
            continue;
        if (!has_heading)
            pt_out_printf(out, "%-20s %10s %10s\n", "", "mean", "peak");
        has_heading = true;
        char mean[32], peak[32];
        /* weighted by time: the last interval of a run is shorter */
        pt_figure_print(pt_figures[f].format,
                        s->seconds[f] > 0 ? s->sum[f] / s->seconds[f] : s->peak[f], mean,
                        sizeof mean);
        pt_figure_print(pt_figures[f].format, s->peak[f], peak, sizeof peak);
        pt_out_printf(out, "%-20s %10s %10s", pt_figures[f].label, mean, peak);
        if (use_unicode) {
            pt_out_text(out, "  ");
            print_curve(s, f, out);
        }
        pt_out_char(out, '\n');
    }
    struct pt_energy_report report;
    pt_energy_report_make(&report, &s->energy, &s->energy_basis);
    if (pt_estimate_is_known(&report.figures[PT_ENERGY_TOTAL])) {
        pt_out_printf(out, "%-20s ", "Energy");
        pt_energy_print_short(&report, use_unicode, out);
        pt_out_char(out, '\n');
    }
    pt_energy_report_release(&report);
    print_overhead(s, out);
}
