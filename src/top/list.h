/* top/list.h -- the rows of a panel in display order: filtered, sorted, as a tree. */
#ifndef PT_TOP_LIST_H
#define PT_TOP_LIST_H

#include "top/panel.h"

#define PT_LIST_DEPTH 24 /* of a tree; deeper rows are drawn at this depth */

struct pt_list_item {
    uint32_t row;
    int depth;
    uint32_t open; /* bit d: the line at depth d continues below */
};

/* {0} is empty. Reuses its memory. */
struct pt_list {
    struct pt_list_item *items;
    size_t count, capacity;
    struct pt_list_node *nodes; /* see list.c */
    size_t node_capacity;
    uint32_t *order, *by_id;
    size_t order_capacity, by_id_capacity;
};

struct pt_list_options {
    const struct pt_panel_column *sort; /* NULL: in row order */
    bool is_rising;
    const char *filter; /* "": all rows; else rows with this text in a text or key column */
    bool is_tree;       /* where rows have parents */
    bool is_own;        /* only rows of the recorded tree */
};

void pt_list_make(struct pt_list *l, const struct pt_panel *p, const struct pt_rates *r,
                  const struct pt_list_options *options);
void pt_list_release(struct pt_list *l);

#endif
