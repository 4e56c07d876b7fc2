/* top/list.h -- the rows of a panel in the order they are shown: filtered, sorted, as a tree. */
#ifndef PT_TOP_LIST_H
#define PT_TOP_LIST_H

#include "top/panel.h"

#define PT_LIST_DEPTH 24 /* of a tree; what is deeper is drawn at this depth */

struct pt_list_item {
    uint32_t row;
    int depth;
    uint32_t open; /* bit d: the line of depth d goes on below */
};

/* {0} is empty. Keeps its memory from one time to the next. */
struct pt_list {
    struct pt_list_item *items;
    size_t count, capacity;
    struct pt_list_node *nodes; /* see list.c */
    size_t node_capacity;
    uint32_t *order, *by_id;
    size_t order_capacity, by_id_capacity;
};

struct pt_list_options {
    const struct pt_panel_column *sort; /* NULL: as the rows come */
    bool is_rising;
    const char *filter; /* "": all; any text of a row, or a key, in which it stands */
    bool is_tree;       /* where rows have parents */
    bool is_own;        /* only what is of the recorded tree */
};

void pt_list_make(struct pt_list *l, const struct pt_panel *p, const struct pt_rates *r,
                  const struct pt_list_options *options);
void pt_list_release(struct pt_list *l);

#endif
