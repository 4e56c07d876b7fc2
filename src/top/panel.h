/* top/panel.h -- a list on the screen: rows of one table, some or all of its columns.
 *
 * Every table of the schema has a panel, and the columns' lines say what is in it: a column with a
 * heading is part of the list, headlines are shown on any screen, others on a wide one. So a
 * new table or column appears without a change here. */
#ifndef PT_TOP_PANEL_H
#define PT_TOP_PANEL_H

#include "derive/rates.h"

struct pt_panel_column {
    const char *heading;
    int table, column;
    int otherwise;          /* text column to use where it is empty; or -1 */
    int joined_by;          /* column of `table` that has the key of the row; -1: no other table */
    int width;              /* 0: the remaining width */
    int min_screen_columns; /* the narrowest screen that shows it, without joined columns */
};

struct pt_panel_columns {
    struct pt_panel_column *list;
    int count;
    size_t capacity;
};

struct pt_panel {
    char title[32];
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

/* What people sort by. */
enum pt_panel_order { PT_PANEL_BY_USE, PT_PANEL_BY_MEMORY, PT_PANEL_BY_ID };

/* The chosen column for that order: the first in cores or a share; the first in bytes; the key. -1:
 * there is none. */
int pt_panel_find_order(const struct pt_panel *p, const struct pt_schema *schema,
                        enum pt_panel_order order);

/* Does the column have values now? One of another table without rows does not. */
bool pt_panel_has_rows(const struct pt_panel *p, const struct pt_rates *r);
bool pt_panel_shows(const struct pt_panel *p, const struct pt_panel_column *c,
                    const struct pt_rates *r, int screen_columns);

bool pt_panel_is_text(const struct pt_panel_column *c, const struct pt_rates *r);
/* For a row of the panel's table: NAN if unknown. */
double pt_panel_value(const struct pt_panel *p, const struct pt_panel_column *c,
                      const struct pt_rates *r, uint32_t row);
/* For a text column; "" if unknown. */
struct pt_str pt_panel_text(const struct pt_panel *p, const struct pt_panel_column *c,
                            const struct pt_rates *r, uint32_t row);
/* The key that tells rows with the same text apart; "" if there is none, or the text is the key. */
struct pt_str pt_panel_text_key(const struct pt_panel *p, const struct pt_panel_column *c,
                                const struct pt_rates *r, uint32_t row);

#endif
