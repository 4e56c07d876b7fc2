/* analyze/run_energy.h -- energy, carbon and cost of a run, from its samples.
 *
 * A meter adds up the samples: energy counters (RAPL, GPUs), power without a counter (by the
 * trapezoid rule), CPU utilisation for the model of analyze/power_model.h, and the work of an
 * inference engine. The report is computed from the meter and a basis, as often as needed.
 * Formulas and error ranges: docs/ENERGY.md. */
#ifndef PT_ANALYZE_RUN_ENERGY_H
#define PT_ANALYZE_RUN_ENERGY_H

#include "analyze/energy_basis.h"
#include "analyze/estimate.h"
#include "derive/figure.h"

/* State of the engine in an interval. */
enum pt_energy_state { PT_ENERGY_IDLE, PT_ENERGY_BUSY, PT_ENERGY_STATES };

/* Energy from one column of one source. */
struct pt_energy_series {
    struct pt_track before; /* joules, or watts */
    struct pt_growth grown; /* what this sample added; of no time: nothing */
    double joules[PT_ENERGY_STATES];
    double covered_s;
};

/* A device or RAPL domain that measures its energy. */
struct pt_energy_meter_source {
    char name[64];
    bool is_gpu, is_seen; /* is_seen: in this sample */
    bool has_first_watts;
    double first_watts; /* in the first sample */
    struct pt_energy_series counter, power;
};

enum pt_energy_count_id {
    PT_ENERGY_REQUESTS,
    PT_ENERGY_PROMPT_TOKENS,
    PT_ENERGY_GENERATED_TOKENS,
    PT_ENERGY_PREFILL_S,
    PT_ENERGY_DECODE_S,
    PT_ENERGY_COUNTS
};

#define PT_ENERGY_INPUTS 8

struct pt_energy_meter {
    struct {
        int table, column; /* -1: the run does not have it */
    } places[PT_ENERGY_INPUTS];
    struct pt_energy_meter_source *sources;
    size_t source_count, source_capacity;
    bool has_denied; /* energy counters exist but cannot be read */

    uint64_t sample_count;
    int64_t first_ns, last_ns;
    double share_s[PT_ENERGY_STATES]; /* integral of pt_power_share() */
    struct pt_growth share_grown;     /* what this sample added to it */
    double seconds[PT_ENERGY_STATES];
    double unknown_s;   /* with unknown utilisation */
    double tree_cpu_s;  /* CPU time of the recorded tree... */
    double tree_busy_s; /* ...and the busy part of all CPUs, in the same intervals */
    bool has_engine;
    double counts[PT_ENERGY_COUNTS]; /* what the engine did during the run */
};

/* Finds its columns in the schema of the samples. */
void pt_energy_meter_init(struct pt_energy_meter *m, const struct pt_schema *schema);
void pt_energy_meter_release(struct pt_energy_meter *m);
/* `figures` belong to this sample. Not for samples without host rows (marks). */
void pt_energy_meter_add(struct pt_energy_meter *m, const struct pt_sample *sample,
                         const struct pt_figure_stream *figures);

enum pt_energy_figure_id {
    PT_ENERGY_TOTAL,
    PT_ENERGY_POWER,
    PT_ENERGY_KWH,
    PT_ENERGY_PUE,
    PT_ENERGY_INTENSITY,
    PT_ENERGY_CO2E,
    PT_ENERGY_COST,
    PT_ENERGY_TREE,
    PT_ENERGY_PREFILL,
    PT_ENERGY_DECODE,
    PT_ENERGY_ENGINE_IDLE,
    PT_ENERGY_PER_REQUEST,
    PT_ENERGY_PER_1000_TOKENS,
    PT_ENERGY_PER_1000_GENERATED,
    PT_ENERGY_CO2E_PER_REQUEST,
    PT_ENERGY_CO2E_PER_1000_TOKENS,
    PT_ENERGY_COST_PER_REQUEST,
    PT_ENERGY_COST_PER_1000_TOKENS,
    PT_ENERGY_FIGURE_COUNT
};

struct pt_energy_figure {
    const char *key, *label, *unit; /* unit NULL: the currency */
};

extern const struct pt_energy_figure pt_energy_figures[PT_ENERGY_FIGURE_COUNT];

/* Instead of an index: sources that are modelled. */
enum { PT_ENERGY_FROM_PROCESSOR_MODEL = -1, PT_ENERGY_FROM_MEMORY_MODEL = -2 };

struct pt_energy_source {
    char name[64];
    int from;          /* its index in the meter, or a model */
    bool uses_counter; /* else its power */
    bool is_counted;   /* in the total; parts of another source are not */
    double busy_share; /* of its energy, while the engine was busy */
    struct pt_estimate joules;
};

struct pt_energy_report {
    double seconds;
    const char *currency;     /* borrows from the basis */
    bool uses_carbon_table;   /* show PT_CARBON_ATTRIBUTION */
    bool has_denied_counters; /* root could measure the modelled values */
    struct pt_energy_source *sources;
    size_t source_count, source_capacity;
    struct pt_estimate figures[PT_ENERGY_FIGURE_COUNT];
};

void pt_energy_report_make(struct pt_energy_report *r, const struct pt_energy_meter *m,
                           const struct pt_energy_basis *basis);
void pt_energy_report_release(struct pt_energy_report *r);

#endif
