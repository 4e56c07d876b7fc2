/* top/top_view.h -- the state of the screen: panel, order, filter, selected row; the effects of
 * keys; drawing. Independent of a terminal. */
#ifndef PT_TOP_TOP_VIEW_H
#define PT_TOP_TOP_VIEW_H

#include "store/subject.h"
#include "top/list.h"
#include "top/top_model.h"

/* Keys that are not characters; characters are their Unicode code points. */
enum pt_key {
    PT_KEY_NONE = 0,
    PT_KEY_TAB = 9,
    PT_KEY_ENTER = 10,
    PT_KEY_ESCAPE = 27,
    PT_KEY_UP = 0x110000,
    PT_KEY_DOWN,
    PT_KEY_LEFT,
    PT_KEY_RIGHT,
    PT_KEY_FAR_LEFT, /* with shift */
    PT_KEY_FAR_RIGHT,
    PT_KEY_PAGE_UP,
    PT_KEY_PAGE_DOWN,
    PT_KEY_HOME,
    PT_KEY_END,
    PT_KEY_BACK_TAB,
    PT_KEY_BACKSPACE,
    PT_KEY_F1, /* up to F12 follow */
    PT_KEY_F12 = PT_KEY_F1 + 11,
};

/* Requests of a key to the source of the samples. */
enum pt_top_view_request {
    PT_REQUEST_NONE,
    PT_REQUEST_QUIT,
    PT_REQUEST_PAUSE, /* or resume */
    PT_REQUEST_BACK,
    PT_REQUEST_FORWARD,
    PT_REQUEST_FAR_BACK,
    PT_REQUEST_FAR_FORWARD,
    PT_REQUEST_START,
    PT_REQUEST_END,
    PT_REQUEST_STEP_BACK,
    PT_REQUEST_STEP,
    PT_REQUEST_FASTER,
    PT_REQUEST_SLOWER,
};

/* The source of the samples, for the first line. */
struct pt_top_view_source {
    const char *name; /* of the machine or the run */
    struct pt_subject subject;
    bool is_replay, is_paused, is_at_end;
    double speed;
    int64_t position_ns, length_ns; /* in the run */
};

struct pt_top_view_order {
    const struct pt_panel_column *sort; /* NULL: row order */
    bool is_rising;
};

#define PT_VIEW_FILTER 64

struct pt_top_view {
    struct pt_panels panels;
    struct pt_top_view_order *orders; /* one per panel */
    struct pt_list list;
    int panel;                                                  /* of panels */
    char filter[PT_VIEW_FILTER], detail_filter[PT_VIEW_FILTER]; /* "": none */
    bool is_typing;                                             /* a filter */
    bool is_tree, is_own;
    bool is_all; /* columns, not only the chosen ones */
    bool with_cores, with_help;
    bool is_plain;          /* without a terminal: no tabs, no keys */
    size_t selected, first; /* lines of the list */
    int first_column;
    int page_rows, screen_columns; /* as last drawn */
    bool has_detail;               /* of one row: one line per column */
    char detail_key[256];
    struct pt_trail *detail_curves; /* one per column of the panel's table, or NULL */
};

void pt_top_view_init(struct pt_top_view *v, const struct pt_schema *schema);
void pt_top_view_release(struct pt_top_view *v);

/* By title or table; by heading, short name or name of the column, or their beginning. False: not
 * found. */
bool pt_top_view_choose_panel(struct pt_top_view *v, const struct pt_schema *schema,
                              const char *name);
bool pt_top_view_sort_by(struct pt_top_view *v, const struct pt_schema *schema, const char *column);

/* Call after each sample of the model. */
void pt_top_view_update(struct pt_top_view *v, const struct pt_top_model *m);
/* Call before a jump in time. */
void pt_top_view_forget(struct pt_top_view *v);
enum pt_top_view_request pt_top_view_press(struct pt_top_view *v, const struct pt_top_model *m,
                                           bool is_replay, int key);

/* Draws everything; returns the rows used. top_draw.c */
int pt_top_view_draw(struct pt_top_view *v, const struct pt_top_model *m,
                     const struct pt_top_view_source *source, struct pt_canvas *c);
/* Rows of a canvas that fits everything. top_draw.c */
int pt_top_view_rows(struct pt_top_view *v, const struct pt_top_model *m);

/* Changes of the view itself. */
enum pt_top_action {
    PT_TOP_ACTION_NONE,
    PT_TOP_ACTION_HELP,
    PT_TOP_ACTION_FILTER,
    PT_TOP_ACTION_BACK,
    PT_TOP_ACTION_NEXT_PANEL,
    PT_TOP_ACTION_PREVIOUS_PANEL,
    PT_TOP_ACTION_DETAIL,
    PT_TOP_ACTION_SORT_NEXT,
    PT_TOP_ACTION_SORT_PREVIOUS,
    PT_TOP_ACTION_REVERSE,
    PT_TOP_ACTION_SORT_CPU,
    PT_TOP_ACTION_SORT_MEMORY,
    PT_TOP_ACTION_SORT_ID,
    PT_TOP_ACTION_TREE,
    PT_TOP_ACTION_OWN,
    PT_TOP_ACTION_ALL,
    PT_TOP_ACTION_CORES,
    PT_TOP_ACTION_UP,
    PT_TOP_ACTION_DOWN,
    PT_TOP_ACTION_PAGE_UP,
    PT_TOP_ACTION_PAGE_DOWN,
    PT_TOP_ACTION_FIRST,
    PT_TOP_ACTION_LAST,
    PT_TOP_ACTION_LEFT,
    PT_TOP_ACTION_RIGHT,
};

/* For top_draw.c. */
struct pt_binding {
    int keys[4];
    const char *shown, *help; /* NULL: see the line above */
    enum pt_top_view_request request;
    enum pt_top_action action;
    enum { PT_ANY_SOURCE, PT_LIVE_ONLY, PT_REPLAY_ONLY } where;
};

extern const struct pt_binding pt_bindings[];
extern const size_t pt_binding_count;

const struct pt_panel *pt_top_view_panel(const struct pt_top_view *v);
const struct pt_panel_columns *pt_top_view_columns(const struct pt_top_view *v);
bool pt_top_view_is_detail(const struct pt_top_view *v);
/* The current filter: of rows, or of lines of details. */
char *pt_top_view_filter(struct pt_top_view *v);
/* The row of the details; false: it is gone. */
bool pt_top_view_detail_row(const struct pt_top_view *v, const struct pt_top_model *m,
                            uint32_t *row);
/* Refills the list. */
void pt_top_view_list(struct pt_top_view *v, const struct pt_top_model *m);

#endif
