/* top/top_draw.c -- draws the screen: title, meters, tabs, the panel, keys. */
#include "top/top_view.h"

#include "base/clock.h"
#include "top/meters.h"
#include "model/form.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define ROWS_MIN       6  /* for the panel; with less, meters are left out */
#define DETAIL_TITLE   32 /* columns */
#define DETAIL_VALUE   14
#define DETAIL_CURVE   24
#define CURVES_FROM    110 /* screen columns needed for curves in the details */
#define METERS_MAX     40
#define EVENT_SHOWN_NS (15 * PT_NS_PER_SECOND)

struct painter {
    struct pt_top_view *view;
    const struct pt_top_model *model;
    const struct pt_top_view_source *source;
    struct pt_canvas *canvas;
    int row; /* the next to draw */
};

static void print_clock(int64_t ns, char *into, size_t capacity) {
    int64_t seconds = (ns + PT_NS_PER_SECOND / 2) / PT_NS_PER_SECOND;
    snprintf(into, capacity, "%lld:%02lld:%02lld", (long long)(seconds / 3600),
             (long long)(seconds / 60 % 60), (long long)(seconds % 60));
}

static void draw_title(struct painter *p) {
    const struct pt_top_view_source *s = p->source;
    time_t seconds = p->model->rates.wall_ns / PT_NS_PER_SECOND;
    struct tm when;
    char clock[32], subject[PT_SUBJECT_TEXT] = "";
    if (s->subject.kind == PT_SUBJECT_PROCESS || s->subject.kind == PT_SUBJECT_CONTAINER)
        pt_subject_say(&s->subject, "the command", subject, sizeof subject);
    localtime_r(&seconds, &when);
    strftime(clock, sizeof clock, s->is_replay ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &when);
    int x = pt_canvas_printf(p->canvas, p->row, 0, PT_STYLE_TITLE, "pitot top  %s%s%s  %s", s->name,
                             *subject ? ": " : "", subject,
                             p->model->sample_count > 0 ? clock : "no sample yet");
    if (s->is_replay) {
        char position[32], length[32];
        print_clock(s->position_ns, position, sizeof position);
        print_clock(s->length_ns, length, sizeof length);
        x += pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_TITLE, "  %s of %s  x%g%s", position,
                              length, s->speed, s->is_at_end ? "  end" : "");
    }
    if (s->is_paused)
        x += pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_EVENT, "  paused");
    if (pt_figure_is_known(&p->model->figures, PT_FIGURE_CPU_LOAD))
        x += pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_PLAIN, "  load %.2f %.2f %.2f",
                              p->model->figures.now[PT_FIGURE_CPU_LOAD].value,
                              pt_top_model_value(p->model, PT_FIELD_LOAD_5, 0),
                              pt_top_model_value(p->model, PT_FIELD_LOAD_15, 0));
    if (p->model->sample_count > 0)
        pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_DIM, "%s%s",
                         pt_top_model_rows(p->model, PT_FIELD_GPU_BUSY) ? "" : "  no GPU",
                         pt_top_model_rows(p->model, PT_FIELD_ENGINE_URL) ? "" : "  no engine");
    p->row++;
}

static bool is_tab(const struct painter *p, int panel) {
    return panel == p->view->panel ||
           pt_panel_has_rows(&p->view->panels.list[panel], &p->model->rates);
}

static int tab_columns(const struct painter *p, int panel) {
    return is_tab(p, panel) ? (int)strlen(p->view->panels.list[panel].title) + 2 : 0;
}

/* The first tab to draw, so that the active one is visible, with a column for the mark of more. */
static int first_tab(const struct painter *p) {
    int first = p->view->panel, columns = tab_columns(p, first);
    while (first > 0 && columns + tab_columns(p, first - 1) < p->canvas->columns)
        columns += tab_columns(p, --first);
    return first;
}

static void draw_tabs(struct painter *p) {
    int x = 0;
    pt_canvas_style(p->canvas, p->row, 0, p->canvas->columns, PT_STYLE_DIM);
    for (int i = first_tab(p); i < p->view->panels.count; i++) {
        if (!is_tab(p, i))
            continue;
        if (x + tab_columns(p, i) > p->canvas->columns) {
            pt_canvas_set(p->canvas, p->row, p->canvas->columns - 1, PT_STYLE_KEY, '>');
            break;
        }
        bool is_active = i == p->view->panel;
        pt_canvas_printf(p->canvas, p->row, x, is_active ? PT_STYLE_SELECTED : PT_STYLE_DIM,
                         is_active ? "[%s]" : " %s ", p->view->panels.list[i].title);
        x += tab_columns(p, i);
    }
    p->row++;
}

