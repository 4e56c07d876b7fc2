/* report/energy_text.h -- energy, carbon and cost of a run as text and as JSON. */
#ifndef PT_REPORT_ENERGY_TEXT_H
#define PT_REPORT_ENERGY_TEXT_H

#include "analyze/run_energy.h"
#include "base/out.h"

/* "123 J (modelled -60/+40 %), 0.03 g CO2e, 0.00001 EUR"; empty if the energy is unknown. */
void pt_energy_print_short(const struct pt_energy_report *r, bool use_unicode, struct pt_out *out);

/* Every figure with its range and method. */
void pt_energy_print(const struct pt_energy_report *r, bool use_unicode, struct pt_out *out);

/* The same as one JSON object; an unknown figure has null values. */
void pt_energy_print_json(const struct pt_energy_report *r, const char *uuid, struct pt_out *out);

#endif
