#include "analyze/value.h"

#include <math.h>
#include <stdio.h>

/* 7, 7.25, 123.4, 1.2M */
static void print_number(double value, const char *suffix, char *into, size_t capacity) {
    static const char *const thousands[] = { "", "k", "M", "G", "T" };
    size_t i = 0;
    while (fabs(value) >= 99999.5 && i + 1 < PT_COUNT(thousands)) {
        value /= 1000;
        i++;
    }
    int places = i == 0 && value == floor(value) ? 0 : fabs(value) < 9.995 ? 2 : 1;
    snprintf(into, capacity, "%.*f%s%s", places, value, thousands[i], suffix);
}

static void take_out(char *text, const char *part) {
    char *at = strstr(text, part);
    if (at)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

void pt_value_figure(enum pt_figure_format format, double value, char *into, size_t capacity) {
    pt_figure_print(format, value, into, capacity);
    take_out(into, " ");
    take_out(into, "iB");
}

static void print_gauge(enum pt_unit unit, double value, char *into, size_t capacity) {
    switch (unit) {
    case PT_BYTES:
    case PT_MEBIBYTES:
        pt_value_figure(PT_FORMAT_BYTES, value, into, capacity);
        return;
    case PT_CENTISECONDS:
    case PT_MILLISECONDS:
    case PT_MICROSECONDS:
    case PT_NANOSECONDS:
    case PT_SECONDS:
        pt_value_figure(PT_FORMAT_SECONDS, value, into, capacity);
        return;
    case PT_PERCENT:
    case PT_RATIO:
        pt_value_figure(PT_FORMAT_PERCENT, value * 100, into, capacity);
        return;
    case PT_MEGAHERTZ:
        print_number(value / 1e6, "MHz", into, capacity);
        return;
    case PT_CELSIUS:
        print_number(value, "C", into, capacity);
        return;
    case PT_WATTS:
        print_number(value, "W", into, capacity);
        return;
    case PT_JOULES:
    case PT_MICROJOULES:
    case PT_MILLIJOULES:
        print_number(value, "J", into, capacity);
        return;
    case PT_NONE:
    case PT_COUNT:
    case PT_UNIT_COUNT:
        break;
    }
    print_number(value, "", into, capacity);
}

/* Time that goes by while time goes by is a share of it; energy is power. */
static void print_rate(enum pt_unit unit, double value, char *into, size_t capacity) {
    switch (unit) {
    case PT_BYTES:
    case PT_MEBIBYTES:
        pt_value_figure(PT_FORMAT_BYTES_PER_S, value, into, capacity);
        return;
    case PT_CENTISECONDS:
    case PT_MILLISECONDS:
    case PT_MICROSECONDS:
    case PT_NANOSECONDS:
    case PT_SECONDS:
        pt_value_figure(PT_FORMAT_PERCENT, value * 100, into, capacity);
        return;
    case PT_JOULES:
    case PT_MICROJOULES:
    case PT_MILLIJOULES:
        print_number(value, "W", into, capacity);
        return;
    default:
        print_number(value, "/s", into, capacity);
    }
}

void pt_value_print(const struct pt_column *column, double value, char *into, size_t capacity) {
    if (isnan(value))
        snprintf(into, capacity, "-");
    else if (column->kind == PT_COUNTER)
        print_rate(column->unit, value, into, capacity);
    else if (column->kind == PT_GAUGE)
        print_gauge(column->unit, value, into, capacity);
    else
        snprintf(into, capacity, "%.0f", value);
}
