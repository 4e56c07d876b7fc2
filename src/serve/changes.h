/* serve/changes.h -- the changes since the previous sample, as messages of /api/stream.
 *
 *     {"time":1763268392000,"figures":{"cpu.busy":0.43,"gpu.util":null},"tables":{"disk":{
 *       "rows":[[0,"sda",{"dModel":"QEMU"},[4096,null]]],     number, key, texts, all values
 *       "changes":[[1,0,8192,3,0.5]],                         number, then column and value
 *       "gone":[2]}}}                                         numbers
 *
 * A row keeps its number as long as it exists. Values are those of columns that can be drawn, in
 * the order of the schema, as in derive/rates.h. Figures are those of derive/figure.h. */
#ifndef PT_SERVE_CHANGES_H
#define PT_SERVE_CHANGES_H

#include "base/json.h"
#include "serve/latest.h"

struct pt_changes {
    const struct pt_schema *schema;
    struct pt_changes_table *tables;
    double figures[PT_FIGURE_COUNT];
    bool is_figure_changed[PT_FIGURE_COUNT];
};

void pt_changes_init(struct pt_changes *c, const struct pt_schema *schema); /* borrows */
void pt_changes_release(struct pt_changes *c);

/* Compares with the latest rows; then writes the changes or, for new readers, all rows. */
void pt_changes_update(struct pt_changes *c, const struct pt_latest *latest);
void pt_changes_write(const struct pt_changes *c, const struct pt_latest *latest, bool is_whole,
                      struct pt_out *out);

#endif
