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

static void remove_text(char *text, const char *part) {
    char *at = strstr(text, part);
    if (at)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

void pt_value_figure(enum pt_figure_format format, double value, char *into, size_t capacity) {
    pt_figure_print(format, value, into, capacity);
    remove_text(into, " ");
    remove_text(into, "iB");
}

/* A number with a suffix; without one, a figure's format. */
struct form {
    const char *suffix;
    enum pt_figure_format format;
    double factor; /* from the base unit */
};

/* Seconds per second are a share of time; joules per second are watts. */
static const struct shown {
    const char *base;
    struct form gauge, rate;
} shown[] = {
    { "bytes", { NULL, PT_FORMAT_BYTES, 1 }, { NULL, PT_FORMAT_BYTES_PER_S, 1 } },
    { "seconds", { NULL, PT_FORMAT_SECONDS, 1 }, { NULL, PT_FORMAT_PERCENT, 100 } },
    { "ratio", { NULL, PT_FORMAT_PERCENT, 100 }, { "/s", 0, 1 } },
    { "hertz", { "MHz", 0, 1e-6 }, { "/s", 0, 1 } },
    { "celsius", { "C", 0, 1 }, { "/s", 0, 1 } },
    { "watts", { "W", 0, 1 }, { "/s", 0, 1 } },
    { "joules", { "J", 0, 1 }, { "W", 0, 1 } },
    { "", { "", 0, 1 }, { "/s", 0, 1 } },
};

static const struct shown *shown_of(enum pt_unit unit) {
    const struct shown *s = shown;
    while (strcmp(s->base, pt_unit_base(unit)) != 0)
        s++;
    return s;
}

static void print_form(const struct form *f, double value, char *into, size_t capacity) {
    if (f->suffix)
        print_number(value * f->factor, f->suffix, into, capacity);
    else
        pt_value_figure(f->format, value * f->factor, into, capacity);
}

void pt_value_print(const struct pt_column *column, double value, char *into, size_t capacity) {
    if (isnan(value))
        snprintf(into, capacity, "-");
    else if (column->kind == PT_COUNTER)
        print_form(&shown_of(column->unit)->rate, value, into, capacity);
    else if (column->kind == PT_GAUGE)
        print_form(&shown_of(column->unit)->gauge, value, into, capacity);
    else
        snprintf(into, capacity, "%.0f", value);
}