static int rows_left(const struct painter *p) {
    int left = p->canvas->rows - p->row - !p->view->is_plain;
    return left > 0 ? left : 0;
}

/* Keeps the selected line visible. */
static void scroll(struct pt_top_view *v, size_t count, int rows) {
    v->page_rows = rows > 0 ? rows : 1;
    if (v->selected >= count)
        v->selected = count > 0 ? count - 1 : 0;
    if (v->first > v->selected)
        v->first = v->selected;
    if (v->selected >= v->first + (size_t)v->page_rows)
        v->first = v->selected - (size_t)v->page_rows + 1;
}

/* Calls for each column of the panel that fits. */
typedef void draw_column_function(const struct painter *p, const struct pt_panel_column *c, int x,
                                  int width, const struct pt_list_item *item);

static void each_column(const struct painter *p, const struct pt_list_item *item,
                        draw_column_function *draw) {
    const struct pt_panel_columns *columns = pt_top_view_columns(p->view);
    int x = 0;
    for (int i = p->view->first_column; i < columns->count; i++) {
        const struct pt_panel_column *c = &columns->list[i];
        if (!pt_panel_shows(pt_top_view_panel(p->view), c, &p->model->rates, p->canvas->columns))
            continue;
        int left = p->canvas->columns - x;
        if (left <= 0)
            return;
        draw(p, c, x, c->width > 0 && c->width < left ? c->width : left, item);
        x += (c->width > 0 ? c->width : left) + 1;
    }
}

static void draw_heading(const struct painter *p, const struct pt_panel_column *c, int x, int width,
                         const struct pt_list_item *item) {
    (void)item;
    const struct pt_panel_column *sort = p->view->orders[p->view->panel].sort;
    bool is_sorted = sort && sort->table == c->table && sort->column == c->column;
    enum pt_style style = is_sorted ? PT_STYLE_SORTED : PT_STYLE_HEADING;
    if (pt_panel_is_text(c, &p->model->rates))
        pt_canvas_put(p->canvas, p->row, x, width, style, pt_str_from(c->heading));
    else
        pt_canvas_put_right(p->canvas, p->row, x, width, style, pt_str_from(c->heading));
}

/* The lines that lead from a parent to its children. */
static int draw_branches(const struct painter *p, const struct pt_list_item *item, int x) {
    int depth = item->depth < PT_LIST_DEPTH ? item->depth : PT_LIST_DEPTH, start = x;
    bool is_utf8 = p->canvas->is_utf8;
    for (int d = 1; d <= depth; d++) {
        bool goes_on = item->open >> d & 1;
        if (d == depth) {
            pt_canvas_set(p->canvas, p->row, x++, PT_STYLE_DIM,
                          !is_utf8  ? (goes_on ? '|' : '`')
                          : goes_on ? 0x251c
                                    : 0x2514); /* ├ └ */
            pt_canvas_set(p->canvas, p->row, x++, PT_STYLE_DIM, is_utf8 ? 0x2500 : '-');
        } else {
            pt_canvas_set(p->canvas, p->row, x, PT_STYLE_DIM,
                          !goes_on  ? ' '
                          : is_utf8 ? 0x2502
                                    : '|');
            x += 2;
        }
    }
    return x - start;
}

static void draw_cell(const struct painter *p, const struct pt_panel_column *c, int x, int width,
                      const struct pt_list_item *item) {
    const struct pt_panel *panel = pt_top_view_panel(p->view);
    const struct pt_rates *r = &p->model->rates;
    char text[64];
    if (pt_panel_is_text(c, r)) {
        int used = c->width == 0 ? draw_branches(p, item, x) : 0;
        used += pt_canvas_put(p->canvas, p->row, x + used, width - used, PT_STYLE_PLAIN,
                              pt_panel_text(panel, c, r, item->row));
        if (used + 2 < width)
            pt_canvas_put(p->canvas, p->row, x + used + 2, width - used - 2, PT_STYLE_DIM,
                          pt_panel_text_key(panel, c, r, item->row));
        return;
    }
    double value = pt_panel_value(panel, c, r, item->row);
    pt_column_print(&r->schema->tables[c->table]->columns[c->column], value, text, sizeof text);
    pt_canvas_put_right(p->canvas, p->row, x, width, isnan(value) ? PT_STYLE_DIM : PT_STYLE_PLAIN,
                        pt_str_from(text));
}

