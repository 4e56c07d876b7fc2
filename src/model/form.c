#include "model/form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *suffix;
    double factor;
} byte_units[] = { { "B", 1 },
                   { "KiB", 1024 },
                   { "MiB", 1048576 },
                   { "GiB", 1073741824 },
                   { "TiB", 1099511627776.0 } };

/* Halves are rounded up, as in the pages: 66.25 is 66.3, where printf() prefers even digits. */
static void print_fixed(double value, int places, const char *suffix, char *into, size_t capacity) {
    static const double scales[] = { 1, 10, 100 };
    double rounded = round(value * scales[places]) / scales[places];
    snprintf(into, capacity, "%.*f%s", places, rounded, suffix);
}

/* Limits apply to the rounded number: 1 MiB, not 1024 KiB; 10 MiB, not 10.0 MiB. */
static void print_bytes(double value, const char *per, char *into, size_t capacity) {
    char suffix[16];
    size_t i = 0;
    while (i + 1 < PT_COUNT(byte_units) && value / byte_units[i].factor >= 1023.5)
        i++;
    value /= byte_units[i].factor;
    snprintf(suffix, sizeof suffix, " %s%s", byte_units[i].suffix, per);
    print_fixed(value, value < 9.95 && i > 0, suffix, into, capacity);
}

/* 7, 7.25, 123.4, 1.2M; a rate has one decimal place, as in the long form. */
static void print_thousands(double value, bool is_rate, const char *suffix, char *into,
                            size_t capacity) {
    static const char *const thousands[] = { "", "k", "M", "G", "T" };
    size_t i = 0;
    while (fabs(value) >= 99999.5 && i + 1 < PT_COUNT(thousands)) {
        value /= 1000;
        i++;
    }
    int places = is_rate ? 1 : i == 0 && value == floor(value) ? 0 : fabs(value) < 9.995 ? 2 : 1;
    char unit[16];
    snprintf(unit, sizeof unit, "%s%s", thousands[i], suffix);
    print_fixed(value, places, unit, into, capacity);
}

/* Factor, decimal places and unit; bytes and seconds have several units. */
static const struct {
    double factor;
    int places;
    const char *suffix;
} longs[PT_FORM_COUNT] = {
    [PT_FORM_DEFAULT] = { 1, 2, "" },      [PT_FORM_NUMBER] = { 1, 2, "" },
    [PT_FORM_MONEY] = { 1, 2, "" },        [PT_FORM_SHARE] = { 100, 1, " %" },
    [PT_FORM_CORES] = { 1, 2, " cores" },  [PT_FORM_PER_S] = { 1, 1, " /s" },
    [PT_FORM_HERTZ] = { 1e-6, 0, " MHz" }, [PT_FORM_CELSIUS] = { 1, 0, " C" },
    [PT_FORM_WATTS] = { 1, 1, " W" },      [PT_FORM_JOULES] = { 1, 1, " J" },
    [PT_FORM_GRAMS] = { 1, 2, " g" },
};

void pt_form_print(enum pt_form form, double value, char *into, size_t capacity) {
    if (isnan(value))
        snprintf(into, capacity, "-");
    else if (form == PT_FORM_BYTES || form == PT_FORM_BYTES_PER_S)
        print_bytes(value, form == PT_FORM_BYTES ? "" : "/s", into, capacity);
    else if (form == PT_FORM_SECONDS && value < 1)
        print_fixed(value * 1000, 1, " ms", into, capacity);
    else if (form == PT_FORM_SECONDS)
        print_fixed(value, 2, " s", into, capacity);
    else
        print_fixed(value * longs[form].factor, longs[form].places, longs[form].suffix, into,
                    capacity);
}

static void remove_text(char *text, const char *part) {
    char *at = strstr(text, part);
    if (at)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

/* A number with a suffix, and the factor of it; the others are as long, without blanks. */
static const struct {
    const char *suffix;
    double factor;
} shorts[PT_FORM_COUNT] = {
    [PT_FORM_DEFAULT] = { "", 1 },     [PT_FORM_NUMBER] = { "", 1 },
    [PT_FORM_MONEY] = { "", 1 },       [PT_FORM_PER_S] = { "/s", 1 },
    [PT_FORM_HERTZ] = { "MHz", 1e-6 }, [PT_FORM_CELSIUS] = { "C", 1 },
    [PT_FORM_WATTS] = { "W", 1 },      [PT_FORM_JOULES] = { "J", 1 },
    [PT_FORM_GRAMS] = { "g", 1 },
};

void pt_form_print_short(enum pt_form form, double value, char *into, size_t capacity) {
    if (!isnan(value) && shorts[form].suffix) {
        print_thousands(value * shorts[form].factor, pt_forms[form].is_rate, shorts[form].suffix,
                        into, capacity);
        return;
    }
    pt_form_print(form, value, into, capacity);
    remove_text(into, " ");
    remove_text(into, "iB");
    remove_text(into, "cores");
}

void pt_column_print_with_unit(const struct pt_column *column, double value, char *into,
                               size_t capacity) {
    if (pt_column_is_drawn(column) && pt_column_form(column) == PT_FORM_CORES)
        pt_form_print(PT_FORM_CORES, value, into, capacity);
    else
        pt_column_print(column, value, into, capacity);
}

void pt_column_print(const struct pt_column *column, double value, char *into, size_t capacity) {
    bool is_name = column->kind == PT_KEY || column->kind == PT_INFO;
    if (is_name && !isnan(value))
        snprintf(into, capacity, "%.0f", value);
    else
        pt_form_print_short(pt_column_form(column), value, into, capacity);
}
