#include "analyze/carbon.h"

#include <strings.h>

/* The hour of the run against the yearly mean, and the spread between life-cycle inventories. */
#define REGION_LOW  0.7
#define REGION_HIGH 1.3

const struct pt_carbon_region pt_carbon_regions[] = {
    { "AE", "United Arab Emirates", 561, 2022 },
    { "AR", "Argentina", 354, 2023 },
    { "AT", "Austria", 111, 2023 },
    { "AU", "Australia", 549, 2023 },
    { "BE", "Belgium", 138, 2023 },
    { "BR", "Brazil", 98, 2023 },
    { "CA", "Canada", 170, 2023 },
    { "CH", "Switzerland", 35, 2023 },
    { "CL", "Chile", 291, 2023 },
    { "CN", "China", 582, 2023 },
    { "CZ", "Czechia", 450, 2023 },
    { "DE", "Germany", 381, 2023 },
    { "DK", "Denmark", 152, 2023 },
    { "ES", "Spain", 174, 2023 },
    { "FI", "Finland", 79, 2023 },
    { "FR", "France", 56, 2023 },
    { "GB", "United Kingdom", 238, 2023 },
    { "GR", "Greece", 337, 2023 },
    { "HK", "Hong Kong", 699, 2022 },
    { "ID", "Indonesia", 676, 2022 },
    { "IE", "Ireland", 291, 2023 },
    { "IL", "Israel", 583, 2022 },
    { "IN", "India", 713, 2023 },
    { "IS", "Iceland", 28, 2022 },
    { "IT", "Italy", 331, 2023 },
    { "JP", "Japan", 485, 2023 },
    { "KR", "South Korea", 431, 2023 },
    { "MX", "Mexico", 507, 2023 },
    { "NL", "Netherlands", 268, 2023 },
    { "NO", "Norway", 30, 2023 },
    { "NZ", "New Zealand", 113, 2023 },
    { "PL", "Poland", 662, 2023 },
    { "PT", "Portugal", 166, 2023 },
    { "RU", "Russia", 441, 2023 },
    { "SA", "Saudi Arabia", 707, 2022 },
    { "SE", "Sweden", 41, 2023 },
    { "SG", "Singapore", 471, 2023 },
    { "TR", "Turkey", 465, 2023 },
    { "TW", "Taiwan", 642, 2023 },
    { "US", "United States", 369, 2023 },
    { "ZA", "South Africa", 708, 2023 },
};
const size_t pt_carbon_region_count = PT_COUNT(pt_carbon_regions);

static const struct pt_carbon_region world = { "", "world", 475, 2019 };

/* Common alternatives. */
static const struct {
    const char *name, *code;
} other_names[] = { { "UK", "GB" }, { "USA", "US" }, { "UAE", "AE" } };

static bool equals(struct pt_str a, const char *b) {
    return a.len == strlen(b) && strncasecmp(a.at, b, a.len) == 0;
}

const struct pt_carbon_region *pt_carbon_find(struct pt_str name) {
    for (size_t i = 0; i < PT_COUNT(other_names); i++)
        if (equals(name, other_names[i].name))
            name = pt_str_from(other_names[i].code);
    for (size_t i = 0; i < pt_carbon_region_count; i++)
        if (equals(name, pt_carbon_regions[i].code) || equals(name, pt_carbon_regions[i].name))
            return &pt_carbon_regions[i];
    return equals(name, world.name) ? &world : NULL;
}

struct pt_estimate pt_carbon_intensity(const struct pt_carbon_region *region) {
    if (region && region != &world)
        return pt_estimate_of(region->grams_per_kwh, REGION_LOW, REGION_HIGH, PT_ASSUMED,
                              "%s, yearly mean %d", region->name, region->year);
    struct pt_estimate e = pt_estimate_of(
        world.grams_per_kwh, 1, 1, PT_ASSUMED,
        "world mean %d; range: all countries in the table (see --region)", world.year);
    for (size_t i = 0; i < pt_carbon_region_count; i++) {
        double grams = pt_carbon_regions[i].grams_per_kwh;
        e.low = grams < e.low ? grams : e.low;
        e.high = grams > e.high ? grams : e.high;
    }
    return e;
}
