/* top/panel.h -- a list on the screen: rows of one table, some or all of its columns.
 *
 * The panels of panel.c come first, with columns chosen by hand; then one for each other table of
 * the schema, so that all recorded data can be viewed. */
#ifndef PT_TOP_PANEL_H
#define PT_TOP_PANEL_H

#include "top/rates.h"

struct pt_panel_column {
    const char *heading;
    int table, column;
    int otherwise[2]; /* columns to use if it is unknown, numbers as their sum; or -1 */
    int joined_by;    /* column of `table` that names the process of the row; -1: no other table */
    int width;        /* 0: the remaining width */
    int min_screen_columns; /* the narrowest screen that shows it */
};

struct pt_panel_columns {
    struct pt_panel_column *list;
    int count;
};

struct pt_panel {
    const char *title;
    int table;
    struct pt_panel_columns chosen, all;
    int sort;       /* initial sort column, of the chosen ones; -1: row order */
    bool is_single; /* one row for the whole machine */
    /* Columns of the table; -1: none. */
    int id, parent, is_recorded;
};

struct pt_panels {
    struct pt_panel *list;
    int count;
};

void pt_panels_init(struct pt_panels *p, const struct pt_schema *schema);
void pt_panels_release(struct pt_panels *p);
/* By title or by name of the table; -1: none. */
int pt_panels_find(const struct pt_panels *p, const struct pt_schema *schema, const char *name);

/* Does the column have values now? One of another table without rows does not. */
bool pt_panel_has_rows(const struct pt_panel *p, const struct pt_rates *r);
bool pt_panel_shows(const struct pt_panel_column *c, const struct pt_rates *r, int screen_columns);

bool pt_panel_is_text(const struct pt_panel_column *c, const struct pt_rates *r);
/* For a row of the panel's table: NAN if unknown. */
double pt_panel_value(const struct pt_panel *p, const struct pt_panel_column *c,
                      const struct pt_rates *r, uint32_t row);
/* For a text column; "" if unknown. */
struct pt_str pt_panel_text(const struct pt_panel *p, const struct pt_panel_column *c,
                            const struct pt_rates *r, uint32_t row);

#endif