static enum pt_style line_style(const struct painter *p, size_t index) {
    const struct pt_panel *panel = pt_top_view_panel(p->view);
    if (p->view->is_plain)
        return PT_STYLE_PLAIN;
    if (index == p->view->selected)
        return PT_STYLE_SELECTED;
    bool is_own = panel->is_recorded >= 0 && !p->view->is_own &&
                  pt_rates_at(&p->model->rates, panel->table, p->view->list.items[index].row,
                              panel->is_recorded) == 1;
    return is_own ? PT_STYLE_OWN : PT_STYLE_PLAIN;
}

static void draw_list(struct painter *p) {
    struct pt_top_view *v = p->view;
    pt_top_view_list(v, p->model);
    pt_canvas_style(p->canvas, p->row, 0, p->canvas->columns, PT_STYLE_HEADING);
    each_column(p, NULL, draw_heading);
    p->row++;
    int rows = rows_left(p);
    scroll(v, v->list.count, rows);
    for (size_t i = v->first; i < v->list.count && i < v->first + (size_t)rows; i++) {
        each_column(p, &v->list.items[i], draw_cell);
        enum pt_style style = line_style(p, i);
        if (style != PT_STYLE_PLAIN)
            pt_canvas_style(p->canvas, p->row, 0, p->canvas->columns, style);
        p->row++;
    }
    if (v->list.count == 0 && rows > 0)
        pt_canvas_printf(p->canvas, p->row++, 0, PT_STYLE_DIM, "%s",
                         v->filter[0] ? "nothing matches the filter" : "no rows");
}

static void draw_detail_line(const struct painter *p, uint32_t row, int column) {
    const struct pt_rates *r = &p->model->rates;
    int table = pt_top_view_panel(p->view)->table, x = DETAIL_TITLE + 1;
    const struct pt_batch *rows = pt_rates_rows(r, table);
    const struct pt_column *c = &rows->table->columns[column];
    char text[64], title[PT_TITLE_BYTES], said[PT_SUBJECT_TEXT];
    pt_canvas_put(p->canvas, p->row, 0, DETAIL_TITLE, PT_STYLE_LABEL,
                  pt_str_from(pt_subject_say(&p->source->subject, pt_column_title(c, title), said,
                                             sizeof said)));
    if (c->type == PT_STRING && !pt_is_null(rows, row, column)) {
        pt_canvas_put(p->canvas, p->row, x + 2, p->canvas->columns, PT_STYLE_PLAIN,
                      pt_get_str(rows, row, column));
        return;
    }
    pt_column_print_with_unit(c, pt_rates_at(r, table, row, column), text, sizeof text);
    pt_canvas_put_right(p->canvas, p->row, x, DETAIL_VALUE, PT_STYLE_PLAIN, pt_str_from(text));
    x += DETAIL_VALUE + 2;
    if (p->canvas->columns >= CURVES_FROM && pt_column_is_timed(rows->table, c)) {
        if (p->view->detail_curves)
            pt_trail_draw(&p->view->detail_curves[column], p->canvas, p->row, x, DETAIL_CURVE, 0);
    }
    x += p->canvas->columns >= CURVES_FROM ? DETAIL_CURVE + 2 : 0;
    pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_DIM, "%s: %s", c->name, c->help);
}

static bool column_matches(const struct pt_column *c, const char *filter) {
    char title[PT_TITLE_BYTES];
    return strcasestr(c->name, filter) || strcasestr(c->help, filter) ||
           strcasestr(pt_column_title(c, title), filter) ||
           (c->words && strcasestr(c->words, filter));
}

