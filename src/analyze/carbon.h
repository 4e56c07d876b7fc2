/* analyze/carbon.h -- carbon intensity of electricity, by country, as yearly means.
 *
 * Source of the figures: Our World in Data / Ember (CC BY 4.0), through codecarbon's country
 * table (MIT); show PT_CARBON_ATTRIBUTION together with figures computed from them. */
#ifndef PT_ANALYZE_CARBON_H
#define PT_ANALYZE_CARBON_H

#include "analyze/estimate.h"
#include "base/str.h"

#define PT_CARBON_ATTRIBUTION \
    "Carbon intensity: Our World in Data / Ember, via codecarbon, CC BY 4.0"

struct pt_carbon_region {
    const char *code, *name; /* ISO 3166-1: "DE", "Germany" */
    double grams_per_kwh;
    int year;
};

extern const struct pt_carbon_region pt_carbon_regions[];
extern const size_t pt_carbon_region_count;

/* By code or name, upper or lower case; NULL if unknown. "world" is a region. */
const struct pt_carbon_region *pt_carbon_find(struct pt_str name);

/* Grams of CO2 equivalent per kWh. Without a region: the world mean, with the range of all
 * countries in the table. */
struct pt_estimate pt_carbon_intensity(const struct pt_carbon_region *region);

#endif
