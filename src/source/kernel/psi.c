#include "source/kernel/psi.h"

#include "source/kernel/fields.h"

static double average(struct pt_scan *line, struct pt_str key) {
    pt_scan_blanks(line);
    if (!pt_scan_take(line, key))
        line->failed = true;
    return pt_fields_hundredths(line);
}

static void parse_line(struct pt_scan *line, struct pt_pressure_line *into) {
    into->avg10 = average(line, PT_STR("avg10="));
    into->avg60 = average(line, PT_STR("avg60="));
    into->avg300 = average(line, PT_STR("avg300="));
    pt_scan_blanks(line);
    if (!pt_scan_take(line, PT_STR("total=")))
        line->failed = true;
    into->total_us = pt_scan_i64(line);
    into->is_present = !line->failed;
}

void pt_pressure_parse(struct pt_scan text, struct pt_pressure *pressure) {
    struct pt_scan line;
    *pressure = (struct pt_pressure){ 0 };
    while (pt_scan_line(&text, &line)) {
        struct pt_str kind = pt_scan_word(&line);
        if (pt_str_eq(kind, PT_STR("some")))
            parse_line(&line, &pressure->some);
        else if (pt_str_eq(kind, PT_STR("full")))
            parse_line(&line, &pressure->full);
    }
}
