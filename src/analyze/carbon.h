/* analyze/carbon.h -- carbon intensity of electricity, by country, as yearly means.
 *
 * Source of the figures: Our World in Data / Ember (CC BY 4.0), by way of codecarbon's country
 * table (MIT); whoever shows a figure made from them shows PT_CARBON_ATTRIBUTION too. */
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

/* By code or name, upper or lower case; NULL if there is no such region. "world" is one. */
const struct pt_carbon_region *pt_carbon_find(struct pt_str name);

/* Grams of CO2 equivalent a kilowatt-hour. Without a region: the mean of the world, and a range
 * as wide as all countries of the table. */
struct pt_estimate pt_carbon_intensity(const struct pt_carbon_region *region);

#endif