static void draw_detail(struct painter *p) {
    struct pt_top_view *v = p->view;
    const struct pt_table *table = p->model->rates.schema->tables[pt_top_view_panel(v)->table];
    uint32_t row;
    bool is_there = pt_top_view_detail_row(v, p->model, &row);
    pt_canvas_style(p->canvas, p->row, 0, p->canvas->columns, PT_STYLE_HEADING);
    pt_canvas_printf(p->canvas, p->row++, 0, PT_STYLE_HEADING, "%s %s%s", table->name,
                     v->has_detail ? v->detail_key : table->help, is_there ? "" : " is gone");
    int rows = rows_left(p);
    size_t count = 0, index = 0;
    for (int c = 0; c < table->column_count; c++)
        count += column_matches(&table->columns[c], v->detail_filter);
    scroll(v, count, rows);
    for (int c = 0; is_there && c < table->column_count; c++) {
        if (!column_matches(&table->columns[c], v->detail_filter))
            continue;
        if (index >= v->first && index < v->first + (size_t)rows) {
            draw_detail_line(p, row, c);
            if (index == v->selected && !v->is_plain)
                pt_canvas_style(p->canvas, p->row, 0, p->canvas->columns, PT_STYLE_SELECTED);
            p->row++;
        }
        index++;
    }
}

static void draw_help(struct painter *p) {
    int row = 1;
    pt_canvas_clear(p->canvas, p->canvas->rows, p->canvas->columns);
    pt_canvas_printf(p->canvas, 0, 0, PT_STYLE_TITLE,
                     "Keys of pitot top (press any key to go back)");
    for (size_t i = 0; i < pt_binding_count; i++) {
        const struct pt_binding *b = &pt_bindings[i];
        bool is_elsewhere =
            b->where != PT_ANY_SOURCE && (b->where == PT_REPLAY_ONLY) != p->source->is_replay;
        if (!b->shown || is_elsewhere)
            continue;
        pt_canvas_printf(p->canvas, row, 2, PT_STYLE_KEY, "%s", b->shown);
        pt_canvas_printf(p->canvas, row++, 14, PT_STYLE_PLAIN, "%s", b->help);
    }
}

struct hint {
    const char *keys, *words;
};

static int draw_hints(const struct painter *p, const struct hint *hints, size_t count, int x) {
    for (size_t i = 0; i < count; i++) {
        x += pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_KEY, "%s", hints[i].keys);
        x += 1 + pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_DIM, " %s ", hints[i].words);
    }
    return x;
}

static void draw_footer(struct painter *p) {
    static const struct hint any[] = { { "?", "help" },        { "q", "quit" },
                                       { "Tab", "panel" },     { "/", "filter" },
                                       { "<>", "sort" },       { "t", "tree" },
                                       { "Enter", "details" }, { "space", "pause" } },
                             replay[] = { { "arrows", "seek" }, { "+-", "speed" } };
    const char *filter = pt_top_view_filter(p->view);
    p->row = p->canvas->rows - 1;
    int x = 0;
    if (p->view->is_typing) {
        pt_canvas_printf(p->canvas, p->row, 0, PT_STYLE_KEY, "Filter: %s_", filter);
        return;
    }
    if (filter[0])
        x += 1 + pt_canvas_printf(p->canvas, p->row, 0, PT_STYLE_EVENT, "filter: %s", filter);
    const struct pt_top_model *m = p->model;
    if (m->event[0] && m->rates.mono_ns - m->event_ns < EVENT_SHOWN_NS) {
        pt_canvas_printf(p->canvas, p->row, x, PT_STYLE_EVENT, "%s", m->event);
        return;
    }
    if (p->source->is_replay)
        x = draw_hints(p, replay, PT_COUNT(replay), x);
    draw_hints(p, any, PT_COUNT(any), x);
}

int pt_top_view_draw(struct pt_top_view *v, const struct pt_top_model *m,
                     const struct pt_top_view_source *source, struct pt_canvas *c) {
    struct painter p = { v, m, source, c, 0 };
    v->screen_columns = c->columns;
    if (v->with_help) {
        draw_help(&p);
        return c->rows;
    }
    draw_title(&p);
    int max_rows = v->is_plain ? METERS_MAX : (c->rows - ROWS_MIN) / 2 + 1;
    if (max_rows > 0)
        p.row += pt_meters_draw(m, c, p.row, max_rows, v->with_cores);
    if (!v->is_plain)
        draw_tabs(&p);
    if (pt_top_view_is_detail(v))
        draw_detail(&p);
    else
        draw_list(&p);
    if (!v->is_plain)
        draw_footer(&p);
    return v->is_plain ? p.row : c->rows;
}

int pt_top_view_rows(struct pt_top_view *v, const struct pt_top_model *m) {
    const struct pt_panel *panel = pt_top_view_panel(v);
    pt_top_view_list(v, m);
    size_t lines = pt_top_view_is_detail(v) ? m->rates.schema->tables[panel->table]->column_count
                                            : v->list.count;
    return METERS_MAX + 4 + (int)lines;
}
