/* record/status.h -- one line on the terminal while recording.
 *
 * It is drawn only if stderr is a terminal and no command runs: a command has the same stderr, and
 * the two would mix. Log messages clear it first. */
#ifndef PT_RECORD_STATUS_H
#define PT_RECORD_STATUS_H

#include "derive/figure.h"

struct pt_status {
    bool is_on;
    struct pt_figure_stream figures;
    int64_t start_ns, drawn_ns;
    uint64_t sample_count;
};

/* Borrows the schema. Draws nothing if that would disturb. */
void pt_status_init(struct pt_status *s, const struct pt_schema *schema, bool is_wanted,
                    bool has_command);
void pt_status_see(struct pt_status *s, const struct pt_sample *sample);
void pt_status_release(struct pt_status *s); /* clears the line */

#endif
