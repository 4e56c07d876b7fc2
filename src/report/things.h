/* report/things.h -- the things of one table over a run: each disk, container, process.
 *
 * A run may see any number of them; a report draws the few that matter. The first pass over the
 * samples adds up what each did, the second asks for the values of those that were chosen. */
#ifndef PT_REPORT_THINGS_H
#define PT_REPORT_THINGS_H

#include "model/sample.h"
#include "base/names.h"

/* What a thing did, as one column says. In base units: bytes, seconds, joules. */
struct pt_thing_column {
    uint64_t count; /* of values seen */
    double sum;     /* counter: how much it grew; gauge: of its values */
    double peak;    /* of a gauge */
    double before;
    int64_t before_ns; /* 0: nothing before */
};

struct pt_thing {
    struct pt_thing_column *columns;
    char **texts; /* of keys and of what describes it, as last seen, by column; or NULL */
    bool is_recorded;
    int64_t first_ns, last_ns;
    double score; /* its share of what all do, summed over the columns */
    int place;    /* among the chosen ones, or -1 */
};

/* {0} and a table is empty. */
struct pt_things {
    const struct pt_table *table;
    struct pt_names keys;
    struct pt_thing *list; /* by number of the key */
    size_t capacity;
    uint64_t dropped_count; /* did too little to be remembered */
    int recorded_column;
    uint32_t *chosen; /* numbers of things, the busiest first */
    uint32_t chosen_count;
    struct pt_buf key; /* of the row in hand */
};

#define PT_THINGS_MOST 4096 /* remembered at a time */

void pt_things_init(struct pt_things *t, const struct pt_table *table); /* borrows */
void pt_things_release(struct pt_things *t);

/* The first pass. */
void pt_things_survey(struct pt_things *t, const struct pt_batch *rows, int64_t mono_ns);
/* Chooses at most so many; what was recorded comes first. Forgets what was before. */
void pt_things_choose(struct pt_things *t, uint32_t most);

/* The second pass: the chosen thing that a row is about, or NULL. */
struct pt_thing *pt_things_of(struct pt_things *t, const struct pt_batch *rows, uint32_t row);
/* Its value now: of a gauge itself, of a counter how fast it grew since the value before. */
bool pt_thing_value(struct pt_thing *thing, const struct pt_batch *rows, uint32_t row, int column,
                    int64_t mono_ns, double *value);

#endif
