#include "report/energy_text.h"

#include "analyze/carbon.h"
#include "base/json.h"

#include <stdio.h>

static const struct {
    const char *suffix;
    double factor;
} joule_units[] = { { "J", 1 }, { "kJ", 1e3 }, { "MJ", 1e6 }, { "GJ", 1e9 } };

static const char *unit_of(const struct pt_energy_report *r, enum pt_energy_figure_id id) {
    const char *unit = pt_energy_figures[id].unit;
    return unit ? unit : *r->currency ? r->currency : "money";
}

/* "1.23 kJ" */
static void print_value(double value, const char *unit, char *into, size_t capacity) {
    char number[64];
    size_t i = 0;
    if (strcmp(unit, "J") == 0)
        while (i + 1 < PT_COUNT(joule_units) && value >= joule_units[i + 1].factor)
            i++;
    pt_estimate_print_value(value / joule_units[i].factor, number, sizeof number);
    snprintf(into, capacity, "%s%s%s", number, *unit ? " " : "",
             i > 0 ? joule_units[i].suffix : unit);
}

void pt_energy_print_short(const struct pt_energy_report *r, bool use_unicode, struct pt_out *out) {
    static const enum pt_energy_figure_id others[] = { PT_ENERGY_CO2E, PT_ENERGY_COST };
    const struct pt_estimate *total = &r->figures[PT_ENERGY_TOTAL];
    char value[96], range[32];
    if (!pt_estimate_is_known(total))
        return;
    print_value(total->value, "J", value, sizeof value);
    pt_estimate_print_range(total, use_unicode, range, sizeof range);
    pt_out_printf(out, "%s (%s%s%s)", value, pt_provenance_name(total->provenance),
                  *range ? " " : "", range);
    for (size_t i = 0; i < PT_COUNT(others); i++) {
        const struct pt_estimate *e = &r->figures[others[i]];
        if (!pt_estimate_is_known(e))
            continue;
        print_value(e->value, unit_of(r, others[i]), value, sizeof value);
        pt_out_printf(out, ", %s", value);
    }
}

static void print_line(const char *label, const char *unit, const struct pt_estimate *e,
                       bool use_unicode, struct pt_out *out) {
    char value[96] = "unknown", range[32] = "";
    if (pt_estimate_is_known(e)) {
        print_value(e->value, unit, value, sizeof value);
        pt_estimate_print_range(e, use_unicode, range, sizeof range);
    }
    /* "±" is two bytes and one column */
    int width = 13 + pt_str_starts(pt_str_from(range), PT_STR("±"));
    pt_out_printf(out, "%-22s %18s %*s  %s%s%s\n", label, value, width, range,
                  pt_estimate_is_known(e) ? pt_provenance_name(e->provenance) : "",
                  *e->method ? ": " : "", e->method);
}

void pt_energy_print(const struct pt_energy_report *r, bool use_unicode, struct pt_out *out) {
    for (size_t i = 0; i < r->source_count; i++) {
        char label[80];
        snprintf(label, sizeof label, r->sources[i].is_counted ? "%s" : "(%s)", r->sources[i].name);
        print_line(label, "J", &r->sources[i].joules, use_unicode, out);
    }
    for (int i = 0; i < PT_ENERGY_FIGURE_COUNT; i++)
        if (pt_estimate_is_known(&r->figures[i]))
            print_line(pt_energy_figures[i].label, unit_of(r, (enum pt_energy_figure_id)i),
                       &r->figures[i], use_unicode, out);
    if (r->has_denied_counters)
        pt_out_text(
            out,
            "The processor's energy counters are readable only by root (see 'pitot doctor').\n");
    if (r->uses_carbon_table)
        pt_out_text(out, PT_CARBON_ATTRIBUTION ".\n");
}

static void put_estimate(struct pt_json *j, const struct pt_estimate *e, const char *unit) {
    if (pt_estimate_is_known(e)) {
        pt_json_f64(j, "value", e->value);
        pt_json_f64(j, "low", e->low);
        pt_json_f64(j, "high", e->high);
    } else {
        pt_json_null(j, "value");
        pt_json_null(j, "low");
        pt_json_null(j, "high");
    }
    pt_json_text(j, "unit", unit);
    pt_json_text(j, "provenance", pt_provenance_name(e->provenance));
    pt_json_text(j, "method", e->method);
}

void pt_energy_print_json(const struct pt_energy_report *r, const char *uuid, struct pt_out *out) {
    struct pt_json j = { .out = out, .indent = 2 };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "uuid", uuid);
    pt_json_f64(&j, "seconds", r->seconds);
    pt_json_array(&j, "sources");
    for (size_t i = 0; i < r->source_count; i++) {
        pt_json_object(&j, NULL);
        pt_json_text(&j, "name", r->sources[i].name);
        pt_json_bool(&j, "counted", r->sources[i].is_counted);
        put_estimate(&j, &r->sources[i].joules, "J");
        pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_json_object(&j, "figures");
    for (int i = 0; i < PT_ENERGY_FIGURE_COUNT; i++) {
        pt_json_object(&j, pt_energy_figures[i].key);
        put_estimate(&j, &r->figures[i], unit_of(r, (enum pt_energy_figure_id)i));
        pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_json_bool(&j, "counters_denied", r->has_denied_counters);
    pt_json_text(&j, "attribution", r->uses_carbon_table ? PT_CARBON_ATTRIBUTION : NULL);
    pt_json_end(&j);
    pt_out_char(out, '\n');
}
