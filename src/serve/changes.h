/* serve/changes.h -- what is new since the sample before, as the messages of /api/stream.
 *
 *     {"time":1763268392000,"tables":{"disk":{
 *       "rows":[[0,"sda",{"dModel":"QEMU"},[4096,null]]],     number, key, texts, all values
 *       "changes":[[1,0,8192,3,0.5]],                         number, then place and value
 *       "gone":[2]}}}                                         numbers
 *
 * A row has a number as long as it is there. Values are those of columns that can be drawn, in the
 * order of the schema, as serve/latest.h has them. */
#ifndef PT_SERVE_CHANGES_H
#define PT_SERVE_CHANGES_H

#include "base/json.h"
#include "serve/latest.h"

struct pt_changes {
    const struct pt_schema *schema;
    struct pt_changes_table *tables;
};

void pt_changes_init(struct pt_changes *c, const struct pt_schema *schema); /* borrows */
void pt_changes_release(struct pt_changes *c);

/* Takes what is known now; then writes what is new, and where somebody new is there, all of it. */
void pt_changes_see(struct pt_changes *c, const struct pt_latest *latest);
void pt_changes_write(const struct pt_changes *c, const struct pt_latest *latest, bool is_whole,
                      struct pt_out *out);

#endif
