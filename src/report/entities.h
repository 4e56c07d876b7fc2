/* report/entities.h -- the entities of one table over a run: disks, containers, processes.
 *
 * A run can have any number of them; a report draws the busiest. The first pass over the samples
 * sums up their values, the second reads the values of the selected entities. */
#ifndef PT_REPORT_ENTITIES_H
#define PT_REPORT_ENTITIES_H

#include "base/names.h"
#include "derive/rates.h"

/* Totals of one column of an entity, in base units: bytes, seconds, joules. */
struct pt_report_entity_column {
    uint64_t count; /* of values */
    double sum;     /* counter: its growth; gauge: sum of its values */
    double peak;    /* of a gauge; NAN: no value was known */
    struct pt_rate rate;
};

struct pt_report_entity {
    struct pt_report_entity_column *columns;
    char **texts; /* last values of keys and texts, by column, or NULL */
    bool is_recorded;
    int64_t first_ns, last_ns; /* of its samples, so far in this pass */
    double score;              /* its share of all entities, summed over the columns */
    int index;                 /* index in the selection, or -1 */
};

/* Needs pt_report_entities_init(). */
struct pt_report_entities {
    const struct pt_table *table;
    struct pt_names keys;
    struct pt_report_entity *list; /* by index in `keys` */
    size_t capacity;
    uint64_t dropped_count; /* dropped for the limit, least busy first */
    int recorded_column;
    uint32_t *chosen; /* indexes in `list`, the busiest first */
    uint32_t chosen_count;
    struct pt_buf key; /* of the current row */
    struct pt_gaps gaps;
    int64_t now_ns, interval_ns; /* of the sample; interval 0: the first, or after a gap */
    int64_t restart_ns; /* of the first sample after the last gap: no rate goes back further */
};

#define PT_REPORT_ENTITIES_MAX 4096 /* kept at a time */

void pt_report_entities_init(struct pt_report_entities *t,
                             const struct pt_table *table); /* borrows */
void pt_report_entities_release(struct pt_report_entities *t);

/* The next sample of the run, before its rows are read; in both passes. */
void pt_report_entities_advance(struct pt_report_entities *t, const struct pt_sample *sample);

/* The first pass. */
void pt_report_entities_survey(struct pt_report_entities *t, const struct pt_batch *rows);
/* Selects at most `max` entities, recorded ones first. Forgets previous values. */
void pt_report_entities_choose(struct pt_report_entities *t, uint32_t max);

/* The second pass: the selected entity of a row, or NULL. */
struct pt_report_entity *pt_report_entities_next(struct pt_report_entities *t,
                                                 const struct pt_batch *rows, uint32_t row);
/* What that row says about a column. NULL: unknown, or a counter that was not read again. */
const struct pt_rate *pt_report_entity_value(const struct pt_report_entities *t,
                                             struct pt_report_entity *entity,
                                             const struct pt_batch *rows, uint32_t row, int column);

#endif
