#include "top/list.h"

#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct pt_list_node {
    double number;
    struct pt_str text;
    uint32_t parent, first_child, next;
    bool is_kept, is_placed;
};

struct sorting {
    const struct pt_list_node *nodes;
    bool is_text, is_rising;
};

void pt_list_release(struct pt_list *l) {
    pt_free(l->items);
    pt_free(l->nodes);
    pt_free(l->order);
    pt_free(l->by_id);
    *l = (struct pt_list){ 0 };
}

static bool contains(struct pt_str text, struct pt_str part) {
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (strncasecmp(text.at + i, part.at, part.len) == 0)
            return true;
    return false;
}

static bool row_matches(const struct pt_batch *rows, uint32_t row, const char *filter) {
    struct pt_str part = pt_str_from(filter);
    if (part.len == 0)
        return true;
    for (int i = 0; i < rows->table->column_count; i++) {
        const struct pt_column *c = &rows->table->columns[i];
        char number[24];
        if (pt_is_null(rows, row, i) || (c->type != PT_STRING && c->kind != PT_KEY))
            continue;
        if (c->type != PT_STRING)
            snprintf(number, sizeof number, "%lld", (long long)pt_get_i64(rows, row, i));
        if (contains(c->type == PT_STRING ? pt_get_str(rows, row, i) : pt_str_from(number), part))
            return true;
    }
    return false;
}

static void make_nodes(struct pt_list *l, const struct pt_panel *p, const struct pt_rates *r,
                       const struct pt_list_options *o) {
    const struct pt_batch *rows = pt_rates_rows(r, p->table);
    pt_grow(&l->nodes, &l->node_capacity, rows->row_count, sizeof *l->nodes);
    for (uint32_t row = 0; row < rows->row_count; row++) {
        struct pt_list_node *n = &l->nodes[row];
        *n = (struct pt_list_node){ .number = row, .parent = NONE };
        n->first_child = n->next = NONE;
        n->is_kept = row_matches(rows, row, o->filter);
        if (o->sort && pt_panel_is_text(o->sort, r))
            n->text = pt_panel_text(p, o->sort, r, row);
        else if (o->sort)
            n->number = pt_panel_value(p, o->sort, r, row);
    }
}

static int compare_ids(const void *a, const void *b, void *user) {
    const double *ids = user;
    double x = ids[*(const uint32_t *)a], y = ids[*(const uint32_t *)b];
    return (x > y) - (x < y);
}

static uint32_t find_id(const struct pt_list *l, const double *ids, uint32_t count, double id) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids[l->by_id[middle]] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ids[l->by_id[low]] == id ? l->by_id[low] : NONE;
}

static void find_parents(struct pt_list *l, const struct pt_panel *p, const struct pt_rates *r) {
    uint32_t count = pt_rates_rows(r, p->table)->row_count;
    double *ids = pt_calloc(count + 1, sizeof *ids);
    pt_grow(&l->by_id, &l->by_id_capacity, count, sizeof *l->by_id);
    for (uint32_t row = 0; row < count; row++) {
        ids[row] = pt_rates_at(r, p->table, row, p->id);
        l->by_id[row] = row;
    }
    qsort_r(l->by_id, count, sizeof *l->by_id, compare_ids, ids);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t parent = find_id(l, ids, count, pt_rates_at(r, p->table, row, p->parent));
        l->nodes[row].parent = parent == row ? NONE : parent;
    }
    pt_free(ids);
}

/* A match is shown with its ancestors. */
static void keep_ancestors(struct pt_list *l, uint32_t count) {
    for (uint32_t row = 0; row < count; row++) {
        if (!l->nodes[row].is_kept)
            continue;
        uint32_t at = l->nodes[row].parent;
        while (at != NONE && !l->nodes[at].is_kept) {
            l->nodes[at].is_kept = true;
            at = l->nodes[at].parent;
        }
    }
}

