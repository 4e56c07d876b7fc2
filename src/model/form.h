/* model/form.h -- numbers as text, by their form. Values are in base units; a share is 0 to 1. */
#ifndef PT_MODEL_FORM_H
#define PT_MODEL_FORM_H

#include "model/table.h"

#include <stddef.h>

/* "97.3 %", "1.25 cores", "1.2 GiB", "31 MiB/s"; NAN is "-". */
void pt_form_print(enum pt_form form, double value, char *into, size_t capacity);
/* The same for narrow places: "97.3%", "1.25", "1.2G", "31M/s". */
void pt_form_print_short(enum pt_form form, double value, char *into, size_t capacity);

/* A value of that column in its base unit, of a counter per second; short. */
void pt_column_print(const struct pt_column *column, double value, char *into, size_t capacity);
/* The same where no heading says that it is in cores: "1.25 cores". */
void pt_column_print_with_unit(const struct pt_column *column, double value, char *into,
                               size_t capacity);

#endif