/* Unknown values come last in both directions; the sort is stable. */
static int compare_rows(const void *a, const void *b, void *user) {
    const struct sorting *s = user;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct pt_list_node *x = &s->nodes[i], *y = &s->nodes[k];
    int order;
    if (s->is_text) {
        size_t shorter = x->text.len < y->text.len ? x->text.len : y->text.len;
        order = shorter > 0 ? strncasecmp(x->text.at, y->text.at, shorter) : 0;
        if (!order)
            order = (x->text.len > y->text.len) - (x->text.len < y->text.len);
    } else if (isnan(x->number) || isnan(y->number)) {
        return isnan(x->number) == isnan(y->number) ? (i > k) - (i < k) : isnan(x->number) ? 1 : -1;
    } else {
        order = (x->number > y->number) - (x->number < y->number);
    }
    if (order)
        return s->is_rising ? order : -order;
    return (i > k) - (i < k);
}

static size_t sort_rows(struct pt_list *l, const struct pt_rates *r, uint32_t count,
                        const struct pt_list_options *o) {
    struct sorting sorting = { l->nodes, o->sort && pt_panel_is_text(o->sort, r),
                               o->is_rising || !o->sort };
    size_t kept = 0;
    pt_grow(&l->order, &l->order_capacity, count, sizeof *l->order);
    for (uint32_t row = 0; row < count; row++)
        if (l->nodes[row].is_kept)
            l->order[kept++] = row;
    if (kept > 0)
        qsort_r(l->order, kept, sizeof *l->order, compare_rows, &sorting);
    return kept;
}

static void add_item(struct pt_list *l, uint32_t row, int depth, uint32_t open) {
    pt_grow(&l->items, &l->capacity, l->count + 1, sizeof *l->items);
    l->items[l->count++] = (struct pt_list_item){ row, depth, open };
    l->nodes[row].is_placed = true;
}

/* Prepending in reverse order keeps the children of a node in display order. */
static uint32_t hang_children(struct pt_list *l, size_t kept) {
    uint32_t roots = NONE;
    for (size_t i = kept; i-- > 0;) {
        struct pt_list_node *n = &l->nodes[l->order[i]];
        bool has_parent = n->parent != NONE && l->nodes[n->parent].is_kept;
        uint32_t *first = has_parent ? &l->nodes[n->parent].first_child : &roots;
        n->next = *first;
        *first = l->order[i];
        if (!has_parent)
            n->parent = NONE;
    }
    return roots;
}

static uint32_t bit_of(int depth) {
    return 1u << (depth < PT_LIST_DEPTH ? depth : PT_LIST_DEPTH);
}

static void place_tree(struct pt_list *l, uint32_t root) {
    uint32_t at = root, open = 0;
    int depth = 0;
    while (at != NONE) {
        const struct pt_list_node *n = &l->nodes[at];
        open = n->next != NONE ? open | bit_of(depth) : open & ~bit_of(depth);
        add_item(l, at, depth, open);
        if (n->first_child != NONE) {
            at = n->first_child;
            depth++;
            continue;
        }
        while (at != NONE && l->nodes[at].next == NONE) {
            at = l->nodes[at].parent;
            depth--;
        }
        if (at != NONE)
            at = l->nodes[at].next;
    }
}

void pt_list_make(struct pt_list *l, const struct pt_panel *p, const struct pt_rates *r,
                  const struct pt_list_options *o) {
    uint32_t count = pt_rates_rows(r, p->table)->row_count;
    bool is_tree = o->is_tree && p->id >= 0 && p->parent >= 0;
    l->count = 0;
    make_nodes(l, p, r, o);
    if (is_tree) {
        find_parents(l, p, r);
        keep_ancestors(l, count);
    }
    for (uint32_t row = 0; o->is_own && p->is_recorded >= 0 && row < count; row++)
        l->nodes[row].is_kept &= pt_rates_at(r, p->table, row, p->is_recorded) == 1;
    size_t kept = sort_rows(l, r, count, o);
    if (is_tree)
        place_tree(l, hang_children(l, kept));
    for (size_t i = 0; i < kept; i++)
        if (!l->nodes[l->order[i]].is_placed) /* not a tree; or a cycle of parents in wrong data */
            add_item(l, l->order[i], 0, 0);
}
